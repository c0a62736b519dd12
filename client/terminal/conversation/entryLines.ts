/** Stands in the history for the end of a line, so that a prompt of several lines is one entry that can be edited. */
const lineEnd = '\u2424';
const quotes = '"""';

/** The lines of a line of the editor, which may be an entry of the history. */
export function linesOfEntry(line: string): readonly string[] {
  return line.split(lineEnd);
}

/** As the history keeps it. */
export function entryOfLines(lines: readonly string[]): string {
  return joinContinued(lines).replaceAll('\n', lineEnd);
}

/** Whether further lines belong to it: a backslash at the end says so, or quotes that are not closed. */
export function isOpenEntry(lines: readonly string[]): boolean {
  const text = lines.join('\n').trim();
  if (text.startsWith(quotes)) return text.length < 2 * quotes.length || !text.endsWith(quotes);
  return lines.at(-1)?.endsWith('\\') === true;
}

/** What is meant: without the marks that kept it together. */
export function textOfEntry(lines: readonly string[]): string {
  const text = lines.join('\n').trim();
  if (!text.startsWith(quotes) || isOpenEntry(lines)) return joinContinued(lines);
  const quoted = text.slice(quotes.length, -quotes.length).replace(/^\n|\n$/g, '');
  // In quotes it is a prompt, whatever it begins with: two slashes begin one with a slash.
  return quoted.trimStart().startsWith('/') ? `/${quoted.trimStart()}` : quoted;
}

function joinContinued(lines: readonly string[]): string {
  return lines.join('\n').replace(/\\\n/g, '\n');
}
