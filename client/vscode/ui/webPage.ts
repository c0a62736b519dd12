import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/text.ts';
import { errorDataOf } from '../convert/failure.ts';
import { commandsOf, type PageContent, type PageSection, toHtml } from './page.ts';
import { remediesFor } from './remedies.ts';

/**
 * A tab that shows one page at a time, with its time. It loads the page again when something changed, while it is
 * visible. It runs no scripts, and only the commands of the page's links.
 */
export class WebPage implements vscode.Disposable {
  readonly #viewType: string;
  readonly #listening: vscode.Disposable;
  #panel: vscode.WebviewPanel | undefined;
  #load: (() => Promise<PageContent>) | undefined;
  #shown: PageContent | undefined;
  #isStale = false;
  #isLoading = false;

  /** `viewType` identifies the tab's kind. */
  constructor(viewType: string, onDidChange: vscode.Event<void>) {
    this.#viewType = viewType;
    this.#listening = onDidChange(() => {
      this.#isStale = true;
      void this.#reload();
    });
  }

  /** Shows what `load` gives, and loads it again when it has changed. Rejects if the first load fails. */
  async show(load: () => Promise<PageContent>): Promise<void> {
    const page = await load();
    this.#load = load;
    this.#put(page, true);
  }

  dispose(): void {
    this.#listening.dispose();
    this.#panel?.dispose();
  }

  async #reload(): Promise<void> {
    const load = this.#load;
    if (!load || !this.#panel?.visible || this.#isLoading) return;
    this.#isLoading = true;
    this.#isStale = false;
    const before = this.#shown;
    const page = await load().catch((error) => before && withProblem(before, error));
    this.#isLoading = false;
    // The user may have closed it, or asked for another page.
    if (load === this.#load && page) this.#put(page, false);
    if (this.#isStale) await this.#reload();
  }

  /** A change that leaves the page as it is draws nothing, because the editor would scroll to its top. */
  #put(page: PageContent, isAsked: boolean): void {
    if (!isAsked && JSON.stringify(page) === JSON.stringify(this.#shown)) return;
    this.#shown = page;
    this.#panel ??= this.#open(page.title);
    this.#panel.title = page.title;
    this.#panel.webview.options = {
      enableScripts: false,
      enableCommandUris: commandsOf(page),
      localResourceRoots: [],
    };
    const time = new Date().toLocaleTimeString(vscode.env.language);
    this.#panel.webview.html = toHtml({ ...page, time });
    if (isAsked) this.#panel.reveal();
  }

  #open(title: string): vscode.WebviewPanel {
    const { Active } = vscode.ViewColumn;
    const panel = vscode.window.createWebviewPanel(this.#viewType, title, Active, { enableFindWidget: true });
    panel.onDidChangeViewState(() => {
      if (this.#isStale) void this.#reload();
    });
    panel.onDidDispose(() => {
      this.#panel = undefined;
      this.#load = undefined;
      this.#shown = undefined;
    });
    return panel;
  }
}

/**
 * The last page that is known, below the reason why there is no newer one, with what can be done about that. What the
 * page offered before may be impossible by now, such as to load a model that is gone.
 */
function withProblem(page: PageContent, error: unknown): PageContent {
  const links = remediesFor(errorDataOf(error));
  const text = `${messageOf(error)} What follows is what was known before.`;
  const [first, ...rest] = page.sections;
  const known = first?.isProblem ? rest : page.sections.map(withoutLinks);
  return { ...page, sections: [{ lines: [{ state: 'bad', text, links }], isProblem: true }, ...known] };
}

function withoutLinks({ lines, ...section }: PageSection): PageSection {
  return lines ? { ...section, lines: lines.map(({ links: _, ...line }) => line) } : section;
}
