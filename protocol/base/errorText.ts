/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For a log: with the stack, if there is one. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? error.stack || error.message : String(error);
}
