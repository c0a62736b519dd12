/**
 * Why something could not be fetched from another server. The message is a sentence for a page; it reveals nothing
 * about the network that this machine is in.
 */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError';
  readonly kind: GuardedFetchErrorKind;

  constructor(kind: GuardedFetchErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

type GuardedFetchErrorKind =
  /** Nothing is fetched from such an address; no request was made. */
  | 'refused'
  /** The server does not answer, or not in time. */
  | 'unreachable'
  /** The answer is not what was asked for. */
  | 'invalid'
  /** Too many fetches are in progress. It may work later. */
  | 'busy';
