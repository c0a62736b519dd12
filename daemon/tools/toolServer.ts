import { existsSync } from 'node:fs';
import { orAborted, withTimeLimit } from '../abort.ts';
import type { Log } from '../log.ts';
import { LineLimit } from '../logs/lineLimit.ts';
import { plainText } from '../logs/plainText.ts';
import { cutText } from './cutText.ts';
import { createHttpTransport } from './httpTransport.ts';
import { inheritedEnv } from './inheritedEnv.ts';
import { connectMcp, type McpConnection, reasonOf, type ToolRequest } from './mcpConnection.ts';
import type { ProcessGroups } from './processGroups.ts';
import type { ServerEntry } from './serverEntry.ts';
import { StdioTransport } from './stdioTransport.ts';
import { readToolList, type ServerTool } from './toolList.ts';

/** A tool server that could not do what was wanted; the message is a sentence without secrets. */
export class ToolServerError extends Error {
  override readonly name = 'ToolServerError';
}

/** One server over its life: started when it is wanted, and again after it has ended. */
export interface ToolServer {
  /** Its tools as they are now. @throws {ToolServerError} */
  tools(signal: AbortSignal): Promise<readonly ServerTool[]>;
  /** Its answer. @throws {ToolServerError}, or the reason of an aborted signal. */
  call(request: ToolRequest, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

export interface ToolServerLimits {
  /** For who wants the tools, in ms. */
  readonly wait: number;
  /** For a start in all, and for a list: a first start may have to download the server. */
  readonly start: number;
}

export interface ToolServerOptions {
  readonly entry: Exclude<ServerEntry, { readonly kind: 'disabled' | 'wrong' }>;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly version: string;
  /** Where it starts if its entry names no folder. */
  readonly root: string | undefined;
  readonly groups: ProcessGroups;
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  readonly timeouts: () => { readonly tool: number; readonly toolTotal: number };
  readonly limits: ToolServerLimits;
  /** Without secrets, those of its entry among them. */
  readonly redact: (text: string) => string;
  readonly onDidChange: () => void;
  readonly log: Log;
  readonly now: () => number;
}

/** The wait before a start after so many ends in a row, in ms. */
const firstWait = 1_000;
const longestWait = 60_000;
/** Who was there for so long has not ended in a row, in ms. */
const steadyAfter = 60_000;
/** Of what a server says of itself. */
const maxReason = 500;

interface Running {
  readonly connection: McpConnection;
  /** How it has ended, as a clause. */
  readonly how: () => string | undefined;
  readonly startedAt: number;
  list: readonly ServerTool[];
  isStale: boolean;
}

export function createToolServer(options: ToolServerOptions): ToolServer {
  return new EnteredServer(options);
}

class EnteredServer implements ToolServer {
  readonly #options: ToolServerOptions;
  readonly #closed = new AbortController();
  #starting: Promise<Running> | undefined;
  #running: Running | undefined;
  #ends = 0;
  #notBefore = 0;
  #lastReason = '';

  constructor(options: ToolServerOptions) {
    this.#options = options;
  }

  async tools(signal: AbortSignal): Promise<readonly ServerTool[]> {
    return this.#inTime(signal, async (inTime) => {
      const known = this.#running;
      const running = await this.#get(inTime);
      // One that was just started has just been asked.
      if (running === known && (running.isStale || !running.connection.tellsChanges))
        await this.#list(running, inTime);
      return running.list;
    });
  }

  async call(request: ToolRequest, signal: AbortSignal): Promise<unknown> {
    const { tool, toolTotal } = this.#options.timeouts();
    const { connection, how } = await this.#inTime(signal, (inTime) => this.#get(inTime));
    const limit = toolTotal === 0 ? longestTimer : toolTotal;
    const late = this.#error(`did not finish the call within ${limit / 1_000} seconds`);
    return withTimeLimit({ limit, reason: late, signal }, async (inTime) => {
      const idle = createIdleLimit(tool, this.#error(`said nothing for ${tool / 1_000} seconds`), inTime);
      try {
        return await orAborted(connection.callTool(request, idle.restart, idle.signal), idle.signal);
      } catch (error) {
        idle.signal.throwIfAborted();
        throw this.#failure(error, how());
      } finally {
        idle.dispose();
      }
    });
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const running = this.#running ?? (await this.#starting?.catch(() => undefined));
    await running?.connection.close();
  }

  #inTime<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = this.#options.limits.wait;
    const reason = this.#error(`did not answer within ${limit / 1_000} seconds. Try again later`);
    return withTimeLimit({ limit, reason, signal }, work);
  }

