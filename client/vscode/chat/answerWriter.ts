import * as vscode from 'vscode';
import { cutText } from '../../../protocol/base/text.ts';
import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { withoutIcons } from '../ui/safeText.ts';

/** Thinking is shown in steps that end with a sentence: of this many characters, or after this many ms. */
const stepLength = 300;
const stepTime = 1_000;

/**
 * Writes an answer into the chat as it arrives. Thinking is shown below a line that opens what there is of it: after
 * Stop, nothing more can be written. Once the model has thought, the editor folds that, and a line above the answer
 * opens the thought: the stable API of the chat cannot fold text.
 */
export function createAnswerWriter(
  stream: Pick<vscode.ChatResponseStream, 'markdown' | 'progress'>,
  thoughts: Pick<ThinkingPage, 'keep'>,
) {
  let thought = '';
  let shown = 0;
  let shownAt = 0;
  let begunAt = 0;
  let firstAt: number | undefined;
  const think = (text: string) => {
    if (thought === '') {
      begunAt = Date.now();
      shownAt = begunAt;
      stream.progress('Thinking');
    }
    thought += text;
    const id = `${begunAt}`;
    if (shown > 0) thoughts.keep(id, thought);
    const isDue = Date.now() - shownAt >= stepTime;
    const end = endOfStep(thought, shown, isDue);
    if (end - shown < (isDue ? 1 : stepLength)) return;
    if (shown === 0) {
      thoughts.keep(id, thought);
      stream.markdown(toOurs(lineOf('Thinking', id), [showThinking]));
    }
    stream.progress(thought.slice(shown, end).trim());
    shown = end;
    shownAt = Date.now();
  };
  const end = () => {
    if (thought.trim() !== '')
      stream.markdown(toOurs(thoughtLine(thought, (Date.now() - begunAt) / 1000), [showThinking]));
    thought = '';
    shown = 0;
  };
  return {
    write(delta: ChatDelta): void {
      firstAt ??= Date.now();
      if (delta.kind === 'thinking') return think(delta.text);
      end();
      if (delta.kind === 'text') stream.markdown(delta.text);
      if (delta.kind === 'notice') stream.markdown(toAside(delta.notice.message));
    },
    /** Shows the rest of the thinking. Called when the answer ends or fails, too. */
    end,
    /** From the first part that was written until now, in ms. */
    get elapsed() {
      return firstAt === undefined ? 0 : Date.now() - firstAt;
    },
  };
}

/** The most characters of thinking that are kept in the history of the chat. */
const maxKept = 20_000;

/** The line that opens the page, with up to {@link maxKept} characters of the thinking. */
function thoughtLine(thought: string, seconds: number): string {
  const time = seconds < 1 ? 'a moment' : `${Math.round(seconds)} s`;
  const kept = thought.length > maxKept ? `${cutText(thought, maxKept)}\n\n(cut)` : thought;
  return lineOf(`Thought for ${time}`, `${kept.trim()}\n`);
}

/** A line that opens the thought, or the one with this id. */
function lineOf(words: string, thought: string): string {
  // A parenthesis would end the link, and the thinking would be read as Markdown.
  const argument = encodeURIComponent(JSON.stringify([thought])).replace(
    /[()]/g,
    (parenthesis) => `%${parenthesis.charCodeAt(0).toString(16)}`,
  );
  return `[$(lightbulb) ${words}](command:${showThinking}?${argument})\n\n`;
}

/** After the last line or sentence from `from` on; if there is none and a step is due, after the last word. */
function endOfStep(thought: string, from: number, isDue: boolean): number {
  const rest = thought.slice(from);
  const ends = [...rest.matchAll(/\n|[.!?:;] /g)].at(-1) ?? (isDue ? /\s\S*$/.exec(rest) : undefined);
  return ends ? from + ends.index + 1 : from;
}

/**
 * Markdown of ours: only that supports icons, by which it is told from the words of the model. Its links may run only
 * these commands.
 */
function toOurs(markdown: string, enabledCommands?: readonly string[]): vscode.MarkdownString {
  const ours = new vscode.MarkdownString(markdown, true);
  if (enabledCommands !== undefined) ours.isTrusted = { enabledCommands };
  return ours;
}

/** A sentence of ours beside the answer, such as a notice. */
export function toAside(sentence: string, icon: 'info' | 'error' = 'info'): vscode.MarkdownString {
  return toOurs(`\n\n> $(${icon}) ${withoutIcons(sentence)}\n\n`);
}

/** Whether this part is ours. It is not sent to the model, which never said it. */
export function isAside({ supportThemeIcons = false }: vscode.MarkdownString): boolean {
  return supportThemeIcons;
}

/** The command that shows the page behind the line above an answer. */
const showThinking = 'runner.showThinking';

/** How many thoughts of this window can still be opened by their ids. */
const maxThoughts = 20;

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
    for (const oldest of [...this.#thoughts.keys()].slice(0, -maxThoughts)) this.#thoughts.delete(oldest);
    if (this.#shown === id) this.#changed.fire(this.#uri);
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }
}
