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

  /** Notes whether what is shown ends its line, whatever style it gets. */
  const show = (text: string, styled = text) => {
    if (text !== '') isLineOpen = !text.endsWith('\n');
    return text === '' ? '' : styled;
  };
  const closeLine = () => (isLineOpen ? show('\n') : '');
  const dimmed = (text: string) => show(text, style.dim(text));
  const rendered = (text: string) => show(text.replace(sgr, ''), text) || text;
  const leave = () => {
    const rest =
      section === 'thinking'
        ? dimmed(filters.thinking.end())
        : rendered(markdown.write(filters.text.end()) + markdown.end());
    return rest + closeLine();
  };
  const enter = (next: 'thinking' | 'text') => {
    if (section === next) return '';
    const before = section === 'none' ? '' : `${leave()}\n`;
    section = next;
    return before + (next === 'thinking' ? dimmed('thinking\n') : '');
  };
  const line = (text: string, styled: string) => closeLine() + show(`${text}\n`, `${styled}\n`);

  return {
    delta(delta) {
      if (delta.kind === 'text')
        return enter('text') + rendered(markdown.write(filters.text.write(delta.text)));
      if (delta.kind === 'thinking') return enter('thinking') + dimmed(filters.thinking.write(delta.text));
      if (delta.kind === 'notice') {
        const message = showControls(delta.notice.message);
        return line(message, style.yellow(message));
      }
      if (delta.kind !== 'toolCall') return '';
      const call = `tool call: ${showControls(delta.toolCall.name)} ${showControls(JSON.stringify(delta.toolCall.arguments))}`;
      return line(call, style.cyan(call));
    },
    end: () => (section === 'none' ? closeLine() : leave()),
  };
}

/** Sequences that set a style and show nothing. */
const sgr = /\u001b\[[0-9;]*m/g;

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
