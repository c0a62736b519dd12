import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { TerminalError } from '../cli/failure.ts';

/** The process of a daemon, as the client sees it. */
export interface DaemonProcess {
  /** What the daemon reads. */
  readonly input: Writable;
  /** What the daemon writes. */
  readonly output: Readable;
  /** What it said on standard error, the last of it. */
  readonly said: () => string;
  /** Fulfilled once it is gone, with a word on how, such as `exit code 1`. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
}

/** How many characters of what the daemon says on standard error are kept for the case that it dies. */
const keptStderr = 4096;

/**
 * Starts `runnerd` from its path with this program's own runtime.
 * @throws {TerminalError} when it is not there.
 */
export function spawnDaemon(
  runnerd: string,
  env: NodeJS.ProcessEnv,
  flags: readonly string[],
): DaemonProcess {
  if (!existsSync(runnerd))
    throw new TerminalError('daemon-failed', `${runnerd} is missing. Build it with "npm run build".`);
  const child = spawn(process.execPath, [runnerd, '--stdio', ...flags], {
    stdio: 'pipe',
    env,
    // In a group of its own, Ctrl-C reaches the client alone, which then cancels what it asked for.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-keptStderr);
  });
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return {
    input: child.stdin,
    output: child.stdout,
    said: () => said,
    ended,
    kill: () => child.kill('SIGKILL'),
  };
}
