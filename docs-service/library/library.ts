import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { linkedSignal } from '../../protocol/base/abort.ts';
import { UnavailableError } from '../base/database.ts';
import type { ContentFolder } from '../content/contentFolder.ts';
import type { WriterLease } from '../search/documentIndex.ts';
import type { LibraryIndexer } from './libraryIndexer.ts';
import { LibraryWatcher } from './libraryWatcher.ts';

export interface LibraryOptions {
  readonly folder: ContentFolder;
  readonly indexer: LibraryIndexer;
  /** Seconds between two scans of the whole folder: network folders and bind mounts send no events. */
  readonly rescan: number;
  /** Called when a scan failed; the next one follows anyway. */
  readonly onError: (error: Error) => void;
}

/** Milliseconds after which incomplete files are looked at again. */
const settle = 200;

/** Milliseconds until the next full scan if the index was down; doubled each time that it still is. */
const soon = 500;

/** Follows the content folder: one scan at a time, of the whole folder or of what changed. */
export class Library {
  readonly #watcher: LibraryWatcher;
  readonly #ending = new AbortController();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #subscription: { dispose(): void };
  #dirty = new Set<string>();
  /** Folders with incomplete files: every scan includes them until the files are complete. */
  #unsettled: readonly string[] = [];
  #wait = soon;
  #all = false;
  #running: Promise<void> | undefined;
  /** Replaced by each report of the watcher and by each scan. */
  #unchanged = {};
  #isWatching = false;
  #hasFailed = false;
  #canWatch = true;

  constructor(private readonly options: LibraryOptions) {
    this.#subscription = options.indexer.onDidLoseIndex(() => void this.lookAtAll());
    this.#watcher = new LibraryWatcher({
      root: options.folder.root,
      onDidChange: (folders) => void this.lookAt(folders),
      onDidFail: (cause) => {
        this.#canWatch = false;
        const message = `The system watches no more folders (${cause.message}). Changes are found every ${options.rescan} s.`;
        options.onError(new Error(message, { cause }));
      },
    });
  }

  /** Resolves after the first scan of the whole folder. */
  async start(): Promise<void> {
    this.#timers.add(setInterval(() => void this.lookAtAll(), this.options.rescan * 1_000));
    await this.lookAtAll();
  }

  /** The same object as long as no file has changed; undefined while not all folders are watched. */
  get unchangedFiles(): object | undefined {
    return this.#isWatching && this.#canWatch ? this.#unchanged : undefined;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  lookAtAll(): Promise<void> {
    this.#unchanged = {};
    this.#all = true;
    return this.#run();
  }

  lookAt(folders: readonly string[]): Promise<void> {
    this.#unchanged = {};
    for (const folder of folders) this.#dirty.add(folder);
    return this.#run();
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#subscription.dispose();
    this.#watcher.close();
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#running;
  }

  #run(): Promise<void> {
    this.#running ??= this.#untilQuiet().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #untilQuiet(): Promise<void> {
    while ((this.#all || this.#dirty.size > 0) && !this.#ending.signal.aborted) {
      const folders = this.#all ? undefined : [...new Set([...this.#dirty, ...this.#unsettled])];
      this.#all = false;
      this.#dirty = new Set();
      await this.#look(folders);
    }
  }

  async #look(folders: readonly string[] | undefined): Promise<void> {
    const { indexer, onError } = this.options;
    try {
      const { unsettled } = await indexer.sync(folders, this.#ending.signal);
      this.#unsettled = unsettled;
      this.#wait = soon;
      this.#hasFailed = false;
      // Something may have changed between the scan of a folder and the start of its watcher.
      for (const folder of this.#watcher.watch(indexer.folders())) this.#dirty.add(folder);
      this.#isWatching = this.#dirty.size === 0;
      if (unsettled.length > 0) this.#later(settle, () => this.lookAt(this.#unsettled));
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      this.#hasFailed = true;
      onError(error as Error);
      if (error instanceof UnavailableError) this.#lookAgain();
    }
  }

  /** Changes were missed while the index was down, and the index may be a new one. */
  #lookAgain(): void {
    if (this.#wait >= this.options.rescan * 1_000) return;
    this.#later(this.#wait, () => this.lookAtAll());
    this.#wait *= 2;
  }

  #later(milliseconds: number, look: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void look();
    }, milliseconds);
    this.#timers.add(timer);
  }
}

/** Milliseconds between two tries to become the writer; another instance takes over within 10 s. */
const period = 3_000;

/** Of all instances on one database, one at a time follows the files. This waits for its turn, again and again. */
export class WriterElection {
  readonly #ending = new AbortController();
  #library: Library | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly options: {
      /** Undefined if another instance is the writer. */
      readonly tryBecomeWriter: () => Promise<WriterLease | undefined>;
      readonly openLibrary: () => Promise<Library>;
      readonly onError: (error: Error) => void;
    },
  ) {}

  /** Resolves once this instance has scanned all files, or another one is the writer. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#running = this.#takeTurns(resolve);
    });
  }

  /** Undefined while another instance is the writer. */
  get library(): Library | undefined {
    return this.#library;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #takeTurns(onFirst: () => void): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        const lease = await this.options.tryBecomeWriter();
        if (lease !== undefined) await this.#write(lease, onFirst);
      } catch (error) {
        this.options.onError(error as Error);
      }
      onFirst();
      await wait(period, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Follows the files until the lease is lost or the service ends. */
  async #write(lease: WriterLease, onFirst: () => void): Promise<void> {
    const over = linkedSignal(lease.lost, this.#ending.signal);
    try {
      this.#library = await this.options.openLibrary();
      const isOver = over.signal.aborted ? Promise.resolve() : once(over.signal, 'abort');
      await Promise.race([this.#library.start().then(onFirst), isOver]);
      await isOver;
    } finally {
      over.unlink();
      await this.#library?.close();
      this.#library = undefined;
      await lease.dispose();
    }
  }
}
