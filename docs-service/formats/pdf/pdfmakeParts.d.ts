// biome-ignore-all lint/style/noDefaultExport: this describes what CommonJS and the bundler export.

/** The parts of PDFMake that `pdf.ts` changes. PDFMake has no types for them. */
declare module 'pdfmake/js/Line.js' {
  export interface Inline {
    text: string;
    width: number;
    height?: number;
    /** From the beginning of its line. */
    x?: number;
    leadingIndent?: number;
    leadingCut?: number;
    trailingCut?: number;
    lineEnd?: boolean;
    readonly picture?: import('./typesetter.ts').RunPicture;
    readonly [property: string]: unknown;
  }

  export class Line {
    constructor(maxWidth: number);
    inlines: Inline[];
    inlineWidths: number;
    trailingCut: number;
    newLineForced?: boolean;
    addInline(inline: Inline): void;
    getAscenderHeight(): number;
    hasEnoughSpaceForInline(inline: Inline, nextInlines?: readonly Inline[]): boolean;
  }

  const lineModule: { default: typeof Line };
  export default lineModule;
}

declare module 'pdfmake/js/SVGMeasure.js' {
  class SVGMeasure {
    writeDimensions(svg: string): string;
  }

  const measureModule: { default: typeof SVGMeasure };
  export default measureModule;
}

declare module 'pdfmake/js/TextInlines.js' {
  import type { Inline } from 'pdfmake/js/Line.js';

  class TextInlines {
    measure(inlines: Inline[], styles: unknown): Inline[];
  }

  const inlinesModule: { default: typeof TextInlines };
  export default inlinesModule;
}

declare module 'pdfmake/js/Renderer.js' {
  import type { Line } from 'pdfmake/js/Line.js';

  interface Place {
    readonly x: number;
    readonly y: number;
    readonly _width: number;
    readonly _height: number;
  }

  class Renderer {
    readonly pdfDocument: { provideImage(name: string): unknown };
    renderLine(line: Line, x: number, y: number): void;
    renderImage(image: Place & { readonly image: string }): void;
    renderSVG(picture: Place & { readonly svg: string; readonly font: string }): void;
  }

  const rendererModule: { default: typeof Renderer };
  export default rendererModule;
}

declare module 'pdfmake/js/3rd-party/svg-to-pdfkit.js' {
  interface Font {
    readonly id: string;
  }

  export interface PrintedDocument {
    readonly fonts: Readonly<Record<string, unknown>>;
    /** Opened fonts, by all names under which they are asked for. */
    readonly _fontFamilies: Record<string, Font>;
    provideFont(family: string, bold: boolean, italics: boolean): Font;
  }

  type Draw = (
    document: PrintedDocument,
    svg: string,
    x: number,
    y: number,
    options: Readonly<Record<string, unknown>>,
  ) => void;

  const svgModule: { default: Draw };
  export default svgModule;
}

/** The decoder alone: what is around it in the package loads its code asynchronously. */
declare module '@jsquash/webp/codec/dec/webp_dec.js' {
  export interface WebpDecoder {
    readonly noInitialRun: true;
    readonly locateFile: (name: string) => string;
    /** Called at once, so that `decode` is there when the factory returns. */
    readonly instantiateWasm: (
      imports: WebAssembly.Imports,
      onInstance: (instance: WebAssembly.Instance) => void,
    ) => WebAssembly.Exports;
    /** RGBA; null if the file is damaged. */
    decode?(bytes: Uint8Array): { readonly data: Uint8ClampedArray } | null;
  }

  export default function createDecoder(decoder: WebpDecoder): Promise<unknown>;
}

declare module '@jsquash/webp/codec/dec/webp_dec.wasm' {
  const code: Uint8Array<ArrayBuffer>;
  export default code;
}

declare module 'omggif' {
  export class GifReader {
    constructor(bytes: Uint8Array);
    decodeAndBlitFrameRGBA(frame: number, pixels: Uint8Array): void;
  }
}
