import * as z from 'zod/mini';
import { withTimeLimit } from '../../protocol/base/abort.ts';
import { tryJson } from '../../protocol/base/json.ts';
import type { RunnerTimeouts } from '../../protocol/messages/settings.ts';
import { RunnerError } from '../base/errors.ts';
import type { TextAnswer } from '../runner/http/answerBody.ts';
import {
  createTransport,
  type Transport,
  type TransportOptions,
  type TransportRequest,
} from '../runner/http/transport.ts';
import { failureOfCatalog, noModels, notAList, tooSlow } from './catalogFailure.ts';
import type { ListingKey } from './catalogStore.ts';
import { type CatalogModel, cleanModels, type RawModel } from './listedModel.ts';

/** The library's page has a few hundred KB. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** The only requests that a catalog ever gets. They contain nothing about the user. */
const requests: Readonly<Record<ListingKey['kind'], { path: string; accept: string; read: ReadAnswer }>> = {
  library: { path: '/library', accept: 'text/html, application/json;q=0.9', read: readLibraryAnswer },
  cloud: { path: '/api/tags', accept: 'application/json', read: readCloudAnswer },
};

interface CatalogClientOptions {
  readonly timeouts: () => RunnerTimeouts;
  readonly headersFor: TransportOptions['headers'];
  /** How long a whole exchange may take, in ms. */
  readonly deadline: number;
}

/** Fetches what a catalog lists. Failures are `RunnerError`s; an abort is thrown unchanged. */
export function createCatalogClient({ timeouts, headersFor, deadline }: CatalogClientOptions) {
  const running = new Set<Promise<unknown>>();

  /** A catalog is asked at most once an hour, so each exchange closes its connection. */
  const open = ({ kind, base }: ListingKey): Transport => {
    const { accept } = requests[kind];
    const headers: typeof headersFor = async (...asked) => ({ accept, ...(await headersFor(...asked)) });
    return createTransport({ server: 'catalog', url: base, timeouts: timeouts(), headers });
  };

  const fetchInTime = async (key: ListingKey, signal: AbortSignal): Promise<readonly CatalogModel[]> => {
    const transport = open(key);
    const timeLimit = { limit: deadline, reason: tooSlow(key.base), signal };
    try {
      return await withTimeLimit(timeLimit, (limited) => exchange(transport, key, limited));
    } finally {
      await transport.close();
    }
  };

  return {
    async list(key: ListingKey, signal: AbortSignal): Promise<readonly CatalogModel[]> {
      const result = fetchInTime(key, signal);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    /** Waits for running requests. Their callers abort them. */
    async close(): Promise<void> {
      await Promise.allSettled(running);
    },
  };
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
