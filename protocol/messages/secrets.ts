/**
 * One line of the newline-delimited JSON on the descriptor of `runnerd --secrets-fd N`. A later line for an origin
 * replaces an earlier one. A secret is sent to its own origin only. Over plain http it is sent only to loopback, or to
 * a runner if `allowPlainHttp` is true.
 */
export interface SecretLine {
  /** Scheme, host and port, such as `https://models.example.org:8443`. */
  readonly origin: string;
  /**
   * Sent as `Authorization: Bearer …`, or as `Basic …` if it has the form `user:password` and the server asks for that;
   * `null` forgets it.
   */
  readonly secret: string | null;
  /** More headers for this origin. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The user has allowed that a runner at this origin gets the secret over plain http.
   * @default false
   */
  readonly allowPlainHttp?: boolean;
}
