import { Parser } from 'htmlparser2';
import type { InlineContext, Mark, Piece } from './pieces.ts';

/**
 * Reads raw HTML for how text is set; of everything else, only the text stays. Markdown cuts inline HTML into a token
 * for each tag, so one reader goes over all tokens of a paragraph.
 */
export function createHtmlReader(outer: Mark, context: InlineContext) {
  const open: { readonly name: string; readonly mark: Mark }[] = [];
  let pieces: Piece[] = [];
  const mark = () => open.at(-1)?.mark ?? outer;
  const isHidden = () => open.some(({ name }) => hidden.has(name));
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (breaks.has(name))
          pieces.push({ kind: 'text', text: name === 'br' ? '\n' : '\n\n', mark: mark() });
        const image = name === 'img' && !isHidden() ? imageOf(attributes, mark()) : undefined;
        if (image) pieces.push(image);
        // What is nested too deep is set like its surroundings.
        if (!voids.has(name) && open.length < maxDepth) {
          open.push({ name, mark: { ...mark(), ...markOf(name, attributes, context) } });
        }
      },
      onclosetag(name) {
        const index = open.findLastIndex((element) => element.name === name);
        if (index >= 0) open.splice(index);
        if (name === 'td' || name === 'th') pieces.push({ kind: 'text', text: ' ', mark: mark() });
        if (breaks.has(name) && name !== 'br') pieces.push({ kind: 'text', text: '\n\n', mark: mark() });
      },
      ontext(text) {
        if (!isHidden()) pieces.push({ kind: 'text', text: text.replace(/\s+/g, ' '), mark: mark() });
      },
    },
    { recognizeSelfClosing: true },
  );
  return {
    mark,
    isHidden,
    read(raw: string): Piece[] {
      pieces = [];
      parser.write(raw);
      return pieces;
    },
  };
}

const maxDepth = 100;
const hidden = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'object', 'video', 'audio']);
const voids = new Set(['br', 'hr', 'img', 'input', 'wbr', 'source', 'meta', 'link', 'col']);
const breaks = new Set(
  'br p div section article header footer main aside figure figcaption details summary blockquote pre ul ol li dl dt dd table tr h1 h2 h3 h4 h5 h6 hr center picture'.split(
    ' ',
  ),
);

const marks: Readonly<Record<string, Mark>> = {
  b: { bold: true },
  strong: { bold: true },
  summary: { bold: true },
  th: { bold: true },
  i: { italics: true },
  em: { italics: true },
  cite: { italics: true },
  var: { italics: true },
  dfn: { italics: true },
  code: { code: true },
  kbd: { code: true },
  samp: { code: true },
  tt: { code: true },
  s: { strike: true },
  del: { strike: true },
  strike: { strike: true },
  u: { underline: true },
  ins: { underline: true },
  sub: { small: 'sub' },
  sup: { small: 'sup' },
  small: { quiet: true },
};

function markOf(name: string, attributes: Record<string, string>, context: InlineContext): Mark {
  if (/^h[1-6]$/.test(name)) return { bold: true };
  if (name === 'a' && attributes['href']) return context.linkOf(attributes['href']);
  return Object.hasOwn(marks, name) ? (marks[name] ?? {}) : {};
}

function imageOf({ src, alt, width }: Record<string, string>, mark: Mark): Piece | undefined {
  if (!src) return undefined;
  const pixels = /^\d{1,5}(px)?$/.test(width ?? '') ? Number.parseInt(width ?? '', 10) : 0;
  return { kind: 'image', source: src, alt: alt ?? '', mark, ...(pixels > 0 ? { width: pixels } : {}) };
}
