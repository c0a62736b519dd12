import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { cacheFolder } from '../../../protocol/base/userFolders.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import { type CatalogEntry, cloudRequest, libraryRequest } from '../../../protocol/messages/models.ts';
import type { CommandContext } from '../cli/command.ts';
import { withDaemon } from '../daemon/connection.ts';
import { localTime } from '../screen/modelDescription.ts';
import type { Output } from '../screen/output.ts';
import { formatTable } from '../screen/table.ts';

/** Lists the models that can be pulled, or the cloud models: as a table, or one object a row. */
export async function showCatalog(context: CommandContext): Promise<number> {
  const { stdout, stderr, env } = context.terminal;
  const { words, cloud, refresh, json } = context.commandLine;
  const query = words.join(' ').trim();
  const params = { ...(query === '' ? {} : { query }), ...(refresh ? { refresh } : {}) };
  // The daemon may keep the catalog there, if the system has such a folder.
  const options = withoutUndefined<InitializationOptions>({ cacheDir: cacheFolder(env) });
  return withDaemon(context, options, async (daemon) => {
    const { entries, fetchedAt, stale } = await daemon.request(cloud ? cloudRequest : libraryRequest, params);
    if (stale)
      await stderr.writeLine(`This is the list of ${dateOf(fetchedAt)}; the catalog does not answer.`);
    if (json) for (const entry of entries) await stdout.writeJson(entry);
    else if (entries.length > 0) {
      await stdout.write(catalogTable(entries, stdout));
      if (entries.some(({ installed }) => installed)) await stderr.writeLine('* is installed.');
    } else
      await stderr.writeLine(`The catalog has nothing${query === '' ? '' : ` for "${showLine(query)}"`}.`);
    return 0;
  });
}

function catalogTable(entries: readonly CatalogEntry[], output: Output): string {
  const columns = ['NAME', 'CAN', 'SIZES', 'DESCRIPTION'].map((title) => ({ title }));
  return formatTable(columns, entries.map(rowOf), output);
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
