/**
 * Why something that others serve could not be had. The message is a sentence for a page; it says nothing of the
 * network that this machine is in.
 */
export class OutsideError extends Error {
  override readonly name = 'OutsideError';
  readonly kind: OutsideErrorKind;

  constructor(kind: OutsideErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type OutsideErrorKind =
  /** The address is none that anything is fetched from; nothing was asked. */
  | 'refused'
  /** It does not answer, or not in time. */
  | 'unreachable'
  /** What it answers is not what was asked for. */
  | 'invalid'
  /** Too much is being fetched already. Later it may work. */
  | 'busy';
