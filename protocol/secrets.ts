/**
 * One line on the descriptor of `runnerd --secrets-fd N`, newline-delimited JSON. A later line for an origin
 * replaces an earlier one. A secret goes to its origin and no other, and never over plain http except to loopback.
 */
export interface SecretLine {
  /** Scheme, host and port, such as `https://models.example.org:8443`. */
  readonly origin: string;
  /** Sent as `Authorization: Bearer …`; `null` forgets it. */
  readonly secret: string | null;
  /** Further headers for this origin. */
  readonly headers?: Readonly<Record<string, string>>;
}
