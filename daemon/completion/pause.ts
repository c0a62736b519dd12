/** Waits for so many ms, and rejects at once when the signal is aborted. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export interface Rest {
  /** In ms. */
  readonly wanted: number;
  /** How much of it is over: an editor may have waited itself. */
  readonly over: number;
}

/** Waits for what is left of the rest; a newer request or a cancellation ends it at once. */
export async function pause({ wanted, over }: Rest, wait: Wait, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const left = wanted - over;
  if (left > 0) await wait(left, signal);
}
