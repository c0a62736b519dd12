import { createHash } from 'node:crypto';
import { plainEnds } from '../../../protocol/base/text.ts';
import { linesOf } from './readLines.ts';

/** What the models of a daemon have read of files. */
export type ReadRecord = ReturnType<typeof createKnownFiles>;

/** With more files, all are forgotten, and must be read again before they are replaced. */
const maxFiles = 1_000;
/** Lines of a longer text are not counted: it is never replaced as a whole. */
const maxCharacters = 32_000;

/** Remembers of each file which lines of one version of its text were read. */
export function createKnownFiles() {
  const known = new Map<string, { readonly digest: string; readonly lines: Set<number> }>();
  const linesRead = (path: string, text: string): Set<number> => {
    const digest = createHash('sha256').update(text).digest('base64');
    const entry = known.get(path);
    if (entry?.digest === digest) return entry.lines;
    const lines = new Set<number>();
    if (known.size >= maxFiles) known.clear();
    known.set(path, { digest, lines });
    return lines;
  };
  const noteRead = (path: string, text: string, first = 1, last = Number.POSITIVE_INFINITY) => {
    if (text.length > maxCharacters) return;
    const read = linesRead(path, text);
    const end = Math.min(last, linesOf(plainEnds(text)).length);
    for (let line = first; line <= end; line += 1) read.add(line);
  };
  /** Whether all of this text was read, and the file has not changed since. */
  const isWhole = (path: string, text: string) =>
    linesRead(path, text).size === linesOf(plainEnds(text)).length;
  return {
    noteRead,
    isWhole,
    /** A change by the model itself: who knew the whole text before knows it now. */
    noteWritten(path: string, before: string | undefined, text: string, isAllWritten: boolean): void {
      if (isAllWritten || (before !== undefined && isWhole(path, before))) noteRead(path, text);
      else known.delete(path);
    },
  };
}
