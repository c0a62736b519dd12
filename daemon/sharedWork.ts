/**
 * One piece of work that several ask for: it begins with the first, goes on as long as somebody waits, and is aborted
 * when the last one has left. Each sees what is reported from when it came, beginning with the newest.
 */
export class SharedWork<T, State = never> {
  readonly #controller = new AbortController();
  readonly #watchers = new Set<(state: State) => void>();
  readonly #result: Promise<T>;
  #newest: { readonly state: State } | undefined;
  #waiting = 0;

  constructor(work: (signal: AbortSignal, report: (state: State) => void) => Promise<T>) {
    this.#result = work(this.#controller.signal, (state) => {
      this.#newest = { state };
      for (const watch of this.#watchers) watch(state);
    });
    // Each that waits is told; when nobody does any more, nobody needs to be.
    this.#result.catch(() => undefined);
  }

  /** True once the last one left: whoever comes later begins anew. */
  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Settles as the work does, or rejects at once with the signal's reason. */
  async join(signal: AbortSignal, watch: (state: State) => void = () => undefined): Promise<T> {
    signal.throwIfAborted();
    // A set holds a function once, and two may watch with the same one.
    const own = (state: State) => watch(state);
    this.#waiting++;
    this.#watchers.add(own);
    if (this.#newest) own(this.#newest.state);
    try {
      return await orAborted(this.#result, signal);
    } finally {
      this.#watchers.delete(own);
      this.#waiting--;
      if (this.#waiting === 0) this.#controller.abort();
    }
  }
}

/** Settles as the promise does, or rejects with the signal's reason once it is aborted. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([promise, aborted]).finally(() => stop && signal.removeEventListener('abort', stop));
}
