import { type Connection, LSPErrorCodes, ResponseError } from 'vscode-languageserver/node';
import * as z from 'zod/mini';
import type { ProgressToken } from '../../protocol/messageTypes.ts';
import {
  type PartProgress,
  progressNotification,
  type WorkEnd,
  type WorkProgress,
} from '../../protocol/progress.ts';
import { withoutUndefined } from '../../protocol/withoutUndefined.ts';
import { type LinkedSignal, linkedSignal } from '../abort.ts';
import { InvalidParamsError } from '../errors.ts';

/** How far a piece of work has come: all of its present state. */
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
  /** The request's own token; without one, a token is made where the editor takes that. */
  readonly token: ProgressToken | undefined;
  /** Of the request. */
  readonly signal: AbortSignal;
}

/** Work-done progress: pieces of work that take long, are watched, and can be cancelled by their token. */
export interface Works {
  /** The editor's capabilities are known; from now on cancellations by token are heard. */
  start(makesTokens: boolean): void;
  /**
   * Runs a piece of work. Its signal is aborted by the request's, and by `window/workDoneProgress/cancel`.
   * @throws {ResponseError} `RequestCancelled`, when it was cancelled.
   */
  run<T>(options: WorkOptions, work: (report: Report, signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** Between two reports, in ms: with the last one, at most ten fall into any second. */
const reportEvery = 120;

const cancelParams = z.object({ token: z.union([z.string(), z.number()]) });

export function createWorks(connection: Connection): Works {
  const running = new Map<ProgressToken, LinkedSignal>();
  let canMakeTokens = false;
  let made = 0;

  /** The editor takes a token that was made here before it is told anything under it. */
  const offerToken = async (token: ProgressToken, begin: () => void): Promise<void> => {
    try {
      await connection.sendRequest('window/workDoneProgress/create', { token });
      begin();
    } catch {
      // An editor that refuses a token watches nothing; the work goes on.
    }
  };

  return {
    start(makesTokens) {
      canMakeTokens = makesTokens;
      // In the place of the library's own handler, which knows only the tokens that it made itself.
      connection.onNotification('window/workDoneProgress/cancel', (params: unknown) => {
        const parsed = cancelParams.safeParse(params);
        if (parsed.success) running.get(parsed.data.token)?.abort();
      });
    },
    async run({ title, token, signal }, work) {
      if (token !== undefined && running.has(token))
        throw new InvalidParamsError('workDoneToken', 'other work that is under way has it');
      const working = linkedSignal(signal);
      const reporter = new ProgressReporter(connection, title);
      const own = token ?? (canMakeTokens ? `runnerd-work-${++made}` : undefined);
      // Before the editor answers: it may cancel at once.
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

/** Tells the newest state, no more often than the limit; what comes in between is replaced. */
class ProgressReporter {
  readonly #connection: Connection;
  readonly #title: string;
  #token: ProgressToken | undefined;
  /** What is not told yet. */
  #newest: WorkState | undefined;
  #last: WorkState | undefined;
  #percentage = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDone = false;
  /** A report that the editor has not taken yet. */
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
    if (this.#timer === undefined && this.#token !== undefined) this.#tell();
  };

  begin(token: ProgressToken): void {
    if (this.#isEnded) return;
    this.#token = token;
    void this.#send({ kind: 'begin', title: this.#title, cancellable: true, percentage: 0 });
    if (this.#newest) this.#tell();
  }

  /** All is done: what is told last says so. */
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

  #tell(): void {
    if (this.#newest && !this.#isUnwritten) {
      this.#isUnwritten = true;
      void this.#send(this.#reportOf(this.#newest)).finally(() => {
        this.#isUnwritten = false;
      });
      this.#newest = undefined;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#newest) this.#tell();
    }, reportEvery);
  }

  /** Percentages never fall, and only what is done is a hundred: until then something is left to do. */
  #reportOf(state: WorkState): WorkProgress {
    const { completed, total } = state;
    if (completed === undefined || !total) return { kind: 'report', ...state };
    const now = this.#isDone ? 100 : Math.min(99, Math.floor((completed / total) * 100));
    this.#percentage = Math.max(this.#percentage, now);
    return { kind: 'report', percentage: this.#percentage, ...state };
  }

  async #send(value: WorkProgress): Promise<void> {
    if (this.#token === undefined) return;
    // A connection that is gone aborts the work by its own signal.
    await this.#connection
      .sendNotification(progressNotification.method, { token: this.#token, value })
      .catch(() => undefined);
  }
}

/** A runner repeats itself while nothing moves. */
function isSame(state: WorkState, last: WorkState | undefined): boolean {
  return state.message === last?.message && state.completed === last.completed && state.total === last.total;
}
