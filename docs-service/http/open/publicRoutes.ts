import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { cutText } from '../../../protocol/base/text.ts';
import { escapeXml, visibleText } from '../../formats/markdown/xmlText.ts';
import type { PublicLibrary } from '../../library/publicLibrary.ts';
import { sendText } from '../conditional.ts';
import { HttpProblem } from '../problems.ts';
import type { Services } from '../services.ts';
import { sitemap } from './sitemap.ts';

/** What programs of the public web look for beside the pages. It names nothing but what is public. */
export function createPublicRoutes(services: Services): FastifyPluginAsyncTypebox {
  const { readPublic, authorization, owner, baseUrl, site } = services;
  const { href, path } = baseUrl;
  const sitemaps = new WeakMap<PublicLibrary, Map<number, string>>();
  return async (app) => {
    app.addHook('onSend', async (_request, reply) => {
      reply.header('vary', 'Cookie, Origin');
    });
    app.get(
      '/sitemap.xml',
      { schema: { hide: true, querystring: Type.Object({ part }) } },
      async (request, reply) => {
        const library = await admit(request, reply);
        const text = library.collections.length > 0 ? sitemapOf(library, request.query.part) : undefined;
        if (text === undefined) throw nothingHere();
        return sendText(request, reply, { text, mediaType: 'application/xml', authorization });
      },
    );
    app.get('/opensearch.xml', { schema: { hide: true } }, async (request, reply) => {
      await admit(request, reply);
      const mediaType = 'application/opensearchdescription+xml';
      return sendText(request, reply, { text: openSearch(site.title, href), mediaType, authorization });
    });
    // Robots look for it at the root of the host alone.
    if (path === '')
      app.get('/robots.txt', { schema: { hide: true } }, async (_request, reply) => {
        const { collections } = await readPublic();
        reply.header('cache-control', 'no-cache').type('text/plain; charset=utf-8');
        return reply.send(
          collections.length > 0 ? `${openRobots}\nSitemap: ${href}/sitemap.xml\n` : closedRobots,
        );
      });
  };

  /** Each file is made once, until the library changes. */
  function sitemapOf(library: PublicLibrary, number = 0): string | undefined {
    const files = sitemaps.get(library) ?? new Map<number, string>();
    sitemaps.set(library, files);
    const text = files.get(number) ?? sitemap(library, href, number === 0 ? undefined : number);
    // A number that leads nowhere is not kept, because anyone can ask for any.
    if (text !== undefined) files.set(number, text);
    return text;
  }

  /** Lets the owner pass, and strangers if there is anything for them. Throws HttpProblem. */
  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<PublicLibrary> {
    const library = await readPublic();
    if (await owner.isSignedIn(request)) authorization.countOwnerRequest(reply);
    else if (library.collections.length > 0) authorization.countVisit(request, reply);
    else throw nothingHere();
    return library;
  }
}

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
export function openSearch(title: string, href: string): string {
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
