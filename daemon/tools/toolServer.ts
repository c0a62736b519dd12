import { orAborted, withTimeLimit } from '../../protocol/base/abort.ts';
import type { ToolRequest } from './mcpConnection.ts';
import { Restarts } from './restarts.ts';
import { type RunningServer, type RunningServerOptions, startServer } from './runningServer.ts';
import type { ServerTool } from './toolList.ts';
import { clauseOf, createServerErrors, type ServerErrors, ToolServerError } from './toolServerError.ts';

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

export interface ToolServerOptions extends Omit<RunningServerOptions, 'errors' | 'onDidEnd'> {
  readonly limits: ToolServerLimits;
}

export function createToolServer(options: ToolServerOptions): ToolServer {
  return new EnteredServer(options);
}

class EnteredServer implements ToolServer {
  readonly #options: ToolServerOptions;
  readonly #errors: ServerErrors;
  readonly #closed = new AbortController();
  #starting: Promise<RunningServer> | undefined;
  #running: RunningServer | undefined;
  readonly #restarts: Restarts;

  constructor(options: ToolServerOptions) {
    this.#options = options;
    this.#errors = createServerErrors(options);
    this.#restarts = new Restarts(options.now);
  }

  async tools(signal: AbortSignal): Promise<readonly ServerTool[]> {
    return this.#inTime(signal, async (inTime) => {
      const known = this.#running;
      const running = await this.#get(inTime);
      // One that was just started has just been asked.
      if (running !== known || !running.isStale) return running.list;
      try {
        return await running.readList(inTime);
      } catch (error) {
        if (!this.#hasForgotten(running, error)) throw error;
        return (await this.#get(inTime)).list;
      }
    });
  }

  async call(request: ToolRequest, signal: AbortSignal): Promise<unknown> {
    const running = await this.#inTime(signal, (inTime) => this.#get(inTime));
    try {
      return await running.call(request, signal);
    } catch (error) {
      if (!this.#hasForgotten(running, error)) throw error;
      const again = await this.#inTime(signal, (inTime) => this.#get(inTime));
      // What the user has allowed was the tool of before.
      if (fingerprintIn(again, request) !== fingerprintIn(running, request))
        throw this.#errors.of(`was restarted, and its tool ${request.name} has changed. Ask again`);
      return again.call(request, signal);
    }
  }

  /** Such a server is greeted again at the next use. */
  #hasForgotten(running: RunningServer, error: unknown): boolean {
    if (!running.isForgotten(error)) return false;
    if (this.#running === running) {
      this.#running = undefined;
      void running.close().catch(() => undefined);
    }
    return true;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const running = this.#running ?? (await this.#starting?.catch(() => undefined));
    await running?.close();
  }

  #inTime<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = this.#options.limits.wait;
    const reason = this.#errors.of(`did not answer within ${limit / 1_000} seconds. Try again later`);
    return withTimeLimit({ limit, reason, signal }, work);
  }

  async #get(signal: AbortSignal): Promise<RunningServer> {
    if (this.#closed.signal.aborted) throw this.#errors.of('was removed');
    if (this.#running) return this.#running;
    const { delay } = this.#restarts;
    if (!this.#starting && delay !== undefined)
      throw this.#errors.of(delay.reason, { advice: { code: 'wait-for-restart', text: delay.text } });
    this.#starting ??= this.#start();
    return orAborted(this.#starting, signal);
  }

  async #start(): Promise<RunningServer> {
    const { limits, onDidChange } = this.#options;
    const reason = this.#errors.of(`did not answer within ${limits.start / 1_000} seconds`);
    const options: RunningServerOptions = {
      ...this.#options,
      errors: this.#errors,
      onDidEnd: (running, how) => this.#ended(running, how),
    };
    try {
      const running = await withTimeLimit(
        { limit: limits.start, reason, signal: this.#closed.signal },
        (signal) => startServer(options, signal),
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

  #ended(running: RunningServer, how: string): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    if (this.#closed.signal.aborted) return;
    const { entry, log, onDidChange } = this.#options;
    this.#restarts.noteEnd(how, running.startedAt);
    log.warn(`The tool server ${entry.name} ${how}. It is started again when it is wanted.`);
    onDidChange();
  }
}

function fingerprintIn({ list }: RunningServer, { name }: ToolRequest): string | undefined {
  return list.find((tool) => tool.name === name)?.fingerprint;
}
