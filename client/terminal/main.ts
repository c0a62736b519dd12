import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as waitFor } from 'node:timers/promises';
import { cacheFolder } from '../../protocol/base/userFolders.ts';
import { runProgram } from './cli/program.ts';
import type { Surroundings } from './cli/streams.ts';
import { openAddress } from './commands/openAddress.ts';
import { spawnDaemon } from './daemon/daemonProcess.ts';
import type { CodeColours } from './screen/codeFence.ts';

declare const RUNNER_VERSION: string;

void main();

/** The pages that are installed with the program; a package for an editor has no document service. */
function documents(): Pick<Surroundings, 'documents'> {
  const program = join(__dirname, 'runner-docs.cjs');
  if (!existsSync(program)) return {};
  const cache = cacheFolder({ HOME: homedir(), ...process.env }, process.platform);
  if (cache === undefined) return {};
  const data = join(cache, 'docs');
  const args = [program, 'mcp', '--content', join(__dirname, '..', 'docs'), '--data', data];
  return { documents: { command: process.execPath, args } };
}

async function main(): Promise<void> {
  const surroundings: Surroundings = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    version: RUNNER_VERSION,
    now: () => performance.now(),
    patience: 2_000,
    today: () => new Date(),
    ...documents(),
    openAddress: (url) => openAddress(url, process.platform, process.env),
    coloursFor,
    spawnDaemon: (flags) => spawnDaemon(join(__dirname, 'runnerd.cjs'), process.env, flags),
    suspend,
    onContinue: onSignal('SIGCONT'),
    onInterrupt: onSignal('SIGINT'),
  };
  process.stdout.on('error', leaveWithoutOutput);
  process.stderr.on('error', goOnWithoutRemarks);
  const code = await runProgram(surroundings, process.argv.slice(2));
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(code);
}

/** The parsers of languages are loaded with the first code that an answer has; without them code has one colour. */
function coloursFor(label: string): CodeColours | undefined {
  try {
    const load = createRequire(__filename);
    const colours: typeof import('./screen/codeColours.ts') = load('./terminal/codeColours.cjs');
    return colours.createCodeColours(label);
  } catch {
    return undefined;
  }
}

/** Without a shell that could let it go on, nothing stops a process: then it goes on at once. */
async function suspend(): Promise<void> {
  if (process.platform !== 'win32') process.kill(0, 'SIGTSTP');
  await waitFor(stopDelay);
}

/** The signal has stopped the process by then, in ms. */
const stopDelay = 50;

function onSignal(signal: NodeJS.Signals) {
  return (take: () => void) => {
    process.on(signal, take);
    return () => process.off(signal, take);
  };
}

/** The exit code still tells what became of it, without a reader of the remarks. */
function goOnWithoutRemarks(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') process.exit(1);
}

/** A reader that went away, such as "head", is no error; a full disk is. */
function leaveWithoutOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`The output cannot be written: ${error.message}.\n`);
  process.exit(1);
}
