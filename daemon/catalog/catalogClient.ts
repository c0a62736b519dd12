import * as z from 'zod/mini';
import { withTimeLimit } from '../../protocol/base/abort.ts';
import { tryJson } from '../../protocol/base/json.ts';
import type { ErrorKind } from '../../protocol/messages/errors.ts';
import type { RunnerTimeouts } from '../../protocol/messages/settings.ts';
import { type AdvisedMessage, advise, RunnerError } from '../base/errors.ts';
import type { TextAnswer } from '../runner/http/answerBody.ts';
import { Transport, type TransportOptions, type TransportRequest } from '../runner/http/transport.ts';
import { type CatalogModel, cleanModels, type RawModel } from './catalogModel.ts';
import type { ListingKey } from './catalogStore.ts';

/** The library's page has a few hundred KB. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** The only requests that a catalog ever gets. They contain nothing about the user. */
const requests: Readonly<Record<ListingKey['kind'], { path: string; accept: string; read: ReadAnswer }>> = {
  library: { path: '/library', accept: 'text/html, application/json;q=0.9', read: readLibraryAnswer },
  cloud: { path: '/api/tags', accept: 'application/json', read: readCloudAnswer },
};

/** How long a whole exchange with a catalog may take, in ms. */
const defaultDeadline = 15_000;

/** Fetches what a catalog lists. Failures are `RunnerError`s; an abort is thrown unchanged. */
export class CatalogClient {
  readonly #running = new Set<Promise<unknown>>();

  /** `deadline` in ms. */
  constructor(
    private readonly timeouts: () => RunnerTimeouts,
    private readonly headersFor: TransportOptions['headersFor'],
    private readonly deadline = defaultDeadline,
  ) {}

  async list(key: ListingKey, signal: AbortSignal): Promise<readonly CatalogModel[]> {
    const result = this.#fetchInTime(key, signal);
    this.#running.add(result);
    try {
      return await result;
    } finally {
      this.#running.delete(result);
    }
  }

  /** Waits for running requests. Their callers abort them. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #fetchInTime(key: ListingKey, signal: AbortSignal): Promise<readonly CatalogModel[]> {
    const transport = this.#open(key);
    const timeLimit = { limit: this.deadline, reason: tooSlow(key.base), signal };
    try {
      return await withTimeLimit(timeLimit, (limited) => exchange(transport, key, limited));
    } finally {
      await transport.close();
    }
  }

  /** A catalog is asked at most once an hour, so each exchange closes its connection. */
  #open({ kind, base }: ListingKey): Transport {
    const { accept } = requests[kind];
    return new Transport({
      server: { name: 'catalog', url: base },
      timeouts: this.timeouts(),
      headersFor: async (...asked) => ({ accept, ...(await this.headersFor(...asked)) }),
    });
  }
}

async function exchange(
  transport: Transport,
  key: ListingKey,
  signal: AbortSignal,
): Promise<readonly CatalogModel[]> {
  const { path, read } = requests[key.kind];
  const answer = await ask(transport, { method: 'GET', path, limit: maxAnswerBytes, signal }, key.base);
  return read(answer, key.base, signal);
}

async function ask(transport: Transport, request: TransportRequest, base: string): Promise<TextAnswer> {
  try {
    return await transport.text(request);
  } catch (error) {
    throw error instanceof RunnerError ? failureOfCatalog(error, base) : error;
  }
}

/** How many items of a list are read; some of them may not be models. */
const maxItems = 20_000;

/** Reads an answer of the catalog at `base`. @throws {RunnerError} `bad-response`, if it lists no models. */
type ReadAnswer = (answer: TextAnswer, base: string, signal: AbortSignal) => Promise<readonly CatalogModel[]>;

/** The cloud's answer is JSON. A web page that a proxy sends instead is never accepted. */
async function readCloudAnswer({ contentType, text }: TextAnswer, base: string) {
  if (isPageType(contentType)) throw notAList(base);
  return modelsOfJson(jsonOf(text), base);
}

/** The library's answer is a web page, but a mirror may serve JSON. */
async function readLibraryAnswer({ contentType, text }: TextAnswer, base: string, signal: AbortSignal) {
  if (isPageType(contentType)) return modelsOfPage(text, base, signal);
  const value = jsonOf(text);
  if (value === undefined && saysNothing(contentType) && text.trimStart().startsWith('<'))
    return modelsOfPage(text, base, signal);
  return modelsOfJson(value, base);
}

function isPageType(contentType: string): boolean {
  return contentType.toLowerCase().includes('text/html');
}

/** A server sends such a type if it knows nothing about the file. */
function saysNothing(contentType: string): boolean {
  return ['', 'text/plain'].includes(contentType.split(';')[0]?.trim().toLowerCase() ?? '');
}

async function modelsOfPage(text: string, base: string, signal: AbortSignal) {
  const { readOllamaLibrary } = await import('./ollamaLibrary.ts');
  const models = await readOllamaLibrary(text, `${base}/library`, signal);
  if (models.length === 0) throw noModels(base);
  return models;
}

