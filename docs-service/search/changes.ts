/** One state of the library. */
export interface LibraryState {
  /** A rebuilt index has another one. */
  readonly indexId: string;
  /** How many changes readers have seen since then. */
  readonly changes: number;
}

/** The generation of an index, which grows with each state that differs from the one before. */
export interface Changes {
  generation(): number;
  onDidChange(listener: () => void): { dispose(): void };
  /** The state that an answer was read from. Answers may arrive in another order than they were read. */
  onState(state: LibraryState): void;
  /** No listener is called from now on. */
  clear(): void;
}

export function createChanges(): Changes {
  const listeners = new Set<() => void>();
  let generation = 0;
  let latest: LibraryState | undefined;
  return {
    generation: () => generation,
    onDidChange: (listener) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
    onState: (state) => {
      if (latest?.indexId === state.indexId && state.changes <= latest.changes) return;
      const isFirst = latest === undefined;
      latest = state;
      generation++;
      if (!isFirst) for (const listener of [...listeners]) listener();
    },
    clear: () => listeners.clear(),
  };
}
