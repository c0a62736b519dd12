import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { startProgram, systemProgram } from './program.ts';

/** How long a group that was asked to end has for it, and how often that is checked, in ms. */
const usualGrace = 1_000;
const lookEvery = 20;

export type ProcessGroups = ReturnType<typeof createProcessGroups>;

/** Ends processes together with all processes that they have started. */
export function createProcessGroups({
  platform,
  env,
}: {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
}) {
  /** How long each has to end. */
  const living = new Map<number, number>();
  const ending = new Map<number, Promise<void>>();
  const guard = platform === 'win32' ? undefined : createGuard(env);
  const signal = platform === 'win32' ? killTree : signalGroup;
  const killAll = () => {
    for (const pid of living.keys()) signal(pid, 'SIGKILL');
  };
  const forget = (pid: number) => {
    living.delete(pid);
    guard?.remove(pid);
    if (living.size === 0) process.off('exit', killAll);
  };
  const isGoneWithin = async (pid: number, limit: number) => {
    for (let waited = 0; waited < limit && isThere(pid, platform); waited += lookEvery)
      await pause(lookEvery);
    return !isThere(pid, platform);
  };
  const end = async (pid: number, patience: number) => {
    const hasEnded = await isGoneWithin(pid, patience);
    if (!hasEnded) signal(pid, 'SIGTERM');
    // The id of a group that has ended may be another one's by now.
    if (!hasEnded && !(await isGoneWithin(pid, living.get(pid) ?? usualGrace))) signal(pid, 'SIGKILL');
    forget(pid);
    ending.delete(pid);
  };
  const endOnce = (pid: number, patience = 0) => {
    const ended = ending.get(pid) ?? end(pid, patience);
    ending.set(pid, ended);
    return ended;
  };
  return {
    /**
     * Watches a child that leads a process group. The group ends with this process, however that ends. It is killed
     * `killAfter` ms after it was asked to end: a second, unless it needs longer.
     */
    add({ pid }: ChildProcess, killAfter = usualGrace): void {
      if (pid === undefined) return;
      if (living.size === 0) process.on('exit', killAll);
      living.set(pid, killAfter);
      guard?.add(pid);
    },
    /** Waits for `patience` ms for the group to end by itself, then ends it. Settles when the group has ended. */
    async end({ pid }: ChildProcess, patience?: number): Promise<void> {
      if (pid !== undefined && living.has(pid)) await endOnce(pid, patience);
    },
    /** Ends all groups. */
    async close(): Promise<void> {
      await Promise.all([...living.keys()].map((pid) => endOnce(pid)));
      guard?.close();
    },
  };
}

/** Whether any process of the group still runs. */
function isThere(pid: number, platform: NodeJS.Platform): boolean {
  try {
    process.kill(platform === 'win32' ? pid : -pid, 0);
    return true;
  } catch {
    return false;
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

function killTree(pid: number): void {
  const program = systemProgram('taskkill.exe', process.env);
  const child = startProgram(program, ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
  child.on('error', () => undefined);
}

/**
 * A shell whose input ends with this process, even if this process is killed. It then kills the groups that are left.
 * It is given only process ids.
 */
const guardScript = `
groups=' '
while read -r what pid; do
  case $what in
    add) groups="$groups$pid " ;;
    remove) groups="\${groups%% $pid *} \${groups#* $pid }" ;;
  esac
done
for pid in $groups; do kill -s TERM -- "-$pid" 2>/dev/null; done
[ "$groups" = ' ' ] || sleep 1
for pid in $groups; do kill -s KILL -- "-$pid" 2>/dev/null; done
`;

function createGuard(env: NodeJS.ProcessEnv) {
  let shell: ChildProcess | undefined;
  const start = () => {
    const child = startProgram('/bin/sh', ['-c', guardScript], {
      // It must not receive the signals of our group, such as Ctrl-C.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: env['PATH'] ?? '/usr/bin:/bin' },
      cwd: '/',
    });
    child.on('error', () => undefined);
    child.stdin?.on('error', () => undefined);
    child.unref();
    return child;
  };
  const say = (line: string) => void shell?.stdin?.write(`${line}\n`);
  return {
    add(pid: number): void {
      shell ??= start();
      say(`add ${pid}`);
    },
    remove: (pid: number) => say(`remove ${pid}`),
    close(): void {
      shell?.stdin?.end();
      shell = undefined;
    },
  };
}
