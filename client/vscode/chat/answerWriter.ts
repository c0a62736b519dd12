import type { ChatResponseStream, MarkdownString } from 'vscode';
import { cutText } from '../../../protocol/base/text.ts';
import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { withoutIcons } from '../ui/safeText.ts';

/** Writes an answer into the chat as it arrives. */
export interface AnswerWriter {
  write(delta: ChatDelta): void;
  /** Shows the rest of the thinking. Called when the thinking ends, and when the answer ends or fails. */
  end(): void;
  /** From the first part that was written until now, in ms. */
  readonly elapsed: number;
}

/** Thinking is shown in steps that end with a sentence: of this many characters, or after this many ms. */
const stepLength = 300;
const stepTime = 1_000;

export interface AnswerWriterOptions {
  /** In ms. */
  readonly now: () => number;
  readonly toOurs: ToOurs;
  /** Keeps a thought that goes on under an id, by which its line opens it. */
  readonly keep: (id: string, thought: string) => void;
}

/**
 * Markdown of ours: only that supports icons, by which it is told from the words of the model. Its links may run only
 * these commands.
 */
export type ToOurs = (markdown: string, enabledCommands?: readonly string[]) => MarkdownString;

/**
 * Shows thinking as it arrives, below a line that opens what there is of it: after Stop, nothing more can be written.
 * Once the model has thought, the editor folds that, and a line above the answer opens the thought: the stable API of
 * the chat cannot fold text.
 */
export function createAnswerWriter(
  stream: Pick<ChatResponseStream, 'markdown' | 'progress'>,
  { now, toOurs, keep }: AnswerWriterOptions,
): AnswerWriter {
  let thought = '';
  let shown = 0;
  let shownAt = 0;
  let begunAt = 0;
  let firstAt: number | undefined;
  const think = (text: string) => {
    if (thought === '') {
      begunAt = now();
      shownAt = begunAt;
      stream.progress('Thinking');
    }
    thought += text;
    const id = `${begunAt}`;
    if (shown > 0) keep(id, thought);
    const isDue = now() - shownAt >= stepTime;
    const end = endOfStep(thought, shown, isDue);
    if (end - shown < (isDue ? 1 : stepLength)) return;
    if (shown === 0) {
      keep(id, thought);
      stream.markdown(toOurs(lineOf('Thinking', id), [showThinking]));
    }
    stream.progress(thought.slice(shown, end).trim());
    shown = end;
    shownAt = now();
  };
  const end = () => {
    if (thought.trim() !== '')
      stream.markdown(toOurs(thoughtLine(thought, (now() - begunAt) / 1000), [showThinking]));
    thought = '';
    shown = 0;
  };
  return {
    write(delta) {
      firstAt ??= now();
      if (delta.kind === 'thinking') return think(delta.text);
      end();
      if (delta.kind === 'text') stream.markdown(delta.text);
      if (delta.kind === 'notice') stream.markdown(toOurs(asideOf(delta.notice.message)));
    },
    end,
    get elapsed() {
      return firstAt === undefined ? 0 : now() - firstAt;
    },
  };
}

/** The command that shows the page behind the line above an answer. */
export const showThinking = 'runner.showThinking';

/** Markdown of a sentence of ours beside the answer, such as a notice. */
export function asideOf(sentence: string, icon: 'info' | 'error' = 'info'): string {
  return `\n\n> $(${icon}) ${withoutIcons(sentence)}\n\n`;
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
