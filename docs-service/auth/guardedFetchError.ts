/**
 * Why something could not be fetched from another server. The message is a sentence for a page; it reveals nothing
 * about the network that this machine is in.
 */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError';
  readonly kind: 'refused' | 'unreachable' | 'invalid' | 'busy';

  constructor(kind: GuardedFetchError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Nothing is fetched from such an address; no request was made. */
export const refused = (message: string) => new GuardedFetchError('refused', message);

/** The server does not answer, or not in time. */
export const unreachable = (message: string) => new GuardedFetchError('unreachable', message);

/** The answer is not what was asked for. */
export const invalid = (message: string) => new GuardedFetchError('invalid', message);

/** Too many fetches are in progress. It may work later. */
export const busy = (message: string) => new GuardedFetchError('busy', message);
