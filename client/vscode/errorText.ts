/** The stack where there is one, which already begins with the message; else the message. */
export function formatError(error: unknown): string {
  return error instanceof Error ? error.stack || error.message : String(error);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
