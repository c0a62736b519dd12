import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LruCache } from '../base/lruCache.ts';
import type { Rendition } from '../formats/renditionMaker.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import type { Authorization } from './authorization.ts';
import { whenClosed } from './connections.ts';
import { HttpProblem } from './problems.ts';

/** A strong entity tag, with its quotes, from everything that decides the bytes of an answer. */
export function createEtag(...inputs: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(String(input.length)).update('\0').update(input);
  return `"${hash.digest('base64url').slice(0, 32)}"`;
}

/**
 * Sets the validators of an answer. Returns whether the client already has it (RFC 9110, 13.1.2: weak comparison); its
 * status is 304 then. Throws HttpProblem if the client wants only other versions (13.1.1: strong comparison). Both take
 * a list or `*`. Answers are for one reader and are revalidated each time, which an entity tag makes cheap.
 */
export function revalidate({ headers }: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  const names = (header: string, ignored: RegExp | '') =>
    header.trim() === '*' || header.split(',').some((one) => one.trim().replace(ignored, '') === etag);
  const { 'if-match': wanted, 'if-none-match': known } = headers;
  if (wanted !== undefined && !names(wanted, ''))
    throw new HttpProblem(412, 'What is here has another entity tag than "If-Match" names. Read it again.');
  const isKnown = known !== undefined && names(known, /^W\//);
  if (isKnown) reply.code(304);
  return isKnown;
}

interface TextReply {
  readonly text: string;
  readonly mediaType: string;
  readonly etag?: string;
  /** Counts it as a download, if it is one. */
  readonly authorization?: Authorization;
}

/** Answers with a text, unless the client already has it. */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, mediaType, etag = createEtag(text), authorization }: TextReply,
): FastifyReply {
  if (revalidate(request, reply, etag)) return reply.send();
  authorization?.countDownload(request, reply);
  return reply.type(`${mediaType}; charset=utf-8`).serializer(String).send(text);
}

/** What a route answers with: JSON that depends on nothing but the index and the key. */
export interface LibraryAnswer {
  readonly body: object;
  /** Of a list: the number of items on all pages, and the links to other pages. */
  readonly page?: { readonly total: number; readonly link: string };
  /** The search could not be as it was asked for. The answer is not cached. */
  readonly searchMode?: string;
}

interface ReadyAnswer extends Pick<LibraryAnswer, 'page' | 'searchMode'> {
  readonly text: string;
  readonly etag: string;
}

/** In characters of all cached answers. */
const cacheSize = 16_000_000;
/** In characters. Many clients and proxies do not accept a longer field. */
const maxLinkLength = 4_096;

interface AnswerSource {
  /** The parameters, with their defaults, and whatever else the answer depends on. */
  readonly key: readonly unknown[];
  readonly make: () => Promise<LibraryAnswer>;
}

export type SendAnswer = ReturnType<typeof createAnswers>;

/** Sends answers that are cached until something in the library changes. */
export function createAnswers(index: Pick<DocumentIndex, 'generation'>) {
  const answers = new LruCache<ReadyAnswer>(cacheSize);
  let generation = index.generation;
  return async (request: FastifyRequest, reply: FastifyReply, { key, make }: AnswerSource) => {
    if (generation !== index.generation) {
      answers.clear();
      generation = index.generation;
    }
    const name = JSON.stringify([request.routeOptions.url, ...key]);
    const asked = generation;
    const known = answers.get(name);
    const answer = known ?? readyAnswer(await make());
    // If the library changed while the answer was made, the answer is sent but not cached.
    if (known === undefined && asked === index.generation && answer.searchMode === undefined)
      answers.set(name, answer, name.length + answer.text.length + (answer.page?.link.length ?? 0));
    if (answer.page !== undefined) {
      reply.header('x-total-count', answer.page.total);
      if (answer.page.link.length <= maxLinkLength) reply.header('link', answer.page.link);
    }
    if (answer.searchMode !== undefined) reply.header('search-mode', answer.searchMode);
    return sendText(request, reply, { ...answer, mediaType: 'application/json' });
  };
}

function readyAnswer({ body, ...rest }: LibraryAnswer): ReadyAnswer {
  const text = JSON.stringify(body);
  return { text, etag: createEtag(text), ...rest };
}

/** The Link header of a page (RFC 8288): absolute, with every filter kept. */
export function pageLinks(
  address: string,
  filters: Readonly<Record<string, string | undefined>>,
  { limit, offset, total }: { readonly limit: number; readonly offset: number; readonly total: number },
): string {
  const search = new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  search.set('limit', String(limit));
  const last = total === 0 ? 0 : Math.floor((total - 1) / limit) * limit;
  const links: [string, number][] = [['first', 0]];
  if (offset > 0) links.push(['prev', Math.max(0, Math.min(offset - limit, last))]);
  if (offset + limit < total) links.push(['next', offset + limit]);
  links.push(['last', last]);
  const linkTo = ([rel, at]: [string, number]) => {
    search.set('offset', String(at));
    return `<${address}?${search}>; rel="${rel}"`;
  };
  return links.map(linkTo).join(', ');
}

