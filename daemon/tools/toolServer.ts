import type { Transport } from '@modelcontextprotocol/client';
import { orAborted, withTimeLimit } from '../abort.ts';
import { plainText } from '../logs/plainText.ts';
import { cutText } from './cutText.ts';
import { LoginNeededError } from './httpTransport.ts';
import { createIdleLimit } from './idleLimit.ts';
import { connectMcp, type McpConnection, type ToolRequest } from './mcpConnection.ts';
import { reasonOf } from './mcpFailure.ts';
import { canHaveToken } from './oauth/accessTokens.ts';
import { Restarts } from './restarts.ts';
import { createServerTransport, howItEnded, type ServerTransportOptions } from './serverTransport.ts';
import { readToolList, type ServerTool } from './toolList.ts';

/** A tool server that could not do what was wanted; the message is a sentence without secrets. */
export class ToolServerError extends Error {
  override readonly name = 'ToolServerError';
  readonly needsLogin: boolean;

  constructor(
    message: string,
    { needsLogin = false, cause }: { needsLogin?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.needsLogin = needsLogin;
  }
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

export interface ToolServerOptions extends ServerTransportOptions {
  readonly version: string;
  readonly timeouts: () => { readonly tool: number; readonly toolTotal: number };
  readonly limits: ToolServerLimits;
  readonly onDidChange: () => void;
}

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
  readonly #restarts: Restarts;

  constructor(options: ToolServerOptions) {
    this.#options = options;
    this.#restarts = new Restarts(options.now);
  }

  async tools(signal: AbortSignal): Promise<readonly ServerTool[]> {
    return this.#inTime(signal, async (inTime) => {
      const known = this.#running;
      const running = await this.#get(inTime);
      // One that was just started has just been asked.
      if (running !== known || (!running.isStale && running.connection.tellsChanges)) return running.list;
      try {
        return await this.#list(running, inTime);
      } catch (error) {
        if (!this.#hasForgotten(running, error)) throw error;
        return (await this.#get(inTime)).list;
      }
    });
  }

  async call(request: ToolRequest, signal: AbortSignal): Promise<unknown> {
    const running = await this.#inTime(signal, (inTime) => this.#get(inTime));
    try {
      return await this.#call(running, request, signal);
    } catch (error) {
      if (!this.#hasForgotten(running, error)) throw error;
      const again = await this.#inTime(signal, (inTime) => this.#get(inTime));
      // What the user has allowed was the tool of before.
      if (fingerprintIn(again, request) !== fingerprintIn(running, request))
        throw this.#error(
          `was started again, and its tool ${request.name} is not the same any more. Ask again`,
        );
      return this.#call(again, request, signal);
    }
  }

  async #call({ connection, how }: Running, request: ToolRequest, signal: AbortSignal): Promise<unknown> {
    const { tool, toolTotal } = this.#options.timeouts();
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

  /** Such a server is greeted again at the next use. */
  #hasForgotten(running: Running, error: unknown): boolean {
    if (!(error instanceof ToolServerError && running.connection.isForgotten(error.cause))) return false;
    if (this.#running === running) {
      this.#running = undefined;
      void running.connection.close().catch(() => undefined);
    }
    return true;
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
    const { delay } = this.#restarts;
    if (!this.#starting && delay !== undefined) throw this.#error(delay);
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
      // The user may log in at any time, and need not wait then.
      if (!(error instanceof ToolServerError && error.needsLogin)) this.#restarts.noteEnd(clauseOf(error));
      throw error;
    } finally {
      this.#starting = undefined;
    }
  }

  async #connect(signal: AbortSignal): Promise<Running> {
    const { version, now } = this.#options;
    const way: { transport?: Transport; running?: Running; isGone?: true } = {};
    const stop = () => void way.transport?.close();
    signal.addEventListener('abort', stop, { once: true });
    const how = () => howItEnded(way.transport);
    try {
      const connection = await connectMcp({
        openTransport: () => {
          signal.throwIfAborted();
          way.transport = createServerTransport(this.#options);
          return way.transport;
        },
        version,
        onDidChangeTools: () => this.#noteChange(way.running),
        onDidEnd: () => {
          way.isGone = true;
          if (way.running) this.#ended(way.running);
        },
      });
      const running: Running = { connection, how, startedAt: now(), list: [], isStale: false };
      try {
        await this.#list(running, signal);
      } catch (error) {
        await connection.close();
        throw error;
      }
      if (way.isGone) throw this.#error(how() ?? 'is gone');
      way.running = running;
      return running;
    } catch (error) {
      if (error instanceof ToolServerError) throw error;
      const ended = how();
      throw this.#failure(error, ended === 'was ended' ? undefined : ended);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #list(running: Running, signal: AbortSignal): Promise<readonly ServerTool[]> {
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
      return running.list;
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
    const { entry, log, onDidChange } = this.#options;
    this.#restarts.noteEnd(how, running.startedAt);
    log.warn(`The tool server ${entry.name} ${how}. It is started again when it is wanted.`);
    onDidChange();
  }

  /** `how` says more of a server that has ended than what came of the call. */
  #failure(error: unknown, how?: string): ToolServerError {
    if (how === undefined && error instanceof LoginNeededError) return this.#loginNeeded(error);
    return this.#error(how ?? reasonOf(error), { cause: error });
  }

  #loginNeeded({ message }: LoginNeededError): ToolServerError {
    const { entry } = this.#options;
    const hint =
      entry.kind === 'http' && canHaveToken(entry.url)
        ? `Run "runner mcp login ${entry.name}" (if only an editor has the server: with its address instead of its name), or enter a token for its address under "auth" in ~/.config/runner/config.json`
        : 'Its address is plain http on another machine, where no token is sent: enter its https address';
    return this.#error(`${message}. ${hint}`, { needsLogin: true });
  }

  #error(clause: string, more: { needsLogin?: boolean; cause?: unknown } = {}): ToolServerError {
    const { entry, redact } = this.#options;
    const reason = cutText(plainText(redact(clause)), maxReason).replace(/\.$/, '');
    return new ToolServerError(`The tool server ${entry.name} ${reason}.`, more);
  }
}

const longestTimer = 2 ** 31 - 1;

function fingerprintIn({ list }: Running, { name }: ToolRequest): string | undefined {
  return list.find((tool) => tool.name === name)?.fingerprint;
}

function clauseOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^The tool server \S+ /, '').replace(/\.$/, '');
}

/** A server may tell its tools in another order each time; a prompt that stays the same is not read again. */
function inKnownOrder(known: readonly ServerTool[], now: readonly ServerTool[]): readonly ServerTool[] {
  const places = new Map(known.map(({ name }, index) => [name, index]));
  const placeOf = ({ name }: ServerTool) => places.get(name) ?? known.length;
  return now.toSorted((a, b) => placeOf(a) - placeOf(b));
}
