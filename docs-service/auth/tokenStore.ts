import type { Grant, NewToken } from './accessToken.ts';

/** The tokens that were given out, by the hashes of them. Both engines keep them: SQLite in `access.db`, and PostgreSQL. */
export interface TokenStore {
  add(token: Pick<NewToken, 'hash' | 'grant'>): Promise<void>;
  /** Also one that has expired; undefined for one that was never given out or was revoked. */
  find(hash: string): Promise<Grant | undefined>;
  /** The newest first. */
  list(): Promise<readonly Grant[]>;
  /** False where there is no such token. */
  revoke(id: string): Promise<boolean>;
  /** When tokens were last used, by their ids. */
  noteUses(uses: ReadonlyMap<string, number>): Promise<void>;
  close(): Promise<void>;
}
