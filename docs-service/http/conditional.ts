import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A strong entity tag, with its quotes, from everything that decides the bytes of an answer. */
export function createEtag(...inputs: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(String(input.length)).update('\0').update(input);
  return `"${hash.digest('base64url').slice(0, 32)}"`;
}

/** Answers are for one reader and are revalidated each time, which an entity tag makes cheap. */
export function setValidators(reply: FastifyReply, etag: string): FastifyReply {
  return reply.headers({ etag, 'cache-control': 'private, no-cache' });
}

/** Whether the client already has this answer (RFC 9110, 13.1.2: weak comparison, a list, or `*`). */
export function isNotModified(request: FastifyRequest, etag: string): boolean {
  const header = request.headers['if-none-match'];
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
