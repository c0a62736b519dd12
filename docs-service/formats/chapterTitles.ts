import type { Document } from '../content/document.ts';
import { visibleText } from './markdown/xmlText.ts';

/**
 * What the contents of a book call its documents: their titles. If several have the same title, each has its file
 * behind it, with as many folders as tell them apart. Strangers see no folders, but they know the slugs.
 */
export function chapterTitles(
  documents: readonly Pick<Document, 'title' | 'path' | 'slug'>[],
  { isOpen = false }: { readonly isOpen?: boolean } = {},
): readonly string[] {
  const chapters = documents.map(({ title, path, slug }) => ({
    title: visibleText(title) || slug,
    places: isOpen ? [slug] : placesOf(path),
  }));
  const titles = counted(chapters.map(({ title }) => title));
  const names = chapters.map(({ title, places }) => places.map((place) => `${title} · ${place}`));
  const uses = counted(names.flat());
  return chapters.map(({ title }, at) => {
    if (titles.get(title) === 1) return title;
    return names[at]?.find((name) => uses.get(name) === 1) ?? names[at]?.at(-1) ?? title;
  });
}

/** The file without its ending, then the same with the folders above it, one by one. */
function placesOf(path: string): string[] {
  const steps = path.replace(/\.[^./]*$/, '').split('/');
  return steps.map((_, above) => steps.slice(-1 - above).join('/')).slice(0, maxSteps);
}

const maxSteps = 8;

function counted(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** A collection may name a document twice. */
export function withoutRepeats(documents: readonly Document[]): readonly Document[] {
  const slugs = new Set<string>();
  return documents.filter(({ slug }) => !slugs.has(slug) && slugs.add(slug));
}
