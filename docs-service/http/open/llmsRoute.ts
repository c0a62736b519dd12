import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { count, cutText } from '../../../protocol/base/text.ts';
import { piecesOf } from '../../base/database.ts';
import type { DocumentMetadata } from '../../content/document.ts';
import { visibleText } from '../../formats/markdown/xmlText.ts';
import { UnrenderableError } from '../../formats/renderJob.ts';
import { openCollection } from '../../library/libraryCollections.ts';
import type { PublicLibrary } from '../../library/publicLibrary.ts';
import type { DocumentIndex } from '../../search/documentIndex.ts';
import { createEtag, revalidate } from '../answers.ts';
import { seesDrafts } from '../authorization.ts';
import { linkAddress, readingPath } from '../documentView.ts';
import type { Services } from '../services.ts';

/** Documents that are read from the index at once. */
const pieceSize = 500;

/**
 * `GET /llms.txt`: what the asker may read; and `/llms-full.txt`, with the texts. They are made while they are sent, so
 * their lengths do not matter.
 */
export async function llmsRoute(app: FastifyInstance, services: Services): Promise<void> {
  const { index, readPublic, publicSearch, authorization, owner } = services;
  // Other instances, and this one after a restart, count the changes of the library anew.
  const instance = randomUUID();
  /** The list for who asks, with a key that says what it depends on. */
  const listFor = async (request: FastifyRequest, reply: FastifyReply, hasTexts: boolean) => {
    const isOwner = request.headers.authorization === undefined && (await owner.isSignedIn(request));
    if (isOwner) authorization.countOwnerRequest(reply);
    else if (request.headers.authorization === undefined) {
      const library = await readPublic();
      if (library.collections.length > 0) {
        authorization.countVisit(request, reply);
        if (hasTexts) await publicSearch.catchUp();
        return { key: stampOf(library), list: publicList(services, library) };
      }
    }
    if (!isOwner) await authorization.requireReader(request, reply);
    const drafts = isOwner || seesDrafts(request);
    const key = JSON.stringify([index.generation, isOwner, drafts]);
    return { key, list: await everything(services, { isOwner, drafts }) };
  };
  app.addHook('onSend', async (_request, reply) => {
    reply.header('vary', 'Authorization, Cookie, Origin');
  });
  for (const [path, textFor] of [
    ['/llms.txt', llmsText],
    ['/llms-full.txt', llmsFullText],
  ] as const)
    app.get(path, async (request, reply) => {
      const { key, list } = await listFor(request, reply, textFor === llmsFullText);
      const etag = createEtag(instance, request.routeOptions.url ?? '', key);
      if (revalidate(request, reply.type('text/plain; charset=utf-8'), etag)) return reply.send();
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      authorization.countDownload(request, reply);
      return reply.send(Readable.from(textFor(list)));
    });
}

