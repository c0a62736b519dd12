import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseBaseUrl } from '../base/baseUrl.ts';
import { refusePassword } from '../base/database.ts';
import { UsageError } from '../base/options.ts';
import { quoteForShell } from '../base/text.ts';
import { defineCommand, type ProgramContext } from '../cli/command.ts';
import { type LibrarySources, parsePlaces, placeOptions } from '../serveConfig.ts';

/** The agents whose entries we know, by the names that people type. */
export const agents = ['claude', 'cursor', 'vscode', 'zed', 'codex'] as const;

type Agent = (typeof agents)[number];

/** The default address of `serve`. */
export const usualOrigin = 'http://127.0.0.1:4000';

export const connectCommand = defineCommand({
  usage: 'connect AGENT',
  summary: `Prints the entry that connects an agent: ${agents.join(', ')}.`,
  words: 1,
  options: {
    ...placeOptions,
    'base-url': { value: 'URL', help: `the address that readers use (default: ${usualOrigin})` },
    stdio: { help: 'the agent starts runner-docs itself: no service, no token, no drafts' },
  },
  async run({ values, words: [word = ''] }, context) {
    const { print, note } = context;
    const agent = agents.find((one) => one === word);
    if (agent === undefined)
      throw new UsageError(`there is no agent "${word}"; the agents are ${agents.join(', ')}.`);
    const reach = values.stdio ? stdioReach(parsePlaces(values, context.env), context) : httpReach(values);
    const { entry, advice } = agentEntry(agent, reach);
    print(`${entry}\n`);
    note(`${advice}\n`);
    const { content } = parsePlaces(values, context.env);
    if (values.stdio && !(await stat(content).catch(() => undefined))?.isDirectory())
      note(`There is no folder ${content}. Name yours with --content.\n`);
    return 0;
  },
});

function httpReach(values: { readonly 'base-url': string | undefined }): Reach {
  const { href } = parseBaseUrl(values['base-url'] ?? usualOrigin);
  return { kind: 'http', url: `${href}/mcp` };
}

/** With absolute paths, because an agent starts it in a folder of its own. */
function stdioReach(
  { content, data, database, future }: LibrarySources,
  { program }: Pick<ProgramContext, 'program'>,
): Reach {
  if (database !== undefined) refusePassword(database);
  const shared = database === undefined ? [] : ['--database', database];
  const args = [
    ...[resolve(program), 'mcp', '--content', content, '--data', data, ...shared],
    ...(future ? ['--future'] : []),
  ];
  return { kind: 'stdio', command: process.execPath, args };
}

/** How an agent reaches the documents. */
type Reach =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] };

/** The name of the server in the agent's settings. */
const name = 'runner-docs';

/**
 * What goes into the agent's settings, or the command to run, and whole sentences about where it goes and what comes
 * next. According to each agent's own documentation; docs/AGENTS.md gives the date.
 */
export function agentEntry(agent: Agent, reach: Reach) {
  const next = reach.kind === 'http' ? signIn[agent] : ownProcess;
  return { entry: entries[agent](reach), advice: `${places[agent]} ${next}` };
}

const entries: Readonly<Record<Agent, (reach: Reach) => string>> = {
  claude: (reach) =>
    reach.kind === 'http'
      ? `claude mcp add --transport http ${name} ${quoteForShell(reach.url)}`
      : `claude mcp add ${name} -- ${[reach.command, ...reach.args].map(quoteForShell).join(' ')}`,
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
  const lines = Object.entries(values).map(([key, value]) => {
    return `${key} = ${typeof value === 'string' ? text(value) : `[${value.map(text).join(', ')}]`}`;
  });
  return lines.join('\n');
}
