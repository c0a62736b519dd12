import { posix } from 'node:path';
import { cutText, tryNow } from '../../protocol/base/text.ts';
import { decodeEntities } from './inlineText.ts';
import { documentEnding, folderPagePaths, isFolderPage, pageEnding } from './slug.ts';

/** Where a link or a picture of a document leads. */
export type LinkTarget =
  /** A well-formed address with https, http or mailto. */
  | { readonly kind: 'external'; readonly href: string }
  | InsideTarget
  /** A place in the same document; an empty fragment is its beginning. */
  | { readonly kind: 'fragment'; readonly fragment: string }
  /** Not a valid target: only the text of the link stays. */
  | { readonly kind: 'none' };

/** Another file or folder of the content folder. */
export interface InsideTarget {
  readonly kind: 'inside';
  /** As it was written, but from the content folder, with `/` between its parts; `''` is the content folder. */
  readonly path: string;
  /** The Markdown files that may be meant. The first of them that exists is the target. */
  readonly documents: readonly string[];
  readonly fragment: string | null;
}

/** How other programs would read an address. The last of `documents` stands for what they would find. */
export interface LooseTarget {
  /** From the content folder. */
  readonly paths: readonly string[];
  /** It begins with `/`. */
  readonly isRooted: boolean;
}

export interface LinkRoots {
  /** The only folder with documents, with a final slash; empty for the content folder. */
  readonly docs: string;
  /** What may be in front of an address without a meaning. */
  readonly linkRoots: readonly string[];
}

/** Begins the name of a document that is not a path: a loose target, as JSON. */
const loosely = '?';

export function tryLoose(document: string): LooseTarget | undefined {
  return document.startsWith(loosely) ? (JSON.parse(document.slice(1)) as LooseTarget) : undefined;
}

/**
 * @param href as Marked returns it, which is as it was written
 * @param from path of the document from the content folder
 */
export function resolveLink(href: string, from: string): LinkTarget {
  // Browsers ignore tabs and line ends inside an address, so `java\nscript:` is a script too.
  const address = decodeEntities(href)
    .replace(/[\t\n\r]/g, '')
    .trim();
  if (address.length > maxLength || /[\u0000-\u001f\u007f\\]/.test(address)) return none;
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(address) ?? [];
  if (scheme) return externalTarget(address, scheme.toLowerCase());
  if (address.startsWith('//')) return none;
  return insideTarget(address, from);
}

/**
 * Where a picture is: its path from the content folder, or the `data:` address that contains it. Undefined if it is on
 * another site or nowhere.
 */
export function tryPictureSource(href: string, from: string): string | undefined {
  if (/^data:/i.test(href)) return `data:${href.slice(5)}`;
  const target = resolveLink(href, from);
  return target.kind === 'inside' ? target.path : undefined;
}

const none = { kind: 'none' } as const;
/** Longer ones are data in disguise. Browsers agree on this length. */
const maxLength = 2048;

function externalTarget(address: string, scheme: string): LinkTarget {
  if (!['https', 'http', 'mailto'].includes(scheme)) return none;
  try {
    const { protocol, host, pathname, search, hash } = new URL(address);
    if (!host && protocol !== 'mailto:') return none;
    const place = [pathname, search, hash && `#${escapeIllegal(hash.slice(1)).replaceAll('#', '%23')}`];
    return {
      kind: 'external',
      href: `${protocol}${host && `//${host}`}${place.map(escapeIllegal).join('')}`,
    };
  } catch {
    return none;
  }
}

