import { LongText } from './longText.ts';

const opening = '> <details><summary>Thinking</summary>\n>\n> ';
const closing = '\n>\n> </details>\n\n';

/** Turns alternating thinking and text into one Markdown text. Each call returns what to append now. */
interface ThinkingQuote {
  thinking(text: string): string;
  text(text: string): string;
  finish(): string;
}

/** Each run of thinking becomes one collapsible block quote before the text after it. */
export function createThinkingQuote(): ThinkingQuote {
  let isOpen = false;
  /** The line breaks at the end so far. They are written when more follows. */
  let breaks = new LongText();
  /** Whether the last written text ends a line. */
  let atLineStart = true;

  const close = () => {
    if (!isOpen) return '';
    isOpen = false;
    breaks = new LongText();
    atLineStart = true;
    return closing;
  };
  const open = () => {
    if (isOpen) return '';
    isOpen = true;
    return atLineStart ? opening : `\n\n${opening}`;
  };

  return {
    thinking(text) {
      if (text === '') return '';
      const end = visibleLength(text);
      if (end === 0) {
        breaks.add(text);
        return '';
      }
      const whole = breaks.toString() + text.slice(0, end);
      breaks = new LongText(text.slice(end));
      return open() + whole.replaceAll('\r\n', '\n').replaceAll('\n', '\n> ');
    },
    text(text) {
      if (text === '') return '';
      const before = close();
      atLineStart = text.endsWith('\n');
      return before + text;
    },
    finish: close,
  };
}

/** The length of a text without the line breaks at its end. */
function visibleLength(text: string): number {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end--;
  return end;
}

/** Removes exactly such quotes from replayed text. What a user or a model quotes by hand stays. */
export function stripThinkingQuotes(text: string): string {
  if (!text.includes(opening)) return text;
  const kept: string[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(opening, at);
    if (start < 0) break;
    const beginsLine = start === 0 || text[start - 1] === '\n';
    const { end, isClosed } = beginsLine
      ? readQuote(text, start)
      : { end: start + opening.length, isClosed: false };
    kept.push(text.slice(at, isClosed ? start : end));
    at = end;
  }
  kept.push(text.slice(at));
  return kept.join('');
}

/**
 * Finds the end of a quote; all of its lines must be quoted. If the quote is not closed, `end` is the end of its quoted
 * lines. A quote that opens among them is not closed either, so nothing is read twice.
 */
function readQuote(text: string, start: number): { readonly end: number; readonly isClosed: boolean } {
  let at = start + opening.length;
  for (;;) {
    const newline = text.indexOf('\n', at);
    if (newline < 0) return { end: text.length, isClosed: false };
    if (text.startsWith(closing, newline)) return { end: newline + closing.length, isClosed: true };
    // An editor may have cut the blank line at the end of a message.
    if (newline + closing.length > text.length && text.slice(newline) === closing.trimEnd())
      return { end: text.length, isClosed: true };
    if (text[newline + 1] !== '>') return { end: newline, isClosed: false };
    at = newline + 1;
  }
}
