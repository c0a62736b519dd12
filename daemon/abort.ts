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

export interface TimeLimit {
  /** In ms. */
  readonly limit: number;
  /** What the work is aborted with when its time is over. */
  readonly reason: Error;
  /** The caller's. */
  readonly signal: AbortSignal;
}

/**
 * Runs work that ends with its time at the latest, even where it notices its signal late. A timer of our own: Node 20
 * may collect an `AbortSignal.timeout` that only an `AbortSignal.any` holds.
 */
export async function withTimeLimit<T>(
  { limit, reason, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => controller.abort(reason), limit);
  try {
    return await orAborted(work(controller.signal), controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
