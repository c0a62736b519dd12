import * as vscode from 'vscode';
import { commandsOf, type Page, toHtml } from './page.ts';

/** A tab that shows one page at a time. */
export interface WebPage extends vscode.Disposable {
  show(page: Page): void;
}

/** The tab runs no scripts, and only the commands of the page's links. `viewType` identifies the tab's kind. */
export function createWebPage(viewType: string): WebPage {
  let panel: vscode.WebviewPanel | undefined;
  const open = (title: string) => {
    const { Active } = vscode.ViewColumn;
    const made = vscode.window.createWebviewPanel(viewType, title, Active, { enableFindWidget: true });
    made.onDidDispose(() => {
      panel = undefined;
    });
    return made;
  };
  return {
    show(page) {
      panel ??= open(page.title);
      panel.title = page.title;
      panel.webview.options = {
        enableScripts: false,
        enableCommandUris: commandsOf(page),
        localResourceRoots: [],
      };
      panel.webview.html = toHtml(page);
      panel.reveal();
    },
    dispose: () => panel?.dispose(),
  };
}
