import { createHash } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import {
  makePrivate,
  makePrivateFolder,
  writePrivateFile,
} from '../../../protocol/base/platform/privateFile.ts';
import { RunnerError } from '../../base/errors.ts';
import { ExclusiveWork } from '../../base/processLocks.ts';
import { tryReadKept } from '../../base/regularFile.ts';

const keptSchema = z.object({
  version: z.literal(1),
  /** Stays the same through all renewals. Logins of earlier versions have none. */
  id: z.optional(z.string()),
  /** The address of the tool server. */
  server: z.string(),
  /** Of the authorization server. Tokens go only to these addresses, whatever its metadata says later. */
  metadata: z.object({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    response_types_supported: z.array(z.string()),
    token_endpoint_auth_methods_supported: z.optional(z.array(z.string())),
    revocation_endpoint: z.optional(z.string()),
  }),
  client: z.object({
    client_id: z.string(),
    client_secret: z.optional(z.string()),
    token_endpoint_auth_method: z.optional(z.string()),
  }),
  /** The entry named the client. If it names another one, it is another login. */
  isClientNamed: z.boolean(),
  resource: z.string(),
  scope: z.optional(z.string()),
  refreshToken: z.optional(z.string()),
  /** Kept only without a refresh token. */
  accessToken: z.optional(z.string()),
  /** In ms since 1970, of the access token that is kept. */
  expiresAt: z.optional(z.number()),
});

export type KeptLogin = z.infer<typeof keptSchema>;

export type LoginStore = ReturnType<typeof createLoginStore>;

const maxBytes = 256 * 1024;
/** Longer than the requests of another process may take, in ms. */
const maxTurn = 45_000;

/** Logins, each in a private file. */
export function createLoginStore(folder: string) {
  const turns = new ExclusiveWork(
    folder,
    maxTurn,
    () => new RunnerError('timeout', 'Another Runner process is using this login. Try again later.'),
  );
  const pathOf = (server: string) => join(folder, `${idOf(server)}.json`);
  return {
    /** Undefined if there is none that can be read. */
    async read(server: string): Promise<KeptLogin | undefined> {
      const login = await tryReadKept(pathOf(server), keptSchema, maxBytes);
      return login?.server === server ? login : undefined;
    },
    /**
     * Runs work alone on a login, because a refresh token may be valid for one use only. The signal ends only the
     * waiting. Work that has begun is not interrupted.
     */
    alone: <T>(server: string, work: () => Promise<T>, signal: AbortSignal) =>
      turns.run(idOf(server), work, signal),
    /** Atomic. @throws {Error} if it cannot be written. */
    async write(login: KeptLogin): Promise<void> {
      await makePrivateFolder(folder);
      await makePrivate(folder, 0o700);
      // The schema drops the metadata that is not needed again.
      const text = `${JSON.stringify(keptSchema.parse(login), undefined, 1)}\n`;
      await writePrivateFile(pathOf(login.server), text, { isSynced: true });
    },
    remove: (server: string): Promise<void> => unlink(pathOf(server)).catch(() => undefined),
    /** Waits for work that has begun. */
    close: () => turns.close(),
  };
}

function idOf(server: string): string {
  return createHash('sha256').update(server).digest('hex').slice(0, 32);
}
