import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { count } from '../../protocol/base/text.ts';
import { IgnoreRules } from '../base/pathRules.ts';
import { createYielder } from '../base/yielder.ts';

/** A file below a folder. */
interface FolderFile {
  /** Relative to the folder, with slashes. */
  readonly name: string;
  /** Where it is, without links. */
  readonly path: string;
}

/** How many entries of folders are looked at for one request, and for how long, in ms. */
const maxEntries = 20_000;
const maxTime = 2_000;

interface WalkOptions {
  /** The folder, without links. */
  readonly root: string;
  /** Whether a file is wanted, by its name relative to the folder. */
  readonly isWanted: (name: string) => boolean;
  /** How deep to go; 0 means only the folder itself. */
  readonly depth: number;
  /** In ms; by default 2,000. What is done with the files counts too. */
  readonly time?: number;
  readonly left: Omissions;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * The files of a folder, those at the top first. What programs made is passed over, and so are links that lead out of
 * the folder, and links to folders.
 */
export async function* filesOf(options: WalkOptions): AsyncGenerator<FolderFile> {
  const { root, depth, left, now, signal, time = maxTime } = options;
  const end = now() + time;
  const yieldNow = createYielder();
  const folders: Folder[] = [{ name: '', depth: 0, rules: await rulesAbove(root) }];
  let seen = 0;
  for (const folder of folders) {
    const rules = [...folder.rules, await IgnoreRules.read(join(root, folder.name), '.gitignore')];
    for (const entry of await entriesOf(join(root, folder.name), left)) {
      signal.throwIfAborted();
      if (++seen > maxEntries || now() > end) return left.stop('the rest of a very large folder');
      await yieldNow();
      const name = folder.name === '' ? entry.name : `${folder.name}/${entry.name}`;
      const isFolder = entry.isDirectory();
      if (noise.has(entry.name) || isIgnored(join(root, name), isFolder, rules)) left.add('ignored');
      else if (isFolder) {
        if (folder.depth < depth) folders.push({ name, depth: folder.depth + 1, rules });
      } else if (options.isWanted(name)) {
        const path = await placeOf(entry, root, name);
        if (path === undefined) left.add('links');
        else yield { name, path };
      }
    }
  }
}

/** Folders that hold what programs make, whether or not a `.gitignore` says so. */
const noise: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.svn',
  '.jj',
  'node_modules',
  'bower_components',
  '.venv',
  'venv',
  '__pycache__',
  '.mypy_cache',
  '.pytest_cache',
  '.tox',
  '.gradle',
  '.next',
  '.nuxt',
  '.cache',
  '.DS_Store',
]);

/** Whether a file, by its path with slashes, is in a folder of what programs made. */
export function isMade(name: string): boolean {
  return name.split('/').some((part) => noise.has(part));
}

interface Folder {
  readonly name: string;
  readonly depth: number;
  readonly rules: readonly IgnoreRules[];
}

/** The nearest rules that say something count. */
function isIgnored(path: string, isFolder: boolean, all: readonly IgnoreRules[]): boolean {
  for (const rules of all.toReversed()) {
    const hides = rules.hides(path, isFolder);
    if (hides !== undefined) return hides;
  }
  return false;
}

/** Those of the folders above, as far as the repository goes. They do not hide the folder itself, which is named. */
async function rulesAbove(root: string): Promise<readonly IgnoreRules[]> {
  const above: IgnoreRules[] = [];
  for (let folder = root; ; folder = dirname(folder)) {
    if (folder !== root) above.unshift((await IgnoreRules.read(folder, '.gitignore')).withNamed(root));
    if (await isThere(join(folder, '.git'))) return above;
    if (folder === dirname(folder)) return [];
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function entriesOf(folder: string, left: Omissions): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    left.add('unreadable');
    return [];
  }
}

/** Where a file really is; undefined if that is outside of the folder, or no file. */
async function placeOf(entry: Dirent, root: string, name: string): Promise<string | undefined> {
  const path = join(root, name);
  if (!entry.isSymbolicLink()) return path;
  const place = await realpath(path).catch(() => undefined);
  if (!place?.startsWith(join(root, sep))) return undefined;
  const found = await stat(place).catch(() => undefined);
  return found?.isFile() ? place : undefined;
}

const reasons = {
  ignored: ['entry that .gitignore or habit leaves out', 'entries that .gitignore or habit leaves out'],
  secret: [
    'file that looks like a secret (name it exactly)',
    'files that look like secrets (name them exactly)',
  ],
  excluded: ['file that is excluded', 'files that are excluded'],
  binary: ['file that is no text', 'files that are no text'],
  large: ['file that is too large', 'files that are too large'],
  links: ['link that leads elsewhere', 'links that lead elsewhere'],
  unreadable: ['entry that cannot be read', 'entries that cannot be read'],
} as const;

/** What was left out of a folder, in words. */
export class Omissions {
  readonly #counts = new Map<keyof typeof reasons, number>();
  #rest: string | undefined;

  add(reason: keyof typeof reasons): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  /** Nothing more is looked at. */
  stop(rest: string): void {
    this.#rest = rest;
  }

  /** What is no longer looked at, in words. */
  get rest(): string | undefined {
    return this.#rest;
  }

  /** A sentence; undefined if nothing was. */
  sentence(word: string): string | undefined {
    const counted = [...this.#counts].map(([reason, number]) => {
      const [one, many] = reasons[reason];
      return count(number, one, many);
    });
    const parts = [...counted, ...(this.#rest === undefined ? [] : [this.#rest])];
    if (parts.length === 0) return undefined;
    return `Left out of ${word}: ${new Intl.ListFormat('en-GB').format(parts)}.`;
  }
}
