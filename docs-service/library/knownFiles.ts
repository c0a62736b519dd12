import { dirname } from 'node:path/posix';
import type { Document } from '../content/document.ts';
import { pathSlugs } from '../content/slug.ts';
import type { IndexedFile } from '../search/documentIndex.ts';
import type { ParsedFile } from './indexedFile.ts';
import type { SlugRegister } from './slugRegister.ts';

/** The folder of a path; `''` is the content folder. */
export function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? '' : folder;
}

/** The files as they were last indexed, by folder and by slug. Small changes are cheap. */
export class KnownFiles {
  readonly #folders = new Map<string, Map<string, IndexedFile>>();
  readonly #children = new Map<string, Set<string>>();
  readonly #holders = new Map<string, string>();
  /** The files whose front matter names a slug. */
  readonly #claims = new Map<string, Set<string>>();

  get(path: string): IndexedFile | undefined {
    return this.#folders.get(folderOf(path))?.get(path);
  }

  put(file: IndexedFile): void {
    this.delete(file.path);
    this.addFolder(folderOf(file.path)).set(file.path, file);
    if (file.slug !== null) this.#holders.set(file.slug, file.path);
    if (file.named === undefined) return;
    const claims = this.#claims.get(file.named.slug) ?? new Set();
    this.#claims.set(file.named.slug, claims.add(file.path));
  }

  delete(path: string): void {
    const known = this.get(path);
    if (known === undefined) return;
    this.#folders.get(folderOf(path))?.delete(path);
    this.#forgetSlugs(known);
  }

  holder(slug: string): string | undefined {
    return this.#holders.get(slug);
  }

  /** The files whose front matter names the slug, in the order of their paths: it belongs to the first. */
  claimants(slug: string): readonly string[] {
    return [...(this.#claims.get(slug) ?? [])].sort();
  }

  hasFiles(): boolean {
    for (const files of this.#folders.values()) if (files.size > 0) return true;
    return false;
  }

  clear(): void {
    this.#folders.clear();
    this.#children.clear();
    this.#holders.clear();
    this.#claims.clear();
  }

  addFolder(folder: string): Map<string, IndexedFile> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const files = new Map<string, IndexedFile>();
    this.#folders.set(folder, files);
    if (folder !== '') {
      this.addFolder(folderOf(folder));
      const siblings = this.#children.get(folderOf(folder)) ?? new Set();
      this.#children.set(folderOf(folder), siblings.add(folder));
    }
    return files;
  }

  foldersIn(folder: string): readonly string[] {
    return [...(this.#children.get(folder) ?? [])];
  }

  hasFolder(folder: string): boolean {
    return this.#folders.has(folder);
  }

  filesIn(folder: string): readonly IndexedFile[] {
    return [...(this.#folders.get(folder)?.values() ?? [])];
  }

  /** The files of a folder and its subfolders. */
  filesBelow(folder: string): readonly IndexedFile[] {
    return [...this.foldersIn(folder).flatMap((child) => this.filesBelow(child)), ...this.filesIn(folder)];
  }

  *files(): Generator<IndexedFile> {
    for (const files of this.#folders.values()) yield* files.values();
  }

  folders(): readonly string[] {
    return [...this.#folders.keys()];
  }

  /** Forgets a folder and its subfolders. Returns their files. */
  takeFolder(folder: string): readonly IndexedFile[] {
    const files = this.filesBelow(folder);
    for (const child of this.foldersIn(folder)) this.takeFolder(child);
    for (const file of this.filesIn(folder)) this.#forgetSlugs(file);
    this.#folders.delete(folder);
    this.#children.delete(folder);
    this.#children.get(folderOf(folder))?.delete(folder);
    return files;
  }

  #forgetSlugs({ slug, named, path }: IndexedFile): void {
    if (slug !== null && this.#holders.get(slug) === path) this.#holders.delete(slug);
    if (named === undefined) return;
    const claims = this.#claims.get(named.slug);
    claims?.delete(path);
    if (claims?.size === 0) this.#claims.delete(named.slug);
  }
}

/**
 * Brings the known files up to date, and gives each of them its slug: that of its front matter, or else that of the
 * register. Returns every slug that a file got, lost or kept, and the files that have another one now, even if they did
 * not change.
 * @param removed paths of files that are gone
 */
export function nameFiles(
  read: readonly ParsedFile[],
  removed: readonly string[],
  known: KnownFiles,
  register: SlugRegister,
) {
  const proposals = new Map(read.map(({ file }) => [file.path, file.slug]));
  const before = [...removed, ...proposals.keys()].flatMap((path) => known.get(path) ?? []);
  const slugs = new Set(before.map(({ slug }) => slug));
  const renamed = new Set<string>();
  const rename = (path: string, slug: string) => {
    const file = known.get(path);
    if (file === undefined || file.slug === slug) return;
    slugs.add(file.slug).add(slug);
    renamed.add(path);
    known.put({ ...file, slug });
  };
  for (const { path } of before) known.delete(path);
  for (const path of removed) register.release(path);
  // Without their slugs, until it is clear which of them front matter names.
  for (const { file } of read) known.put({ ...file, slug: null });

  const winners = new Set<string>();
  const others = new Set<string>();
  const named = [...before, ...read.map(({ file }) => file)].flatMap((file) => file.named?.slug ?? []);
  for (const slug of new Set(named)) {
    const [winner, ...losers] = known.claimants(slug);
    if (winner === undefined) continue;
    for (const path of [...losers, known.holder(slug), register.holder(slug)])
      if (path !== undefined) others.add(path);
    winners.add(winner);
    register.forget(winner);
    rename(winner, slug);
  }

  const isTaken = (path: string) => (slug: string) =>
    [...known.claimants(slug), known.holder(slug) ?? path].some((other) => other !== path);
  for (const path of new Set([...proposals.keys(), ...others])) {
    if (winners.has(path)) continue;
    const file = known.get(path);
    const proposal = proposals.get(path) ?? undefined;
    const isServed = proposals.has(path) ? proposal !== undefined : typeof file?.slug === 'string';
    // A file that cannot be read keeps its slug for later, unless front matter names it.
    if (!isServed && !others.has(path)) continue;
    const slug = register.give(path, isTaken(path), file?.named ? pathSlugs(path).long : proposal);
    if (isServed) rename(path, slug);
  }
  return { slugs: [...slugs].filter((slug) => slug !== null), renamed: [...renamed] };
}

/** The path that is served for each slug. */
export class ServedSlugs {
  readonly #paths = new Map<string, string>();

  constructor(
    private readonly known: KnownFiles,
    private readonly read: (file: IndexedFile) => Promise<Document | undefined>,
  ) {}

  clear(): void {
    this.#paths.clear();
  }

  note(slug: string, path: string): void {
    this.#paths.set(slug, path);
  }

  /**
   * The document that is now served for each slug, and the slugs that have none any more.
   * @param documents those that were read, by their paths
   */
  async succeed(slugs: readonly string[], documents: ReadonlyMap<string, Document>) {
    const put: Document[] = [];
    const remove: string[] = [];
    for (const slug of slugs) {
      const holder = this.known.holder(slug);
      if (holder === undefined) {
        if (this.#paths.delete(slug)) remove.push(slug);
        continue;
      }
      const file = holder === this.#paths.get(slug) ? undefined : this.known.get(holder);
      const document = documents.get(holder) ?? (file && (await this.read(file)));
      if (document !== undefined) put.push({ ...document, slug });
      this.note(slug, holder);
    }
    return { put, remove };
  }
}
