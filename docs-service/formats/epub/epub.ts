import { createHash } from 'node:crypto';
import { EPub } from 'epub-gen-memory';
import type { Document } from '../../content/document.ts';
import { codeColouringOf } from '../markdown/codeColouring.ts';
import { escapeXml, languageOf, visibleText } from '../markdown/xmlText.ts';
import { type EpubJob, type RenderedDocument, UnrenderableError, withoutRepeats } from '../renderJob.ts';
import { type BookPicture, BookPictures } from './bookPictures.ts';
import { type Chapter, writeChapters } from './chapter.ts';
import { type Cover, createCover } from './cover.ts';
import { navigationDocument, ncxDocument } from './navigation.ts';
import { type BookDescription, styleSheet } from './xhtmlPage.ts';

/**
 * A collection as an EPUB 3 book. The same job gives the same bytes on every machine. It reads only pictures inside the
 * content folder, and fetches nothing. Pictures that cannot be shown are left out, with a note.
 */
export async function createEpub(job: EpubJob): Promise<RenderedDocument> {
  const documents = withoutRepeats(job.documents);
  if (documents.reduce((length, { body }) => length + body.length, 0) > maxLength) {
    throw new UnrenderableError(
      'The documents of the collection have more than 100 MB. Split it into several collections.',
    );
  }
  const description = describe(job, documents);
  const pictures = new BookPictures(job);
  const cover = createCover(description, job.collection.cover, pictures);
  const colouring = await codeColouringOf(documents.map(({ body }) => body));
  const { targets } = job;
  const chapters = writeChapters({ documents, targets }, description.language, { pictures, colouring });
  const bytes = await new BookFile({ title: description.title }, []).pack({
    description,
    chapters,
    pictures: pictures.all,
    cover,
  });
  return { bytes, notes: pictures.notes };
}

const maxLength = 100_000_000;

function describe({ collection }: EpubJob, documents: readonly Document[]): BookDescription {
  const authors = collection.author ? [collection.author] : documents.flatMap((document) => document.authors);
  return {
    identifier: `urn:uuid:${uuidOf(`collection:${collection.name}`)}`,
    title: visibleText(collection.title) || collection.name,
    language: languageOf(collection.lang, documents[0]?.lang),
    authors: [...new Set(authors.map(visibleText))].filter(Boolean).slice(0, maxAuthors),
    description: visibleText(collection.description ?? '') || null,
    modified: newest(documents.flatMap(({ updated, date }) => [updated, date])),
  };
}

const maxAuthors = 50;

/** A name-based UUID like version 5 (RFC 9562, 5.5), but with SHA-256 instead of SHA-1: version 8. */
function uuidOf(name: string): string {
  const bytes = createHash('sha256').update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A time without a zone counts as UTC, whatever zone the machine is in. */
function newest(dates: readonly (string | null)[]): string {
  const times = dates.map((date) => {
    if (!date) return 0;
    return Date.parse(/T.*(?:Z|[+-]\d\d:?\d\d)$|^[^T]*$/.test(date) ? date : `${date}Z`) || 0;
  });
  const last = times.reduce((most, time) => Math.max(most, time), 0);
  return `${new Date(last).toISOString().slice(0, 19)}Z`;
}

interface BookContents {
  readonly description: BookDescription;
  readonly chapters: readonly Chapter[];
  readonly pictures: readonly BookPicture[];
  readonly cover: Cover;
}

/**
 * Of epub-gen-memory, only the zip file with its `mimetype` entry is used. Its own steps would fetch any address in a
 * chapter, even that of a local file, write random ids and the time of day, and drop attributes of ordinary Markdown.
 */
class BookFile extends EPub {
  pack(contents: BookContents): Promise<Uint8Array> {
    const { description, chapters, pictures, cover } = contents;
    this.#put('META-INF/container.xml', container);
    this.#put('OEBPS/content.opf', packageDocument(contents));
    this.#put('OEBPS/toc.xhtml', navigationDocument(description, chapters));
    this.#put('OEBPS/toc.ncx', ncxDocument(description, chapters));
    this.#put('OEBPS/style.css', styleSheet);
    for (const { file, xhtml } of chapters) this.#put(`OEBPS/${file}`, xhtml);
    for (const { file, picture } of pictures) {
      this.#put(`OEBPS/${file}`, picture.bytes, picture.type === 'svg' ? 'DEFLATE' : 'STORE');
    }
    this.#put('OEBPS/cover.xhtml', cover.xhtml);
    if (cover.svg !== null) this.#put(`OEBPS/${cover.file}`, cover.svg);
    for (const entry of Object.values(this.zip.files)) entry.date = zipDate;
    return this.zip.generateAsync({
      type: 'uint8array',
      platform: 'UNIX',
      compression: 'DEFLATE',
      compressionOptions: { level: 6 },
    });
  }

  #put(path: string, content: string | Uint8Array, compression: 'STORE' | 'DEFLATE' = 'DEFLATE'): void {
    this.zip.file(path, content, { createFolders: false, compression });
  }
}

