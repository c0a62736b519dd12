/** A database cannot be used right now. The same call may succeed later. The message is for the operator. */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError';
}

/** SQLite or PostgreSQL, which run the same statements; `?` stands for a value. */
export interface StatementDatabase<Value> {
  /** The rows that the statement returns. */
  rows<Row>(statement: string, ...values: readonly Value[]): Promise<readonly Row[]>;
  /** Runs all of the statements or none. */
  batch(statements: readonly (readonly [statement: string, ...values: Value[]])[]): Promise<void>;
  close(): Promise<void>;
}

/** Throws for an invalid address, and for one with a password: addresses end up in logs, settings and process lists. */
export function refusePassword(url: string): void {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^postgres(?:ql)?:$/.test(address.protocol))
    throw new Error('The address of the database must look like postgres://host/name.');
  if (address.password !== '' || address.searchParams.has('password'))
    throw new Error(
      'The address of the database contains a password. Remove it, and put it into a file that PGPASSFILE names, or into PGPASSWORD.',
    );
}

/** The items in their order, at most `size` in each piece: a statement has room for so many. */
export function piecesOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}
