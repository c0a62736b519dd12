import createDecoder, { type WebpDecoder } from '@jsquash/webp/codec/dec/webp_dec.js';
import webpCode from '@jsquash/webp/codec/dec/webp_dec.wasm';
import { GifReader } from 'omggif';
import { PNG } from 'pngjs';
import type { ContentPlaces } from '../../content/contentPlaces.ts';
import { tryPictureSource } from '../../content/links.ts';
import { type Picture, pictureName, readAsset } from '../markdown/assets.ts';
import type { ImagePiece, LinePicture } from './pieces.ts';
import { textHeight } from './style.ts';
import { tryDrawableSvg } from './svgPictures.ts';
import type { Typesetter } from './typesetter.ts';

/** A picture with its size on the page. */
export interface PlacedPicture extends LinePicture {
  readonly path: string;
  /** Where it leads, in PDFMake's words. */
  readonly leads?: { readonly link?: string; readonly linkToDestination?: string };
}

interface PictureSource {
  readonly places: ContentPlaces;
  /** Pictures that must not be shown, by their paths. */
  readonly excluded: ReadonlySet<string>;
  /** Knows which fonts the text in an SVG needs. */
  readonly type?: Typesetter;
}

/** The pictures of one file. Each picture is read once. */
export class Pictures {
  /** The pictures for PDFMake, by name. */
  readonly images: Record<string, string> = {};
  readonly notes = new Set<string>();
  readonly #source: PictureSource;
  readonly #read = new Map<string, LinePicture | undefined>();
  /** The path of the document that is set now. */
  #document = '-';
  #bytes = 0;
  /** Pixels of pictures in formats that a PDF does not have. */
  #converted = 0;

  constructor(source: PictureSource) {
    this.#source = source;
  }

  /** The pictures that are placed from now on are those of this document. */
  turnTo(document: string): void {
    this.#document = document;
  }

