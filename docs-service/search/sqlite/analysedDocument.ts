import type { Document } from '../../content/document.ts';
import {
  type DocumentRecord,
  documentToRecord,
  type ListedDocument,
  parseMetadata,
  toListed,
} from '../documentRecord.ts';
import { type DocumentTokens, documentMarks, documentTokens } from '../documentTokens.ts';
import { documentTermStats, isSampled } from '../relevance.ts';

/** Everything that the index stores of a document. Making it is half of the work of indexing, and needs no database. */
export interface AnalysedDocument {
  readonly record: DocumentRecord;
  readonly words: AnalysedWords;
  /** Only of a document in the sample. */
  readonly sampled: DocumentTokens | undefined;
}

/** The columns of the search index, and the term statistics. */
export interface AnalysedWords {
  readonly title: string;
  readonly text: string;
  readonly marks: string;
  readonly termStats: string;
}

export function analyseDocument(document: Document): AnalysedDocument {
  const record = documentToRecord(document);
  const tokens = documentTokens(document.title, record.body);
  const sampled = isSampled(record.slug) ? tokens : undefined;
  return { record, words: tokensToWords(tokens, record), sampled };
}

/** The same from what is stored. */
export function analyseStored(stored: StoredText): AnalysedWords {
  return tokensToWords(storedTokens(stored), toListed(parseMetadata(stored.metadata)));
}

export function storedTokens({ metadata, body }: StoredText): DocumentTokens {
  return documentTokens(parseMetadata(metadata).title, body);
}

type StoredText = Pick<DocumentRecord, 'metadata' | 'body'>;

function tokensToWords(tokens: DocumentTokens, document: ListedDocument): AnalysedWords {
  return {
    title: tokens.title.join(' '),
    text: tokens.text.join(' '),
    marks: documentMarks(tokens, document).join(' '),
    termStats: documentTermStats(tokens),
  };
}
