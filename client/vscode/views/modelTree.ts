import * as vscode from 'vscode';
import type { RunningPulls } from '../models/runningPulls.ts';
import { type Family, groupByFamily } from './families.ts';
import { type Filter, filterRows, noFilter } from './filter.ts';
import type { ViewRow } from './modelRows.ts';
import type { Outcome } from './rowStore.ts';
import { type ServerNode, toServerNodes } from './serverNodes.ts';
import { toTreeItem, type ViewNode, withTooltip } from './viewItems.ts';

export interface ModelTreeOptions {
  readonly isGrouped: boolean;
  /** Downloads that are shown above the rows. */
  readonly pulls: RunningPulls | undefined;
  /** Where a server is, for its row. */
  readonly addressOf: (server: string) => string | undefined;
}

/** Draws known rows. It sends no request, whatever the editor wants to draw. */
export class ModelTree implements vscode.TreeDataProvider<ViewNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<ViewNode[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #pulls: RunningPulls | undefined;
  readonly #addressOf: (server: string) => string | undefined;
  #outcomes: readonly Outcome[] = [];
  /** Whether there are several servers, which are then the uppermost nodes. */
  #isByServer = false;
  #rows: readonly ViewRow[] = [];
  #shown: readonly ViewRow[] = [];
  #filter = noFilter;
  #isGrouped: boolean;
  /** The same objects until the rows or their grouping change, because the editor identifies a node by its object. */
  #roots: readonly (ServerNode | ViewRow | Family<ViewRow>)[] = [];
  readonly #parents = new Map<ViewNode, ServerNode | Family<ViewRow>>();

  constructor({ isGrouped, pulls, addressOf }: ModelTreeOptions) {
    this.#isGrouped = isGrouped;
    this.#pulls = pulls;
    this.#addressOf = addressOf;
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

  /**
   * `isByServer` if the outcomes are those of several servers. It draws nothing if the same rows are shown already: a key
   * of the filter often leaves no row out.
   */
  show(outcomes: readonly Outcome[], filter: Filter, isByServer: boolean): void {
    const before = this.#shown;
    const isSame = isByServer === this.#isByServer && isEqual(outcomes, this.#outcomes);
    this.#outcomes = outcomes;
    this.#isByServer = isByServer;
    this.#rows = outcomes.flatMap(({ rows }) => rows);
    this.#filter = filter;
    this.#shown = filterRows(this.#rows, filter);
    if (!isSame || !isEqual(before, this.#shown)) this.#arrange();
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
    if (node) return [...childrenOf(node)];
    return [...(this.#pulls?.current ?? []), ...this.#roots];
  }

  /** The editor needs it to reveal a node. */
  getParent(node: ViewNode): ViewNode | undefined {
    return this.#parents.get(node);
  }

  getTreeItem(node: ViewNode): vscode.TreeItem {
    return toTreeItem(node, Date.now(), this.#addressOf);
  }

  resolveTreeItem(item: vscode.TreeItem, node: ViewNode): vscode.TreeItem {
    return withTooltip(item, node);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  #arrange(): void {
    const grouped = (rows: readonly ViewRow[]) => (this.#isGrouped ? groupByFamily(rows) : rows);
    this.#roots = this.#isByServer
      ? toServerNodes(this.#outcomes, (rows) => {
          const shown = filterRows(rows, this.#filter);
          return { roots: grouped(shown), count: shown.length };
        })
      : grouped(this.#shown);
    this.#parents.clear();
    this.#adopt(this.#roots);
    this.redraw();
  }

  #adopt(nodes: readonly ViewNode[]): void {
    for (const node of nodes) {
      const children = childrenOf(node);
      for (const child of children) this.#parents.set(child, node as ServerNode | Family<ViewRow>);
      this.#adopt(children);
    }
  }
}

/** Whether both have the same objects. */
function isEqual(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

function childrenOf(node: ViewNode): readonly ViewNode[] {
  if ('roots' in node) return node.roots;
  return 'rows' in node ? node.rows : [];
}
