import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
import type { Log } from '../base/log.ts';
import { tryReadKept } from '../base/regularFile.ts';
import { type CatalogModel, cleanModels, maxModels } from './catalogModel.ts';

const maxFileBytes = 8 * 1024 * 1024;
/** The latest time that a `Date` can represent, in ms. */
const maxTime = 8.64e15;

/** What a catalog listed, and when. */
export interface Listing {
  /** Milliseconds since 1970. */
  readonly fetchedAt: number;
  readonly models: readonly CatalogModel[];
}

/** Identifies the catalog of a listing. */
export interface ListingKey {
  readonly kind: 'library' | 'cloud';
  /** The catalog's base address without a trailing slash. */
  readonly base: string;
}

/** The last known listings: in memory, and in a folder if there is one. Failures of the folder are never errors. */
export class CatalogStore {
  readonly #listings = new Map<string, Listing>();

  constructor(private readonly log: Log) {}

  async read(key: ListingKey, folder: string | undefined): Promise<Listing | undefined> {
    const known = this.#listings.get(idOf(key));
    if (known || folder === undefined) return known;
    const kept = await readListing(fileOf(key, folder), key);
    if (kept && !this.#listings.has(idOf(key))) this.#listings.set(idOf(key), kept);
    return this.#listings.get(idOf(key));
  }

  async write(key: ListingKey, listing: Listing, folder: string | undefined): Promise<void> {
    this.#listings.set(idOf(key), listing);
    if (folder === undefined) return;
    const text = JSON.stringify({ base: key.base, ...listing });
    await writePrivateFile(fileOf(key, folder), text).catch((error) =>
      this.log.debug(`The ${key.kind} catalog is not kept in ${folder}: ${String(error)}`),
    );
  }
}

function idOf({ kind, base }: ListingKey): string {
  return `${kind} ${base}`;
}

/** The name holds the address only as a hash, because an address may have characters that a file name must not have. */
function fileOf({ kind, base }: ListingKey, folder: string): string {
  const hash = createHash('sha256').update(base).digest('hex').slice(0, 16);
  return join(folder, `catalog-${kind}-${hash}.json`);
}

/** Anybody may have written the file, so it must pass the same checks as a catalog's answer. */
const fileSchema = z.object({
  base: z.string(),
  fetchedAt: z.number().check(z.gte(0), z.lte(maxTime)),
  models: z
    .array(
      z.object({
        name: z.string(),
        description: z.optional(z.string()),
        capabilities: z.optional(z.array(z.string())),
        sizes: z.optional(z.array(z.string())),
      }),
    )
    .check(z.maxLength(maxModels)),
});

async function readListing(file: string, { base }: ListingKey): Promise<Listing | undefined> {
  const kept = await tryReadKept(file, fileSchema, maxFileBytes);
  if (kept?.base !== base) return undefined;
  return { fetchedAt: kept.fetchedAt, models: cleanModels(kept.models) };
}
