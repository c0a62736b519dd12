import type { Failure } from '../convert/failure.ts';
import { describeFilter, isFilterOn, type RowFilter } from './filter.ts';
import type { LoadOutcome } from './rowStore.ts';

/** Decides which welcome text of the manifest is shown. */
export type ViewCondition = 'loading' | 'filled' | 'empty' | 'offline' | 'unauthorized' | 'failed';

export interface ViewState {
  readonly condition: ViewCondition;
  /**
   * The message above the rows; `""` is none. The editor shows either a message or a welcome text, so there is no
   * message if the welcome text says what to do.
   */
  readonly message: string;
}

export interface ViewContent {
  readonly outcomes: readonly LoadOutcome[];
  readonly filter: RowFilter;
  /** How many rows pass the filter. */
  readonly shown: number;
  /** The number of sources. If there are several, each is a server with a row of its own. */
  readonly sources: number;
}

/** The state of a view, and its message. */
export function viewStateOf({ outcomes, filter, shown, sources }: ViewContent): ViewState {
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
