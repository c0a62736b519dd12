import { createHash } from 'node:crypto';
import type { ShownLines } from './readLines.ts';

/** What the models of a daemon have read of files: of each file the lines of one version of its text. */
export type ReadRecord = ReturnType<typeof createKnownFiles>;

/** The files that were read longest ago are forgotten first. */
const maxFiles = 1_000;
/** The last line of any text. */
const end = Number.MAX_SAFE_INTEGER;

interface KnownText {
  readonly digest: string;
  /** Read so far, sorted, from 1. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

export function createKnownFiles() {
  const known = new Map<string, KnownText>();
  const set = (path: string, entry: KnownText) => {
    known.delete(path);
    known.set(path, entry);
    const [oldest] = known.keys();
    if (known.size > maxFiles && oldest !== undefined) known.delete(oldest);
  };
  const isWhole = (path: string, text: string) => {
    const entry = known.get(path);
    const [range, ...others] = entry?.digest === digestOf(text) ? entry.ranges : [];
    return range?.[0] === 1 && range[1] === end && others.length === 0;
  };
  return {
    noteRead(path: string, text: string, { first, last, count }: ShownLines): void {
      const [before, digest] = [known.get(path), digestOf(text)];
      const ranges = before?.digest === digest ? before.ranges : [];
      // The last line also brings the end of the file.
      const read = [first, last === count ? end : last] as const;
      set(path, { digest, ranges: last < first && count > 0 ? ranges : joined([...ranges, read]) });
    },
    /** Whether all of this text was read, and the file has not changed since. */
    isWhole,
    /** A change by the model itself: who knew the whole text before knows it now. */
    noteWritten(path: string, before: string | undefined, text: string, isAllWritten: boolean): void {
      if (isAllWritten || (before !== undefined && isWhole(path, before)))
        set(path, { digest: digestOf(text), ranges: [[1, end]] });
      else known.delete(path);
    },
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function joined(ranges: KnownText['ranges']): KnownText['ranges'] {
  const all: (readonly [number, number])[] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = all.at(-1);
    if (before && first <= before[1] + 1) all[all.length - 1] = [before[0], Math.max(before[1], last)];
    else all.push([first, last]);
  }
  return all;
}
