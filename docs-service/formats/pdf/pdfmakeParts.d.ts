/** The parts of PDFMake that `printer.ts` changes. PDFMake has no types for them. */
declare module 'pdfmake/js/Line.js' {
  export interface Inline {
    text: string;
    width: number;
    trailingCut?: number;
    lineEnd?: boolean;
    readonly [property: string]: unknown;
  }

  export class Line {
    constructor(maxWidth: number);
    inlines: Inline[];
    inlineWidths: number;
    trailingCut: number;
    newLineForced?: boolean;
    addInline(inline: Inline): void;
    hasEnoughSpaceForInline(inline: Inline, nextInlines?: readonly Inline[]): boolean;
  }

  const lineModule: { default: typeof Line };
  // biome-ignore lint/style/noDefaultExport: this describes what CommonJS exports.
  export default lineModule;
}

declare module 'pdfmake/js/SVGMeasure.js' {
  export class SVGMeasure {
    writeDimensions(svg: string, size: { readonly width: number; readonly height: number }): string;
  }

  const measureModule: { default: typeof SVGMeasure };
  // biome-ignore lint/style/noDefaultExport: this describes what CommonJS exports.
  export default measureModule;
}
