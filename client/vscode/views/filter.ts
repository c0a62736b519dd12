import type { QuickPick, QuickPickItem } from 'vscode';
import { shortWordOf } from '../../shared/words.ts';

/** A row must match all parts of a filter. */
export interface RowFilter {
  /** Words that must all occur in a model's name, in any order and case. */
  readonly words: string;
  /** Names of capabilities that a model must all have. */
  readonly capabilities: readonly string[];
}

/** The part of a row that a filter looks at. */
export interface FilterableRow {
  readonly model: string;
  readonly capabilities: readonly string[];
}

export const noFilter: RowFilter = { words: '', capabilities: [] };

export function isFilterOn(filter: RowFilter): boolean {
  return filter.words.trim() !== '' || filter.capabilities.length > 0;
}

export function filterRows<Row extends FilterableRow>(
  rows: readonly Row[],
  filter: RowFilter,
): readonly Row[] {
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
export function countCapabilities(rows: readonly FilterableRow[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { capabilities } of rows)
    for (const name of new Set(capabilities)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([a, countA], [b, countB]) => countB - countA || a.localeCompare(b));
}

/** A sentence with the filter and the number of rows that it shows. */
export function describeFilter(filter: RowFilter, shown: number, total: number): string {
  const { words, capabilities } = filter;
  const name = words.trim().replace(/\s+/g, ' ');
  const what = [...(name === '' ? [] : [`“${name}”`]), ...capabilities.map(shortWordOf)].join(' + ');
  const [models, all] = total === 1 ? ['1 model', 'it'] : [`${total} models`, 'them'];
  return shown === 0
    ? `Nothing matches ${what} among ${models}. Clear the filter to see ${all}.`
    : `${what}: ${shown} of ${models}.`;
}

/** What is filtered, and how at first. `onDidChange` is called with the filter while the user edits it. */
interface FilterSubject {
  readonly rows: readonly FilterableRow[];
  readonly filter: RowFilter;
  readonly onDidChange: (filter: RowFilter) => void;
}

/** A checkbox. Its label is the word that rows have for the capability. */
interface CapabilityItem extends QuickPickItem {
  readonly name: string;
}

/**
 * Shows a new box, and disposes of it. The typed text is part of a name; the ticked entries are capabilities that a
 * model must have. The view follows each key. Escape restores the filter.
 */
export function showFilterBox(
  box: QuickPick<CapabilityItem>,
  title: string,
  { rows, filter, onDidChange }: FilterSubject,
): void {
  box.title = title;
  box.placeholder = 'Type part of a name; tick what a model must be able to do';
  box.canSelectMany = true;
  // A click into the filtered view must not count as Escape.
  box.ignoreFocusOut = true;
  box.value = filter.words;
  let ticked = filter.capabilities;
  let isAccepted = false;
  /** The counts follow the typed text. New items lose their ticks, so they are set again. */
  const draw = () => {
    const items = itemsOf(rows, { words: box.value, capabilities: ticked });
    if (items.every(({ description }, index) => description === box.items[index]?.description)) return;
    box.items = items;
    box.selectedItems = items.filter(({ name }) => ticked.includes(name));
  };
  const publish = () => onDidChange({ words: box.value.trim(), capabilities: ticked });
  draw();
  box.onDidChangeValue(() => {
    draw();
    publish();
  });
  box.onDidChangeSelection(() => {
    ticked = box.selectedItems.map(({ name }) => name);
    publish();
  });
  box.onDidAccept(() => {
    isAccepted = true;
    box.hide();
  });
  box.onDidHide(() => {
    if (!isAccepted) onDidChange(filter);
    box.dispose();
  });
  box.show();
}

/**
 * The entries stay in their order, whatever is typed: the text filters the view, not the box. Each has the number of
 * models with the capability that match the text.
 */
function itemsOf(rows: readonly FilterableRow[], { words, capabilities }: RowFilter): CapabilityItem[] {
  const counts = new Map(countCapabilities(filterRows(rows, { words, capabilities: [] })));
  const all = [...countCapabilities(rows).map(([name]) => name), ...capabilities];
  return [...new Set(all)].map((name) => {
    const count = counts.get(name) ?? 0;
    const description = count === 1 ? '1 model' : `${count} models`;
    return { name, label: shortWordOf(name), description, alwaysShow: true };
  });
}
