/** In points. */
export interface ColumnNeed {
  /** Of the longest part that is not broken. */
  readonly part: number;
  /** Of the longest word. */
  readonly word: number;
  /** Of the longest line if none were broken. */
  readonly whole: number;
}

/**
 * Widths for the columns of a table that together take no more than the room. What fits stays as wide as it is, and
 * is drawn out to the whole room if it nearly fills it. Else each column has what its longest word needs, or the longest
 * part of a word where words take too much, and the rest goes to those with most text.
 */
export function columnWidths(needs: readonly ColumnNeed[], room: number): number[] {
  const whole = sum(needs.map((need) => need.whole));
  if (whole <= room) {
    const factor = whole > room * 0.55 ? room / whole : Math.min(1.35, room / whole);
    return needs.map((need) => need.whole * factor);
  }
  const words = needs.map((need) => Math.min(need.word, room * 0.4));
  if (sum(words) <= room * 0.85) return grown(needs, words, room);
  const parts = needs.map((need) => Math.min(need.part, room * 0.5));
  return sum(parts) >= room ? shrunk(parts, room) : grown(needs, parts, room);
}

/** Columns that ask for little keep it, and the widest are cut down to one width. */
function shrunk(least: readonly number[], room: number): number[] {
  let limit = room;
  let left = room;
  const sorted = [...least].sort((a, b) => a - b);
  for (const [index, width] of sorted.entries()) {
    limit = left / (sorted.length - index);
    if (width > limit) break;
    left -= width;
  }
  return least.map((width) => Math.min(width, limit));
}

/** The rest goes round in proportion to the root of what each column still wants, so that long ones are not alone. */
function grown(needs: readonly ColumnNeed[], least: readonly number[], room: number): number[] {
  const widths = [...least];
  for (let round = 0; round < 8; round++) {
    const left = room - sum(widths);
    if (left < 0.5) break;
    const wants = needs.map((need, index) => Math.max(0, need.whole - (widths[index] ?? 0)) ** 0.75);
    const total = sum(wants);
    if (total === 0) break;
    for (const [index, want] of wants.entries()) {
      const width = widths[index] ?? 0;
      widths[index] = Math.min(Math.max(width, needs[index]?.whole ?? 0), width + (left * want) / total);
    }
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
