/** A database cannot be used right now. The same call may succeed later. The message is for the operator. */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError';
}
