import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import type { SecretLine } from '../../../protocol/messages/secrets.ts';

/** A daemon with a pipe for secrets, which are in no argument, variable or message. */
export interface RunnerdProcess {
  readonly child: ChildProcess;
  /** Sends a secret; it replaces an earlier one for the same origin. */
  send(secret: SecretLine): void;
}

/** Starts `runnerd` with the editor's own runtime. */
export function spawnRunnerd(path: string): RunnerdProcess {
  const child = spawn(process.execPath, [path, '--stdio', '--secrets-fd', '3'], {
    // This variable makes Electron run as Node; Node itself ignores it.
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // A workspace may be gone, or may not be on this machine. And no program must be found in it by chance.
    cwd: dirname(path),
  });
  const secrets = child.stdio[3] as Writable;
  // A daemon that has ended takes no secrets; its end is noticed elsewhere.
  secrets.on('error', () => undefined);
  return { child, send: (secret) => void secrets.write(`${JSON.stringify(secret)}\n`) };
}
