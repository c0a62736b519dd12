/** What the daemon says to every client, and how a person does it who is at a terminal. */
const ways: readonly (readonly [string | RegExp, string])[] = [
  [
    'set a larger context length',
    'set a larger window with "--context 8192", or "/context 8192" in a conversation',
  ],
  ['Start a new chat', 'Start a new conversation ("/clear")'],
  ['start a new chat', 'start a new conversation ("/clear")'],
  ['offer fewer tools', 'offer fewer tools with "--tools NAME", or "/tools NAME off" in a conversation'],
  ['or set the runner address', 'or name it with --server URL or OLLAMA_HOST'],
  [
    'Set the runner address to where the runner itself answers.',
    'Say with --server URL or OLLAMA_HOST where the runner itself answers.',
  ],
  ['Check the runner address', 'Check the address in --server or OLLAMA_HOST'],
  ['name its CA file in the settings', 'name its CA file in "caFile" of ~/.config/runner/config.json'],
  [
    /Store an access token for (this server|its address), or check the one that is stored\./g,
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
