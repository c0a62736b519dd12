import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { systemCode } from './follower.ts';

/** A program and its arguments; there is never a shell between. */
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
 * The folder it starts in is the one of this program: Windows looks for a command there first, and a workspace may hold
 * a `docker.exe` of its own.
 */
function spawnReader([program, ...args]: Command, env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(program, args, {
    env,
    cwd: dirname(process.execPath),
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
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
    child.once(event, (code, signal) => resolve(`ended with ${signal ?? `code ${code}`}`));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(failureOf(error));
    });
  });
}

async function killChild(child: ChildProcess, exited: Promise<string>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfter);
  await exited;
  clearTimeout(timer);
}

function failureOf(error: unknown): string {
  const code = systemCode(error);
  return code === 'ENOENT' ? 'is not installed' : `cannot be started (${code})`;
}
