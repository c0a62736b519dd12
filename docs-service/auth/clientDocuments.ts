import type { OAuthClient } from './oauthClient.ts';

/** The clients that say what they are in a document at the address that is their identifier. */
export interface ClientDocuments {
  /** Throws OutsideError, with a sentence for the page that a person sees. */
  find(clientId: string): Promise<OAuthClient>;
}

export interface ClientDocumentsOptions {
  readonly fetch: (address: URL) => Promise<unknown>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The service is for this machine alone, so clients on it need no document. */
  readonly isLoopback: boolean;
}

export function createClientDocuments(_options: ClientDocumentsOptions): ClientDocuments {
  return { find: (id) => Promise.reject(new Error(`not yet: ${id}`)) };
}
