import type { ClientDocuments } from './clientDocuments.ts';
import type { ClientStore } from './clientStore.ts';
import type { OAuthClient } from './oauthClient.ts';

/** Finds a client by its `client_id`, however it became known. */
export interface ClientFinder {
  /** Undefined for one that is unknown; rejects with OutsideError where its document cannot be used. */
  find(id: string): Promise<OAuthClient | undefined>;
}

/** What the owner has added counts before what a document says. */
export function createClientFinder(store: ClientStore, documents: ClientDocuments): ClientFinder {
  return {
    find: async (id) => (await store.find(id)) ?? (isDocumentAddress(id) ? documents.find(id) : undefined),
  };
}

/** Other identifiers were given out here, by a registration. */
export function isDocumentAddress(id: string): boolean {
  return /^https?:\/\//i.test(id);
}
