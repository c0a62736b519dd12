import { homedir } from 'node:os';
import { join } from 'node:path';

/** The user's own file, never a workspace's: `$XDG_CONFIG_HOME/runner/config.json`, else under `~/.config`. */
export function userConfigPath(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'runner', 'config.json');
}
