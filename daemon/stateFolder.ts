import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where the user's state is kept: `$XDG_STATE_HOME/runner`, else the place that the system has for such files. */
export function stateFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  return join(stateHome(env, platform), 'runner');
}

/** What the user chose last, for every client. */
export function chatModelFile(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  return join(stateFolder(env, platform), 'chatModel.json');
}

function stateHome(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const { XDG_STATE_HOME: xdg = '', LOCALAPPDATA: local = '' } = env;
  // A relative one is to be passed over (https://specifications.freedesktop.org/basedir-spec).
  if (isAbsolute(xdg)) return xdg;
  const home = env['HOME'] || homedir();
  if (platform === 'win32') return isAbsolute(local) ? local : join(homedir(), 'AppData', 'Local');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return join(home, '.local', 'state');
}
