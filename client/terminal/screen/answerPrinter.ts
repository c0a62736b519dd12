import { createRequire } from 'node:module';
import { showControls, showLine } from '../../../protocol/base/text.ts';
import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { forTerminal } from '../daemon/advice.ts';
import { withoutStyles } from './columns.ts';
import { createMarkdownRenderer, type MarkdownRenderer } from './markdown.ts';
import type { CodeColours } from './markdownBlock.ts';
import type { Style } from './output.ts';
import { createCallLines } from './tools.ts';
import { WordWrap, wrapText } from './wordWrap.ts';

/** Text is hard to read in longer lines. */
const widest = 100;

/** Turns the deltas of one answer into text for the terminal. */
export function createAnswerPrinter(style: Style, columns: number) {
  const width = Math.min(columns, widest);
  const filters = { text: createControlFilter(), thinking: createControlFilter() };
  const renderers = {
    text: createMarkdownRenderer(width, style.on, coloursFor),
    thinking: createThinkingRenderer(style, width),
  };
  let section: 'none' | 'thinking' | 'text' = 'none';
  let isLineOpen = false;

  /** Remembers whether the text ends its line, apart from styles. */
  const show = (text: string) => {
    const plain = withoutStyles(text);
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
  const callLines = createCallLines();
  const enter = (next: 'thinking' | 'text') => {
    if (section === next) return '';
    const before = section === 'none' ? '' : `${leave()}\n`;
    // Without styles, a word marks the end of the thinking.
    const header = next === 'thinking' ? 'thinking\n' : section === 'thinking' && !style.on ? 'answer\n' : '';
    section = next;
    return before + show(style.dim(header));
  };
  const line = (text: string) => {
    const before = section === 'none' ? '' : show(renderers[section].flush());
    return before + closeLine() + show(`${text}\n`);
  };

  return {
    delta(delta: ChatDelta): string {
      if (delta.kind === 'notice')
        return line(style.yellow(wrapText(showLine(forTerminal(delta.notice)), columns)));
      if (delta.kind === 'toolCall') return line(style.cyan(callLines.call(delta.toolCall)));
      if (delta.kind === 'toolResult')
        return line(callLines.result(delta.toolResult, width).map(style.dim).join('\n'));
      const { kind, text } = delta;
      return enter(kind) + show(renderers[kind].write(filters[kind].write(text)));
    },
    /** Ends the last line of the answer, even if the answer was cut off. */
    end: leave,
  };
}

/**
 * The parsers of languages are a bundle of their own, which is loaded with the first code. If it is missing, code has
 * one colour.
 */
function coloursFor(label: string): CodeColours | undefined {
  try {
    const { createCodeColours }: typeof import('./codeColours.ts') = createRequire(__filename)(
      './terminal/codeColours.cjs',
    );
    return createCodeColours(label);
  } catch {
    return undefined;
  }
}

/** Thinking is wrapped and dimmed, and its Markdown is left as it is. */
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

/**
 * Makes the text of a model safe to show: control characters become visible, and `\r\n` becomes `\n`. A carriage return
 * at the end of a piece waits for the next piece, so that the result does not depend on how the text was cut.
 */
export function createControlFilter() {
  let held = '';
  return {
    write(text: string): string {
      const whole = held + text;
      held = whole.endsWith('\r') ? '\r' : '';
      return showControls(held === '' ? whole : whole.slice(0, -1));
    },
    end(): string {
      const rest = showControls(held);
      held = '';
      return rest;
    },
  };
}
