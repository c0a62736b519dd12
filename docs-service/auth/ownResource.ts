import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import type { BaseUrl } from '../base/baseUrl.ts';

/**
 * Whether a `resource` (RFC 8707) names this service: its address or that of `/mcp`, with or without a final slash. On
 * loopback, every loopback name with any port is the same machine, so that a container's port mapping works too.
 */
export function isOwnResource(resource: string, baseUrl: BaseUrl): boolean {
  const url = URL.canParse(resource) ? new URL(resource) : undefined;
  if (url === undefined || /[?#@\s]/.test(resource)) return false;
  if (!['/', '/mcp', '/mcp/'].includes(url.pathname)) return false;
  if (url.origin === baseUrl.origin) return true;
  const { protocol } = new URL(baseUrl.origin);
  return baseUrl.isLoopback && url.protocol === protocol && isLoopbackHost(url.hostname);
}
