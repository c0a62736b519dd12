import { showLine } from '../../../protocol/base/controlCharacters.ts';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import { type Approvals, builtinServer, type Checks } from '../../../protocol/messages/tools.ts';
import type { CommandContext } from '../cli/command.ts';
import { TerminalError } from '../cli/failure.ts';

/** The tool server for the pages of Runner, which needs no entry. */
export const docsServer = 'docs';
/** What it may do without a question: it reads pages that came with the program. */
const docsTools = ['search_docs', 'get_doc_markdown', 'list_collections'];

/** What `--tools` and `--allow` ask for. */
export interface ToolChoice {
  /** For the start of the daemon. */
  readonly options: Pick<
    InitializationOptions,
    'mcpServers' | 'approvals' | 'builtinTools' | 'checks' | 'projectRules'
  >;
  /** Names of tool servers, in their order. */
  readonly known: readonly string[];
  /** The servers of `--tools`; undefined without the flag. */
  readonly wanted: readonly string[] | undefined;
  /** The servers of the user's own configuration. */
  readonly own: readonly string[];
}

/**
 * Reads the flags.
 * @param toolServers the names in the user's own configuration; undefined until a daemon has named them: then no name
 *   is refused.
 * @throws {TerminalError} of the kind `usage`, if there is no tool server with such a name.
 */
export function chooseTools(
  {
    commandLine: { tools, allow, checks, noRules },
    program: { documents },
    terminal: { cwd },
  }: CommandContext,
  toolServers?: readonly string[],
): ToolChoice {
  const own = toolServers ?? [];
  // If the user has a server with the name of ours, it is not ours and gets none of its approvals.
  const isOurs = documents !== undefined && !own.includes(docsServer);
  const entered = [...new Set([...(documents ? [docsServer] : []), ...own])];
  const known = [...new Set([...entered, builtinServer])];
  const named = tools === undefined ? undefined : [...new Set(tools.split(',').map((name) => name.trim()))];
  const wrong = [...(named ?? []).filter((name) => name !== 'all'), ...allow.map(serverOfAllowed)].find(
    (name) => !known.includes(name),
  );
  if (toolServers !== undefined && wrong !== undefined)
    throw new TerminalError('usage', unknownServer(wrong, known));
  return {
    options: {
      ...(documents ? { mcpServers: { [docsServer]: documents } } : {}),
      // The conversation says which servers its model may use. These are only used where the person names them.
      builtinTools: true,
      ...(Object.keys(checks).length === 0 ? {} : { checks: { [cwd]: checksOf(checks) } }),
      ...(noRules ? { projectRules: false } : {}),
      approvals: approvalsOf(allow, isOurs ? { [docsServer]: docsTools } : {}),
    },
    known,
    wanted: named?.includes('all')
      ? [...new Set([...entered, ...named])].filter((name) => name !== 'all')
      : named,
    own,
  };
}

export function unknownServer(name: string, known: readonly string[]): string {
  const there = known.length === 0 ? 'There are none' : `There are: ${known.map(showLine).join(', ')}`;
  return `There is no tool server "${showLine(name)}". ${there}. Others are entered in "mcpServers" of ~/.config/runner/config.json.`;
}

function checksOf(commands: Readonly<Record<string, readonly string[]>>): Checks[string] {
  return Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, { command }]));
}

/** `SERVER` allows all of its tools, `SERVER/TOOL` one. */
function approvalsOf(allow: readonly string[], builtIn: Approvals): Approvals {
  const approvals: Record<string, 'always' | readonly string[]> = { ...builtIn };
  for (const one of allow) {
    const server = serverOfAllowed(one);
    const before = Object.hasOwn(approvals, server) ? approvals[server] : undefined;
    const tool = one === server ? '*' : one.slice(server.length + 1);
    approvals[server] = [...(before === 'always' ? ['*'] : (before ?? [])), tool];
  }
  return approvals;
}

function serverOfAllowed(one: string): string {
  return one.replace(/\/.*$/s, '');
}
