import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import { UsageError } from './options.ts';

/** The address that readers use, and its parts. */
export interface BaseUrl {
  /** Without a final slash: `https://docs.example.org`. */
  readonly origin: string;
  /** As in the Host header: with the port, unless it is the default of the scheme. */
  readonly host: string;
  /** The service is only for this machine, so http and any port are fine. */
  readonly isLoopback: boolean;
}

/** Throws UsageError for an address with a path, or one that is neither https nor on loopback. */
export function parseBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--base-url must be an address such as https://docs.example.org, not "${text}".`);
  if (url.pathname !== '/' || /[?#]/.test(text) || url.username !== '' || url.password !== '')
    throw new UsageError(
      `--base-url must not have a path, a query or a user name: write "${url.protocol}//${url.host}".`,
    );
  const isLoopback = isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !isLoopback)
    throw new UsageError(
      `--base-url must begin with https:// if others can reach it. Put a proxy with a certificate in front, and write "https://${url.host}".`,
    );
  return { origin: url.origin, host: url.host, isLoopback };
}

const maxPort = 65_535;

/** The host name of a Host header, in lower case and without its port; undefined if the header is invalid. */
export function tryHostname(header: string): string | undefined {
  const [, hostname, port] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(header) ?? [];
  return Number(port ?? 0) > maxPort ? undefined : hostname?.toLowerCase();
}
