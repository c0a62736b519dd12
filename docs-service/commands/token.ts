import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { createToken, isScope, type Scope, scopes } from '../auth/accessToken.ts';
import { parseProfileUrl } from '../auth/profileUrl.ts';
import type { ListedGrant } from '../auth/tokenStore.ts';
import { parseDuration, UsageError } from '../base/options.ts';
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
  async run({ values }, { env, now, print }) {
    const token = createToken(
      withoutUndefined({
        scopes: parseScopes(values.scope ?? 'read'),
        lifetime: parseDuration('expires', values.expires ?? '90d'),
        now: now(),
        name: values.name === undefined ? undefined : parseName(values.name),
        me: values.me === undefined ? undefined : parseProfileUrl('me', values.me),
      }),
    );
    await withAccess(parseStorePlaces(values, env), ({ tokens }) => tokens.add(token));
    print(`${token.token}\n`);
    return 0;
  },
});

export const tokenListCommand = defineCommand({
  usage: 'token list',
  summary:
    'Lists the tokens, and the clients that were allowed: id, name, scopes, whose, and when each was made, expires and was last used.',
  words: 0,
  options: storeOptions,
  async run({ values }, { env, print }) {
    const places = parseStorePlaces(values, env);
    const grants = await withAccess(places, ({ tokens }) => tokens.list());
    if (grants.length > 0) print(grantTable(grants));
    return 0;
  },
});

export const tokenRevokeCommand = defineCommand({
  usage: 'token revoke ID',
  summary:
    "Ends a token, or a client's whole access. It stops working within a second, even while the service runs.",
  words: 1,
  options: storeOptions,
  async run({ values, words: [id = ''] }, { env, note }) {
    const places = parseStorePlaces(values, env);
    const isRevoked = await withAccess(places, ({ tokens }) => tokens.revoke(id));
    if (!isRevoked)
      throw new Error(`there is no token with the id "${id}". "runner-docs token list" shows the ids.`);
    note(`The token ${id} is revoked.\n`);
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
