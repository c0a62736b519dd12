import { basename, dirname, join } from 'node:path/posix';
import type { ContentFolder } from '../content/contentFolder.ts';
import { tryOtherPlace } from '../content/contentPlaces.ts';
import type { TreeMarks } from '../content/dialects/dialect.ts';
import { foldersAbove } from '../content/dialects/includes.ts';
import type { ContentWarning } from '../content/document.ts';
import type { ReadingOptions } from '../content/documentFile.ts';
import { tryDecode } from '../content/links.ts';
import { LinkTree } from '../content/linkTree.ts';
import { listNames, type Navigation, readNavigation } from '../content/navigation.ts';
import { documentEnding } from '../content/slug.ts';
import type { IndexedFile } from '../search/documentIndex.ts';
import type { FolderScan } from './folderScan.ts';
import { folderOf, type KnownFiles } from './knownFiles.ts';

/** Folders from which programs take the files that an address with `/` in front means. */
const publicFolders = [
  '',
  'static/',
  'public/',
  'assets/',
  '.vuepress/public/',
  '.gitbook/assets/',
  'docs/public/',
  'docs/static/',
];

/** So many documents with one first heading show that it names something else, such as the product. */
const many = 3;

/** What the whole content folder says about each of its files. */
export class LibraryTree {
  #marks: Pick<TreeMarks, 'isVault' | 'isJekyll' | 'isBook'> | undefined;
  #names: LinkTree | undefined;
  #navigation: Navigation = { pages: new Map(), folders: new Map(), warnings: [] };
  readonly #lists = new Map<string, string>();
  #hasTrees = false;
  #scanned: ReadonlySet<string> = new Set();
  /** The other files, by their names in lower case. */
  readonly #others = new Map<string, string>();

  constructor(
    private readonly folder: ContentFolder,
    private readonly known: KnownFiles,
  ) {}

  /** Other files, or files of another program, are read in another way. */
  get reading(): string {
    const { docs, places, site } = this.folder;
    return JSON.stringify([docs, places.otherFolders, this.#marks, this.#marks?.isJekyll ? [...site] : []]);
  }

  look(scan: FolderScan): void {
    const isThere = (path: string) => this.#exists(path) || this.#exists(this.folder.docs + path);
    this.#marks = {
      isVault: isThere('.obsidian'),
      isJekyll: isThere('_config.yml'),
      isBook:
        isThere('book.toml') ||
        [...scan.values()].some((one) => one?.others.includes('SUMMARY.md')) ||
        this.#marks?.isBook === true,
    };
    this.#lookAtLists(scan);
    this.#names = undefined;
    this.#scanned = new Set([...scan.values()].flatMap((one) => one?.files.map(({ path }) => path) ?? []));
    if (this.#marks.isVault)
      for (const [folder, listing] of scan)
        for (const name of listing?.others ?? []) this.#others.set(name.toLowerCase(), join(folder, name));
  }

  #lookAtLists(scan: FolderScan): void {
    for (const [folder, listing] of scan)
      for (const name of listNames) {
        const path = join(folder, name);
        const bytes = listing?.others.includes(name) ? this.folder.readNow(path) : undefined;
        if (bytes === undefined) this.#lists.delete(path);
        else this.#lists.set(path, new TextDecoder().decode(bytes));
      }
    this.#readNavigation();
  }

  #readNavigation(): void {
    const trees = [...this.known.files()].flatMap(({ path, toctree }) =>
      toctree === undefined ? [] : [[path, toctree] as const],
    );
    this.#navigation = readNavigation(this.#lists, trees);
    this.#hasTrees = trees.length > 0;
  }

  /** Whether a file is a document, also if it has only been found. */
  isDocument(path: string): boolean {
    return this.#scanned.has(path) || typeof this.known.get(path)?.slug === 'string';
  }

  get warnings(): readonly ContentWarning[] {
    return this.#navigation.warnings;
  }

