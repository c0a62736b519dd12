import * as vscode from 'vscode';
import type { RunningPulls } from '../models/runningPulls.ts';
import { type Family, groupByFamily } from './families.ts';
import { type Filter, filterRows, noFilter } from './filter.ts';
import type { ViewRow } from './modelRows.ts';
import { toTreeItem, type ViewNode } from './viewItems.ts';

/** Draws known rows. It sends no request, whatever the editor wants to draw. */
export class ModelTree implements vscode.TreeDataProvider<ViewNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<ViewNode[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #pulls: RunningPulls | undefined;
  #rows: readonly ViewRow[] = [];
  #shown: readonly ViewRow[] = [];
  #filter = noFilter;
  #isGrouped: boolean;
  /** The same objects until the rows or their grouping change, because the editor identifies a node by its object. */
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

  /** Redraws everything, or only these nodes. */
  redraw(nodes?: readonly ViewNode[]): void {
    this.#changed.fire(nodes && [...nodes]);
  }

  getChildren(node?: ViewNode): ViewNode[] {
    if (node) return 'rows' in node ? [...node.rows] : [];
    return [...(this.#pulls?.current ?? []), ...this.#roots];
  }

  /** The editor needs it to reveal a node. */
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
