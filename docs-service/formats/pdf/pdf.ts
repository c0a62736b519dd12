import pdfmake from 'pdfmake';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { cutText } from '../../../protocol/base/text.ts';
import { withoutRepeats } from '../chapterTitles.ts';
import { codeColouringOf } from '../markdown/codeColouring.ts';
import { parseTitled } from '../markdown/markdown.ts';
import { type PdfBookJob, type PdfJob, type Rendered, UnrenderableError } from '../renderJob.ts';
import { bookDefinition, type DefinitionParts, documentDefinition } from './definition.ts';
import { createFontBook, type FontBook } from './fontBook.ts';
import { regionOf } from './fontFiles.ts';
import { Pictures } from './pictures.ts';
import { changePrinter } from './printer.ts';
import { Typesetter } from './typesetter.ts';

/**
 * Renders a document, or the documents of a collection, as one PDF. The same job with the same fonts always gives the
 * same bytes, on every machine. It reads only fonts in the folders of the job and pictures in the content folder, and
 * fetches nothing. Throws `UnrenderableError` for what is out of bounds.
 */
export async function createPdf(job: PdfJob | PdfBookJob): Promise<Rendered> {
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
async function render({ job, parsed, book, excluded }: Attempt, used: Set<string>): Promise<Rendered> {
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
