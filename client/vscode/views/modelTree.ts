import * as vscode from 'vscode';
import type { Product } from '../../../protocol/messages/status.ts';
import type { ServerFactsStore } from '../daemon/serverFacts.ts';
import { rowContext } from '../daemon/servers.ts';
import type { RunningPull, RunningPulls } from '../models/pulls.ts';
import { filterRows, noFilter, type RowFilter } from './filter.ts';
import { describePull, describeRow, toRowName, type ViewRow } from './modelRows.ts';
import type { LoadOutcome } from './rowStore.ts';
import {
  describeServer,
  groupByFamily,
  type ModelFamily,
  type ServerNode,
  type SortOrder,
  sortRows,
  toServerNodes,
} from './treeNodes.ts';

interface TreeParts {
  /** Downloads that are shown above the rows. */
  readonly pulls?: RunningPulls;
  /** Where a server is, for its row. */
  readonly address: (server: string) => string | undefined;
  readonly facts: Pick<ServerFactsStore, 'can' | 'product'>;
}

/** Draws known rows. It sends no request, whatever the editor wants to draw. */
export class ModelTree implements vscode.TreeDataProvider<ViewNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<ViewNode[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #parts: TreeParts;
  #outcomes: readonly LoadOutcome[] = [];
  /** Whether there are several servers, which are then the uppermost nodes. */
  #isByServer = false;
  #rows: readonly ViewRow[] = [];
  #shown: readonly ViewRow[] = [];
  #filter = noFilter;
  #isGrouped: boolean;
  #order: SortOrder;
  /**
   * These objects stay the same until the rows or their grouping change: the editor identifies a node by its object.
   */
  #roots: readonly (ServerNode | ViewRow | ModelFamily<ViewRow>)[] = [];
  readonly #parents = new Map<ViewNode, ServerNode | ModelFamily<ViewRow>>();

  constructor(parts: TreeParts & { readonly isGrouped: boolean; readonly order: SortOrder }) {
    this.#parts = parts;
    this.#isGrouped = parts.isGrouped;
    this.#order = parts.order;
  }

  get rows(): readonly ViewRow[] {
    return this.#rows;
  }

  get shown(): readonly ViewRow[] {
    return this.#shown;
  }

  /**
   * `isByServer`: whether the outcomes are those of several servers. It draws nothing if the same rows are already
   * shown, because typing in the filter often changes no row.
   */
  show(outcomes: readonly LoadOutcome[], filter: RowFilter, isByServer: boolean): void {
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

  sort(order: SortOrder): void {
    this.#order = order;
    this.#arrange();
  }

  /** Redraws everything, or only these nodes. */
  redraw(nodes?: readonly ViewNode[]): void {
    this.#changed.fire(nodes && [...nodes]);
  }

  getChildren(node?: ViewNode): ViewNode[] {
    if (node) return [...childrenOf(node)];
    return [...(this.#parts.pulls?.current ?? []), ...this.#roots];
  }

  /** The editor needs it to reveal a node. */
  getParent(node: ViewNode): ViewNode | undefined {
    return this.#parents.get(node);
  }

  getTreeItem(node: ViewNode): vscode.TreeItem {
    if ('roots' in node) {
      const { server } = node;
      return serverItem(node, this.#parts.address(server), this.#parts.facts.product(server));
    }
    if ('rows' in node) return familyItem(node);
    return 'cancel' in node ? pullItem(node) : modelItem(node, Date.now(), this.#parts.facts);
  }

  resolveTreeItem(item: vscode.TreeItem, node: ViewNode): vscode.TreeItem {
    return withTooltip(item, node);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  #arrange(): void {
    const arranged = (rows: readonly ViewRow[]) => {
      const sorted = sortRows(rows, this.#order);
      return this.#isGrouped ? groupByFamily(sorted) : sorted;
    };
    this.#roots = this.#isByServer
      ? toServerNodes(this.#outcomes, (rows) => {
          const shown = filterRows(rows, this.#filter);
          return { roots: arranged(shown), count: shown.length };
        })
      : arranged(this.#shown);
    this.#parents.clear();
    this.#adopt(this.#roots);
    this.redraw();
  }

  #adopt(nodes: readonly ViewNode[]): void {
    for (const node of nodes) {
      const children = childrenOf(node);
      for (const child of children) this.#parents.set(child, node as ServerNode | ModelFamily<ViewRow>);
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

/** The nodes of a view: servers, models, families of models, and pulls in progress. */
export type ViewNode = ServerNode | ViewRow | ModelFamily<ViewRow> | RunningPull;

function serverItem(
  node: ServerNode,
  address: string | undefined,
  product: Product | undefined,
): vscode.TreeItem {
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(node.server, node.count > 0 ? Expanded : None);
  const { description, label, tooltip, icon, context } = describeServer(node, address, product);
  // The editor keeps a row collapsed that had no children before, so a row with models has another id.
  item.id = `${node.server}/${node.count > 0 ? 'models' : 'nothing'}`;
  item.description = description;
  item.tooltip = new vscode.MarkdownString(tooltip);
  if (icon !== undefined) item.iconPath = new vscode.ThemeIcon(icon);
  item.contextValue = `runner.${context}`;
  item.accessibilityInformation = { label };
  return item;
}

function familyItem({ family, rows }: ModelFamily<ViewRow>): vscode.TreeItem {
  const item = new vscode.TreeItem(family, vscode.TreeItemCollapsibleState.Expanded);
  item.description = `${rows.length}`;
  item.contextValue = 'runner.family';
  item.accessibilityInformation = { label: `family ${family}, ${rows.length} models` };
  return item;
}

/** `now` in ms since 1970. A row of a catalog has no server. */
function modelItem(row: ViewRow, now: number, facts: TreeParts['facts']): vscode.TreeItem {
  const item = new vscode.TreeItem(toRowName(row.model).label, vscode.TreeItemCollapsibleState.None);
  const { description, label } = describeRow(row, now);
  item.description = description;
  item.iconPath = new vscode.ThemeIcon(row.icon);
  item.contextValue =
    row.server === undefined
      ? `runner.${row.context}`
      : rowContext(row.context, facts, row.server) + (row.capabilities.includes('thinking') ? ' thinks' : '');
  item.accessibilityInformation = { label };
  if (row.context === 'cloud')
    item.command = { command: 'runner.openModelPage', title: 'Open Page', arguments: [row] };
  return item;
}

/** Creates the tooltip on demand: a view of 2,000 rows sends none. */
function withTooltip(item: vscode.TreeItem, node: ViewNode): vscode.TreeItem {
  if ('tooltip' in node) item.tooltip = new vscode.MarkdownString(node.tooltip);
  return item;
}

function pullItem(pull: RunningPull): vscode.TreeItem {
  const item = new vscode.TreeItem(toRowName(pull.model).label, vscode.TreeItemCollapsibleState.None);
  const { description, tooltip, label } = describePull(pull);
  item.description = description;
  item.tooltip = tooltip;
  item.iconPath = new vscode.ThemeIcon('loading~spin');
  item.contextValue = 'runner.pulling';
  item.accessibilityInformation = { label };
  return item;
}