/** The earliest date that a zip file can have. */
const zipDate = new Date('1980-01-01T00:00:00Z');

const container = `<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
`;

/** The package document: what the book is, and its parts in reading order. */
function packageDocument(contents: BookContents): string {
  const { description, chapters, cover } = contents;
  const { identifier, title, language, authors, modified } = description;
  const ids = chapters.map((_, at) => `chapter-${at + 1}`);
  const coverPicture = contents.pictures.findIndex(({ file }) => file === cover.file);
  // For EPUB 2 readers.
  const coverId = cover.svg === null ? `picture-${coverPicture + 1}` : 'cover-drawing';
  return `<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book-id" xml:lang="${language}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="book-id">${identifier}</dc:identifier>
<dc:title>${escapeXml(title)}</dc:title>
<dc:language>${language}</dc:language>
${authors.map((author) => `<dc:creator>${escapeXml(author)}</dc:creator>\n`).join('')}${
  description.description ? `<dc:description>${escapeXml(description.description)}</dc:description>\n` : ''
}<meta property="dcterms:modified">${modified}</meta>
${accessibilityOf(contents)
  .map(([property, value]) => `<meta property="schema:${property}">${escapeXml(value)}</meta>\n`)
  .join('')}<meta name="cover" content="${coverId}"/>
</metadata>
<manifest>
<item id="toc" href="toc.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="style" href="style.css" media-type="text/css"/>
<item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>
${cover.svg === null ? '' : `<item id="cover-drawing" href="${cover.file}" media-type="image/svg+xml" properties="cover-image"/>\n`}${pictureItems(contents)}${chapters
  .map(({ file }, at) => `<item id="${ids[at]}" href="${file}" media-type="application/xhtml+xml"/>\n`)
  .join('')}</manifest>
<spine toc="ncx">
<itemref idref="cover"/>
<itemref idref="toc"/>
${ids.map((id) => `<itemref idref="${id}"/>\n`).join('')}</spine>
</package>
`;
}

function pictureItems({ pictures, cover }: BookContents): string {
  return pictures
    .map(({ file, picture: { type } }, at) => {
      const mediaType = `image/${type === 'svg' ? 'svg+xml' : type}`;
      const properties = file === cover.file ? ' properties="cover-image"' : '';
      return `<item id="picture-${at + 1}" href="${file}" media-type="${mediaType}"${properties}/>\n`;
    })
    .join('');
}

/**
 * The accessibility that the book can claim, in the words of the Schema.org accessibility vocabulary. Every claim was
 * checked in this very book.
 */
function accessibilityOf({ chapters, pictures, cover }: BookContents): (readonly [string, string])[] {
  const shown = chapters.flatMap(({ xhtml }) => xhtml.match(/<img [^>]*>/g) ?? []);
  const hasPictures = shown.length > 0;
  const areDescribed = shown.every((picture) => !picture.includes(' alt=""'));
  const mayFlash = pictures.some(({ picture }) => picture.type === 'gif' || picture.type === 'webp');
  return [
    ['accessMode', 'textual'],
    ...(hasPictures || cover.svg === null ? [['accessMode', 'visual'] as const] : []),
    ...(areDescribed ? [['accessModeSufficient', 'textual'] as const] : []),
    ['accessibilityFeature', 'tableOfContents'],
    ['accessibilityFeature', 'readingOrder'],
    ['accessibilityFeature', 'structuralNavigation'],
    ['accessibilityFeature', 'displayTransformability'],
    ...(hasPictures && areDescribed ? [['accessibilityFeature', 'alternativeText'] as const] : []),
    ['accessibilityHazard', mayFlash ? 'unknown' : 'none'],
    ['accessibilitySummary', summaryOf(hasPictures, areDescribed)],
  ];
}

function summaryOf(hasPictures: boolean, areDescribed: boolean): string {
  const text = 'The text can be enlarged, restyled and read aloud, and its headings are in the contents.';
  if (!hasPictures) return `${text} There are no pictures except the cover.`;
  return areDescribed
    ? `${text} Each picture has a description.`
    : `${text} Some pictures have no description.`;
}
