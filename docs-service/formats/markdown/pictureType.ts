export type PictureType = 'png' | 'jpeg' | 'gif' | 'webp' | 'svg';

interface PictureSize {
  /** Pixels; null if the file is damaged or does not give them. */
  readonly width: number | null;
  readonly height: number | null;
}

/** The type of a file by its first bytes, whatever its name says; undefined if it is not a picture. */
export function tryPictureType(
  bytes: Uint8Array,
): (PictureSize & { readonly type: PictureType }) | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const { type, isType, sizeOf } of formats) {
    if (isType(view)) return { type, ...(tryRead(() => sizeOf(view)) ?? unknownSize) };
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

/**
 * Walks over the segments to the one that begins the frame (ITU T.81, B.1.1.3: C0 to CF except C4, C8 and CC). The size
 * is the upright one, which viewers show.
 */
function jpegSize(view: DataView): PictureSize {
  let orientation: number | undefined;
  for (let at = 2; at < view.byteLength; ) {
    const marker = view.getUint16(at);
    if (marker < 0xff01) return unknownSize;
    if (marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker)) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return (orientation ?? 1) > 4 ? { width: height, height: width } : { width, height };
    }
    if (marker === 0xffe1 && textAt(view, at + 4, 6) === 'Exif\0\0') {
      orientation ??= tryRead(() => exifOrientation(view, at + 10)) ?? 1;
    }
    at += marker === 0xffff ? 1 : 2 + view.getUint16(at + 2);
  }
  return unknownSize;
}

/** From 5 on, the picture lies on its side (Exif 2.3, 4.6.4). `at` is the beginning of the TIFF header. */
function exifOrientation(view: DataView, at: number): number {
  const isLittle = textAt(view, at, 2) === 'II';
  const entries = at + view.getUint32(at + 4, isLittle);
  for (let entry = 0; entry < view.getUint16(entries, isLittle); entry += 1) {
    const place = entries + 2 + 12 * entry;
    if (view.getUint16(place, isLittle) === 0x0112) return view.getUint16(place + 8, isLittle);
  }
  return 1;
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

/** Undefined if the file ends too early. */
function tryRead<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
