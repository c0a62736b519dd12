import * as vscode from 'vscode';
import type { RunningPull } from '../models/runningPulls.ts';
import type { Family } from './families.ts';
import { describeRow, type ViewRow } from './modelRows.ts';
import { describePull } from './pullText.ts';
import { toRowName } from './rowName.ts';
import { describeServer, type ServerNode } from './serverNodes.ts';

/** The nodes of a view: servers, models, families of models, and pulls in progress. */
export type ViewNode = ServerNode | ViewRow | Family<ViewRow> | RunningPull;

/** `now` in ms since 1970; `addressOf` has where a server is. */
export function toTreeItem(
  node: ViewNode,
  now: number,
  addressOf: (server: string) => string | undefined,
): vscode.TreeItem {
  if ('roots' in node) return serverItem(node, addressOf(node.server));
  if ('rows' in node) return familyItem(node);
  return 'cancel' in node ? pullItem(node) : modelItem(node, now);
}

function serverItem(node: ServerNode, address: string | undefined): vscode.TreeItem {
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(node.server, node.count > 0 ? Expanded : None);
  const { description, label, tooltip, icon, context } = describeServer(node, address);
  // The editor keeps a row closed that had nothing below it before: one with models is another row to it.
  item.id = `${node.server}/${node.count > 0 ? 'models' : 'nothing'}`;
  item.description = description;
  item.tooltip = new vscode.MarkdownString(tooltip);
  item.iconPath = new vscode.ThemeIcon(icon);
  item.contextValue = `runner.${context}`;
  item.accessibilityInformation = { label };
  return item;
}

function familyItem({ family, rows }: Family<ViewRow>): vscode.TreeItem {
  const item = new vscode.TreeItem(family, vscode.TreeItemCollapsibleState.Expanded);
  item.description = `${rows.length}`;
  item.contextValue = 'runner.family';
  item.accessibilityInformation = { label: `family ${family}, ${rows.length} models` };
  return item;
}

function modelItem(row: ViewRow, now: number): vscode.TreeItem {
  const item = new vscode.TreeItem(toRowName(row.model).label, vscode.TreeItemCollapsibleState.None);
  const { description, label } = describeRow(row, now);
  item.description = description;
  item.iconPath = new vscode.ThemeIcon(row.icon);
  item.contextValue = `runner.${row.context}`;
  item.accessibilityInformation = { label };
  if (row.context === 'cloud')
    item.command = { command: 'runner.openModelPage', title: 'Open Page', arguments: [row] };
  return item;
}

/** The tooltip is made when somebody looks at it: a view of 2,000 rows sends none. */
export function withTooltip(item: vscode.TreeItem, node: ViewNode): vscode.TreeItem {
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
