import type { Failure } from '../convert/serverFailure.ts';
import type { ViewRow } from './modelRows.ts';

/** Where the rows of a view come from: one server, or a catalog. */
export interface RowSource {
  /** Unique among the sources of a view. */
  readonly name: string;
  /** With `isAsked`, the user wants a new answer, so a cached one will not do. */
  readonly load: (isAsked: boolean) => Promise<LoadedRows>;
}

export interface LoadedRows {
  readonly rows: readonly ViewRow[];
  /** A sentence about the quality of the rows, such as their age. */
  readonly note?: string;
}

export interface Outcome extends LoadedRows {
  readonly name: string;
  readonly failure?: Failure;
}

/** The rows of a view as its sources last answered. It asks them only in `load`. */
export interface RowStore {
  /** The names of all sources that were asked, in their order. */
  readonly names: readonly string[];
  /** In the order of the sources; those that have not answered yet are left out. */
  readonly outcomes: readonly Outcome[];
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
  /** A source has answered. A slow source does not hold back the rows of the others. */
  readonly onDidChange: () => void;
}

export function createRowStore({ sources, explain, onDidChange }: RowStoreOptions): RowStore {
  let order: readonly string[] = [];
  let known = new Map<string, Outcome>();
  let isStale = true;
  let newest = 0;
  let finished = 0;

  const outcomeOf = async ({ name, load }: RowSource, isAsked: boolean): Promise<Outcome> => {
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
