import { homedir, hostname, networkInterfaces } from 'node:os';
import { isLoopback } from '../../protocol/base/loopback.ts';
import type { LogLevel } from '../../protocol/messages/settings.ts';
import { RunnerError } from '../base/errors.ts';
import type { Server } from '../runner/runner.ts';
import { type Follower, type FollowOptions, LogLines } from './logLines.ts';
import { followFirst, logSources } from './logSources.ts';

interface LogsSource {
  readonly source: string;
}

export interface ServerLogsOptions {
  /** Called with one line, without prompts and answers and of bounded length. The receiver removes secrets. */
  readonly onLine: (level: LogLevel, message: string) => void;
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  /** In ms. */
  readonly now: () => number;
  /** How often a file is checked, in ms; default 250. */
  readonly pollEvery?: number;
  /** How long a command may take until its first line, in ms; default 1500. */
  readonly firstLineWithin?: number;
}

const none: LogsSource = { source: 'none' };

/** A log that is followed, from its start until all of it is gone. */
interface FollowedLog {
  readonly controller: AbortController;
  readonly source: Promise<LogsSource>;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/**
 * The logs of runners on this machine. They are read from files and commands, because a runner has no route for them.
 */
export class ServerLogs {
  readonly #byUrl = new Map<string, FollowedLog>();
  /** All of them, including those that are being stopped. */
  readonly #living = new Set<FollowedLog>();
  #isClosed = false;

  constructor(private readonly options: ServerLogsOptions) {}

  /**
   * Starts to follow the log of a server, unless it is followed already. There is one follower for each server url.
   * Settles with the path or the command line, or with `none` if it was stopped before it had started.
   * @throws {RunnerError} `not-supported` if the runner is on another host, or if no log of it can be found.
   */
  async start(server: Server): Promise<LogsSource> {
    if (this.#isClosed) return none;
    return (this.#byUrl.get(server.url) ?? this.#begin(server)).source;
  }

  /** Stops following it. Settles with `none` if nothing was followed. */
  async stop(server: Server): Promise<LogsSource> {
    const following = this.#byUrl.get(server.url);
    this.#byUrl.delete(server.url);
    return following ? endOf(following) : none;
  }

  /** Ends all followers, with their children. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#living].map(endOf));
  }

  #begin(server: Server): FollowedLog {
    const { onLine, now, platform, env, pollEvery = 250, firstLineWithin = 1500 } = this.options;
    const controller = new AbortController();
    const { signal } = controller;
    const lines = new LogLines(onLine, now);
    const follower = openLog(server, { platform, env, pollEvery, firstLineWithin, lines, signal });
    const ended = untilEnded(follower, lines, signal).finally(() => {
      this.#living.delete(following);
      if (this.#byUrl.get(server.url) === following) this.#byUrl.delete(server.url);
    });
    const following: FollowedLog = { controller, source: sourceOf(follower, signal), ended };
    // The caller of `start` gets the error. If the log was stopped meanwhile, nobody needs it.
    following.source.catch(() => undefined);
    this.#living.add(following);
    this.#byUrl.set(server.url, following);
    return following;
  }
}

async function endOf({ controller, source, ended }: FollowedLog): Promise<LogsSource> {
  controller.abort();
  await ended;
  return source.catch(() => none);
}

async function openLog({ name, url }: Server, options: FollowOptions): Promise<Follower> {
  if (!isThisHost(url, readThisHost())) {
    throw new RunnerError(
      'not-supported',
      `The runner at ${url} is not on this machine, and runners do not send their logs. Read the log there, for example with: journalctl --unit=ollama --follow`,
      { details: { server: name } },
    );
  }
  const sources = logSources(options.platform, options.env, homedir());
  return followFirst(sources, { name, url }, options);
}

/** An abort during the start is not a failure: nothing is followed then. */
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
      lines.warn(`The log "${source}" ${how}. Start the log again when the runner is running.`);
  } catch {
    // The caller of `start` learns why it did not start.
  } finally {
    lines.end();
  }
}

interface ThisHost {
  /** Every address of this machine, as the operating system writes them. */
  readonly addresses: readonly string[];
  readonly hostname: string;
}

/** This is read each time, because addresses come and go with networks. */
function readThisHost(): ThisHost {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return { addresses: addresses.map(({ address }) => address), hostname: hostname() };
}

/** Whether the runner at this address runs on this machine, so that its log can be read here. */
export function isThisHost(url: string, host: ThisHost): boolean {
  if (!URL.canParse(url)) return false;
  if (isLoopback(url)) return true;
  const asked = new URL(url).hostname.replace(/\.$/, '');
  return (
    host.addresses.some((address) => addressToHost(address) === asked) || isOwnName(asked, host.hostname)
  );
}

/** The address in the form of `URL`. A zone such as `%eth0` names an interface of this machine and is removed. */
function addressToHost(address: string): string | undefined {
  const bare = address.replace(/%.*$/, '');
  const url = `http://${bare.includes(':') ? `[${bare}]` : bare}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** The whole name, its first label, or that label in the local network's own domain (mDNS). */
function isOwnName(asked: string, hostname: string): boolean {
  const own = hostname.toLowerCase();
  const [label = ''] = own.split('.');
  return label !== '' && [own, label, `${label}.local`].includes(asked);
}
