import lineModule, { type Inline, type Line } from 'pdfmake/js/Line.js';
import measureModule from 'pdfmake/js/SVGMeasure.js';

/**
 * Replaces two parts of PDFMake with better ones; both depend on the pinned version.
 *
 * PDFMake prints each word on its own, with its own link. Our part prints adjacent words of a line as one text if they
 * look alike and have the same link. Files are half as large and take a third of the time, a reader selects lines
 * instead of words, and a link is one area. Signs that hang to the right of a line take none of its width.
 *
 * PDFMake rewrites an SVG to set its size, and trims all texts. Our part leaves it as it is.
 */
export function changePrinter(): void {
  if (isChanged) return;
  isChanged = true;
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
  measureModule.default = class SvgMeasure extends measureModule.default {
    override writeDimensions(svg: string): string {
      return svg;
    }
  };
}

let isChanged = false;

function join(line: Line, last: Inline, next: Inline): void {
  last.text += next.text;
  last.width += next.width;
  line.inlineWidths += next.width;
  line.trailingCut = next.trailingCut ?? 0;
  if (next.lineEnd) line.newLineForced = true;
}

/** The properties that decide how PDFMake prints an inline. */
const look = [
  'font',
  'fontSize',
  'color',
  'link',
  'linkToDestination',
  'linkToPage',
  'decoration',
  'background',
  'sup',
  'sub',
  'opacity',
  'characterSpacing',
  'hangsRight',
  'fontFeatures',
  'alignment',
  '_pageRef',
  '_tocItemRef',
] as const;

function isAlike(a: Inline, b: Inline): boolean {
  return a['alignment'] !== 'justify' && look.every((property) => a[property] === b[property]);
}
