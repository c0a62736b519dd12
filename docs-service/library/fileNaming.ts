import type { IndexedFile } from '../search/documentIndex.ts';
import type { ReadFile } from './indexedFile.ts';
import type { KnownFiles } from './knownFiles.ts';
import type { SlugRegister } from './slugRegister.ts';

export interface FileChanges {
  readonly read: readonly ReadFile[];
  /** Paths of files that are gone. */
  readonly removed: readonly string[];
}

/** The files that are known, and which slugs they have if their front matter names none. */
export interface Naming {
  readonly known: KnownFiles;
  readonly register: SlugRegister;
}

export interface Renaming {
  /** Every slug that a file got or lost. */
  readonly slugs: readonly string[];
  /** Files that did not change, but lost their slug to a file whose front matter names it. */
  readonly displaced: readonly string[];
}

/** Brings the known files up to date, and gives each of them its slug. */
export function nameFiles({ read, removed }: FileChanges, { known, register }: Naming): Renaming {
  const paths = read.map(({ file }) => file.path);
  const slugs = new Set<string | null | undefined>();
  for (const path of [...removed, ...paths]) slugs.add(known.get(path)?.slug);
  for (const path of [...removed, ...paths]) known.delete(path);
  for (const path of removed) register.release(path);
  const give = (path: string) =>
    register.give(path, (slug) => known.claimants(slug).some((other) => other !== path)) ?? null;

  // A slug that a front matter names comes first.
  const named = read.flatMap(({ file }) => (file.namesSlug ? [file] : []));
  for (const file of named) {
    register.forget(file.path);
    known.put(file);
  }
  for (const { file, document } of read) {
    if (file.namesSlug) continue;
    const isServed = document !== undefined || file.slug !== null;
    known.put({ ...file, slug: isServed ? give(file.path) : null });
  }
  const displaced = named.flatMap(({ slug }) => displacedFrom(slug, { known, register }));
  for (const path of displaced) {
    const file = known.get(path);
    const slug = give(path);
    if (file !== undefined) known.put({ ...file, slug: file.slug && slug });
  }
  for (const path of [...paths, ...displaced]) slugs.add(known.get(path)?.slug);
  return { slugs: [...slugs].filter((slug) => typeof slug === 'string'), displaced };
}

/** The files that have a slug, or had it when they could last be read, although another front matter names it. */
function displacedFrom(slug: IndexedFile['slug'], { known, register }: Naming): readonly string[] {
  if (slug === null) return [];
  const holder = register.holder(slug);
  const paths = new Set([...known.claimants(slug), ...(holder === undefined ? [] : [holder])]);
  return [...paths].filter((path) => known.get(path)?.namesSlug !== true);
}
