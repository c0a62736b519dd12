import { basename } from 'node:path/posix';
import type { ContentFile, ContentFolder } from '../content/contentFolder.ts';
import { isFolderPage } from '../content/slug.ts';
import type { DocumentIndex, IndexedFile, IndexWriter } from '../search/documentIndex.ts';
import { type FolderScan, FolderScanner, type FolderView, isKnown } from './folderScan.ts';
import { type ParsedFile, piecesToRead, readInOrder, tryReadFile } from './indexedFile.ts';
import { folderOf, KnownFiles, nameFiles, ServedSlugs } from './knownFiles.ts';
import { CollectionShelf, type Shelf } from './libraryCollections.ts';
import { LibraryLinks } from './libraryLinks.ts';
import { LibraryTree } from './libraryTree.ts';
import { IncludeRights, publicPaths } from './publicLibrary.ts';
import { lossSentence, type ReportListeners, Reports } from './reports.ts';
import { type SlugRecords, SlugRegister } from './slugRegister.ts';

export interface LibraryIndexerOptions extends ReportListeners {
  readonly folder: ContentFolder;
  readonly index: DocumentIndex & IndexWriter;
  /** Where the slugs of the files last. */
  readonly slugs: SlugRecords;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Whether documents with a date in the future are served. */
  readonly future?: boolean | undefined;
  /** The title of the library. */
  readonly title?: string | undefined;
  readonly onProgress?: (progress: IndexProgress) => void;
}

export interface IndexProgress {
  readonly done: number;
  /** Files that must be read. */
  readonly total: number;
}

export interface SyncResult {
  /** Files that were read again, or are gone. */
  readonly changed: number;
  /** Folders to scan again soon, because something in them is being written. */
  readonly unsettled: readonly string[];
}

/** Up to this many changed files become visible in one step. */
const atomic = 2_000;
/** Of a file that is read again whatever it looks like. */
const unsized = { size: 0, modified: 0, changed: 0 };
/** What makes a known file look changed. */
const unread = { look: '', contentHash: '', sourceHash: '' };

/** Keeps the index in step with the files. The caller runs one sync at a time. */
export class LibraryIndexer {
  readonly #known = new KnownFiles();
  readonly #scanner: FolderScanner;
  readonly #shelf: CollectionShelf;
  readonly #links: LibraryLinks;
  readonly #tree: LibraryTree;
  readonly #rights = new IncludeRights(this.#known);
  /** Files whose second heading is their title. */
  #retitled: ReadonlySet<string> = new Set();
  /** Folders whose `_index.md` makes drafts of all documents below. */
  readonly #drafts = new Set<string>();
  /** Reads a file that was not read because it had not changed, although it has another slug. */
  readonly #served = new ServedSlugs(
    this.#known,
    async (file) => (await this.#read({ ...file, changed: 0 }))?.document,
  );
  /** How the known files were read. */
  #reading = '';
  /** Files that were documents when this began. */
  readonly #formerly = new Set<string>();
  readonly #reports: Reports;
  #appliedShelf = '';
  #isComplete = false;
  /** The id of the index that `#known` describes. */
  #indexId = '';
  /** The index did not take the last changes, so `#known` may be ahead of it. */
  #ahead = false;
  /** The register may have files that disappeared while nobody looked. */
  #mayHaveMissed = true;

  private constructor(
    private readonly options: LibraryIndexerOptions,
    private readonly register: SlugRegister,
  ) {
    this.#scanner = new FolderScanner(options.folder, this.#known);
    this.#shelf = new CollectionShelf(options.folder);
    this.#reports = new Reports(options);
    this.#links = new LibraryLinks(options.folder);
    this.#tree = new LibraryTree(options.folder, this.#known);
  }

  /** Starts with the files that the index was built from. */
  static async create(options: LibraryIndexerOptions): Promise<LibraryIndexer> {
    const indexer = new LibraryIndexer(options, await SlugRegister.load(options.slugs, options.now));
    await indexer.#recall();
    return indexer;
  }

