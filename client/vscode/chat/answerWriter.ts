import type { ChatResponseStream, MarkdownString } from 'vscode';
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
  readonly toOurs: ToOurs;
}

/**
 * Markdown of ours: only that supports icons, by which it is told from the words of the model. Its links may run only
 * these commands.
 */
export type ToOurs = (markdown: string, enabledCommands?: readonly string[]) => MarkdownString;

/**
 * Shows thinking as it arrives. Afterwards, a line above the answer opens it, with the beginning of it as a quote if
 * that is wanted: the stable API of the chat cannot fold text.
 */
export function createAnswerWriter(
  stream: Pick<ChatResponseStream, 'markdown' | 'progress'>,
  { now, above, toOurs }: AnswerWriterOptions,
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
      stream.markdown(toOurs(thoughtLine(thought, (now() - begunAt) / 1000), [showThinking]));
      // In a quote no link runs a command.
      if (above === 'quote') stream.markdown(toOurs(`${toQuote(thought, maxInPlace)}\n\n`));
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
/** The most that are shown above the answer. More would push it out of sight. */
const maxInPlace = 1_500;

/** The line that opens the page, with up to {@link maxKept} characters of the thinking. */
function thoughtLine(thought: string, seconds: number): string {
  const time = seconds < 1 ? 'a moment' : `${Math.round(seconds)} s`;
  const kept = thought.length > maxKept ? `${cutText(thought, maxKept)}\n\n(cut)` : thought;
  // A parenthesis would end the link, and the thinking would be read as Markdown.
  const argument = encodeURIComponent(JSON.stringify([`${kept.trim()}\n`])).replace(
    /[()]/g,
    (parenthesis) => `%${parenthesis.charCodeAt(0).toString(16)}`,
  );
  return `[$(lightbulb) Thought for ${time}](command:${showThinking}?${argument})\n\n`;
}
