import svgModule, { type PrintedDocument } from 'pdfmake/js/3rd-party/svg-to-pdfkit.js';
import lineModule, { type Inline, type Line } from 'pdfmake/js/Line.js';
import rendererModule from 'pdfmake/js/Renderer.js';
import measureModule from 'pdfmake/js/SVGMeasure.js';
import inlinesModule from 'pdfmake/js/TextInlines.js';
import type { RunPicture } from './typesetter.ts';

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