  /** What lists of programs say about a document. */
  listed(path: string): ReadingOptions['listed'] {
    const { pages, folders } = this.#navigation;
    const folder = folders.get(folderOf(path));
    const place = pages.get(path.replace(documentEnding, ''));
    return place || folder ? { ...place, ...(folder === undefined ? {} : { folder }) } : undefined;
  }

  get marks(): TreeMarks {
    const known = this.#marks ?? { isVault: false, isJekyll: false, isBook: false };
    return {
      ...known,
      tryNamed: (name, from) => this.#tryNamed(name, from),
      isDocument: (path) => this.isDocument(path),
      tryPicture: (written, from) => this.#tryPicture(written, from),
      tryOther: (path) => tryOtherPlace(this.folder.places, path),
      docs: this.folder.docs,
      site: this.folder.site,
    };
  }

  #exists(path: string): boolean {
    return this.folder.lookNow(path) !== undefined;
  }

  /** From the folders where programs look for files: those of `/x.png`, and those outside of the content folder. */
  #tryPicture(written: string, from: string): string | undefined {
    const { places } = this.folder;
    const path = tryDecode(written) ?? written;
    if (!path.startsWith('/')) {
      const place = join(dirname(from), path);
      const other = place.startsWith('../') ? tryOtherPlace(places, place) : undefined;
      return (
        other && `/${encodeURI(other).replace(/[()?#]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)}`
      );
    }
    if (path.startsWith('//') || path.includes('..')) return undefined;
    const others = Object.keys(places.otherFolders ?? {}).map((name) => `.files/${name}/`);
    const above = foldersAbove(from).map((folder) => (folder === '' ? '' : `${folder}/`));
    const bases = [...above, ...others].flatMap((base) => publicFolders.map((one) => base + one));
    const base = bases.find((one) => this.#exists(one + path.slice(1)));
    return base === undefined ? undefined : `/${base}${written.slice(1)}`;
  }

  #tryNamed(name: string, from: string): string | undefined {
    this.#names ??= new LinkTree(
      [...this.known.files(), ...[...this.#scanned].map((path) => this.known.get(path) ?? { path })],
      this.folder,
    );
    return this.#names.tryNamed(name, from) ?? this.#others.get(basename(name.trim()).toLowerCase());
  }

  /** Files that must be read again because of others: what they include, name or show in vain has changed. */
  stale(): readonly IndexedFile[] {
    this.#names = undefined;
    if (this.#hasTrees || [...this.known.files()].some(({ toctree }) => toctree !== undefined))
      this.#readNavigation();
    return [...this.known.files()].filter((file) => {
      const { path, slug, includes = {}, unnamed = [], unplaced = [], navigation } = file;
      const listed = this.listed(path);
      if (slug !== null && navigation !== (listed && JSON.stringify(listed))) return true;
      const isOther = ([file, look]: readonly [string, string]) => (this.folder.lookNow(file) ?? '') !== look;
      return (
        Object.entries(includes).some(isOther) ||
        unnamed.some((name) => this.#tryNamed(name, path) !== undefined) ||
        unplaced.some((picture) => this.#tryPicture(picture, path) !== undefined)
      );
    });
  }

  /** Whether the second heading of a file is its title, because many files have the first one. */
  retitled(): ReadonlySet<string> {
    const counts = new Map<string, number>();
    const count = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
    const titled = [...this.known.files()].filter(({ headings }) => headings !== undefined);
    for (const { headings } of titled) {
      const [first = '', next = ''] = headings ?? [];
      count(first);
      count(`${first}\n${next}`);
    }
    const isRepeated = ({ headings }: IndexedFile) => {
      const [first = '', next] = headings ?? [];
      return (
        next !== undefined &&
        (counts.get(first) ?? 0) >= many &&
        (counts.get(`${first}\n${next}`) ?? 0) < many
      );
    };
    return new Set(titled.filter(isRepeated).map(({ path }) => path));
  }
}
