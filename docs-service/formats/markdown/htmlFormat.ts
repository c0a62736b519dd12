import type { ContentPlaces } from '../../content/contentPlaces.ts';
import type { Document, Tag } from '../../content/document.ts';
import { type HtmlJob, type RenderedDocument, tryTarget } from '../renderJob.ts';
import { articleStyle } from './articleStyle.ts';
import { createReferences, pictureName, readAsset, type ShownPicture } from './assets.ts';
import { codeColouringOf } from './codeColouring.ts';
import { markdownToHtml, placesOf } from './html.ts';
import { type Heading, type MarkdownDocument, parseTitled, startsWithTitle } from './markdown.ts';
import { dateElement, escapeXml, htmlLanguage, languageOf, visibleText } from './xmlText.ts';

/**
 * A document as HTML. Its pictures are `data:` addresses inside it, so a page needs no further request, and no picture
 * has an address that would need authorization.
 */
export async function createHtml(job: HtmlJob): Promise<RenderedDocument> {
  const { targets, document, form, root } = job;
  const markdown = parseTitled(document);
  const pictures = createDataPictures(job);
  const references = createReferences({
    path: document.path,
    places: placesOf(markdown),
    documentAddress: (path, fragment) => tryTarget(targets, path, fragment),
    picture: pictures.show,
    onForeignPicture: (href) =>
      pictures.note(`A picture from another site is left out: ${href.slice(0, 200)}`),
  });
  const colouring = await codeColouringOf([document.body]);
  const parts = partsOf(document, markdown, markdownToHtml(markdown, { references, colouring }));
  const html =
    form === 'page'
      ? htmlPage(document, articleHtml(document, parts))
      : articleHtml(document, parts, { root, hasFormats: form === 'article' });
  return { bytes: new TextEncoder().encode(html), notes: [...pictures.notes] };
}

/** A page that is complete without the service: it loads nothing, and runs nothing. */
function htmlPage({ title, slug, lang, authors, description }: Document, body: string): string {
  const meta = (name: string, content: string) =>
    `<meta name="${name}" content="${escapeXml(visibleText(content))}">\n`;
  return `<!doctype html>
<html lang="${languageOf(lang)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(visibleText(title) || slug)}</title>
${authors.map((author) => meta('author', author)).join('')}${description === null ? '' : meta('description', description)}<style>${articleStyle}
body { padding: clamp(1.5rem, 5vw, 4rem) 1.25rem; }
article { margin: 0 auto; }
</style>
</head>
<body>
${body}</body>
</html>
`;
}

function createDataPictures(places: ContentPlaces) {
  const notes = new Set<string>();
  let space = maxBytes;
  const note = (message: string) => {
    if (notes.size < maxNotes) notes.add(message);
    return undefined;
  };
  /** A picture that is shown twice counts twice, because the page contains it twice. */
  const show = (source: string): ShownPicture | undefined => {
    const asset = readAsset(places, source);
    if (asset.kind === 'problem') return note(asset.message);
    const { bytes, type, width, height } = asset;
    if (bytes.length > space)
      return note(
        `The picture ${pictureName(source)} is left out, because all pictures of the page together have more than 20 MB.`,
      );
    space -= bytes.length;
    const data = Buffer.from(bytes).toString('base64');
    return { src: `data:image/${type === 'svg' ? 'svg+xml' : type};base64,${data}`, width, height };
  };
  return { notes, note, show };
}

const maxBytes = 20_000_000;
const maxNotes = 100;

/**
 * A document for a browser: its title, its metadata, and its text. On a reading page, tags and formats are links, and a
 * long text has a table of contents.
 * @param reading what is before the addresses of the reading pages, and whether there are a PDF and a Markdown
 */
function articleHtml(
  document: Document,
  { title, text, headings }: ReturnType<typeof partsOf>,
  reading?: { readonly root: string; readonly hasFormats: boolean },
) {
  const header = [
    title,
    reading ? about(document) : '',
    byline(document),
    reading ? terms(document, reading.root) : '',
    reading?.hasFormats ? formats(document, reading.root) : '',
  ];
  return `<article ${htmlLanguage(document.lang)}>
<header>
${header.join('')}</header>
${reading ? contents(headings) : ''}<div class="text">
${text}</div>
</article>
`;
}

/** If the text begins with a first-level heading, that is its title; otherwise the title comes from its metadata. */
function partsOf(document: Document, markdown: MarkdownDocument, html: string) {
  const scrolling = html
    // Without a mouse, a reader scrolls the focused element. No text looks like a tag, because it is escaped.
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<div class="table">', '<div class="table" tabindex="0" role="group" aria-label="Table">');
  const end = startsWithTitle(markdown) ? scrolling.indexOf(headingEnd) + headingEnd.length : 0;
  const title =
    end > 0
      ? scrolling.slice(0, end)
      : `<h1>${escapeXml(visibleText(document.title) || document.slug)}</h1>\n`;
  return { title, text: scrolling.slice(end), headings: markdown.headings.slice(end > 0 ? 1 : 0) };
}

const headingEnd = '</h1>\n';

function about({ description }: Document): string {
  const text = visibleText(description ?? '');
  return text === '' ? '' : `<p class="about">${escapeXml(text)}</p>\n`;
}

function byline({ draft, date, updated, authors }: Document): string {
  const parts = [
    draft ? '<span class="badge" lang="en">Draft</span>' : '',
    authors.map((author) => `<bdi>${escapeXml(visibleText(author))}</bdi>`).join(', '),
    date === null ? '' : dateElement(date),
    updated === null || updated === date
      ? ''
      : `<span lang="en" dir="ltr">updated ${dateElement(updated)}</span>`,
  ].filter(Boolean);
  return parts.length === 0 ? '' : `<p class="byline">${parts.join(' · ')}</p>\n`;
}

function terms({ type, tags }: Document, root: string): string {
  const items = [
    ...(type === null ? [] : [chip(`${root}/read?type=`, { slug: type, title: type })]),
    ...tags.map((tag) => chip(`${root}/read?tag=`, tag)),
  ];
  return items.length === 0
    ? ''
    : `<ul class="chips" aria-label="Type and tags">${items.map((item) => `<li>${item}</li>`).join('')}</ul>\n`;
}

function chip(address: string, { slug, title }: Tag): string {
  const text = escapeXml(visibleText(title) || slug);
  return `<a class="chip" href="${address}${encodeURIComponent(slug)}"><bdi>${text}</bdi></a>`;
}

function formats({ slug }: Document, root: string): string {
  const address = `${root}/read/${encodeURIComponent(slug)}`;
  return `<ul class="formats" lang="en" aria-label="Other formats"><li><a href="${address}.pdf">PDF</a></li><li><a href="${address}.md">Markdown</a></li></ul>\n`;
}

function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth, text }) => depth <= 3 && text !== '').slice(0, maxEntries);
  if (shown.length < fewestEntries) return '';
  const top = Math.min(...shown.map(({ depth }) => depth));
  const items = shown.map(
    ({ depth, text, id }) =>
      `<li${depth > top ? ' class="deep"' : ''}><a href="#${escapeXml(id)}">${escapeXml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="Contents" tabindex="0"><details><summary lang="en">Contents</summary>
<ol>
${items.join('\n')}
</ol></details></nav>
`;
}

const fewestEntries = 4;
const maxEntries = 300;
