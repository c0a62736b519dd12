import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as waitFor } from 'node:timers/promises';
import { cacheFolder, thisPlatform } from '../../protocol/base/platform/folders.ts';
import type { StdioToolServer } from '../../protocol/messages/tools.ts';
import { systemClock } from '../shared/clock.ts';
import type { Program } from './cli/command.ts';
import { runProgram } from './cli/program.ts';
import { copyText, editText, openAddress } from './cli/systemPrograms.ts';
import { spawnDaemon } from './daemon/daemon.ts';
import { Output } from './screen/output.ts';

declare const RUNNER_VERSION: string;

if (process.argv[2] === 'docs') startDocuments();
else void main();

/** `npx` starts the program with the name of the package. So `runner docs` is `runner-docs`, with the same process. */
function startDocuments(): void {
  process.argv.splice(2, 1);
  createRequire(__filename)(join(__dirname, 'runner-docs.cjs'));
}

async function main(): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const documents = documentServer(env);
  const program: Program = {
    version: RUNNER_VERSION,
    spawnDaemon: (flags) => spawnDaemon(join(__dirname, 'runnerd.cjs'), env, flags),
    ...(documents ? { documents } : {}),
    openAddress: (url) => openAddress(url, thisPlatform, env),
    editText: (text) => editText(text, thisPlatform, env),
    copyText: (text) => copyText(text, thisPlatform, env),
  };
  const terminal = {
    stdin,
    stdout: new Output(stdout, env),
    stderr: new Output(stderr, env),
    env,
    cwd: process.cwd(),
    now: () => performance.now(),
    after: systemClock.after,
    today: () => new Date(),
    patience: 2_000,
    suspend,
    onContinue: onSignal('SIGCONT'),
    onInterrupt: onSignal('SIGINT'),
  };
  stdout.on('error', endWithoutOutput);
  stderr.on('error', ignoreClosedStderr);
  const code = await runProgram(terminal, program, process.argv.slice(2));
  await new Promise<void>((resolve) => stdout.write('', () => resolve()));
  process.exit(code);
}

/** Serves the pages that are installed with the program. The package for an editor has no document service. */
function documentServer(own: NodeJS.ProcessEnv): StdioToolServer | undefined {
  const program = join(__dirname, 'runner-docs.cjs');
  const cache = cacheFolder({ HOME: homedir(), ...own });
  if (!existsSync(program) || cache === undefined) return undefined;
  const content = join(__dirname, '..', 'docs');
  const args = [program, 'mcp', '--content', content, '--data', join(cache, 'docs')];
  // With these, pages are found by meaning too. A tool server inherits no others than the usual variables.
  const names = ['DOCS_EMBEDDINGS', 'DOCS_EMBEDDINGS_MODEL', 'DOCS_EMBEDDINGS_TOKEN_FILE'];
  const env = Object.fromEntries(
    names.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]])),
  );
  return { command: process.execPath, args, env };
}

/** Without a shell that could continue it, the process is not stopped, and this returns at once. */
async function suspend(): Promise<void> {
  if (thisPlatform !== 'win32') process.kill(0, 'SIGTSTP');
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

/** The exit code still reports the result if nobody reads standard error. */
function ignoreClosedStderr(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') process.exit(1);
}

/** A reader that has gone, such as "head", is not an error; a full disk is. */
function endWithoutOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`The output cannot be written: ${error.message}.\n`);
  process.exit(1);
}
