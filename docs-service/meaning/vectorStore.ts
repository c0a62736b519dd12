import { piecesOf, type StatementDatabase } from '../base/database.ts';
import type { CompactVector } from './vectorTable.ts';

/** A document whose sections have vectors, or will have. */
export interface StoredDocument {
  readonly slug: string;
  readonly contentHash: string;
  readonly isDraft: boolean;
  /** Of the texts of its sections, in their order. */
  readonly hashes: readonly string[];
}

/** The database of one engine, with its own words. SQLite keeps a list as one text, with a blank between each two. */
export interface VectorDatabase extends StatementDatabase<string | number | Uint8Array | readonly string[]> {
  readonly tables: { readonly meta: string; readonly documents: string; readonly vectors: string };
  /** After the name of a column, whether the list that is the next value has it. */
  readonly isAmong: string;
  /** Selects the hashes of all documents. */
  readonly usedHashes: string;
}

type Statement = Parameters<VectorDatabase['batch']>[0][number];

/** Rows in one statement. */
const width = 100;

/**
 * What has been embedded, which outlives the index. Several processes may read it while one writes. Calls reject while
 * the database is down.
 */
export class VectorStore {
  constructor(private readonly database: VectorDatabase) {}

  /** Grows with each change. */
  async changes(): Promise<number> {
    return Number((await this.#read('changes')) ?? 0);
  }

  async documents(): Promise<readonly StoredDocument[]> {
    const all = await this.database.rows<
      Omit<StoredDocument, 'hashes'> & { readonly hashes: string | string[] }
    >(
      `SELECT slug, content_hash AS "contentHash", draft AS "isDraft", hashes FROM ${this.database.tables.documents}`,
    );
    return all.map(({ isDraft, hashes, ...rest }) => ({
      ...{ ...rest, isDraft: Boolean(isDraft) },
      hashes: typeof hashes === 'string' ? hashes.split(' ').filter(Boolean) : hashes,
    }));
  }

  /** Those that are there, by their hashes. */
  async vectors(model: string, hashes: readonly string[]): Promise<ReadonlyMap<string, CompactVector>> {
    const { tables, isAmong } = this.database;
    const found = await this.database.rows<{ hash: string; vector: Uint8Array | ArrayBuffer }>(
      `SELECT hash, vector FROM ${tables.vectors} WHERE model = ? AND hash ${isAmong}`,
      model,
      hashes,
    );
    return new Map(found.map(({ hash, vector }) => [hash, stepsIn(vector)]));
  }

  putVectors(model: string, put: ReadonlyMap<string, CompactVector>): Promise<void> {
    const { vectors } = this.database.tables;
    return this.#change(
      piecesOf([...put], width).map((piece) => [
        `INSERT INTO ${vectors} (model, hash, vector) VALUES ${piece.map(() => '(?, ?, ?)').join(', ')}
         ON CONFLICT (model, hash) DO UPDATE SET vector = excluded.vector`,
        ...piece.flatMap(([hash, steps]) => [
          model,
          hash,
          Buffer.from(steps.buffer, steps.byteOffset, steps.length),
        ]),
      ]),
    );
  }

  /** Deletes all vectors of a model. */
  forget(model: string): Promise<void> {
    return this.#change([[`DELETE FROM ${this.database.tables.vectors} WHERE model = ?`, model]]);
  }

  putDocuments(put: readonly StoredDocument[]): Promise<void> {
    const { documents } = this.database.tables;
    return this.#change(
      put.map(({ slug, contentHash, isDraft, hashes }) => [
        `INSERT INTO ${documents} (slug, content_hash, draft, hashes) VALUES (?, ?, ?, ?) ON CONFLICT (slug)
         DO UPDATE SET content_hash = excluded.content_hash, draft = excluded.draft, hashes = excluded.hashes`,
        ...[slug, contentHash, Number(isDraft), hashes],
      ]),
    );
  }

  removeDocuments(slugs: readonly string[]): Promise<void> {
    const { tables, isAmong } = this.database;
    return this.#change([[`DELETE FROM ${tables.documents} WHERE slug ${isAmong}`, slugs]]);
  }

  /** The model whose vectors answer questions. */
  serving(): Promise<string | undefined> {
    return this.#read('serving');
  }

  /** From now on it is this one. Vectors of other models, and of sections that are gone, are deleted. */
  serve(model: string): Promise<void> {
    const { tables, usedHashes } = this.database;
    return this.#change([
      [
        `INSERT INTO ${tables.meta} VALUES ('serving', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        model,
      ],
      [`DELETE FROM ${tables.vectors} WHERE model <> ? OR hash NOT IN (${usedHashes})`, model],
    ]);
  }

  close(): Promise<void> {
    return this.database.close();
  }

  async #read(name: string): Promise<string | undefined> {
    const { rows, tables } = this.database;
    const [row] = await rows<{ value: string }>(`SELECT value FROM ${tables.meta} WHERE name = ?`, name);
    return row?.value;
  }

  #change(statements: readonly Statement[]): Promise<void> {
    const { meta } = this.database.tables;
    return this.database.batch([
      ...statements,
      [
        `INSERT INTO ${meta} VALUES ('changes', '1') ON CONFLICT (name) DO UPDATE
         SET value = CAST(CAST(${meta}.value AS bigint) + 1 AS text)`,
      ],
    ]);
  }
}

/** The engines have bytes in different forms. */
function stepsIn(bytes: Uint8Array | ArrayBuffer): CompactVector {
  return bytes instanceof ArrayBuffer
    ? new Int8Array(bytes)
    : new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
