import type { McpServer } from '@agentclientprotocol/sdk';
import type { AgentMode } from '../../protocol/messages/chat.ts';
import { builtinServer, type ToolServers } from '../../protocol/messages/tools.ts';
import { InvalidParamsError } from '../base/errors.ts';
import type { DaemonTools, ElicitMode } from '../chat/daemonTools.ts';
import type { CheckRequests } from '../tools/builtin/checks.ts';
import type { EditHistory } from '../tools/builtin/editHistory.ts';
import type { EditorFiles } from '../tools/builtin/fileStore.ts';
import type { AskableServer } from '../tools/toolServer.ts';

/** The tool servers that a client passed with a session, and the folder in which they start. */
export interface ClientTools {
  readonly servers: ToolServers;
  readonly cwd: string;
  /** The client's file system, as long as it waits for an answer; undefined if it has none. */
  readonly files: () => EditorFiles | undefined;
  /** How the client asks its user what a server wants to know. */
  readonly elicitModes: () => readonly ElicitMode[];
}

/** The tool servers of one session. Each starts when a turn first needs it. */
export interface RunningTools extends DaemonTools {
  /** Reads the user's own servers again. @throws {InvalidParamsError} if a name is not that of a tool server. */
  require(servers: 'all' | readonly string[]): Promise<void>;
  /** @throws {RunnerError} a sentence, if nobody may work in this mode here. */
  requireMode(mode: AgentMode, signal: AbortSignal): Promise<void>;
  /** @throws {InvalidParamsError} as `checks`, if the built-in tools are off. */
  edits(): Promise<EditHistory>;
  checks(): Promise<CheckRequests>;
  askable(which: 'all' | 'known'): Promise<readonly AskableServer[]>;
  close(): Promise<void>;
}

/** The servers of at most this many idle and busy sessions run; those of the longest idle session end first. */
const maxRunning = 8;

interface RunningSession {
  readonly tools: RunningTools;
  turns: number;
}

export type SessionTools = ReturnType<typeof createSessionTools>;

/** The tool servers of all sessions; no session uses those of another. */
export function createSessionTools(start: (given: ClientTools) => RunningTools) {
  const known = new Map<string, ClientTools>();
  /** In the order of their last use. */
  const running = new Map<string, RunningSession>();
  const closing = new Set<Promise<void>>();

  const end = (sessionId: string) => {
    const ended = running.get(sessionId)?.tools.close();
    running.delete(sessionId);
    if (!ended) return;
    const done = ended.catch(() => undefined).finally(() => closing.delete(done));
    closing.add(done);
  };
  const endIdle = () => {
    const idle = [...running].filter(([, { turns }]) => turns === 0).map(([id]) => id);
    for (const id of idle.slice(0, Math.max(0, running.size - maxRunning))) end(id);
  };
  const use = (sessionId: string): RunningSession => {
    const found = running.get(sessionId) ?? {
      tools: start(
        known.get(sessionId) ?? { servers: {}, cwd: '/', files: () => undefined, elicitModes: () => [] },
      ),
      turns: 0,
    };
    running.delete(sessionId);
    running.set(sessionId, found);
    return found;
  };

  return {
    /** Ends the servers that the session had, and gives it these. */
    set(sessionId: string, given: ClientTools): void {
      end(sessionId);
      known.set(sessionId, given);
    },
    /** Runs a turn of the session with its tools. */
    async run<T>(sessionId: string, turn: (tools: RunningTools) => Promise<T>): Promise<T> {
      const session = use(sessionId);
      session.turns += 1;
      endIdle();
      try {
        return await turn(session.tools);
      } finally {
        session.turns -= 1;
      }
    },
    /** Those that the session has used so far. */
    used: async (sessionId: string) => running.get(sessionId)?.tools.askable('known') ?? [],
    /** Ends the servers of the session and forgets them. */
    remove(sessionId: string): void {
      end(sessionId);
      known.delete(sessionId);
    },
    /** Settles once every server has ended. */
    async close(): Promise<void> {
      for (const id of [...running.keys()]) end(id);
      await Promise.all(closing);
    },
  };
}

/** No editor has more. */
const maxServers = 64;

/**
 * The MCP servers that a client passes with a session, as entries by name. Characters that the name of an entry cannot
 * have are replaced, and a name that is taken gets a number.
 * @throws {InvalidParamsError} if a server has a transport that is not supported.
 */
export function readClientMcpServers(servers: readonly McpServer[]): ToolServers {
  if (servers.length > maxServers)
    throw new InvalidParamsError('mcpServers', `a session takes at most ${maxServers} tool servers`);
  const names = new Set<string>([builtinServer]);
  return Object.fromEntries(
    servers.map((server, index) => [freeName(server.name, names), toEntry(server, index)]),
  );
}

function toEntry(server: McpServer, index: number): ToolServers[string] {
  if (!('type' in server)) return { command: server.command, args: server.args, env: toRecord(server.env) };
  if (server.type === 'http') return { type: 'http', url: server.url, headers: toRecord(server.headers) };
  throw new InvalidParamsError(
    `mcpServers[${index}].type`,
    `a tool server is reached over its standard input and output or over HTTP; "${server.type}" is not supported`,
  );
}

function toRecord(pairs: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

function freeName(name: string, taken: Set<string>): string {
  const plain = name.replace(/[^\w.-]/g, '_').slice(0, 60) || 'server';
  let free = plain;
  for (let number = 2; taken.has(free); number += 1) free = `${plain}_${number}`;
  taken.add(free);
  return free;
}
