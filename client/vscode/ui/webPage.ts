import * as vscode from 'vscode';
import { createLivePage } from './livePage.ts';
import { commandsOf, type DatedPage, type PageContent, toHtml } from './page.ts';

/** A tab that shows one page at a time, with its time. */
export interface WebPage extends vscode.Disposable {
  /** Shows what `load` gives, and loads it again when it has changed. Rejects if the first load fails. */
  show(load: () => Promise<PageContent>): Promise<void>;
}

/** The tab runs no scripts, and only the commands of the page's links. `viewType` identifies the tab's kind. */
export function createWebPage(viewType: string, onDidChange: vscode.Event<void>): WebPage {
  let panel: vscode.WebviewPanel | undefined;
  const open = (title: string) => {
    const { Active } = vscode.ViewColumn;
    const made = vscode.window.createWebviewPanel(viewType, title, Active, { enableFindWidget: true });
    made.onDidChangeViewState(() => live.follow(made.visible));
    made.onDidDispose(() => {
      panel = undefined;
      live.close();
    });
    return made;
  };
  const draw = (page: DatedPage, isAsked: boolean) => {
    panel ??= open(page.title);
    panel.title = page.title;
    panel.webview.options = {
      enableScripts: false,
      enableCommandUris: commandsOf(page),
      localResourceRoots: [],
    };
    panel.webview.html = toHtml(page);
    if (isAsked) panel.reveal();
  };
  const time = () => new Date().toLocaleTimeString(vscode.env.language);
  const live = createLivePage({ draw, time });
  const listening = onDidChange(() => live.refresh());
  return {
    show: live.show,
    dispose() {
      listening.dispose();
      panel?.dispose();
    },
  };
}
