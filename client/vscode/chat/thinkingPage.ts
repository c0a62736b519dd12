import * as vscode from 'vscode';

/** The command that shows the page behind the line above an answer. */
export const showThinking = 'runner.showThinking';

/** How many thoughts of this window can still be opened by their ids. */
const maxKept = 20;

/** The page behind the lines above answers: the stable API of the chat cannot fold text. */
export class ThinkingPage implements vscode.Disposable {
  readonly #uri = vscode.Uri.from({ scheme: 'runner-thinking', path: 'Thinking.md' });
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  /** By their ids: a line that is written while the model thinks cannot have the whole thought. */
  readonly #thoughts = new Map<string, string>();
  readonly #subscriptions: vscode.Disposable;
  /** An id, or the text itself. */
  #shown = '';

  constructor() {
    this.#subscriptions = vscode.Disposable.from(
      this.#changed,
      // The page is no file, so the editor never asks to save it.
      vscode.workspace.registerTextDocumentContentProvider(this.#uri.scheme, {
        onDidChange: this.#changed.event,
        provideTextDocumentContent: () => this.#thoughts.get(this.#shown) ?? this.#shown,
      }),
      vscode.commands.registerCommand(showThinking, async (thought: unknown) => {
        this.#shown = typeof thought === 'string' ? thought : '';
        this.#changed.fire(this.#uri);
        const page = await vscode.workspace.openTextDocument(this.#uri);
        await vscode.window.showTextDocument(page, { preview: true });
      }),
    );
  }

  /** Keeps what a model has thought so far, and shows it if its page is open. */
  keep(id: string, thought: string): void {
    this.#thoughts.delete(id);
    this.#thoughts.set(id, thought);
    for (const oldest of [...this.#thoughts.keys()].slice(0, -maxKept)) this.#thoughts.delete(oldest);
    if (this.#shown === id) this.#changed.fire(this.#uri);
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }
}
