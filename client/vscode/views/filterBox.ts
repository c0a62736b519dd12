import * as vscode from 'vscode';
import { countCapabilities, type Filter, type Filtered } from './filter.ts';

export interface FilterBoxOptions {
  /** Such as `Filter Local Models`. */
  readonly title: string;
  readonly rows: readonly Filtered[];
  readonly filter: Filter;
  /** The filter as it is while it is being made. */
  readonly onDidChange: (filter: Filter) => void;
}

/**
 * One box for both: what is typed is part of a name, what is ticked must be among what a model can do. The view
 * follows each key, so that it is seen when enough is typed; Escape takes all of it back.
 */
export function showFilterBox({ title, rows, filter, onDidChange }: FilterBoxOptions): void {
  const box = vscode.window.createQuickPick();
  box.title = title;
  box.placeholder = 'Type part of a name; tick what a model must be able to do';
  box.canSelectMany = true;
  // A click into the view that is being filtered is a look at it, and no Escape.
  box.ignoreFocusOut = true;
  box.items = itemsOf(rows, filter);
  box.selectedItems = box.items.filter(({ label }) => filter.capabilities.includes(label));
  box.value = filter.words;
  let isAccepted = false;
  const tell = () =>
    onDidChange({ words: box.value.trim(), capabilities: box.selectedItems.map(({ label }) => label) });
  box.onDidChangeValue(tell);
  box.onDidChangeSelection(tell);
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

/** They stay, whatever is typed: what is typed is looked for in the view and not among them. */
function itemsOf(rows: readonly Filtered[], { capabilities }: Filter): vscode.QuickPickItem[] {
  const counts = new Map(countCapabilities(rows));
  for (const name of capabilities) if (!counts.has(name)) counts.set(name, 0);
  return [...counts].map(([label, count]) => ({
    label,
    description: count === 1 ? '1 model' : `${count} models`,
    alwaysShow: true,
  }));
}
