import type { Connection } from 'vscode-languageserver/node';
import * as z from 'zod/mini';
import { type LinkedSignal, linkedSignal } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import {
  type PartProgress,
  type ProgressToken,
  progressNotification,
  type WorkEnd,
  type WorkProgress,
} from '../../protocol/messages/messageTypes.ts';
import { InvalidParamsError } from '../base/errors.ts';
import { LSPErrorCodes, ResponseError } from './languageServer.ts';

/** The progress of a task: its whole current state. */
export interface WorkState {
  readonly message: string;
  /** Bytes of all parts that are known so far. */
  readonly completed?: number;
  readonly total?: number;
  readonly parts?: readonly PartProgress[];
}

export type Report = (state: WorkState) => void;

export interface WorkOptions {
  /** Such as `Pulling qwen3:4b`. */
  readonly title: string;
  /** The request's own token. Without one the daemon makes a token, if the editor allows that. */
  readonly token: ProgressToken | undefined;
  /** The signal of the request. */
  readonly signal: AbortSignal;
}

/** The time between two reports, in ms. Together with the final report, at most ten fall into any second. */
const reportEvery = 120;

const cancelParams = z.object({ token: z.union([z.string(), z.number()]) });

export type Works = ReturnType<typeof createWorks>;

/** Work-done progress: long tasks that an editor can watch, and cancel by their token. */
export function createWorks(connection: Connection) {
  const running = new Map<ProgressToken, LinkedSignal>();
  let canMakeTokens = false;
  let made = 0;

  /** The editor must accept a token of ours before anything is sent with it. */
  const offerToken = async (token: ProgressToken, begin: () => void): Promise<void> => {
    try {
      await connection.sendRequest('window/workDoneProgress/create', { token });
      begin();
    } catch {
      // If an editor refuses the token, it does not see the progress; the work goes on.
    }
  };

  return {
    /** The editor's capabilities are known. From now on tasks can be cancelled by their token. */
    start(makesTokens: boolean): void {
      canMakeTokens = makesTokens;
      // This replaces the library's own handler, which knows only the tokens that it made itself.
      connection.onNotification('window/workDoneProgress/cancel', (params: unknown) => {
        const parsed = cancelParams.safeParse(params);
        if (parsed.success) running.get(parsed.data.token)?.abort();
      });
    },
    /**
     * Runs a task. Its signal is aborted with the request's, and by `window/workDoneProgress/cancel`.
     * @throws {ResponseError} `RequestCancelled`, if it was cancelled.
     */
    async run<T>(
      { title, token, signal }: WorkOptions,
      work: (report: Report, signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      if (token !== undefined && running.has(token))
        throw new InvalidParamsError('workDoneToken', 'another running task already uses it');
      const working = linkedSignal(signal);
      const reporter = new ProgressReporter(connection, title);
      const own = token ?? (canMakeTokens ? `runnerd-work-${++made}` : undefined);
      // This comes before the editor's answer, because the editor may cancel at once.
      if (own !== undefined) running.set(own, working);
      if (token !== undefined) reporter.begin(token);
      else if (own !== undefined) void offerToken(own, () => reporter.begin(own));
      try {
        const result = await work(reporter.report, working.signal);
        reporter.succeed();
        return result;
      } catch (error) {
        if (!working.signal.aborted) throw error;
        throw new ResponseError(LSPErrorCodes.RequestCancelled, 'The request was cancelled.');
      } finally {
        working.unlink();
        if (own !== undefined) running.delete(own);
        reporter.end(working.signal.aborted ? 'Cancelled' : undefined);
      }
    },
  };
}

/** Sends the newest state, no more often than the limit. States in between are replaced. */
class ProgressReporter {
  readonly #connection: Connection;
  readonly #title: string;
  #token: ProgressToken | undefined;
  /** The state that is not sent yet. */
  #newest: WorkState | undefined;
  #last: WorkState | undefined;
  #percentage = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDone = false;
  /** Whether the editor has not taken the last report yet. */
  #isUnwritten = false;
  #isEnded = false;

  constructor(connection: Connection, title: string) {
    this.#connection = connection;
    this.#title = title;
  }

  readonly report: Report = (state) => {
    if (this.#isEnded || isSame(state, this.#last)) return;
    this.#last = state;
    this.#newest = state;
    if (this.#timer === undefined && this.#token !== undefined) this.#sendNewest();
  };

  begin(token: ProgressToken): void {
    if (this.#isEnded) return;
    this.#token = token;
    void this.#send({ kind: 'begin', title: this.#title, cancellable: true, percentage: 0 });
    if (this.#newest) this.#sendNewest();
  }

  /** The work is done: the last report will say 100 %. */
  succeed(): void {
    this.#isDone = true;
    this.#newest ??= this.#last;
  }

  end(message: string | undefined): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    if (this.#newest) void this.#send(this.#reportOf(this.#newest));
    void this.#send(withoutUndefined<WorkEnd>({ kind: 'end', message }));
  }

  #sendNewest(): void {
    if (this.#newest && !this.#isUnwritten) {
      this.#isUnwritten = true;
      void this.#send(this.#reportOf(this.#newest)).finally(() => {
        this.#isUnwritten = false;
      });
      this.#newest = undefined;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#newest) this.#sendNewest();
    }, reportEvery);
  }

  /** Percentages never fall. Only finished work is 100 %; until then something is left to do. */
  #reportOf(state: WorkState): WorkProgress {
    const { completed, total } = state;
    if (completed === undefined || !total) return { kind: 'report', ...state };
    const now = this.#isDone ? 100 : Math.min(99, Math.floor((completed / total) * 100));
    this.#percentage = Math.max(this.#percentage, now);
    return { kind: 'report', percentage: this.#percentage, ...state };
  }

  async #send(value: WorkProgress): Promise<void> {
    if (this.#token === undefined) return;
    // When the connection is lost, its own signal aborts the work.
    await this.#connection
      .sendNotification(progressNotification.method, { token: this.#token, value })
      .catch(() => undefined);
  }
}

/** A runner repeats its lines while nothing moves. */
function isSame(state: WorkState, last: WorkState | undefined): boolean {
  return state.message === last?.message && state.completed === last.completed && state.total === last.total;
}
