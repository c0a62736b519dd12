import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { systemCode } from './follower.ts';

/** A program and its arguments, which no shell ever reads. */
export type Command = readonly [string, ...string[]];

/** How long a child has to end by itself, in ms. */
const killAfter = 1000;

/** A child whose output is read. */
export interface LogChild {
  /** How it ended, as a clause, once all its output was read; never rejects. */
  readonly ended: Promise<string>;
  /** Ends it. Nothing comes from it any more, and when this settles it is gone. */
  end(): Promise<void>;
}

export interface LogChildOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly onOutput: (stream: 'stdout' | 'stderr', piece: Buffer) => void;
}

export function startLogChild(command: Command, options: LogChildOptions): LogChild {
  try {
    return followChild(spawnReader(command, options.env), options);
  } catch (error) {
    return { ended: Promise.resolve(failureOf(error)), end: async () => undefined };
  }
}

/**
 * Runs `"$@"`, and ends it when the standard input ends: nothing that becomes of the daemon, `SIGKILL` included, can
 * keep that open. What does not heed the signal is killed. The shell has a group of its own, so that a signal from the
 * terminal reaches the daemon alone.
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

/**
 * On Windows the system ends the children with their parent. The folder is that of this program: Windows looks for a
 * command there first, and a workspace may hold a `docker.exe` of its own.
 */
function spawnReader([program, ...args]: Command, env: NodeJS.ProcessEnv): ChildProcess {
  const options = { env, cwd: dirname(process.execPath) };
  if (process.platform === 'win32')
    return spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const supervised = ['-c', supervisor, 'sh', program, ...args];
  return spawn('/bin/sh', supervised, { ...options, stdio: 'pipe', detached: true });
}

function followChild(child: ChildProcess, { onOutput }: LogChildOptions): LogChild {
  let isSilent = false;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (piece: Buffer) => {
      if (!isSilent) onOutput(name, piece);
    });
    // Whatever breaks a pipe ends the output too, and that is told.
    child[name]?.on('error', () => undefined);
  }
  child.stdin?.on('error', () => undefined);
  const exited = endOf(child, 'exit');
  const ended = endOf(child, 'close');
  const end = async () => {
    isSilent = true;
    await killChild(child, exited);
    // A process of its own may hold the pipes open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  return { ended, end };
}

/** An error before there is a process is its end; one after it, such as a signal that was refused, is not. */
function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<string> {
  return new Promise((resolve) => {
    child.once(event, (code: number | null, signal: string | null) => resolve(endingOf(code, signal)));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(failureOf(error));
    });
  });
}

/** A shell says 127 where there is no such program, and 128 more than the number of the signal that ended one. */
function endingOf(code: number | null, signal: string | null): string {
  if (code === 127 && process.platform !== 'win32') return notInstalled;
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
