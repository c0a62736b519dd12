import * as vscode from 'vscode';
import type { ModelRow } from '../models/modelCommands.ts';
import { type Family, groupByFamily } from './families.ts';
import type { ViewRow } from './modelRows.ts';

export interface ModelViewOptions {
  /** The view's id. */
  readonly id: string;
  /** The part of its commands and context key that is its own, such as `Local`. */
  readonly name: string;
  readonly load: () => Promise<readonly ViewRow[]>;
  readonly memory: vscode.Memento;
}

/** A view of models: flat, or by family; read when it is shown, and again when something changed. */
export interface ModelView extends vscode.Disposable {
  refresh(): void;
}

type Node = ViewRow | Family<ViewRow>;

export function createModelView(options: ModelViewOptions): ModelView {
  const provider = new ModelTree(options);
  const view = vscode.window.createTreeView(options.id, {
    treeDataProvider: provider,
    showCollapseAll: true,
  });
  provider.onDidLoad((message) => {
    // The editor takes "" for none.
    view.message = message ?? '';
  });
  const { name } = options;
  const toggle = `runner.toggle${name}Grouping`;
  const subscriptions = vscode.Disposable.from(
    view,
    provider,
    vscode.commands.registerCommand(toggle, () => provider.toggle()),
    vscode.commands.registerCommand(`${toggle}ToTree`, () => vscode.commands.executeCommand(toggle)),
    vscode.commands.registerCommand(`runner.refresh${name}`, () => provider.refresh()),
  );
  return { refresh: () => provider.refresh(), dispose: () => subscriptions.dispose() };
}

class ModelTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #options: ModelViewOptions;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #loaded = new vscode.EventEmitter<string | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** With what the view says above its rows; nothing where there is nothing to say. */
  readonly onDidLoad = this.#loaded.event;
  #isGrouped: boolean;

  constructor(options: ModelViewOptions) {
    this.#options = options;
    this.#isGrouped = options.memory.get(this.#key) ?? true;
    this.#tellContext();
  }

  get #key(): string {
    return `runner.${this.#options.name}Grouped`;
  }

  refresh(): void {
    this.#changed.fire();
  }

  async toggle(): Promise<void> {
    this.#isGrouped = !this.#isGrouped;
    await this.#options.memory.update(this.#key, this.#isGrouped);
    this.#tellContext();
    this.refresh();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node) return 'rows' in node ? [...node.rows] : [];
    try {
      const rows = await this.#options.load();
      this.#loaded.fire(undefined);
      return [...(this.#isGrouped ? groupByFamily(rows) : rows)];
    } catch (error) {
      this.#loaded.fire(error instanceof Error ? error.message : String(error));
      return [];
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return 'rows' in node ? familyItem(node) : modelItem(node);
  }

  dispose(): void {
    this.#changed.dispose();
    this.#loaded.dispose();
  }

  #tellContext(): void {
    void vscode.commands.executeCommand('setContext', this.#key, this.#isGrouped);
  }
}

function familyItem({ family, rows }: Family<ViewRow>): vscode.TreeItem {
  const item = new vscode.TreeItem(family, vscode.TreeItemCollapsibleState.Expanded);
  item.description = `${rows.length}`;
  item.contextValue = 'runner.family';
  return item;
}

function modelItem(row: ViewRow & ModelRow): vscode.TreeItem {
  const item = new vscode.TreeItem(row.model, vscode.TreeItemCollapsibleState.None);
  item.description = row.description;
  item.tooltip = new vscode.MarkdownString(row.tooltip);
  item.iconPath = new vscode.ThemeIcon(row.icon);
  item.contextValue = `runner.${row.context}`;
  return item;
}
