import type { ClientDocuments, Requester } from './clientDocuments.ts';
import type { ClientStore } from './clientStore.ts';
import type { OAuthClient } from './oauthClient.ts';

/** Finds a client by its `client_id`, whatever its source. */
export interface ClientFinder {
  /** Undefined for an unknown client. Rejects with OutsideError if its document cannot be used. */
  find(id: string, requester: Requester): Promise<OAuthClient | undefined>;
}

/** A client that the owner added takes precedence over its document. */
export function createClientFinder(store: ClientStore, documents: ClientDocuments): ClientFinder {
  return {
    async find(id, requester) {
      if (!isClientId(id)) return undefined;
      return (await store.find(id)) ?? (isDocumentAddress(id) ? documents.find(id, requester) : undefined);
    },
  };
}

/** Whether the text can be a `client_id` at all. */
export function isClientId(id: string): boolean {
  return /^[!-~]{1,1024}$/.test(id);
}

/** Other identifiers were issued here, by a registration. */
export function isDocumentAddress(id: string): boolean {
  return /^https?:\/\//i.test(id);
}
