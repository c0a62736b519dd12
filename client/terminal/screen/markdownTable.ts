import { columnsOf } from './columns.ts';
import { inlineEnd, inlineStep, newInline } from './markdownInline.ts';
import { WordWrap } from './wordWrap.ts';

const bold = '\u001b[1m';
const dim = '\u001b[2m';
const reset = '\u001b[0m';
const separator = ` ${dim}│${reset} `;
const separatorColumns = 3;

/** Rows that are held to measure them; further ones are shown as they come, as wide as these. */
const mostHeld = 40;
const mostColumns = 30;
/** A column of a table that is too wide for the terminal is made no narrower than this. */
const narrowest = 8;

type Alignment = 'left' | 'right' | 'center';

/** A table while its rows come. What it shows are whole lines. */
export class MarkdownTable {
  readonly #width: number;
  /** As they were written, until it is clear that they are a table. */
  #sources: string[] = [];
  #alignments: readonly Alignment[] | undefined;
  #rows: (readonly string[])[] = [];
  #widths: readonly number[] | undefined;

  constructor(width: number) {
    this.#width = width;
  }

  /** Takes a whole row. Returns what can be shown now. */
  row(source: string): string {
    if (this.#alignments === undefined) return this.#beginning(source);
    this.#rows.push(cellsOf(source));
    return this.#widths !== undefined || this.#rows.length > mostHeld ? this.flush() : '';
  }

  /** Shows what is held, because the table is at its end or something else is shown next. */
  flush(): string {
    const sources = this.#sources.map((source) => `${source}\n`).join('');
    this.#sources = [];
    if (this.#alignments === undefined) return sources;
    const isBegun = this.#widths !== undefined;
    const widths = this.#widths ?? this.#measure();
    this.#widths = widths;
    const [head, ...body] = this.#rows;
    const rows = isBegun ? this.#rows : body;
    const first = isBegun || head === undefined ? '' : this.#show(head, bold) + rule(widths);
    this.#rows = [];
    return first + rows.map((row) => this.#show(row)).join('');
  }

  /** The second row says whether this is a table. */
  #beginning(source: string): string {
    this.#sources.push(source);
    if (this.#sources.length < 2) return '';
    const [head = []] = this.#sources.map(cellsOf);
    const marks = cellsOf(source);
    const isTable =
      marks.length === head.length &&
      marks.length <= mostColumns &&
      marks.every((mark) => /^:?-+:?$/.test(mark));
    // What was taken for the head may stand above it.
    if (!isTable) return `${this.#sources.shift()}\n`;
    this.#alignments = marks.map(alignmentOf);
    this.#rows = [head];
    this.#sources = [];
    return '';
  }

  #measure(): readonly number[] {
    const count = this.#alignments?.length ?? 0;
    const rows = this.#rows.map((row) => fold(row, count));
    const natural = Array.from({ length: count }, (_, index) =>
      Math.max(1, ...rows.map((row) => columnsOf(plain(renderCell(row[index] ?? '').join(''))))),
    );
    return fitted(natural, this.#width - separatorColumns * (count - 1));
  }

  #show(row: readonly string[], style = ''): string {
    const widths = this.#widths ?? [];
    const cells = fold(row, widths.length).map((cell, index) => renderCell(cell, widths[index], style));
    const height = Math.max(1, ...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, at) => {
      const line = cells.map((lines, index) => this.#padded(lines[at] ?? '', index)).join(separator);
      return `${line.trimEnd()}\n`;
    }).join('');
  }

  #padded(text: string, index: number): string {
    const missing = Math.max(0, (this.#widths?.[index] ?? 0) - columnsOf(plain(text)));
    const alignment = this.#alignments?.[index];
    const before = alignment === 'right' ? missing : alignment === 'center' ? Math.floor(missing / 2) : 0;
    return ' '.repeat(before) + text + ' '.repeat(missing - before);
  }
}

/** A backslash before a bar makes it a part of the cell. */
function cellsOf(source: string): readonly string[] {
  const inner = source.trim().replace(/^\|/, '');
  const cells = [''];
  let isEscaped = false;
  for (const character of inner) {
    const last = cells.length - 1;
    if (character === '|' && !isEscaped) cells.push('');
    else if (character === '|') cells[last] = `${cells[last]?.slice(0, -1)}|`;
    else cells[last] += character;
    isEscaped = character === '\\' && !isEscaped;
  }
  if (cells.length > 1 && cells.at(-1)?.trim() === '') cells.pop();
  return cells.map((cell) => cell.trim());
}

function alignmentOf(mark: string): Alignment {
  if (!mark.endsWith(':')) return 'left';
  return mark.startsWith(':') ? 'center' : 'right';
}

/** As many cells as there are columns: what is beyond them stays in the last. */
function fold(row: readonly string[], count: number): readonly string[] {
  if (row.length <= count) return [...row, ...Array.from({ length: count - row.length }, () => '')];
  return [...row.slice(0, count - 1), row.slice(count - 1).join(' | ')];
}

/** The widest columns give way first. */
function fitted(natural: readonly number[], available: number): readonly number[] {
  const total = (most: number) => natural.reduce((sum, width) => sum + Math.min(width, most), 0);
  let most = Math.max(...natural);
  while (most > narrowest && total(most) > available) most--;
  return natural.map((width) => Math.min(width, most));
}

/** The lines of a cell; each begins and ends without a style that another one needs. */
function renderCell(text: string, width = Number.POSITIVE_INFINITY, style = ''): readonly string[] {
  const wrap = new WordWrap(width);
  const inline = newInline(style);
  if (style !== '') wrap.style(style);
  for (const character of text) inlineStep(inline, character, wrap);
  inlineEnd(inline, wrap);
  wrap.flush();
  let open = '';
  return wrap
    .take()
    .split('\n')
    .map((line) => {
      const whole = open + line.trimEnd();
      open = styleAtEnd(whole);
      return open === '' ? whole : whole + reset;
    });
}

function styleAtEnd(text: string): string {
  const all: readonly string[] = text.match(sgr) ?? [];
  return all.slice(all.lastIndexOf(reset) + 1).join('');
}

const sgr = /\u001b\[[0-9;]*m/g;

function plain(text: string): string {
  return text.replace(sgr, '');
}

function rule(widths: readonly number[]): string {
  return `${dim}${widths.map((width) => '─'.repeat(width)).join('─┼─')}${reset}\n`;
}
