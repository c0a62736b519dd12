import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LruCache } from '../base/lruCache.ts';
import { type ContentFolder, coarsest, lookOf } from '../content/contentFolder.ts';
import { placeOf } from '../content/contentPlaces.ts';
import type { Document } from '../content/document.ts';
import { headingAnchors, writtenIds } from '../content/headings.ts';
import { DocumentPlaces, type InsideTarget, resolveLink, tryLoose } from '../content/links.ts';
import { LinkTree } from '../content/linkTree.ts';
import { withoutCode } from '../content/markdownLines.ts';
import { readAllDocuments, untilChange } from '../library/wholeIndex.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import { type PictureType, tryPictureType } from './markdown/pictureType.ts';
import { placeKey, UnrenderableError } from './renderJob.ts';

/** The files that a document refers to, on which its renditions depend beside its text. */
export interface FoundFiles {
  /** Where links to other documents lead, by their paths. */
  readonly targets: Readonly<Record<string, string>>;
  /** The pictures among them. */
  readonly pictures: readonly PictureFile[];
  /** Changes with the targets and with the bytes of the pictures. */
  readonly stamp: string;
}

/** A file of the content folder that a document may show. */
export interface PictureFile {
  readonly path: string;
  /** Distinguishes the versions of the file by its bytes. */
  readonly stamp: string;
  /** Undefined if it is missing, or no picture. */
  readonly type: PictureType | undefined;
}

/** One document in one format, whose references are looked up. */
export interface ReferringDocument {
  readonly document: Document;
  /** Distinguishes the lookups of a document. */
  readonly format: string;
  readonly addressOf: (slug: string) => string;
  /** Which documents may be linked; all, if it is left out. The same function always gives the same answer. */
  readonly isLinked?: ((slug: string) => boolean) | undefined;
  /** Pictures that the text does not name. */
  readonly pictures: readonly string[];
}

const maxReferences = 200_000;

/**
 * Looks up the files that a document refers to once for all simultaneous callers, and again only after a file or the
 * index has changed. Rejects with `UnrenderableError` for too many references.
 */
