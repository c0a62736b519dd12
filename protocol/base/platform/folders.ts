import { existsSync } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

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

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The file with the user's own configuration: `runner/config.json` in `$XDG_CONFIG_HOME`, or else in `~/.config`, on
 * every system.
 */
export function userConfigFile(env: Environment): string {
  return join(absolute(env['XDG_CONFIG_HOME']) ?? join(homeFolder(env), '.config'), 'runner', 'config.json');
}

/** The folder of the prompts that the user keeps as files. */
export function userPrompts(env: Environment): string {
  return join(dirname(userConfigFile(env)), 'prompts');
}

/** The folder for what the user's programs remember: conversations, the history, the models that were chosen last. */
export function stateFolder(env: Environment, platform = thisPlatform): string {
  return join(absolute(env['XDG_STATE_HOME']) ?? usualStateHome(env, platform), 'runner');
}

function usualStateHome(env: Environment, platform: NodeJS.Platform): string {
  if (platform === 'win32') return absolute(env['LOCALAPPDATA']) ?? join(homedir(), 'AppData', 'Local');
  if (platform === 'darwin') return join(homeFolder(env), 'Library', 'Application Support');
  return join(homeFolder(env), '.local', 'state');
}

/** The folder for what can be made again; undefined where the system has none, or the user no home. */
export function cacheFolder(env: Environment, platform = thisPlatform): string | undefined {
  const [home, local] = [absolute(env['HOME']), absolute(env['LOCALAPPDATA'])];
  if (platform === 'win32') return local && join(local, 'runner', 'Cache');
  const folder = absolute(env['XDG_CACHE_HOME']) ?? (home && join(home, '.cache'));
  return folder && join(folder, 'runner');
}

/**
 * The folder below which the user's programs keep data that cannot be made again, on every system. A relative path
 * counts, because it always has: the data would not be found otherwise.
 */
export function dataHome(env: Environment): string {
  return env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share');
}

/** Whether an engine of Runner's own, or a model for it, is installed for this user. */
export function hasOwnEngine(env: Environment): boolean {
  return existsSync(join(dataHome(env), 'runner', 'engine'));
}

/** A relative path does not count (https://specifications.freedesktop.org/basedir-spec). */
function absolute(path = ''): string | undefined {
  return isAbsolute(path) ? path : undefined;
}
