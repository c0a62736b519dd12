import { withTimeLimit } from '../../protocol/base/abort.ts';
import type { RunnerTimeouts } from '../../protocol/messages/initialize.ts';
import { RunnerError } from '../base/errors.ts';
import {
  createTransport,
  type TextAnswer,
  type Transport,
  type TransportRequest,
} from '../runner/transport.ts';
import { type ReadAnswer, readCloudAnswer, readLibraryAnswer } from './catalogAnswer.ts';
import { failureOfCatalog, tooSlow } from './catalogFailure.ts';
import type { ListingKey } from './catalogStore.ts';
import type { ListedModel } from './listedModel.ts';

/** The library's page has a few hundred KB. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** The only requests that a catalog ever gets. They contain nothing about the user. */
const requests: Readonly<Record<ListingKey['kind'], { path: string; accept: string; read: ReadAnswer }>> = {
  library: { path: '/library', accept: 'text/html, application/json;q=0.9', read: readLibraryAnswer },
  cloud: { path: '/api/tags', accept: 'application/json', read: readCloudAnswer },
};

export interface CatalogClientOptions {
  readonly timeouts: () => RunnerTimeouts;
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  /** How long a whole exchange may take, in ms. */
  readonly deadline: number;
}

/** Fetches what a catalog lists. Failures are `RunnerError`s; an abort is thrown unchanged. */
export interface CatalogClient {
  list(key: ListingKey, signal: AbortSignal): Promise<readonly ListedModel[]>;
  /** Waits for running requests. Their callers abort them. */
  close(): Promise<void>;
}

export function createCatalogClient({ timeouts, headersFor, deadline }: CatalogClientOptions): CatalogClient {
  const running = new Set<Promise<unknown>>();

  /** A catalog is asked at most once an hour, so each exchange closes its connection. */
  const open = ({ kind, base }: ListingKey): Transport => {
    const { accept } = requests[kind];
    const headers = async (url: string) => ({ accept, ...(await headersFor(url)) });
    return createTransport({ server: 'catalog', url: base, timeouts: timeouts(), headers });
  };

  const fetchInTime = async (key: ListingKey, signal: AbortSignal): Promise<readonly ListedModel[]> => {
    const transport = open(key);
    const timeLimit = { limit: deadline, reason: tooSlow(key.base), signal };
    try {
      return await withTimeLimit(timeLimit, (limited) => exchange(transport, key, limited));
    } finally {
      await transport.close();
    }
  };

  return {
    async list(key, signal) {
      const result = fetchInTime(key, signal);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    async close() {
      await Promise.allSettled(running);
    },
  };
}

async function exchange(
  transport: Transport,
  key: ListingKey,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
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
