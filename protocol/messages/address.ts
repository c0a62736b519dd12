import { defaultHost } from './settings.ts';

const defaultPort = 11434;

/**
 * Reads the base address of a runner from what users write, by the rules of `OLLAMA_HOST`: ``, `host`, `:port`,
 * `host:port`, `[::1]:11434`, `http://h` (port 80), `https://h` (port 443), `http://h:1234/prefix`, and `ollama.com`
 * alone for its https address. Surrounding quotes and blanks are removed. `0.0.0.0` and `::` become loopback. A `/v1`
 * at its end, with which OpenAI's API is often named, is removed. Returns a URL without a trailing slash, query or
 * fragment.
 * @throws {TypeError} with a sentence, when the text is not an address, or has a user name or a password: no setting
 * keeps a secret.
 */
export function parseAddress(text: string): string {
  const trimmed = text
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  if (trimmed === '') return defaultHost;
  if (trimmed.toLowerCase() === 'ollama.com') return 'https://ollama.com';
  const url = toUrl(trimmed);
  if (url.username !== '' || url.password !== '')
    throw new TypeError(
      'it has a user name or a password; leave them out, and store "user:password" as the token of this server',
    );
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function toUrl(text: string): URL {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw new TypeError(`the scheme "${scheme}" is not http or https`);
  }
  try {
    return new URL(scheme === undefined ? withDefaults(text) : text);
  } catch (cause) {
    throw new TypeError('it is not an address such as http://127.0.0.1:11434', { cause });
  }
}

/** Without a scheme the default port applies, and an empty host is loopback. */
function withDefaults(text: string): string {
  const [, authority = '', path = ''] = /^([^/]*)(.*)$/s.exec(text) ?? [];
  const bareIpv6 =
    authority.split(':').length > 2 && !authority.startsWith('[') ? `[${authority}]` : authority;
  const host = bareIpv6.startsWith(':') ? `127.0.0.1${bareIpv6}` : bareIpv6;
  return `http://${/:\d+$/.test(host) ? host : `${host}:${defaultPort}`}${path}`;
}
