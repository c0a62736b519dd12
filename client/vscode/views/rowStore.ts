import type { ViewRow } from './modelRows.ts';

/** Where rows of a view come from: one server, or a catalog. */
export interface RowSource {
  /** Unique among the sources of a view. */
  readonly name: string;
  /** `isAsked`: the user wants it anew, so that nothing kept will do. */
  readonly load: (isAsked: boolean) => Promise<LoadedRows>;
}

export interface LoadedRows {
  readonly rows: readonly ViewRow[];
  /** A sentence on how good they are, such as how old. */
  readonly note?: string;
}

export interface Failure {
  /** What to do, in a sentence. */
  readonly sentence: string;
  /** The wire's name of it. */
  readonly kind?: string | undefined;
}

export interface Outcome extends LoadedRows {
  readonly name: string;
  readonly failure?: Failure;
}

/** The rows of a view as its sources last told them. It asks only when it is told to load. */
export interface RowStore {
  /** In the order of the sources; those that have not answered yet are left out. */
  readonly outcomes: readonly Outcome[];
  readonly isStale: boolean;
  readonly isLoading: boolean;
  /** Settles once every source has answered or failed. A newer load takes the place of an older one. */
  load(isAsked?: boolean): Promise<void>;
  /** What is known holds no longer; it is asked for at the next load. */
  markStale(): void;
}

export interface RowStoreOptions {
  readonly sources: () => readonly RowSource[];
  readonly explain: (error: unknown) => Failure;
  /** A source has answered: a slow one does not keep the rows of the others back. */
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
