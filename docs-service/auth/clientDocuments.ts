import { LruCache } from '../base/lruCache.ts';
import { RateLimiter } from '../base/rateLimiter.ts';
import { parseClientDocument } from './clientDocument.ts';
import { parseClientId } from './clientId.ts';
import type { OAuthClient } from './oauthClient.ts';
import { OutsideError } from './outsideError.ts';
import type { OutsideFetch } from './outsideFetch.ts';

/** The clients that describe themselves in a document at the address that identifies them. */
export interface ClientDocuments {
  /** Throws OutsideError, with a sentence for the page that a person sees. */
  find(clientId: string, requester: Requester): Promise<OAuthClient>;
}

/** For whom something is fetched. Fetches for strangers take nothing from the owner's limits. */
export type Requester = 'owner' | 'stranger';

export interface ClientDocumentsOptions {
  readonly fetch: Readonly<Record<Requester, OutsideFetch>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The service is only for this machine, so clients on it need no document. */
  readonly isLoopback: boolean;
}

/** The least and the most milliseconds for which a document is cached, whatever its headers say. */
const bounds = { least: 5 * 60_000, most: 24 * 3_600_000 };
/** The number of clients in the cache. */
const capacity = 1_000;
/** How often the owner, or all strangers together, can make this service ask one host in a minute. */
const perMinute = 20;

interface Known {
  readonly client: OAuthClient;
  readonly from: number;
  readonly until: number;
}

/** Failures are not cached (the draft forbids it), so whoever repairs a document can try again at once. */
export function createClientDocuments({ fetch, now, isLoopback }: ClientDocumentsOptions): ClientDocuments {
  const known = new LruCache<Known>(capacity);
  const underWay = new Map<string, Promise<OAuthClient>>();
  const asked = new RateLimiter(perMinute, now);
  const ask = async (id: string, url: URL, requester: Requester): Promise<OAuthClient> => {
    if (!asked.take(`${requester} ${url.hostname}`).isAllowed)
      throw new OutsideError('busy', `${url.hostname} was asked too often. Try again in a minute.`);
    const { content, cacheControl } = await fetch[requester](url);
    const client = parseClientDocument(id, content);
    const from = now();
    known.set(id, { client, from, until: from + lifetimeOf(cacheControl) }, 1);
    return client;
  };
  return {
    async find(clientId, requester) {
      const id = parseClientId(clientId);
      if (id.isLoopback) return findLocal(clientId, isLoopback);
      const entry = known.get(clientId);
      // A clock that is set back must not keep an old document alive.
      if (entry !== undefined && entry.from <= now() && now() < entry.until) return entry.client;
      const key = `${requester} ${clientId}`;
      const pending = underWay.get(key);
      if (pending !== undefined) return pending;
      const own = ask(clientId, id.url, requester);
      underWay.set(key, own);
      try {
        return await own;
      } finally {
        underWay.delete(key);
      }
    },
  };
}

/** Nothing is fetched from it, because anything may listen there. Its redirects stay on its own origin. */
function findLocal(id: string, isLoopback: boolean): OAuthClient {
  if (isLoopback) return { id, name: null, uri: null, redirectUris: [], source: 'document' };
  throw new OutsideError(
    'refused',
    'A client with an address on its own machine can only sign in to a service on that machine.',
  );
}

/** How long a document is valid according to its Cache-Control, in milliseconds. */
function lifetimeOf(cacheControl: string): number {
  const directives = cacheControl.split(',', 50).map((text) => text.trim());
  if (directives.some((text) => /^no-(store|cache)\b/.test(text))) return bounds.least;
  const [, seconds] = directives.map((text) => /^max-age="?(\d{1,9})/.exec(text)).find(Boolean) ?? [];
  return Math.min(bounds.most, Math.max(bounds.least, Number(seconds ?? 0) * 1_000));
}
