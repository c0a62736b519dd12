import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Rendition } from '../formats/renditions.ts';
import { tryRange } from './byteRange.ts';
import { isNotModified, setValidators } from './conditional.ts';

export interface RenditionReplyOptions {
  /** Called before something is rendered that is not in the cache. Throws where that is too much. */
  readonly countRender?: () => void;
  /** The name of the file, where it is one to keep. */
  readonly fileName?: string;
}

/** Answers with a rendition: what the client has already costs no rendering, nor does what the cache has. */
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

/** The bytes from the cache, else by rendering. */
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

/** Nobody reads the answer of a request that was given up, so its rendering ends too. */
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

/** RFC 6266, with the name in UTF-8 for those who read it and in ASCII for the others. */
function disposition(name: string): string {
  const plain = name.replace(/[^\w.-]/g, '_');
  return `inline; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}`;
}