function modelsOfJson(value: unknown, base: string): readonly CatalogModel[] {
  const list = listSchema.safeParse(value);
  if (!list.success) throw notAList(base);
  const items = Array.isArray(list.data) ? list.data : (list.data.models ?? []);
  const models = cleanModels(items.slice(0, maxItems).flatMap(partsOf));
  if (models.length === 0 && items.length > 0) throw notAList(base);
  return models;
}

const listSchema = z.union([z.array(z.unknown()), z.object({ models: z.nullable(z.array(z.unknown())) })]);

/** A missing value or one of a wrong type is left out. */
const lenient = <T extends z.core.SomeType>(schema: T) => z.catch(z.optional(schema), undefined);

const itemSchema = z.object({
  name: z.string(),
  description: lenient(z.string()),
  capabilities: lenient(z.array(z.unknown())),
  sizes: lenient(z.array(z.unknown())),
  details: lenient(z.object({ parameter_size: lenient(z.string()) })),
});

function partsOf(item: unknown): RawModel[] {
  if (typeof item === 'string') return [{ name: item }];
  const parsed = itemSchema.safeParse(item);
  if (!parsed.success) return [];
  const { name, description, capabilities, sizes, details } = parsed.data;
  const size = details?.parameter_size;
  return [
    {
      name,
      description,
      capabilities: stringsOf(capabilities),
      sizes: stringsOf(sizes) ?? (size === undefined ? undefined : [size]),
    },
  ];
}

function stringsOf(items: readonly unknown[] | undefined): string[] | undefined {
  return items?.filter((item) => typeof item === 'string').slice(0, 1_000);
}

/** Undefined if it is not JSON. A byte-order mark at the start is ignored. */
function jsonOf(text: string): unknown {
  return tryJson(text.trim());
}

/**
 * What a failed request to the catalog at `base` means for the user. The transport's sentence is about runners, so it
 * becomes the cause. Its kind stays, unless it is about a model or a prompt, which no catalog request has.
 */
function failureOfCatalog(cause: RunnerError, base: string): RunnerError {
  const { status = 0 } = cause;
  const kind = notOfCatalogs.has(cause.kind) ? 'bad-response' : cause.kind;
  if (status >= 300 && status < 400) return new RunnerError(kind, redirected(base), { cause, status });
  return new RunnerError(kind, sentence(kind, base, status), { cause, status: cause.status });
}

/** The whole exchange took too long. */
function tooSlow(base: string): RunnerError {
  return new RunnerError('timeout', sentence('timeout', base, 0));
}

/** The answer does not have the form of a list of models. */
function notAList(base: string): RunnerError {
  return new RunnerError('bad-response', sentence('bad-response', base, 200));
}

/** A page without a link to a model: the sign-in page of a network, or a library with a new design. */
function noModels(base: string): RunnerError {
  return new RunnerError(
    'bad-response',
    advise(
      `The model catalog at ${base} answered with a page that lists no models (${base}/library shows it).`,
      'set-catalog',
    ),
  );
}

/** The message does not quote the setting, because it may contain a password. */
export function notAnAddress(): RunnerError {
  return new RunnerError(
    'server-unreachable',
    advise('The setting catalogUrl is not an address such as https://ollama.com.', 'set-catalog'),
  );
}

/** The catalog was not to be asked, and nothing of it is known. */
export function notKept(base: string): RunnerError {
  return new RunnerError(
    'server-unreachable',
    `No list of the model catalog at ${base} is kept yet. Ask for it without "cached".`,
  );
}

const notOfCatalogs: ReadonlySet<ErrorKind> = new Set(['model-not-found', 'context-exceeded']);

function redirected(base: string): AdvisedMessage {
  return advise(
    `The model catalog at ${base} answered with a redirect, which is not followed.`,
    'set-catalog',
  );
}

function sentence(kind: ErrorKind, base: string, status: number): string | AdvisedMessage {
  const catalog = `The model catalog at ${base}`;
  switch (kind) {
    case 'server-unreachable':
      return advise(`${catalog} cannot be reached.`, 'check-network');
    case 'timeout':
      return advise(`${catalog} took too long to answer.`, 'check-network');
    case 'unauthorized':
      return advise(`${catalog} does not let this request in.`, 'set-token');
    case 'busy':
      return `${catalog} is busy. Ask again in a moment.`;
    case 'bad-response':
      return advise(
        `${catalog} did not answer with a list of models; there may be a proxy in between.`,
        'set-catalog',
      );
    case 'runner-failed':
      return `${catalog} failed${withStatus(status)}. Ask again later; installed models work without it.`;
    default:
      return advise(
        `${catalog} has no list of models at its usual place${withStatus(status)}.`,
        'set-catalog',
      );
  }
}

function withStatus(status: number): string {
  return status === 0 ? '' : ` (status ${status})`;
}
