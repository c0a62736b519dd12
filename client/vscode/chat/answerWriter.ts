import * as vscode from 'vscode';
import { cutText } from '../../../protocol/base/text.ts';
import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { toQuote, withoutIcons } from '../ui/safeText.ts';

/** Writes an answer into the chat as it arrives. */
export interface AnswerWriter {
  write(delta: ChatDelta): void;
  /** Shows the rest of the thinking. Called when the thinking ends, and when the answer ends or fails. */
  end(): void;
  /** From the first part that was written until now, in ms. */
  readonly elapsed: number;
}

/** Thinking is shown in steps of at least this many characters that end with a paragraph. */
const stepLength = 300;

export interface AnswerWriterOptions {
  /** In ms. */
  readonly now: () => number;
  /** What stands above the answer after the thinking. */
  readonly above: 'quote' | 'line';
}

/**
 * Shows thinking as it arrives. Afterwards, a line above the answer opens it, with the beginning of it as a quote if
 * that is wanted: the stable API of the chat cannot fold text.
 */
export function createAnswerWriter(
  stream: vscode.ChatResponseStream,
  { now, above }: AnswerWriterOptions,
): AnswerWriter {
  let thought = '';
  let shown = 0;
  let begunAt = 0;
  let firstAt: number | undefined;
  const think = (text: string) => {
    if (thought === '') {
      begunAt = now();
      stream.progress('Thinking');
    }
    thought += text;
    const end = thought.lastIndexOf('\n\n');
    if (end - shown < stepLength) return;
    stream.progress(thought.slice(shown, end).trim());
    shown = end;
  };
  const end = () => {
    if (thought.trim() !== '') {
      stream.markdown(toThoughtLine(thought, (now() - begunAt) / 1000));
      if (above === 'quote') stream.markdown(toThoughtQuote(thought));
    }
    thought = '';
    shown = 0;
  };
  return {
    write(delta) {
      firstAt ??= now();
      if (delta.kind === 'thinking') return think(delta.text);
      end();
      if (delta.kind === 'text') stream.markdown(delta.text);
      if (delta.kind === 'notice') stream.markdown(toAside(delta.notice.message));
    },
    end,
    get elapsed() {
      return firstAt === undefined ? 0 : now() - firstAt;
    },
  };
}

/** A sentence of ours beside the answer, such as a notice. */
export function toAside(sentence: string, icon: 'info' | 'error' = 'info'): vscode.MarkdownString {
  return new vscode.MarkdownString(`\n\n> $(${icon}) ${withoutIcons(sentence)}\n\n`, true);
}

/** Whether this part is ours: only our parts support icons. It is not sent to the model, which never said it. */
export function isAside({ supportThemeIcons = false }: vscode.MarkdownString): boolean {
  return supportThemeIcons;
}

const showThinking = 'runner.showThinking';

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

/** The most characters of thinking that are kept in the history of the chat. */
const maxKept = 20_000;
/** The most that are shown above the answer. More would push it out of sight. */
const maxInPlace = 1_500;

/** The line that opens the page, with up to {@link maxKept} characters of the thinking. */
function toThoughtLine(thought: string, seconds: number): vscode.MarkdownString {
  const time = seconds < 1 ? 'a moment' : `${Math.round(seconds)} s`;
  const kept = thought.length > maxKept ? `${cutText(thought, maxKept)}\n\n(cut)` : thought;
  // A parenthesis would end the link, and the thinking would be read as Markdown.
  const argument = encodeURIComponent(JSON.stringify([`${kept.trim()}\n`])).replace(
    /[()]/g,
    (parenthesis) => `%${parenthesis.charCodeAt(0).toString(16)}`,
  );
  const line = new vscode.MarkdownString(
    `[$(lightbulb) Thought for ${time}](command:${showThinking}?${argument})\n\n`,
    true,
  );
  line.isTrusted = { enabledCommands: [showThinking] };
  return line;
}

/** A block quote above the answer, in which no link runs a command. It supports icons, so that it counts as ours. */
function toThoughtQuote(thought: string): vscode.MarkdownString {
  return new vscode.MarkdownString(`${toQuote(thought, maxInPlace)}\n\n`, true);
}