  get paths(): readonly string[] {
    return [...this.#read.keys()];
  }

  /** Undefined if the picture cannot be shown; the notes say why. */
  place(piece: ImagePiece, maxWidth: number): PlacedPicture | undefined {
    const box = { width: maxWidth, height: textHeight * 0.86 };
    const source = tryPictureSource(piece.source, this.#document);
    if (source === undefined) {
      return this.#refuse(`A picture is not in the content folder: ${piece.source.slice(0, 100)}`);
    }
    return this.placeFile(source, box, piece);
  }

  /** The same for a path from the content folder, a box in points, and a size in pixels that is asked for. */
  placeFile(path: string, box: Box, asked: Partial<Box> = {}): PlacedPicture | undefined {
    if (!this.#read.has(path)) this.#read.set(path, this.#open(path));
    const original = this.#read.get(path);
    if (!original) return undefined;
    const size = placedSize(original, asked, box);
    const { node } = original;
    const sized = 'svg' in node ? { svg: sizedSvg(node.svg, original, size) } : node;
    return { path, node: sized, ...size };
  }

  #open(source: string): LinePicture | undefined {
    const path = pictureName(source);
    if (this.#source.excluded.has(source)) return this.#refuse(`The picture ${path} is damaged.`);
    const asset = readAsset(this.#source.places, source);
    if (asset.kind === 'problem') return this.#refuse(asset.message);
    const { type, bytes, width, height, hash } = asset;
    this.#bytes += bytes.length;
    if (this.#bytes > maxBytes) return this.#refuse(`With ${path}, the pictures have more than 100 MB.`);
    if (type === 'svg') {
      const svg = tryDrawableSvg(new TextDecoder().decode(bytes), this.#source.type);
      if (svg === undefined) return this.#refuse(`The picture ${path} repeats its parts too often.`);
      return { width: width || 300, height: height || 150, node: { svg } };
    }
    if (type === 'gif' || type === 'webp') this.#converted += (width ?? 0) * (height ?? 0);
    if (this.#converted > maxConverted) {
      return this.#refuse(`With ${path}, the GIF and WebP pictures have more than 40 million pixels.`);
    }
    const data = tryOpaquePicture(asset);
    if (!data || !width || !height) return this.#refuse(`The picture ${path} is damaged or too large.`);
    this.#bytes += Math.max(0, data.length - bytes.length);
    this.images[hash] = `data:image/${type === 'jpeg' ? type : 'png'};base64,${data.toString('base64')}`;
    return { width, height, node: { image: hash } };
  }

  #refuse(note: string): undefined {
    this.notes.add(note);
    return undefined;
  }
}

const maxBytes = 100_000_000;
/** They take a few seconds. */
const maxConverted = 40_000_000;
/** As on the web: 96 pixels are an inch. */
const pointsPerPixel = 0.75;

type Box = Pick<LinePicture, 'width' | 'height'>;

/** As browsers do it: the width that was asked for counts, or else the height, and the shape stays. */
function placedSize({ width, height }: LinePicture, asked: Partial<Box>, box: Box) {
  const factor = asked.width ? asked.width / width : asked.height ? asked.height / height : 1;
  const [w, h] = [width * factor * pointsPerPixel, height * factor * pointsPerPixel];
  const fit = Math.min(1, box.width / w, box.height / h);
  return { width: Math.max(1, w * fit), height: Math.max(1, h * fit) };
}

/** The output of `sanitiseSvg` begins with its tag, which contains no `>`. */
function sizedSvg(svg: string, original: LinePicture, size: Box): string {
  return svg.replace(/^<svg\b[^>]*/, (tag) => {
    const box = /\sviewBox="/.test(tag) ? '' : ` viewBox="0 0 ${original.width} ${original.height}"`;
    return `${tag.replace(/\s(?:width|height)="[^"]*"/g, '')}${box} width="${size.width}" height="${size.height}"`;
  });
}

/**
 * A picture as a PDF shows it, on the white of the page: a JPEG as it is, and everything else as a PNG. Of an animated
 * GIF, it is the first frame. Undefined if the picture is damaged or has too many pixels.
 */
function tryOpaquePicture({ type, bytes, width, height }: Picture): Buffer | undefined {
  if (!width || !height || (type !== 'jpeg' && width * height > maxPixels)) return undefined;
  try {
    if (type === 'png') return opaquePng(Buffer.from(bytes));
    if (type === 'gif') return pngOf(firstFrame(bytes, width * height), { width, height });
    if (type === 'webp') return pngOf(webpPixels(bytes, width * height), { width, height });
    return Buffer.from(bytes);
  } catch {
    // The decoder's message about damaged bytes would not help an author.
    return undefined;
  }
}

/** A pixel takes four bytes while it is unpacked. */
const maxPixels = 40_000_000;

/**
 * PDFKit unpacks transparent and interlaced pictures asynchronously, in a varying order, and a damaged one ends the
 * process. So they are checked here, and flattened.
 */
function opaquePng(file: Buffer): Buffer {
  const { data, width, height } = PNG.sync.read(file, { checkCRC: false });
  const [colorType, interlaced] = [file[25], file[28]];
  const isPlain =
    interlaced === 0 && (colorType === 3 || (colorType !== 4 && colorType !== 6 && file[24] === 8));
  return isPlain && !file.includes('tRNS') ? file : pngOf(data, { width, height });
}

function firstFrame(bytes: Uint8Array, pixels: number): Buffer {
  const data = Buffer.alloc(4 * pixels);
  new GifReader(bytes).decodeAndBlitFrameRGBA(0, data);
  return data;
}

/** Each picture has an instance of its own, so that a damaged one cannot change how others look. */
function webpPixels(bytes: Uint8Array, pixels: number): Buffer {
  webpCodeModule ??= new WebAssembly.Module(webpCode);
  const code = webpCodeModule;
  const decoder: WebpDecoder = {
    noInitialRun: true,
    locateFile: (name) => name,
    instantiateWasm(imports, onInstance) {
      const instance = new WebAssembly.Instance(code, imports);
      onInstance(instance);
      return instance.exports;
    },
  };
  void createDecoder(decoder);
  const data = Buffer.from(decoder.decode?.(bytes)?.data ?? []);
  if (data.length !== 4 * pixels) throw new RangeError('The picture has another size than it says.');
  return data;
}

let webpCodeModule: WebAssembly.Module | undefined;

function pngOf(
  pixels: Buffer,
  { width, height }: { readonly width: number; readonly height: number },
): Buffer {
  const picture = new PNG({ width, height });
  picture.data = pixels;
  // A picture that is written without transparency is laid on white.
  return PNG.sync.write(picture, { colorType: 2, inputHasAlpha: true, filterType: 4 });
}
