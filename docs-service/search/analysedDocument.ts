import type { Document } from '../content/document.ts';
import { type DocumentRecord, documentToRecord, parseMetadata, toListed } from './documentRecord.ts';
import { type DocumentWords, documentWords } from './documentWords.ts';

/** Everything that the index stores of a document. Making it is half of the work of indexing, and needs no database. */
export interface AnalysedDocument {
  readonly record: DocumentRecord;
  readonly words: DocumentWords;
}

export function analyseDocument(document: Document): AnalysedDocument {
  const record = documentToRecord(document);
  return { record, words: analyseStored(record) };
}

/** The words of a document from what is stored of it. */
export function analyseStored({ metadata, ...stored }: StoredText): DocumentWords {
  const document = parseMetadata(metadata);
  return documentWords({ ...document, ...toListed(document), ...stored });
}

export type StoredText = Pick<DocumentRecord, 'path' | 'metadata' | 'body'>;
