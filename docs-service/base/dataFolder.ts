import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isOpenToOthers, makePrivate } from '../../protocol/base/platform/privateFile.ts';
import { type Database, isBusy, openDatabase } from './sqliteDatabase.ts';

/** The files of this program, by which it recognizes its own folder. */
const ownFile = /^(access|index)\.db|^serve\.|^index\.lock|^renditions$/;

/**
 * Creates the folder of `--data` if it does not exist, for its owner only. It does not change the mode of a folder that
 * something else uses. Throws with a sentence.
 */
export async function openDataFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (!isOpenToOthers(await stat(folder))) return;
    const names = await readdir(folder);
    if (names.length > 0 && !names.some((name) => ownFile.test(name)))
      throw new Error(
        `${folder} has other files, and other users can read it. Choose a folder of its own with --data.`,
      );
    await makePrivate(folder, 0o700);
  } catch (error) {
    throw sentenceOf(error as NodeJS.ErrnoException, folder);
  }
}

function sentenceOf(error: NodeJS.ErrnoException, folder: string): Error {
  if (error.code === undefined) return error;
  if (error.code === 'EEXIST' || error.code === 'ENOTDIR')
    return new Error(`${folder} is a file. --data needs a folder.`, { cause: error });
  if (error.code === 'EPERM' || error.code === 'EACCES')
    return new Error(`This user may not use ${folder}. Choose another folder with --data.`, { cause: error });
  return new Error(`The folder ${folder} cannot be used: ${error.message}.`, { cause: error });
}

export interface Lock {
  release(): Promise<void>;
}

/** Only one `serve` at a time may use a data folder. If another one does, it throws a sentence that says which. */
export async function lockDataFolder(folder: string): Promise<Lock> {
  const owner = join(folder, 'serve.pid');
  const lock = await tryLock(join(folder, 'serve.lock'));
  if (lock === undefined) {
    const pid = (await readFile(owner, 'utf8').catch(() => '')).trim();
    const who = pid === '' ? 'another process' : `process ${pid}`;
    throw new Error(`${who} already serves from ${folder}. Stop it, or choose another folder with --data.`);
  }
  await writeFile(owner, `${process.pid}\n`, { mode: 0o600 });
  return {
    async release() {
      await rm(owner, { force: true });
      await lock.release();
    },
  };
}

/** An SQLite lock on its own file, which the system releases when its owner dies; undefined if it is taken. */
export async function tryLock(file: string): Promise<Lock | undefined> {
  const prepare = (database: Database) => database.exec('BEGIN EXCLUSIVE');
  try {
    const held = await openDatabase(file, { wait: 0, journal: 'delete', isCache: true, prepare });
    return { release: async () => held.close() };
  } catch (error) {
    if (isBusy(error)) return undefined;
    throw error;
  }
}
