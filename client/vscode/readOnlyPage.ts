import * as vscode from 'vscode';

/** One page of Markdown in an editor tab. It is no file, so the editor never asks to save it. */
export interface ReadOnlyPage extends vscode.Disposable {
  /** Shows the page with the current result of `read`. */
  show(): Promise<void>;
}

/** `scheme` is the page's own; `title` names its tab. */
export function createReadOnlyPage(
  { scheme, title }: { readonly scheme: string; readonly title: string },
  read: () => Promise<string>,
): ReadOnlyPage {
  const uri = vscode.Uri.from({ scheme, path: `${title}.md` });
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const subscriptions = vscode.Disposable.from(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: changed.event,
      provideTextDocumentContent: read,
    }),
  );
  return {
    async show() {
      changed.fire(uri);
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
    },
    dispose: () => subscriptions.dispose(),
  };
}
