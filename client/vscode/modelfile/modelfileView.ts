import * as vscode from 'vscode';
import type { ServerFactsStore } from '../daemon/serverFacts.ts';
import { refusalFor } from '../daemon/servers.ts';
import { groupByFamily, type ModelFamily } from '../views/treeNodes.ts';

/** A Modelfile; rows are grouped by its folder. */
interface ModelfileRow {
  readonly uri: vscode.Uri;
  readonly family: string;
  /** The row is below its folder, so it does not repeat the folder. */
  readonly isInFolder?: boolean;
}

type Node = ModelfileRow | ModelFamily<ModelfileRow>;

/** The Modelfiles of the workspace and of the folder in the settings, by folder or as a list. */
export function createModelfileView(memory: vscode.Memento, facts: ServerFactsStore): vscode.Disposable {
  const tree = new ModelfileTree(memory);
  const view = vscode.window.createTreeView('runnerModelfilesView', { treeDataProvider: tree });
  const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, true, false);
  const refresh = () => tree.refresh();
  const follow = () => {
    view.message = refusalFor(facts, 'runner.createModel') ?? '';
  };
  const toggle = 'runner.toggleModelfilesGrouping';
  return vscode.Disposable.from(
    view,
    tree,
    watcher,
    facts.onDidChange(follow),
    watcher.onDidCreate(refresh),
    watcher.onDidDelete(refresh),
    vscode.workspace.onDidChangeWorkspaceFolders(refresh),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('runner.modelfilesPath')) refresh();
    }),
    vscode.commands.registerCommand('runner.refreshModelfiles', refresh),
    vscode.commands.registerCommand(toggle, () => tree.toggle()),
    vscode.commands.registerCommand(`${toggle}ToTree`, () => vscode.commands.executeCommand(toggle)),
  );
}

class ModelfileTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  static readonly #key = 'runner.ModelfilesGrouped';
  readonly #memory: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  #isGrouped: boolean;
  readonly #parents = new WeakMap<Node, ModelFamily<ModelfileRow>>();

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
    this.#isGrouped = memory.get(ModelfileTree.#key) ?? true;
    this.#publish();
  }

  refresh(): void {
    this.#changed.fire();
  }

  async toggle(): Promise<void> {
    this.#isGrouped = !this.#isGrouped;
    await this.#memory.update(ModelfileTree.#key, this.#isGrouped);
    this.#publish();
    this.refresh();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node) return 'rows' in node ? [...node.rows] : [];
    const rows = (await findModelfiles()).map((uri) => ({ uri, family: folderOf(uri) }));
    // The view's welcome text depends on it.
    void vscode.commands.executeCommand('setContext', 'runner.ModelfilesEmpty', rows.length === 0);
    return this.#isGrouped ? groupByFamily(rows).map((root) => this.#withParent(root)) : rows;
  }

  /** The editor needs it to reveal a node. */
  getParent(node: Node): Node | undefined {
    return this.#parents.get(node);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return 'rows' in node ? folderItem(node) : modelfileItem(node);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  /** A folder whose rows know that they are inside it. */
  #withParent(root: Node): Node {
    if (!('rows' in root)) return root;
    const folder = { ...root, rows: root.rows.map((row) => ({ ...row, isInFolder: true })) };
    for (const row of folder.rows) this.#parents.set(row, folder);
    return folder;
  }

  #publish(): void {
    void vscode.commands.executeCommand('setContext', ModelfileTree.#key, this.#isGrouped);
  }
}

const pattern = '**/{Modelfile,Modelfile.*,*.modelfile,*.Modelfile}';
/** A search stops at this number. */
const maxModelfiles = 500;

async function findModelfiles(): Promise<vscode.Uri[]> {
  const inWorkspace = await vscode.workspace.findFiles(pattern, '**/node_modules/**', maxModelfiles);
  const named = await inNamedFolder();
  const all = new Map([...inWorkspace, ...named].map((uri) => [uri.toString(), uri]));
  return [...all.values()].sort((a, b) => a.path.localeCompare(b.path));
}

async function inNamedFolder(): Promise<readonly vscode.Uri[]> {
  const path = vscode.workspace.getConfiguration('runner').get<string>('modelfilesPath');
  if (!path) return [];
  return vscode.workspace.findFiles(
    new vscode.RelativePattern(vscode.Uri.file(path), pattern),
    null,
    maxModelfiles,
  );
}

/** The folder's path in the workspace; `""` is the workspace's root. */
function folderOf(uri: vscode.Uri): string {
  const folder = vscode.Uri.joinPath(uri, '..');
  const isRoot = vscode.workspace.getWorkspaceFolder(uri)?.uri.path === folder.path;
  return isRoot ? '' : vscode.workspace.asRelativePath(folder);
}

function folderItem({ family, rows }: ModelFamily<ModelfileRow>): vscode.TreeItem {
  const label = family || (vscode.workspace.name ?? 'Workspace');
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Expanded);
  item.description = `${rows.length}`;
  item.iconPath = vscode.ThemeIcon.Folder;
  item.contextValue = 'runner.folder';
  return item;
}

function modelfileItem({ uri, family, isInFolder = false }: ModelfileRow): vscode.TreeItem {
  const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.None);
  item.description = isInFolder ? '' : family;
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = 'runner.modelfile';
  const place = family === '' ? '' : `, in ${family}`;
  item.accessibilityInformation = { label: `Modelfile ${uri.path.split('/').at(-1)}${place}` };
  item.command = { command: 'vscode.open', title: 'Open', arguments: [uri] };
  return item;
}
