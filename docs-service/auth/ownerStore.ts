import type { AccessDatabase } from './accessDatabase.ts';

/** The owner of the library. */
export interface Owner {
  /** The owner's profile URL; null for the address of the service. */
  readonly me: string | null;
  /** The hash of the password; null until there is one. */
  readonly password: string | null;
  readonly profile: Profile;
  /** Grows with each new password. */
  readonly epoch: number;
}

/** What clients with the scope `profile` learn; with `email`, the email address too (IndieAuth 5.3.4). */
export interface Profile {
  readonly name?: string;
  readonly url?: string;
  readonly photo?: string;
  readonly email?: string;
}

interface NewSession {
  readonly hash: string;
  readonly expires: number;
  /** The owner's epoch when the password was checked. */
  readonly epoch: number;
}

interface PasswordAttempt {
  readonly id: string;
  readonly address: string;
  readonly made: number;
}

/** The owner, the browsers that are signed in, and attempts to guess the password. */
export class OwnerStore {
  constructor(private readonly database: AccessDatabase) {}

  async read(): Promise<Owner> {
    const [row] = await this.database.rows<Omit<Owner, 'profile'> & { readonly profile: string }>(
      'SELECT me, password, profile, epoch FROM docs_owner',
    );
    if (row === undefined) return { me: null, password: null, profile: {}, epoch: 0 };
    // Only this program writes the column.
    return { ...row, profile: JSON.parse(row.profile) as Profile };
  }

  /** Ends all sessions, and all refresh tokens and codes of clients. */
  setPassword({ password, me }: { readonly password: string; readonly me?: string }): Promise<void> {
    return this.database.batch([
      [
        `INSERT INTO docs_owner (one, me, password, profile) VALUES (1, ?, ?, '{}')
         ON CONFLICT (one) DO UPDATE SET password = excluded.password, me = coalesce(excluded.me, docs_owner.me),
           epoch = docs_owner.epoch + 1`,
        me ?? null,
        password,
      ],
      ['DELETE FROM docs_sessions'],
      ['DELETE FROM docs_refresh_tokens'],
    ]);
  }

  async setProfile(profile: Profile): Promise<void> {
    await this.database.rows(
      `INSERT INTO docs_owner (one, profile) VALUES (1, ?)
       ON CONFLICT (one) DO UPDATE SET profile = excluded.profile`,
      JSON.stringify(profile),
    );
  }

  addSession({ hash, expires, epoch }: NewSession, now: number): Promise<void> {
    return this.database.batch([
      ['DELETE FROM docs_sessions WHERE expires < ?', now],
      ['INSERT INTO docs_sessions (hash, expires, epoch) VALUES (?, ?, ?)', hash, expires, epoch],
    ]);
  }

  async hasSession(hash: string, now: number): Promise<boolean> {
    const rows = await this.database.rows(
      `SELECT 1 AS found FROM docs_sessions
       WHERE hash = ? AND expires > ? AND epoch = coalesce((SELECT epoch FROM docs_owner), 0)`,
      hash,
      now,
    );
    return rows.length > 0;
  }

  async removeSession(hash: string): Promise<void> {
    await this.database.rows('DELETE FROM docs_sessions WHERE hash = ?', hash);
  }

  /** Records an attempt. Returns the number of attempts from the address since a time, this one included. */
  async noteAttempt({ id, address, made }: PasswordAttempt, since: number): Promise<number> {
    await this.database.batch([
      // Attempts in the future were made before the clock was set back.
      ['DELETE FROM docs_password_attempts WHERE made < ? OR made > ?', since, made],
      ['INSERT INTO docs_password_attempts (id, address, made) VALUES (?, ?, ?)', id, address, made],
    ]);
    const [row] = await this.database.rows<{ readonly attempts: number }>(
      'SELECT count(*) AS attempts FROM docs_password_attempts WHERE address = ?',
      address,
    );
    return row?.attempts ?? 0;
  }

  /** The attempt was not a guess. */
  async forgetAttempt(id: string): Promise<void> {
    await this.database.rows('DELETE FROM docs_password_attempts WHERE id = ?', id);
  }
}
