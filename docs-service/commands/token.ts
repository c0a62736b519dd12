import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { makePrivate } from '../../protocol/base/platform/privateFile.ts';
import { createToken, isScope, type ListedGrant, type Scope, scopes } from '../auth/accessTokens.ts';
import { parseProfileUrl } from '../auth/identifiers.ts';
import { parseDuration, UsageError } from '../base/options.ts';
import { openDatabase } from '../base/sqliteDatabase.ts';
import { table } from '../base/text.ts';
import { defineCommand } from '../cli/command.ts';
import { parseStorePlaces, storeOptions } from '../serveConfig.ts';
import { withAccess } from '../stores.ts';

export const tokenCreateCommand = defineCommand({
  usage: 'token create',
  summary: 'Prints a new token, and nothing else. The token is shown only once: only its hash is kept.',
  words: 0,
  options: {
    ...storeOptions,
    scope: { value: 'SCOPES', help: 'read, or "read draft" to see drafts too (default: read)' },
    expires: { value: 'TIME', help: 'its lifetime, such as 12h, 30d or 1y (default: 90d)' },
    name: { value: 'NAME', help: 'what "token list" calls it, such as laptop' },
    me: { value: 'URL', help: 'whose token it is' },
  },
  async run({ values }, context) {
    const token = createToken(
      withoutUndefined({
        scopes: parseScopes(values.scope ?? 'read'),
        lifetime: parseDuration('expires', values.expires ?? '90d'),
        now: context.now(),
        name: values.name === undefined ? undefined : parseName(values.name),
        me: values.me === undefined ? undefined : parseProfileUrl('me', values.me),
      }),
    );
    await withAccess(values, context, ({ tokens }) => tokens.add(token));
    context.print(`${token.token}\n`);
    return 0;
  },
});

export const tokenListCommand = defineCommand({
  usage: 'token list',
  summary:
    'Lists the tokens, and the clients that were allowed: id, name, scopes, whose, and when each was made, expires and was last used.',
  words: 0,
  options: storeOptions,
  async run({ values }, context) {
    const grants = await withAccess(values, context, ({ tokens }) => tokens.list());
    if (grants.length > 0) context.print(grantTable(grants));
    return 0;
  },
});

export const tokenRevokeCommand = defineCommand({
  usage: 'token revoke ID',
  summary:
    "Ends a token, or a client's whole access. It stops working within a second, even while the service runs.",
  words: 1,
  options: storeOptions,
  async run({ values, words: [id = ''] }, context) {
    const isRevoked = await withAccess(values, context, ({ tokens }) => tokens.revoke(id));
    if (!isRevoked)
      throw new Error(`there is no token with the id "${id}". "runner-docs token list" shows the ids.`);
    context.note(`The token ${id} is revoked.\n`);
    return 0;
  },
});

export const backupCommand = defineCommand({
  usage: 'backup FILE',
  summary: 'Copies access.db (tokens) to FILE, even while the service runs. The index is only a cache.',
  words: 1,
  options: storeOptions,
  async run({ values, words: [file = ''] }, { env, note }) {
    const { data, database } = parseStorePlaces(values, env);
    if (database !== undefined) throw new Error('PostgreSQL keeps the tokens. Back it up with pg_dump.');
    const source = join(data, 'access.db');
    const target = resolve(file);
    if (!(await exists(source))) throw new Error(`there is no ${source}: no token was created yet.`);
    if (await exists(target)) throw new Error(`${target} exists already. Choose another name.`);
    const access = await openDatabase(source);
    try {
      access.prepare('VACUUM INTO ?').run(target);
    } catch (cause) {
      throw new Error(`${target} cannot be written: ${(cause as Error).message}.`, { cause });
    } finally {
      access.close();
    }
    await makePrivate(target);
    note(
      `${target} has the tokens of ${data}. To restore it, stop the service, delete access.db, access.db-wal and access.db-shm there, and put the backup in place as access.db.\n`,
    );
    return 0;
  },
});

function parseName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= 100 && !/\p{C}/u.test(name)) return name;
  throw new UsageError('--name must have 1 to 100 visible characters, such as laptop.');
}

function parseScopes(text: string): readonly Scope[] {
  const words = [...new Set(text.split(/\s+/).filter(Boolean))];
  const unknown = words.filter((word) => !isScope(word));
  if (unknown.length > 0)
    throw new UsageError(`there is no scope "${unknown.join(' ')}"; the scopes are ${scopes.join(', ')}.`);
  if (words.length === 0) throw new UsageError('--scope must name at least one scope, such as read.');
  return words.filter(isScope);
}

function grantTable(grants: readonly ListedGrant[]): string {
  return table(
    ['ID', 'NAME', 'SCOPES', 'ME', 'CREATED', 'EXPIRES', 'LAST USED', 'CLIENT'],
    grants.map(({ id, name, scopes: granted, me, client, created, expires, lastUsed }) => [
      ...[id, name ?? '', granted.join(' '), me ?? '', minute(created), minute(expires)],
      ...[lastUsed === null ? 'never' : minute(lastUsed), client ?? ''],
    ]),
  );
}

function minute(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
