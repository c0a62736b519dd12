import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpProblem } from './problems.ts';

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

/**
 * Whether the client already has this answer (RFC 9110, 13.1.2: weak comparison). Throws HttpProblem if it wants only
 * other versions (13.1.1: strong comparison). Both take a list or `*`.
 */
export function isNotModified({ headers }: FastifyRequest, etag: string): boolean {
  const names = (header: string, ignored: RegExp | '') =>
    header.trim() === '*' || header.split(',').some((one) => one.trim().replace(ignored, '') === etag);
  const { 'if-match': wanted, 'if-none-match': known } = headers;
  if (wanted !== undefined && !names(wanted, ''))
    throw new HttpProblem(412, 'What is here has another entity tag than "If-Match" names. Read it again.');
  return known !== undefined && names(known, /^W\//);
}
