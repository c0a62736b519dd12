import { showLine } from '../../protocol/base/text.ts';
import { GuardedFetchError } from '../auth/authErrors.ts';
import type { ClientStore, OAuthClient } from '../auth/clientStore.ts';
import { redirectUriProblem } from '../auth/clientStore.ts';
import { isDocumentAddress, parseClientId } from '../auth/identifiers.ts';
import { UsageError } from '../base/options.ts';
import { table } from '../base/text.ts';
import { defineCommand } from '../cli/command.ts';
import { storeOptions } from '../serveConfig.ts';
import { withAccess } from '../stores.ts';

export const clientAddCommand = defineCommand({
  usage: 'client add',
  summary: 'Adds a client whose own description cannot be fetched. It still has to ask the owner.',
  words: 0,
  options: {
    ...storeOptions,
    'client-id': { value: 'URL', help: 'the address that identifies the client' },
    'redirect-uri': { multiple: true, value: 'URL', help: 'the address that its answers go to (repeatable)' },
    name: { value: 'NAME', help: 'its name on the consent page' },
  },
  async run({ values }, context) {
    const client = parseClient(values['client-id'], values['redirect-uri'], values.name);
    await withAccess(values, context, ({ clients }) => addTo(clients, client, context.now()));
    context.note(`${client.id} is known now. Sign in with it again.\n`);
    return 0;
  },
});

export const clientListCommand = defineCommand({
  usage: 'client list',
  summary: 'Lists the clients that were added or have registered themselves.',
  words: 0,
  options: storeOptions,
  async run({ values }, context) {
    const clients = await withAccess(values, context, (access) => access.clients.list());
    const rows = clients.map(({ id, source, name, redirectUris }) => [
      id,
      source === 'operator' ? 'added' : 'registered',
      showLine(name ?? ''),
      redirectUris.join(' '),
    ]);
    if (rows.length > 0) context.print(table(['ID', 'HOW', 'NAME', 'REDIRECTS'], rows));
    return 0;
  },
});

export const clientRemoveCommand = defineCommand({
  usage: 'client remove ID',
  summary: 'Removes a client, and ends everything that the owner allowed it.',
  words: 1,
  options: storeOptions,
  async run({ values, words: [id = ''] }, context) {
    const isRemoved = await withAccess(values, context, ({ clients }) => clients.remove(id));
    if (!isRemoved)
      throw new Error(`there is no client "${id}". "runner-docs client list" and "token list" show them.`);
    context.note(`The client ${id} is removed.\n`);
    return 0;
  },
});

/** Earlier additions stay, because a client may have several addresses. */
async function addTo(clients: ClientStore, client: OAuthClient, now: number): Promise<void> {
  const known = await clients.find(client.id);
  const redirectUris = [...new Set([...(known?.redirectUris ?? []), ...client.redirectUris])];
  await clients.add({ ...client, redirectUris, name: client.name ?? known?.name ?? null }, now);
}

function parseClient(id: string | undefined, redirectUris: readonly string[], name?: string): OAuthClient {
  if (id === undefined) throw new UsageError('--client-id is missing.');
  checkId(id);
  if (redirectUris.length === 0) throw new UsageError('--redirect-uri is missing.');
  const problem = redirectUris.map(redirectUriProblem).find((found) => found !== undefined);
  if (problem !== undefined) throw new UsageError(`--redirect-uri: ${problem}`);
  return { id, name: name?.slice(0, 200) ?? null, uri: null, redirectUris, source: 'operator' };
}

function checkId(id: string): void {
  if (!isDocumentAddress(id))
    throw new UsageError('--client-id must be an address that begins with https://.');
  try {
    parseClientId(id);
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    throw new UsageError(`--client-id: ${error.message}`);
  }
}
