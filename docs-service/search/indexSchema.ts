import { analyserRules } from './analyser.ts';
import { anyWord, draftWord } from './documentWords.ts';
import type { IndexDatabase } from './indexDatabase.ts';
import { anyNumber, draftNumber } from './postings.ts';

/** Grows with every change of the tables, and of how files are read: then all of them are read again. */
export const schemaVersion = `20 ${analyserRules}`;

/** How an engine writes the types of columns. */
export interface ColumnTypes {
  readonly number: string;
  /** A number that the engine gives to each row. */
  readonly identity: string;
  /** Compared by its bytes. */
  readonly text: string;
  readonly flag: string;
  readonly bytes: string;
  /** Behind the columns of a table whose rows are in the order of its key. */
  readonly inOrder: string;
  /** Of an index for texts that may be longer than a key may be. */
  readonly longText: string;
}

export function createTables(types: ColumnTypes): string {
  const { number, identity, text, flag, bytes, inOrder } = types;
  return `
-- The JSON of all collections, of their problems and of the warnings about links, how files were read, whether the index is complete, its
-- id, how many changes readers have seen, the number of the next word, and which documents wait for their postings.
CREATE TABLE docs_meta (name ${text} PRIMARY KEY, value ${text} NOT NULL)${inOrder};
CREATE TABLE docs_documents (
  -- Its number in the postings.
  key ${number} PRIMARY KEY,
  slug ${text} NOT NULL UNIQUE,
  reversed ${text} NOT NULL,
  path ${text} NOT NULL,
  -- Empty if it is the same as the short form.
  own ${text} NOT NULL,
  short ${text} NOT NULL,
  long ${text} NOT NULL,
  draft ${flag} NOT NULL,
  -- When its text was found to be another one, in milliseconds since 1970.
  changed ${number} NOT NULL,
  metadata ${text} NOT NULL
);
CREATE TABLE docs_bodies (key ${number} PRIMARY KEY, body ${text} NOT NULL);
-- Whatever lists are filtered by: all, a type, a tag, a type with a tag.
CREATE TABLE docs_scopes (
  scope ${identity},
  name ${text} NOT NULL UNIQUE,
  visible ${number} NOT NULL,
  drafts ${number} NOT NULL
);
CREATE TABLE docs_listing (
  scope ${number} NOT NULL,
  rank ${number} NOT NULL,
  place ${text} NOT NULL,
  slug ${text} NOT NULL,
  draft ${flag} NOT NULL,
  key ${number} NOT NULL,
  PRIMARY KEY (scope, rank, place, slug)
)${inOrder};
-- How many documents have a word, and how many of them are drafts.
CREATE TABLE docs_words (
  word ${text} PRIMARY KEY,
  id ${number} NOT NULL,
  documents ${number} NOT NULL,
  drafts ${number} NOT NULL
)${inOrder};
INSERT INTO docs_words VALUES ('${anyWord}', ${anyNumber}, 0, 0), ('${draftWord}', ${draftNumber}, 0, 0);
-- A row for each word in each block of documents; postings.ts has the format.
CREATE TABLE docs_postings (id ${number} PRIMARY KEY, entries ${bytes} NOT NULL, places ${bytes} NOT NULL);
${fileTable(types)}`;
}

function fileTable({ text, longText }: ColumnTypes): string {
  return `CREATE TABLE docs_files (
  path ${text} NOT NULL,
  look ${text} NOT NULL,
  content_hash ${text} NOT NULL,
  slug ${text},
  problem ${text},
  -- As JSON; null if there are none.
  warnings ${text},
  -- As JSON: what else is known of the file.
  details ${text} NOT NULL
);
CREATE INDEX docs_files_path ON docs_files ${longText} (path);
CREATE INDEX docs_files_problem ON docs_files (slug) WHERE problem IS NOT NULL;
CREATE INDEX docs_files_warnings ON docs_files (slug) WHERE warnings IS NOT NULL;
`;
}

/**
 * By what documents are looked up besides their slugs. They are faster made at once than with each document, so this
 * is for a complete index. Until then, lookups visit all documents.
 */
export function createLookups({ longText }: Pick<ColumnTypes, 'longText'>): string {
  return `
CREATE INDEX IF NOT EXISTS docs_documents_own ON docs_documents (own) WHERE own <> '';
CREATE INDEX IF NOT EXISTS docs_documents_short ON docs_documents ${longText} (short);
CREATE INDEX IF NOT EXISTS docs_documents_long ON docs_documents ${longText} (long);
CREATE INDEX IF NOT EXISTS docs_documents_reversed ON docs_documents (reversed);
CREATE INDEX IF NOT EXISTS docs_documents_path ON docs_documents ${longText} (path);
`;
}

/** The slugs in an index of another version: the new one begins with these files, as if all of them had changed. */
export interface NamedFile {
  readonly path: string;
  readonly slug: string;
  readonly draft: boolean | number;
}

export async function beginIndex(database: IndexDatabase, named: readonly NamedFile[]): Promise<void> {
  const file = { look: '', content_hash: '', problem: null, warnings: null };
  const detailsOf = (draft: boolean) => JSON.stringify(draft ? {} : { wasServed: true });
  await database.insert(
    'docs_files',
    named.map(({ path, slug, draft }) => ({ path, slug, ...file, details: detailsOf(Boolean(draft)) })),
  );
  await database.insert('docs_meta', [
    { name: 'version', value: schemaVersion },
    { name: 'indexId', value: `${Date.now()} ${Math.random()}` },
  ]);
}
