import { type DocumentPlaces, resolveLink, tryPictureSource } from '../../content/links.ts';

/** Resolves the links and pictures of one document, in document order. */
export interface References {
  /** The address of a link; undefined if it has none, so that only its text stays. */
  link(href: string): string | undefined;
  /** Undefined if the picture cannot be shown, so that its description takes its place. */
  picture(href: string): ShownPicture | undefined;
  /** The mark of a place that has an id in raw HTML; empty if the id is printed already. */
  place?(id: string): string;
}

export interface ShownPicture {
  readonly src: string;
  readonly width: number | null;
  readonly height: number | null;
}

export interface ReferenceOptions {
  /** The path of the document, from the content folder. */
  readonly path: string;
  readonly places: DocumentPlaces;
  /** The address of another document; undefined if it has none. The fragment is as it was written. */
  readonly documentAddress: (path: string, fragment: string | null) => string | undefined;
  /** @param source as `tryPictureSource` returns it */
  readonly picture: (source: string) => ShownPicture | undefined;
  /** Called for each picture from another site, which is never fetched. */
  readonly onForeignPicture: (href: string) => void;
}

export function createReferences(options: ReferenceOptions): References {
  const { path, places, documentAddress, picture, onForeignPicture } = options;
  return {
    link(href) {
      const target = resolveLink(href, path);
      switch (target.kind) {
        case 'external':
          return target.href;
        case 'fragment': {
          const id = places.tryFind(target.fragment);
          return id === undefined ? undefined : `#${id}`;
        }
        case 'inside':
          for (const document of target.documents) {
            const address = documentAddress(document, target.fragment);
            if (address !== undefined) return address;
          }
          return undefined;
        case 'none':
          return undefined;
      }
    },
    picture(href) {
      const source = tryPictureSource(href, path);
      if (source !== undefined) return picture(source);
      onForeignPicture(href);
      return undefined;
    },
  };
}
