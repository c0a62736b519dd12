import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where conversations are kept: `$XDG_STATE_HOME/runner/sessions`, else the place that the system has for such files. */
export function sessionsFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  return join(stateFolder(env, platform), 'runner', 'sessions');
}

function stateFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const { XDG_STATE_HOME: xdg = '', LOCALAPPDATA: local = '' } = env;
  // A relative one is to be passed over (https://specifications.freedesktop.org/basedir-spec).
  if (isAbsolute(xdg)) return xdg;
  const home = env['HOME'] || homedir();
  if (platform === 'win32') return isAbsolute(local) ? local : join(homedir(), 'AppData', 'Local');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return join(home, '.local', 'state');
}
