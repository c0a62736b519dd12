import { createHash } from 'node:crypto';
import { type ContentPlaces, placeOf, readPlaceNow } from '../../content/contentPlaces.ts';
import { type DocumentPlaces, resolveLink, tryPictureSource } from '../../content/links.ts';
import { type PictureType, tryPictureType } from './pictureType.ts';
import { sanitiseSvg } from './svg.ts';

/** A picture, or a sentence that says why there is none. */
export type Asset = Picture | { readonly kind: 'problem'; readonly message: string };

export interface Picture {
  readonly kind: 'picture';
  /** The type of the file's content, whatever its name says. */
  readonly type: PictureType;
  /** The bytes of the file; an SVG is sanitised. */
  readonly bytes: Uint8Array;
  /** Pixels; null for an SVG that does not give them. */
  readonly width: number | null;
  readonly height: number | null;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly hash: string;
}

/**
 * Reads a picture. A `data:` address contains it; otherwise it reads only regular files that really are inside the
 * folder. A link that leads out of the folder counts as outside. It never throws for what a document can cause.
 * @param source a path from the content folder or a `data:` address, as `tryPictureSource` returns it
 */
export function readAsset(places: ContentPlaces, source: string): Asset {
  const name = pictureName(source);
  try {
    const bytes = source.startsWith('data:')
      ? bytesIn(source)
      : readPlaceNow(placeOf(places, source), maxBytes);
    return typeof bytes === 'string' ? problem(name, bytes) : pictureOf(bytes, name);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return problem(name, `cannot be read (${code})`);
  }
}

export function pictureName(source: string): string {
  return source.startsWith('data:') ? `${source.slice(0, 40)}…` : source;
}

/** The bytes of a `data:` address (RFC 2397), or a reason. As with files, the bytes decide the type. */
function bytesIn(address: string): Uint8Array | string {
  const [start = ''] =
    /^data:image\/(?:png|jpe?g|gif|webp|svg\+xml)(?:;charset=utf-8)?;base64,/i.exec(address) ?? [];
  const data = address.slice(start.length);
  if (data.length > (maxBytes / 3) * 4) return 'is larger than 10 MB';
  const isWhole = start !== '' && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
  return isWhole ? Buffer.from(data, 'base64') : 'is not PNG, JPEG, GIF, WebP or SVG in Base64';
}

/** 10 MB, the same as for documents. */
const maxBytes = 10_000_000;
/** More than the pictures of any current camera have. A reader unpacks a pixel into four bytes. */
const maxPixels = 100_000_000;

function pictureOf(bytes: Uint8Array, path: string): Asset {
  const found = tryPictureType(bytes);
  if (!found) return problem(path, 'is not a picture in PNG, JPEG, GIF, WebP or SVG');
  const { type, width, height } = found;
  if (type !== 'svg') {
    if (!width || !height) return problem(path, 'is a damaged picture');
    if (width * height > maxPixels) return problem(path, 'has more than 100 million pixels');
    return { kind: 'picture', type, bytes, width, height, hash: hashOf(bytes) };
  }
  const sanitised = sanitiseSvg(new TextDecoder().decode(bytes));
  if (!sanitised) return problem(path, 'is an SVG with parts that cannot be shown safely');
  const { text, ...size } = sanitised;
  const drawn = new TextEncoder().encode(text);
  return { kind: 'picture', type, bytes: drawn, ...size, hash: hashOf(drawn) };
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function problem(path: string, why: string): Asset {
  return { kind: 'problem', message: `The picture ${path} ${why}.` };
}

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

export function createReferences(options: {
  /** The path of the document, from the content folder. */
  readonly path: string;
  readonly places: DocumentPlaces;
  /** The address of another document; undefined if it has none. The fragment is as it was written. */
  readonly documentAddress: (path: string, fragment: string | null) => string | undefined;
  /** @param source as `tryPictureSource` returns it */
  readonly picture: (source: string) => ShownPicture | undefined;
  /** Called for each picture from another site, which is never fetched. */
  readonly onForeignPicture: (href: string) => void;
}): References {
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
