import pdfmake from 'pdfmake';
import svgModule, { type PrintedDocument } from 'pdfmake/js/3rd-party/svg-to-pdfkit.js';
import lineModule, { type Inline, type Line } from 'pdfmake/js/Line.js';
import rendererModule from 'pdfmake/js/Renderer.js';
import measureModule from 'pdfmake/js/SVGMeasure.js';
import inlinesModule from 'pdfmake/js/TextInlines.js';
import { cutText, messageOf } from '../../../protocol/base/text.ts';
import { codeColouringOf } from '../markdown/codeColouring.ts';
import { parseTitled } from '../markdown/markdown.ts';
import {
  type PdfBookJob,
  type PdfJob,
  type RenderedDocument,
  UnrenderableError,
  withoutRepeats,
} from '../renderJob.ts';
import { bookDefinition, type DefinitionParts, documentDefinition } from './definition.ts';
import { createFontBook, type FontBook } from './fontBook.ts';
import { regionOf } from './fontFiles.ts';
import { Pictures } from './pictures.ts';
import { type RunPicture, Typesetter } from './typesetter.ts';

/**
 * Renders a document, or the documents of a collection, as one PDF. The same job with the same fonts always gives the
 * same bytes, on every machine. It reads only fonts in the folders of the job and pictures in the content folder, and
 * fetches nothing. Throws `UnrenderableError` for what is out of bounds.
 */
export async function createPdf(job: PdfJob | PdfBookJob): Promise<RenderedDocument> {
  const documents = job.kind === 'pdf' ? [job.document] : withoutRepeats(job.documents);
  const parsed = documents.map((document) => ({ document, markdown: parseTitled(document) }));
  const attempt = { job, parsed, book: fontBookOf(job.fonts), excluded: new Set<string>() };
  const pictures = new Set<string>();
  try {
    return await render(attempt, pictures);
  } catch (error) {
    if (error instanceof UnrenderableError) throw error;
    const excluded = pictures.size > 0 ? await damagedPictures(attempt, pictures) : new Set<string>();
    const note = `The document was rendered without the parts on which the first attempt failed: ${cutText(messageOf(error), 200)}`;
    const rendered = await render(
      { ...attempt, book: createFontBook(job.fonts, 'own alone'), excluded },
      pictures,
    );
    return { ...rendered, notes: [...rendered.notes, note] };
  }
}

interface Attempt {
  readonly job: PdfJob | PdfBookJob;
  readonly parsed: readonly Pick<DefinitionParts, 'document' | 'markdown'>[];
  readonly book: FontBook;
  /** Paths of pictures that are left out. */
  readonly excluded: ReadonlySet<string>;
}

/** Fonts are read once in the life of a worker. */
const books = new Map<string, FontBook>();

function fontBookOf(folders: readonly string[]): FontBook {
  const key = folders.join('\0');
  const book = books.get(key) ?? createFontBook(folders, 'with others');
  books.set(key, book);
  return book;
}

/** Reports which pictures it used, even if it fails. */
async function render(
  { job, parsed, book, excluded }: Attempt,
  used: Set<string>,
): Promise<RenderedDocument> {
  const documents = parsed.map(({ document }) => document);
  const lang = (job.kind === 'pdf' ? null : job.collection.lang) ?? documents[0]?.lang ?? null;
  const start = documents.map(({ body }) => body.slice(0, 100_000)).join('\n');
  const type = new Typesetter(book, regionOf(lang, start.slice(0, 100_000)), job.paper);
  const pictures = new Pictures({ places: job, excluded, type });
  const colouring = await codeColouringOf(documents.map(({ body }) => body));
  const [first, ...others] = parsed.map((one) => ({ ...one, type, pictures, colouring }));
  if (first === undefined) throw new UnrenderableError('The collection has no documents that are published.');
  try {
    const definition =
      job.kind === 'pdf'
        ? documentDefinition(first, job.targets)
        : bookDefinition(job.collection, [first, ...others]);
    const printed = await print(definition, book, type.families);
    const isDated = documents.some(({ date, updated }) => date !== null || updated !== null);
    return { bytes: isDated ? printed : withoutDates(printed), notes: [...pictures.notes, ...type.notes()] };
  } finally {
    for (const path of pictures.paths) used.add(path);
  }
}

