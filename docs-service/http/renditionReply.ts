import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Rendition } from '../formats/renditions.ts';
import { tryRange } from './byteRange.ts';
import { isNotModified, setValidators } from './conditional.ts';

export interface RenditionReplyOptions {
  /** Called before a rendering that is not in the cache. Throws if there were too many. */
  readonly countRender?: () => void;
  /** The name of the file, if it is one to save. */
  readonly fileName?: string;
}

/** Answers with a rendition. If the client or the cache has it already, nothing is rendered. */
export async function sendRendition(
  request: FastifyRequest,
  reply: FastifyReply,
  rendition: Rendition,
  { countRender, fileName }: RenditionReplyOptions = {},
): Promise<FastifyReply> {
  setValidators(reply, rendition.etag);
  if (isNotModified(request, rendition.etag)) return reply.code(304).send();
  const bytes = await renditionBytes(request, rendition, countRender);
  reply.type(rendition.mediaType);
  if (fileName !== undefined)
    reply.headers({ 'content-disposition': disposition(fileName), 'accept-ranges': 'bytes' });
  const range = fileName === undefined ? undefined : tryRange(request, bytes.length, rendition.etag);
  if (range === undefined) return reply.send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { first, last } = range;
  reply.code(206).header('content-range', `bytes ${first}-${last}/${bytes.length}`);
  return reply.send(Buffer.from(bytes.subarray(first, last + 1)));
}

/** The bytes from the cache, or else from a rendering. */
export async function renditionBytes(
  request: FastifyRequest,
  rendition: Rendition,
  countRender?: () => void,
): Promise<Uint8Array> {
  const cached = await rendition.cached();
  if (cached !== undefined) return cached;
  countRender?.();
  return render(request, rendition);
}

/** If the client has gone, nobody reads the answer, so its rendering ends too. */
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

/** RFC 6266: the name in UTF-8, and in ASCII for clients that need it. */
function disposition(name: string): string {
  const plain = name.replace(/[^\w.-]/g, '_');
  return `inline; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}`;
}
