import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { count } from '../../../protocol/base/text.ts';
import { findCollection } from '../../library/libraryCollections.ts';
import type { PublicLibrary } from '../../library/publicLibrary.ts';
import type { DocumentIndex, LocatedMetadata } from '../../search/documentIndex.ts';
import { seesDrafts } from '../authorization.ts';
import { createEtag, revalidate } from '../conditional.ts';
import { linkAddress, readingPath } from '../documentView.ts';
import type { Services } from '../services.ts';
import { type LlmsList, type LlmsSection, llmsText } from './llmsText.ts';

/** Documents that are read from the index at once. */
const pieceSize = 500;

/** `GET /llms.txt`: what the asker may read. It is made while it is sent, so its length does not matter. */
export function createLlmsRoute(services: Services): FastifyPluginAsync {
  const { index, readPublic, authorization, owner, baseUrl, site } = services;
  // Other instances, and this one after a restart, count the changes of the library anew.
  const instance = randomUUID();
  return async (app) => {
    app.addHook('onSend', async (_request, reply) => {
      reply.header('vary', 'Authorization, Cookie, Origin');
    });
    app.get('/llms.txt', { schema: { hide: true } }, async (request, reply) =>
      send(request, reply, await listFor(request, reply)),
    );
  };

  async function listFor(request: FastifyRequest, reply: FastifyReply): Promise<Asked> {
    const isOwner = request.headers.authorization === undefined && (await owner.isSignedIn(request));
    if (isOwner) authorization.countOwnerRequest(reply);
    else if (request.headers.authorization === undefined) {
      const library = await readPublic();
      if (library.collections.length > 0) {
        authorization.countVisit(request, reply);
        return { key: stampOf(library), list: publicList(library) };
      }
    }
    if (!isOwner) await authorization.requireReader(request, reply);
    const drafts = isOwner || seesDrafts(request);
    const key = JSON.stringify([index.generation, isOwner, drafts]);
    return { key, list: await everything({ isOwner, drafts }) };
  }

  async function everything({ isOwner, drafts }: { readonly isOwner: boolean; readonly drafts: boolean }) {
    const { total } = await index.list({ drafts, limit: 1, offset: 0 });
    return {
      title: site.title,
      summary: `A library of ${count(total, 'document')}.`,
      about: `Each link leads to the Markdown of a document.${isOwner ? '' : ` It needs the same token as this list. ${baseUrl.href}/docs describes every address, and \`${baseUrl.href}/mcp\` is for agents.`}`,
      sections: sectionsOf(index, drafts),
      addressOf: (slug: string) =>
        isOwner ? `${readingPath({ root: baseUrl.href }, slug)}.md` : linkAddress(baseUrl, slug, 'markdown'),
    };
  }

  function publicList({ collections, documents }: PublicLibrary): LlmsList {
    return {
      title: site.title,
      summary: `The public part of a library: ${count(documents.length, 'document')}.`,
      about: 'Each link leads to a page with the text of a document.',
      sections: openSections(collections),
      addressOf: (slug) => readingPath({ root: baseUrl.href }, slug),
    };
  }

  function send(request: FastifyRequest, reply: FastifyReply, { key, list }: Asked): FastifyReply {
    const etag = createEtag(instance, key);
    if (revalidate(request, reply.type('text/plain; charset=utf-8'), etag)) return reply.send();
    if (request.method === 'HEAD') return reply.send(Readable.from([]));
    authorization.countDownload(request, reply);
    return reply.send(Readable.from(llmsText(list)));
  }
}

interface Asked {
  /** What the list depends on. */
  readonly key: string;
  readonly list: LlmsList;
}

/** It stays the same when something else changes, so that strangers do not see when that is. */
function stampOf({ collections, documents }: PublicLibrary): string {
  return JSON.stringify([
    collections.map(({ definition, documents }) => [definition.title, documents.map(({ slug }) => slug)]),
    documents.map(({ slug, title, description }) => [slug, title, description]),
  ]);
}

/** The collections in the order of their names, and then what is in none of them. */
async function* sectionsOf(index: DocumentIndex, drafts: boolean): AsyncIterable<LlmsSection> {
  const definitions = await index.collections();
  for (const { name } of definitions) {
    const collection = await findCollection(index, name);
    if (collection === undefined) continue;
    yield { title: collection.definition.title, documents: piecesOf(collection.documents) };
  }
  const title = definitions.length === 0 ? 'Documents' : 'Other documents';
  yield { title, documents: allDocuments(index, drafts) };
}

async function* openSections(collections: PublicLibrary['collections']): AsyncIterable<LlmsSection> {
  for (const { definition, documents } of collections)
    yield { title: definition.title, documents: piecesOf(documents) };
}

async function* piecesOf(documents: readonly LocatedMetadata[]) {
  for (let at = 0; at < documents.length; at += pieceSize) yield documents.slice(at, at + pieceSize);
}

async function* allDocuments(index: DocumentIndex, drafts: boolean) {
  for (let offset = 0; ; offset += pieceSize) {
    const { items } = await index.list({ drafts, limit: pieceSize, offset });
    if (items.length === 0) return;
    yield items;
  }
}
