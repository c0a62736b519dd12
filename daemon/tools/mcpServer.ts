import { orAborted, withTimeLimit } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { messageOf } from '../../protocol/base/text.ts';
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
import type { ServerTool } from './toolList.ts';
import { failedOutcome, readToolResult } from './toolResult.ts';
import type { AskOptions, ServerState, ToolServer } from './toolServer.ts';

export type McpServerOptions = Omit<McpSessionOptions, 'errors' | 'onDidEnd'>;

/** How long a start goes on although nobody waits any more, in ms: the first one may have to download the server. */
const startLimit = 120_000;
/** After which part of a start users learn what it waits for, in ms. */
const wordAfter = 3_000;
const firstStart = 'A first start may download it, as npx and uvx do.';
const stillStarting = `It is still starting, and is there once it has. ${firstStart} "timeouts.toolStart" sets how long Runner waits.`;

/** One server over its life: it starts when it is needed, and again after it has ended. */
export class McpServer implements ToolServer {
  readonly #options: McpServerOptions;
  readonly #errors: ServerErrors;
  readonly #closed = new AbortController();
  readonly #restarts: ReturnType<typeof createRestarts>;
  #starting: Promise<McpSession> | undefined;
  #session: McpSession | undefined;

  constructor(options: McpServerOptions) {
    this.#options = options;
    this.#errors = createServerErrors(options);
    this.#restarts = createRestarts(options.now);
  }

  async state(signal: AbortSignal): Promise<ServerState> {
    const { entry } = this.#options;
    try {
      return { entry, server: this, state: 'ready', tools: await this.#tools(signal) };
    } catch (error) {
      signal.throwIfAborted();
      const failed = { entry, state: 'failed', message: messageOf(error), tools: [] } as const;
      if (!(error instanceof McpServerError)) return failed;
      const { advice, needsLogin } = error;
      return withoutUndefined<ServerState>({ ...failed, advice, needsLogin: needsLogin || undefined });
    }
  }

  async call(request: ToolRequest, options: CallOptions): Promise<CallOutcome> {
    try {
      const answer = await this.#withSession(options.signal, async (session, forgotten) => {
        // The user has allowed the tool as it was before.
        if (forgotten && fingerprintIn(session, request) !== fingerprintIn(forgotten, request))
          throw this.#errors.of(`was restarted, and its tool ${request.name} has changed. Ask again`);
        return session.call(request, options);
      });
      return readToolResult(answer, options.bounds);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof McpServerError)) throw error;
      return failedOutcome(error.message);
    }
  }

  async ask(request: ServerRequest, { signal, limit, isOnlyIfRunning }: AskOptions): Promise<unknown> {
    if (isOnlyIfRunning && !this.#session) return undefined;
    const reason = this.#errors.of(`did not answer within ${limit / 1_000} seconds. Try again later`);
    return this.#withSession(signal, (session) =>
      withTimeLimit({ limit, reason, signal }, (inTime) => session.ask(request, inTime)),
    );
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const session = this.#session ?? (await this.#starting?.catch(() => undefined));
    await session?.close();
  }

  async #tools(signal: AbortSignal): Promise<readonly ServerTool[]> {
    return this.#inTime(signal, (inTime) => {
      const known = this.#session;
      return this.#withSession(inTime, async (session) =>
        // A new session has just listed its tools.
        session === known && session.isStale ? session.listTools(inTime) : session.tools,
      );
    });
  }

  /**
   * Works with the session, and once more with another one if the server has forgotten it: then the server has run
   * nothing.
   */
  async #withSession<T>(
    signal: AbortSignal,
    work: (session: McpSession, forgotten?: McpSession) => Promise<T>,
  ): Promise<T> {
    const connect = () => this.#inTime(signal, (inTime) => this.#connect(inTime));
    const session = await connect();
    try {
      return await work(session);
    } catch (error) {
      if (!(error instanceof McpServerError && error.isSessionUnknown)) throw error;
      if (this.#session === session) {
        this.#session = undefined;
        void session.close().catch(() => undefined);
      }
      return work(await connect(), session);
    }
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
    const delay = this.#restarts.delay();
    if (!this.#starting && delay !== undefined)
      throw this.#errors.of(delay.reason, { advice: { code: 'wait-for-restart', text: delay.text } });
    this.#starting ??= this.#start();
    return orAborted(this.#starting, signal);
  }

  async #start(): Promise<McpSession> {
    const { entry, log, onDidChange, timeouts } = this.#options;
    const limit = Math.max(startLimit, timeouts().toolStart || noTimeout);
    const reason = this.#errors.of(`did not answer within ${limit / 1_000} seconds`);
    const sayStarting = () =>
      log.info(`The tool server ${entry.name} is starting. ${firstStart}`, { code: 'tool-server' });
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
function createRestarts(now: () => number) {
  let ends = 0;
  let notBefore = 0;
  let lastReason = '';
  return {
    /** The server has ended, or did not start; `reason` is a clause. */
    noteEnd(reason: string, startedAt?: number): void {
      if (startedAt !== undefined && now() - startedAt >= steadyAfter) ends = 0;
      ends += 1;
      lastReason = reason;
      notBefore = now() + (ends === 1 ? 0 : Math.min(maxWait, firstWait * 2 ** (ends - 2)));
    },
    /** Why the server is not started now, as a clause, and for how long; undefined if it may start. */
    delay(): { readonly reason: string; readonly text: string } | undefined {
      const wait = notBefore - now();
      if (wait <= 0) return undefined;
      const seconds = Math.ceil(wait / 1_000);
      const length = seconds === 1 ? 'a second' : `${seconds} seconds`;
      return { reason: lastReason, text: `It is started again in ${length} at the earliest.` };
    },
  };
}
