import { type StatementDatabase, UnavailableError } from '../base/database.ts';

/**
 * Where tokens, clients and the owner are kept: `access.db`, or PostgreSQL for all instances. Calls reject with
 * `AccessUnavailableError` while the database is down.
 */
export type AccessDatabase = StatementDatabase<AccessValue>;

export type AccessValue = string | number | null;

export type AccessStatement = readonly [statement: string, ...values: AccessValue[]];

/** Tokens and sign-ins cannot be read or stored right now. */
export class AccessUnavailableError extends UnavailableError {
  override readonly name = 'AccessUnavailableError';
}

/**
 * The tables, in SQLite's words. Each entry leads from one version to the next; a released entry never changes. Times
 * are milliseconds since 1970. A hash is the hash of a secret, which is stored nowhere. The owner's epoch grows with
 * each new password; sessions, codes and refresh tokens are valid only in their own epoch.
 */
export const accessMigrations: readonly string[] = [
  `CREATE TABLE docs_tokens (
    hash TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    me TEXT,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    last_used INTEGER
  ) STRICT`,
  `CREATE TABLE docs_grants (
    id TEXT PRIMARY KEY,
    client TEXT,
    scopes TEXT NOT NULL,
    me TEXT,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    last_used INTEGER,
    epoch INTEGER
  ) STRICT;
  CREATE TABLE docs_access_tokens (
    hash TEXT PRIMARY KEY,
    grant_id TEXT NOT NULL REFERENCES docs_grants ON DELETE CASCADE,
    scopes TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT;
  INSERT INTO docs_grants SELECT id, NULL, scopes, me, created, expires, last_used, NULL FROM docs_tokens;
  INSERT INTO docs_access_tokens SELECT hash, id, scopes, created, expires FROM docs_tokens;
  DROP TABLE docs_tokens;
  CREATE TABLE docs_refresh_tokens (
    hash TEXT PRIMARY KEY,
    grant_id TEXT NOT NULL REFERENCES docs_grants ON DELETE CASCADE,
    expires INTEGER NOT NULL,
    rotated INTEGER
  ) STRICT;
  CREATE TABLE docs_codes (
    hash TEXT PRIMARY KEY,
    grant_id TEXT,
    client TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL,
    scopes TEXT NOT NULL,
    expires INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    used INTEGER
  ) STRICT;
  CREATE TABLE docs_clients (
    id TEXT PRIMARY KEY,
    name TEXT,
    uri TEXT,
    redirect_uris TEXT NOT NULL,
    source TEXT NOT NULL,
    created INTEGER NOT NULL,
    granted INTEGER
  ) STRICT;
  CREATE TABLE docs_owner (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    me TEXT,
    password TEXT,
    profile TEXT NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE docs_sessions (
    hash TEXT PRIMARY KEY,
    expires INTEGER NOT NULL,
    epoch INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE docs_password_attempts (
    id TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    made INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX docs_access_tokens_grant ON docs_access_tokens (grant_id);
  CREATE INDEX docs_refresh_tokens_grant ON docs_refresh_tokens (grant_id);
  CREATE INDEX docs_password_attempts_address ON docs_password_attempts (address, made)`,
  `CREATE TABLE docs_slugs (
    slug TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    gone INTEGER
  ) STRICT`,
  'ALTER TABLE docs_grants ADD COLUMN name TEXT',
  'ALTER TABLE docs_refresh_tokens ADD COLUMN parent TEXT',
];