async function everything(
  { index, renditions, baseUrl, site }: Services,
  { isOwner, drafts }: { readonly isOwner: boolean; readonly drafts: boolean },
): Promise<LlmsTexts> {
  const { total } = await index.list({ drafts, limit: 1, offset: 0 });
  return {
    title: site.title,
    summary: `A library of ${count(total, 'document')}.`,
    about: `Each link leads to the Markdown of a document.${isOwner ? '' : ` It needs the same token as this list. ${baseUrl.href}/docs describes every address, and \`${baseUrl.href}/mcp\` is for agents.`}`,
    sections: sectionsOf(index, drafts),
    addressOf: (slug) =>
      isOwner ? `${readingPath({ root: baseUrl.href }, slug)}.md` : linkAddress(baseUrl, slug, 'markdown'),
    async textOf(slug) {
      const document = await index.read(slug);
      if (document === undefined || (document.draft && !drafts)) return undefined;
      try {
        const markdown = await renditions.markdown(document);
        const bytes = (await markdown.cached()) ?? (await markdown.render(new AbortController().signal));
        return new TextDecoder().decode(bytes);
      } catch (error) {
        if (error instanceof UnrenderableError) return undefined;
        throw error;
      }
    },
  };
}

function publicList(
  { publicSearch, baseUrl, site }: Services,
  { collections, documents }: PublicLibrary,
): LlmsTexts {
  return {
    title: site.title,
    summary: `The public part of a library: ${count(documents.length, 'document')}.`,
    about: 'Each link leads to a page with the text of a document.',
    sections: collections.map(({ definition, documents }) => ({
      title: definition.title,
      documents: piecesOf(documents, pieceSize),
    })),
    addressOf: (slug) => readingPath({ root: baseUrl.href }, slug),
    textOf: (slug) => publicSearch.textOf(slug),
  };
}

/** It stays the same when something else changes, so that strangers do not see when that is. */
function stampOf({ collections, documents }: PublicLibrary): string {
  return JSON.stringify([
    collections.map(({ definition, documents }) => [definition.title, documents.map(({ slug }) => slug)]),
    documents.map(({ slug, title, description, contentHash }) => [slug, title, description, contentHash]),
  ]);
}

/** The collections in the order of their names, and then what is in none of them. */
async function* sectionsOf(index: DocumentIndex, drafts: boolean): AsyncIterable<LlmsSection> {
  const definitions = await index.collections();
  for (const definition of definitions) {
    const { documents } = await openCollection(index, definition);
    yield { title: definition.title, documents: piecesOf(documents, pieceSize) };
  }
  const title = definitions.length === 0 ? 'Documents' : 'Other documents';
  yield { title, documents: allDocuments(index, drafts) };
}

async function* allDocuments(index: DocumentIndex, drafts: boolean) {
  for (let offset = 0; ; offset += pieceSize) {
    const { items } = await index.list({ drafts, limit: pieceSize, offset });
    if (items.length === 0) return;
    yield items;
  }
}

/** A list of documents for models, as llmstxt.org describes it. */
export interface LlmsList {
  readonly title: string;
  readonly summary: string;
  /** In sentences of Markdown. */
  readonly about: string;
  readonly sections: Pieces<LlmsSection>;
  readonly addressOf: (slug: string) => string;
}

/** The same with the texts of the documents. */
interface LlmsTexts extends LlmsList {
  /** In Markdown. Undefined if there is no text to show. */
  readonly textOf: (slug: string) => Promise<string | undefined>;
}

interface LlmsSection {
  readonly title: string;
  /** In pieces, so that a large library needs little memory. */
  readonly documents: Pieces<readonly DocumentMetadata[]>;
}

type Pieces<Piece> = Iterable<Piece> | AsyncIterable<Piece>;

/** In characters. A list is for choosing, and a description may have 5,000. */
const maxDescription = 300;

/** The file in pieces: a document once, in the first section that has it, and no section without documents. */
export async function* llmsText({ title, summary, about, sections, addressOf }: LlmsList) {
  yield `# ${literal(title)}\n\n> ${summary}\n\n${about}\n`;
  for await (const { heading, documents } of eachOnce(sections)) {
    const entries = documents.map((document) => `${entry(document, addressOf)}\n`).join('');
    yield (heading === undefined ? '' : `\n## ${literal(heading)}\n\n`) + entries;
  }
}

/** What no piece before has; the first of a section has its heading. */
async function* eachOnce(sections: LlmsList['sections']) {
  const listed = new Set<string>();
  for await (const { title, documents } of sections) {
    let heading: string | undefined = title;
    for await (const piece of documents) {
      const fresh = piece.filter(({ slug, hidden }) => !hidden && !listed.has(slug));
      if (fresh.length === 0) continue;
      for (const { slug } of fresh) listed.add(slug);
      yield { heading, documents: fresh };
      heading = undefined;
    }
  }
}

/** In UTF-16 units: about what the largest models read at once. */
const maxTexts = 2_000_000;

/** The documents one after another, in pieces, each once. What is beyond the limit is counted. */
async function* llmsFullText({ title, summary, sections, addressOf, textOf }: LlmsTexts) {
  yield `# ${literal(title)}\n\n> ${summary}\n`;
  let left = maxTexts;
  let more = 0;
  for await (const { documents } of eachOnce(sections))
    for (const { slug, title: name } of documents) {
      const text = left > 0 ? await textOf(slug) : '';
      if (text === undefined) continue;
      left -= text.length;
      if (left <= 0) more += 1;
      else
        yield `\n${rule}\nTitle: ${literal(name) || slug}\nAddress: ${addressOf(slug)}\n\n${text.trim()}\n`;
    }
  if (more > 0)
    yield `\n${rule}\n${count(more, 'further document')} would be too much for one file: llms.txt names all of them.\n`;
}

const rule = '-'.repeat(80);

function entry(
  { slug, title, description, draft }: DocumentMetadata,
  addressOf: LlmsList['addressOf'],
): string {
  const link = `- [${literal(title) || literal(slug)}](${addressOf(slug)})`;
  const text = visibleText(description ?? '');
  const cut = cutText(text, maxDescription);
  const about = [draft ? 'a draft' : '', literal(cut) + (cut === text ? '' : '…')].filter(Boolean);
  return about.length === 0 ? link : `${link}: ${about.join('; ')}`;
}

/** Marks of direction, which turn the text around them. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u0085\u2028\u2029\u007f-\u009f]/g;
/** What Markdown and its usual extensions may read as more than text; bare addresses become links in some readers. */
const active = /[\\`*_[\]<>&~|#$]|!(?=\[)|:(?=\/\/)|@|(?<=\bwww)\.|^[-+=](?=\s|$|[-=])|(?<=^\d{1,9})[.)]/gi;

/** Text of one line that every reader of Markdown shows as it is. */
function literal(text: string): string {
  return visibleText(text.replace(directions, ' ')).replace(active, String.raw`\$&`);
}
