import { mkdir, open, readdir, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as waitFor } from 'node:timers/promises';
import {
  identityOf,
  identityToName,
  livenessOf,
  type ProcessIdentity,
  tryIdentity,
} from './processIdentity.ts';

/** The mark of a process that is asked for by its number alone, or not at all, is renewed so often, in ms. */
const renewal = 20_000;
/** A mark that was not renewed for so long is that of a process that has gone, in ms. */
const staleAfter = 60_000;
/** Two that came at the same moment both step back, and try again. */
const tries = 4;

/** Which conversations this process alone may write to. */
export interface SessionLocks {
  /** The number of the process that has it open, or undefined where it is ours now; asking again is cheap and sure. */
  take(id: string): Promise<number | undefined>;
  /** Whether this process has it open. */
  has(id: string): boolean;
  /** Whether any process has it open, this one too. */
  isOpen(id: string): Promise<boolean>;
  release(id: string): Promise<void>;
  /** Removes the marks of processes that have gone. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Each process marks what it has open with a file that has the process itself in its name, and looks for marks of
 * others only then: whoever comes second sees the first. A mark is worth what its process is, so that a crash leaves
 * nothing behind that counts, and anybody may remove what a process has left: no later one has the same name.
 */
export function createSessionLocks(folder: string): SessionLocks {
  const held = new Set<string>();
  const taking = new Map<string, Promise<number | undefined>>();
  let self: Promise<ProcessIdentity> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const own = () => {
    self ??= identityOf(process.pid);
    return self;
  };
  const pathOf = async (id: string) => join(folder, `${id}.${identityToName(await own())}`);

  const renew = async () => {
    const now = new Date();
    for (const id of held) await utimes(await pathOf(id), now, now).catch(() => undefined);
  };
  const remove = async (id: string) => {
    held.delete(id);
    await unlink(await pathOf(id)).catch(() => undefined);
  };
  /** Whether it was not there before: one that is there is ours, and whoever comes meanwhile steps back. */
  const mark = async (id: string) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(await pathOf(id), 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined;
      throw error;
    });
    await file?.close();
    return file !== undefined;
  };
  const take = async (id: string) => {
    for (let left = tries; await mark(id); left -= 1) {
      const other = await findOther(folder, id, await own());
      if (other === undefined) break;
      await remove(id);
      if (left === 1) return other;
      await waitFor(Math.random() * 20);
    }
    held.add(id);
    timer ??= setInterval(renew, renewal).unref();
    return undefined;
  };

  return {
    take(id) {
      const underWay = taking.get(id) ?? take(id).finally(() => taking.delete(id));
      taking.set(id, underWay);
      return underWay;
    },
    has: (id) => held.has(id),
    isOpen: async (id) => held.has(id) || (await findOther(folder, id, await own())) !== undefined,
    release: remove,
    async sweep() {
      await findOther(folder, '', await own());
    },
    async close() {
      clearInterval(timer);
      for (const id of held) await remove(id);
    },
  };
}

/** The number of another process that lives and has it open; the marks of those that have gone are removed. An empty id is any. */
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
  const liveness = await livenessOf(other, own);
  if (liveness === 'alive' || liveness === 'gone') return liveness === 'alive';
  const { mtimeMs = 0 } = await stat(path).catch(() => ({ mtimeMs: 0 }));
  return Date.now() - mtimeMs < staleAfter;
}
