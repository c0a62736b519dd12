import { eastAsianWidth } from 'get-east-asian-width';
import stringWidth from 'string-width';

const ideograph = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f]/u;

/** Characters that are shown together with others, or not at all. */
const joined =
  /[\p{M}\p{Regional_Indicator}\p{Emoji_Modifier}\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7ff]/u;
/**
 * Runs of plain characters, and short pieces of other characters with the one that they may change. Measuring joined
 * characters takes quadratic time, so a long text is never measured as a whole.
 */
const pieces = /[\u0020-\u007e]+(?![^\u0020-\u007e])|[\u0020-\u007e]?[^\u0020-\u007e]{1,100}/gu;

/** How many columns of a terminal a text takes. It must not have control characters. */
export function columnsOf(text: string): number {
  if (isPlain(text)) return text.length;
  let columns = 0;
  for (const [piece] of text.matchAll(pieces)) columns += columnsOfPiece(piece);
  return columns;
}

function columnsOfPiece(piece: string): number {
  if (joined.test(piece)) return stringWidth(piece);
  let columns = 0;
  for (const character of piece) columns += eastAsianWidth(character.codePointAt(0) ?? 0);
  return columns;
}

/** Whether each character takes one column. */
export function isPlain(text: string): boolean {
  return /^[\u0020-\u007e]*$/.test(text);
}

/** Whether a character belongs to a script without blanks, where a line may be broken anywhere. */
export function isIdeograph(character: string): boolean {
  return ideograph.test(character);
}

/** As much of a text as fits, with an ellipsis if it was cut. Joined characters stay together. */
export function cutTo(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < 1) return '';
  let [kept, taken] = ['', 0];
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, columns * maxColumn))) {
    taken += columnsOf(segment);
    if (taken > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Characters that one column has at most, with rare exceptions. */
const maxColumn = 8;

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - columnsOf(text))) + text;
}

/** Matches sequences that set a style and show nothing. */
export const styleSequence = /\u001b\[[0-9;]*m/g;

export function withoutStyles(text: string): string {
  return text.replace(styleSequence, '');
}

interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** It becomes narrower if the table is wider than the terminal, so that the columns after it can be read too. */
  readonly isFlexible?: boolean;
}

/** A column whose cells end below each other. */
export function toRight(title: string): Column {
  return { title, align: 'right' };
}

/**
 * Rows under titles; a title alone may stand for its column. Each column is as wide as its widest cell, and lines are
 * cut to the `width`.
 */
export function formatTable(
  given: readonly (string | Column)[],
  rows: readonly (readonly string[])[],
  {
    style,
    width = Number.POSITIVE_INFINITY,
  }: { readonly style: { readonly dim: (text: string) => string }; readonly width?: number },
): string {
  const columns = given.map((column) => (typeof column === 'string' ? { title: column } : column));
  const widths = columns.map(({ title }, index) =>
    Math.max(columnsOf(title), ...rows.map((row) => columnsOf(row[index] ?? ''))),
  );
  narrow(columns, widths, width - (columns.length - 1) * gap);
  const format = (cells: readonly string[]) => {
    const padded = columns.map(({ align }, index) =>
      (align === 'right' ? padStart : padEnd)(
        cutTo(cells[index] ?? '', widths[index] ?? 0),
        widths[index] ?? 0,
      ),
    );
    return cutTo(padded.join(' '.repeat(gap)).trimEnd(), width);
  };
  const head = style.dim(format(columns.map(({ title }) => title)));
  return [head, ...rows.map(format)].map((line) => `${line}\n`).join('');
}

/** Blanks between two columns, and the least width of a flexible one. */
const gap = 2;
const leastFlexible = 12;

/** Makes flexible columns narrower until the table fits, the widest first. */
function narrow(columns: readonly Column[], widths: number[], room: number): void {
  let excess = widths.reduce((sum, each) => sum + each, 0) - room;
  const flexible = columns.flatMap(({ isFlexible }, index) => (isFlexible ? [index] : []));
  while (excess-- > 0) {
    const widest = Math.max(...flexible.map((index) => widths[index] ?? 0));
    const index = flexible.find((each) => widths[each] === widest);
    if (index === undefined || widest <= leastFlexible) return;
    widths[index] = widest - 1;
  }
}