interface RenditionReplyOptions {
  readonly authorization: Pick<Authorization, 'countRender' | 'countDownload'>;
  /** The name of the file, if it is one to save. Then its rendering counts, and a part of it can be requested. */
  readonly fileName?: string;
  /** The page around an article. */
  readonly around?: { readonly before: string; readonly after: string };
}

/** Answers with a rendition. If the client or the cache has it already, nothing is rendered. */
export async function sendRendition(
  request: FastifyRequest,
  reply: FastifyReply,
  rendition: Rendition,
  options: RenditionReplyOptions,
): Promise<FastifyReply> {
  const { fileName, around } = options;
  if (revalidate(request, reply, rendition.etag)) return reply.send();
  const { size, part } = await openContent(request, reply, rendition, options);
  reply.type(rendition.mediaType);
  if (fileName !== undefined)
    reply.headers({ 'content-disposition': disposition(fileName), 'accept-ranges': 'bytes' });
  const range = fileName === undefined ? undefined : tryRange(request, size, rendition.etag);
  if (range !== undefined)
    reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${size}`);
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const [before, after] = [Buffer.from(around?.before ?? ''), Buffer.from(around?.after ?? '')];
  const length = before.length + (last + 1 - first) + after.length;
  const asked = part({ first, last });
  reply.header('content-length', length);
  if (asked instanceof Uint8Array && length <= writeSize)
    return reply.send(Buffer.concat([before, asked, after]));
  return reply.send(Readable.from(request.method === 'HEAD' ? [] : joined(before, asked, after)));
}

/** In bytes. What has more is read from its file while it is sent, so that slow clients need no memory. */
const readSize = 262_144;
/** In bytes. More is written piece by piece, so that the service sees whether the client takes them. */
const writeSize = 65_536;

/** The size of the bytes, and what returns a part of them. */
async function openContent(
  request: FastifyRequest,
  reply: FastifyReply,
  rendition: Rendition,
  { authorization, fileName }: RenditionReplyOptions,
) {
  const read = async () => {
    const cached = await rendition.cached();
    if (cached === undefined && fileName !== undefined) authorization.countRender(request, reply);
    return cached ?? render(request, rendition);
  };
  const isLarge = (size = 0) => size > readSize;
  const bytes = isLarge(rendition.cachedSize()) ? undefined : await read();
  if (bytes !== undefined && !isLarge(bytes.length)) return contentOf(bytes);
  authorization.countDownload(request, reply);
  const file = await rendition.openCached();
  // The cache cannot keep it, or has just deleted it.
  if (file === undefined) return contentOf(bytes ?? (await read()));
  whenClosed(reply, () => void file.close());
  return { size: (await file.stat()).size, part: (range: ByteRange) => readPieces(file, range) };
}

function contentOf(bytes: Uint8Array) {
  return { size: bytes.length, part: ({ first, last }: ByteRange) => bytes.subarray(first, last + 1) };
}

async function* readPieces(file: FileHandle, { first, last }: ByteRange): AsyncIterable<Uint8Array> {
  for (let at = first; at <= last; ) {
    const length = Math.min(readSize, last + 1 - at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) throw new Error('A file of the cache has become shorter while it was sent.');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function* joined(
  before: Uint8Array,
  part: Uint8Array | AsyncIterable<Uint8Array>,
  after: Uint8Array,
): AsyncIterable<Uint8Array> {
  yield* slices(before);
  if (part instanceof Uint8Array) yield* slices(part);
  else for await (const piece of part) yield* slices(piece);
  yield* slices(after);
}

function* slices(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += writeSize) yield bytes.subarray(at, at + writeSize);
}

/** If the client has gone, nobody reads it, so its rendering ends too. */
async function render(request: FastifyRequest, rendition: Rendition): Promise<Uint8Array> {
  const gone = new AbortController();
  const giveUp = () => gone.abort();
  request.raw.socket.once('close', giveUp);
  try {
    return await rendition.render(gone.signal);
  } finally {
    request.raw.socket.off('close', giveUp);
  }
}

function disposition(name: string): string {
  const plain = name.replace(/[^\w.-]/g, '_');
  return `inline; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}`;
}

interface ByteRange {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

/**
 * The one range that a GET asks for (RFC 9110, 14). Undefined if it asks for the whole or for several ranges, or has
 * another version. Throws HttpProblem if there is no such range.
 */
function tryRange(request: FastifyRequest, length: number, etag: string): ByteRange | undefined {
  const { range, 'if-range': ifRange } = request.headers;
  if (request.method !== 'GET' || range === undefined || (ifRange !== undefined && ifRange !== etag))
    return undefined;
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  const found =
    from === ''
      ? { first: Math.max(0, length - Number(to)), last: length - 1 }
      : { first: Number(from), last: Math.min(to === '' ? length - 1 : Number(to), length - 1) };
  if (found.first <= found.last) return found;
  throw new HttpProblem(416, `The file has ${length} bytes.`, {
    headers: { 'content-range': `bytes */${length}` },
  });
}
