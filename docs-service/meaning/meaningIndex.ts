import { setTimeout as wait } from 'node:timers/promises';
import { LruCache } from '../base/lruCache.ts';
import type { Document } from '../content/document.ts';
import { embeddedText, sectionHash, sectionsOf } from '../content/headings.ts';
import { type Embeddings, EmbeddingsError, maxTexts, tooLate } from './embeddings.ts';
import type { StoredDocument, VectorStore } from './vectorStore.ts';
import { type CompactVector, compactVector, type NearSection, VectorTable } from './vectorTable.ts';

/** A document of the index, by what shows whether it has changed. */
export interface MeaningDocument {
  readonly slug: string;
  readonly contentHash: string;
  readonly isDraft: boolean;
}

type EmbeddedDocument = Pick<Document, 'slug' | 'title' | 'body' | 'contentHash' | 'draft'>;

/** Milliseconds for the runner to embed what nobody waits for, and until a search does not wait for its question. */
const [limit, patience] = [120_000, 1_000];
/** Documents whose vectors are read at once. */
const pieceSize = 200;
/** Questions whose vectors are kept: pages of one search ask the same. */
const maxQuestions = 500;

/** No error of the runner's: after it, everything has to be compared again. */
function otherLength(): Error {
  return new Error('Its vectors have another length. If that stays so, all documents are embedded anew.');
}

type HashedText = readonly [hash: string, text: string];

interface QuestionVector {
  readonly answer: Promise<CompactVector>;
  readonly ending: AbortController;
}

/** The vectors of all sections, in a store and in memory, and the questions that they answer. */
export class MeaningIndex {
  #table: VectorTable | undefined;
  #serving: string | undefined;
  #documents = new Map<string, Omit<StoredDocument, 'slug'>>();
  /** What has a vector of the model. */
  #embedded = new Set<string>();
  /** The length of these vectors; undefined while there is none. */
  #dimensions: number | undefined;
  /** The runner may have another model of the same name now. Then nothing that it embedded can be compared. */
  #isDoubtful = false;
  #seen = -1;
  #isCluttered = false;
  readonly #questions = new LruCache<CompactVector>(maxQuestions);
  /** Questions that somebody waits for. */
  readonly #asked = new Map<string, QuestionVector>();
  /** The first question that took too long, until it has an answer. */
  #slow: QuestionVector | undefined;
  /** The most texts of a call, fewer for a slow runner. */
  #maxTexts = maxTexts;

  constructor(
    private readonly options: {
      readonly store: VectorStore;
      readonly embeddings: Pick<Embeddings, 'embed' | 'close'>;
      readonly model: string;
      /** Called when other sections may be near to a question. */
      readonly onChange: () => void;
    },
  ) {}

