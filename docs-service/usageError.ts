/** What somebody typed cannot be done as it stands, with a sentence that says what to type instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
