import type { ContentFolder } from '../content/contentFolder.ts';
import type { ContentWarning } from '../content/document.ts';
import { checkLinks } from '../content/linkCheck.ts';
import { addressKey } from '../content/linkTree.ts';
import type { FolderScan } from './folderScan.ts';
import type { KnownFiles } from './knownFiles.ts';
import { OtherFiles } from './otherFiles.ts';

/** Checks the links of the library whenever something has changed to which they may lead. */
export class LibraryLinks {
  readonly #folder: ContentFolder;
  readonly #others: OtherFiles;
  #mayHaveChanged = true;

  constructor(folder: ContentFolder) {
    this.#folder = folder;
    this.#others = new OtherFiles(folder);
  }

  recall(): void {
    this.#mayHaveChanged = true;
  }

  /** @param hasChanged whether a document is new, changed or gone */
  note(scan: FolderScan, hasChanged: boolean): void {
    if (this.#others.note(scan) || hasChanged) this.#mayHaveChanged = true;
  }

  /**
   * All warnings that depend on other files; undefined if nothing has changed since the last report.
   * @param gone paths of files that were documents once
   * @param given warnings that are found elsewhere
   */
  async tryReport(
    known: KnownFiles,
    gone: Iterable<string>,
    given: readonly ContentWarning[],
    signal?: AbortSignal,
  ): Promise<readonly ContentWarning[] | undefined> {
    if (!this.#mayHaveChanged) return undefined;
    const library = {
      roots: this.#folder,
      files: () => known.files(),
      tryFile: (path: string) => known.get(path),
      hasFolder: (path: string) => known.hasFolder(path),
      mayExist: (path: string) => this.#others.mayHave(path),
      isLeftOut: (path: string) => this.#others.isLeftOut(path),
    };
    const warnings = [
      ...rivalsIn(known),
      ...aliasRivalsIn(known),
      ...given,
      ...this.#others.warnings(known, gone),
      ...(await checkLinks(library, signal)),
    ];
    this.#mayHaveChanged = false;
    return warnings;
  }
}

/** Files whose front matter names a slug that another file has. */
function rivalsIn(known: KnownFiles): readonly ContentWarning[] {
  return [...known.files()].flatMap(({ path, slug, named }) => {
    if (named === undefined || named.slug === slug) return [];
    const message = `"slug" is not "${named.slug}" but "${slug}": ${known.holder(named.slug)} names the same one.`;
    return [{ path, kind: 'slug' as const, line: named.line, message, about: named.slug }];
  });
}

/** Files whose other addresses lead to another file: that one is the first by path. */
function aliasRivalsIn(known: KnownFiles): readonly ContentWarning[] {
  const holders = new Map<string, string>();
  const files = [...known.files()].filter(({ slug, aliases }) => slug !== null && aliases !== undefined);
  return files
    .sort((one, other) => (one.path < other.path ? -1 : 1))
    .flatMap(({ path, aliases = [] }) =>
      aliases
        .filter((one) => one.includes('/'))
        .flatMap((alias) => {
          const key = addressKey(alias);
          const holder = holders.get(key) ?? path;
          holders.set(key, holder);
          const message = `The alias "${alias}" leads to ${holder}, which has it too.`;
          return holder === path ? [] : [{ path, kind: 'alias' as const, line: 1, message, about: alias }];
        }),
    );
}
