import { escapeXml, visibleText } from '../../formats/markdown/xmlText.ts';
import type { LibraryCollection } from '../../library/libraryCollections.ts';
import type { LocatedMetadata } from '../../search/documentIndex.ts';
import { tryInstant } from '../../search/documentRecord.ts';
import { readingPath } from '../documentView.ts';
import { collectionAddress } from '../reading/documentList.ts';

export interface FeedOptions {
  readonly collection: LibraryCollection;
  /** The address of the service, without a final slash. */
  readonly href: string;
  /** The name of the library, which is the author where nobody is named. */
  readonly library: string;
  /** When documents without a date have changed, by their slugs; milliseconds since 1970. */
  readonly changed: ReadonlyMap<string, number>;
}

/** The newest. */
const maxEntries = 100;

/** What has changed in a collection, the newest first (RFC 4287). */
export function atomFeed({ collection, href, library, changed }: FeedOptions): string {
  const { definition, documents } = collection;
  const entries = documents
    .filter(({ hidden }) => !hidden)
    .map((document) => {
      const { slug, date, updated } = document;
      return { document, updated: tryInstant(updated) ?? tryInstant(date) ?? changed.get(slug) ?? 0 };
    })
    .sort((one, other) => other.updated - one.updated || (one.document.slug < other.document.slug ? -1 : 1))
    .slice(0, maxEntries);
  const page = collectionAddress({ root: href }, definition.name);
  const about = visibleText(definition.description ?? '');
  const language = definition.lang === null ? '' : ` xml:lang="${escapeXml(definition.lang)}"`;
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"${language}>
<id>${escapeXml(page)}</id>
<title>${text(definition.title, definition.name)}</title>
${about === '' ? '' : `<subtitle>${escapeXml(about)}</subtitle>\n`}<updated>${time(entries[0]?.updated ?? 0)}</updated>
<author><name>${text(definition.author ?? library, library)}</name></author>
<link rel="self" type="application/atom+xml" href="${escapeXml(`${page}/feed.atom`)}"/>
<link rel="alternate" type="text/html" href="${escapeXml(page)}"/>
${entries.map(({ document, updated }) => entry(document, { updated, href })).join('')}</feed>
`;
}

function entry(
  { slug, title, date, authors, tags, description, lang }: LocatedMetadata,
  { updated, href }: { readonly updated: number; readonly href: string },
): string {
  const address = escapeXml(readingPath({ root: href }, slug));
  const published = tryInstant(date);
  const about = visibleText(description ?? '');
  const names = authors.map(visibleText).filter(Boolean);
  return `<entry${lang === null ? '' : ` xml:lang="${escapeXml(lang)}"`}>
<id>${address}</id>
<title>${text(title, slug)}</title>
<link rel="alternate" type="text/html" href="${address}"/>
<updated>${time(updated)}</updated>
${published === undefined ? '' : `<published>${time(published)}</published>\n`}${names.map((name) => `<author><name>${escapeXml(name)}</name></author>\n`).join('')}${tags.map((tag) => `<category term="${escapeXml(tag.slug)}" label="${text(tag.title, tag.slug)}"/>\n`).join('')}${about === '' ? '' : `<summary>${escapeXml(about)}</summary>\n`}</entry>
`;
}

function text(written: string, otherwise: string): string {
  return escapeXml(visibleText(written) || otherwise);
}

function time(instant: number): string {
  return new Date(instant).toISOString();
}