  async #recall(): Promise<void> {
    this.#known.clear();
    this.#served.clear();
    this.#drafts.clear();
    this.#appliedShelf = '';
    const { index } = this.options;
    const { indexId, isComplete, reading, files } = await index.files();
    for (const file of files) this.#known.put(this.#isAsRecorded(file) ? file : { ...file, ...unread });
    this.#forget(await index.lostFiles());
    for (const { slug, path, cascades } of files) {
      if (slug !== null) this.#served.note(slug, path);
      if (cascades) this.#drafts.add(folderOf(path));
    }
    this.#links.recall();
    this.#reports.recall((await index.summary()).warnings);
    this.#indexId = indexId;
    this.#reading = reading;
    this.#isComplete = isComplete;
    this.#ahead = false;
  }

  /** Files whose documents the index has lost, or has in an older version, are indexed again. */
  #forget(paths: readonly string[]): void {
    this.#readLater(paths.flatMap((path) => this.#known.get(path) ?? []));
    if (paths.length > 0) this.options.onLoss?.(`${lossSentence(paths)} They are indexed again.`);
  }

  #readLater(files: readonly IndexedFile[]): void {
    for (const file of files) this.#known.put({ ...file, ...unread });
  }

  /**
   * A file whose slug is recorded otherwise counts as changed. So do one that the time may change and the page of the
   * whole library: this program may have another answer to what is in the future now, or another title.
   */
  #isAsRecorded({ path, slug, named, due }: IndexedFile): boolean {
    const isNamed = slug === null || slug === named?.slug || this.register.adopt(path, slug);
    const isStart = this.options.title !== undefined && isFolderPage(path) && folderOf(path) === '';
    return isNamed && due === undefined && !isStart;
  }

  folders(): readonly string[] {
    return this.#known.folders();
  }

  /** Called when somebody has deleted the index, so that all files must be read. */
  onDidLoseIndex(listener: () => void): { dispose(): void } {
    const { index } = this.options;
    const look = (indexId: string) => indexId !== this.#indexId && listener();
    return index.onDidChange(() => void index.indexId().then(look, () => undefined));
  }

  /**
   * Scans the given folders, or all of them, and updates the index. It also scans all of them if the index is
   * incomplete, or is not the same one as before.
   */
  async sync(folders?: readonly string[], signal?: AbortSignal): Promise<SyncResult> {
    const isRecalled = this.#ahead || (await this.options.index.indexId()) !== this.#indexId;
    if (isRecalled) await this.#recall();
    const isOther = this.options.folder.renew() || isRecalled || !this.#isComplete;
    let scan = await this.#scanner.scan(isOther ? undefined : folders);
    if (await this.#readCascades(scan)) scan = await this.#scanner.scan();
    this.#tree.look(scan);
    if (this.#tree.reading !== this.#reading) {
      this.#readLater([...this.#known.files()]);
      if (!isOther && folders !== undefined) scan = await this.#scanner.scan();
      this.#reading = this.#tree.reading;
    }
    if (this.#scanner.waitsFor(scan, this.#view())) return { changed: 0, unsettled: [...scan.keys()] };
    this.#ahead = true;
    this.#rights.begin();
    const { changed, gone, unsettled } = this.#scanner.compare(scan, this.#view());
    for (const { path, slug } of gone) if (slug !== null) this.#formerly.add(path);
    this.#releaseMissed(scan);
    const pieces = changed.length <= atomic ? [changed] : piecesToRead(changed);
    let news = await this.#applyPieces(pieces, gone, signal);
    news += await this.#readAgain(signal);
    const shelf = await this.#shelf.load(this.options.index);
    news += await this.#readIncluders(shelf, signal);
    await this.register.write();
    this.register.settle();
    this.#links.note(scan, news > 0);
    await this.#applyLinks(signal);
    await this.#applyShelf(shelf);
    this.#ahead = false;
    this.#reports.flushWarnings((path) => this.#known.get(path));
    return { changed: news, unsettled };
  }

  /** Reads files again that look as before, but depend on others that do not. */
  async #readAgain(signal?: AbortSignal): Promise<number> {
    this.#retitled = this.#tree.retitled();
    const isOther = ({ path, isRetitled = false }: IndexedFile) => isRetitled !== this.#retitled.has(path);
    return this.#readThese([...this.#tree.stale(), ...[...this.#known.files()].filter(isOther)], signal);
  }

  /** Before anyone can read more than until now. */
  async #readIncluders({ collections }: Shelf, signal?: AbortSignal): Promise<number> {
    if (!this.#rights.isNeeded) return 0;
    const paths = await publicPaths(this.options.index, collections);
    return this.#readThese(this.#rights.settle(paths), signal);
  }

  #readThese(stale: readonly IndexedFile[], signal?: AbortSignal): Promise<number> {
    const files = new Set(stale);
    const found = Array.from(files, ({ path, look }) => ({ path, look, ...unsized }));
    for (const file of files) this.#known.put({ ...file, contentHash: '', sourceHash: '' });
    return this.#applyPieces(piecesToRead(found), [], signal);
  }

  /** Resolves with whether known files must be read again, because an `_index.md` above them says something else. */
  async #readCascades(scan: FolderScan): Promise<boolean> {
    const others: string[] = [];
    for (const [folder, listing] of scan) {
      const found = listing?.files.find(({ path }) => basename(path) === '_index.md');
      const known = found && isKnown(found, this.#view()) ? this.#known.get(found.path) : undefined;
      const file = known ?? (found && (await this.#read(found))?.file);
      if (this.#drafts.has(folder) === Boolean(file?.cascades)) continue;
      others.push(folder);
      if (file?.cascades) this.#drafts.add(folder);
      else this.#drafts.delete(folder);
    }
    const below = others.flatMap((folder) => this.#known.filesBelow(folder));
    this.#readLater(below);
    return below.length > 0;
  }

  /** Files that are in the register, but neither in the index nor in the folder. */
  #releaseMissed(scan: FolderScan): void {
    if (!this.#mayHaveMissed || !scan.has('')) return;
    const there = new Set(
      [...scan.values()].flatMap((listing) => listing?.files.map(({ path }) => path) ?? []),
    );
    for (const path of this.register.paths())
      if (!there.has(path) && this.#known.get(path) === undefined) this.register.release(path);
    this.#mayHaveMissed = false;
  }

  /** While the first index is built, there is no earlier state that could stay as it was. */
  #view(): FolderView {
    return { known: this.#known, now: this.options.now(), areAllSettled: !this.#isComplete };
  }

  /**
   * Reads each piece while the index takes those before. It may have three at a time: one is written, one is analysed,
   * and one waits to be analysed. Resolves with the number of files that have changed.
   */
  async #applyPieces(
    pieces: readonly (readonly ContentFile[])[],
    gone: readonly IndexedFile[],
    signal?: AbortSignal,
  ): Promise<number> {
    const total = pieces.reduce((sum, { length }) => sum + length, 0);
    let [done, news] = [0, 0];
    const sent: Promise<void>[] = [];
    try {
      for (const [at, files] of pieces.entries()) {
        signal?.throwIfAborted();
        const read = await readInOrder(files, (found) => this.#read(found, this.#known.get(found.path)));
        if (sent.length === 3) await sent.shift();
        done += files.length;
        const progress = { done, total };
        const { applied, changed } = await this.#send(files, read, at === 0 ? gone : []);
        news += changed;
        const reported = applied.then(() => (total > 0 ? this.options.onProgress?.(progress) : undefined));
        // Until it is awaited, which reports it.
        reported.catch(() => undefined);
        sent.push(reported);
      }
    } finally {
      // All of them end before the sync does; the first failure is that of the sync.
      await Promise.allSettled(sent);
      await Promise.all(sent);
    }
    return news;
  }

  /**
   * Returns how many of the files are new, gone, or other ones than before; `applied` settles when the index has them.
   * @param files that may have changed
   * @param read what was read of each; undefined if it is gone
   */
  async #send(
    files: readonly ContentFile[],
    read: readonly (ParsedFile | undefined)[],
    gone: readonly IndexedFile[],
  ) {
    const lost = files.filter((_, at) => read[at] === undefined).map(({ path }) => path);
    const removeFiles = [...gone.map(({ path }) => path), ...lost];
    // A file whose look says nothing is read with each scan, and mostly as it was.
    const present = read.filter(
      (one) => one !== undefined && one.file !== this.#known.get(one.file.path),
    ) as readonly ParsedFile[];
    const changed = present.length + removeFiles.length;
    if (changed === 0) return { changed, applied: Promise.resolve() };
    // The files are still known as they were before.
    for (const { file } of present) this.#reports.addFileWarnings(file, this.#known.get(file.path));
    const named = nameFiles(present, removeFiles, this.#known, this.register);
    await this.register.write();
    const slugs = [...new Set([...named.slugs, ...gone.flatMap(({ slug }) => slug ?? [])])];
    const documents = new Map(
      present.flatMap(({ file, document }) => (document ? [[file.path, document]] : [])),
    );
    const { put, remove } = await this.#served.succeed(slugs, documents);
    const paths = new Set([...present.map(({ file }) => file.path), ...named.renamed]);
    const putFiles = [...paths].map((path) => this.#known.get(path)).filter((file) => file !== undefined);
    const applying = this.options.index.apply({
      ...{ indexId: this.#indexId, at: this.options.now() },
      ...{ put, remove, putFiles, removeFiles },
    });
    const applied = applying.then(() => {
      for (const { path, problem } of putFiles) this.#reports.setFileProblem(path, problem);
      for (const path of removeFiles) this.#reports.setFileProblem(path, null);
    });
    return { changed, applied };
  }

  #read(found: Pick<ContentFile, 'path' | 'changed' | 'look'>, known?: IndexedFile) {
    const { now, future = false, title } = this.options;
    const below = [...this.#drafts].some((folder) => folder === '' || found.path.startsWith(`${folder}/`));
    const listed = this.#tree.listed(found.path);
    return tryReadFile(this.options.folder, found, {
      ...{ known, now: now(), future, below, tree: this.#tree.marks, libraryTitle: title },
      isRetitled: this.#retitled.has(found.path),
      mayInclude: (from) => !this.#tree.isDocument(from) || this.#rights.may(from, found.path),
      ...(listed === undefined ? {} : { listed }),
    });
  }

  async #applyLinks(signal?: AbortSignal): Promise<void> {
    const gone = new Set([...this.register.gonePaths(), ...this.#formerly]);
    const linkWarnings = await this.#links.tryReport(this.#known, gone, this.#tree.warnings, signal);
    if (linkWarnings === undefined) return;
    await this.options.index.apply({ indexId: this.#indexId, linkWarnings });
    this.#reports.setLinkWarnings(linkWarnings);
  }

  /** Applies the collections if they, or documents that they name, have changed. */
  async #applyShelf({ collections, problems }: Shelf): Promise<void> {
    const collectionProblems = [...problems, ...this.#scanner.problems];
    const reading = this.#reading;
    const shelf = JSON.stringify([collections, collectionProblems, reading]);
    if (shelf === this.#appliedShelf && this.#isComplete) return;
    const changes = { collections, collectionProblems, reading, isComplete: true } as const;
    await this.options.index.apply({ indexId: this.#indexId, ...changes });
    this.#appliedShelf = shelf;
    this.#isComplete = true;
    this.#reports.setCollectionProblems(collectionProblems);
  }
}
