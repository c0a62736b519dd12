import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

export const thisPlatform: NodeJS.Platform = process.platform;

/** The user's home. Windows has no HOME. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>): string {
  return env['HOME'] || homedir();
}

/**
 * The same text for all names of a folder: over links, and where the file system takes them for one, in another case or
 * form of Unicode. A folder that is not there has its absolute path.
 */
export async function folderKey(path: string): Promise<string> {
  const real = await realpath(path).catch(() => resolve(path));
  return (await isSame(real, otherCase(real))) ? folded(real) : real;
}

/** Whether both are there, and the same. */
async function isSame(one: string, other: string): Promise<boolean> {
  if (one === other) return false;
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }))).catch(
    () => [],
  );
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

function otherCase(path: string): string {
  return path.replace(/\p{L}/gu, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

/** Whether a real path is the user's home or the root of a disk, which is more than anybody means. */
export async function isHomeOrRoot(real: string): Promise<boolean> {
  return real === dirname(real) || (await folderKey(real)) === (await folderKey(homedir()));
}

/** The absolute path that a user means, from a folder. */
export function expandPath(folder: string, path: string): string {
  return resolve(folder, path.replace(/^~(?=[/\\]|$)/, homedir));
}

/**
 * The path of what is there: the path itself or, if there is none, the only one that differs from it in case or the
 * form of Unicode, as paths from another system do. Undefined if there is none, or more than one.
 */
export async function findPath(path: string): Promise<string | undefined> {
  if (await stat(path).catch(() => undefined)) return path;
  const folder = path === dirname(path) ? undefined : await findPath(dirname(path));
  if (folder === undefined) return undefined;
  const names = await readdir(folder).catch(() => []);
  const [name, ...others] = names.filter((one) => folded(one) === folded(basename(path)));
  return name === undefined || others.length > 0 ? undefined : join(folder, name);
}

/** Equal for names that differ in case or the form of Unicode. */
export function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
