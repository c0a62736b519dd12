import { UnavailableError } from '../base/unavailableError.ts';

/**
 * Where tokens, clients and the owner are kept: `access.db`, or PostgreSQL for all instances. Both run the same
 * statements; `?` stands for a value. Calls reject with `AccessUnavailableError` while the database is down.
 */
export interface AccessDatabase {
  /** The rows that the statement returns. */
  rows<Row>(statement: string, ...values: readonly AccessValue[]): Promise<readonly Row[]>;
  /** Runs all of the statements or none. */
  batch(statements: readonly AccessStatement[]): Promise<void>;
  close(): Promise<void>;
}

export type AccessValue = string | number | null;

export type AccessStatement = readonly [statement: string, ...values: AccessValue[]];

/** Tokens and sign-ins cannot be read or stored right now. */
export class AccessUnavailableError extends UnavailableError {
  override readonly name = 'AccessUnavailableError';
}
