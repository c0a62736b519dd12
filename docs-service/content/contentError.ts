/** A file that cannot be served, with a sentence for its author. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
}
