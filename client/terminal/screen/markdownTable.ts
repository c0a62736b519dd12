import { columnsOf, styleSequence, withoutStyles } from './columns.ts';
import { inlineEnd, inlineStep, newInline } from './markdownInline.ts';
import { WordWrap } from './wordWrap.ts';

const bold = '\u001b[1m';
const dim = '\u001b[2m';
const reset = '\u001b[0m';
const separator = ` ${dim}│${reset} `;
const separatorColumns = 3;

/** How many rows are held to measure them. Later rows are shown at once, with the same widths. */
const maxHeld = 40;
const maxColumns = 30;
/** The least width of a column in a table that is too wide for the terminal. */
const narrowest = 8;

type Alignment = 'left' | 'right' | 'center';

/** A table whose rows arrive one by one. It shows whole lines. */
export class MarkdownTable {
  readonly #width: number;
  /** The source of the first rows, until it is clear that they are a table. */
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
    return this.#widths !== undefined || this.#rows.length > maxHeld ? this.flush() : '';
  }

  /** Shows what is held, because the table ends or something else is shown next. */
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
      marks.length <= maxColumns &&
      marks.every((mark) => /^:?-+:?$/.test(mark));
    // The first row may be text above the table.
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
      Math.max(1, ...rows.map((row) => columnsOf(withoutStyles(renderCell(row[index] ?? '').join(''))))),
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
    const missing = Math.max(0, (this.#widths?.[index] ?? 0) - columnsOf(withoutStyles(text)));
    const alignment = this.#alignments?.[index];
    const before = alignment === 'right' ? missing : alignment === 'center' ? Math.floor(missing / 2) : 0;
    return ' '.repeat(before) + text + ' '.repeat(missing - before);
  }
}

/** A bar after a backslash is part of the cell. */
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

/** As many cells as columns. Further cells are joined into the last one. */
function fold(row: readonly string[], count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    row.slice(index, index === count - 1 ? undefined : index + 1).join(' | '),
  );
}

/** Makes the widest columns narrower until the table fits. */
function fitted(natural: readonly number[], available: number): readonly number[] {
  const total = (most: number) => natural.reduce((sum, width) => sum + Math.min(width, most), 0);
  let most = Math.max(...natural);
  while (most > narrowest && total(most) > available) most--;
  return natural.map((width) => Math.min(width, most));
}

/** The lines of a cell. Each opens and closes its own styles. */
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
  const all: readonly string[] = text.match(styleSequence) ?? [];
  return all.slice(all.lastIndexOf(reset) + 1).join('');
}

function rule(widths: readonly number[]): string {
  return `${dim}${widths.map((width) => '─'.repeat(width)).join('─┼─')}${reset}\n`;
}
