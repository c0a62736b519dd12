import * as vscode from 'vscode';

/** The Modelfiles of the workspace and of the folder that the settings name. */
export function createModelfileView(): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.TreeDataProvider<vscode.Uri> = {
    onDidChangeTreeData: changed.event,
    getChildren: async (uri) => (uri ? [] : findModelfiles()),
    getTreeItem: modelfileItem,
  };
  const view = vscode.window.createTreeView('runnerModelfilesView', { treeDataProvider: provider });
  const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, true, false);
  const refresh = () => changed.fire();
  return vscode.Disposable.from(
    view,
    changed,
    watcher,
    watcher.onDidCreate(refresh),
    watcher.onDidDelete(refresh),
    vscode.workspace.onDidChangeWorkspaceFolders(refresh),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('runner.modelfilesPath')) refresh();
    }),
    vscode.commands.registerCommand('runner.refreshModelfiles', refresh),
  );
}

const pattern = '**/{Modelfile,Modelfile.*,*.modelfile,*.Modelfile}';
/** More than anybody keeps; a search stops there. */
const most = 500;

async function findModelfiles(): Promise<vscode.Uri[]> {
  const inWorkspace = await vscode.workspace.findFiles(pattern, '**/node_modules/**', most);
  const named = await inNamedFolder();
  const all = new Map([...inWorkspace, ...named].map((uri) => [uri.toString(), uri]));
  return [...all.values()].sort((a, b) => a.path.localeCompare(b.path));
}

async function inNamedFolder(): Promise<readonly vscode.Uri[]> {
  const path = vscode.workspace.getConfiguration('runner').get<string>('modelfilesPath');
  if (!path) return [];
  return vscode.workspace.findFiles(new vscode.RelativePattern(vscode.Uri.file(path), pattern), null, most);
}

function modelfileItem(uri: vscode.Uri): vscode.TreeItem {
  const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.None);
  const folder = vscode.workspace.asRelativePath(vscode.Uri.joinPath(uri, '..'));
  item.description =
    vscode.workspace.getWorkspaceFolder(uri)?.uri.path === vscode.Uri.joinPath(uri, '..').path ? '' : folder;
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = 'runner.modelfile';
  item.command = { command: 'vscode.open', title: 'Open', arguments: [uri] };
  return item;
}
