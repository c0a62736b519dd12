import type { PlacedHeading } from './bookmarks.ts';
import { colors, plainLayout, sizes, textWidth } from './style.ts';
import type { Typesetter } from './typesetter.ts';

/** The table of contents, with page numbers, of a document that is long enough to need one. */
export function contentsNodes(
  headings: readonly PlacedHeading[],
  type: Typesetter,
  length: number,
): Record<string, unknown>[] {
  const listed = listedHeadings(headings);
  if (length < minLength || listed.length < 4) return [];
  const top = Math.min(...listed.map(({ depth }) => depth));
  const rows = listed.map((heading) => entryRow(heading, heading.depth - top, type));
  return [
    { text: 'Contents', bold: true, fontSize: 11.5, margin: [0, 22, 0, 6] },
    { table: { widths: [textWidth - numberWidth, numberWidth], body: rows }, layout: plainLayout },
    rows.length > 24 ? { text: '', pageBreak: 'after' } : { text: '', margin: [0, 0, 0, 18] },
  ];
}

/** In characters: about four pages. */
const minLength = 9000;
const maxEntries = 400;
const numberWidth = 34;

/** Two levels of headings, or one if the list would get too long. */
function listedHeadings(headings: readonly PlacedHeading[]): PlacedHeading[] {
  const top = headings.reduce((least, { depth }) => Math.min(least, depth), 6);
  const upTo = (depth: number) => headings.filter((heading) => heading.depth <= depth && heading.text);
  const two = upTo(top + 1);
  return two.length <= 60
    ? two
    : upTo(top).length >= 4
      ? upTo(top).slice(0, maxEntries)
      : two.slice(0, maxEntries);
}

function entryRow(heading: PlacedHeading, level: number, type: Typesetter): Record<string, unknown>[] {
  const strong = level === 0;
  const mark = { destination: heading.name } as const;
  const look = { fontSize: sizes.body, margin: [0, strong ? 4 : 1.5, 0, 0] };
  const runs = type
    .runs([{ kind: 'text', text: heading.text.slice(0, 300), mark }], sizes.body)
    .map((run) => ({ ...run, color: strong ? colors.text : colors.quiet }));
  return [
    { ...look, text: runs, margin: [level * 14, look.margin[1], 12, 0] },
    { ...look, pageReference: heading.name, alignment: 'right', color: colors.quiet },
  ];
}
