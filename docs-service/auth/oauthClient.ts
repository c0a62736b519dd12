/** A program that asks an owner for access. */
export interface OAuthClient {
  /** The `client_id`: the address of its metadata document, or the name that its registration gave it. */
  readonly id: string;
  /** What it calls itself. Nobody has checked that. */
  readonly name: string | null;
  /** Its home page, as it says itself. */
  readonly uri: string | null;
  /** Absolute, as the client wrote them. */
  readonly redirectUris: readonly string[];
  /** How it became known: by its metadata document, by registering itself, or by `client add`. */
  readonly source: 'document' | 'registration' | 'operator';
}
