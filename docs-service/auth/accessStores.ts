import { piecesOf } from '../base/database.ts';
import type { SlugRecord, SlugRecords } from '../library/slugRegister.ts';
import type { AccessDatabase, AccessStatement } from './accessDatabase.ts';
import { createClientStore } from './clientStore.ts';
import { createOwnerStore } from './ownerStore.ts';
import { createSignInStore } from './signInStore.ts';
import { createTokenStore } from './tokenStore.ts';

/** The stores that outlive the index, in one database: who may read, and the addresses of the documents. */
export type AccessStores = ReturnType<typeof createAccessStores>;

export function createAccessStores(database: AccessDatabase) {
  return {
    tokens: createTokenStore(database),
    signIns: createSignInStore(database),
    clients: createClientStore(database),
    owners: createOwnerStore(database),
    slugs: createSlugStore(database),
    close: () => database.close(),
  };
}

/** Rows in one statement. */
const width = 100;

/** The slugs that files have, kept where they outlive the index: addresses are as lasting as tokens. */
function createSlugStore(database: AccessDatabase): SlugRecords {
  return {
    all: () => database.rows<SlugRecord>('SELECT slug, path, gone FROM docs_slugs'),
    async change(put, remove) {
      await database.batch([...piecesOf(remove, width).map(removal), ...piecesOf(put, width).map(insertion)]);
    },
  };
}

function removal(slugs: readonly string[]): AccessStatement {
  return [`DELETE FROM docs_slugs WHERE slug IN (${slugs.map(() => '?').join(', ')})`, ...slugs];
}

function insertion(records: readonly SlugRecord[]): AccessStatement {
  return [
    `INSERT INTO docs_slugs (slug, path, gone) VALUES ${records.map(() => '(?, ?, ?)').join(', ')}
     ON CONFLICT (slug) DO UPDATE SET path = excluded.path, gone = excluded.gone`,
    ...records.flatMap(({ slug, path, gone }) => [slug, path, gone]),
  ];
}
