import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { cutText } from '../../../protocol/base/text.ts';
import { piecesOf } from '../../base/database.ts';
import { escapeXml, visibleText } from '../../formats/markdown/xmlText.ts';
import type { LibraryCollection } from '../../library/libraryCollections.ts';
import type { PublicLibrary } from '../../library/publicLibrary.ts';
import type { LocatedMetadata } from '../../search/documentIndex.ts';
import { tryInstant } from '../../search/documentRecord.ts';
import { sendText } from '../answers.ts';
import { readingPath } from '../documentView.ts';
import { HttpProblem } from '../problems.ts';
import { collectionAddress } from '../reading/documentList.ts';
import type { Services } from '../services.ts';

/** What programs of the public web look for beside the pages. It names nothing but what is public. */
export const publicRoutes: FastifyPluginAsyncTypebox<Services> = async (app, services) => {
  const { readPublic, authorization, owner, baseUrl, site } = services;
  const { href, path } = baseUrl;
  /** Each file is made once, until the library changes. */
  const sitemaps = new WeakMap<PublicLibrary, readonly string[]>();
  const sitemapOf = (library: PublicLibrary, part = 0): string | undefined => {
    const files = sitemaps.get(library) ?? sitemapFiles(library, href);
    sitemaps.set(library, files);
    return files[part];
  };
  /** Lets the owner pass, and strangers if there is anything for them. Throws HttpProblem. */
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<PublicLibrary> => {
    const library = await readPublic();
    if (await owner.isSignedIn(request)) authorization.countOwnerRequest(reply);
    else if (library.collections.length > 0) authorization.countVisit(request, reply);
    else throw nothingHere();
    return library;
  };
  app.addHook('onSend', async (_request, reply) => {
    reply.header('vary', 'Cookie, Origin');
  });
  app.get('/sitemap.xml', { schema: { querystring: Type.Object({ part }) } }, async (request, reply) => {
    const library = await admit(request, reply);
    const text = library.collections.length > 0 ? sitemapOf(library, request.query.part) : undefined;
    if (text === undefined) throw nothingHere();
    return sendText(request, reply, { text, mediaType: 'application/xml', authorization });
  });
  app.get('/opensearch.xml', async (request, reply) => {
    await admit(request, reply);
    const mediaType = 'application/opensearchdescription+xml';
    return sendText(request, reply, { text: openSearch(site.title, href), mediaType, authorization });
  });
  // Robots look for it at the root of the host alone.
  if (path === '')
    app.get('/robots.txt', async (_request, reply) => {
      const { collections } = await readPublic();
      reply.header('cache-control', 'no-cache').type('text/plain; charset=utf-8');
      return reply.send(
        collections.length > 0 ? `${openRobots}\nSitemap: ${href}/sitemap.xml\n` : closedRobots,
      );
    });
};

const part = Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 }));

function nothingHere(): HttpProblem {
  return new HttpProblem(404, 'There is nothing here: no collection of this library is public.');
}

/** The pages that are worth finding; lists that anyone can ask for are endless. */
const openRobots = `User-agent: *
Disallow: /read?
Disallow: /sign-in
Disallow: /authorize
Disallow: /api/
Disallow: /mcp
`;

const closedRobots = `User-agent: *
Disallow: /
`;

/**
 * What a browser needs to search the library from its address bar (OpenSearch 1.1).
 * @param href the address of the service, without a final slash
 */
function openSearch(title: string, href: string): string {
  const name = visibleText(title) || 'runner-docs';
  const address = escapeXml(href);
  return `<?xml version="1.0" encoding="utf-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${escapeXml(cutText(name, maxShortName).trim())}</ShortName>
<LongName>${escapeXml(cutText(name, maxLongName).trim())}</LongName>
<Description>${escapeXml(cutText(`Search ${name}`, maxDescription))}</Description>
<Url type="text/html" template="${address}/read?q={searchTerms}"/>
<Url type="application/opensearchdescription+xml" rel="self" template="${address}/opensearch.xml"/>
<InputEncoding>UTF-8</InputEncoding>
<OutputEncoding>UTF-8</OutputEncoding>
</OpenSearchDescription>
`;
}

/** In characters, as the specification has them. */
const maxShortName = 16;
const maxLongName = 48;
const maxDescription = 1_024;

/** The most addresses that sitemaps.org allows in one file. */
const maxAddresses = 50_000;

/**
 * The public pages for search engines (sitemaps.org), and after that its parts: if there are too many pages for one
 * file, the first names the others.
 * @param href the address of the service, without a final slash
 */
export function sitemapFiles(library: PublicLibrary, href: string): readonly string[] {
  const parts = piecesOf(addressesOf(library, href), maxAddresses).map((addresses) =>
    file(
      'urlset',
      addresses.map((address) => item('url', address)),
    ),
  );
  const names = parts.map((_, at) => ({ address: `${href}/sitemap.xml?part=${at + 1}`, date: null }));
  const [only = ''] = parts;
  const first =
    parts.length === 1
      ? only
      : file(
          'sitemapindex',
          names.map((name) => item('sitemap', name)),
        );
  return [first, ...parts];
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

/** The newest. */
const maxEntries = 100;

/**
 * What has changed in a collection, the newest first (RFC 4287).
 * @param href the address of the service, without a final slash
 * @param library its name, which is the author where nobody is named
 * @param changed when documents without a date have changed, by their slugs
 */
export function atomFeed(
  collection: LibraryCollection,
  href: string,
  library: string,
  changed: ReadonlyMap<string, number>,
): string {
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
