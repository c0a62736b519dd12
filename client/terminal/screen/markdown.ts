import { columnsOf } from './columns.ts';
import {
  type BlockStart,
  type CodeColours,
  type CodeFence,
  type ColoursFor,
  mayBecomeMarker,
  readBlockStart,
  readCodeStart,
  readWholeLine,
} from './markdownBlock.ts';
import { inlineEnd, inlineStep, newInline } from './markdownInline.ts';
import { MarkdownTable } from './markdownTable.ts';
import { WordWrap } from './wordWrap.ts';

/** Renders Markdown for a terminal while it arrives. The result does not depend on how the text was cut. */
export interface MarkdownRenderer {
  /** Returns what can be shown now: everything except the current word and what may still become a marker. */
  write(text: string): string;
  /** Returns the current word too, because something else is shown next. */
  flush(): string;
  end(): string;
}

const bold = '\u001b[1m';
const dim = '\u001b[2m';
const cyan = '\u001b[36m';
const reset = '\u001b[0m';
const bar = `${reset}${dim}│${reset} `;
const ruleWidth = 40;
/** The most characters that are held of a line of code, until it is coloured, and of a row of a table. */
const maxCodeLength = 1_000;
const maxRowLength = 4_000;

/** Without styles the Markdown itself is most readable: it is wrapped, and its markers stay. */
export function createMarkdownRenderer(
  width: number,
  isStyled = true,
  coloursFor: ColoursFor = () => undefined,
): MarkdownRenderer {
  return new Renderer(Math.max(20, width), isStyled, coloursFor);
}

class Renderer implements MarkdownRenderer {
  readonly #wrap: WordWrap;
  readonly #width: number;
  readonly #isStyled: boolean;
  readonly #coloursFor: ColoursFor;
  #line: 'undecided' | 'text' | 'verbatim' | 'code' | 'row' = 'undecided';
  /** The beginning of a line that may still become a marker. */
  #heldMarker = '';
  /** The number of quote bars in the line so far. */
  #depth = 0;
  /** Whether the line has the marker of a list item. */
  #isItem = false;
  /** Whether the line may belong to a list item above. */
  #isInList = false;
  #fence: CodeFence | undefined;
  #colours: CodeColours | undefined;
  /** The held part of a line of code or of a row. */
  #heldLine = '';
  #table: MarkdownTable | undefined;
  #inline = newInline();
  /** The first half of a surrogate pair that was cut. */
  #halfPair = '';

  constructor(width: number, isStyled: boolean, coloursFor: ColoursFor) {
    this.#width = width;
    this.#isStyled = isStyled;
    this.#coloursFor = coloursFor;
    this.#wrap = new WordWrap(width);
  }

  write(text: string): string {
    const whole = this.#halfPair + text;
    const [half = ''] = /[\ud800-\udbff]$/.exec(whole) ?? [];
    this.#halfPair = half;
    this.#steps(whole.slice(0, whole.length - half.length));
    return this.#wrap.take();
  }

