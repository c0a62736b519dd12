import type { AccessDatabase } from './accessDatabase.ts';
import { type ClientStore, createClientStore } from './clientStore.ts';
import { createOwnerStore, type OwnerStore } from './ownerStore.ts';
import { createSignInStore, type SignInStore } from './signInStore.ts';
import { createTokenStore, type TokenStore } from './tokenStore.ts';

/** Everything about who may read, in one database. */
export interface AccessStores {
  readonly tokens: TokenStore;
  readonly signIns: SignInStore;
  readonly clients: ClientStore;
  readonly owners: OwnerStore;
  close(): Promise<void>;
}

export function createAccessStores(database: AccessDatabase): AccessStores {
  return {
    tokens: createTokenStore(database),
    signIns: createSignInStore(database),
    clients: createClientStore(database),
    owners: createOwnerStore(database),
    close: () => database.close(),
  };
}
