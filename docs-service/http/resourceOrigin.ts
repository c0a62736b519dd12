import type { FastifyRequest } from 'fastify';
import type { BaseUrl } from '../baseUrl.ts';

/**
 * The address at which somebody asks. It is the base URL, or on loopback the name and port that was used: clients
 * refuse a resource that is not the one that they asked. The Host header was checked before.
 */
export function originOf({ headers }: FastifyRequest, { origin, isLoopback }: BaseUrl): string {
  if (!isLoopback || headers.host === undefined) return origin;
  return `${new URL(origin).protocol}//${headers.host.toLowerCase()}`;
}
