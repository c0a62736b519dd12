import { type Failure, toFailure } from '../convert/failure.ts';
import { describeFilter, isFilterOn, type RowFilter } from './filter.ts';
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

/**
 * The last known rows of a view. Only `load` asks the sources. `onDidChange` is called when a source has answered: rows
 * are published without waiting for slower sources.
 */
export function createRowStore(sources: () => readonly RowSource[], onDidChange: () => void) {
  let order: readonly string[] = [];
  let known = new Map<string, LoadOutcome>();
  let isStale = true;
  let newest = 0;
  let finished = 0;

  const outcomeOf = async ({ name, load }: RowSource, isAsked: boolean): Promise<LoadOutcome> => {
    try {
      return { name, ...(await load(isAsked)) };
    } catch (error) {
      return { name, rows: [], failure: toFailure(error) };
    }
  };

  return {
    /** The names of all sources of the last load, in their order. */
    get names(): readonly string[] {
      return order;
    },
    /** In the order of the sources; those that have not answered yet are left out. */
    get outcomes(): readonly LoadOutcome[] {
      return order.flatMap((name) => known.get(name) ?? []);
    },
    get isStale(): boolean {
      return isStale;
    },
    get isLoading(): boolean {
      return newest !== finished;
    },
    /** Settles once every source has answered or failed. A newer load replaces an older one. */
    async load(isAsked = false): Promise<void> {
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
    /** Marks the rows as out of date; the next load asks for them. */
    markStale(): void {
      isStale = true;
    },
  };
}

/** Decides which welcome text of the manifest is shown. */
export type ViewCondition = 'loading' | 'filled' | 'empty' | 'offline' | 'unauthorized' | 'failed';

export interface ViewContent {
  readonly outcomes: readonly LoadOutcome[];
  readonly filter: RowFilter;
  /** How many rows pass the filter. */
  readonly shown: number;
  /** The number of sources. If there are several, each is a server with a row of its own. */
  readonly sources: number;
}

/**
 * The state of a view, and the message above its rows; `""` is none. The editor shows either a message or a welcome
 * text, so there is no message if the welcome text says what to do.
 */
export function viewStateOf({ outcomes, filter, shown, sources }: ViewContent) {
  const total = outcomes.reduce((sum, { rows }) => sum + rows.length, 0);
  const isByServer = sources > 1;
  const condition = isByServer ? conditionOfSeveral(outcomes, sources) : conditionOf(outcomes, total);
  if (condition === 'loading' || condition === 'offline' || condition === 'unauthorized')
    return { condition, message: '' };
  const notes = isByServer ? [] : outcomes.flatMap(({ note, failure }) => failure?.sentence ?? note ?? []);
  const filtered = total > 0 && isFilterOn(filter) ? [describeFilter(filter, shown, total)] : [];
  return { condition, message: [...filtered, ...notes].join(' ') };
}

/** Of the only source. */
function conditionOf(outcomes: readonly LoadOutcome[], total: number): ViewCondition {
  if (total > 0) return 'filled';
  const [only] = outcomes;
  if (!only) return 'loading';
  const { failure } = only;
  if (!failure) return 'empty';
  if (isOffline(failure)) return 'offline';
  return failure.kind === 'unauthorized' ? 'unauthorized' : 'failed';
}

/** A server that fails has a row, so the view shows no other text for it. The view is empty once all servers are. */
function conditionOfSeveral(outcomes: readonly LoadOutcome[], sources: number): ViewCondition {
  if (!isEmpty(outcomes)) return 'filled';
  return outcomes.length < sources ? 'loading' : 'empty';
}

/** Whether no source has a model, a failure or a note. A view of several servers then has no rows. */
export function isEmpty(outcomes: readonly LoadOutcome[]): boolean {
  return outcomes.every(({ rows, failure, note }) => rows.length === 0 && !failure && note === undefined);
}

function isOffline({ kind }: Failure): boolean {
  return kind === 'server-unreachable' || kind === 'timeout';
}
