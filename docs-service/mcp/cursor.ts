/** Where the next page of a list begins, as an opaque text that clients only send back. */
export function createCursor(offset: number): string {
  return Buffer.from(`offset ${offset}`).toString('base64url');
}

/** Undefined if it is not a cursor from `createCursor`. */
export function tryOffset(cursor: string): number | undefined {
  const found = /^offset (\d{1,15})$/.exec(Buffer.from(cursor.slice(0, 100), 'base64url').toString());
  return found ? Number(found[1]) : undefined;
}
