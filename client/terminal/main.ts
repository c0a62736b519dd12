import { join } from 'node:path';
import { parseCommandLine } from './commandLine.ts';
import { runCommand } from './commands.ts';
import { failureOf } from './failure.ts';
import { type Surroundings, UsageError } from './streams.ts';

declare const RUNNER_VERSION: string;

void main();

async function main(): Promise<void> {
  const surroundings: Surroundings = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    runnerd: join(__dirname, 'runnerd.cjs'),
    version: RUNNER_VERSION,
    onInterrupt(take) {
      process.on('SIGINT', take);
      return () => process.off('SIGINT', take);
    },
  };
  // A reader that went away, such as "head", is no error.
  process.stdout.on('error', () => process.exit(0));
  process.exit(await exitCode(surroundings));
}

async function exitCode(surroundings: Surroundings): Promise<number> {
  try {
    return await runCommand(surroundings, parseCommandLine(process.argv.slice(2)));
  } catch (error) {
    process.stderr.write(`${failureOf(error).message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}
