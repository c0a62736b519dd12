import { type Dispatcher, Pool } from 'undici';
import { readBounded, TooLargeError } from '../../protocol/base/byteStreams.ts';
import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { createRedaction, type Redaction } from '../../protocol/base/redaction.ts';
import { cutText, messageOf } from '../../protocol/base/text.ts';
import { readTokenFile } from '../base/options.ts';

export interface EmbeddingsOptions {
  /** The origin of a runner: of the Ollama API, or of OpenAI's. */
  readonly url: string;
  readonly model: string;
  /** The file with the token for it. */
  readonly tokenFile?: string | undefined;
}

interface EmbeddingUse {
  readonly kind: 'question' | 'text';
  /** Another model than that of the options, for a question about what was embedded earlier. */
  readonly model?: string;
  readonly signal: AbortSignal;
}

/** What is wrong, as a sentence for the operator. */
export class EmbeddingsError extends Error {
  override readonly name = 'EmbeddingsError';
  /** A text has more tokens than the model takes. */
  readonly isTooLong: boolean;
  /** The time was too short for it. */
  readonly isLate: boolean;

  constructor(
    message: string,
    options: ErrorOptions & { readonly isTooLong?: boolean; readonly isLate?: boolean } = {},
  ) {
    super(message, options);
    this.isTooLong = options.isTooLong ?? false;
    this.isLate = options.isLate ?? false;
  }
}

/** The most texts of one call. */
export const maxTexts = 64;
/** Calls at once; others wait. */
const maxCalls = 8;
/** More numbers than any model has in a vector. */
const maxDimensions = 16_384;
/** Bytes of a number in JSON, with its comma. */
const numberBytes = 26;
/** Halves of halves: a text of 1,200 characters is cut into at most 64 pieces. */
const maxHalvings = 6;

/**
 * Turns texts into vectors, by a runner of the user's own. No proxy, and no redirect: what is sent goes to the named
 * origin and nowhere else.
 */
export class Embeddings {
  readonly #pool: Pool;
  #wire: Promise<Wire> | undefined;
  /** Gateways quote a token that they refuse. */
  readonly #redaction = createRedaction();

  constructor(private readonly options: EmbeddingsOptions) {
    this.#pool = new Pool(new URL(options.url).origin, {
      connections: maxCalls,
      allowH2: false,
      maxHeaderSize: 16 * 1024,
      connectTimeout: 5_000,
      bodyTimeout: 0,
      headersTimeout: 0,
    });
  }

  /**
   * A vector for each text, all of the same length, none of them zero.
   * @throws {EmbeddingsError} if the runner is away, slow or wrong.
   */
  async embed(
    texts: readonly string[],
    { kind, model = this.options.model, signal }: EmbeddingUse,
  ): Promise<readonly Float32Array[]> {
    const asking = { model, signal, prefix: prefixesFor(model)[kind] };
    try {
      return await this.#embedOnce(texts, asking);
    } catch (error) {
      if (error instanceof EmbeddingsError && error.isTooLong) {
        const vectors: Float32Array[] = [];
        for (const text of texts) vectors.push(await this.#embedWhole(text, asking));
        return vectors;
      }
      // Another server may answer there the next time.
      this.#wire = undefined;
      throw toFailure(error);
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /** A text that is too long is cut in half, and gets the mean of what its halves mean. */
  async #embedWhole(text: string, asking: EmbeddingRequest, halvings = 0): Promise<Float32Array> {
    try {
      const [vector] = await this.#embedOnce([text], asking);
      if (vector) return vector;
    } catch (error) {
      const isHopeless = halvings === maxHalvings || text.length < 2;
      if (!(error instanceof EmbeddingsError && error.isTooLong) || isHopeless) throw error;
    }
    const middle = middleOf(text);
    const one = await this.#embedWhole(text.slice(0, middle), asking, halvings + 1);
    return meanOf(one, await this.#embedWhole(text.slice(middle), asking, halvings + 1));
  }

  async #embedOnce(texts: readonly string[], { model, prefix, signal }: EmbeddingRequest) {
    this.#wire ??= this.#findWire(signal);
    const { path, options, vectorsIn } = await this.#wire;
    const body = JSON.stringify({ model, input: texts.map((text) => prefix + text), ...options });
    const most = 64 * 1024 + texts.length * maxDimensions * numberBytes;
    const { status, value } = await this.#ask({ method: 'POST', path, body, signal }, most);
    if (status !== 200) throw failureOf(status, value, this.#redaction);
    return parseVectors(vectorsIn(value), texts.length);
  }

  /** Servers of OpenAI's API have no such path, or answer with something else. */
  async #findWire(signal: AbortSignal): Promise<Wire> {
    // Everybody waits for this one, which takes no model.
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(5_000)]);
    const question = { method: 'GET', path: '/api/version', signal: inTime } as const;
    const { status, value } = await this.#ask(question, 64 * 1024).catch((error) => {
      throw new EmbeddingsError(`It does not answer: ${messageOf(error)}`, { cause: error });
    });
    const isOllama = status === 200 && isRecord(value) && typeof value['version'] === 'string';
    return isOllama ? ollama : openai;
  }

  async #ask(request: Omit<Dispatcher.RequestOptions, 'headers'>, maxBytes: number) {
    const { tokenFile } = this.options;
    const token = tokenFile === undefined ? undefined : await readTokenFile(tokenFlag, tokenFile);
    if (token !== undefined) this.#redaction.add(token.text);
    const { statusCode, body } = await this.#pool.request({
      ...request,
      headers: {
        ...(token && { authorization: `Bearer ${token.text}` }),
        ...(request.body == null ? {} : { 'content-type': 'application/json' }),
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'runner-docs',
      },
    });
    const text = (await readBounded(body, maxBytes)).toString('utf8');
    return { status: statusCode, value: tryJson(text) };
  }
}

