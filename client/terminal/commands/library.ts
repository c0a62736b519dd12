import { cacheFolder } from '../../../protocol/base/userFolders.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import { type CatalogEntry, cloudRequest, libraryRequest } from '../../../protocol/messages/models.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { type Surroundings, write, writeLine } from '../cli/streams.ts';
import { withDaemon } from '../daemon/connection.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { styleFor } from '../screen/style.ts';
import { formatTable } from '../screen/table.ts';
import { localTime } from './modelDescription.ts';

/** What there is to pull: as a table, or one object a row. */
export async function showLibrary(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, stderr } = surroundings;
  const { words, cloud, refresh, json } = commandLine;
  const query = words.join(' ').trim();
  const params = { ...(query === '' ? {} : { query }), ...(refresh ? { refresh } : {}) };
  const options = { commandLine, ...cacheOption(surroundings.env) };
  return withDaemon(surroundings, options, async (daemon) => {
    const { entries, fetchedAt, stale } = await daemon.request(cloud ? cloudRequest : libraryRequest, params);
    if (stale)
      await writeLine(stderr, `This is the list of ${dateOf(fetchedAt)}; the catalog does not answer.`);
    if (json) for (const entry of entries) await writeLine(stdout, JSON.stringify(entry));
    else if (entries.length > 0) await showTable(surroundings, entries);
    else
      await writeLine(stderr, `The catalog has nothing${query === '' ? '' : ` for "${showLine(query)}"`}.`);
    return 0;
  });
}

async function showTable(
  { stdout, stderr, env }: Surroundings,
  entries: readonly CatalogEntry[],
): Promise<void> {
  const columns = ['NAME', 'CAN', 'SIZES', 'DESCRIPTION'].map((title) => ({ title }));
  const look = { style: styleFor(stdout, env), ...(stdout.isTTY ? { width: stdout.columns || 80 } : {}) };
  await write(stdout, formatTable(columns, entries.map(rowOf), look));
  if (entries.some(({ installed }) => installed)) await writeLine(stderr, '* is installed.');
}

function rowOf({ model, capabilities = [], sizes = [], description = '', installed }: CatalogEntry) {
  const cells = [model, capabilities.join(' '), sizes.join(' '), description].map(showLine);
  const [name = '', ...rest] = cells;
  return [installed ? `${name} *` : name, ...rest];
}

function dateOf(fetchedAt: string): string {
  const time = new Date(fetchedAt);
  return Number.isNaN(time.getTime()) ? showLine(fetchedAt) : localTime(time).join(' ');
}

/** Where the daemon may keep the catalog; nothing where no such folder is known. */
function cacheOption(env: Surroundings['env']): { readonly cacheDir?: string } {
  return withoutUndefined({ cacheDir: cacheFolder(env, process.platform) });
}
