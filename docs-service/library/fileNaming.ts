import { pathSlugs } from '../content/slug.ts';
import type { ParsedFile } from './indexedFile.ts';
import type { KnownFiles } from './knownFiles.ts';
import type { SlugRegister } from './slugRegister.ts';

export interface SlugChanges {
  readonly read: readonly ParsedFile[];
  /** Paths of files that are gone. */
  readonly removed: readonly string[];
}

/** The files that are known, and which slugs they have if their front matter names none. */
export interface Naming {
  readonly known: KnownFiles;
  readonly register: SlugRegister;
}

export interface Renaming {
  /** Every slug that a file got, lost or kept. */
  readonly slugs: readonly string[];
  /** Files that have another slug now, even if they did not change. */
  readonly renamed: readonly string[];
}

/** Brings the known files up to date, and gives each of them its slug. */
export function nameFiles({ read, removed }: SlugChanges, { known, register }: Naming): Renaming {
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
