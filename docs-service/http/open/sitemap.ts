import { escapeXml } from '../../formats/markdown/xmlText.ts';
import type { PublicLibrary } from '../../library/publicLibrary.ts';
import { tryInstant } from '../../search/documentRecord.ts';
import { readingPath } from '../documentView.ts';
import { collectionAddress } from '../reading/documentList.ts';

/** The most addresses that sitemaps.org allows in one file. */
const maxAddresses = 50_000;

/**
 * The public pages for search engines (sitemaps.org). If there are too many for a file, it names parts.
 * Undefined if there is no such part.
 * @param href the address of the service, without a final slash
 * @param part counted from 1; the whole, or the list of parts, if it is left out
 */
export function sitemap(library: PublicLibrary, href: string, part?: number): string | undefined {
  const all = addressesOf(library, href);
  const parts = Math.ceil(all.length / maxAddresses);
  if (part === undefined && parts > 1)
    return file(
      'sitemapindex',
      Array.from({ length: parts }, (_, at) =>
        item('sitemap', { address: `${href}/sitemap.xml?part=${at + 1}`, date: null }),
      ),
    );
  const first = ((part ?? 1) - 1) * maxAddresses;
  if (first >= all.length) return undefined;
  const shown = all.slice(first, first + maxAddresses);
  return file(
    'urlset',
    shown.map((address) => item('url', address)),
  );
}

interface Address {
  readonly address: string;
  readonly date: string | null;
}

function addressesOf({ collections, documents }: PublicLibrary, href: string): readonly Address[] {
  return [
    { address: `${href}/read`, date: null },
    ...collections.map(({ definition }) => ({
      address: collectionAddress({ root: href }, definition.name),
      date: null,
    })),
    ...documents.map(({ slug, date, updated }) => ({
      address: readingPath({ root: href }, slug),
      date: updated ?? date,
    })),
  ];
}

function file(name: string, items: readonly string[]): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<${name} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${items.join('\n')}
</${name}>
`;
}

function item(name: string, { address, date }: Address): string {
  const instant = tryInstant(date);
  const modified = instant === undefined ? '' : `<lastmod>${new Date(instant).toISOString()}</lastmod>`;
  return `<${name}><loc>${escapeXml(address)}</loc>${modified}</${name}>`;
}
