/** The stack, which begins with the message; without a stack, the message. */
export function formatError(error: unknown): string {
  return error instanceof Error ? error.stack || error.message : String(error);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