/** PDFMake takes font bytes only from its own file system. It has one in Node too, which its types do not mention. */
const { virtualfs } = pdfmake as unknown as {
  readonly virtualfs: { writeFileSync(path: string, bytes: Buffer): void };
};

async function print(
  definition: Parameters<typeof pdfmake.createPdf>[0],
  book: FontBook,
  families: ReadonlySet<string>,
): Promise<Uint8Array> {
  const { fonts, files } = book.describe(families);
  changePrinter();
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy((path) => files.has(path));
  for (const [path, bytes] of files) virtualfs.writeFileSync(path, bytes);
  pdfmake.clearFonts();
  pdfmake.addFonts({
    ...fonts,
    ...Object.fromEntries(codeFonts.map((name) => [name, { ...fonts['Code'] }])),
  });
  return pdfmake.createPdf(definition).getBuffer();
}

/**
 * PDFMake cannot leave the dates of a file out. They are replaced by blanks, so that everything stays in its place; a
 * file whose text has no date then shows none, instead of one that is not true.
 */
function withoutDates(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes);
  // The first lines of this form are the properties. Only the metadata behind them has texts with line ends.
  for (const key of ['\n/CreationDate ', '\n/ModDate ']) {
    for (let at = file.indexOf(key); at >= 0; at = file.indexOf(key, at + 1)) {
      const end = file.indexOf('\n', at + 1);
      if (!/^\d+ 0 R$/.test(file.toString('latin1', at + key.length, end))) continue;
      file.fill(' ', at + 1, end);
      break;
    }
  }
  const inMetadata = file.indexOf(undatedMetadata);
  if (inMetadata >= 0) file.fill(' ', inMetadata, inMetadata + undatedMetadata.length);
  return file;
}

/** What PDFMake writes there for the time 0. */
const undatedMetadata = '<xmp:CreateDate>1970-01-01T00:00:00Z</xmp:CreateDate>';

/** The names by which pictures ask for a code font. */
const codeFonts = [
  'monospace',
  'ui-monospace',
  'Menlo',
  'Consolas',
  'Courier',
  'Courier New',
  'DejaVu Sans Mono',
];

/** Prints each picture alone, to find out on which of them the printer fails. */
async function damagedPictures({ job, book }: Attempt, paths: ReadonlySet<string>): Promise<Set<string>> {
  const damaged = new Set<string>();
  for (const path of paths) {
    const pictures = new Pictures({ places: job, excluded: new Set() });
    const picture = pictures.placeFile(path, { width: 100, height: 100 });
    const node = { ...picture?.node, width: picture?.width, height: picture?.height };
    const definition = {
      content: picture ? [node] : [],
      images: pictures.images,
      defaultStyle: { font: 'Text' },
    };
    try {
      await print(definition as Parameters<typeof print>[0], book, new Set(['Text', 'Code']));
    } catch {
      // Whatever the reason, the picture is left out.
      damaged.add(path);
    }
  }
  return damaged;
}

/**
 * Replaces parts of PDFMake with better ones; all depend on the pinned version.
 *
 * PDFMake prints each word on its own, with its own link. Our part prints adjacent words of a line as one text if they
 * look alike and have the same link. Files are half as large and take a third of the time, a reader selects lines
 * instead of words, and a link is one area. Signs that hang to the right of a line take none of its width.
 *
 * PDFMake cannot set pictures within a line of text. Our parts give a run with a picture the size of the picture, and
 * draw it there.
 *
 * PDFMake rewrites an SVG to set its size, and trims all texts. Our part leaves it as it is.
 *
 * PDFMake opens the fonts of a picture as files, which neither finds a font in a collection nor the fonts that were
 * prepared in memory. Our part takes those of the document.
 */
export function changePrinter(): void {
  if (isChanged) return;
  isChanged = true;
  joinWords();
  setPicturesInLines();
  measureModule.default = class SvgMeasure extends measureModule.default {
    override writeDimensions(svg: string): string {
      return svg;
    }
  };
  drawSvgInOwnFonts();
}

