import type { Failure } from '../convert/failure.ts';
import type { ViewRow } from './modelRows.ts';

/** Where the rows of a view come from: one server, or a catalog. */
export interface RowSource {
  /** Unique among the sources of a view. */
  readonly name: string;
  /** With `isAsked`, the user wants a new answer, not a cached one. */
  readonly load: (isAsked: boolean) => Promise<LoadedRows>;
}

export interface LoadedRows {
  readonly rows: readonly ViewRow[];
  /** A sentence about the quality of the rows, such as their age. */
  readonly note?: string;
}

export interface LoadOutcome extends LoadedRows {
  readonly name: string;
  readonly failure?: Failure;
}

/** The last known rows of a view. Only `load` asks the sources. */
export interface RowStore {
  /** The names of all sources of the last load, in their order. */
  readonly names: readonly string[];
  /** In the order of the sources; those that have not answered yet are left out. */
  readonly outcomes: readonly LoadOutcome[];
  readonly isStale: boolean;
  readonly isLoading: boolean;
  /** Settles once every source has answered or failed. A newer load replaces an older one. */
  load(isAsked?: boolean): Promise<void>;
  /** Marks the rows as out of date; the next load asks for them. */
  markStale(): void;
}

export interface RowStoreOptions {
  readonly sources: () => readonly RowSource[];
  readonly explain: (error: unknown) => Failure;
  /** A source has answered. Rows are published without waiting for slower sources. */
  readonly onDidChange: () => void;
}

export function createRowStore({ sources, explain, onDidChange }: RowStoreOptions): RowStore {
  let order: readonly string[] = [];
  let known = new Map<string, LoadOutcome>();
  let isStale = true;
  let newest = 0;
  let finished = 0;

  const outcomeOf = async ({ name, load }: RowSource, isAsked: boolean): Promise<LoadOutcome> => {
    try {
      return { name, ...(await load(isAsked)) };
    } catch (error) {
      return { name, rows: [], failure: explain(error) };
    }
  };

  return {
    get names() {
      return order;
    },
    get outcomes() {
      return order.flatMap((name) => known.get(name) ?? []);
    },
    get isStale() {
      return isStale;
    },
    get isLoading() {
      return newest !== finished;
    },
    async load(isAsked = false) {
      const turn = ++newest;
      isStale = false;
      const asked = sources();
      order = asked.map(({ name }) => name);
      known = new Map([...known].filter(([name]) => order.includes(name)));
      await Promise.all(
        asked.map(async (source) => {
          const outcome = await outcomeOf(source, isAsked);
          if (turn !== newest) return;
          known.set(source.name, outcome);
          onDidChange();
        }),
      );
      if (turn === newest) finished = turn;
    },
    markStale() {
      isStale = true;
    },
  };
}
