import type { ChatDelta, ChatResult } from '../../protocol/chat.ts';
import { createControlFilter, showControls } from './controlCharacters.ts';
import { createMarkdownRenderer } from './markdown.ts';
import type { Style } from './style.ts';

/** Turns the deltas of one answer into what a terminal shows. */
export interface AnswerPrinter {
  delta(delta: ChatDelta): string;
  /** Ends the last line of the answer, whatever became of it. */
  end(): string;
}

export function createAnswerPrinter(style: Style, columns: number): AnswerPrinter {
  const filters = { text: createControlFilter(), thinking: createControlFilter() };
  const markdown = style.on ? createMarkdownRenderer(Math.min(columns, 100)) : asItIs;
  let section: 'none' | 'thinking' | 'text' = 'none';
  let isLineOpen = false;

  const show = (text: string) => {
    if (text !== '') isLineOpen = !text.endsWith('\n');
    return text;
  };
  const closeLine = () => (isLineOpen ? show('\n') : '');
  const enter = (next: 'thinking' | 'text') => {
    if (section === next) return '';
    const before = section === 'none' ? '' : leave() + '\n';
    section = next;
    return before + (next === 'thinking' ? show(`${style.dim('thinking')}\n`) : '');
  };
  const leave = () => {
    const rest =
      section === 'thinking'
        ? show(style.dim(filters.thinking.end()))
        : show(markdown.write(filters.text.end()) + markdown.end());
    return rest + closeLine();
  };
  const line = (text: string) => closeLine() + show(`${text}\n`);

  return {
    delta(delta) {
      if (delta.kind === 'text') return enter('text') + show(markdown.write(filters.text.write(delta.text)));
      if (delta.kind === 'thinking')
        return enter('thinking') + show(style.dim(filters.thinking.write(delta.text)));
      if (delta.kind === 'notice') return line(style.yellow(showControls(delta.notice.message)));
      if (delta.kind !== 'toolCall') return '';
      const { name, arguments: given } = delta.toolCall;
      return line(style.cyan(`tool call: ${showControls(name)} ${showControls(JSON.stringify(given))}`));
    },
    end: () => (section === 'none' ? closeLine() : leave()),
  };
}

/** Without styles the Markdown itself is the most readable. */
const asItIs = { write: (text: string) => text, end: () => '' };

/** One line on what an answer took. */
export function describeUsage({ usage, finishReason }: ChatResult, milliseconds: number): string {
  if (finishReason === 'cancelled') return 'cancelled';
  const { promptTokens, completionTokens, contextLength } = usage;
  const window = contextLength === undefined ? '' : ` of a window of ${contextLength}`;
  const speed =
    milliseconds > 0 && completionTokens > 1
      ? `, ${(completionTokens / (milliseconds / 1000)).toFixed(1)} a second`
      : '';
  const cut = finishReason === 'length' ? '; cut at the limit' : '';
  return `${promptTokens} + ${completionTokens} tokens${window}${speed}${cut}`;
}
