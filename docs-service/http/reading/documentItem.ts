import type { DocumentMetadata } from '../../content/document.ts';
import { htmlLanguage } from '../../formats/language.ts';
import { dateElement } from '../../formats/markdown/dateElement.ts';
import { readingPath } from '../documentView.ts';
import { escapeHtml } from '../pages.ts';
import { libraryAddress } from './readingAddress.ts';

export interface ItemOptions {
  /** As HTML; by default the title of the document. */
  readonly title?: string;
  /** As HTML, instead of the description. */
  readonly text?: string;
  /** The search that the link of a tag preserves. */
  readonly q?: string;
  /** The collection that the reader is in. */
  readonly collection?: string;
}

/** A document in a list. */
export function documentItem(document: DocumentMetadata, options: ItemOptions = {}): string {
  const { slug, title, lang, description } = document;
  const name = options.title ?? escapeHtml(title);
  const within = options.collection === undefined ? '' : `?in=${encodeURIComponent(options.collection)}`;
  const about = description === null ? '' : `<p class="about" dir="auto">${escapeHtml(description)}</p>`;
  return `<li><h2><a href="${readingPath(slug)}${within}" ${htmlLanguage(lang)}>${name}</a></h2>
${meta(document)}${options.text ?? about}${chips(document, options.q)}</li>`;
}

function meta({ draft, date, authors }: DocumentMetadata): string {
  const parts = [
    draft ? '<span class="badge">Draft</span>' : '',
    date === null ? '' : dateElement(date),
    ...authors.slice(0, 3).map((author) => `<bdi>${escapeHtml(author)}</bdi>`),
    authors.length > 3 ? 'and others' : '',
  ].filter(Boolean);
  return parts.length === 0 ? '' : `<p class="meta">${parts.join(' · ')}</p>`;
}

function chips({ type, tags }: DocumentMetadata, q: string | undefined): string {
  const all = [
    ...(type === null ? [] : [{ address: libraryAddress({ q, type }), text: type }]),
    ...tags.map((tag) => ({ address: libraryAddress({ q, tag: tag.slug }), text: tag.title })),
  ];
  if (all.length === 0) return '';
  const items = all.map(
    ({ address, text }) =>
      `<li><a class="chip" href="${escapeHtml(address)}"><bdi>${escapeHtml(text)}</bdi></a></li>`,
  );
  return `<ul class="chips" aria-label="Type and tags">${items.join('')}</ul>`;
}
