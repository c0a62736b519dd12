import createDecoder, { type WebpDecoder } from '@jsquash/webp/codec/dec/webp_dec.js';
import webpCode from '@jsquash/webp/codec/dec/webp_dec.wasm';
import { compile } from 'css-select';
import { DomUtils, parseDocument } from 'htmlparser2';
import { GifReader } from 'omggif';
import { PNG } from 'pngjs';
import { tryNow } from '../../../protocol/base/text.ts';
import type { ContentPlaces } from '../../content/contentPlaces.ts';
import { tryPictureSource } from '../../content/links.ts';
import { type Picture, pictureName, readAsset } from '../markdown/assets.ts';
import { escapeXml } from '../markdown/xmlText.ts';
import { directionOf, orderedLines } from './directions.ts';
import { type ImagePiece, type LinePicture, textPiece } from './pieces.ts';
import { colors, textHeight } from './style.ts';
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
  readonly #read = new Map<string, LinePicture | undefined>();
  /** The path of the document that is set now. */
  #document = '-';
  #bytes = 0;
  /** Pixels of pictures in formats that a PDF does not have. */
  #converted = 0;

  constructor(private readonly source: PictureSource) {}

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
    if (this.source.excluded.has(source)) return this.#refuse(`The picture ${path} is damaged.`);
    const asset = readAsset(this.source.places, source);
    if (asset.kind === 'problem') return this.#refuse(asset.message);
    const { type, bytes, width, height, hash } = asset;
    this.#bytes += bytes.length;
    if (this.#bytes > maxBytes) return this.#refuse(`With ${path}, the pictures have more than 100 MB.`);
    if (type === 'svg') {
      const svg = tryDrawableSvg(new TextDecoder().decode(bytes), this.source.type);
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

/**
 * An SVG for the library that draws it, which reads only the simplest selectors, takes one font for a whole text, and
 * sets it from left to right. Undefined if it would draw too much.
 * @param svg the output of `sanitiseSvg`
 * @param type knows which fonts the characters of a text need
 */
export function tryDrawableSvg(svg: string, type?: Typesetter): string | undefined {
  const document = parseDocument(svg, { xmlMode: true });
  const every = DomUtils.getElementsByTagName('*', document);
  writeStyles(every);
  if (!isInBounds(every)) return undefined;
  if (type) for (const element of every) if (texts.has(element.name)) nameFonts(element, type);
  const drawable = DomUtils.getOuterHTML(document, { xmlMode: true, selfClosingTags: false });
  // The library does not know references to characters beyond 16 bits.
  return drawable.replace(/&#x(\w{5,6});/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
}

/** Puts the rules of style into their elements. What has the colour of its surroundings gets that of the text. */
function writeStyles(every: readonly SvgElement[]): void {
  const styles = every.filter(({ name }) => name === 'style');
  const rules = rulesOf(DomUtils.getText(styles));
  if (rules.length * every.length > maxMatches) return;
  const [root] = every;
  if (root) root.attribs['color'] ??= colors.text;
  for (const style of styles) DomUtils.removeElement(style);
  let room = maxStyle;
  for (const { selector, style } of rules) {
    for (const { attribs } of every.filter(matcherOf(selector))) {
      room -= style.length;
      if (room > 0) attribs['style'] = `${style};${attribs['style'] ?? ''}`;
    }
  }
}

/** How often a rule and an element may be compared. */
const maxMatches = 1_000_000;
/** Characters that rules may add to all elements together. */
const maxStyle = 1_000_000;

type SvgElement = ReturnType<typeof DomUtils.getElementsByTagName>[number];
type ChildNode = Parameters<typeof DomUtils.getText>[0];

/** The most specific first, and of equal ones the last: each is put before what an element has already. */
function rulesOf(text: string) {
  return Array.from(text.matchAll(/([^{}]+)\{([^{}]*)\}/g), ([, selectors = '', style = '']) =>
    selectors.split(',').map((selector) => ({ selector, style: style.replace(/!\s*important/gi, '') })),
  )
    .flat()
    .reverse()
    .sort((one, other) => weightOf(other.selector) - weightOf(one.selector));
}

/** By ids, then classes and attributes, then names of elements. */
function weightOf(selector: string): number {
  const count = (pattern: RegExp) => selector.match(pattern)?.length ?? 0;
  return 10_000 * count(/#/g) + 100 * count(/[.[:]/g) + count(/(?:^|[\s>+~])[a-z]/gi);
}

/** Ids, classes and names, in each other. What a selector with `:` or `[` costs has no bound, so it matches nothing. */
function matcherOf(selector: string): (element: SvgElement) => boolean {
  const isSimple = /^\s*(?:>\s*)?[\w.#*-]+(?:[\s>]+[\w.#*-]+)*\s*$/.test(selector);
  const compiled = () => compile<ChildNode, SvgElement>(selector, { xmlMode: true });
  return (isSimple ? tryNow(compiled) : undefined) ?? (() => false);
}

/**
 * Whether an SVG draws a bounded number of elements after all its `use` elements are resolved: a few of them that refer
 * to each other can stand for billions.
 */
function isInBounds(every: readonly SvgElement[]): boolean {
  const byId = new Map(every.map((element) => [element.attribs['id'], element]));
  const weights = new Map<SvgElement, number>();
  const weigh = (element: SvgElement, depth: number): number => {
    const known = weights.get(element);
    if (known !== undefined) return known;
    if (depth > maxReferences) return Number.POSITIVE_INFINITY;
    // The renderer does not follow an element that refers to itself.
    weights.set(element, 1);
    const children = element.children.filter((child): child is SvgElement => 'attribs' in child);
    const used = Object.values(element.attribs).flatMap((value) =>
      Array.from(value.matchAll(reference), ([, id, other]) => byId.get(id ?? other) ?? []).flat(),
    );
    const weight = [...children, ...used].reduce((sum, inner) => sum + weigh(inner, depth + 1), 1);
    weights.set(element, weight);
    return weight;
  };
  const [root] = every;
  return root === undefined || weigh(root, 0) <= maxElements;
}

const maxElements = 200_000;
/** How many elements may be in each other or refer to the next. */
const maxReferences = 1_000;
const reference = /^#([\w:.-]+)$|url\(\s*["']?#([\w:.-]+)/g;

const texts: ReadonlySet<string> = new Set(['text', 'tspan', 'textPath']);
const beyondLatin = /[^\0-\u024f]/;

/** Cuts what stands in an element where its font changes. */
function nameFonts(element: SvgElement, type: Typesetter): void {
  for (const child of [...element.children]) {
    if (!('data' in child) || !beyondLatin.test(child.data)) continue;
    const spans = parseDocument(textWithFonts(child.data, type), { xmlMode: true });
    for (const span of [...spans.children]) DomUtils.prepend(child, span);
    DomUtils.removeElement(child);
  }
}

function textWithFonts(text: string, type: Typesetter): string {
  const [, before = '', inner = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
  const lines = { direction: directionOf(inner), room: Number.POSITIVE_INFINITY, widthOf: () => 0 };
  const words = orderedLines([textPiece(inner.replace(/\s/g, ' '))], lines);
  const parts = words.flatMap((word) => {
    const stretches = type.split(word.text, 'Text');
    return word.isRightToLeft ? stretches.reverse() : stretches;
  });
  return before + parts.map(({ text, family }) => spanOf(text, family)).join('') + after;
}

/** What the text font has keeps the font that the author chose. */
function spanOf(text: string, family: string | undefined): string {
  const escaped = escapeXml(text);
  return family === undefined || family === 'Text'
    ? escaped
    : `<tspan font-family="${escapeXml(family)}">${escaped}</tspan>`;
}
