import { createHash } from 'node:crypto';
import type { Document } from '../../content/document.ts';
import { withoutRepeats } from '../chapterTitles.ts';
import { languageOf } from '../language.ts';
import { codeColouringOf } from '../markdown/codeColouring.ts';
import { visibleText } from '../markdown/xmlText.ts';
import { type EpubJob, type Rendered, UnrenderableError } from '../renderJob.ts';
import { packBook } from './book.ts';
import { BookPictures } from './bookPictures.ts';
import { writeChapters } from './chapter.ts';
import { createCover } from './cover.ts';
import type { BookDescription } from './xhtmlPage.ts';

/**
 * A collection as an EPUB 3 book. The same job gives the same bytes on every machine. It reads only pictures inside the
 * content folder, and fetches nothing. Pictures that cannot be shown are left out, with a note.
 */
export async function createEpub(job: EpubJob): Promise<Rendered> {
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
  const bytes = await packBook({ description, chapters, pictures: pictures.all, cover });
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
