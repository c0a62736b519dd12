import { createHash } from 'node:crypto';
import { LruCache } from '../base/lruCache.ts';
import type { ContentFolder } from '../content/contentFolder.ts';
import type { Document } from '../content/document.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import { createPictureStamps } from './pictureStamps.ts';
import { createReferenceFinder, type References } from './references.ts';

/** What the rendition of a document depends on beside its text. */
export interface Dependencies {
  /** Where links to other documents lead, by their paths. */
  readonly targets: Readonly<Record<string, string>>;
  /** Changes with the targets and with the bytes of the pictures. */
  readonly stamp: string;
}

export interface DependencyOptions {
  readonly index: Pick<DocumentIndex, 'generation' | 'slugsOf'>;
  readonly folder: ContentFolder;
  /** The same object as long as no file has changed; undefined while nobody watches them. */
  readonly unchangedFiles: () => object | undefined;
}

/** What is looked up of one document in one format. */
export interface Dependent {
  readonly document: Document;
  /** Distinguishes the lookups of a document. */
  readonly format: string;
  readonly addressOf: (slug: string) => string;
  /** Pictures that the text does not name. */
  readonly pictures: readonly string[];
}

/** The number of references in the cache. */
const remembered = 200_000;

/**
 * Looks the dependencies of a document up once, for everybody who asks at the same time, and again only after a file or
 * the index has changed. Rejects with `Unrenderable` for too many references.
 */
export function createDependencies({ index, folder, unchangedFiles }: DependencyOptions) {
  const references = createReferenceFinder();
  const stampsOf = createPictureStamps(folder);
  const known = new LruCache<{
    readonly generation: number;
    readonly files: object | undefined;
    readonly found: Promise<Dependencies>;
  }>(remembered);

  const lookUp = async (
    { addressOf, pictures }: Dependent,
    { documents, assets }: References,
  ): Promise<Dependencies> => {
    const slugs = await index.slugsOf(documents);
    const targets = Object.fromEntries([...slugs].map(([path, slug]) => [path, addressOf(slug)]));
    const stamps = await stampsOf([...assets, ...pictures]);
    const stamp = createHash('sha256')
      .update(JSON.stringify([targets, stamps]))
      .digest('base64url');
    return { targets, stamp };
  };

  const dependenciesOf = async (dependent: Dependent): Promise<Dependencies> => {
    const { document, format } = dependent;
    const referred = references(document);
    const key = `${format} ${document.contentHash} ${document.path}`;
    const files = unchangedFiles();
    const { generation } = index;
    const last = known.get(key);
    if (last?.generation === generation && last.files === files) return last.found;
    const found = lookUp(dependent, referred);
    const forget = () => {
      if (known.get(key)?.found === found) known.delete(key);
    };
    known.set(key, { generation, files, found }, referred.documents.length + referred.assets.length + 1);
    // Without a watcher nobody would notice that a picture has changed.
    void found.then(() => files === undefined && forget(), forget);
    return found;
  };
  return { references, stampsOf, dependenciesOf };
}
