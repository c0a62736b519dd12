import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { homeFolder, thisPlatform } from './platform/folder.ts';

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
