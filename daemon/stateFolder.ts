import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The folder for the user's state: `$XDG_STATE_HOME/runner`, or else the system's usual place for such files. */
export function stateFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  return join(stateHome(env, platform), 'runner');
}

/** The file with the models that the user chose last, for every client. */
export function chatModelFile(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  return join(stateFolder(env, platform), 'chatModel.json');
}

function stateHome(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const { XDG_STATE_HOME: xdg = '', LOCALAPPDATA: local = '' } = env;
  // The specification says to ignore a relative path (https://specifications.freedesktop.org/basedir-spec).
  if (isAbsolute(xdg)) return xdg;
  const home = env['HOME'] || homedir();
  if (platform === 'win32') return isAbsolute(local) ? local : join(homedir(), 'AppData', 'Local');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return join(home, '.local', 'state');
}
