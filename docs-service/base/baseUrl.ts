import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import { UsageError } from './options.ts';

/** The address that readers use, and its parts. */
export interface BaseUrl {
  /** Without a final slash: `https://docs.example.org/library`. All addresses of the service begin with it. */
  readonly href: string;
  /** What browsers send as `Origin`: `https://docs.example.org`. */
  readonly origin: string;
  /** Without a final slash: `/library`, or empty if the service has the host to itself. */
  readonly path: string;
  /** As in the Host header: with the port, unless it is the default of the scheme. */
  readonly host: string;
  /** The service is only for this machine, so http and any port are fine. */
  readonly isLoopback: boolean;
}

/** Throws UsageError for an address with a query, or one that is neither https nor on loopback. */
export function parseBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--base-url must be an address such as https://docs.example.org, not "${text}".`);
  if (/[?#]/.test(text) || url.username !== '' || url.password !== '')
    throw new UsageError(
      `--base-url must not have a query, a fragment or a user name: write "${url.origin}${url.pathname.replace(/\/$/, '')}".`,
    );
  const path = parsePath(url.pathname);
  const isLoopback = isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !isLoopback)
    throw new UsageError(
      `--base-url must begin with https:// if others can reach it. Put a proxy with a certificate in front, and write "https://${url.host}${path}".`,
    );
  return { href: url.origin + path, origin: url.origin, path, host: url.host, isLoopback };
}

/** Plain segments only, so that the path is the same wherever it is compared: in routes, in cookies, by a proxy. */
function parsePath(pathname: string): string {
  const path = pathname.replace(/\/$/, '');
  if (path.length <= maxPathLength && /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(path)) return path;
  throw new UsageError(
    `The path of --base-url may have letters, digits, "-", "_", "~" and "." between single slashes, such as /library, not "${pathname}".`,
  );
}

const maxPathLength = 200;

const maxPort = 65_535;

/** The host name of a Host header, in lower case and without its port; undefined if the header is invalid. */
export function tryHostname(header: string): string | undefined {
  const [, hostname, port] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(header) ?? [];
  return Number(port) > maxPort ? undefined : hostname?.toLowerCase();
}
