import type { Document, Tag } from '../../content/document.ts';
import { htmlLanguage } from '../language.ts';
import { type Heading, type MarkdownDocument, startsWithTitle } from './markdown.ts';
import { dateElement, escapeXml, visibleText } from './xmlText.ts';

export interface Article {
  readonly document: Document;
  readonly markdown: MarkdownDocument;
  /** The text as HTML. */
  readonly html: string;
}

interface ReadingOptions {
  /** Stands before the addresses of the reading pages. */
  readonly root: string;
  /** Whether there are links to its PDF and its Markdown. */
  readonly hasFormats: boolean;
}

/**
 * A document for a browser: its title, its metadata, and its text. On a reading page, tags and formats are links, and a
 * long text has a table of contents.
 */
export function articleHtml(article: Article, reading?: ReadingOptions): string {
  const { document } = article;
  const { title, text, headings } = partsOf(article);
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
function partsOf({ document, markdown, html }: Article) {
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
