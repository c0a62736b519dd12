import { join } from 'node:path';
import { stateFolder } from '../stateFolder.ts';

/** The folder for conversations: `sessions` in the user's state folder. */
export function sessionsFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  return join(stateFolder(env, platform), 'sessions');
}
