import { LruCache } from '../base/lruCache.ts';
import type { ContentPlaces } from '../content/contentPlaces.ts';
import type { Document } from '../content/document.ts';
import type { PictureType } from './markdown/pictureType.ts';
import type { createReferencedFiles } from './referencedFiles.ts';
import { identityOf, type Rendition, type RenditionMaker } from './renditionMaker.ts';

/** How many paths of pictures are kept in memory. */
const maxPaths = 100_000;

const mediaTypes: Readonly<Record<PictureType, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml; charset=utf-8',
};

/**
 * Finds a picture that a document shows. Undefined if the document shows none at this path, or if no format could show
 * it. So no other file of the content folder has an address, even if a document names it.
 */
export function createDocumentPictures(
  { references, filesAt }: ReturnType<typeof createReferencedFiles>,
  texts: RenditionMaker,
  places: ContentPlaces,
): (document: Document, path: string) => Promise<Rendition | undefined> {
  const known = new LruCache<ReadonlySet<string>>(maxPaths);

  /** Read by a worker, because only a parser can say what is a picture. */
  const shownIn = async (document: Document): Promise<ReadonlySet<string>> => {
    const list = texts.make({ job: { kind: 'pictureList', document }, inputs: [identityOf(document)] });
    const found = known.get(list.etag);
    if (found !== undefined) return found;
    const bytes = (await list.cached()) ?? (await list.render(new AbortController().signal));
    const shown = new Set<string>(JSON.parse(Buffer.from(bytes).toString()));
    known.set(list.etag, shown, shown.size + 1);
    return shown;
  };

  return async (document, path) => {
    const mayShow = document.cover === path || references(document).assets.includes(path);
    if (!mayShow || !(await shownIn(document)).has(path)) return undefined;
    const [file] = await filesAt([path]);
    if (file?.type === undefined) return undefined;
    const mediaType = mediaTypes[file.type];
    return texts.make({ job: { kind: 'picture', ...places, path, mediaType }, inputs: [file.stamp] });
  };
}