  async #get(signal: AbortSignal): Promise<Running> {
    if (this.#closed.signal.aborted) throw this.#error('was removed');
    if (this.#running) return this.#running;
    const wait = this.#notBefore - this.#options.now();
    if (!this.#starting && wait > 0)
      throw this.#error(`${this.#lastReason}. It is started again in ${secondsOf(wait)} at the earliest`);
    this.#starting ??= this.#start();
    return orAborted(this.#starting, signal);
  }

  async #start(): Promise<Running> {
    const { limits, onDidChange } = this.#options;
    const reason = this.#error(`did not answer within ${limits.start / 1_000} seconds`);
    try {
      const running = await withTimeLimit(
        { limit: limits.start, reason, signal: this.#closed.signal },
        (signal) => this.#connect(signal),
      );
      this.#running = running;
      onDidChange();
      return running;
    } catch (error) {
      this.#delay(error instanceof ToolServerError ? error.message : String(error));
      throw error;
    } finally {
      this.#starting = undefined;
    }
  }

  async #connect(signal: AbortSignal): Promise<Running> {
    const { version, now } = this.#options;
    const transport = this.#transport();
    const stop = () => void transport.close();
    signal.addEventListener('abort', stop, { once: true });
    const end: { before?: true; running?: Running } = {};
    try {
      const connection = await connectMcp({
        transport,
        version,
        onDidChangeTools: () => this.#noteChange(end.running),
        onDidEnd: () => {
          end.before = true;
          if (end.running) this.#ended(end.running);
        },
      });
      const how = () => (end.before ? howOf(transport) : undefined);
      const running: Running = { connection, how, startedAt: now(), list: [], isStale: false };
      try {
        await this.#list(running, signal);
      } catch (error) {
        await connection.close();
        throw error;
      }
      if (end.before) throw this.#failure(undefined, howOf(transport) ?? 'is gone');
      end.running = running;
      return running;
    } catch (error) {
      if (error instanceof ToolServerError) throw error;
      const how = howOf(transport);
      throw this.#failure(error, how === 'was ended' ? undefined : how);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #transport() {
    const { entry, env, platform, root, groups, headersFor, now, log } = this.#options;
    if (entry.kind === 'http') {
      const { url, headers } = entry;
      return createHttpTransport({ url, headers, headersFor, now });
    }
    const { command, args, cwd } = entry;
    let isNoisy = false;
    return new StdioTransport({
      ...{ command, args, platform, groups },
      cwd: cwd ?? [root, env['HOME']].find((folder) => folder !== undefined && existsSync(folder)) ?? '/',
      env: { ...inheritedEnv(env, platform), ...entry.env },
      onErrorLine: this.#createErrorLog(),
      onNoise: () => {
        if (!isNoisy)
          log.warn(`The tool server ${entry.name} writes to its standard output what is no message.`);
        isNoisy = true;
      },
    });
  }

  /** Standard error is log, and a flood of it is counted. */
  #createErrorLog(): (line: string) => void {
    const { entry, log, redact, now } = this.#options;
    const limit = new LineLimit(now);
    return (line) => {
      const leftOut = limit.reopen();
      if (leftOut > 0) log.debug(`${entry.name}: ${leftOut} lines were left out.`);
      if (limit.take()) log.debug(`${entry.name}: ${redact(plainText(line))}`);
    };
  }

  async #list(running: Running, signal: AbortSignal): Promise<void> {
    const { entry, log, redact } = this.#options;
    running.isStale = false;
    try {
      running.list = inKnownOrder(
        running.list,
        await readToolList(
          (cursor) => running.connection.listTools(cursor, signal),
          (sentence) => log.warn(`Tool server ${entry.name}: ${redact(sentence)}`),
        ),
      );
    } catch (error) {
      running.isStale = true;
      signal.throwIfAborted();
      throw this.#failure(error, running.how());
    }
  }

  #noteChange(running: Running | undefined): void {
    if (!running || running.isStale) return;
    running.isStale = true;
    this.#options.onDidChange();
  }

  #ended(running: Running): void {
    const how = running.how() ?? 'is gone';
    if (this.#running !== running) return;
    this.#running = undefined;
    if (this.#closed.signal.aborted) return;
    const { entry, log, now, onDidChange } = this.#options;
    if (now() - running.startedAt >= steadyAfter) this.#ends = 0;
    this.#delay(`The tool server ${entry.name} ${how}`);
    log.warn(`The tool server ${entry.name} ${how}. It is started again when it is wanted.`);
    onDidChange();
  }

  /** The first start after an end is at once, each further one later. */
  #delay(message: string): void {
    this.#ends += 1;
    this.#lastReason = message.replace(/^The tool server \S+ /, '').replace(/\.$/, '');
    const wait = this.#ends === 1 ? 0 : Math.min(longestWait, firstWait * 2 ** (this.#ends - 2));
    this.#notBefore = this.#options.now() + wait;
  }

  /** `how` says more of a server that has ended than what came of the call. */
  #failure(error: unknown, how?: string): ToolServerError {
    return this.#error(how ?? reasonOf(error));
  }

  #error(clause: string): ToolServerError {
    const { entry, redact } = this.#options;
    const reason = cutText(plainText(redact(clause)), maxReason).replace(/\.$/, '');
    return new ToolServerError(`The tool server ${entry.name} ${reason}.`);
  }
}

const longestTimer = 2 ** 31 - 1;

function secondsOf(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  return seconds === 1 ? 'a second' : `${seconds} seconds`;
}

/** A server may tell its tools in another order each time; a prompt that stays the same is not read again. */
function inKnownOrder(known: readonly ServerTool[], now: readonly ServerTool[]): readonly ServerTool[] {
  const places = new Map(known.map(({ name }, index) => [name, index]));
  const placeOf = ({ name }: ServerTool) => places.get(name) ?? known.length;
  return now.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function howOf(transport: object): string | undefined {
  return transport instanceof StdioTransport ? transport.how : undefined;
}

/** Aborts when nothing was heard for so long, in ms; 0 is no limit. */
function createIdleLimit(limit: number, reason: Error, signal: AbortSignal) {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const start = () => (limit === 0 ? undefined : setTimeout(() => controller.abort(reason), limit));
  let timer = start();
  return {
    signal: controller.signal,
    restart: () => {
      clearTimeout(timer);
      timer = start();
    },
    dispose: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    },
  };
}
