/** Escape sequences of terminals: CSI, OSC and titles, and the short ones; also where the line was cut within one. */
const escapes =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?/g;

/** A line as an editor may show it: without escape sequences and control characters; a tab is a blank. */
export function plainText(line: string): string {
  return line
    .replace(escapes, '')
    .replace(/[\t\r]/g, ' ')
    .replace(/[\x00-\x1f\x7f-\x9f]/g, '');
}
