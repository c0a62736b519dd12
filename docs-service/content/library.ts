import { IndexUnavailable } from '../index/documentIndex.ts';
import type { ContentFolder } from './contentFolder.ts';
import type { LibraryIndexer } from './libraryIndexer.ts';
import { LibraryWatcher } from './libraryWatcher.ts';

export interface LibraryOptions {
  readonly folder: ContentFolder;
  readonly indexer: LibraryIndexer;
  /** Seconds between two looks at the whole folder: network folders and bind mounts send no events. */
  readonly rescan: number;
  /** A look that failed; the next one comes all the same. */
  readonly onError: (error: Error) => void;
}

/** Milliseconds after which files that were half written are looked at again. */
const settle = 200;

/** Milliseconds after which all is looked at again where the index was away; twice as many each time it still is. */
const soon = 500;

/** Follows the content folder: one look at a time, at all of it or at what changed. */
export class Library {
  readonly #options: LibraryOptions;
  readonly #watcher: LibraryWatcher;
  readonly #ending = new AbortController();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #subscription: { dispose(): void };
  #dirty = new Set<string>();
  /** Folders with files that were half written: every look takes them in until they have come to rest. */
  #unsettled: readonly string[] = [];
  #wait = soon;
  #all = false;
  #running: Promise<void> | undefined;

  constructor(options: LibraryOptions) {
    this.#options = options;
    this.#subscription = options.indexer.onDidLoseIndex(() => void this.lookAtAll());
    this.#watcher = new LibraryWatcher({
      root: options.folder.root,
      onDidChange: (folders) => void this.lookAt(folders),
      onDidFail: (cause) =>
        options.onError(
          new Error(
            `The system watches no more folders (${cause.message}). Changes are found every ${options.rescan} s.`,
            { cause },
          ),
        ),
    });
  }

  /** Resolves once the whole folder was looked at. */
  async start(): Promise<void> {
    const timer = setInterval(() => void this.lookAtAll(), this.#options.rescan * 1_000);
    this.#timers.add(timer);
    await this.lookAtAll();
  }

  lookAtAll(): Promise<void> {
    this.#all = true;
    return this.#run();
  }

  lookAt(folders: readonly string[]): Promise<void> {
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
    const { indexer, onError } = this.#options;
    try {
      const { unsettled } = await indexer.sync(folders, this.#ending.signal);
      this.#unsettled = unsettled;
      this.#wait = soon;
      // Between the look at a folder and its watcher something may have come into it.
      for (const folder of this.#watcher.watch(indexer.folders())) this.#dirty.add(folder);
      if (unsettled.length > 0) this.#later(settle, () => this.lookAt(this.#unsettled));
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      onError(error as Error);
      if (error instanceof IndexUnavailable) this.#lookAgain();
    }
  }

  /** Changes went unheard while the index was away, and it may have been made anew. */
  #lookAgain(): void {
    if (this.#wait >= this.#options.rescan * 1_000) return;
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
