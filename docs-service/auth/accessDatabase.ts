/**
 * Where tokens, clients and the owner are kept: `access.db`, or PostgreSQL for all instances. The statements are the
 * same for both; `?` stands for a value. Calls reject with `IndexUnavailable` while the database is away.
 */
export interface AccessDatabase {
  /** The rows that the statement gives back. */
  rows<Row>(statement: string, ...values: readonly AccessValue[]): Promise<readonly Row[]>;
  /** All of the statements or none. */
  batch(statements: readonly AccessStatement[]): Promise<void>;
  close(): Promise<void>;
}

export type AccessValue = string | number | null;

export type AccessStatement = readonly [statement: string, ...values: AccessValue[]];
