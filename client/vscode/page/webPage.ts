import * as vscode from 'vscode';
import { commandsOf, type Page, toHtml } from './page.ts';

/** One tab for one kind of page, which is read anew each time that it is shown. */
export interface WebPage extends vscode.Disposable {
  show(page: Page): void;
}

/** `viewType` is the page's own. Without scripts; links run the commands that the page has, and no others. */
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
