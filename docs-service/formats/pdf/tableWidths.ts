import { tablePadding } from './style.ts';
import type { TextWidth } from './typesetter.ts';

/** With a little more, for kerning and rounding. */
export function scaledNeed({ part, word, whole }: TextWidth, size: number): TextWidth {
  const scaled = (width: number) => width * size * 1.02 + 0.5;
  return { part: scaled(part), word: scaled(word), whole: scaled(whole) };
}

/** The smallest letters of a table, in points. */
export const smallest = 8;

/**
 * The columns that stand side by side: all of them, or the first one with as many others as fit without cutting words
 * at the smallest size. So each group can be read on its own. Groups have about the same number of columns.
 * @param needs at a font size of 1
 * @param width of the page, in points
 */
export function groupsOf(needs: readonly TextWidth[], width: number): number[][] {
  const padding = 2 * tablePadding.x;
  // The first and the last column have no padding at their outer side.
  const room = width + padding + 0.1;
  const widths = needs.map((need) => {
    const least = Math.max(narrowest, scaledNeed(need, smallest).part + padding);
    return Math.min(least, room / alwaysWhole);
  });
  const fits = (columns: readonly number[]) => sum(columns.map((column) => widths[column] ?? 0)) <= room;
  const all = [...needs.keys()];
  if (fits(all)) return [all];
  const groups: number[][] = [];
  for (const column of all.slice(1)) {
    const last = groups.at(-1);
    if (last && fits([...last, column])) last.push(column);
    else groups.push([0, column]);
  }
  const size = Math.ceil((needs.length - 1) / groups.length);
  const even = groups.map((_, at) => [0, ...all.slice(1 + at * size, 1 + (at + 1) * size)]);
  return even.every((group) => group.length > 1 && fits(group)) ? even : groups;
}

/** The least width of a column, with its padding. */
const narrowest = 38;
/** A table of so many columns stays whole, and its longest words are cut. */
const alwaysWhole = 6;

/**
 * Widths for the columns of a table, which together take at most the room. A table that fits keeps its widths, and is
 * stretched if it nearly fills the room. Otherwise each column gets what its longest word needs, or its longest part if
 * words take too much, and the rest goes to the columns with the most text.
 */
export function columnWidths(needs: readonly TextWidth[], room: number): number[] {
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

/** Narrow columns keep their width, and the widest are cut to one width. */
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

/**
 * Shares the rest in proportion to the square root of what each column still needs, so that long ones do not take it
 * all.
 */
function grown(needs: readonly TextWidth[], least: readonly number[], room: number): number[] {
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
