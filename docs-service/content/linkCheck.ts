import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContentWarning } from './document.ts';
import { DocumentPlaces, type LinkRoots, resolveLink, tryLoose } from './links.ts';
import { type LinkedPlace, LinkTree } from './linkTree.ts';
import type { FileLinks, WrittenLink } from './writtenLinks.ts';

/** What the links of a library may lead to. Paths are from the content folder. */
export interface LinkedLibrary {
  /** All Markdown files. */
  files(): Iterable<LinkedFile>;
  /** Undefined if there is no such Markdown file. */
  tryFile(path: string): LinkedFile | undefined;
  /** A file that is no document, or a place that nobody looks into. */
  mayExist(path: string): boolean;
  hasFolder(path: string): boolean;
  isLeftOut?(path: string): boolean;
  readonly roots?: LinkRoots;
}

export interface LinkedFile extends LinkedPlace {
  /** Undefined if the file could not be read. */
  readonly links?: FileLinks;
}

/** Warnings that are kept of a file and of the library. What is beyond them is only counted. */
const maxOfFile = 20;
const maxOfLibrary = 2_000;

const slice = 10;

/** Finds links, anchors and pictures that lead nowhere, in time proportional to the number of links. */
export async function checkLinks(
  library: LinkedLibrary,
  signal?: AbortSignal,
): Promise<readonly ContentWarning[]> {
  const warnings: ContentWarning[] = [];
  const check = createCheck(library);
  let since = performance.now();
  for (const file of library.files()) {
    warnings.push(...bounded(check(file), warnings.length < maxOfLibrary ? maxOfFile : 0));
    if (performance.now() - since < slice) continue;
    await nextTurn(undefined, { signal });
    since = performance.now();
  }
  return warnings;
}

function bounded(warnings: readonly ContentWarning[], max: number): readonly ContentWarning[] {
  const [first, ...rest] = warnings.slice(max);
  if (first === undefined || rest.length === 0) return warnings;
  const { path, line } = first;
  const count = rest.length + 1;
  const message = `From here on, ${count} links and pictures lead nowhere.`;
  return [...warnings.slice(0, max), { path, kind: 'link', line, message, count }];
}

const missing = 'there is no such file';

function createCheck(library: LinkedLibrary): (file: LinkedFile) => readonly ContentWarning[] {
  const anchors = new Map<string, DocumentPlaces | null>();
  const anchorsOf = ({ path, links }: LinkedFile) => {
    const known = anchors.get(path) ?? (links?.anchors ? new DocumentPlaces(links.anchors) : null);
    anchors.set(path, known);
    return known;
  };
  const hasAnchor = (file: LinkedFile, fragment: string) => {
    if (/^(?:top)?$|^:~:/i.test(fragment)) return true;
    const there = anchorsOf(file);
    return there === null || there.tryFind(fragment) !== undefined;
  };
  let tree: LinkTree | undefined;
  const fileAt = (document: string) => {
    const loose = tryLoose(document);
    if (loose === undefined) return library.tryFile(document);
    tree ??= new LinkTree(library.files(), library.roots);
    return library.tryFile(tree.tryFind(loose)?.path ?? '');
  };
  const problemOf = (file: LinkedFile, { href, isPicture }: WrittenLink): string | undefined => {
    const target = resolveLink(href, file.path);
    if (target.kind === 'fragment')
      return hasAnchor(file, target.fragment) ? undefined : 'the document has no such heading or anchor';
    if (target.kind !== 'inside') return undefined;
    const isThere = library.mayExist(target.path) || library.tryFile(target.path) !== undefined;
    if (isPicture) return isThere ? undefined : missing;
    const found = target.documents.map(fileAt).find((one) => one !== undefined);
    if (found !== undefined)
      return hasAnchor(found, target.fragment ?? '')
        ? undefined
        : `${found.path} has no such heading or anchor`;
    if (library.hasFolder(target.path)) return 'the folder has no README.md or index.md';
    if (library.isLeftOut?.(target.path)) return 'the file is no document here';
    return isThere ? undefined : missing;
  };
  return (file) =>
    (file.links?.links ?? []).flatMap((link) => {
      const problem = problemOf(file, link);
      if (problem === undefined) return [];
      const what = link.isPicture ? 'The picture' : 'The link to';
      const isAnchor = /no such heading or anchor$/.test(problem);
      const kind = link.isPicture ? 'picture' : isAnchor ? 'anchor' : 'link';
      const message = `${what} "${link.href.slice(0, 200)}" leads nowhere: ${problem}.`;
      return [{ path: file.path, kind, line: link.line, message, about: link.href.slice(0, 200) }];
    });
}
