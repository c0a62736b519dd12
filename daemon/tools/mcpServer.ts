import { orAborted, withTimeLimit } from '../../protocol/base/abort.ts';
import { messageOf } from '../../protocol/base/errorText.ts';
import type { CallOutcome } from '../chat/daemonTools.ts';
import { noTimeout } from './mcpClient.ts';
import { clauseOf, createServerErrors, McpServerError, type ServerErrors } from './mcpServerError.ts';
import {
  type CallOptions,
  type McpSession,
  type McpSessionOptions,
  type ServerRequest,
  startSession,
  type ToolRequest,
} from './mcpSession.ts';
import type { McpTool } from './toolList.ts';
import { failedOutcome, readToolResult } from './toolResult.ts';
import type { AskOptions, ServerState, ToolServer } from './toolServer.ts';

export type McpServerOptions = Omit<McpSessionOptions, 'errors' | 'onDidEnd'>;

/** How long a start goes on although nobody waits any more, in ms: the first one may have to download the server. */
const startLimit = 120_000;
/** After which part of a start users learn what it waits for, in ms. */
const wordAfter = 3_000;
const starting = { code: 'tool-server' } as const;
const firstStart = 'A first start may download it, as npx and uvx do.';
const stillStarting = `It is still starting, and is there once it has. ${firstStart} "timeouts.toolStart" sets how long Runner waits.`;

/** One server over its life: it starts when it is needed, and again after it has ended. */
export class McpServer implements ToolServer {
  readonly #options: McpServerOptions;
  readonly #errors: ServerErrors;
  readonly #closed = new AbortController();
  readonly #restarts: Restarts;
  #starting: Promise<McpSession> | undefined;
  #session: McpSession | undefined;

  constructor(options: McpServerOptions) {
    this.#options = options;
    this.#errors = createServerErrors(options);
    this.#restarts = new Restarts(options.now);
  }

  async state(signal: AbortSignal): Promise<ServerState> {
    const { entry } = this.#options;
    try {
      return { entry, server: this, state: 'ready', tools: await this.#tools(signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof McpServerError))
        return { entry, state: 'failed', message: messageOf(error), tools: [] };
      const { message, needsLogin, advice } = error;
      return {
        entry,
        state: 'failed',
        message,
        tools: [],
        ...(needsLogin ? { needsLogin } : {}),
        ...(advice === undefined ? {} : { advice }),
      };
    }
  }

  async call(request: ToolRequest, options: CallOptions): Promise<CallOutcome> {
    try {
      return readToolResult(await this.#call(request, options));
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof McpServerError)) throw error;
      return failedOutcome(error.message);
    }
  }