export class ReferencedFiles {
  readonly #tree: () => Promise<LinkTree>;
  readonly #known = new LruCache<{
    readonly generation: number;
    readonly files: object | undefined;
    readonly isLinked: ReferringDocument['isLinked'];
    readonly found: Promise<FoundFiles>;
  }>(maxReferences);
  readonly #references = new LruCache<References | UnrenderableError>(maxReferences);
  readonly #places = new LruCache<DocumentPlaces>(maxReferences);
  readonly #pictures = new LruCache<PictureFile>(maxPictures);

  constructor(
    private readonly index: Pick<DocumentIndex, 'generation' | 'slugsOf' | 'select' | 'metadataOf' | 'read'>,
    private readonly folder: ContentFolder,
    /** The same object as long as no file has changed; undefined while nobody watches them. */
    private readonly unchangedFiles: () => object | undefined,
  ) {
    this.#tree = untilChange(index, async () => new LinkTree(await readAllDocuments(index), folder));
  }

  async filesOf(referring: ReferringDocument): Promise<FoundFiles> {
    const { document, format, isLinked } = referring;
    const referred = this.references(document);
    const key = `${format} ${document.contentHash} ${document.path}`;
    const files = this.unchangedFiles();
    const { generation } = this.index;
    const last = this.#known.get(key);
    if (last?.generation === generation && last.files === files && last.isLinked === isLinked)
      return last.found;
    const found = this.#lookUp(referring, referred);
    const forget = () => {
      if (this.#known.get(key)?.found === found) this.#known.delete(key);
    };
    const weight = referred.documents.length + referred.assets.length + 1;
    this.#known.set(key, { generation, files, isLinked, found }, weight);
    // Without a watcher, a changed picture would go unnoticed.
    void found.then(() => files === undefined && forget(), forget);
    return found;
  }

  /** Reads each version of a document once. Throws `UnrenderableError` if it refers to too many files. */
  references({ body, path, contentHash }: Document): References {
    const key = `${contentHash} ${path}`;
    const found = this.#references.get(key) ?? findReferences(body, path);
    const isRefused = found instanceof UnrenderableError;
    this.#references.set(key, found, isRefused ? 1 : found.documents.length + found.assets.length + 1);
    if (isRefused) throw found;
    return found;
  }

  async filesAt(paths: readonly string[]): Promise<readonly PictureFile[]> {
    const files: PictureFile[] = [];
    for (const path of paths) files.push(await this.#fileAt(path));
    return files;
  }

  async #lookUp(
    { addressOf, isLinked = () => true, pictures }: ReferringDocument,
    { documents, assets, places: named }: References,
  ): Promise<FoundFiles> {
    const places = new Map<string, { readonly path: string; readonly id?: string }>();
    for (const one of documents) {
      const loose = tryLoose(one);
      const place = loose === undefined ? { path: one } : (await this.#tree()).tryFind(loose);
      if (place !== undefined) places.set(one, place).set(place.path, { path: place.path });
    }
    const slugs = await this.index.slugsOf([...new Set(Array.from(places.values(), ({ path }) => path))]);
    const shown = new Map<string, string>();
    for (const [one, { path }] of places) {
      const slug = slugs.get(path);
      if (slug !== undefined && isLinked(slug)) shown.set(one, slug);
    }
    const addresses = Array.from(shown, ([one, slug]) => {
      const id = places.get(one)?.id;
      return [one, addressOf(slug) + (id ? `#${id}` : '')];
    });
    const fragments = (await this.#placedLinks(named, shown)).map(({ path, slug, fragment, id }) => [
      placeKey(path, fragment),
      `${addressOf(slug)}#${encodeURIComponent(id)}`,
    ]);
    const targets = Object.fromEntries([...addresses, ...fragments]);
    const files = await this.filesAt([...assets, ...pictures]);
    const stamp = createHash('sha256')
      .update(JSON.stringify([targets, files.map((file) => file.stamp)]))
      .digest('base64url');
    return { targets, pictures: files.filter(({ type }) => type !== undefined), stamp };
  }

  /** The places that links mean, where their ids are not what the links say. */
  async #placedLinks(places: References['places'], shown: ReadonlyMap<string, string>) {
    const links = places.flatMap(({ documents, fragment }) => {
      const path = documents.find((one) => shown.has(one));
      const slug = path === undefined ? undefined : shown.get(path);
      return path === undefined || slug === undefined ? [] : [{ path, slug, fragment }];
    });
    if (links.length === 0) return [];
    const found = await this.#placesIn(new Set(links.map(({ slug }) => slug)));
    return links.flatMap((link) => {
      const id = found.get(link.slug)?.tryFind(link.fragment);
      return id === undefined || id === link.fragment.toLowerCase() ? [] : [{ ...link, id }];
    });
  }

  async #placesIn(slugs: ReadonlySet<string>): Promise<ReadonlyMap<string, DocumentPlaces>> {
    const found = new Map<string, DocumentPlaces>();
    for (const { slug, contentHash } of await this.index.metadataOf([...slugs])) {
      const key = `${contentHash} ${slug}`;
      const places = this.#places.get(key) ?? placesOf((await this.index.read(slug))?.body ?? '');
      this.#places.set(key, places, 100);
      found.set(slug, places);
    }
    return found;
  }

  /**
   * Distinguishes the versions of a picture by its bytes, so that instances with the same files agree. An unchanged
   * file is not read again.
   */
  async #fileAt(path: string): Promise<PictureFile> {
    const place = placeOf(this.folder.places, path);
    const found = await stat(join(place.folder, place.path)).catch(() => undefined);
    if (found === undefined) return { path, stamp: `${path}:gone`, type: undefined };
    const look = lookOf(found);
    const known = look === '' ? undefined : this.#pictures.get(`${path}:${look}`);
    if (known !== undefined) return known;
    // A file outside the library is never shown.
    const bytes = await this.folder.read(path).catch(() => undefined);
    const hash = bytes === undefined ? 'none' : createHash('sha256').update(bytes).digest('hex');
    const file = { path, stamp: `${path}:${hash}`, type: bytes && tryPictureType(bytes)?.type };
    // A younger file may change again and look the same.
    if (Date.now() - found.ctimeMs > coarsest) this.#pictures.set(`${path}:${look}`, file, 1);
    return file;
  }
}

