import * as vscode from 'vscode';
import { showThinking } from './answerWriter.ts';

/** Registers the page behind the line above an answer: the stable API of the chat cannot fold text. */
export function registerThinkingPage(): vscode.Disposable {
  const scheme = 'runner-thinking';
  const uri = vscode.Uri.from({ scheme, path: 'Thinking.md' });
  const changed = new vscode.EventEmitter<vscode.Uri>();
  let shown = '';
  return vscode.Disposable.from(
    changed,
    // The page is no file, so the editor never asks to save it.
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: changed.event,
      provideTextDocumentContent: () => shown,
    }),
    vscode.commands.registerCommand(showThinking, async (thought: unknown) => {
      shown = typeof thought === 'string' ? thought : '';
      changed.fire(uri);
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
    }),
  );
}
