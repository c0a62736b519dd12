import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makePrivate } from '../../protocol/base/platform/privateFile.ts';
import { openDatabase } from '../base/sqliteDatabase.ts';
import { defineCommand } from '../cli/command.ts';
import { parseStorePlaces, storeOptions } from '../serveConfig.ts';

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

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