const tokenFlag = '--embeddings-token-file';

interface EmbeddingRequest {
  readonly model: string;
  readonly prefix: string;
  readonly signal: AbortSignal;
}

/** What differs between the two APIs. */
interface Wire {
  readonly path: string;
  readonly options: object;
  readonly vectorsIn: (answer: unknown) => unknown;
}

/** Without the option, it would cut off what is too long. */
const ollama: Wire = {
  path: '/api/embed',
  options: { truncate: false },
  vectorsIn: (answer) => (isRecord(answer) ? answer['embeddings'] : undefined),
};

const openai: Wire = {
  path: '/v1/embeddings',
  options: { encoding_format: 'float' },
  vectorsIn(answer) {
    const data = isRecord(answer) ? answer['data'] : undefined;
    if (!Array.isArray(data) || !data.every(isRecord)) return undefined;
    // In whatever order they come.
    return data
      .toSorted((one, other) => Number(one['index']) - Number(other['index']))
      .map((entry) => entry['embedding']);
  },
};

/** @throws {EmbeddingsError} unless these are `count` vectors of one length. */
function parseVectors(value: unknown, count: number): readonly Float32Array[] {
  if (!Array.isArray(value) || value.length !== count)
    throw new EmbeddingsError(`It did not answer with ${count} vectors.`);
  const vectors = value.map(parseVector);
  if (vectors.some(({ length }) => length !== vectors[0]?.length))
    throw new EmbeddingsError('Its vectors have different lengths.');
  return vectors;
}

function parseVector(value: unknown): Float32Array {
  const isVector =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= maxDimensions &&
    value.every((number) => typeof number === 'number' && Number.isFinite(number));
  if (!isVector) throw new EmbeddingsError('It answered with something that is no vector.');
  const vector = Float32Array.from(value as number[]);
  const length = Math.hypot(...vector);
  if (length === 0 || !Number.isFinite(length))
    throw new EmbeddingsError('It answered with a vector that has no direction.');
  return vector;
}

function failureOf(status: number, value: unknown, redaction: Redaction): EmbeddingsError {
  const error = isRecord(value) ? (value['error'] ?? value['message']) : undefined;
  const said = String((isRecord(error) ? error['message'] : error) ?? '').slice(0, maxQuoted);
  const isTooLong = /context length|too (?:large|long)|exceeds|maximum/i.test(said);
  const what = said === '' ? '' : `: ${cutText(redaction.redact(said).replace(/\s+/g, ' '), 200)}`;
  return new EmbeddingsError(`It answered with status ${status}${what}`, { isTooLong });
}

/** In characters of an answer that are looked at. */
const maxQuoted = 10_000;

function toFailure(error: unknown): EmbeddingsError {
  if (error instanceof EmbeddingsError) return error;
  if (error instanceof TooLargeError)
    return new EmbeddingsError('Its answer is too large.', { cause: error });
  if (error instanceof Error && error.name === 'TimeoutError') return tooLate(error);
  return new EmbeddingsError(`It does not answer: ${messageOf(error)}`, { cause: error });
}

export function tooLate(cause?: Error): EmbeddingsError {
  return new EmbeddingsError('It did not answer in time.', { cause, isLate: true });
}

/** Between two characters, at a blank if there is one near. */
function middleOf(text: string): number {
  const half = Math.ceil(text.length / 2);
  const blank = text.lastIndexOf(' ', half);
  if (blank > half / 2) return blank;
  return /[\ud800-\udbff]/.test(text[half - 1] ?? '') ? half - 1 || half + 1 : half;
}

function meanOf(one: Float32Array, other: Float32Array): Float32Array {
  const [length, otherLength] = [Math.hypot(...one), Math.hypot(...other)];
  return one.map((number, at) => number / length + (other[at] ?? 0) / otherLength);
}

/** What comes before a text, for models that were trained to tell questions and documents apart. */
interface Prefixes {
  readonly question: string;
  readonly text: string;
}

/** From the cards of the models. The first pattern that fits a name counts. */
const families: readonly (readonly [RegExp, Prefixes])[] = [
  [/nomic-embed-text/i, { question: 'search_query: ', text: 'search_document: ' }],
  [/embeddinggemma/i, { question: 'task: search result | query: ', text: 'title: none | text: ' }],
  [
    /qwen3-embedding/i,
    {
      question:
        'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
      text: '',
    },
  ],
  [/(?:^|[^a-z])(?:multilingual-)?e5-/i, { question: 'query: ', text: 'passage: ' }],
  [
    /mxbai-embed|snowflake-arctic-embed(?!2)|bge-(?:small|base|large)/i,
    { question: 'Represent this sentence for searching relevant passages: ', text: '' },
  ],
];

export function prefixesFor(model: string): Prefixes {
  return families.find(([pattern]) => pattern.test(model))?.[1] ?? { question: '', text: '' };
}
