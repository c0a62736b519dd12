import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { BaseUrl } from '../base/baseUrl.ts';
import { pageParameters } from '../base/parameters.ts';
import { type LibraryCollection, openCollection } from '../library/libraryCollections.ts';
import { newestDate } from '../search/documentRecord.ts';
import { pageLinks } from './answers.ts';
import { seesDrafts } from './authorization.ts';
import { type CollectionView, documentToView } from './documentView.ts';
import { json, nameParameter, reads, usualLimit } from './schemas.ts';
import type { Services } from './services.ts';

export type Api = Parameters<FastifyPluginAsyncTypebox<Services>>[0];

/** Collections, tags and types as JSON. */
export function collectionRoutes(app: Api, services: Services): void {
  listRoute(app, services);
  detailRoute(app, services);
  termRoute(app, services, ['/tags', 'tag', 'listTags', 'List tags']);
  termRoute(app, services, ['/types', 'type', 'listTypes', 'List types']);
}

function listRoute(app: Api, { index, baseUrl, sendAnswer }: Services): void {
  const schema = {
    operationId: 'listCollections',
    tags: ['Collections'],
    summary: 'List collections',
    description: 'In the order of their names.',
    querystring: Type.Object(pageParameters({ usual: usualLimit, max: 100 })),
    response: reads(json('CollectionList', 'A page of collections'), 400),
  };
  app.get('/collections', { schema }, (request, reply) => {
    const { limit = usualLimit, offset = 0 } = request.query;
    return sendAnswer(request, reply, {
      key: [limit, offset],
      make: async () => {
        const definitions = await index.collections();
        const items: CollectionView[] = [];
        for (const definition of definitions.slice(offset, offset + limit))
          items.push(toView(await openCollection(index, definition), baseUrl));
        const total = definitions.length;
        const address = `${baseUrl.href}/api/v1/collections`;
        const link = pageLinks(address, {}, { limit, offset, total });
        return { body: { items, total, limit, offset }, page: { total, link } };
      },
    });
  });
}

function detailRoute(app: Api, { baseUrl, lookups, sendAnswer }: Services): void {
  const schema = {
    operationId: 'getCollection',
    tags: ['Collections'],
    summary: 'A collection with its documents',
    description: 'The documents are in the order of the collection, without drafts.',
    params: nameParameter,
    response: reads(json('CollectionDetail', 'The collection'), 404),
  };
  app.get('/collections/:name', { schema }, (request, reply) => {
    const { name } = request.params;
    return sendAnswer(request, reply, {
      key: [name],
      make: async () => {
        const collection = await lookups.collection(name);
        const documents = collection.documents.map((document) => documentToView(document, baseUrl));
        return { body: { ...toView(collection, baseUrl), documents } };
      },
    });
  });
}

function termRoute(
  app: Api,
  { index, sendAnswer }: Services,
  [path, kind, operationId, summary]: readonly [string, 'tag' | 'type', string, string],
): void {
  const schema = {
    operationId,
    tags: ['Tags and types'],
    summary,
    description: `All of them, the most used first. A \`slug\` is what the parameter \`${kind}\` of the list of documents takes.`,
    response: reads(json('TermList', 'All that documents have')),
  };
  app.get(path, { schema }, (request, reply) => {
    const drafts = seesDrafts(request);
    return sendAnswer(request, reply, {
      key: [drafts],
      make: async () => ({ body: { items: await index.terms(kind, { drafts }) } }),
    });
  });
}

function toView({ definition, documents }: LibraryCollection, { href }: BaseUrl): CollectionView {
  const self = `${href}/api/v1/collections/${encodeURIComponent(definition.name)}`;
  const authors = new Set(documents.flatMap((document) => document.authors));
  return {
    name: definition.name,
    title: definition.title,
    count: documents.length,
    author: definition.author ?? ([...authors].join(', ') || null),
    lang: definition.lang ?? documents[0]?.lang ?? null,
    updated: newestDate(documents),
    links: { self, epub: `${self}.epub`, pdf: `${self}.pdf` },
  };
}
