import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { thisPlatform } from '../../protocol/base/platform/folders.ts';

/** Milliseconds of quiet before changes are reported. */
const quiet = 60;
/** If changes never pause, they are reported after this many milliseconds. */
const maxDelay = 500;

/**
 * Whether one watcher is enough for a folder and all below it. On Windows it has to be: a watched folder keeps those
 * above it from being moved.
 */
const watchesTrees = thisPlatform === 'win32' || thisPlatform === 'darwin';

/**
 * Watches folders, not files: a watcher for each file of a large library would exhaust the system's limits. `watch`
 * gets the current folders after each scan.
 */
export class LibraryWatcher {
  readonly #watchers = new Map<string, FSWatcher>();
  /** The folders that the watcher of the whole tree is for. */
  #tree: ReadonlySet<string> = new Set();
  #dirty = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #hasFailed = false;
  #isClosed = false;

  constructor(
    private readonly options: {
      /** The content folder, absolute. */
      readonly root: string;
      /** Called after a moment of quiet, with the folders that changed, as paths from the content folder. */
      readonly onDidChange: (folders: readonly string[]) => void;
      /** Called once if the system watches no more folders; the regular scan then finds changes. */
      readonly onDidFail: (error: Error) => void;
    },
  ) {}

  /** Returns the folders whose watch begins now. */
  watch(folders: readonly string[]): readonly string[] {
    const wanted = new Set(folders);
    if (watchesTrees) return this.#watchTree(wanted);
    for (const [folder, watcher] of this.#watchers) if (!wanted.has(folder)) this.#drop(folder, watcher);
    return folders.filter((folder) => !this.#watchers.has(folder) && this.#add(folder));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const [folder, watcher] of this.#watchers) this.#drop(folder, watcher);
  }

  #watchTree(folders: ReadonlySet<string>): readonly string[] {
    const known = this.#watchers.has('') ? this.#tree : new Set<string>();
    this.#tree = folders;
    const isWatched = this.#watchers.has('') || this.#add('');
    return isWatched ? [...folders].filter((folder) => !known.has(folder)) : [];
  }

  /** Takes the path of what has changed in the tree, which is null if there was too much. */
  #noteInTree(name: string | null): void {
    const path = name?.replaceAll(sep, '/');
    if (path === undefined) for (const folder of this.#tree) this.#note(folder);
    else
      for (const one of [dirname(path).replace(/^\.$/, ''), path]) if (this.#tree.has(one)) this.#note(one);
  }

  #add(folder: string): boolean {
    if (this.#isClosed || this.#hasFailed) return false;
    try {
      const watcher = watch(join(this.options.root, folder), { recursive: watchesTrees }, (event, name) => {
        if (watchesTrees) return this.#noteInTree(name);
        this.#note(folder);
        if (event === 'rename') this.#forget(folder, name);
      });
      this.#watchers.set(folder, watcher);
      watcher.on('error', () => {
        this.#drop(folder, watcher);
        this.#note(folder);
      });
      return true;
    } catch (error) {
      this.#fail(error as NodeJS.ErrnoException);
      return false;
    }
  }

  /**
   * An entry of a folder appeared, disappeared, or was replaced. A watcher stays with its original folder even after
   * that was moved away, so the watchers of what may now be another folder are created again.
   */
  #forget(folder: string, name: string | null): void {
    const inside = folder === '' ? '' : `${folder}/`;
    const changed = name === null ? inside : `${inside}${name}`;
    // If the content folder itself was replaced, its own name is reported.
    const isRoot = folder === '' && (name === null || name === basename(this.options.root));
    if (!isRoot && name !== null && !this.#watchers.has(changed)) return;
    for (const [path, watcher] of this.#watchers) {
      const isChanged = name === null ? path.startsWith(changed) : `${path}/`.startsWith(`${changed}/`);
      if (!isRoot && !isChanged) continue;
      this.#drop(path, watcher);
      this.#note(path);
    }
  }

  /** A folder that is gone, or that cannot be read, does not affect the others: they are still watched. */
  #fail(error: NodeJS.ErrnoException): void {
    if (error.code !== 'ENOSPC' && error.code !== 'EMFILE') return;
    this.#hasFailed = true;
    this.options.onDidFail(error);
  }

  #drop(folder: string, watcher: FSWatcher): void {
    this.#watchers.delete(folder);
    watcher.close();
  }

  #note(folder: string): void {
    if (this.#isClosed) return;
    this.#dirty.add(folder);
    const now = performance.now();
    if (this.#timer === undefined) this.#since = now;
    clearTimeout(this.#timer);
    const wait = Math.max(0, Math.min(quiet, this.#since + maxDelay - now));
    this.#timer = setTimeout(() => this.#report(), wait);
  }

  #report(): void {
    const folders = [...this.#dirty];
    this.#dirty = new Set();
    this.#timer = undefined;
    this.options.onDidChange(folders);
  }
}
