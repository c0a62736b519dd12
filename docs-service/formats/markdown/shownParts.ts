import { Parser } from 'htmlparser2';
import type { Document } from '../../content/document.ts';
import { type PictureJob, type RenderedDocument, type ShownJob, UnrenderableError } from '../renderJob.ts';
import { createReferences, readAsset } from './assets.ts';
import { plainLinesOf } from './codeColouring.ts';
import { markdownToHtml, placesOf } from './html.ts';
import { parseTitled } from './markdown.ts';

/** The bytes of a picture as formats show it. */
export function createPicture({ path, ...job }: PictureJob): RenderedDocument {
  const asset = readAsset(job, path);
  if (asset.kind === 'problem') throw new UnrenderableError(asset.message);
  return { bytes: asset.bytes, notes: [] };
}

/** The paths of the pictures that a document shows, as JSON. */
export function createPictureList({ document }: ShownJob): RenderedDocument {
  return { bytes: new TextEncoder().encode(JSON.stringify([...shownPictures(document)])), notes: [] };
}

/** What is printed as a picture is shown, and nothing else: not what is only linked, or stands in code. */
export function shownPictures(document: Document): ReadonlySet<string> {
  const markdown = parseTitled(document);
  const shown = new Set(document.cover === null ? [] : [document.cover]);
  const references = createReferences({
    path: document.path,
    places: placesOf(markdown),
    documentAddress: () => undefined,
    picture(source) {
      if (!source.startsWith('data:')) shown.add(source);
      return undefined;
    },
    onForeignPicture: () => undefined,
  });
  markdownToHtml(markdown, { references, colouring: () => [] });
  return shown;
}

/**
 * What a page shows of a document to everybody, in Markdown: the text of the rendered article with its headings and its
 * code, without anything that only the source has: comments, definitions, attributes, addresses, scripts.
 */
export function createShownText({ document }: ShownJob): RenderedDocument {
  const nothing = { link: () => undefined, picture: () => undefined };
  const html = markdownToHtml(parseTitled(document), { references: nothing, colouring: plainLinesOf });
  return { bytes: new TextEncoder().encode(htmlToMarkdown(html)), notes: [] };
}

function htmlToMarkdown(html: string): string {
  const out: string[] = [];
  let code: string[] | undefined;
  const parser = new Parser(
    {
      onopentagname(name) {
        if (name === 'pre') code = [];
        if (!inline.has(name)) out.push('\n\n');
        if (/^h[1-6]$/.test(name)) out.push(`${'#'.repeat(Number(name[1]))} `);
      },
      ontext: (text) => (code ?? out).push(code ? text : text.replace(/\s+/g, ' ').replace(signs, '\\$&')),
      onclosetag(name) {
        if (name === 'pre') out.push(fenced((code ?? []).join('')));
        if (name === 'pre') code = undefined;
        out.push(inline.has(name) ? '' : '\n\n');
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return out
    .join('')
    .replace(/[ \t]*\n{2,}[ \t]*/g, '\n\n')
    .trim();
}

/** All others begin a line. */
const inline = new Set(
  'a abbr b bdi bdo cite code del dfn em i ins kbd mark q rp rt ruby s samp small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);

/** What could mean something in Markdown. */
const signs = /[\\`*_[\]<>&~|#]/g;

/** With more marks than any run in the code has. */
function fenced(code: string): string {
  const longest = Math.max(2, ...Array.from(code.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${code.replace(/\n$/, '')}\n${fence}`;
}
