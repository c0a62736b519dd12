import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { open, readdir, readFile, readlink, stat, unlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as waitFor } from 'node:timers/promises';
import { orAborted } from '../../protocol/base/abort.ts';
import { SerialQueue } from '../../protocol/base/keyedWork.ts';
import { makePrivateFolder } from '../../protocol/base/platform/privateFile.ts';

/** How often to try again while another process holds the id, in ms. */
const retryEvery = 50;

/** Work on files of the user that nobody else does at the same time, here or in another process. */
export class ExclusiveWork {
  readonly #locks: ProcessLocks;
  readonly #queue = new SerialQueue();

  /**
   * @param folder where processes put their locks. A process must have only one instance for a folder: two would share
   * their locks.
   * @param longest how long to wait for another process, in ms. After that, `busy` is thrown.
   */
  constructor(
    folder: string,
    private readonly longest: number,
    private readonly busy: () => Error,
  ) {
    this.#locks = new ProcessLocks(folder);
  }

  /**
   * Runs the work once all earlier work on the same id is done. The signal ends only the waiting, not work that has
   * begun. @throws {Error} `busy`, if another process holds the id for too long.
   */
  async run<T>(id: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = this.#queue.run(id, () => this.#locked(id, work, signal));
    return signal ? orAborted(turn, signal) : turn;
  }

  /** Waits for work that has begun. */
  async close(): Promise<void> {
    await this.#queue.settle();
    await this.#locks.close();
  }

  async #locked<T>(id: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begun = performance.now();
    while ((await this.#locks.take(id)) !== undefined) {
      if (performance.now() - begun > this.longest) throw this.busy();
      await waitFor(retryEvery);
      signal?.throwIfAborted();
    }
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      await this.#locks.release(id);
    }
  }
}

/**
 * How often a mark is renewed, in ms. Renewal matters for a process that others can check only by its number, or not at
 * all.
 */
const renewal = 20_000;
/** If a mark was not renewed for this long, its process counts as gone, in ms. */
const staleAfter = 60_000;
/** If two processes mark at the same moment, both step back and try again. */
const tries = 4;
/** How long one waits for the other to give up what it does not use, in ms. */
const patience = 1_000;

/**
 * What only this process may write to, such as a conversation or the file of a login; each has an id.
 *
 * A process marks what it has open with a file whose name identifies the process. It looks for marks of others only
 * afterwards, so of two processes the second one sees the first. A mark is valid only while its process lives, so a
 * crash leaves no valid mark behind. Anybody may remove the marks of a dead process, because no later process has the
 * same name.
 */
export class ProcessLocks {
  readonly #held = new Set<string>();
  readonly #taking = new Map<string, Promise<number | undefined>>();
  #self: Promise<ProcessIdentity> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watcher: FSWatcher | undefined;

  /** `mayGiveUp`: whether what this process has open may be given to another one that asks; absent if it never is. */
  constructor(
    private readonly folder: string,
    private readonly mayGiveUp?: (id: string) => boolean,
    private readonly ownIdentity = () => identityOf(process.pid),
  ) {}

  /** Returns the number of the process that has it open, or undefined if it is ours now. Asking again is cheap. */
  take(id: string): Promise<number | undefined> {
    const underWay = this.#taking.get(id) ?? this.#take(id).finally(() => this.#taking.delete(id));
    this.#taking.set(id, underWay);
    return underWay;
  }

  /** Whether this process has it open. */
  has(id: string): boolean {
    return this.#held.has(id);
  }