  async ask(request: ServerRequest, { signal, limit, isOnlyIfRunning }: AskOptions): Promise<unknown> {
    if (isOnlyIfRunning && !this.#session) return undefined;
    const reason = this.#errors.of(`did not answer within ${limit / 1_000} seconds. Try again later`);
    const askOf = (session: McpSession) =>
      withTimeLimit({ limit, reason, signal }, (inTime) => session.ask(request, inTime));
    const session = await this.#inTime(signal, (inTime) => this.#connect(inTime));
    try {
      return await askOf(session);
    } catch (error) {
      if (!this.#isForgotten(session, error)) throw error;
      return askOf(await this.#inTime(signal, (inTime) => this.#connect(inTime)));
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const session = this.#session ?? (await this.#starting?.catch(() => undefined));
    await session?.close();
  }

  async #tools(signal: AbortSignal): Promise<readonly McpTool[]> {
    return this.#inTime(signal, async (inTime) => {
      const known = this.#session;
      const session = await this.#connect(inTime);
      // A new session has just listed its tools.
      if (session !== known || !session.isStale) return session.tools;
      try {
        return await session.listTools(inTime);
      } catch (error) {
        if (!this.#isForgotten(session, error)) throw error;
        return (await this.#connect(inTime)).tools;
      }
    });
  }

  async #call(request: ToolRequest, options: CallOptions): Promise<unknown> {
    const { signal } = options;
    const session = await this.#inTime(signal, (inTime) => this.#connect(inTime));
    try {
      return await session.call(request, options);
    } catch (error) {
      if (!this.#isForgotten(session, error)) throw error;
      const again = await this.#inTime(signal, (inTime) => this.#connect(inTime));
      // The user has allowed the tool as it was before.
      if (fingerprintIn(again, request) !== fingerprintIn(session, request))
        throw this.#errors.of(`was restarted, and its tool ${request.name} has changed. Ask again`);
      return again.call(request, options);
    }
  }

  /**
   * Whether the server has forgotten the session and run nothing. The session is dropped, and the next use opens
   * another.
   */
  #isForgotten(session: McpSession, error: unknown): boolean {
    if (!(error instanceof McpServerError && error.isSessionUnknown)) return false;
    if (this.#session === session) {
      this.#session = undefined;
      void session.close().catch(() => undefined);
    }
    return true;
  }

  #inTime<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = this.#options.timeouts().toolStart || noTimeout;
    const clause = `did not answer within ${limit / 1_000} seconds`;
    const reason = this.#session
      ? this.#errors.of(`${clause}. Try again later`)
      : this.#errors.of(clause, { advice: { code: 'wait-for-restart', text: stillStarting } });
    return withTimeLimit({ limit, reason, signal }, work);
  }

  async #connect(signal: AbortSignal): Promise<McpSession> {
    if (this.#closed.signal.aborted) throw this.#errors.of('was removed');
    if (this.#session) return this.#session;
    const { delay } = this.#restarts;
    if (!this.#starting && delay !== undefined)
      throw this.#errors.of(delay.reason, { advice: { code: 'wait-for-restart', text: delay.text } });
    this.#starting ??= this.#start();
    return orAborted(this.#starting, signal);
  }

  async #start(): Promise<McpSession> {
    const { entry, log, onDidChange, timeouts } = this.#options;
    const limit = Math.max(startLimit, timeouts().toolStart || noTimeout);
    const reason = this.#errors.of(`did not answer within ${limit / 1_000} seconds`);
    const sayStarting = () => log.info(`The tool server ${entry.name} is starting. ${firstStart}`, starting);
    const timer = entry.kind === 'stdio' ? setTimeout(sayStarting, wordAfter) : undefined;
    const options: McpSessionOptions = {
      ...this.#options,
      errors: this.#errors,
      onDidEnd: (session, how) => this.#ended(session, how),
    };
    try {
      const session = await withTimeLimit({ limit, reason, signal: this.#closed.signal }, (signal) =>
        startSession(options, signal),
      );
      this.#session = session;
      onDidChange();
      return session;
    } catch (error) {
      // The user may log in at any time, and need not wait then.
      if (!(error instanceof McpServerError && error.needsLogin)) this.#restarts.noteEnd(clauseOf(error));
      throw error;
    } finally {
      clearTimeout(timer);
      this.#starting = undefined;
    }
  }

  #ended(session: McpSession, how: string): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    if (this.#closed.signal.aborted) return;
    const { entry, log, onDidChange } = this.#options;
    this.#restarts.noteEnd(how, session.startedAt);
    log.warn(`The tool server ${entry.name} ${how}. It is started again when it is wanted.`);
    onDidChange();
  }
}

function fingerprintIn({ tools }: McpSession, { name }: ToolRequest): string | undefined {
  return tools.find((tool) => tool.name === name)?.fingerprint;
}

/** The wait before a start after the second end in a row; it doubles with each further one. In ms. */
const firstWait = 1_000;
const maxWait = 60_000;
/** A server that ran for this long ends the row, in ms. */
const steadyAfter = 60_000;

/** When a server may start again: at once after the first end, then later and later. */
class Restarts {
  readonly #now: () => number;
  #ends = 0;
  #notBefore = 0;
  #reason = '';

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The server has ended, or did not start; `reason` is a clause. */
  noteEnd(reason: string, startedAt?: number): void {
    if (startedAt !== undefined && this.#now() - startedAt >= steadyAfter) this.#ends = 0;
    this.#ends += 1;
    this.#reason = reason;
    const wait = this.#ends === 1 ? 0 : Math.min(maxWait, firstWait * 2 ** (this.#ends - 2));
    this.#notBefore = this.#now() + wait;
  }

  /** Why the server is not started now, as a clause, and for how long; undefined if it may start. */
  get delay(): { readonly reason: string; readonly text: string } | undefined {
    const wait = this.#notBefore - this.#now();
    if (wait <= 0) return undefined;
    const seconds = Math.ceil(wait / 1_000);
    const length = seconds === 1 ? 'a second' : `${seconds} seconds`;
    return { reason: this.#reason, text: `It is started again in ${length} at the earliest.` };
  }
}
