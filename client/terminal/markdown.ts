import { columnsOf } from './columns.ts';
import { type InlineState, inlineEnd, inlineStep, newInline } from './markdownInline.ts';
import { WordWrap } from './wordWrap.ts';

/** Renders Markdown for a terminal while it comes; the result does not depend on how the text was cut. */
export interface MarkdownRenderer {
  /** What can be shown now: all but the current word and a marker that is not decided yet. */
  write(text: string): string;
  end(): string;
}

/** What a line is, decided by its beginning. */
type Block = { readonly kind: 'undecided' } | { readonly kind: 'text' } | { readonly kind: 'verbatim' };

const bold = '\u001b[1m';
const dim = '\u001b[2m';
const cyan = '\u001b[36m';
const reset = '\u001b[0m';

/** The longest beginning of a line that may still be a marker: an indented list item with its number. */
const longestMarker = 24;

export function createMarkdownRenderer(width: number): MarkdownRenderer {
  return new Renderer(Math.max(20, width));
}

class Renderer implements MarkdownRenderer {
  readonly #wrap: WordWrap;
  readonly #width: number;
  #block: Block = { kind: 'undecided' };
  #marker = '';
  #inline: InlineState = newInline();
  /** The fence that is open, such as three ticks. */
  #fence = '';
  #surrogate = '';

  constructor(width: number) {
    this.#width = width;
    this.#wrap = new WordWrap(width);
  }

  write(text: string): string {
    const whole = this.#surrogate + text;
    const last = whole.charCodeAt(whole.length - 1);
    this.#surrogate = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : '';
    for (const character of this.#surrogate === '' ? whole : whole.slice(0, -1)) this.#step(character);
    return this.#wrap.take();
  }

  end(): string {
    for (const character of this.#surrogate) this.#step(character);
    if (this.#block.kind === 'undecided' && this.#marker !== '') this.#decide('');
    inlineEnd(this.#inline, this.#wrap);
    if (this.#fence !== '') this.#wrap.raw(reset);
    return this.#wrap.end();
  }

  #step(character: string): void {
    if (character === '\n') this.#endLine();
    else if (this.#block.kind === 'undecided') this.#decide(character);
    else if (this.#block.kind === 'verbatim') this.#wrap.raw(character);
    else inlineStep(this.#inline, character, this.#wrap);
  }

  /** The beginning of a line is held while it may become a marker. */
  #decide(character: string): void {
    this.#marker += character;
    const isOpen =
      character !== '' &&
      this.#marker.length < longestMarker &&
      mayBeMarker(this.#marker, this.#fence !== '');
    if (!isOpen) this.#open();
  }

  #open(): void {
    const line = this.#marker;
    this.#marker = '';
    if (this.#fence !== '') return this.#verbatim(line);
    const heading = /^(#{1,6}) (.*)$/s.exec(line);
    const item = /^(\s*)([-*+]|\d{1,9}[.)]) (.*)$/s.exec(line);
    const quote = /^\s{0,3}> ?(.*)$/s.exec(line);
    this.#block = { kind: 'text' };
    if (heading) {
      this.#wrap.style(bold);
      this.#inline.lineStyle = bold;
      this.#text(heading[2] ?? '');
    } else if (item) {
      const [, indent = '', mark = '', rest = ''] = item;
      const shown = `${indent}${/\d/.test(mark) ? mark : '•'} `;
      const columns = columnsOf(shown);
      this.#wrap.prefix(shown, columns, { text: ' '.repeat(columns), columns });
      this.#text(rest);
    } else if (quote) {
      const bar = `${dim}│${reset} `;
      this.#wrap.prefix(bar, 2, { text: bar, columns: 2 });
      this.#text(quote[1] ?? '');
    } else if (/^\s*\|/.test(line) || /^(?: {4,}|\t)/.test(line)) {
      this.#verbatim(line);
    } else {
      this.#text(line);
    }
  }

  #verbatim(line: string): void {
    this.#block = { kind: 'verbatim' };
    this.#wrap.raw(line);
  }

  #text(text: string): void {
    for (const character of text) inlineStep(this.#inline, character, this.#wrap);
  }

  #endLine(): void {
    if (this.#block.kind === 'undecided' && this.#isWholeMarker()) return;
    if (this.#block.kind === 'undecided' && this.#marker !== '') this.#open();
    inlineEnd(this.#inline, this.#wrap);
    this.#inline = newInline();
    this.#nextLine();
  }

  /** A line that is nothing but a marker: a fence or a rule. */
  #isWholeMarker(): boolean {
    const fence = /^\s{0,3}(`{3,}|~{3,})([^`]*)$/.exec(this.#marker);
    if (fence && this.#isFenceEdge(fence[1] ?? '', fence[2] ?? '')) {
      const opens = this.#fence === '';
      this.#fence = opens ? (fence[1] ?? '') : '';
      this.#wrap.raw(`${reset}${dim}${this.#marker}${reset}`);
      this.#nextLine();
      if (opens) this.#wrap.raw(cyan);
      return true;
    }
    if (this.#fence === '' && /^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(this.#marker)) {
      this.#wrap.raw(`${dim}${'─'.repeat(Math.min(this.#width, 40))}${reset}`);
      this.#nextLine();
      return true;
    }
    return false;
  }

  #isFenceEdge(mark: string, label: string): boolean {
    if (this.#fence === '') return true;
    return label.trim() === '' && mark.startsWith(this.#fence);
  }

  #nextLine(): void {
    this.#marker = '';
    this.#block = { kind: 'undecided' };
    this.#wrap.newline();
  }
}

/** Whether more characters can make, or belong to, a marker. A fence's label is part of it. */
function mayBeMarker(text: string, inFence: boolean): boolean {
  if (inFence) return /^\s{0,3}(`*|~*)\s*$/.test(text);
  return (
    /^\s*$/.test(text) ||
    /^#{1,6}$/.test(text) ||
    /^\s*([-*+]|\d{1,9}[.)]?)$/.test(text) ||
    /^\s{0,3}(`{1,2}|~{1,2})$/.test(text) ||
    /^\s{0,3}(`{3,}|~{3,})[^`\n]*$/.test(text) ||
    /^\s{0,3}>$/.test(text) ||
    /^\s{0,3}([-*_])(\s*\1)*\s*$/.test(text)
  );
}
