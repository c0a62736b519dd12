import type { FastifyRequest } from 'fastify';
import { HttpProblem } from './problem.ts';

export interface ByteRange {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

/**
 * The one range that a GET asks for (RFC 9110, 14). Undefined if it asks for the whole or for several ranges, or has
 * another version. Throws HttpProblem if there is no such range.
 */
export function tryRange(request: FastifyRequest, length: number, etag: string): ByteRange | undefined {
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
