/** What of an old log is told at the start. */
export const tailBytes = 64 * 1024;
export const tailLines = 100;

const newline = 0x0a;

/**
 * Where the last lines begin in the end of a file. `isWhole` says that the bytes are the whole file; else the first
 * line is taken for the rest of one, and left out. Undefined where no line begins in them.
 */
export function tailStart(bytes: Buffer, { isWhole }: { readonly isWhole: boolean }): number | undefined {
  const first = isWhole ? 0 : bytes.indexOf(newline) + 1;
  if (!isWhole && first === 0) return undefined;
  let start = bytes.at(-1) === newline ? bytes.length - 1 : bytes.length;
  for (let lines = 0; lines < tailLines; lines++) {
    // A search from -1 would begin at the end.
    const before = start === 0 ? -1 : bytes.lastIndexOf(newline, start - 1);
    if (before < first) return first;
    start = before;
  }
  return start + 1;
}