  /** Reads what other processes have written since. */
  async refresh(): Promise<void> {
    const { store, model } = this.options;
    const changes = await store.changes();
    if (changes === this.#seen) return;
    const serving = await store.serving();
    const embedded = new Set<string>();
    let dimensions: number | undefined;
    let table: VectorTable | undefined;
    const documents = await store.documents();
    for (let at = 0; at < documents.length; at += pieceSize) {
      const piece = documents.slice(at, at + pieceSize);
      const hashes = piece.flatMap((document) => document.hashes);
      const served = serving === undefined ? new Map() : await store.vectors(serving, hashes);
      const own = serving === model ? served : await store.vectors(model, hashes);
      for (const [hash, { length }] of own) {
        dimensions ??= length;
        if (length === dimensions) embedded.add(hash);
      }
      for (const document of piece) table = shown(table, document, served);
    }
    // All at once, because questions are answered meanwhile. Those in progress are of the model before.
    if (serving !== this.#serving) {
      this.#questions.clear();
      this.#asked.clear();
    }
    this.#serving = serving;
    this.#embedded = embedded;
    this.#dimensions = dimensions;
    this.#table = table;
    this.#documents = new Map(documents.map(({ slug, ...rest }) => [slug, rest]));
    this.#seen = changes;
    this.options.onChange();
  }

  /** Drops what the index does not have. Returns the slugs of the documents that must be read. */
  async sync(listed: readonly MeaningDocument[]): Promise<readonly string[]> {
    await this.refresh();
    if (this.#isDoubtful) await this.#compareLengths();
    const { store } = this.options;
    const there = new Set(listed.map(({ slug }) => slug));
    const gone = [...this.#documents.keys()].filter((slug) => !there.has(slug));
    if (gone.length > 0) {
      await this.#write(() => store.removeDocuments(gone));
      for (const slug of gone) {
        this.#documents.delete(slug);
        this.#table?.remove(slug);
      }
      this.#isCluttered = true;
      this.options.onChange();
    }
    return listed.flatMap(({ slug, contentHash, isDraft }) => {
      const known = this.#documents.get(slug);
      const isKnown =
        known?.contentHash === contentHash &&
        known.isDraft === isDraft &&
        known.hashes.every((hash) => this.#embedded.has(hash));
      return isKnown ? [] : [slug];
    });
  }

  /** Embeds what is new in these documents. @throws {EmbeddingsError} if the runner cannot. */
  async put(documents: readonly EmbeddedDocument[]): Promise<void> {
    const { store, model } = this.options;
    const read = documents.map(({ slug, title, body, contentHash, draft: isDraft }) => {
      const texts = sectionsOf(body).map((section) => embeddedText(title, section));
      return { slug, contentHash, isDraft, texts, hashes: texts.map(sectionHash) };
    });
    const missing = new Map(
      read.flatMap(({ texts, hashes }) =>
        hashes.flatMap((hash, at) => (this.#embedded.has(hash) ? [] : [[hash, texts[at] ?? ''] as const])),
      ),
    );
    await this.#embed([...missing]);
    await this.#write(() => store.putDocuments(read));
    if (this.#serving === undefined) {
      await this.#write(() => store.serve(model));
      this.#serving = model;
    }
    const serves = this.#serving === model;
    const vectors = serves
      ? await store.vectors(
          model,
          read.flatMap(({ hashes }) => hashes),
        )
      : new Map<string, CompactVector>();
    for (const document of read) {
      const { slug, contentHash, isDraft, hashes } = document;
      this.#isCluttered ||= this.#documents.has(slug);
      this.#documents.set(slug, { contentHash, isDraft, hashes });
      if (serves) this.#table = shown(this.#table, document, vectors);
    }
    if (serves) this.options.onChange();
  }

  /** Everything that was to be read has been: from now on the model answers, and what nothing uses is deleted. */
  async finish(): Promise<void> {
    const { store, model } = this.options;
    if (this.#serving === model && !this.#isCluttered) return;
    await this.#write(() => store.serve(model));
    this.#isCluttered = false;
    if (this.#serving === model) return;
    this.#seen = -1;
    await this.refresh();
  }

  /** The sections that are nearest to a question. @throws {EmbeddingsError} if the runner cannot embed it in time. */
  async nearest(
    question: string,
    options: { readonly drafts: boolean; readonly count: number },
  ): Promise<readonly NearSection[]> {
    // Another table may be of another model by the time that the runner has answered.
    const [model, table] = [this.#serving, this.#table];
    if (model === undefined || table === undefined) return [];
    const vector = this.#questions.get(question) ?? (await this.#vectorOf(question, model));
    if (vector.length === table.dimensions) return table.nearest(vector, options);
    this.#questions.delete(question);
    this.#isDoubtful ||= model === this.options.model;
    throw otherLength();
  }

  async close(): Promise<void> {
    await Promise.all([this.options.embeddings.close(), this.options.store.close()]);
  }

  /**
   * The runner may be loading its model, and would begin anew if the request were given up. So the first question that
   * takes too long goes on, for the one who asks later. Whoever asks the same again asks the runner again, because that
   * answer may never come.
   */
  #vectorOf(question: string, model: string): Promise<CompactVector> {
    const asked = this.#asked.get(question) ?? this.#ask(question, model);
    const waiting = new AbortController();
    const giveUp = async () => {
      await wait(patience, undefined, { signal: waiting.signal });
      this.#asked.delete(question);
      this.#slow ??= asked;
      if (this.#slow !== asked) asked.ending.abort();
      throw tooLate();
    };
    return Promise.race([asked.answer, giveUp()]).finally(() => waiting.abort());
  }

  #ask(question: string, model: string): QuestionVector {
    const ending = new AbortController();
    const ask = async () => {
      try {
        const signal = AbortSignal.any([AbortSignal.timeout(limit), ending.signal]);
        const use = { kind: 'question', model, signal } as const;
        const [vector] = await this.options.embeddings.embed([question], use);
        const compact = vector && compactVector(vector);
        if (!compact) throw new EmbeddingsError('It answered with a vector that has no direction.');
        if (model === this.#serving) this.#questions.set(question, compact);
        return compact;
      } finally {
        if (this.#slow === asked) this.#slow = undefined;
        if (this.#asked.get(question) === asked) this.#asked.delete(question);
      }
    };
    const asked: QuestionVector = { answer: ask(), ending };
    this.#asked.set(question, asked);
    return asked;
  }

  async #embed(missing: readonly HashedText[]): Promise<void> {
    const { store, model } = this.options;
    for (let at = 0; at < missing.length; ) {
      const piece = missing.slice(at, at + this.#maxTexts);
      const vectors = await this.#vectorsOf(piece.map(([, text]) => text));
      if (vectors === undefined) continue;
      if (vectors.some(({ length }) => length !== (this.#dimensions ??= length))) {
        this.#isDoubtful = true;
        throw otherLength();
      }
      const found = new Map<string, CompactVector>();
      for (const [index, [hash]] of piece.entries()) {
        const vector = vectors[index];
        const compact = vector && compactVector(vector);
        if (compact) found.set(hash, compact);
      }
      await this.#write(() => store.putVectors(model, found));
      for (const hash of found.keys()) this.#embedded.add(hash);
      at += piece.length;
    }
  }

  /** A single answer may be wrong. If the next one differs as well, what was embedded is of no use any more. */
  async #compareLengths(): Promise<void> {
    const { embeddings, store, model } = this.options;
    const [vector] = await embeddings.embed(['?'], { kind: 'text', signal: AbortSignal.timeout(limit) });
    this.#isDoubtful = false;
    if (vector === undefined || vector.length === this.#dimensions) return;
    await store.forget(model);
    this.#questions.clear();
    await this.refresh();
  }

  /** Undefined if the runner is too slow for so many: from now on it gets fewer. */
  async #vectorsOf(texts: readonly string[]): Promise<readonly Float32Array[] | undefined> {
    try {
      const signal = AbortSignal.timeout(limit);
      return await this.options.embeddings.embed(texts, { kind: 'text', signal });
    } catch (error) {
      if (!(error instanceof EmbeddingsError && error.isLate) || texts.length === 1) throw error;
      this.#maxTexts = Math.ceil(texts.length / 4);
      return undefined;
    }
  }

  /** Its own changes need not be read again. */
  async #write(work: () => Promise<void>): Promise<void> {
    const isUpToDate = (await this.options.store.changes()) === this.#seen;
    await work();
    if (isUpToDate) this.#seen = await this.options.store.changes();
  }
}

/** Puts a document into the table, which is made when the first vector shows how long they are. */
function shown(
  table: VectorTable | undefined,
  { slug, isDraft, hashes }: Omit<StoredDocument, 'contentHash'>,
  vectors: ReadonlyMap<string, CompactVector>,
): VectorTable | undefined {
  const rows = hashes.map((hash) => vectors.get(hash));
  const dimensions = rows.find((row) => row !== undefined)?.length;
  const made = table ?? (dimensions === undefined ? undefined : new VectorTable(dimensions));
  made?.put(slug, isDraft, rows);
  return made;
}
