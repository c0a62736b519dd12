import createDecoder, { type WebpDecoder } from '@jsquash/webp/codec/dec/webp_dec.js';
import webpCode from '@jsquash/webp/codec/dec/webp_dec.wasm';
import { GifReader } from 'omggif';
import { PNG } from 'pngjs';
import type { Picture } from '../markdown/assets.ts';

/**
 * A picture as a PDF shows it, on the white of the page: a JPEG as it is, and everything else as a PNG. Of an animated
 * GIF, it is the first frame. Undefined if the picture is damaged or has too many pixels.
 */
export function tryOpaquePicture({ type, bytes, width, height }: Picture): Buffer | undefined {
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
