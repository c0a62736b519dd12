import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { thisPlatform } from '../../protocol/base/platform/folder.ts';
import { startProgram } from '../../protocol/base/platform/program.ts';
import { systemCode } from './follower.ts';

/** A program and its arguments. No shell interprets them. */
export type LogCommand = readonly [string, ...string[]];

/** How long a child may take to end by itself, in ms. */
const killAfter = 1000;

/** A child whose output is read. */
export interface LogChild {
  /** Settles when all of its output is read, with a clause that says how it ended. Never rejects. */
  readonly ended: Promise<string>;
  /** Ends the child. It has no more output, and it is gone when this settles. */
  end(): Promise<void>;
}

export interface LogChildOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly onOutput: (stream: 'stdout' | 'stderr', piece: Buffer) => void;
}

export function startLogChild(command: LogCommand, options: LogChildOptions): LogChild {
  try {
    return followChild(spawnReader(command, options.env), options);
  } catch (error) {
    return { ended: Promise.resolve(failureOf(error)), end: async () => undefined };
  }
}

/**
 * Runs `"$@"`, and ends it when the standard input ends. The standard input ends whatever happens to the daemon,
 * `SIGKILL` included. A command that ignores the first signal is killed. The shell has a process group of its own, so
 * that a signal from the terminal reaches only the daemon.
 */
const supervisor = `
command -v "$1" >/dev/null || exit 127
exec 3<&0 </dev/null
"$@" 3<&- &
child=$!
{
  read -r _ <&3
  kill "$child"
  PATH=$PATH:/bin:/usr/bin sleep ${killAfter / 1000}
  kill -KILL "$child"
} >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$child"
code=$?
kill "$watcher"
exit "$code"
`;

/** On Windows the system ends children with their parent. */
function spawnReader([program, ...args]: LogCommand, env: NodeJS.ProcessEnv): ChildProcess {
  const options = { env, cwd: dirname(process.execPath) };
  if (thisPlatform === 'win32')
    return startProgram(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const supervised = ['-c', supervisor, 'sh', program, ...args];
  return startProgram('/bin/sh', supervised, { ...options, stdio: 'pipe', leadsGroup: true });
}

function followChild(child: ChildProcess, { onOutput }: LogChildOptions): LogChild {
  let isSilent = false;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (piece: Buffer) => {
      if (!isSilent) onOutput(name, piece);
    });
    // A broken pipe also ends the output, and that is reported.
    child[name]?.on('error', () => undefined);
  }
  child.stdin?.on('error', () => undefined);
  const exited = endOf(child, 'exit');
  const ended = endOf(child, 'close');
  const end = async () => {
    isSilent = true;
    await killChild(child, exited);
    // A process that the child has started may hold the pipes open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  return { ended, end };
}

/** An error before the process exists is its end. A later error, such as a refused signal, is not. */
function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<string> {
  return new Promise((resolve) => {
    child.once(event, (code: number | null, signal: string | null) => resolve(endingOf(code, signal)));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(failureOf(error));
    });
  });
}

/** A shell ends with 127 if there is no such program, and with 128 plus the signal's number if a signal ended it. */
function endingOf(code: number | null, signal: string | null): string {
  if (code === 127) return notInstalled;
  const [name] = Object.entries(constants.signals).find(([, number]) => number + 128 === code) ?? [];
  return `ended with ${signal ?? name ?? `code ${code}`}`;
}

async function killChild(child: ChildProcess, exited: Promise<string>): Promise<void> {
  if (child.stdin) {
    child.stdin.destroy();
    await exited;
    return;
  }
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfter);
  await exited;
  clearTimeout(timer);
}

const notInstalled = 'is not installed';

function failureOf(error: unknown): string {
  const code = systemCode(error);
  return code === 'ENOENT' ? notInstalled : `cannot be started (${code})`;
}
