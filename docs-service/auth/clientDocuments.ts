import { isRecord } from '../../protocol/base/json.ts';
import { createSharedWork } from '../../protocol/base/keyedWork.ts';
import { LruCache } from '../base/lruCache.ts';
import { RateLimiter } from '../base/rateLimiter.ts';
import { busy, invalid, refused } from './authErrors.ts';
import { type OAuthClient, redirectUriProblem, tryClientName } from './clientStore.ts';
import type { GuardedFetch } from './guardedFetch.ts';
import { parseClientId } from './identifiers.ts';

/** The clients that describe themselves in a document at the address that identifies them. */
export type ClientDocuments = ReturnType<typeof createClientDocuments>;

/** For whom something is fetched. Fetches for strangers take nothing from the owner's limits. */
export type Requester = 'owner' | 'stranger';

/** The least and the most milliseconds for which a document is cached, whatever its headers say. */
const bounds = { min: 5 * 60_000, max: 24 * 3_600_000 };
const capacity = 1_000;
/** How often the owner, or all strangers together, can make this service ask one host in a minute. */
const perMinute = 20;

/**
 * Failures are not cached (the draft forbids it), so whoever repairs a document can try again at once.
 * @param isLoopback whether the service is only for this machine, so that clients on it need no document
 */
export function createClientDocuments(
  fetch: Readonly<Record<Requester, GuardedFetch>>,
  now: () => number,
  isLoopback: boolean,
) {
  const known = new LruCache<{ readonly client: OAuthClient; readonly from: number; readonly until: number }>(
    capacity,
  );
  const fetches = createSharedWork<OAuthClient>();
  const asked = new RateLimiter(perMinute, now);
  const ask = async (id: string, url: URL, requester: Requester): Promise<OAuthClient> => {
    if (!asked.take(`${requester} ${url.hostname}`).isAllowed)
      throw busy(`${url.hostname} was asked too often. Try again in a minute.`);
    const { content, cacheControl } = await fetch[requester](url);
    const client = parseClientDocument(id, content);
    const from = now();
    known.set(id, { client, from, until: from + lifetimeOf(cacheControl) });
    return client;
  };
  return {
    /** Throws GuardedFetchError, with a sentence for the page that a person sees. */
    async find(clientId: string, requester: Requester): Promise<OAuthClient> {
      const id = parseClientId(clientId);
      if (id.isLoopback) return findLocal(clientId, isLoopback);
      const entry = known.get(clientId);
      // A clock that is set back must not keep an old document alive.
      if (entry !== undefined && entry.from <= now() && now() < entry.until) return entry.client;
      return fetches.join(`${requester} ${clientId}`, () => ask(clientId, id.url, requester));
    },
  };
}

/** Nothing is fetched from it, because anything may listen there. Its redirects stay on its own origin. */
function findLocal(id: string, isLoopback: boolean): OAuthClient {
  if (isLoopback) return { id, name: null, uri: null, redirectUris: [], source: 'document' };
  throw refused('A client with an address on its own machine can only sign in to a service on that machine.');
}

/** How long a document is valid according to its Cache-Control, in milliseconds. */
function lifetimeOf(cacheControl: string): number {
  const directives = cacheControl.split(',', 50).map((text) => text.trim());
  if (directives.some((text) => /^no-(store|cache)\b/.test(text))) return bounds.min;
  const [, seconds] = directives.map((text) => /^max-age="?(\d{1,9})/.exec(text)).find(Boolean) ?? [];
  return Math.min(bounds.max, Math.max(bounds.min, Number(seconds ?? 0) * 1_000));
}

/** The number of addresses that are read from one document. */
const maxRedirects = 50;

/**
 * Reads the document at the address of a client (the draft "OAuth Client ID Metadata Document", 4.1, with the field
 * names of RFC 7591). Throws GuardedFetchError. A forbidden field makes the document invalid. A redirect address to
 * which no browser would be sent is only left out.
 */
function parseClientDocument(id: string, content: unknown): OAuthClient {
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
  if (list.length > maxRedirects)
    throw invalid(`The document of the client has more than ${maxRedirects} redirect_uris.`);
  return list
    .map((entry) => resolveRedirect(id, entry))
    .filter((uri) => redirectUriProblem(uri) === undefined);
}

/** Only a relative address is changed: the others are compared letter by letter. */
function resolveRedirect(id: string, text: string): string {
  const isRelative = !URL.canParse(text) && URL.canParse(text, id);
  return isRelative ? new URL(text, id).href : text;
}
