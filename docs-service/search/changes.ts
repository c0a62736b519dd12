/** One state of the library. */
export interface LibraryState {
  /** A rebuilt index has another one. */
  readonly indexId: string;
  /** How many changes readers have seen since then. */
  readonly changes: number;
}

/** The generation of an index, which grows with each state that differs from the one before. */
export function createChanges() {
  const listeners = new Set<() => void>();
  let generation = 0;
  let latest: LibraryState | undefined;
  return {
    generation: () => generation,
    onDidChange: (listener: () => void) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
    /** The state that an answer was read from. Answers may arrive in another order than they were read. */
    onState: (state: LibraryState) => {
      if (latest?.indexId === state.indexId && state.changes <= latest.changes) return;
      const isFirst = latest === undefined;
      latest = state;
      generation++;
      if (!isFirst) for (const listener of [...listeners]) listener();
    },
    /** No listener is called from now on. */
    clear: () => listeners.clear(),
  };
}
