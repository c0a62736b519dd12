import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** How many entries can be recalled. */
export const historySize = 1000;
/** When a conversation begins, a larger file becomes the older one of two, in bytes. */
const maxFile = 256 * 1024;
/** A longer entry is not kept, in characters. */
const maxEntry = 64 * 1024;

export function historyPath(env: Readonly<Record<string, string | undefined>>): string {
  return join(
    env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state'),
    'runner',
    'history',
  );
}

/** The entries of earlier conversations in any terminal, newest first, as readline wants them. */
export function readHistory(path: string): string[] {
  makeRoom(path);
  const entries = [olderThan(path), path].flatMap(entriesOf).reverse();
  return [...new Set(entries)].slice(0, historySize);
}

/**
 * Adds an entry. Other terminals add theirs to the same file, so nothing in it is ever written again. Prompts are
 * private: only their owner can read the file. A folder that cannot be written loses the history alone.
 */
export function appendHistory(path: string, entry: string): void {
  if (entry.length > maxEntry) return;
  for (const folder of foldersOf(path)) tryTo(() => mkdirSync(folder, { mode: 0o700 }));
  // The mode of a file that is there already is not changed by writing it.
  tryTo(() => chmodSync(path, 0o600));
  tryTo(() => appendFileSync(path, `${entry}\n`, { mode: 0o600 }));
}

function entriesOf(path: string): readonly string[] {
  const text = tryTo(() => readFileSync(path, 'utf8')) ?? '';
  return text.split('\n').filter((line) => line !== '');
}

/** Entries that another terminal adds at the same moment are in one of the two files. */
function makeRoom(path: string): void {
  const taken = `${path}.${process.pid}`;
  tryTo(() => {
    if (statSync(path).size <= maxFile) return;
    renameSync(path, taken);
    if (statSync(taken).size > maxFile) return renameSync(taken, olderThan(path));
    // Another terminal was faster: this is what has come since.
    appendFileSync(path, readFileSync(taken), { mode: 0o600 });
    unlinkSync(taken);
  });
}

function olderThan(path: string): string {
  return `${path}.old`;
}

/** The result of the work; undefined where the file system refuses it. */
function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** The outermost first, to be made one after another: on `/proc` and its like, Node's recursive `mkdir` never ends. */
function foldersOf(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...foldersOf(folder), folder];
}
