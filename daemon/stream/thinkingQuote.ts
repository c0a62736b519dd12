import { LongText } from './characters.ts';

const opening = '> <details><summary>Thinking</summary>\n>\n> ';
const closing = '\n>\n> </details>\n\n';

/**
 * Turns alternating thinking and text into one Markdown text: each run of thinking becomes one collapsible block quote
 * before the text after it. Each call returns what to append now.
 */
export class ThinkingQuote {
  #isOpen = false;
  /** The line breaks at the end so far. They are written when more follows. */
  #breaks = new LongText();
  /** Whether the last written text ends a line. */
  #atLineStart = true;

  thinking(text: string): string {
    if (text === '') return '';
    const end = visibleLength(text);
    if (end === 0) {
      this.#breaks.add(text);
      return '';
    }
    const whole = this.#breaks.toString() + text.slice(0, end);
    this.#breaks = new LongText(text.slice(end));
    return this.#open() + whole.replaceAll('\r\n', '\n').replaceAll('\n', '\n> ');
  }

  text(text: string): string {
    if (text === '') return '';
    const before = this.finish();
    this.#atLineStart = text.endsWith('\n');
    return before + text;
  }

  finish(): string {
    if (!this.#isOpen) return '';
    this.#isOpen = false;
    this.#breaks = new LongText();
    this.#atLineStart = true;
    return closing;
  }

  #open(): string {
    if (this.#isOpen) return '';
    this.#isOpen = true;
    return this.#atLineStart ? opening : `\n\n${opening}`;
  }
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
