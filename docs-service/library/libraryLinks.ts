import { basename, dirname, join } from 'node:path/posix';
import { count } from '../../protocol/base/text.ts';
import { someOf } from '../base/text.ts';
import type { ContentFolder } from '../content/contentFolder.ts';
import type { ContentWarning, WarningKind } from '../content/document.ts';
import { checkLinks } from '../content/linkCheck.ts';
import { addressKey } from '../content/linkTree.ts';
import type { OmissionReason } from '../content/servedFiles.ts';
import { documentEnding } from '../content/slug.ts';
import type { FolderScan } from './folderScan.ts';
import { folderOf, type KnownFiles } from './knownFiles.ts';

/** Checks the links of the library whenever something has changed to which they may lead. */
export class LibraryLinks {
  readonly #others: OtherFiles;
  #mayHaveChanged = true;

  constructor(private readonly folder: ContentFolder) {
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
      roots: this.folder,
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

/** The files of the content folder that are no documents, by their names: links and pictures may lead to them. */
class OtherFiles {
  readonly #names = new Map<string, ReadonlySet<string>>();
  readonly #leftOut = new Map<string, ReadonlyMap<string, OmissionReason>>();

  constructor(private readonly folder: ContentFolder) {}

  /** Returns whether something has changed. */
  note(scan: FolderScan): boolean {
    let hasChanged = false;
    for (const [folder, listing] of scan) {
      const leftOut = new Map(listing?.leftOut);
      const before = this.#names.get(folder);
      const isSame =
        before?.size === listing?.others.length && listing?.others.every((name) => before?.has(name));
      if (isSame && String([...leftOut]) === String([...(this.#leftOut.get(folder) ?? [])])) continue;
      hasChanged = true;
      if (listing === undefined) this.#names.delete(folder);
      else this.#names.set(folder, new Set(listing.others));
      this.#leftOut.set(folder, leftOut);
    }
    return hasChanged;
  }

  /** Also if nobody looks into that place: hidden folders, and links to folders. */
  mayHave(path: string): boolean {
    const parts = path.split('/');
    if (parts.some((name) => name.startsWith('.') || name === 'node_modules')) return true;
    for (let at = path; at !== '.'; at = dirname(at))
      if (this.#names.get(folderOf(at))?.has(basename(at))) return true;
    return false;
  }

  /** Whether it is a file of Markdown that is not read as a document. */
  isLeftOut(path: string): boolean {
    return documentEnding.test(path) && this.#reasonFor(path) !== undefined;
  }

  /** @param gone paths of files that were documents once */
  warnings(known: KnownFiles, gone: Iterable<string>): readonly ContentWarning[] {
    return [
      ...this.#partials(known),
      ...this.#noLongerServed(known, gone),
      ...this.#programs(known),
      ...this.#generators(known),
    ];
  }

  /** One warning for all files and folders that are not served because of their names. */
  #partials(known: KnownFiles): readonly ContentWarning[] {
    const paths = [...this.#leftOut]
      .filter(([folder]) => known.hasFolder(folder) && `${folder}/`.startsWith(this.folder.docs))
      .flatMap(([folder, names]) =>
        [...names].flatMap(([name, why]) => (why === 'name' ? [join(folder, name)] : [])),
      );
    const named = count(paths.length, 'file or folder', 'files and folders');
    const [single, several] = [
      'has a name with "_" in front, so it is',
      'have names with "_" in front, so they are',
    ];
    const verb = paths.length === 1 ? single : several;
    return warningOf('not-served', paths, `${named} ${verb} not served. ${backByName}`);
  }

  /** What an earlier version, or earlier files, had as documents. */
  #noLongerServed(known: KnownFiles, gone: Iterable<string>): readonly ContentWarning[] {
    const paths: Record<'name' | 'list' | 'date', string[]> = { name: [], list: [], date: [] };
    for (const path of gone) {
      const why = this.#reasonFor(path);
      if ((why === 'name' || why === 'list') && this.folder.lookNow(path) !== undefined)
        paths[why].push(path);
    }
    for (const { path, wasServed } of known.files()) if (wasServed) paths.date.push(path);
    return Object.entries(reasons).flatMap(([why, reason]) => {
      const all = paths[why as keyof typeof paths].sort();
      const verb = all.length === 1 ? 'is' : 'are';
      const served = `${count(all.length, 'document')} ${verb} no longer served: ${someOf(all, maxNamed)}.`;
      return warningOf('not-served', all, `${served} ${reason}`);
    });
  }

  #reasonFor(path: string): OmissionReason | undefined {
    for (let at = path; at !== '.'; at = dirname(at)) {
      const why = this.#leftOut.get(folderOf(at))?.get(basename(at));
      if (why !== undefined) return why;
    }
    return undefined;
  }

  /** Lists of pages that are programs. */
  #programs(known: KnownFiles): readonly ContentWarning[] {
    const listed = [...this.#names].flatMap(([folder, names]) =>
      known.hasFolder(folder)
        ? [...names].filter((name) => program.test(name)).map((name) => join(folder, name))
        : [],
    );
    const hidden = ['js', 'ts', 'mjs', 'mts'].map((ending) => `.vitepress/config.${ending}`);
    const configs = new Set(['', this.folder.docs].flatMap((base) => hidden.map((one) => base + one)));
    const there = [...configs].filter((path) => this.folder.lookNow(path) !== undefined);
    const message =
      'Its order is not known, because it is a program, which is never run. Write "order: 1" into documents, or a SUMMARY.md.';
    return [...listed, ...there].sort().flatMap((path) => warningOf('nav', [path], message));
  }

  /** Files of programs that have their documents in a folder below. */
  #generators(known: KnownFiles): readonly ContentWarning[] {
    if (this.folder.docs !== '') return [];
    return [...(this.#names.get('') ?? [])].flatMap((name) => {
      const [, docs = ''] = generators.find(([pattern]) => pattern.test(name)) ?? [];
      const isOutside = ({ path, slug }: { path: string; slug: string | null }) =>
        slug !== null && !path.startsWith(`${docs}/`);
      if (docs === '' || !known.hasFolder(docs) || ![...known.files()].some(isOutside)) return [];
      const message = `The program of this file has its documents in ${docs}/: "--docs ${docs}" serves only those.`;
      return warningOf('nav', [name], message);
    });
  }
}

const maxNamed = 20;

const backByName = 'A line such as "!_name" in .docsignore brings one back.';

const reasons = {
  name: `Names with "_" in front are those of parts of pages. ${backByName}`,
  list: 'A list of pages is no document. A line "!SUMMARY.md" in .docsignore brings it back.',
  date: 'A document with a date in the future waits for it. --future brings it back.',
} as const;

const program = /^(?:sidebars|_meta|astro\.config)\.[cm]?[jt]sx?$/;

const generators: readonly (readonly [file: RegExp, docs: string])[] = [
  [/^book\.toml$/, 'src'],
  [/^mkdocs\.ya?ml$/, 'docs'],
  [/^docusaurus\.config\.[cm]?[jt]s$/, 'docs'],
  [/^hugo\.(?:toml|ya?ml|json)$/, 'content'],
  [/^astro\.config\.[cm]?[jt]s$/, 'src/content/docs'],
];

function warningOf(kind: WarningKind, [path]: readonly string[], message: string): readonly ContentWarning[] {
  return path === undefined ? [] : [{ path, kind, line: 1, message }];
}
