/** Ctrl-C while something is under way: the first cancels it, the second does not wait. */
export interface Interrupts {
  /** Aborted at the first. */
  readonly signal: AbortSignal;
  press(): void;
  /** Settles as `work` does, or rejects with {@link Insisted} at the second. */
  orInsisted<T>(work: Promise<T>): Promise<T>;
}

/** The user pressed Ctrl-C again and wants to leave at once. */
export class Insisted extends Error {
  override readonly name = 'Insisted';
}

export function createInterrupts(): Interrupts {
  const abort = new AbortController();
  let insist: (reason: Insisted) => void = () => undefined;
  const insisted = new Promise<never>((_, reject) => {
    insist = reject;
  });
  // It may come when nothing is awaited any more.
  insisted.catch(() => undefined);
  return {
    signal: abort.signal,
    press() {
      if (abort.signal.aborted) insist(new Insisted());
      abort.abort();
    },
    orInsisted: (work) => Promise.race([work, insisted]),
  };
}
