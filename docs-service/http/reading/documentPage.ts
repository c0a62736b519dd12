import type { CollectionDefinition } from '../../content/collectionFile.ts';
import type { DocumentMetadata } from '../../content/document.ts';
import { readingPath } from '../documentView.ts';
import { escapeHtml, pageAround, type Site } from '../pages.ts';

/** The collection that a reader came from. */
export interface Neighbours {
  readonly definition: CollectionDefinition;
  /** The position of the document in the collection, from 1. */
  readonly place: number;
  readonly size: number;
  readonly previous: DocumentMetadata | undefined;
  readonly next: DocumentMetadata | undefined;
}

/** The HTML before and after the `<article>` of a document. */
export function documentPage(
  site: Site,
  document: DocumentMetadata,
  around: Neighbours | undefined,
): { readonly before: string; readonly after: string } {
  const { before, after } = pageAround({
    site,
    title: `${document.title} · runner-docs`,
    hasSearch: true,
    isOwners: true,
  });
  return {
    before: `${before}<div class="reader">\n${path(site, around)}`,
    after: `${around === undefined ? '' : neighbours(site, around)}</div>${after}`,
  };
}

function path(site: Site, around: Neighbours | undefined): string {
  const steps = [`<a href="${site.root}/read">Library</a>`];
  if (around !== undefined) {
    const { definition, place, size } = around;
    const address = `${site.root}/read/collections/${encodeURIComponent(definition.name)}`;
    steps.push(`<a href="${address}"><bdi>${escapeHtml(definition.title)}</bdi></a>`, `${place} of ${size}`);
  }
  return `<nav class="path" aria-label="Where this is"><p class="meta">${steps.join(' › ')}</p></nav>\n`;
}

function neighbours(site: Site, { definition, previous, next }: Neighbours): string {
  const link = (document: DocumentMetadata | undefined, rel: 'prev' | 'next', text: string) =>
    document === undefined
      ? ''
      : `<a class="${rel}" rel="${rel}" href="${readingPath(site, document.slug)}?in=${encodeURIComponent(definition.name)}"><span>${text}</span><bdi>${escapeHtml(document.title)}</bdi></a>`;
  const links = `${link(previous, 'prev', '← Previous')}${link(next, 'next', 'Next →')}`;
  return links === '' ? '' : `<nav class="around" aria-label="Within the collection">${links}</nav>\n`;
}
