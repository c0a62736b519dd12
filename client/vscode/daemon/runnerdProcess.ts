import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import type { SecretLine } from '../../../protocol/secrets.ts';

/** A daemon with a pipe for secrets, which stand in no argument, variable or message. */
export interface RunnerdProcess {
  readonly child: ChildProcess;
  /** Hands a secret over; a later one for the same origin takes its place. */
  tell(secret: SecretLine): void;
}

/** Starts `runnerd` with the editor's own runtime. */
export function spawnRunnerd(path: string): RunnerdProcess {
  const child = spawn(process.execPath, [path, '--stdio', '--secrets-fd', '3'], {
    // Electron is Node with this variable; Node itself does not know it.
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // A workspace may be gone, or be nowhere on this machine; and no program is to be found in it by chance.
    cwd: dirname(path),
  });
  const secrets = child.stdio[3] as Writable;
  // A daemon that is gone takes no secrets; its end is noticed elsewhere.
  secrets.on('error', () => undefined);
  return { child, tell: (secret) => void secrets.write(`${JSON.stringify(secret)}\n`) };
}
