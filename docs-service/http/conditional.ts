import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authorization } from './authorization.ts';
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
