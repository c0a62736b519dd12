import { createSharedWork } from '../../protocol/base/keyedWork.ts';
import type { CatalogEntry, CatalogParams } from '../../protocol/messages/models.ts';
import type { RunnerTimeouts } from '../../protocol/messages/settings.ts';
import { RunnerError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { familyOf, modelKey, parseModelName } from '../models/name.ts';
import type { TransportOptions } from '../runner/http/transport.ts';
import { CatalogClient, notAnAddress, notKept } from './catalogClient.ts';
import type { CatalogModel } from './catalogModel.ts';
import { CatalogStore, type Listing, type ListingKey } from './catalogStore.ts';

/** A listing younger than this is not requested again, in ms. */
const freshFor = 60 * 60 * 1_000;

export interface CatalogQuery extends Omit<CatalogParams, 'server'> {
  /** Names of the installed models, for `installed`. */
  readonly installed: readonly string[];
}

export interface CatalogOptions {
  /** The current settings. `catalogUrl` is a base address, perhaps with a path prefix. */
  readonly settings: () => {
    readonly catalogUrl: string;
    readonly cacheDir?: string;
    readonly timeouts: RunnerTimeouts;
  };
  /** Authorization and other headers for this address, and for no other. */
  readonly headersFor: TransportOptions['headersFor'];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Log;
  /** How long a whole exchange may take, in ms; default 15,000. */
  readonly deadline?: number;
}

/**
 * The two public catalogs: the library, which is a web page, and the cloud models, which are JSON. A request goes to
 * one of two fixed addresses and contains nothing else: queries and installed models stay here. If a catalog cannot be
 * fetched, the answer is the last known listing, marked `stale`, however old it is. Failures are `RunnerError`s; an
 * abort is thrown unchanged.
 */
export class Catalog {
  readonly #store: CatalogStore;
  readonly #client: CatalogClient;
  readonly #shared = createSharedWork<Listing>();

  constructor(private readonly options: CatalogOptions) {
    const { settings, headersFor, deadline, log } = options;
    this.#store = new CatalogStore(log);
    this.#client = new CatalogClient(() => settings().timeouts, headersFor, deadline);
  }

  library(query: CatalogQuery, signal: AbortSignal) {
    return this.#list('library', query, signal);
  }

  cloud(query: CatalogQuery, signal: AbortSignal) {
    return this.#list('cloud', query, signal);
  }

  async #list(kind: ListingKey['kind'], query: CatalogQuery, signal: AbortSignal) {
    signal.throwIfAborted();
    const base = baseOf(this.options.settings().catalogUrl);
    const listing = await this.#currentListing({ kind, base }, query, signal);
    const pullName = kind === 'cloud' ? cloudModelOf : (name: string) => name;
    const models = matching(listing.models, query.query ?? '');
    return {
      entries: toEntries(models, { base, pullName, installed: query.installed }),
      fetchedAt: new Date(listing.fetchedAt).toISOString(),
      ...('stale' in listing ? { stale: listing.stale } : {}),
    };
  }

  /** Settles if a catalog answers at this address. Nothing is kept of it. */
  async probe(url: string, signal: AbortSignal): Promise<void> {
    await this.#client.list({ kind: 'cloud', base: baseOf(url) }, signal);
  }

  async close(): Promise<void> {
    this.#shared.close();
    await this.#client.close();
  }

  async #currentListing(
    key: ListingKey,
    { refresh = false, cached = false }: CatalogQuery,
    signal: AbortSignal,
  ) {
    const { settings, now, log } = this.options;
    const known = await this.#store.read(key, settings().cacheDir);
    signal.throwIfAborted();
    const isFresh = known && known.fetchedAt <= now() && now() - known.fetchedAt < freshFor;
    if (isFresh && !refresh) return known;
    if (cached) {
      if (known) return { ...known, stale: true } as const;
      throw notKept(key.base);
    }
    try {
      return await this.#shared.join(`${key.kind} ${key.base}`, (own) => this.#fetchListing(key, own), {
        signal,
      });
    } catch (error) {
      if (!known || signal.aborted || !(error instanceof RunnerError)) throw error;
      log.info(`${error.message} The last known list is shown.`);
      return { ...known, stale: true } as const;
    }
  }

  async #fetchListing(key: ListingKey, signal: AbortSignal): Promise<Listing> {
    const { settings, now } = this.options;
    const listing = { models: await this.#client.list(key, signal), fetchedAt: now() };
    await this.#store.write(key, listing, settings().cacheDir);
    return listing;
  }
}

/** The base address without a trailing slash, and without all other parts: a password in it must not be shown. */
function baseOf(catalogUrl: string): string {
  if (!URL.canParse(catalogUrl)) throw notAnAddress();
  const { origin, pathname, protocol } = new URL(catalogUrl);
  if (!/^https?:$/.test(protocol)) throw notAnAddress();
  return origin + pathname.replace(/\/+$/, '');
}

/**
 * The entries for a client. Which models are installed is looked up at each call, because that changes more often than
 * a catalog.
 */
function toEntries(
  models: readonly CatalogModel[],
  {
    base,
    pullName,
    installed,
  }: { readonly base: string; readonly pullName: (name: string) => string } & Pick<CatalogQuery, 'installed'>,
): CatalogEntry[] {
  const keys = new Set(installed.map(modelKey));
  const bases = new Set(installed.map(keyWithoutTag));
  // A name with a tag is one model, whatever else has the name before it.
  const isInstalled = (name: string) =>
    splitName(name).tag === undefined ? bases.has(keyWithoutTag(name)) : keys.has(modelKey(name));
  return models.map((model) => ({
    ...model,
    model: pullName(model.name),
    url: `${base}/library/${splitName(model.name).path}`,
    family: familyOf(model.name),
    installed: isInstalled(pullName(model.name)),
  }));
}

/**
 * The models whose name, description or capabilities contain every word of the query. The search always happens here:
 * what a user looks for is never sent to a catalog.
 */
function matching(models: readonly CatalogModel[], query: string): readonly CatalogModel[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return models;
  return models.filter((model) => {
    const texts = [model.name, model.description, ...(model.capabilities ?? [])];
    const whole = texts.join('\n').toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/** The runner's own suffix for a model that it forwards to the cloud: `m:cloud`, or `m:20b-cloud` for `m:20b`. */
function cloudModelOf(name: string): string {
  const { path, tag } = splitName(name);
  if (tag === undefined) return `${path}:cloud`;
  return /(^|-)cloud$/i.test(tag) ? `${path}:${tag}` : `${path}:${tag}-cloud`;
}

function splitName(name: string): { readonly path: string; readonly tag: string | undefined } {
  const { host, namespace, model, tag } = parseModelName(name);
  return { path: [host, namespace, model].filter((part) => part !== undefined).join('/'), tag };
}

function keyWithoutTag(name: string): string {
  return modelKey(name).replace(/:[^:/]*$/, '');
}
