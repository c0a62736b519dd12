import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { describeCall, describeResult } from '../conversation/toolLines.ts';
import { forTerminal } from '../daemon/advice.ts';
import type { ColoursFor } from './codeFence.ts';
import { createControlFilter, showLine } from './controlCharacters.ts';
import { createMarkdownRenderer, type MarkdownRenderer } from './markdown.ts';
import type { Style } from './style.ts';
import { WordWrap, wrapText } from './wordWrap.ts';

/** Turns the deltas of one answer into what a terminal shows. */
export interface AnswerPrinter {
  delta(delta: ChatDelta): string;
  /** Ends the last line of the answer, whatever became of it. */
  end(): string;
}

/** Text is hard to read in longer lines. */
const widest = 100;

export function createAnswerPrinter(style: Style, columns: number, coloursFor?: ColoursFor): AnswerPrinter {
  const width = Math.min(columns, widest);
  const filters = { text: createControlFilter(), thinking: createControlFilter() };
  const renderers = {
    text: createMarkdownRenderer(width, style.on, coloursFor),
    thinking: createThinkingRenderer(style, width),
  };
  let section: 'none' | 'thinking' | 'text' = 'none';
  let isLineOpen = false;

  /** Notes whether what is shown ends its line, whatever style it has. */
  const show = (text: string) => {
    const plain = text.replace(sgr, '');
    if (plain !== '') isLineOpen = !plain.endsWith('\n');
    return text;
  };
  const closeLine = () => (isLineOpen ? show('\n') : '');
  const leave = () => {
    if (section === 'none') return closeLine();
    const { [section]: renderer } = renderers;
    const rest = renderer.write(filters[section].end()) + renderer.end();
    return show(rest) + closeLine();
  };
  const enter = (next: 'thinking' | 'text') => {
    if (section === next) return '';
    const before = section === 'none' ? '' : `${leave()}\n`;
    // Without a style, words tell where the thinking ends.
    const header = next === 'thinking' ? 'thinking\n' : section === 'thinking' && !style.on ? 'answer\n' : '';
    section = next;
    return before + show(style.dim(header));
  };
  const line = (text: string) => {
    const before = section === 'none' ? '' : show(renderers[section].flush());
    return before + closeLine() + show(`${text}\n`);
  };

  return {
    delta(delta) {
      if (delta.kind === 'notice')
        return line(style.yellow(wrapText(showLine(forTerminal(delta.notice)), columns)));
      if (delta.kind === 'toolCall') return line(style.cyan(describeCall(delta.toolCall)));
      if (delta.kind === 'toolResult')
        return line(describeResult(delta.toolResult, width).map(style.dim).join('\n'));
      const { kind, text } = delta;
      return enter(kind) + show(renderers[kind].write(filters[kind].write(text)));
    },
    end: leave,
  };
}

/** Sequences that set a style and show nothing. */
const sgr = /\u001b\[[0-9;]*m/g;

/** Thinking is running text: wrapped, dimmed, its Markdown left as it is. */
function createThinkingRenderer(style: Style, width: number): MarkdownRenderer {
  const wrap = new WordWrap(width);
  const flush = () => {
    wrap.flush();
    return style.dim(wrap.take());
  };
  return {
    write(text) {
      for (const character of text) character === '\n' ? wrap.newline() : wrap.character(character);
      return style.dim(wrap.take());
    },
    flush,
    end: flush,
  };
}
