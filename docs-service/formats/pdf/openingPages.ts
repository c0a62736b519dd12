import type { Document } from '../../content/document.ts';
import type { Direction } from '../markdown/xmlText.ts';
import type { PlacedHeading } from './bookmarks.ts';
import { directionOfDocument, inOrder, isolated } from './directions.ts';
import { type LayoutScope, ruleNode } from './layout.ts';
import { directedText, type TextLook } from './paragraphs.ts';
import { type Mark, textPiece } from './pieces.ts';
import { colors, plainLayout, sizes, textHeight } from './style.ts';
import type { Typesetter } from './typesetter.ts';

/** What a title block shows: of a document, or of a collection. */
export type TitledText = Pick<
  Document,
  'title' | 'description' | 'authors' | 'date' | 'updated' | 'lang' | 'type' | 'tags'
>;

/** Title, description, authors and dates, type and tags over a rule. */
export function titleNodes(
  document: TitledText,
  type: Typesetter,
  place: Record<string, unknown> = {},
): Record<string, unknown>[] {
  const direction = directionOfDocument(document);
  const text = (content: string, look: TextLook, mark: Mark = {}) => {
    const setting = { type, width: type.textWidth, look };
    return { ...directedText([textPiece(content, mark)], setting, direction), ...look };
  };
  const { title, description } = document;
  const byline = [document.authors.join(', '), ...dateWords(document).map(isolated)];
  const terms = [document.type ?? '', ...document.tags.map((tag) => tag.title)];
  const small = { fontSize: 9, color: colors.faint };
  const line = (parts: readonly string[], above: number) => {
    const shown = parts.filter(Boolean).join('  ·  ');
    return shown === '' ? [] : [{ ...text(shown, small), margin: [0, above, 0, 0] }];
  };
  return [
    { ...text(title, { fontSize: 25 }, { bold: true }), lineHeight: 1.06, ...place },
    ...(description
      ? [{ ...text(description, { fontSize: 12, color: colors.quiet }), margin: [0, 7, 0, 0] }]
      : []),
    ...line(byline, 9),
    ...line(terms, 3),
    { ...ruleNode(type.textWidth, 0.8), margin: [0, 13, 0, 16] },
  ];
}

/** The cover picture from the front matter, above the title, which stays on the same page. */
export function coverNodes(
  { cover }: Pick<Document, 'cover'>,
  { pictures, type }: Pick<LayoutScope, 'pictures' | 'type'>,
): Record<string, unknown>[] {
  const box = { width: type.textWidth, height: textHeight * coverShare };
  const picture = cover === null ? undefined : pictures.placeFile(cover, box);
  if (!picture) return [];
  const { node, width, height } = picture;
  return [{ ...node, width, height, margin: [0, 0, 0, 20] }];
}

const coverShare = 0.45;

/** The date, and the date of the last change if it is another day, in the style of the document's language. */
function dateWords({ date, updated, lang }: TitledText): string[] {
  const [first, last] = [date, updated].map((text) => (text === null ? '' : dayInWords(text, lang)));
  if (!last || last === first) return first ? [first] : [];
  return first ? [first, `updated ${last}`] : [last];
}

function dayInWords(text: string, lang: string | null): string {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  if (!year || !month || !day || Number.isNaN(new Date(text).getTime())) return text.slice(0, 10);
  const time = Date.UTC(year, month - 1, day);
  try {
    return new Intl.DateTimeFormat(lang ?? 'en', { dateStyle: 'long', timeZone: 'UTC' }).format(time);
  } catch {
    // This Node does not know the language.
    return new Date(time).toISOString().slice(0, 10);
  }
}

/**
 * The table of contents, with page numbers, if there is enough to list.
 * @param isBook whether the contents have pages of their own
 */
export function contentsNodes(
  headings: readonly PlacedHeading[],
  about: Pick<Document, 'title' | 'lang'>,
  type: Typesetter,
  isBook = false,
): Record<string, unknown>[] {
  const listed = listedHeadings(headings, isBook ? maxDocuments : maxEntries);
  if (listed.length < (isBook ? 1 : 4)) return [];
  const direction = directionOfDocument(about);
  const top = Math.min(...listed.map(({ depth }) => depth));
  const rows = listed.map((heading) => entryRow(heading, heading.depth - top, type, direction));
  const side = direction === 'rtl' ? { alignment: 'right' } : {};
  const table = {
    widths: inOrder([type.textWidth - numberWidth, numberWidth], direction),
    body: rows.map((row) => inOrder(row, direction)),
  };
  return [
    ...(isBook ? [{ text: '', pageBreak: 'after' }] : []),
    { text: 'Contents', bold: true, fontSize: 11.5, margin: [0, 22, 0, 6], ...side },
    { table, layout: plainLayout },
    { text: '', margin: [0, 0, 0, 18] },
  ];
}

const maxEntries = 400;
/** A collection lists each of its documents, of which its file can name so many. */
const maxDocuments = 5000;
const numberWidth = 34;

/** Two levels of headings, or one if the list would get too long. */
function listedHeadings(headings: readonly PlacedHeading[], most: number): PlacedHeading[] {
  const top = headings.reduce((least, { depth }) => Math.min(least, depth), 6);
  const upTo = (depth: number) => headings.filter((heading) => heading.depth <= depth && heading.text);
  const two = upTo(top + 1);
  return two.length <= 60 ? two : upTo(top).length >= 4 ? upTo(top).slice(0, most) : two.slice(0, most);
}

function entryRow(
  heading: PlacedHeading,
  level: number,
  type: Typesetter,
  direction: Direction,
): Record<string, unknown>[] {
  const isTop = level === 0;
  const above = isTop ? 4 : 1.5;
  const [indent, gap] = [level * 14, 12];
  const [left, right] = inOrder([indent, gap], direction);
  const width = type.textWidth - numberWidth - indent - gap;
  const entry = textPiece(heading.text.slice(0, 300), { destination: heading.name });
  const { text } = directedText([entry], { type, width, look });
  const runs = text.map((run) => ({ ...run, color: isTop ? colors.text : colors.quiet }));
  return [
    {
      ...look,
      ...(direction === 'rtl' ? { alignment: 'right' } : {}),
      ...{ text: runs, margin: [left, above, right, 0] },
    },
    {
      ...look,
      pageReference: heading.name,
      alignment: direction === 'rtl' ? 'left' : 'right',
      color: colors.quiet,
      margin: [0, above, 0, 0],
    },
  ];
}

const look = { fontSize: sizes.body } as const;
