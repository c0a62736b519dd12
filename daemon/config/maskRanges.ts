/** What stands in the place of a secret. */
export const mask = '***';

export type Range = readonly [start: number, end: number];

/** The text with the mask in the place of each range. Ranges that touch or overlap are one. */
export function maskRanges(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text;
  const parts: string[] = [];
  let done = 0;
  let masked = -1;
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (start > masked) {
      parts.push(text.slice(done, start), mask);
      masked = start;
    }
    done = Math.max(done, end);
    masked = Math.max(masked, end);
  }
  return parts.join('') + text.slice(done);
}
