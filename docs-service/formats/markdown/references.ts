import { type LinkTarget, resolveLink } from './links.ts';

/** Resolves the links and pictures of one document, in document order. */
export interface References {
  /** The address of a link; undefined if it has none, so that only its text stays. */
  link(href: string): string | undefined;
  /** Undefined if the picture cannot be shown, so that its description takes its place. */
  picture(href: string): ShownPicture | undefined;
}

export interface ShownPicture {
  readonly src: string;
  readonly width: number | null;
  readonly height: number | null;
}

export interface ReferenceOptions {
  /** The path of the document, from the content folder. */
  readonly path: string;
  /** All places of the document that a link can lead to. */
  readonly ids: ReadonlySet<string>;
  /** The address of another document; undefined if it has none. The fragment may not exist there. */
  readonly documentAddress: (path: string, fragment: string | null) => string | undefined;
  /** @param path of the picture, from the content folder */
  readonly picture: (path: string) => ShownPicture | undefined;
  /** Called for each picture from another site, which is never fetched. */
  readonly onForeignPicture: (href: string) => void;
}

export function createReferences(options: ReferenceOptions): References {
  const { path, ids, documentAddress, picture, onForeignPicture } = options;
  return {
    link: (href) => addressOf(resolveLink(href, path), ids, documentAddress),
    picture(href) {
      const target = resolveLink(href, path);
      if (target.kind === 'asset') return picture(target.path);
      onForeignPicture(href);
      return undefined;
    },
  };
}

function addressOf(
  target: LinkTarget,
  ids: ReadonlySet<string>,
  documentAddress: ReferenceOptions['documentAddress'],
): string | undefined {
  switch (target.kind) {
    case 'external':
      return target.href;
    case 'fragment':
      return ids.has(target.fragment) ? `#${target.fragment}` : undefined;
    case 'document':
      return documentAddress(target.path, target.fragment);
    case 'asset':
    case 'none':
      return undefined;
  }
}
