import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import { countWarnings } from '../content/document.ts';
import type { Meaning } from '../meaning/meaning.ts';
import { createEtag, revalidate } from './answers.ts';
import { pictureHeaders } from './apiRoutes.ts';
import { readingPath } from './documentView.ts';
import { iconOf, page, pageHeaders, type Site } from './pages.ts';
import { createReferencePage } from './referencePage.ts';
import { json } from './schemas.ts';
import type { Services } from './services.ts';
import { metadataPath } from './signIn/metadataRoutes.ts';

/**
 * Public pages that show nothing from the library. If the service is the authorization server, its address identifies
 * the owner, so the front page says where clients sign in (IndieAuth, 4.1).
 */
export async function openRoutes(app: FastifyInstance, services: Services): Promise<void> {
  const { baseUrl, site, issuer, readPublic } = services;
  const isServer = issuer === baseUrl.href;
  const link = `<${baseUrl.href}${metadataPath}>; rel="indieauth-metadata"`;
  for (const path of site.root === '' ? ['/'] : ['', '/'])
    app.get(path, { prefixTrailingSlash: 'slash' }, async (_request, reply) => {
      // It identifies the owner also while the index is down.
      const { collections } = await readPublic().catch(() => ({ collections: [] }));
      const html = frontPage(site, isServer, collections.length > 0);
      return sendPage(isServer ? reply.header('link', link) : reply, html);
    });
  let reference: string | undefined;
  app.get('/docs', async (_request, reply) => {
    reference ??= createReferencePage(app.swagger(), services);
    return sendPage(reply, reference);
  });
  const icon = iconOf(site);
  const etag = createEtag(icon.bytes);
  app.get('/favicon.ico', async (request, reply) => {
    const isKnown = revalidate(request, reply.headers(pictureHeaders), etag);
    reply.header('cache-control', 'public, max-age=86400');
    return isKnown ? reply.send() : reply.type(icon.type).send(icon.bytes);
  });
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .headers({ ...pageHeaders(), 'cache-control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(html);
}

/**
 * @param isServer whether the owner signs in here
 * @param isPublic whether strangers may read anything
 */
const frontPage = (site: Site, isServer: boolean, isPublic: boolean) =>
  page({
    site,
    hasLibrary: isServer || isPublic,
    title: 'A library of documents',
    body: `<h1>A library of documents</h1>
<p class="lead">This is <code>runner-docs</code>. It serves a library to people in a browser, to programs, and to agents
that search and read.</p>
<ul class="doors">
${isServer || isPublic ? door(site, isPublic) : ''}<li><a href="${site.root}/docs">Write a program</a><p>The reference of every address: JSON, Markdown, HTML, PDF and EPUB. Reading needs a
token from the owner.</p></li>
</ul>`,
  });

const door = ({ root, hasSignIn }: Site, isPublic: boolean) =>
  `<li><a href="${root}/read">Read in the browser</a><p>${isPublic ? `Search and read what is public.${hasSignIn ? ' The owner of this library signs in for all of it.' : ''}` : owners}</p></li>
`;

const owners = `Search and read, or download documents as PDF and EPUB. For
the owner of this library, who signs in with a password.`;

/** Milliseconds after which a database counts as down: who asks for the state waits no longer. */
const patience = 4_000;

/** Undefined while the database is down. */
export async function inTime<Answer>(work: Promise<Answer>): Promise<Answer | undefined> {
  const late = wait(patience, undefined, { ref: false });
  return Promise.race([work, late]).catch(() => undefined);
}

const reason = 'The last attempt to make the index failed. The log of the service says why.';

/**
 * For the operator: whether the process runs, and whether it can answer. Neither needs a token or shows a name. Figures
 * are for those who may read, and for the machine itself: strangers would see what happens to documents that are not
 * public. Behind a proxy on the same machine, strangers come from there, too.
 */
export const statusRoutes: FastifyPluginAsyncTypebox<
  Pick<Services, 'index' | 'authorization'> & {
    /** Whether the index could not be made at the last try. */
    readonly hasFailed?: (() => boolean) | undefined;
    readonly meaning?: Meaning | undefined;
  }
> = async (app, { index, authorization, hasFailed, meaning }) => {
  app.get(
    '/healthz',
    {
      schema: {
        operationId: 'getHealth',
        tags: ['Service'],
        summary: 'Whether the process runs',
        security: [],
        response: { 200: json('Health', 'The process runs') },
      },
    },
    async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' as const }),
  );
  app.get(
    '/readyz',
    {
      schema: {
        operationId: 'getReadiness',
        tags: ['Service'],
        summary: 'Whether the library can be read',
        description:
          '503 until the first index is complete, and while the database is down. With figures for a token, and for the machine itself.',
        security: [],
        response: {
          200: json('Readiness', 'The library can be read'),
          503: json('Readiness', 'The library cannot be read yet, or not now'),
        },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const summary = await inTime(index.summary());
      const isInside = isOwnMachine(request) || (await inTime(authorization.hasReader(request))) === true;
      const figures = {
        documents: summary?.documents ?? 0,
        problems: summary?.problems.length ?? 0,
        warnings: countWarnings(summary?.warnings ?? []),
        ...meaning?.progress,
      };
      const status = summary?.isComplete ? 'ready' : 'unavailable';
      const body = isInside ? figures : { status };
      if (summary?.isComplete) return reply.send(body);
      const answer = isInside && hasFailed?.() ? { ...body, reason } : body;
      return reply.code(503).header('retry-after', '5').send(answer);
    },
  );
};

function isOwnMachine({ socket, headers }: FastifyRequest): boolean {
  const address = (socket.remoteAddress ?? '').replace('::ffff:', '');
  return isLoopbackHost(address) && !forwarding.some((name) => name in headers);
}

/** By what proxies say for whom they ask. */
const forwarding = 'forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip via'.split(' ');

type AliasRequest = FastifyRequest<{ Params: { '*': string } }>;

/** Where nothing else is, the addresses that documents had in other programs lead to them. */
export async function aliasRoute(app: FastifyInstance, services: Services): Promise<void> {
  app.get('/*', { config: { isFallback: true } }, async (request: AliasRequest, reply) => {
    const leads = await tryLeadToAlias(services, request, reply);
    return leads ? reply : reply.callNotFound();
  });
}

/**
 * Redirects to the document that has this address as an alias. False if there is none that the reader may see, which
 * looks as if there were none at all.
 */
export async function tryLeadToAlias(
  { findAlias, readPublic, owner, authorization, site }: Services,
  request: AliasRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const isOwner = await owner.isSignedIn(request);
  const find = async () => {
    const { has } = isOwner ? { has: () => true } : await readPublic();
    return findAlias(request.params['*'], ({ slug }) => has(slug));
  };
  // While the index is away, nothing is known of aliases.
  const found = await find().catch(() => undefined);
  if (found === undefined) return false;
  if (isOwner) authorization.countOwnerRequest(reply);
  else if (request.visitor === null) authorization.countVisit(request, reply);
  // Browsers would keep it, and what is public no more is closed at once.
  const headers = { 'cache-control': 'private, no-cache', vary: 'Cookie, Origin' };
  void reply.headers(headers).redirect(readingPath(site, found.slug), 308);
  return true;
}
