import { tryClientName } from './clientName.ts';
import type { OAuthClient } from './oauthClient.ts';
import { OutsideError } from './outsideError.ts';
import { redirectUriProblem } from './redirectUri.ts';

/** The number of addresses that are read from one document. */
const mostRedirects = 50;

/**
 * Reads the document at the address of a client (the draft "OAuth Client ID Metadata Document", 4.1, with the field
 * names of RFC 7591). Throws OutsideError. A forbidden field makes the document invalid. A redirect address to which no
 * browser would be sent is only left out.
 */
export function parseClientDocument(id: string, content: unknown): OAuthClient {
  if (!isRecord(content)) throw invalid('The document of the client is not a JSON object.');
  if (content['client_id'] !== id)
    throw invalid('The document at the address of the client is about another client.');
  checkAuthentication(content);
  return {
    id,
    name: tryClientName(content['client_name']),
    uri: tryHomePage(id, content['client_uri']),
    redirectUris: readRedirects(id, content['redirect_uris']),
    source: 'document',
  };
}

/** Anyone can read the document, so it cannot hold a secret. Keys are not supported here. */
function checkAuthentication(content: Readonly<Record<string, unknown>>): void {
  if ('client_secret' in content || 'client_secret_expires_at' in content)
    throw invalid('The document of the client contains a secret, which such a document must not have.');
  const method = content['token_endpoint_auth_method'] ?? 'none';
  if (method !== 'none')
    throw invalid(
      'The client wants to authenticate itself. Only clients without authentication are supported.',
    );
}

/**
 * IndieAuth requires the home page to be a prefix of the identifier, with a warning if only its host differs. The
 * draft, which takes precedence, requires neither. A page on another host would only lend the client a better name.
 */
function tryHomePage(id: string, text: unknown): string | null {
  if (typeof text !== 'string' || text.length > 2_048 || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isOwn = url.protocol === 'https:' && url.host === new URL(id).host && url.username === '';
  return isOwn && url.password === '' ? url.href : null;
}

function readRedirects(id: string, list: unknown): readonly string[] {
  if (list === undefined) return [];
  const isList = Array.isArray(list) && list.every((entry): entry is string => typeof entry === 'string');
  if (!isList) throw invalid('The redirect_uris in the document of the client are not a list of addresses.');
  if (list.length > mostRedirects)
    throw invalid(`The document of the client has more than ${mostRedirects} redirect_uris.`);
  return list
    .map((entry) => resolveRedirect(id, entry))
    .filter((uri) => redirectUriProblem(uri) === undefined);
}

/** Only a relative address is changed: the others are compared letter by letter. */
function resolveRedirect(id: string, text: string): string {
  const isRelative = !URL.canParse(text) && URL.canParse(text, id);
  return isRelative ? new URL(text, id).href : text;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(message: string): OutsideError {
  return new OutsideError('invalid', message);
}
