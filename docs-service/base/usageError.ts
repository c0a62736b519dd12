/** A wrong command line, with a sentence that says what to type instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** By its name, because each bundle has a class of its own. */
export function isUsageError(error: unknown): boolean {
  return error instanceof Error && error.name === 'UsageError';
}
