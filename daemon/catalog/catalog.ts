import type { RunnerTimeouts } from '../../protocol/initialize.ts';
import type { CatalogResult } from '../../protocol/models.ts';
import { RunnerError } from '../errors.ts';
import type { Log } from '../log.ts';
import { createSharedWork } from '../sharedWork.ts';
import { createCatalogClient } from './catalogClient.ts';
import { cloudModelOf, matching, toEntries } from './catalogEntry.ts';
import { notAnAddress } from './catalogFailure.ts';
import { createCatalogStore, type Listing, type ListingKey } from './catalogStore.ts';

/** A listing younger than this many ms is not asked for again. */
const freshFor = 60 * 60 * 1_000;
/** Milliseconds for a whole exchange with a catalog. */
const defaultDeadline = 15_000;

/**
 * The two public catalogs: the library, which is a web page, and the cloud models, which are JSON. A request is one
 * of two fixed addresses and nothing else; queries and installed models stay here. A catalog that cannot be had is
 * answered by the last known listing, `stale` and however old. Failures are `RunnerError`s; an abort is thrown as it is.
 */
export interface Catalog {
  library(query: CatalogQuery, signal: AbortSignal): Promise<CatalogResult>;
  cloud(query: CatalogQuery, signal: AbortSignal): Promise<CatalogResult>;
  close(): Promise<void>;
}

export interface CatalogQuery {
  /** Words that must all occur in an entry's name, description or capabilities. */
  readonly query?: string;
  /** True asks the catalog even when a fresh listing is known. */
  readonly refresh?: boolean;
  /** Names of the installed models, for `installed`. */
  readonly installed: readonly string[];
}

export interface CatalogOptions {
  /** As they are now. `catalogUrl` is a base address, maybe with a path prefix. */
  readonly settings: () => {
    readonly catalogUrl: string;
    readonly cacheDir?: string;
    readonly timeouts: RunnerTimeouts;
  };
  /** Authorization and further headers for an address, and for no other. */
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Log;
  /** Milliseconds for a whole exchange; default 15,000. */
  readonly deadline?: number;
}

export function createCatalog(options: CatalogOptions): Catalog {
  const { settings, headersFor, now, log, deadline = defaultDeadline } = options;
  const store = createCatalogStore(log);
  const shared = createSharedWork<Listing>();
  const client = createCatalogClient({ timeouts: () => settings().timeouts, headersFor, deadline });

  const isFresh = ({ fetchedAt }: Listing) => fetchedAt <= now() && now() - fetchedAt < freshFor;

  const fetchListing = async (key: ListingKey, signal: AbortSignal): Promise<Listing> => {
    const listing = { models: await client.fetch(key, signal), fetchedAt: now() };
    await store.write(key, listing, settings().cacheDir);
    return listing;
  };

  const currentListing = async (key: ListingKey, refresh: boolean, signal: AbortSignal) => {
    const known = await store.read(key, settings().cacheDir);
    signal.throwIfAborted();
    if (known && !refresh && isFresh(known)) return known;
    try {
      return await shared.join(`${key.kind} ${key.base}`, (own) => fetchListing(key, own), {
        signal,
      });
    } catch (error) {
      if (!known || signal.aborted || !(error instanceof RunnerError)) throw error;
      log.info(`${error.message} The last known list is shown.`);
      return { ...known, stale: true } as const;
    }
  };

  const list = async (kind: ListingKey['kind'], query: CatalogQuery, signal: AbortSignal) => {
    signal.throwIfAborted();
    const base = baseOf(settings().catalogUrl);
    const listing = await currentListing({ kind, base }, query.refresh ?? false, signal);
    const pullName = kind === 'cloud' ? cloudModelOf : (name: string) => name;
    const models = matching(listing.models, query.query ?? '');
    return {
      entries: toEntries(models, { base, pullName, installed: query.installed }),
      fetchedAt: new Date(listing.fetchedAt).toISOString(),
      ...('stale' in listing ? { stale: listing.stale } : {}),
    };
  };

  return {
    library: (query, signal) => list('library', query, signal),
    cloud: (query, signal) => list('cloud', query, signal),
    async close() {
      shared.close();
      await client.close();
    },
  };
}

/** Without a trailing slash, and without what is no part of a base address: a password in it must not be shown. */
function baseOf(catalogUrl: string): string {
  if (!URL.canParse(catalogUrl)) throw notAnAddress();
  const { origin, pathname, protocol } = new URL(catalogUrl);
  if (!/^https?:$/.test(protocol)) throw notAnAddress();
  return origin + pathname.replace(/\/+$/, '');
}
