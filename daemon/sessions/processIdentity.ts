import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';

/** A process that is told apart from every other, also from a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it began: Linux's ticks since the boot, else 0. */
  readonly start: string;
  /** Of the boot of this machine, where the system says it. */
  readonly boot: string;
  /** The machine, and the part of it whose processes this one sees. */
  readonly place: string;
}

/** `elsewhere` is a process that cannot be asked for from here. */
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

/** Whether a process still lives, as far as this one can know. */
export async function livenessOf(other: ProcessIdentity, own: ProcessIdentity): Promise<Liveness> {
  if (other.place !== own.place) return 'elsewhere';
  if (other.boot !== own.boot) return 'gone';
  // Where the system says when a process began, its number cannot be mistaken for a later one's.
  if (own.start !== '0') return (await startOf(other.pid)) === other.start ? 'alive' : 'gone';
  return isThere(other.pid) ? 'perhaps' : 'gone';
}

/** As a part of the name of a file. */
export function identityToName({ pid, start, boot, place }: ProcessIdentity): string {
  return [pid, start, boot, place].join('-');
}

export function tryIdentity(name: string): ProcessIdentity | undefined {
  const [, pid = '', start = '', boot = '', place = ''] =
    /^(\d{1,10})-(\d{1,20})-(\w{8})-(\w{8})$/.exec(name) ?? [];
  return pid === '' ? undefined : { pid: Number(pid), start, boot, place };
}

/** Undefined where there is no such process, or it has ended and only waits for its parent (proc_pid_stat(5), 3 and 22). */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the program's name, with whatever that has.
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
