import type { AccessDatabase, AccessStatement } from './accessDatabase.ts';
import type { OAuthClient } from './oauthClient.ts';

/** The clients that registered themselves, and those that the owner added. */
export interface ClientStore {
  find(id: string): Promise<OAuthClient | undefined>;
  /** Replaces a client with the same id. */
  add(client: OAuthClient, now: number): Promise<void>;
  /** Adds a client that registered itself. The oldest without a grant makes room. */
  register(client: OAuthClient, now: number): Promise<void>;
  /** The owner has allowed the client, so it stays. */
  noteGrant(id: string, now: number): Promise<void>;
  list(): Promise<readonly OAuthClient[]>;
  /** Also ends what was granted to it. False if there is no such client. */
  remove(id: string): Promise<boolean>;
}

/**
 * Registrations without a grant that are kept at once. Those with a grant do not count: strangers can neither drop them
 * nor use up their room.
 */
const capacity = 1_000;
/** Milliseconds after which a registration without a grant is deleted. */
const unusedLifetime = 86_400_000;

const isUngranted = "source = 'registration' AND granted IS NULL";

export function createClientStore(database: AccessDatabase): ClientStore {
  return {
    async find(id) {
      const [row] = await database.rows<ClientRow>('SELECT * FROM docs_clients WHERE id = ?', id);
      return row === undefined ? undefined : rowToClient(row);
    },
    add: (client, now) => database.batch(replaceClient(client, now)),
    register: (client, now) =>
      database.batch([
        [`DELETE FROM docs_clients WHERE ${isUngranted} AND created < ?`, now - unusedLifetime],
        [
          `DELETE FROM docs_clients WHERE ${isUngranted} AND id IN (
             SELECT id FROM docs_clients WHERE ${isUngranted} ORDER BY created DESC, id LIMIT 1000000 OFFSET ?)`,
          capacity - 1,
        ],
        ...replaceClient(client, now),
      ]),
    async noteGrant(id, now) {
      await database.rows('UPDATE docs_clients SET granted = ? WHERE id = ?', now, id);
    },
    async list() {
      const rows = await database.rows<ClientRow>('SELECT * FROM docs_clients ORDER BY created DESC, id');
      return rows.map(rowToClient);
    },
    async remove(id) {
      const removed = await database.rows('DELETE FROM docs_clients WHERE id = ? RETURNING id', id);
      const ended = await database.rows('DELETE FROM docs_grants WHERE client = ? RETURNING id', id);
      return removed.length + ended.length > 0;
    },
  };
}

function replaceClient({ id, name, uri, redirectUris, source }: OAuthClient, now: number): AccessStatement[] {
  return [
    ['DELETE FROM docs_clients WHERE id = ?', id],
    [
      'INSERT INTO docs_clients (id, name, uri, redirect_uris, source, created) VALUES (?, ?, ?, ?, ?, ?)',
      ...[id, name, uri, JSON.stringify(redirectUris), source, now],
    ],
  ];
}

interface ClientRow {
  readonly id: string;
  readonly name: string | null;
  readonly uri: string | null;
  /** As JSON. */
  readonly redirect_uris: string;
  readonly source: OAuthClient['source'];
}

function rowToClient({ redirect_uris, id, name, uri, source }: ClientRow): OAuthClient {
  // Only this program writes the column.
  return { id, name, uri, source, redirectUris: JSON.parse(redirect_uris) as string[] };
}