  flush(): string {
    if (this.#line === 'code') this.#showCode();
    if (this.#table) this.#wrap.raw(this.#table.flush());
    this.#wrap.flush();
    return this.#wrap.take();
  }

  end(): string {
    this.#steps(this.#halfPair);
    this.#halfPair = '';
    this.#closeLine();
    this.#endTable();
    return this.flush();
  }

  #steps(text: string): void {
    for (const character of text) this.#step(character);
  }

  #step(character: string): void {
    if (character === '\n') this.#endLine();
    else if (this.#line === 'text') this.#inlineStep(character);
    else if (this.#line === 'row') this.#rowStep(character);
    else if (this.#line === 'code' && this.#colours) this.#codeStep(character);
    else if (this.#line !== 'undecided') this.#wrap.raw(character);
    else {
      this.#heldMarker += character;
      if (this.#fence) this.#beginCode(this.#fence, false);
      else if (!mayBecomeMarker(this.#heldMarker))
        this.#begin(readBlockStart(this.#heldMarker, this.#isInList), this.#takeHeld());
    }
  }

  #inlineStep(character: string): void {
    if (this.#isStyled) inlineStep(this.#inline, character, this.#wrap);
    else this.#wrap.character(character);
  }

  #endLine(): void {
    if (this.#line === 'undecided' && this.#heldMarker === '') this.#endTable();
    this.#closeLine();
    if (this.#line === 'row') this.#endRow();
    else this.#wrap.newline();
    this.#line = 'undecided';
    this.#depth = 0;
    this.#isItem = false;
    this.#inline = newInline();
  }

  /** Decides what the held beginning is, and closes what is open in the line. */
  #closeLine(): void {
    if (this.#line === 'undecided' && this.#fence) this.#beginCode(this.#fence, true);
    // Not `else`, because the line may just have left the fence. Not `if`, because an item may contain another marker.
    while (this.#line === 'undecided' && !this.#fence && this.#heldMarker !== '') {
      const held = this.#takeHeld();
      this.#begin(readWholeLine(held) ?? readBlockStart(held, this.#isInList), held);
    }
    if (this.#line === 'code' && this.#colours) this.#showCode();
    else if (this.#line === 'code') this.#wrap.raw(this.#styled(reset));
    inlineEnd(this.#inline, this.#wrap);
  }

  /** The text after the marker of a quote or an item begins like a line of its own. */
  #begin(start: BlockStart, source: string): void {
    if (start.kind !== 'row' || !this.#isTableRow()) this.#endTable();
    switch (start.kind) {
      case 'row':
        return this.#beginRow(start.indent + start.rest);
      case 'quote':
        return this.#openQuote(start.rest);
      case 'item':
        return this.#openItem(start);
      case 'fence':
        return this.#openFence(start);
      case 'rule':
        this.#isInList = false;
        return this.#wrap.raw(
          this.#isStyled ? `${dim}${'─'.repeat(Math.min(this.#width, ruleWidth))}${reset}` : source,
        );
      case 'heading':
        this.#isInList = false;
        if (!this.#isStyled) return this.#text(source);
        this.#inline = newInline(bold);
        this.#wrap.style(bold);
        return this.#text(start.rest);
      case 'verbatim':
        this.#line = 'verbatim';
        return this.#wrap.raw(start.indent + start.rest);
      case 'text':
        if (start.indent === '' && start.rest !== '' && !this.#isItem) this.#isInList = false;
        this.#wrap.lead(start.indent, start.indent.length);
        return this.#text(start.rest);
    }
  }

  #text(text: string): void {
    this.#line = 'text';
    this.#steps(text);
  }

  #openQuote(rest: string): void {
    this.#depth++;
    this.#wrap.lead(this.#isStyled ? bar : '> ', 2);
    this.#steps(rest);
  }

  #openItem({ indent, mark, rest }: BlockStart & { kind: 'item' }): void {
    this.#isItem = true;
    this.#isInList = true;
    const shown = `${indent}${/\d/.test(mark) || !this.#isStyled ? mark : '•'} `;
    this.#wrap.lead(shown, columnsOf(shown), ' '.repeat(columnsOf(shown)));
    this.#steps(rest);
  }

  /** Code begins at the left edge, so that it can be copied as it is. */
  #openFence({ indent, mark, label }: BlockStart & { kind: 'fence' }): void {
    this.#fence = { mark, indent: indent.length, depth: this.#depth };
    this.#colours = this.#isStyled ? this.#coloursFor(label) : undefined;
    this.#wrap.raw(this.#styled(dim) + mark + label + this.#styled(reset));
  }

  #beginCode(fence: CodeFence, isWhole: boolean): void {
    const start = readCodeStart(fence, { text: this.#heldMarker, depth: this.#depth, isWhole });
    if (start.kind === 'undecided') return;
    const held = this.#takeHeld();
    if (start.kind === 'closed' || start.kind === 'left') this.#fence = undefined;
    if (start.kind === 'closed') this.#wrap.raw(this.#styled(dim) + held.trim() + this.#styled(reset));
    if (start.kind === 'left') this.#steps(held);
    if (start.kind === 'quote') {
      this.#openQuote(start.rest);
      if (isWhole && this.#line === 'undecided') this.#beginCode(fence, true);
    }
    if (start.kind === 'code' && start.rest === '') this.#colours?.line('');
    if (start.kind === 'code' && start.rest !== '') {
      this.#line = 'code';
      this.#heldLine = '';
      if (!this.#colours) this.#wrap.raw(this.#styled(cyan));
      this.#steps(start.rest);
    }
  }

  /** A line of code is held to its end, because its end may decide the colours of its beginning. */
  #codeStep(character: string): void {
    this.#heldLine += character;
    if (this.#heldLine.length < maxCodeLength) return;
    // The colours of the following lines would be wrong.
    this.#wrap.raw(cyan + this.#heldLine);
    this.#heldLine = '';
    this.#colours = undefined;
  }

  #showCode(): void {
    if (this.#heldLine !== '') this.#wrap.raw(this.#colours?.line(this.#heldLine) ?? this.#heldLine);
    this.#heldLine = '';
  }

  /** In quotes and items a table stays as it is. */
  #isTableRow(): boolean {
    return this.#isStyled && this.#depth === 0 && !this.#isItem;
  }

  #beginRow(text: string): void {
    if (!this.#isTableRow()) {
      this.#line = 'verbatim';
      return this.#wrap.raw(text);
    }
    this.#line = 'row';
    this.#table ??= new MarkdownTable(this.#width);
    this.#heldLine = text;
  }

  #rowStep(character: string): void {
    this.#heldLine += character;
    if (this.#heldLine.length < maxRowLength) return;
    this.#line = 'verbatim';
    this.#endTable();
    this.#wrap.raw(this.#heldLine);
  }

  #endRow(): void {
    if (this.#table) this.#wrap.raw(this.#table.row(this.#heldLine));
    this.#heldLine = '';
  }

  #endTable(): void {
    if (this.#line === 'row') this.#endRow();
    if (this.#table) this.#wrap.raw(this.#table.flush());
    this.#table = undefined;
  }

  #styled(sequence: string): string {
    return this.#isStyled ? sequence : '';
  }

  #takeHeld(): string {
    const held = this.#heldMarker;
    this.#heldMarker = '';
    return held;
  }
}
