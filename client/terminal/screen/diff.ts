import { showControls, showLine } from '../../../protocol/base/controlCharacters.ts';
import { count, cutText } from '../../../protocol/base/text.ts';
import type { FileDiff } from '../../../protocol/messages/chat.ts';
import { columnsOf } from './columns.ts';
import type { Output, Style } from './output.ts';

/** How many rows of the screen a folded change takes, and how many characters of one line it shows. */
const maxRows = 40;
const maxLine = 500;
/** The width of a tab, as most editors have it for code. */
const tabWidth = 4;

export interface DescribedDiff {
  readonly text: string;
  /** Whether something is left out. */
  readonly isFolded: boolean;
}

/**
 * The change of a file as coloured lines, each with its sign. Control characters are made visible. Unless it is
 * `whole`, a long change is folded, and so are long lines.
 */
export function describeDiff(
  { name, before, unified }: FileDiff,
  { style, width }: Pick<Output, 'style' | 'width'>,
  whole = false,
): DescribedDiff {
  const lines = unified.split('\n').slice(0, -1);
  const title = `${showLine(name)}${before === undefined ? ' (new file)' : ''}`;
  const shown: string[] = [style.bold(title)];
  let isFolded = false;
  let rows = 0;
  for (const [index, line] of lines.entries()) {
    const plain = plainLine(line, whole);
    rows += Math.max(1, Math.ceil(columnsOf(plain.text) / width));
    if (!whole && rows > maxRows && index > 0) {
      shown.push(style.dim(`… ${count(lines.length - index, 'more line')}`));
      return { text: shown.join('\n'), isFolded: true };
    }
    isFolded ||= plain.isCut;
    shown.push(coloured(plain.text, style));
  }
  return { text: shown.join('\n'), isFolded };
}

function plainLine(line: string, whole: boolean): { readonly text: string; readonly isCut: boolean } {
  const kept = whole ? line : cutText(line, maxLine);
  const text = withoutTabs(showControls(kept.replace(/\r$/, '')));
  const left = line.length - kept.length;
  return left === 0
    ? { text, isCut: false }
    : { text: `${text}… ${count(left, 'more character')}`, isCut: true };
}

/** Blanks up to the next stop. The first column has the sign, and does not count. */
function withoutTabs(line: string): string {
  if (!line.includes('\t')) return line;
  let [text, column] = ['', -1];
  for (const piece of line.split(/(\t)/)) {
    const blanks = piece === '\t' ? ' '.repeat(tabWidth - (column % tabWidth)) : piece;
    text += blanks;
    column += columnsOf(blanks);
  }
  return text;
}

function coloured(line: string, style: Style): string {
  if (line.startsWith('+')) return style.green(line);
  if (line.startsWith('-')) return style.red(line);
  return line.startsWith('@@') ? style.cyan(line) : line.startsWith('\\') ? style.dim(line) : line;
}