let isChanged = false;

function joinWords(): void {
  const WordLine = lineModule.default;
  lineModule.default = class WholeRunsLine extends WordLine {
    override addInline(inline: Inline): void {
      const last = this.inlines.at(-1);
      const cut = last?.['hangsRight'] ? this.trailingCut : 0;
      if (last && !this.newLineForced && isAlike(last, inline)) join(this, last, inline);
      else super.addInline(inline);
      if (inline['hangsRight']) this.trailingCut = cut + inline.width;
    }
    override hasEnoughSpaceForInline(inline: Inline, next?: readonly Inline[]): boolean {
      const hangs = inline['hangsRight'] === true && !this.newLineForced;
      return hangs || super.hasEnoughSpaceForInline(inline, next);
    }
  };
}

function join(line: Line, last: Inline, next: Inline): void {
  last.text += next.text;
  last.width += next.width;
  line.inlineWidths += next.width;
  line.trailingCut = next.trailingCut ?? 0;
  if (next.lineEnd) line.newLineForced = true;
}

/** The properties that decide how PDFMake prints an inline. */
const look = (
  'font fontSize color link linkToDestination linkToPage decoration background sup sub opacity characterSpacing ' +
  'hangsRight picture fontFeatures alignment _pageRef _tocItemRef'
).split(' ');

/** Two texts that the font sets from right to left would change places. */
function isAlike(a: Inline, b: Inline): boolean {
  if (a['isRightToLeft'] || b['isRightToLeft']) return false;
  return a['alignment'] !== 'justify' && look.every((property) => a[property] === b[property]);
}

function setPicturesInLines(): void {
  const TextInlines = inlinesModule.default;
  inlinesModule.default = class PictureInlines extends TextInlines {
    override measure(inlines: Inline[], styles: unknown): Inline[] {
      const measured = super.measure(inlines, styles);
      for (const inline of measured) {
        const { picture } = inline;
        if (!picture) continue;
        inline.width = picture.width;
        inline.height = picture.pitch;
        // A text that begins with a hanging sign has a cut that is not that of its spaces.
        inline.leadingCut = -(inline.leadingIndent ?? 0);
        inline.trailingCut = 0;
      }
      return measured;
    }
  };
  const TextRenderer = rendererModule.default;
  rendererModule.default = class PictureRenderer extends TextRenderer {
    override renderLine(line: Line, x: number, y: number): void {
      super.renderLine(line, x, y);
      for (const inline of line.inlines) {
        const { picture } = inline;
        if (picture) this.#draw(picture, x + (inline.x ?? 0), y + line.getAscenderHeight());
      }
    }
    /** @param y where the letters stand */
    #draw({ node, width, height, drop }: RunPicture, x: number, y: number): void {
      const place = { x, y: y + drop - height, _width: width, _height: height };
      if ('svg' in node) this.renderSVG({ ...node, ...place, font: 'Text' });
      else {
        this.pdfDocument.provideImage(node.image);
        this.renderImage({ ...node, ...place });
      }
    }
  };
}

function drawSvgInOwnFonts(): void {
  const draw = svgModule.default;
  svgModule.default = (document, svg, x, y, options) => {
    const fontCallback = (families: string, bold: boolean, italics: boolean) =>
      fontFor(document, families, { bold, italics });
    draw(document, svg, x, y, { ...drawing, ...options, fontCallback });
  };
}

/** What a picture refers to is never fetched, and what cannot be drawn is left out. */
const drawing = { imageCallback: () => '', warningCallback: () => undefined };

/** The name of the first font that the document has, or else of its text font. */
function fontFor(
  document: PrintedDocument,
  families: string,
  { bold, italics }: { readonly bold: boolean; readonly italics: boolean },
): string {
  const names = families.split(',').map((name) => name.trim().replace(/['"]/g, '').toLowerCase());
  const known = new Map(Object.keys(document.fonts).map((name) => [name.toLowerCase(), name]));
  const family = names.map((name) => known.get(name)).find((name) => name !== undefined) ?? 'Text';
  const font = document.provideFont(family, bold, italics);
  document._fontFamilies[font.id] = font;
  return font.id;
}