function placesOf(body: string): DocumentPlaces {
  const text = body.slice(0, maxTextLength);
  const prose = withoutCode(text);
  const headings = [...headingAnchors(text, prose)];
  return new DocumentPlaces([...writtenIds(prose), ...headings.map(({ id }) => id)], headings);
}

/** In characters. A place beyond it is only found by its own id. */
const maxTextLength = 1_000_000;

const maxPictures = 20_000;

/** What a document may link to or show, as paths from the content folder. */
interface References {
  readonly documents: readonly string[];
  readonly assets: readonly string[];
  readonly places: readonly { readonly documents: readonly string[]; readonly fragment: string }[];
}

/** At most this many matches of a pattern are examined, so that no document holds up the service. */
const maxMatches = 20_000;

/** Each file costs a look at the disk or at the index. */
const maxFiles = 2_000;

/**
 * Every place where Markdown or raw HTML may have an address; too many matches are better than too few. Each is
 * bounded.
 */
const patterns = [
  /\]\([ \t\n]{0,10}<?([^)\s>]{1,2048})/g,
  /\]\([ \t\n]{0,10}([^()\s<>]{0,2048}\([^()\s<>]{0,2048}\)[^()\s<>]{0,2048})/g,
  /\]\([ \t\n]{0,10}<([^<>\n]{1,2048})>/g,
  /^ {0,3}\[[^\]\n]{1,999}\]:[ \t\n]{0,10}<([^<>\n]{1,2048})>/gm,
  /^ {0,3}\[[^\]\n]{1,999}\]:[ \t\n]{0,10}<?([^\s>]{1,2048})/gm,
  /\b(?:src|href)=["']?([^"'\s>]{1,2048})/gi,
  /\b(?:src|href)=["']([^"'<>\n]{1,2048})["']/gi,
];

/** Finds, in one pass and without parsing the Markdown, what the rendering of a document can depend on. */
function findReferences(body: string, path: string): References | UnrenderableError {
  const targets = new Map<string, InsideTarget>();
  const places = new Map<string, References['places'][number]>();
  for (const href of hrefs(body)) {
    const target = resolveLink(href, path);
    if (target.kind !== 'inside') continue;
    const { documents, fragment } = target;
    targets.set(`${target.path} ${documents.join(' ')}`, target);
    if (fragment && places.size < maxFiles) places.set(`${target.path}#${fragment}`, { documents, fragment });
    const most = `${maxFiles.toLocaleString('en')} files. Split it into several documents.`;
    if (targets.size > maxFiles) return new UnrenderableError(`The document refers to more than ${most}`);
  }
  const inside = [...targets.values()];
  const documents = new Set(inside.flatMap((target) => target.documents));
  const assets = inside.map((target) => target.path).filter((path) => path !== '' && !documents.has(path));
  return { documents: [...documents].sort(), assets: assets.sort(), places: [...places.values()] };
}

/** Each address once, as Marked returns it: without the backslash before a sign. */
function hrefs(body: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    let matches = 0;
    for (const [, href = ''] of body.matchAll(pattern)) {
      found.add(href.includes('\\') ? href.replace(/\\([!-/:-@[-`{-~])/g, '$1') : href);
      if (++matches === maxMatches) break;
    }
  }
  return found;
}
