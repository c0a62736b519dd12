import * as vscode from 'vscode';
import type { RunningPulls } from '../models/runningPulls.ts';
import { groupByFamily } from './families.ts';
import { type Filter, filterRows, noFilter } from './filter.ts';
import type { ViewRow } from './modelRows.ts';
import { toTreeItem, type ViewNode } from './viewItems.ts';

/** Draws rows that are known, and asks nobody: whatever the editor wants drawn, no request comes of it. */
export class ModelTree implements vscode.TreeDataProvider<ViewNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<ViewNode[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #pulls: RunningPulls | undefined;
  #rows: readonly ViewRow[] = [];
  #shown: readonly ViewRow[] = [];
  #filter = noFilter;
  #isGrouped: boolean;

  constructor(isGrouped: boolean, pulls?: RunningPulls) {
    this.#isGrouped = isGrouped;
    this.#pulls = pulls;
  }

  get rows(): readonly ViewRow[] {
    return this.#rows;
  }

  get shown(): readonly ViewRow[] {
    return this.#shown;
  }

  get filter(): Filter {
    return this.#filter;
  }

  show(rows: readonly ViewRow[], filter: Filter): void {
    this.#rows = rows;
    this.#filter = filter;
    this.#shown = filterRows(rows, filter);
    this.redraw();
  }

  group(isGrouped: boolean): void {
    this.#isGrouped = isGrouped;
    this.redraw();
  }

  /** All of it, or only what these say. */
  redraw(nodes?: readonly ViewNode[]): void {
    this.#changed.fire(nodes && [...nodes]);
  }

  getChildren(node?: ViewNode): ViewNode[] {
    if (node) return 'rows' in node ? [...node.rows] : [];
    const rows = this.#isGrouped ? groupByFamily(this.#shown) : this.#shown;
    return [...(this.#pulls?.current ?? []), ...rows];
  }

  getTreeItem(node: ViewNode): vscode.TreeItem {
    return toTreeItem(node, Date.now());
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
