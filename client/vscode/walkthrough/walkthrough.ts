import * as vscode from 'vscode';

/** Opens the first steps: the pages in this folder, in the order of the manifest. */
export function registerWalkthrough(extensionId: string): vscode.Disposable {
  return vscode.commands.registerCommand('runner.openWalkthrough', () =>
    vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#start`, false),
  );
}
