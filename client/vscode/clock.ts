/** Time as it is handed in. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once after so many milliseconds, unless the returned function is called before. */
  after(milliseconds: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, work) {
    const timer = setTimeout(work, milliseconds);
    return () => clearTimeout(timer);
  },
};