/** Browsers accept more than RFC 3986 allows, and checkers of books do not. A name and password are left out. */
function escapeIllegal(text: string): string {
  return text
    .replace(/%(?![0-9a-f]{2})/gi, '%25')
    .replace(/[^\w\-.~:/?#@!$&'()*+,;=%]+/g, (illegal) => encodeURIComponent(illegal));
}

function insideTarget(address: string, from: string): LinkTarget {
  const [, file = '', fragmentPart] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(address) ?? [];
  // Browsers and code hosts know places of their own, which no document has.
  const own = fragmentPart?.replace(/:~:.*$/s, '').replace(/^L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?$/, '');
  const fragment = own === undefined ? null : tryDecode(own);
  if (fragment === undefined) return none;
  if (!file) return fragment === null ? none : { kind: 'fragment', fragment };
  const rooted = file.replace(/^(?:@site|~)(?=\/)/, '');
  const isRooted = rooted.startsWith('/');
  // Of programs that give each document a folder, as its address.
  const folder = isFolderPage(from) ? posix.dirname(from) : from.replace(/\.\w+$/, '');
  const other = isRooted ? undefined : tryPath(rooted, `${folder}/x`);
  const path = tryPath(rooted, from);
  if (path === undefined) return none;
  if (path === from) return { kind: 'fragment', fragment: fragment ?? '' };
  const documents = /(?:^|\/)\.{0,2}$/.test(rooted) ? folderPagePaths(path) : documentsAt(path);
  if (!mayBeDocument.test(path)) return { kind: 'inside', path, documents, fragment };
  const loose = { paths: other === undefined || other === path ? [path] : [path, other], isRooted };
  return { kind: 'inside', path, documents: [...documents, loosely + JSON.stringify(loose)], fragment };
}

/** Without an extension, or with one of a document or of its page. */
const mayBeDocument = new RegExp(`(?:^|/)[^/.]*$|${pageEnding.source}|\\.(?![a-z]\\w*$)[^/.]*$`, 'i');

/** A name without an extension may be a document whose extension was left out, or a folder. */
function documentsAt(path: string): readonly string[] {
  if (documentEnding.test(path)) return [path];
  return /\.[a-z]\w*$/i.test(path) ? [] : [`${path}.md`, `${path}.markdown`, ...folderPagePaths(path)];
}

/**
 * The path from the content folder, where `/` starts too. Undefined if it leads out of the folder or is not a path.
 */
function tryPath(file: string, from: string): string | undefined {
  const parts = file.split('/').map(tryDecode);
  if (parts.some((part) => part === undefined || /[/\\\u0000-\u001f\u007f]|^[a-z]:/i.test(part)))
    return undefined;
  const start = file.startsWith('/') ? '.' : posix.dirname(from);
  const path = posix.join(start, parts.join('/').replace(/^\//, ''));
  if (path === '..' || path.startsWith('../') || path.startsWith('/')) return undefined;
  return path.replace(/^\.?\/?$|\/$/, '');
}

/** Undefined if a `%` does not begin an encoded character. */
export function tryDecode(text: string): string | undefined {
  return tryNow(() => decodeURIComponent(text));
}

export class DocumentPlaces {
  readonly #ids: ReadonlySet<string>;
  #folded: ReadonlyMap<string, string> | undefined;

  /** @param headings by whose texts other programs name them */
  constructor(
    ids: Iterable<string>,
    private readonly headings: Iterable<NamedPlace> = [],
  ) {
    this.#ids = new Set(ids);
  }

  /** The id of the place that a fragment names, also as another program would write it. */
  tryFind(fragment: string): string | undefined {
    const name = fragment.split('#').at(-1) ?? '';
    const found = [name, name.toLowerCase()].find((one) => this.#ids.has(one));
    if (found !== undefined) return found;
    this.#folded ??= foldedPlaces(this.#ids, this.headings);
    return this.#folded.get(foldOf(name));
  }
}

interface NamedPlace {
  readonly id: string;
  readonly text: string;
}

/** The first place of each name counts, and ids come first. */
function foldedPlaces(ids: Iterable<string>, headings: Iterable<NamedPlace>): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const add = (name: string, id: string) => {
    const fold = foldOf(name);
    if (fold !== '' && !places.has(fold)) places.set(fold, id);
  };
  for (const id of ids) add(id, id);
  for (const { text, id } of headings) add(text, id);
  return places;
}

/** The same for all programs that make ids of a text. */
function foldOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

/** The last part of the path of an address, or else its host. */
export function endOf(address: string): string {
  const parts = address.replace(/^[a-z]+:|[?#].*$/g, '').split('/');
  const end = parts.findLast(Boolean) ?? address;
  return cutText(tryDecode(end) ?? end, 80);
}
