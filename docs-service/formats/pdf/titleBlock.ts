import type { Document } from '../../content/document.ts';
import { directionOfDocument, isolated } from './directions.ts';
import type { Mark } from './inlines.ts';
import { ruleNode } from './layout.ts';
import { directedText, type TextLook } from './paragraphs.ts';
import type { Pictures } from './pictures.ts';
import { colors, textHeight } from './style.ts';
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
  const text = (content: string, look: TextLook, mark: Mark = {}) => ({
    ...directedText(
      [{ kind: 'text', text: content, mark }],
      { type, width: type.textWidth, look },
      direction,
    ),
    ...look,
  });
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
  { pictures, type }: { readonly pictures: Pictures; readonly type: Typesetter },
): Record<string, unknown>[] {
  const box = { width: type.textWidth, height: textHeight * coverShare };
  const picture = cover === null ? undefined : pictures.placeFile(cover, box);
  if (!picture) return [];
  const { node, width, height } = picture;
  return [{ ...node, width, height, margin: [0, 0, 0, 20] }];
}

/** As a share of the page's height. */
const coverShare = 0.45;

/** The date, and the date of the last change if it is another day, in the style of the document's language. */
function dateWords({ date, updated, lang }: TitledText): string[] {
  const [first, last] = [date, updated].map((text) => (text === null ? '' : dayInWords(text, lang)));
  if (!last || last === first) return first ? [first] : [];
  return first ? [first, `updated ${last}`] : [last];
}

/** An unknown form is shown as it was written. */
function dayInWords(text: string, lang: string | null): string {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  if (!year || !month || !day || Number.isNaN(new Date(text).getTime())) return text.slice(0, 10);
  return inWords(Date.UTC(year, month - 1, day), lang);
}

function inWords(time: number, lang: string | null): string {
  try {
    return new Intl.DateTimeFormat(lang ?? 'en', { dateStyle: 'long', timeZone: 'UTC' }).format(time);
  } catch {
    // This Node does not know the language.
    return new Date(time).toISOString().slice(0, 10);
  }
}
