import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';

/** Identifies a process, so that even a later process with the same number is another one. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started: ticks since the boot on Linux, otherwise 0. */
  readonly start: string;
  /** Identifies the boot of this machine, if the system has such an id. */
  readonly boot: string;
  /** Identifies the machine, and the process namespace on it. */
  readonly place: string;
}

/** `elsewhere` is a process that cannot be checked from here. */
export type Liveness = 'alive' | 'gone' | 'perhaps' | 'elsewhere';

export async function identityOf(pid: number): Promise<ProcessIdentity> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const processes = await readlink('/proc/self/ns/pid').catch(() => '');
  return {
    pid,
    start: (await startOf(pid)) ?? '0',
    boot: digest(boot.trim()),
    place: digest(`${hostname()} ${processes}`),
  };
}

/** Whether a process is still alive, as far as this process can know. */
export async function livenessOf(other: ProcessIdentity, own: ProcessIdentity): Promise<Liveness> {
  if (other.place !== own.place) return 'elsewhere';
  if (other.boot !== own.boot) return 'gone';
  // If the system reports when a process started, a later process with the same number cannot be mistaken for it.
  if (own.start !== '0') return (await startOf(other.pid)) === other.start ? 'alive' : 'gone';
  return isThere(other.pid) ? 'perhaps' : 'gone';
}

/** The identity as a part of a file name. */
export function identityToName({ pid, start, boot, place }: ProcessIdentity): string {
  return [pid, start, boot, place].join('-');
}

export function tryIdentity(name: string): ProcessIdentity | undefined {
  const [, pid = '', start = '', boot = '', place = ''] =
    /^(\d{1,10})-(\d{1,20})-(\w{8})-(\w{8})$/.exec(name) ?? [];
  return pid === '' ? undefined : { pid: Number(pid), start, boot, place };
}

/**
 * Undefined if there is no such process, or if it has ended and only waits for its parent (proc_pid_stat(5), fields 3
 * and 22).
 */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the program's name, which may contain anything.
  const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' || state === 'Z' || state === 'X' ? undefined : rest[18];
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
