import type { Document } from '../../content/document.ts';
import { directionOfDocument, markedLeftToRight } from './directions.ts';
import { directedText, type TextLook } from './paragraphs.ts';
import type { Pictures } from './pictures.ts';
import type { Mark } from './pieces.ts';
import { colors, textHeight, textWidth } from './style.ts';
import type { Typesetter } from './typesetter.ts';

/** Title, description, authors and date over a rule. */
export function titleNodes(
  document: Document,
  type: Typesetter,
  id: string | undefined,
): Record<string, unknown>[] {
  const direction = directionOfDocument(document);
  const text = (content: string, look: TextLook, mark: Mark = {}) => ({
    ...directedText([{ kind: 'text', text: content, mark }], { type, width: textWidth, look }, direction),
    ...look,
  });
  const { title, description } = document;
  const date = dateLine(document);
  const byline = [document.authors.join(', '), date && markedLeftToRight(date)].filter(Boolean).join('  ·  ');
  const rule = { type: 'line', x1: 0, y1: 0, x2: textWidth, y2: 0, lineWidth: 0.8, lineColor: colors.rule };
  return [
    { ...text(title, { fontSize: 25 }, { bold: true }), lineHeight: 1.06, ...(id ? { id } : {}) },
    ...(description
      ? [{ ...text(description, { fontSize: 12, color: colors.quiet }), margin: [0, 7, 0, 0] }]
      : []),
    ...(byline ? [{ ...text(byline, { fontSize: 9, color: colors.faint }), margin: [0, 9, 0, 0] }] : []),
    { canvas: [rule], margin: [0, 13, 0, 16] },
  ];
}

/** The cover picture from the front matter, above the title, which stays on the same page. */
export function coverNodes({ cover }: Document, pictures: Pictures): Record<string, unknown>[] {
  const box = { width: textWidth, height: textHeight * coverShare };
  const picture = cover === null ? undefined : pictures.placeFile(cover, box);
  if (!picture) return [];
  const { node, width, height } = picture;
  return [{ ...node, width, height, margin: [0, 0, 0, 20] }];
}

/** As a share of the page's height. */
const coverShare = 0.45;

/** The date in the style of the document's language; the date of its last change if there is one. */
function dateLine({ date, updated, lang }: Document): string {
  const text = updated ?? date;
  const time = text ? new Date(text) : undefined;
  if (!text || !time || Number.isNaN(time.getTime())) return '';
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  if (!year || !month || !day) return text.slice(0, 10);
  return inWords(Date.UTC(year, month - 1, day), lang);
}

function inWords(time: number, lang: string | null): string {
  try {
    return new Intl.DateTimeFormat(lang ?? 'en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(time);
  } catch {
    // This Node does not know the language.
    return new Date(time).toISOString().slice(0, 10);
  }
}
