/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For a log: with the stack, if there is one. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? error.stack || error.message : String(error);
}

/** The result of a function; undefined if it throws. */
export function tryNow<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
