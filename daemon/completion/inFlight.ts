import { type LinkedSignal, linkedSignal, orAborted } from '../../protocol/base/abort.ts';
import type { Delay } from './pacing.ts';
import { type CompletionPoint, type Suggestion, typedBetween } from './suggestions.ts';

/** Of several pieces of work for one key, only the newest goes on. */
export class Newest {
  readonly #running = new Map<string, LinkedSignal>();

  /**
   * Ends older work for the key and starts this work. The promise rejects at once when newer work starts or the caller
   * gives up.
   */
  async run<T>(key: string, caller: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#running.get(key)?.abort(new SupersededError());
    const linked = linkedSignal(caller);
    const { signal } = linked;
    this.#running.set(key, linked);
    try {
      signal.throwIfAborted();
      return await orAborted(work(signal), signal);
    } finally {
      // Whatever the work still waits for is no longer wanted.
      linked.abort(new SupersededError());
      if (this.#running.get(key) === linked) this.#running.delete(key);
    }
  }
}

/** The reason why work was ended early. It is not a failure. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';
  constructor(why = 'A newer request for the same document replaced it.') {
    super(why);
  }
}

/** Asks for a suggestion at a place. `receive` gets the answer as it arrives. */
type RequestSuggestion = (
  place: CompletionPoint,
  signal: AbortSignal,
  receive: (text: string) => void,
) => Promise<Suggestion | undefined>;

/**
 * The running requests: at most one for each document, and at most one ahead. The one ahead is for the place where the
 * cursor would be if the user accepted the shown suggestion.
 */
export class InFlightRequests {
  readonly #ask: RequestSuggestion;
  readonly #wait: Delay;
  readonly #byUri = new Map<string, InFlightRequest>();
  #ahead: { readonly request: InFlightRequest; readonly shown: Suggestion } | undefined;

  constructor(ask: RequestSuggestion, wait: Delay) {
    this.#ask = ask;
    this.#wait = wait;
  }

  /**
   * The user is at this place and sees this suggestion, if any. Returns the request whose answer the place can wait
   * for. Requests that fit neither the place nor the suggestion close their sockets.
   */
  arrive(place: CompletionPoint, shown: Suggestion | undefined): InFlightRequest | undefined {
    const own = this.#fitting(place);
    if (!this.#ahead) return own;
    const { request } = this.#ahead;
    if (request.startsAt(place) || request.fits(place)) return request;
    if (this.#ahead.shown !== shown) request.abort();
    return own;
  }

  begin(place: CompletionPoint): InFlightRequest {
    const request = this.#start(place);
    this.#byUri.set(place.uri, request);
    return request;
  }

  beginAhead(shown: Suggestion, next: CompletionPoint): void {
    if (this.#ahead?.shown === shown) return;
    this.#ahead?.request.abort();
    this.#ahead = { request: this.#start(next), shown };
  }

  /** Ends the request ahead, unless the suggestion was accepted and somebody waits for what follows it. */
  giveWay(): void {
    if (!this.#ahead?.request.isFollowed) this.#ahead?.request.abort();
  }

  /** Ends the running requests, for one document or for all. */
  abort(why: string, uri?: string): void {
    for (const request of [...this.#byUri.values(), this.#ahead?.request])
      if (uri === undefined || request?.uri === uri) request?.abort(why);
  }

  #start(place: CompletionPoint): InFlightRequest {
    const onEnd = () => {
      if (this.#byUri.get(place.uri) === request) this.#byUri.delete(place.uri);
      if (this.#ahead?.request === request) this.#ahead = undefined;
    };
    const request = new InFlightRequest(place, { ask: this.#ask, wait: this.#wait, onEnd });
    return request;
  }

  #fitting(place: CompletionPoint): InFlightRequest | undefined {
    const request = this.#byUri.get(place.uri);
    if (request?.fits(place)) return request;
    request?.abort();
    return undefined;
  }
}

/**
 * How long a request goes on without a follower, in ms. An editor cancels the older request before it sends the newer
 * one, and a runner that uses all cores may hold this process up between the two.
 */
const grace = 40;

/** A request to the runner. It outlives the editor's request as long as the user types what the answer says. */
export class InFlightRequest {
  readonly #start: CompletionPoint;
  readonly #wait: Delay;
  readonly #controller = new AbortController();
  readonly #suggestion: Promise<Suggestion | undefined>;
  #received = '';
  #followers = 0;
  #isOver = false;

  /** `onEnd` is called when the request is over, however it ended. */
  constructor(
    start: CompletionPoint,
    {
      ask,
      wait,
      onEnd,
    }: { readonly ask: RequestSuggestion; readonly wait: Delay; readonly onEnd: () => void },
  ) {
    this.#start = start;
    this.#wait = wait;
    const receive = (text: string) => {
      this.#received += text;
    };
    this.#suggestion = ask(start, this.#controller.signal, receive).finally(() => {
      this.#isOver = true;
      onEnd();
    });
    // When it fails, it may have no follower.
    this.#suggestion.catch(() => undefined);
  }

  get uri(): string {
    return this.#start.uri;
  }

  get isFollowed(): boolean {
    return this.#followers > 0;
  }

  /** Whether it asks for exactly this place. */
  startsAt(place: CompletionPoint): boolean {
    return typedBetween(this.#start, place) === '';
  }

  /**
   * Whether the text typed since then is what the answer says so far. While the answer is empty, nothing fits, so a
   * newer request starts its own.
   */
  fits(place: CompletionPoint): boolean {
    const isAfterBlank = /\s$/.test(this.#start.around.linePrefix);
    const said = isAfterBlank ? this.#received.trimStart() : this.#received;
    return isSaid(typedBetween(this.#start, place), said);
  }

  /**
   * Waits for its suggestion, which is undefined if nothing of the answer is worth showing. A request that nobody
   * follows any longer is aborted.
   */
  async follow(signal: AbortSignal): Promise<Suggestion | undefined> {
    this.#followers += 1;
    try {
      return await orAborted(this.#suggestion, signal);
    } finally {
      this.#followers -= 1;
      if (!this.isFollowed && !this.#isOver) void this.#endUnlessFollowed();
    }
  }

  /** The wait ends at an abort, after which another one changes nothing. */
  async #endUnlessFollowed(): Promise<void> {
    await this.#wait(grace, this.#controller.signal).catch(() => undefined);
    if (!this.isFollowed) this.abort();
  }

  /** Closes the runner's socket. */
  abort(why?: string): void {
    this.#controller.abort(new SupersededError(why));
  }
}

/** Compares only the length that both have. */
function isSaid(typed: string | undefined, said: string): boolean {
  if (typed === undefined) return false;
  const wanted = typed.replaceAll('\r\n', '\n');
  return said !== '' && (said.startsWith(wanted) || wanted.startsWith(said));
}
