import { join } from 'node:path';
import { spawnDaemon } from './daemonProcess.ts';
import { runProgram } from './program.ts';
import type { Surroundings } from './streams.ts';

declare const RUNNER_VERSION: string;

void main();

async function main(): Promise<void> {
  const surroundings: Surroundings = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    version: RUNNER_VERSION,
    now: () => performance.now(),
    today: () => new Date(),
    spawnDaemon: (flags) => spawnDaemon(join(__dirname, 'runnerd.cjs'), process.env, flags),
    onInterrupt(take) {
      process.on('SIGINT', take);
      return () => process.off('SIGINT', take);
    },
  };
  process.stdout.on('error', leaveWithoutOutput);
  process.stderr.on('error', leaveWithoutOutput);
  const code = await runProgram(surroundings, process.argv.slice(2));
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(code);
}

/** A reader that went away, such as "head", is no error; a full disk is. */
function leaveWithoutOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`The output cannot be written: ${error.message}.\n`);
  process.exit(1);
}
