import * as vscode from 'vscode';
import type { RunningPulls } from '../models/runningPulls.ts';
import { type Family, groupByFamily } from './families.ts';
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
  /** The same objects until the rows or their grouping change: the editor knows a node by its object. */
  #roots: readonly (ViewRow | Family<ViewRow>)[] = [];
  readonly #parents = new Map<ViewNode, Family<ViewRow>>();

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
    this.#arrange();
  }

  group(isGrouped: boolean): void {
    this.#isGrouped = isGrouped;
    this.#arrange();
  }

  /** All of it, or only what these say. */
  redraw(nodes?: readonly ViewNode[]): void {
    this.#changed.fire(nodes && [...nodes]);
  }

  getChildren(node?: ViewNode): ViewNode[] {
    if (node) return 'rows' in node ? [...node.rows] : [];
    return [...(this.#pulls?.current ?? []), ...this.#roots];
  }

  /** The editor asks for it to reveal a node. */
  getParent(node: ViewNode): ViewNode | undefined {
    return this.#parents.get(node);
  }

  getTreeItem(node: ViewNode): vscode.TreeItem {
    return toTreeItem(node, Date.now());
  }

  dispose(): void {
    this.#changed.dispose();
  }

  #arrange(): void {
    this.#roots = this.#isGrouped ? groupByFamily(this.#shown) : this.#shown;
    this.#parents.clear();
    for (const root of this.#roots)
      if ('rows' in root) for (const row of root.rows) this.#parents.set(row, root);
    this.redraw();
  }
}
