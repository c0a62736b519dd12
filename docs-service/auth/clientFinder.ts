import type { Asker, ClientDocuments } from './clientDocuments.ts';
import type { ClientStore } from './clientStore.ts';
import type { OAuthClient } from './oauthClient.ts';

/** Finds a client by its `client_id`, however it became known. */
export interface ClientFinder {
  /** Undefined for one that is unknown; rejects with OutsideError where its document cannot be used. */
  find(id: string, asker: Asker): Promise<OAuthClient | undefined>;
}

/** What the owner has added counts before what a document says. */
export function createClientFinder(store: ClientStore, documents: ClientDocuments): ClientFinder {
  return {
    async find(id, asker) {
      if (!isClientId(id)) return undefined;
      return (await store.find(id)) ?? (isDocumentAddress(id) ? documents.find(id, asker) : undefined);
    },
  };
}

/** Whether it can be one at all. */
export function isClientId(id: string): boolean {
  return /^[!-~]{1,1024}$/.test(id);
}

/** Other identifiers were given out here, by a registration. */
export function isDocumentAddress(id: string): boolean {
  return /^https?:\/\//i.test(id);
}
