import type { QuickPick, QuickPickItem } from 'vscode';
import { shortWordOf } from '../../shared/capabilityWords.ts';
import { countCapabilities, type Filter, type Filtered } from './filter.ts';

export interface FilterBoxOptions {
  /** Such as `Filter Local Models`. */
  readonly title: string;
  readonly rows: readonly Filtered[];
  readonly filter: Filter;
  /** Called with the filter while the user edits it. */
  readonly onDidChange: (filter: Filter) => void;
}

/** A tick. Its label is the word that rows have for the capability. */
interface CapabilityItem extends QuickPickItem {
  readonly name: string;
}

/**
 * Shows a new box, and disposes of it. One box for both: the typed text is part of a name, and the ticks are what a
 * model must be able to do. The view follows each key, so the user sees when enough is typed. Escape restores the
 * filter.
 */
export function showFilterBox(
  box: QuickPick<CapabilityItem>,
  { title, rows, filter, onDidChange }: FilterBoxOptions,
): void {
  box.title = title;
  box.placeholder = 'Type part of a name; tick what a model must be able to do';
  box.canSelectMany = true;
  // A click into the filtered view only looks at it, and must not count as Escape.
  box.ignoreFocusOut = true;
  box.items = itemsOf(rows, filter);
  box.selectedItems = box.items.filter(({ name }) => filter.capabilities.includes(name));
  box.value = filter.words;
  let isAccepted = false;
  const publish = () =>
    onDidChange({ words: box.value.trim(), capabilities: box.selectedItems.map(({ name }) => name) });
  box.onDidChangeValue(publish);
  box.onDidChangeSelection(publish);
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

/** The ticks stay, whatever is typed: the text is searched in the view, not among them. */
function itemsOf(rows: readonly Filtered[], { capabilities }: Filter): CapabilityItem[] {
  const counts = new Map(countCapabilities(rows));
  for (const name of capabilities) if (!counts.has(name)) counts.set(name, 0);
  return [...counts].map(([name, count]) => ({
    name,
    label: shortWordOf(name),
    description: count === 1 ? '1 model' : `${count} models`,
    alwaysShow: true,
  }));
}
