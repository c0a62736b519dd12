/** A heading in raw HTML, such as `<h1 align="center">Fastify</h1>`, with its place in a text. */
export interface RawHeading {
  /** 1 to 6. */
  readonly depth: number;
  readonly start: number;
  readonly end: number;
  /** What is between its tags, in order. Comments, and line breaks at its ends, are left out. */
  readonly pieces: readonly RawPiece[];
}

export interface RawPiece {
  readonly kind: 'text' | 'tag' | 'break';
  readonly raw: string;
}

/** The part of a text that is examined, in UTF-16 units. */
const farthest = 65_536;
/** The longest heading, in UTF-16 units. */
const maxLength = 2_000;

/** Comments, and elements that put a heading in its place or show a picture. */
const textless =
  /^(?:\s+|<!--(?:(?!-->)[\s\S])*-->|<\/?(?:div|p|center|a|br|img|picture|source)(?:[\s/][^<>]*)?>)*/i;
const opening = /^<h([1-6])(?:\s[^<>]*)?>/i;

/** The heading with which a text of Markdown or HTML begins; at most comments and pictures are before it. */
export function tryRawHeading(text: string): RawHeading | undefined {
  const beginning = text.slice(0, farthest);
  // Four spaces of indentation would make it code.
  if (!/^(?:[ \t]*\r?\n)* {0,3}</.test(beginning)) return undefined;
  const start = textless.exec(beginning)?.[0].length ?? 0;
  const [tag, depth] = opening.exec(beginning.slice(start)) ?? [];
  if (tag === undefined) return undefined;
  const rest = beginning.slice(start + tag.length, start + tag.length + maxLength);
  const closing = /<\/h([1-6])\s*>/i.exec(rest);
  if (closing === null || closing[1] !== depth) return undefined;
  const inner = rest.slice(0, closing.index);
  // In Markdown, an empty line ends raw HTML.
  if (/\n[ \t]*\r?\n/.test(inner)) return undefined;
  const end = start + tag.length + inner.length + closing[0].length;
  return { depth: Number(depth), start, end, pieces: piecesOf(inner) };
}

/** Whether a reader sees no text of it. */
export function isTextless(html: string): boolean {
  return html.length <= farthest && textless.exec(html)?.[0] === html;
}

/** What a reader sees of the heading, with entities as they were written; if it is only a picture, its description. */
export function textOfHeading({ pieces }: RawHeading): string {
  const text = pieces.map(({ kind, raw }) => (kind === 'text' ? raw : kind === 'break' ? ' ' : '')).join('');
  return text.trim() === '' ? pieces.map(({ raw }) => descriptionIn(raw)).join(' ') : text;
}

function piecesOf(inner: string): readonly RawPiece[] {
  const pieces = inner
    .replace(/<!--[\s\S]*?-->/g, '')
    .split(/(<\/?[a-z][^<>]*>)/i)
    .map((raw, at): RawPiece => ({ kind: at % 2 === 0 ? 'text' : kindOf(raw), raw }));
  const isShown = ({ kind, raw }: RawPiece) => kind === 'tag' || (kind === 'text' && raw.trim() !== '');
  return pieces.slice(Math.max(0, pieces.findIndex(isShown)), pieces.findLastIndex(isShown) + 1);
}

function kindOf(tag: string): RawPiece['kind'] {
  return /^<br\b/i.test(tag) ? 'break' : 'tag';
}

function descriptionIn(tag: string): string {
  const [, double, single] = /^<img\s(?:[^<>]*\s)?alt=(?:"([^"]*)"|'([^']*)')/i.exec(tag) ?? [];
  return double ?? single ?? '';
}
