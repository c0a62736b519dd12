import type { SlugRecords } from '../content/slugRegister.ts';
import type { AccessDatabase } from './accessDatabase.ts';
import { type ClientStore, createClientStore } from './clientStore.ts';
import { createOwnerStore, type OwnerStore } from './ownerStore.ts';
import { createSignInStore, type SignInStore } from './signInStore.ts';
import { createSlugStore } from './slugStore.ts';
import { createTokenStore, type TokenStore } from './tokenStore.ts';

/** What lasts, in one database: who may read, and the addresses of the documents. */
export interface AccessStores {
  readonly tokens: TokenStore;
  readonly signIns: SignInStore;
  readonly clients: ClientStore;
  readonly owners: OwnerStore;
  readonly slugs: SlugRecords;
  close(): Promise<void>;
}

export function createAccessStores(database: AccessDatabase): AccessStores {
  return {
    tokens: createTokenStore(database),
    signIns: createSignInStore(database),
    clients: createClientStore(database),
    owners: createOwnerStore(database),
    slugs: createSlugStore(database),
    close: () => database.close(),
  };
}
