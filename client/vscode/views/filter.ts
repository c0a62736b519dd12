import { shortWordOf } from '../../shared/capabilityWords.ts';

/** What a view is narrowed to. A row must match all of it. */
export interface Filter {
  /** Words that must all occur in a model's name, in any order and case. */
  readonly words: string;
  /** Names of capabilities that a model must all have. */
  readonly capabilities: readonly string[];
}

/** What a filter reads. */
export interface Filtered {
  readonly model: string;
  readonly capabilities: readonly string[];
}

export const noFilter: Filter = { words: '', capabilities: [] };

export function isFilterOn(filter: Filter): boolean {
  return filter.words.trim() !== '' || filter.capabilities.length > 0;
}

export function filterRows<Row extends Filtered>(rows: readonly Row[], filter: Filter): readonly Row[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && filter.capabilities.length === 0) return rows;
  return rows.filter(({ model, capabilities }) => {
    const name = model.toLowerCase();
    return (
      words.every((word) => name.includes(word)) &&
      filter.capabilities.every((wanted) => capabilities.includes(wanted))
    );
  });
}

/** The capabilities that occur, the most frequent first, with how many of the rows have each. */
export function countCapabilities(rows: readonly Filtered[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { capabilities } of rows)
    for (const name of new Set(capabilities)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([a, countA], [b, countB]) => countB - countA || a.localeCompare(b));
}

/** A sentence: what the filter is, and how many of the rows are shown. */
export function describeFilter(filter: Filter, shown: number, total: number): string {
  const { words, capabilities } = filter;
  const name = words.trim().replace(/\s+/g, ' ');
  const what = [...(name === '' ? [] : [`“${name}”`]), ...capabilities.map(shortWordOf)].join(' + ');
  const models = total === 1 ? '1 model' : `${total} models`;
  return shown === 0
    ? `Nothing matches ${what} among ${models}. Clear the filter to see them.`
    : `${what}: ${shown} of ${models}.`;
}
