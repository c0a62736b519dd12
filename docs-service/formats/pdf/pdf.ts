import pdfmake from 'pdfmake';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { cutText } from '../../../protocol/base/text.ts';
import { codeColouringOf } from '../markdown/codeColouring.ts';
import { type MarkdownDocument, parseTitled } from '../markdown/markdown.ts';
import { type PdfJob, type Rendered, UnrenderableError } from '../renderJob.ts';
import { documentDefinition } from './definition.ts';
import { createFontBook, type FontBook } from './fontBook.ts';
import { Pictures } from './pictures.ts';
import { changePrinter } from './printer.ts';
import { regionOf } from './regionalFonts.ts';
import { Typesetter } from './typesetter.ts';

/**
 * Renders a document as a PDF. The same document with the same fonts always gives the same bytes, on every machine. It
 * reads only fonts in the folders of the job and pictures in the content folder, and fetches nothing. Throws
 * `UnrenderableError` for a document that is out of bounds.
 */
export async function createPdf(job: PdfJob): Promise<Rendered> {
  const markdown = parseTitled(job.document);
  const attempt = { job, markdown, book: fontBookOf(job.fonts), excluded: new Set<string>() };
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
  readonly job: PdfJob;
  readonly markdown: MarkdownDocument;
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
async function render({ job, markdown, book, excluded }: Attempt, used: Set<string>): Promise<Rendered> {
  const { document, contentFolder, targets } = job;
  const type = new Typesetter(book, regionOf(document.lang, document.body.slice(0, 100_000)));
  const pictures = new Pictures({ folder: contentFolder, document: document.path, excluded });
  const colouring = await codeColouringOf([document.body]);
  const definition = documentDefinition({ document, markdown, targets, type, pictures, colouring });
  for (const path of pictures.paths) used.add(path);
  const bytes = await print(definition, book, type.families);
  return { bytes, notes: [...pictures.notes, ...type.notes()] };
}

async function print(
  definition: Parameters<typeof pdfmake.createPdf>[0],
  book: FontBook,
  families: ReadonlySet<string>,
): Promise<Uint8Array> {
  const { fonts, files } = book.describe(families);
  changePrinter();
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy((path) => files.has(path));
  for (const [path, bytes] of files) virtualFiles().writeFileSync(path, bytes);
  pdfmake.clearFonts();
  pdfmake.addFonts({
    ...fonts,
    ...Object.fromEntries(codeFonts.map((name) => [name, { ...fonts['Code'] }])),
  });
  return pdfmake.createPdf(definition).getBuffer();
}

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

/** PDFMake takes font bytes only from its own file system. It has one in Node too, which its types do not mention. */
function virtualFiles() {
  return (pdfmake as unknown as { readonly virtualfs: VirtualFiles }).virtualfs;
}

interface VirtualFiles {
  writeFileSync(path: string, bytes: Buffer): void;
}

/** Prints each picture alone, to find out on which of them the printer fails. */
async function damagedPictures({ job, book }: Attempt, paths: ReadonlySet<string>): Promise<Set<string>> {
  const damaged = new Set<string>();
  for (const path of paths) {
    const pictures = new Pictures({ folder: job.contentFolder, document: '-', excluded: new Set() });
    const source = path.split('/').map(encodeURIComponent).join('/');
    const picture = pictures.place({ kind: 'image', source, alt: '', mark: {} }, 100);
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
