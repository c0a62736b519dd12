import { dirname, join } from 'node:path/posix';
import { count } from '../../protocol/base/text.ts';
import { isPartial } from '../content/contentFolder.ts';
import { type ContentWarning, keyOf } from '../content/document.ts';
import { checkLinks } from '../content/linkCheck.ts';
import type { FolderScan } from './folderScan.ts';
import type { KnownFiles } from './knownFiles.ts';

export interface LinkReport {
  readonly warnings: readonly ContentWarning[];
  /** Those that the last report did not have. A warning that only moved to another line is not new. */
  readonly added: readonly ContentWarning[];
}

/** Checks the links of the library whenever something has changed to which they may lead. */
export class LibraryLinks {
  readonly #others = new OtherFiles();
  #said: ReadonlySet<string> = new Set();
  #mayHaveChanged = true;
  readonly #roots: readonly string[];

  /** @param roots first parts of addresses that stand for the content folder */
  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** Starts again, with the warnings that the index has. */
  recall(warnings: readonly ContentWarning[]): void {
    this.#said = new Set(warnings.map(keyOf));
    this.#mayHaveChanged = true;
  }

  /** @param hasChanged whether a document is new, changed or gone */
  note(scan: FolderScan, hasChanged: boolean): void {
    if (this.#others.note(scan) || hasChanged) this.#mayHaveChanged = true;
  }

  /** Undefined if nothing has changed since the last report. */
  async tryReport(known: KnownFiles, signal?: AbortSignal): Promise<LinkReport | undefined> {
    if (!this.#mayHaveChanged) return undefined;
    const library = {
      roots: this.#roots,
      files: () => known.files(),
      tryFile: (path: string) => known.get(path),
      hasFolder: (path: string) => known.hasFolder(path),
      mayExist: (path: string) => this.#others.mayHave(path),
    };
    const warnings = [
      ...rivalsIn(known),
      ...this.#others.partials(known),
      ...(await checkLinks(library, signal)),
    ];
    const before = this.#said;
    this.#said = new Set(warnings.map(keyOf));
    this.#mayHaveChanged = false;
    return { warnings, added: warnings.filter((warning) => !before.has(keyOf(warning))) };
  }
}

/** Files whose front matter names a slug that another file has. */
function rivalsIn(known: KnownFiles): readonly ContentWarning[] {
  return [...known.files()].flatMap(({ path, slug, named }) => {
    if (named === undefined || named.slug === slug) return [];
    const message = `"slug" is not "${named.slug}" but "${slug}": ${known.holder(named.slug)} names the same one.`;
    return [{ path, kind: 'slug' as const, line: named.line, message }];
  });
}

/** The files of the content folder that are no documents, by their names: links and pictures may lead to them. */
class OtherFiles {
  readonly #names = new Map<string, ReadonlySet<string>>();

  /** Returns whether something has changed. */
  note(scan: FolderScan): boolean {
    let hasChanged = false;
    for (const [folder, listing] of scan) {
      const before = this.#names.get(folder);
      const isSame =
        before?.size === listing?.others.length && listing?.others.every((name) => before?.has(name));
      if (isSame) continue;
      hasChanged = true;
      if (listing === undefined) this.#names.delete(folder);
      else this.#names.set(folder, new Set(listing.others));
    }
    return hasChanged;
  }

  /** One warning for all files and folders that are not served because of their names. */
  partials(known: KnownFiles): readonly ContentWarning[] {
    const isCounted = (name: string) => isPartial(name) && /^[^.]+$|\.(?:md|markdown)$/i.test(name);
    const paths = [...this.#names]
      .filter(([folder]) => known.hasFolder(folder))
      .flatMap(([folder, names]) => [...names].filter(isCounted).map((name) => join(folder, name)));
    const [path] = paths.sort();
    if (path === undefined) return [];
    const message = `${count(paths.length, 'name')} of files and folders with "_" in front: these are parts of pages, and not served.`;
    return [{ path, kind: 'not-served' as const, line: 1, message }];
  }

  /** Also if nobody looks into that place: hidden folders, and links to folders. */
  mayHave(path: string): boolean {
    const parts = path.split('/');
    if (parts.some((name) => name.startsWith('.') || name === 'node_modules')) return true;
    for (let at = path; at !== '.'; at = dirname(at)) if (this.#has(at)) return true;
    return false;
  }

  #has(path: string): boolean {
    const folder = dirname(path);
    const name = folder === '.' ? path : path.slice(folder.length + 1);
    return this.#names.get(folder === '.' ? '' : folder)?.has(name) ?? false;
  }
}
