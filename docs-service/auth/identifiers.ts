import { isIP } from 'node:net';
import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import { UsageError } from '../base/options.ts';
import { refused } from './authErrors.ts';
import { isLoopbackName } from './clientStore.ts';

/** Whether the text can be a `client_id` at all. */
export function isClientId(id: string): boolean {
  return /^[!-~]{1,1024}$/.test(id);
}

/** Other identifiers were issued here, by a registration. */
export function isDocumentAddress(id: string): boolean {
  return /^https?:\/\//i.test(id);
}

/** In characters. */
const maxIdLength = 1_024;

/**
 * Reads an identifier by the rules of IndieAuth (3.3) and of the draft "OAuth Client ID Metadata Document" (3). Throws
 * GuardedFetchError. Identifiers are compared letter by letter, so one that could also be written differently is
 * refused. From an address on this machine, which is a loopback one, nothing is fetched.
 */
export function parseClientId(text: string): { readonly url: URL; readonly isLoopback: boolean } {
  if (text.length > maxIdLength)
    throw refused(`The identifier of a client has at most ${maxIdLength} characters.`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw refused(
      'This client is not known here, and its identifier is not the address of a document about it.',
    );
  if (url.hash !== '' || text.includes('#') || url.username !== '' || url.password !== '')
    throw refused('The identifier of a client must not have a fragment, a user name or a password.');
  if (url.href !== text) throw refused(`The identifier of the client must be written as "${url.href}".`);
  if (isLoopbackName(url.hostname)) return { url, isLoopback: true };
  if (url.protocol === 'http:') throw refused('The identifier of a client must begin with https://.');
  return { url, isLoopback: false };
}

/** A profile URL from a flag, in the form in which profile URLs are compared. Throws UsageError. */
export function parseProfileUrl(flag: string, text: string): string {
  const url = tryProfileUrl(text);
  if (url !== undefined) return url;
  throw new UsageError(
    `--${flag} must be the address of the person's own page, such as https://example.org/, without a port, a user name or a fragment, not "${text}".`,
  );
}

/**
 * By the rules of IndieAuth, 3.2; undefined if it is not a profile URL. An address on this machine may have a port,
 * because the owner of a service that runs there has no other.
 */
export function tryProfileUrl(text: string): string | undefined {
  if (text.length > maxLength || !/^https?:\/\/[^\s\\#@]+$/i.test(text) || hasDotSegment(text))
    return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname.endsWith('.')) return undefined;
  if (isLoopbackHost(url.hostname)) return url.href;
  const isAddress = url.hostname.startsWith('[') || isIP(url.hostname) !== 0;
  return isAddress || url.port !== '' ? undefined : url.href;
}

/** In characters. */
const maxLength = 2_048;

/** Parsers silently remove such segments, so that two different texts would name one person. */
function hasDotSegment(text: string): boolean {
  const [path = ''] = text.split('?', 1);
  return path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
}
