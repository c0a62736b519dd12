import { homedir } from 'node:os';
import type { LogLevel } from '../../protocol/initialize.ts';
import { RunnerError } from '../errors.ts';
import type { Server } from '../runner/client.ts';
import type { Follower, FollowOptions } from './follower.ts';
import { followFirst } from './followFirst.ts';
import { createLogLines, type LogLines } from './logLines.ts';
import { logSources } from './sources.ts';
import { isThisHost, readThisHost } from './thisHost.ts';

/** The logs of runners on this machine; a runner has no route for them. */
export interface ServerLogs {
  /**
   * Begins, or goes on when it is being followed already: there is one follower for each server url. Settles with the
   * path or the command line, or with `none` when it was stopped before it had begun.
   * @throws {RunnerError} `not-supported` where the runner is elsewhere, or has no log that can be found.
   */
  start(server: Server): Promise<LogsSource>;
  /** Ends it; `none` where nothing was followed. */
  stop(server: Server): Promise<LogsSource>;
  /** Ends all, with their children. */
  close(): Promise<void>;
}

export interface LogsSource {
  readonly source: string;
}

export interface ServerLogsOptions {
  /** One line without prompts and answers, of bounded length; the caller takes secrets out. */
  readonly onLine: (level: LogLevel, message: string) => void;
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  /** In ms. */
  readonly now: () => number;
  /** How often a file is looked at, in ms; default 250. */
  readonly pollEvery?: number;
  /** How long a command has for its first line, in ms; default 1500. */
  readonly firstLineWithin?: number;
}

const none: LogsSource = { source: 'none' };

/** A log that is followed, from its start until nothing of it is left. */
interface Following {
  readonly controller: AbortController;
  readonly source: Promise<LogsSource>;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

export function createServerLogs(options: ServerLogsOptions): ServerLogs {
  const byUrl = new Map<string, Following>();
  /** Also those that are being stopped. */
  const living = new Set<Following>();
  let isClosed = false;

  const begin = (server: Server): Following => {
    const controller = new AbortController();
    const lines = createLogLines(options);
    const follower = openLog(server, { ...followOptions(options), lines, signal: controller.signal });
    const ended = untilEnded(follower, lines, controller.signal).finally(() => {
      living.delete(following);
      if (byUrl.get(server.url) === following) byUrl.delete(server.url);
    });
    const following: Following = { controller, source: sourceOf(follower, controller.signal), ended };
    // Whoever began it is told; when it was stopped meanwhile, nobody needs to be.
    following.source.catch(() => undefined);
    living.add(following);
    byUrl.set(server.url, following);
    return following;
  };

  const end = async ({ controller, source, ended }: Following): Promise<LogsSource> => {
    controller.abort();
    await ended;
    return source.catch(() => none);
  };

  return {
    async start(server) {
      if (isClosed) return none;
      return (byUrl.get(server.url) ?? begin(server)).source;
    },
    async stop(server) {
      const following = byUrl.get(server.url);
      byUrl.delete(server.url);
      return following ? end(following) : none;
    },
    async close() {
      isClosed = true;
      await Promise.all([...living].map(end));
    },
  };
}

function followOptions({ platform, env, pollEvery = 250, firstLineWithin = 1500 }: ServerLogsOptions) {
  return { platform, env, pollEvery, firstLineWithin };
}

async function openLog({ name, url }: Server, options: FollowOptions): Promise<Follower> {
  if (!isThisHost(url, readThisHost())) {
    throw new RunnerError(
      'not-supported',
      `The runner at ${url} is not on this machine, and runners do not send their logs. Read the log there, for example with: journalctl --unit=ollama --follow`,
      { details: { server: name } },
    );
  }
  const sources = logSources({ ...options, homedir: homedir() });
  return followFirst(sources, { ...options, server: { name, url } });
}

/** An abort during the start is no failure: nothing is followed. */
async function sourceOf(follower: Promise<Follower>, signal: AbortSignal): Promise<LogsSource> {
  try {
    const { source } = await follower;
    return signal.aborted ? none : { source };
  } catch (error) {
    if (signal.aborted) return none;
    throw error;
  }
}

async function untilEnded(follower: Promise<Follower>, lines: LogLines, signal: AbortSignal): Promise<void> {
  try {
    const { source, ended } = await follower;
    const how = await ended;
    if (!signal.aborted)
      lines.warn(`The log "${source}" ${how}. Start the log again to go on, once the runner is there.`);
  } catch {
    // Why it did not begin is told to whoever asked for it.
  } finally {
    lines.end();
  }
}
