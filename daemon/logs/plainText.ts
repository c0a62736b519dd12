/** Escape sequences of terminals: CSI, OSC and titles, and the short ones. The line may be cut within one. */
const escapes =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?/g;

/** A line that an editor can show: without escape sequences and control characters, and with tabs as blanks. */
export function plainText(line: string): string {
  return line
    .replace(escapes, '')
    .replace(/[\t\r]/g, ' ')
    .replace(/[\x00-\x1f\x7f-\x9f]/g, '');
}