  /** Whether any process has it open, including this one. */
  async isOpen(id: string): Promise<boolean> {
    return this.has(id) || (await findOther(this.folder, id, await this.#own())) !== undefined;
  }

  async release(id: string): Promise<void> {
    this.#held.delete(id);
    await unlink(await this.#pathOf(id)).catch(() => undefined);
  }

  /** Removes the marks of processes that are gone. */
  async sweep(): Promise<void> {
    await findOther(this.folder, '', await this.#own());
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#watcher?.close();
    for (const id of this.#held) await this.release(id);
  }

  #own(): Promise<ProcessIdentity> {
    this.#self ??= this.ownIdentity();
    return this.#self;
  }

  async #pathOf(id: string): Promise<string> {
    return join(this.folder, `${id}.${identityToName(await this.#own())}`);
  }

  async #take(id: string): Promise<number | undefined> {
    const until = Date.now() + (this.mayGiveUp ? patience : 0);
    for (let left = tries; await this.#mark(id); left -= 1) {
      const other = await findOther(this.folder, id, await this.#own());
      if (other === undefined) break;
      await this.release(id);
      if (left <= 1 && Date.now() >= until) return other;
      await waitFor(Math.random() * (left > 1 ? 20 : 200));
    }
    this.#held.add(id);
    this.#timer ??= setInterval(() => this.#renew(), renewal).unref();
    if (this.mayGiveUp) this.#watcher ??= tryWatch(this.folder, (name) => void this.#giveUp(name));
    return undefined;
  }

  /** Creates our mark. Returns false if it already existed: then it is ours, and others step back. */
  async #mark(id: string): Promise<boolean> {
    await makePrivateFolder(this.folder);
    const file = await open(await this.#pathOf(id), 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined;
      throw error;
    });
    await file?.close();
    return file !== undefined;
  }

  async #renew(): Promise<void> {
    const now = new Date();
    for (const id of this.#held) await utimes(await this.#pathOf(id), now, now).catch(() => undefined);
  }

  /** Whoever asks for something marks it: what is not in use is given up then. */
  async #giveUp(name: string | null): Promise<void> {
    const [id = '', owner = ''] = name?.split('.') ?? [];
    const isOthers = owner !== identityToName(await this.#own());
    if (this.has(id) && isOthers && this.mayGiveUp?.(id)) await this.release(id);
  }
}

/** Undefined where the system watches no more folders: then nothing is given up. */
function tryWatch(folder: string, onChange: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(folder, { persistent: false }, (_, name) => onChange(name)).on('error', () => undefined);
  } catch {
    return undefined;
  }
}

/**
 * The number of another living process that has it open. Removes the marks of processes that are gone. An empty id
 * matches every id.
 */
async function findOther(folder: string, id: string, own: ProcessIdentity): Promise<number | undefined> {
  let found: number | undefined;
  for (const name of await readdir(folder).catch(() => [])) {
    const [of = '', owner = ''] = name.split('.');
    const other = id === '' || of === id ? tryIdentity(owner) : undefined;
    if (!other || identityToName(other) === identityToName(own)) continue;
    if (await isHeld(join(folder, name), other, own)) found ??= other.pid;
    else await unlink(join(folder, name)).catch(() => undefined);
  }
  return found;
}

async function isHeld(path: string, other: ProcessIdentity, own: ProcessIdentity): Promise<boolean> {
  const isAlive = await knownLife(other, own);
  if (isAlive !== undefined) return isAlive;
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs < staleAfter;
}

/** Identifies a process, so that even a later process with the same number is another one. */
interface ProcessIdentity {
  readonly pid: number;
  /** When it started: ticks since the boot on Linux, otherwise 0. */
  readonly start: string;
  /** Identifies the boot of this machine, if the system has such an id. */
  readonly boot: string;
  /** Identifies the machine, and the process namespace on it. */
  readonly place: string;
}

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

/**
 * Whether a process is still alive. Undefined for a process that is elsewhere, and where a later one may have its
 * number.
 */
async function knownLife(other: ProcessIdentity, own: ProcessIdentity): Promise<boolean | undefined> {
  if (other.place !== own.place) return undefined;
  if (other.boot !== own.boot) return false;
  // If the system reports when a process started, a later process with the same number cannot be mistaken for it.
  if (own.start !== '0') return (await startOf(other.pid)) === other.start;
  return isAlive(other.pid) ? undefined : false;
}

/** The identity as a part of a file name. */
export function identityToName({ pid, start, boot, place }: ProcessIdentity): string {
  return [pid, start, boot, place].join('-');
}

function tryIdentity(name: string): ProcessIdentity | undefined {
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

/** Whether a process with this number lives. One of another user counts. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
