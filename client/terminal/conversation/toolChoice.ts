import { readFileSync } from 'node:fs';
import { userConfigFile } from '../../../protocol/base/userFolders.ts';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import type { Approvals } from '../../../protocol/messages/tools.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { TerminalError } from '../cli/failure.ts';
import type { Surroundings } from '../cli/streams.ts';
import { showLine } from '../screen/controlCharacters.ts';

/** The tool server of the project's own pages, which needs no entry. */
export const docsServer = 'docs';
/** What it may do without a question: it reads pages that came with the program. */
const docsTools = ['search_docs', 'get_doc_markdown', 'list_collections'];

/** What `--tools` and `--allow` ask for, before any server is started. */
export interface ToolChoice {
  /** For the daemon's start. */
  readonly options: Pick<InitializationOptions, 'mcpServers' | 'approvals'>;
  /** Names of tool servers, in their order. */
  readonly known: readonly string[];
  /** Those of `--tools`; undefined where nobody said. */
  readonly wanted: readonly string[] | undefined;
  /** Those of the user's own file. */
  readonly own: readonly string[];
}

/**
 * Reads the flags.
 * @throws {TerminalError} of the kind `usage`, where a name is none of a tool server.
 */
export function chooseTools(surroundings: Surroundings, { tools, allow }: CommandLine): ToolChoice {
  const own = ownServers(surroundings.env);
  const { documents } = surroundings;
  // A server of the user's own that has the name of ours is not ours.
  const isBuiltIn = documents !== undefined && !own.includes(docsServer);
  const known = [...new Set([...(documents ? [docsServer] : []), ...own])];
  const named = tools?.split(',').map((name) => name.trim());
  const unknown = named?.find((name) => name !== 'all' && !known.includes(name));
  const unknownAllowed = allow.map(serverOfAllowed).find((name) => !known.includes(name));
  const wrong = unknown ?? unknownAllowed;
  if (wrong !== undefined) throw new TerminalError('usage', noServer(wrong, known));
  return {
    options: {
      ...(documents ? { mcpServers: { [docsServer]: documents } } : {}),
      approvals: approvalsOf(allow, isBuiltIn ? { [docsServer]: docsTools } : {}),
    },
    known,
    wanted: named?.includes('all') ? known : named,
    own,
  };
}

export function noServer(name: string, known: readonly string[]): string {
  const there = known.length === 0 ? 'There are none' : `There are: ${known.map(showLine).join(', ')}`;
  return `There is no tool server "${showLine(name)}". ${there}. Others are entered in "mcpServers" of ~/.config/runner/config.json.`;
}

/** `SERVER` allows all of its tools, `SERVER/TOOL` one. */
function approvalsOf(allow: readonly string[], builtIn: Approvals): Approvals {
  const approvals: Record<string, 'always' | readonly string[]> = { ...builtIn };
  for (const one of allow) {
    const server = serverOfAllowed(one);
    const before = Object.hasOwn(approvals, server) ? approvals[server] : undefined;
    if (one === server) approvals[server] = 'always';
    else if (before !== 'always') approvals[server] = [...(before ?? []), one.slice(server.length + 1)];
  }
  return approvals;
}

function serverOfAllowed(one: string): string {
  return one.split('/', 1)[0] ?? one;
}

/** Names alone, so that none need be started to know them. The daemon says what is wrong in the file. */
function ownServers(env: Surroundings['env']): readonly string[] {
  try {
    const config: unknown = JSON.parse(readFileSync(userConfigFile(env), 'utf8'));
    if (typeof config !== 'object' || config === null || !('mcpServers' in config)) return [];
    return Object.entries(config.mcpServers ?? {}).flatMap(([name, entry]) => (isOff(entry) ? [] : [name]));
  } catch {
    return [];
  }
}

function isOff(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'disabled' in entry && entry.disabled === true;
}
