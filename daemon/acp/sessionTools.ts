import type { ToolServers } from '../../protocol/messages/tools.ts';
import type { HostedTools } from '../chat/hostedTools.ts';

/** The tool servers of one session: what its editor handed over, and the folder in which they start. */
export interface HandedTools {
  readonly servers: ToolServers;
  readonly cwd: string;
}

/** The servers of a session while they run; nothing is started before a turn wants them. */
export interface RunningTools extends HostedTools {
  /** The user's own servers are read anew. */
  require(hostedTools: 'all'): Promise<void>;
  close(): Promise<void>;
}

/** The tool servers of all sessions, each apart from the others. */
export interface SessionTools {
  /** A session has these from now on; those that it had are ended. */
  enter(sessionId: string, handed: HandedTools): void;
  /** Whether its editor has handed any over. */
  isHanded(sessionId: string): boolean;
  /** Runs a turn of the session with its tools. */
  during<T>(sessionId: string, turn: (tools: RunningTools) => Promise<T>): Promise<T>;
  /** The session is over: its servers are ended. */
  leave(sessionId: string): void;
  /** Settles once every server has ended. */
  close(): Promise<void>;
}

/** Of so many sessions the servers run at once; those of the one that rested longest are started again when it goes on. */
const maxRunning = 8;

interface Running {
  readonly tools: RunningTools;
  turns: number;
}

export function createSessionTools(start: (handed: HandedTools) => RunningTools): SessionTools {
  const entered = new Map<string, HandedTools>();
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
  const makeRoom = () => {
    const resting = [...running].filter(([, { turns }]) => turns === 0).map(([id]) => id);
    for (const id of resting.slice(0, Math.max(0, running.size - maxRunning))) end(id);
  };
  const wake = (sessionId: string): Running => {
    const found = running.get(sessionId) ?? {
      tools: start(entered.get(sessionId) ?? { servers: {}, cwd: '/' }),
      turns: 0,
    };
    running.delete(sessionId);
    running.set(sessionId, found);
    return found;
  };

  return {
    enter(sessionId, handed) {
      end(sessionId);
      entered.set(sessionId, handed);
    },
    isHanded: (sessionId) => Object.keys(entered.get(sessionId)?.servers ?? {}).length > 0,
    async during(sessionId, turn) {
      const session = wake(sessionId);
      session.turns += 1;
      makeRoom();
      try {
        return await turn(session.tools);
      } finally {
        session.turns -= 1;
      }
    },
    leave(sessionId) {
      end(sessionId);
      entered.delete(sessionId);
    },
    async close() {
      for (const id of [...running.keys()]) end(id);
      await Promise.all(closing);
    },
  };
}
