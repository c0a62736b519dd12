import { setMaxListeners } from 'node:events';

/** Settles as the promise does, or rejects with the signal's reason once it is aborted. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // Nobody else waits for it: its error would count as one that nobody takes.
    promise.catch(() => undefined);
    throw signal.reason;
  }
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([promise, aborted]).finally(() => stop && signal.removeEventListener('abort', stop));
}

/** An abort signal that follows other signals. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Stops following the other signals. The creator calls this at the end, because the others may live long. */
  unlink(): void;
}

/**
 * Creates a signal that is aborted together with the first of the others, for the same reason, or by its creator.
 * `AbortSignal.any` will not do: Node 20 may collect a signal that only `any` refers to, and it keeps every signal that
 * `any` derives from a long-lived one.
 */
export function linkedSignal(...others: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const unlink = () => {
    for (const other of others) other.removeEventListener('abort', follow);
  };
  const abort = (reason?: unknown) => {
    unlink();
    controller.abort(reason);
  };
  const follow = () => abort(others.find(({ aborted }) => aborted)?.reason);
  // Many parts of one task may follow one signal, and each of them unlinks at the end.
  setMaxListeners(0, controller.signal, ...others);
  for (const other of others) other.addEventListener('abort', follow, { once: true });
  if (others.some(({ aborted }) => aborted)) follow();
  return { signal: controller.signal, abort, unlink };
}

export interface TimeLimit {
  /** In ms. */
  readonly limit: number;
  /** The reason with which the work is aborted when its time is over. */
  readonly reason: Error;
  /** The caller's signal. */
  readonly signal: AbortSignal;
}

/** Runs work that ends at its time limit at the latest, even if it notices its signal late. */
export async function withTimeLimit<T>(
  { limit, reason, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const limited = linkedSignal(signal);
  const timer = setTimeout(() => limited.abort(reason), limit);
  try {
    return await orAborted(work(limited.signal), limited.signal);
  } finally {
    clearTimeout(timer);
    limited.unlink();
  }
}
