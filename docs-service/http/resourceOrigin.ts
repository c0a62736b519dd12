import type { FastifyRequest } from 'fastify';
import type { BaseUrl } from '../base/baseUrl.ts';

/**
 * The address that the client uses. It is the base URL, or on loopback the name and port of the request: clients refuse
 * a resource other than the one they asked. The Host header was checked before.
 */
export function originOf({ headers }: FastifyRequest, { origin, isLoopback }: BaseUrl): string {
  if (!isLoopback || headers.host === undefined) return origin;
  return `${new URL(origin).protocol}//${headers.host.toLowerCase()}`;
}
