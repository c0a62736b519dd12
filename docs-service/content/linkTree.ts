import { basename, dirname, join } from 'node:path/posix';
import { cleanId } from './headings.ts';
import type { LinkRoots, LooseTarget } from './links.ts';
import { documentEnding, isFolderPage, pageEnding, withoutNumbers } from './slug.ts';

export interface LinkedPlace {
  readonly path: string;
  readonly aliases?: readonly string[] | undefined;
  readonly targets?: readonly string[] | undefined;
  readonly title?: string;
}

/**
 * The documents of a library by everything that a link of another program may call them: without their endings, without
 * the numbers in front of their names, by an alias, in another case.
 */
export class LinkTree {
  /** Of each of these maps, the next one is asked where the one before has nothing. */
  readonly #exact = new Map<string, string>();
  readonly #numberless = new Map<string, string>();
  readonly #aliases = new Map<string, string>();
  /** The documents of named places. */
  readonly #targets = new Map<string, string>();
  /** Case does not matter; null if several documents have it. */
  readonly #folded = new Map<string, string | null>();
  readonly #names = new Map<string, string[]>();
  readonly #roots: readonly string[];

  constructor(documents: Iterable<LinkedPlace>, { docs, linkRoots }: LinkRoots = noRoots) {
    this.#roots = [...linkRoots, 'docs'].filter((one) => one !== '');
    for (const { path, aliases = [], targets = [], title } of documents) {
      for (const target of targets) putFirst(this.#targets, target, path);
      const whole = stemOf(path);
      // Addresses begin at the folder of the documents.
      const stems = docs !== '' && `${whole}/`.startsWith(docs) ? [whole, whole.slice(docs.length)] : [whole];
      for (const stem of stems) {
        putFirst(this.#exact, stem, path);
        putFirst(this.#numberless, withoutNumbers(stem), path);
        // Jekyll shows the documents of a collection without the mark of its folder.
        if (stem.startsWith('_')) putFirst(this.#numberless, stem.slice(1), path);
        for (const one of new Set([stem, withoutNumbers(stem)].map((key) => key.toLowerCase())))
          this.#folded.set(one, this.#folded.has(one) && this.#folded.get(one) !== path ? null : path);
      }
      // One without a folder is that of its document.
      const own = aliases.filter((one) => !one.includes('/'));
      const addresses = [...aliases, ...stems.flatMap((stem) => own.map((one) => join(dirname(stem), one)))];
      for (const key of new Set(addresses.map(addressKey))) {
        const holder = this.#aliases.get(key);
        if (holder === undefined || path < holder) this.#aliases.set(key, path);
      }
      const names = [basename(path).replace(documentEnding, ''), ...own, title ?? ''];
      for (const name of new Set(names.map((one) => one.normalize('NFC').toLowerCase())))
        if (name !== '') this.#names.set(name, [...(this.#names.get(name) ?? []), path]);
    }
  }

  /** The document that a link of another program leads to, and the place in it, if the link is its name. */
  tryFind(target: LooseTarget): { readonly path: string; readonly id?: string } | undefined {
    const path = this.#tryDocument(target);
    return path === undefined ? this.#tryTarget(target) : { path };
  }

  /** The link may be written from a folder, but the name is one of the whole library. */
  #tryTarget({ paths: [path = ''] }: LooseTarget) {
    const parts = path.split('/');
    const names = this.#targets.size === 0 ? [] : parts.map((_, at) => parts.slice(at).join('/'));
    return names.flatMap((name) => {
      const found = this.#targets.get(name);
      return found === undefined ? [] : [{ path: found, id: cleanId(name) }];
    })[0];
  }

  #tryDocument({ paths, isRooted }: LooseTarget): string | undefined {
    const keys = [...paths, ...(isRooted ? paths.flatMap((path) => this.#withoutRoot(path)) : [])].map(
      addressKey,
    );
    const maps = [this.#exact, this.#numberless, this.#aliases];
    for (const key of keys)
      for (const map of maps) {
        const found = map.get(key) ?? map.get(withoutNumbers(key));
        if (found !== undefined) return found;
      }
    for (const key of keys) {
      const found = this.#folded.get(key.toLowerCase());
      if (typeof found === 'string') return found;
    }
    return undefined;
  }

  /** Starlight and others have a language in front. */
  #withoutRoot(path: string): readonly string[] {
    const [first = '', ...rest] = path.split('/');
    const roots = this.#roots.filter((one) => path === one || path.startsWith(`${one}/`));
    if (roots.length > 0) return roots.map((one) => path.slice(one.length + 1));
    return /^[a-z]{2}(?:-[a-z]{2,4})?$/i.test(first) ? [rest.join('/')] : [];
  }

  /** The document of a wikilink: by its path, the end of its path, its name, an alias or its title. */
  tryNamed(name: string, from: string): string | undefined {
    const whole = /^\s*\.{1,2}\//.test(name) ? join(dirname(from), name.trim()) : name.trim();
    const written = whole.replace(/^\//, '').replace(/\.md$/i, '').normalize('NFC');
    const found =
      this.#names.get(basename(written).toLowerCase()) ?? this.#names.get(written.toLowerCase()) ?? [];
    const ending = written.toLowerCase();
    const fitting = found.filter(
      (path) => !written.includes('/') || `/${stemOf(path).toLowerCase()}`.endsWith(`/${ending}`),
    );
    const near = (path: string) => (dirname(path) === dirname(from) ? -1 : path.split('/').length);
    return fitting.toSorted((one, other) => near(one) - near(other) || (one < other ? -1 : 1))[0];
  }
}

const noRoots: LinkRoots = { docs: '', linkRoots: [] };

function putFirst(map: Map<string, string>, key: string, path: string): void {
  if (!map.has(key)) map.set(key, path);
}

/** The address of a document from the content folder, without ending; that of a folder's page is the folder's. */
function stemOf(path: string): string {
  const folder = dirname(path) === '.' ? '' : dirname(path);
  const name = basename(path).replace(documentEnding, '');
  const isPage = isFolderPage(path) || (folder !== '' && basename(folder) === name);
  return (isPage ? folder : path.replace(documentEnding, '')).normalize('NFC');
}

/** The same for all ways to write an address. */
export function addressKey(address: string): string {
  return address
    .replace(/^\/+|\/+$/g, '')
    .replace(pageEnding, '')
    .replace(/(?:^|\/)(?:index|readme|_index)$/i, '')
    .normalize('NFC');
}
