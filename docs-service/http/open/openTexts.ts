import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authorization } from '../authorization.ts';
import { createEtag, isNotModified, setValidators } from '../conditional.ts';

interface TextReply {
  readonly text: string;
  readonly mediaType: string;
  readonly authorization: Authorization;
}

/** Answers with a file that was made from the library. */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, mediaType, authorization }: TextReply,
): FastifyReply {
  const etag = createEtag(text);
  setValidators(reply, etag);
  if (isNotModified(request, etag)) return reply.code(304).send();
  reply.raw.once('close', authorization.countDownload(request));
  return reply.type(`${mediaType}; charset=utf-8`).send(text);
}
