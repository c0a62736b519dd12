/** What the daemon says to every client, and how a person does it who is at a terminal. */
const ways: readonly (readonly [string | RegExp, string])[] = [
  [
    'set a larger context length',
    'set a larger window with "--context 8192", or "/context 8192" in a conversation',
  ],
  ['or set the runner address', 'or name it with --server URL or OLLAMA_HOST'],
  [
    'Store an access token for this server, or check the one that is stored.',
    'Say in "auth" of ~/.config/runner/config.json where its token is, or check the one that is there.',
  ],
  [
    /\brunner\.(catalogUrl|contextLength|host|servers|caFile|timeouts)\b/g,
    '"$1" in ~/.config/runner/config.json',
  ],
];

/** A sentence of the daemon with advice that can be followed here. */
export function forTerminal(sentence: string): string {
  return ways.reduce((text, [said, way]) => text.replaceAll(said, way), sentence);
}
