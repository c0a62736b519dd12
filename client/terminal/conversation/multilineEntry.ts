/** Stands for a line feed in the history, so that a prompt of several lines is one entry that can be edited. */
export const lineEnd = '\u2424';
const quotes = '"""';

/** The lines in one line of the editor, which may be an entry of the history. */
export function linesOfEntry(line: string): readonly string[] {
  return line.split(lineEnd);
}

/** The entry as the history keeps it. */
export function entryOfLines(lines: readonly string[]): string {
  return joinContinued(lines).replaceAll('\n', lineEnd);
}

/** Whether more lines follow: the last one ends with a backslash, or the quotes are not closed. */
export function isOpenEntry(lines: readonly string[]): boolean {
  const text = lines.join('\n').trim();
  if (text.startsWith(quotes)) return text.length < 2 * quotes.length || !text.endsWith(quotes);
  return lines.at(-1)?.endsWith('\\') === true;
}

/** The prompt, without the backslashes and quotes that joined its lines. */
export function textOfEntry(lines: readonly string[]): string {
  const text = lines.join('\n').trim();
  if (!text.startsWith(quotes) || isOpenEntry(lines)) return joinContinued(lines);
  const quoted = text.slice(quotes.length, -quotes.length).replace(/^\n|\n$/g, '');
  // In quotes it is always a prompt. Two slashes begin a prompt with one slash.
  return quoted.trimStart().startsWith('/') ? `/${quoted.trimStart()}` : quoted;
}

function joinContinued(lines: readonly string[]): string {
  return lines.join('\n').replace(/\\\n/g, '\n');
}
