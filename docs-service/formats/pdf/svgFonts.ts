import svgModule, { type PrintedDocument } from 'pdfmake/js/3rd-party/svg-to-pdfkit.js';

/**
 * PDFMake opens the fonts of a picture as files, which neither finds a font in a collection nor the fonts that were
 * prepared in memory. Our part takes those of the document.
 */
export function drawSvgInOwnFonts(): void {
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
