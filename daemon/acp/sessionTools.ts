import type { AgentMode } from '../../protocol/messages/chat.ts';
import type { ToolServers } from '../../protocol/messages/tools.ts';
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

/** The tool servers of all sessions; no session uses those of another. */
export interface SessionTools {
  /** Ends the servers that the session had, and gives it these. */
  set(sessionId: string, given: ClientTools): void;
  /** Runs a turn of the session with its tools. */
  run<T>(sessionId: string, turn: (tools: RunningTools) => Promise<T>): Promise<T>;
  /** Those that the session has used so far. */
  used(sessionId: string): Promise<readonly AskableServer[]>;
  /** Ends the servers of the session and forgets them. */
  remove(sessionId: string): void;
  /** Settles once every server has ended. */
  close(): Promise<void>;
}

/** The servers of at most this many idle and busy sessions run; those of the longest idle session end first. */
const maxRunning = 8;

interface Running {
  readonly tools: RunningTools;
  turns: number;
}

export function createSessionTools(start: (given: ClientTools) => RunningTools): SessionTools {
  const known = new Map<string, ClientTools>();
  /** In the order of their last use. */
  const running = new Map<string, Running>();
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
  const use = (sessionId: string): Running => {
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
    set(sessionId, given) {
      end(sessionId);
      known.set(sessionId, given);
    },
    async run(sessionId, turn) {
      const session = use(sessionId);
      session.turns += 1;
      endIdle();
      try {
        return await turn(session.tools);
      } finally {
        session.turns -= 1;
      }
    },
    used: async (sessionId) => running.get(sessionId)?.tools.askable('known') ?? [],
    remove(sessionId) {
      end(sessionId);
      known.delete(sessionId);
    },
    async close() {
      for (const id of [...running.keys()]) end(id);
      await Promise.all(closing);
    },
  };
}
