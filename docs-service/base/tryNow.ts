/** The result of a function; undefined if it throws. */
export function tryNow<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
