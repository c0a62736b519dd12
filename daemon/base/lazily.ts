/** A feature that is loaded and created on first use, so that the daemon's start does not pay for it. */
export interface Lazy<T> {
  get(): Promise<T>;
  /** Closes the feature if it was created. */
  close(): Promise<void>;
}

export function lazily<T extends { close(): Promise<void> }>(make: () => Promise<T>): Lazy<T> {
  let made: Promise<T> | undefined;
  return {
    get() {
      made ??= make();
      return made;
    },
    async close() {
      const feature = await made;
      await feature?.close();
    },
  };
}
