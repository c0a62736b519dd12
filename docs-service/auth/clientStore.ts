import type { AccessDatabase, AccessStatement } from './accessDatabase.ts';
import type { OAuthClient } from './oauthClient.ts';

/** The clients that registered themselves, and those that the owner added. */
export type ClientStore = ReturnType<typeof createClientStore>;

/**
 * Registrations without a grant that are kept at once. Those with a grant do not count: strangers can neither drop them
 * nor use up their room.
 */
const capacity = 1_000;
/** Milliseconds after which a registration without a grant is deleted. */
const unusedLifetime = 86_400_000;

const isUngranted = "source = 'registration' AND granted IS NULL";

export function createClientStore(database: AccessDatabase) {
  const read = async (statement: string, ...values: readonly string[]): Promise<readonly OAuthClient[]> => {
    const rows = await database.rows<ClientRow>(
      `SELECT id, name, uri, redirect_uris AS "redirectUris", source FROM docs_clients ${statement}`,
      ...values,
    );
    // Only this program writes the column.
    return rows.map((row) => ({ ...row, redirectUris: JSON.parse(row.redirectUris) as string[] }));
  };
  return {
    find: async (id: string): Promise<OAuthClient | undefined> => (await read('WHERE id = ?', id))[0],
    list: () => read('ORDER BY created DESC, id'),
    /** Replaces a client with the same id. */
    add: (client: OAuthClient, now: number): Promise<void> => database.batch(replaceClient(client, now)),
    /** Adds a client that registered itself. The oldest without a grant makes room. */
    register: (client: OAuthClient, now: number): Promise<void> =>
      database.batch([
        [`DELETE FROM docs_clients WHERE ${isUngranted} AND created < ?`, now - unusedLifetime],
        [
          `DELETE FROM docs_clients WHERE ${isUngranted} AND id IN (
             SELECT id FROM docs_clients WHERE ${isUngranted} ORDER BY created DESC, id LIMIT 1000000 OFFSET ?)`,
          capacity - 1,
        ],
        ...replaceClient(client, now),
      ]),
    /** The owner has allowed the client, so it stays. */
    async noteGrant(id: string, now: number): Promise<void> {
      await database.rows('UPDATE docs_clients SET granted = ? WHERE id = ?', now, id);
    },
    /** Also ends what was granted to it. False if there is no such client. */
    async remove(id: string): Promise<boolean> {
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

interface ClientRow extends Omit<OAuthClient, 'redirectUris'> {
  /** As JSON. */
  readonly redirectUris: string;
}
