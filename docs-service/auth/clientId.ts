import { refused } from './guardedFetchError.ts';
import { isLoopbackName } from './redirectUri.ts';

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
