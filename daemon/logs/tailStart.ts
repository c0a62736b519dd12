/** How much of an existing log is shown at the start. */
export const tailBytes = 64 * 1024;
export const tailLines = 100;

const newline = 0x0a;

/**
 * The index at which the last lines begin in the end of a file. `isWhole` means that the bytes are the whole file;
 * otherwise the first line may be the rest of a line, so it is left out. Undefined if no line begins in the bytes.
 */
export function tailStart(bytes: Buffer, { isWhole }: { readonly isWhole: boolean }): number | undefined {
  const first = isWhole ? 0 : bytes.indexOf(newline) + 1;
  if (!isWhole && first === 0) return undefined;
  let start = bytes.at(-1) === newline ? bytes.length - 1 : bytes.length;
  for (let lines = 0; lines < tailLines; lines++) {
    // A search from -1 would start at the end.
    const before = start === 0 ? -1 : bytes.lastIndexOf(newline, start - 1);
    if (before < first) return first;
    start = before;
  }
  return start + 1;
}
