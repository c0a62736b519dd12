/** The agents whose entries we know, by the names that people type. */
export const agents = ['claude', 'cursor', 'vscode', 'zed', 'codex'] as const;

export type Agent = (typeof agents)[number];

export function isAgent(word: string): word is Agent {
  return agents.some((agent) => agent === word);
}

/** How an agent reaches the documents. */
export type Reach =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] };

export interface AgentEntry {
  /** Only what goes into the agent's settings, or the command to run. */
  readonly entry: string;
  /** Where the entry goes, and what comes next; whole sentences. */
  readonly advice: string;
}

/** The name of the server in the agent's settings. */
const name = 'runner-docs';

/** According to each agent's own documentation; docs/AGENTS.md gives the date. */
export function agentEntry(agent: Agent, reach: Reach): AgentEntry {
  const next = reach.kind === 'http' ? signIn[agent] : ownProcess;
  return { entry: entries[agent](reach), advice: `${places[agent]} ${next}` };
}

const entries: Readonly<Record<Agent, (reach: Reach) => string>> = {
  claude: (reach) =>
    reach.kind === 'http'
      ? `claude mcp add --transport http ${name} ${toWord(reach.url)}`
      : `claude mcp add ${name} -- ${[reach.command, ...reach.args].map(toWord).join(' ')}`,
  cursor: (reach) => json({ mcpServers: { [name]: own(reach) } }),
  vscode: (reach) => json({ servers: { [name]: { type: reach.kind, ...own(reach) } } }),
  zed: (reach) => json({ context_servers: { [name]: own(reach) } }),
  codex: (reach) => `[mcp_servers.${name}]\n${toToml(own(reach))}`,
};

const places: Readonly<Record<Agent, string>> = {
  claude:
    'Run this command. It adds the server to Claude Code for the folder that you are in; with --scope user, for all of them.',
  cursor: 'Put this into ~/.cursor/mcp.json, or into .cursor/mcp.json of a project.',
  vscode:
    'Put this into .vscode/mcp.json of a workspace, or into the file that "MCP: Open User Configuration" opens.',
  zed: 'Put this into the settings file of Zed, beside what is there.',
  codex: 'Put this at the end of ~/.codex/config.toml.',
};

const signIn: Readonly<Record<Agent, string>> = {
  claude: 'Then type /mcp in Claude Code, choose the server and sign in.',
  cursor: 'Then enable the server in the settings of Cursor, and press Connect to sign in.',
  vscode:
    'Then press Start above the entry. The editor asks you to sign in. With the Runner extension, set runner.docsUrl instead.',
  zed: 'Then open the settings of the agent panel, where the server has a button to sign in.',
  codex: `Then run: codex mcp login ${name}`,
};

const ownProcess =
  'The agent starts runner-docs by itself and reads the folder. There is no sign-in, and drafts are left out.';

function own(reach: Reach): Readonly<Record<string, string | readonly string[]>> {
  return reach.kind === 'http' ? { url: reach.url } : { command: reach.command, args: reach.args };
}

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/** A JSON string is also a basic string of TOML, except for DEL, which only JSON leaves unescaped. */
function toToml(values: Readonly<Record<string, string | readonly string[]>>): string {
  const text = (value: string) => JSON.stringify(value).replaceAll('\u007f', '\\u007f');
  return Object.entries(values)
    .map(
      ([key, value]) =>
        `${key} = ${typeof value === 'string' ? text(value) : `[${value.map(text).join(', ')}]`}`,
    )
    .join('\n');
}

/** A word of a POSIX shell. */
function toWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
