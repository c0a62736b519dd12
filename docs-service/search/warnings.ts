import type { ContentWarning } from '../content/document.ts';
import type { FileLinks } from '../content/writtenLinks.ts';
import type { FileWarning } from './documentIndex.ts';

/** A file with its warnings as JSON, as both engines store them. */
export interface WarnedFile {
  readonly path: string;
  readonly warnings: string;
}

/** Null if there are none, so that files with warnings are found fast. */
export function warningsToJson(warnings: readonly FileWarning[]): string | null {
  return warnings.length === 0 ? null : JSON.stringify(warnings);
}

export function parseWarnings(json: string | null): readonly FileWarning[] {
  // Only this program writes the column.
  return json === null ? [] : (JSON.parse(json) as FileWarning[]);
}

/** Null if the file has none. */
export function linksToJson(links: FileLinks | undefined): string | null {
  return links === undefined ? null : JSON.stringify(links);
}

export function parseLinks(json: string | null): { readonly links?: FileLinks } {
  // Only this program writes the column.
  return json === null ? {} : { links: JSON.parse(json) as FileLinks };
}

/** All warnings of the library, by path and line: those of single files, and those that depend on other files. */
export function joinWarnings(
  files: readonly WarnedFile[],
  links: readonly ContentWarning[],
): readonly ContentWarning[] {
  const ofFiles = files.flatMap(({ path, warnings }) =>
    parseWarnings(warnings).map((warning) => ({ path, ...warning })),
  );
  return [...ofFiles, ...links].sort(byPlace);
}

function byPlace(one: ContentWarning, other: ContentWarning): number {
  if (one.path !== other.path) return one.path < other.path ? -1 : 1;
  return one.line - other.line;
}
