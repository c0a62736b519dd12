import type { ModelfileDiagnostic } from '../../../protocol/messages/modelfile.ts';
import { columnsOf, cutTo } from '../screen/columns.ts';
import { showLine } from '../screen/controlCharacters.ts';
import type { Style } from '../screen/style.ts';

/** Beyond this many, they are only counted. */
const maxShown = 20;
/** What is shown of a long line before the place that is meant. */
const before = 30;
const maxWidth = 200;

export interface DiagnosticsLook {
  /** As the user named it. */
  readonly file: string;
  /** Empty where it cannot be read. */
  readonly source: string;
  readonly style: Style;
  readonly width: number;
}

/** `FILE:LINE:COLUMN: message` of each, with the line it is about, and a mark below the place. */
export function describeDiagnostics(
  diagnostics: readonly ModelfileDiagnostic[],
  look: DiagnosticsLook,
): string {
  const lines = look.source.split(/\r\n|\r|\n/);
  const shown = diagnostics
    .slice(0, maxShown)
    .flatMap((diagnostic) => [
      headOf(diagnostic, look),
      ...markedLine(diagnostic, lines[diagnostic.range.start.line], look),
    ]);
  const more = diagnostics.length - maxShown;
  return [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].map((line) => `${line}\n`).join('');
}

function headOf({ range, message, severity }: ModelfileDiagnostic, { file, style }: DiagnosticsLook): string {
  const place = `${showLine(file)}:${range.start.line + 1}:${range.start.character + 1}:`;
  return `${style.bold(place)} ${severity === 1 ? '' : style.yellow('warning: ')}${showLine(message)}`;
}

/** Nothing where the line is not known. Of a long one, what surrounds the place. */
function markedLine(
  { range: { start, end } }: ModelfileDiagnostic,
  line: string | undefined,
  { style, width: available }: DiagnosticsLook,
): readonly string[] {
  if (line === undefined || line.trim() === '') return [];
  const width = Math.max(1, Math.min(available - 1, maxWidth));
  const from = columnsOf(showBlanks(line)) <= width ? 0 : Math.max(0, start.character - before);
  const ends = end.line === start.line ? end.character : line.length;
  const indent = columnsOf(showBlanks(line.slice(from, start.character)));
  const marked = columnsOf(showBlanks(line.slice(start.character, ends)));
  const mark = `^${'~'.repeat(Math.max(0, Math.min(marked, width - indent) - 1))}`;
  return [cutTo(showBlanks(line.slice(from)), width), `${' '.repeat(indent)}${style.green(mark)}`];
}

/** Each tab is one blank, so that the mark stands below what it means. */
function showBlanks(text: string): string {
  return showLine(text.replaceAll('\t', ' '));
}
