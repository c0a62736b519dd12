/** A program that asks an owner for access. */
export interface OAuthClient {
  /** The `client_id`: the address of its metadata document, or the name that its registration gave it. */
  readonly id: string;
  /** The client's own name, which nobody has checked. */
  readonly name: string | null;
  /** Its home page, according to the client. */
  readonly uri: string | null;
  /** Absolute, as the client wrote them. */
  readonly redirectUris: readonly string[];
  /** How the service learned of it: from its metadata document, by its registration, or by `client add`. */
  readonly source: 'document' | 'registration' | 'operator';
}
