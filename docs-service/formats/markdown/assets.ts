import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { isOpenedAt } from '../../content/contentFolder.ts';
import { sanitiseSvg } from './svg.ts';

/** A picture in the content folder, or a sentence that says why there is none. */
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
 * Reads a picture. It reads only regular files that really are inside the folder; a link that leads out of the folder
 * counts as outside. It never throws for what a document can cause.
 * @param path from the content folder, as `resolveLink` returns it
 */
export function readAsset(contentFolder: string, path: string): Asset {
  try {
    const bytes = readInside(realpathSync(contentFolder), path);
    return typeof bytes === 'string' ? problem(path, bytes) : pictureOf(bytes, path);
  } catch (error) {
    return problem(path, `cannot be read (${codeOf(error)})`);
  }
}

/** 10 MB, the same as for documents. */
const maxBytes = 10_000_000;
/** More than the pictures of any current camera have. A reader unpacks a pixel into four bytes. */
const maxPixels = 100_000_000;

function pictureOf(bytes: Uint8Array, path: string): Asset {
  const found = tryPictureType(bytes);
  if (!found) return problem(path, 'is not a picture in PNG, JPEG, GIF, WebP or SVG');
  if (found.type !== 'svg') {
    if (!found.width || !found.height) return problem(path, 'is a damaged picture');
    if (found.width * found.height > maxPixels) return problem(path, 'has more than 100 million pixels');
    return picture(found, bytes);
  }
  const sanitised = sanitiseSvg(new TextDecoder().decode(bytes));
  if (!sanitised) return problem(path, 'is an SVG with parts that cannot be shown safely');
  return picture({ ...sanitised, type: 'svg' }, new TextEncoder().encode(sanitised.text));
}

function picture(
  { type, width, height }: Pick<Picture, 'type' | 'width' | 'height'>,
  bytes: Uint8Array,
): Picture {
  return {
    kind: 'picture',
    type,
    bytes,
    width,
    height,
    hash: createHash('sha256').update(bytes).digest('hex'),
  };
}

function problem(path: string, why: string): Asset {
  return { kind: 'problem', message: `The picture ${path} ${why}.` };
}

/** The bytes, or a reason. The file is opened without blocking, because a pipe would block for ever. */
function readInside(folder: string, path: string): Uint8Array | string {
  const file = realpathSync(join(folder, path));
  if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return outside;
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    if (!isOpenedAt(descriptor, file)) return outside;
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return 'is not a file';
    if (stats.size > maxBytes) return 'is larger than 10 MB';
    return readUpTo(descriptor, stats.size);
  } finally {
    closeSync(descriptor);
  }
}

const outside = 'is outside the content folder';

function readUpTo(descriptor: number, size: number): Uint8Array {
  const bytes = Buffer.alloc(size);
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read) {
    read = readSync(descriptor, bytes, length, size - length, null);
  }
  return bytes.subarray(0, length);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

export type PictureType = 'png' | 'jpeg' | 'gif' | 'webp' | 'svg';

interface PictureSize {
  /** Pixels; null if the file is damaged or does not give them. */
  readonly width: number | null;
  readonly height: number | null;
}

/** The type of a file by its first bytes, whatever its name says; undefined if it is not a picture. */
function tryPictureType(bytes: Uint8Array): (PictureSize & { readonly type: PictureType }) | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const { type, isType, sizeOf } of formats) {
    if (isType(view)) return { type, ...(trySize(() => sizeOf(view)) ?? unknownSize) };
  }
  return undefined;
}

interface Format {
  readonly type: PictureType;
  readonly isType: (view: DataView) => boolean;
  /** Throws a RangeError if the file ends too early. */
  readonly sizeOf: (view: DataView) => PictureSize;
}

const unknownSize: PictureSize = { width: null, height: null };

const formats: readonly Format[] = [
  {
    type: 'png',
    isType: (view) => textAt(view, 0, 8) === '\x89PNG\r\n\x1a\n',
    sizeOf: (view) =>
      textAt(view, 12, 4) === 'IHDR'
        ? { width: view.getUint32(16), height: view.getUint32(20) }
        : unknownSize,
  },
  { type: 'jpeg', isType: (view) => textAt(view, 0, 3) === '\xff\xd8\xff', sizeOf: jpegSize },
  {
    type: 'gif',
    isType: (view) => /^GIF8[79]a$/.test(textAt(view, 0, 6)),
    sizeOf: (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  },
  {
    type: 'webp',
    isType: (view) => textAt(view, 0, 4) === 'RIFF' && textAt(view, 8, 4) === 'WEBP',
    sizeOf: webpSize,
  },
  {
    type: 'svg',
    isType: (view) =>
      /^(?:\xef\xbb\xbf)?\s*<(?:svg\b|\?xml\b|!--|!DOCTYPE svg\b)/i.test(textAt(view, 0, 200)),
    sizeOf: () => unknownSize,
  },
];

/** Walks over the segments to the one that begins the frame (ITU T.81, B.1.1.3: C0 to CF except C4, C8 and CC). */
function jpegSize(view: DataView): PictureSize {
  for (let at = 2; at < view.byteLength; ) {
    const marker = view.getUint16(at);
    if (marker < 0xff01) return unknownSize;
    if (marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker)) {
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    }
    at += marker === 0xffff ? 1 : 2 + view.getUint16(at + 2);
  }
  return unknownSize;
}

/** The three kinds of the first chunk, as in the WebP container specification. */
function webpSize(view: DataView): PictureSize {
  switch (textAt(view, 12, 4)) {
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return {
        width: (view.getUint32(24, true) & 0xffffff) + 1,
        height: (view.getUint32(26, true) >>> 8) + 1,
      };
    default:
      return unknownSize;
  }
}

function textAt(view: DataView, from: number, length: number): string {
  const end = Math.min(from + length, view.byteLength);
  let text = '';
  for (let at = from; at < end; at += 1) text += String.fromCharCode(view.getUint8(at));
  return text;
}

function trySize(sizeOf: () => PictureSize): PictureSize | undefined {
  try {
    return sizeOf();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
