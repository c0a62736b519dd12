import { Client, type Dispatcher } from 'undici';
import {
  arePublic,
  createDnsLookup,
  fixedLookup,
  type LookUpAddresses,
} from '../../protocol/base/publicHosts.ts';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { readBoundedBody } from './boundedBody.ts';
import { FetchQueue, type FetchQueueOptions } from './fetchQueue.ts';
import { OutsideError } from './outsideError.ts';
import { outsideHostProblem } from './outsideHost.ts';

export interface OutsideDocument {
  /** The parsed JSON; if a key occurs twice, the last one counts. */
  readonly content: unknown;
  /** The header, in lower case. */
  readonly cacheControl: string;
}

/** Fetches a JSON document from an address that somebody else has named. Throws OutsideError. */
export type OutsideFetch = (address: URL) => Promise<OutsideDocument>;

export interface OutsideFetchOptions {
  /** How many fetches may run at once, and how many may wait. */
  readonly bounds?: FetchQueueOptions;
  // The rest is only for tests, which have no public network.
  readonly resolve?: LookUpAddresses;
  /** Where a checked IP address is reached instead. */
  readonly reach?: (address: string) => string;
  /** Certificates to trust, as PEM. */
  readonly ca?: string;
  /** Milliseconds for the whole fetch, including the wait. */
  readonly deadline?: number;
}

/** In bytes. */
const largest = 64 * 1024;
/** In milliseconds. */
const usualDeadline = 5_000;
const usualBounds = { lanes: 8, length: 32 };

export function createOutsideFetch(options: OutsideFetchOptions = {}): OutsideFetch {
  const { resolve = createDnsLookup(), deadline = usualDeadline, bounds = usualBounds } = options;
  const queue = new FetchQueue(bounds);
  return async (address) => {
    const problem = outsideHostProblem(address);
    if (problem !== undefined) throw new OutsideError('refused', problem);
    const signal = AbortSignal.timeout(deadline);
    try {
      const leave = await queue.enter(address.hostname, signal);
      try {
        const found = await orAborted(resolve(address.hostname, signal), signal);
        return await fetchFrom(address, {
          addresses: checkAddresses(address.hostname, found),
          signal,
          options,
        });
      } finally {
        leave();
      }
    } catch (error) {
      throw error instanceof OutsideError ? error : unreachable(address.hostname, error, signal);
    }
  };
}

function checkAddresses(hostname: string, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) throw new OutsideError('unreachable', `There is no server named ${hostname}.`);
  if (arePublic(addresses)) return addresses;
  throw new OutsideError(
    'refused',
    `${hostname} is not on the public network, so nothing is fetched from it.`,
  );
}

interface Fetching {
  readonly addresses: readonly string[];
  readonly signal: AbortSignal;
  readonly options: OutsideFetchOptions;
}

/** One connection, only to the checked addresses, for this one request. No proxy is used. */
async function fetchFrom(address: URL, { addresses, signal, options }: Fetching): Promise<OutsideDocument> {
  const { ca, reach = (own) => own, deadline = usualDeadline } = options;
  const client = new Client(address.origin, {
    connect: withoutUndefined({
      lookup: fixedLookup(addresses.map(reach)),
      maxCachedSessions: 0,
      timeout: deadline,
      ca,
    }),
    autoSelectFamily: true,
    allowH2: false,
    pipelining: 0,
    maxHeaderSize: 16 * 1024,
  });
  try {
    const answer = await client.request({
      method: 'GET',
      path: address.pathname + address.search,
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'runner-docs' },
      signal,
    });
    checkAnswer(address.hostname, answer);
    const body = await readBoundedBody(answer.body, largest);
    if (body === undefined) throw tooLarge(address.hostname);
    const content = parseJson(address.hostname, body);
    return { content, cacheControl: String(answer.headers['cache-control'] ?? '').toLowerCase() };
  } finally {
    // Nobody waits for a connection that is still being opened: it ends by itself.
    client.destroy().catch(() => undefined);
  }
}

function checkAnswer(host: string, { statusCode, headers }: Dispatcher.ResponseData): void {
  const invalid = (message: string) => new OutsideError('invalid', message);
  if (statusCode >= 300 && statusCode < 400)
    throw invalid(`${host} redirects to another address. The document must be at the address itself.`);
  if (statusCode !== 200)
    throw invalid(`${host} answers with the status ${statusCode} and without a document.`);
  const type = String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  if (!/^application\/([a-z0-9.+-]{1,100}\+)?json$/i.test(type.trim()))
    throw invalid(`${host} answers with something that is not JSON.`);
  if (!/^(identity)?$/i.test(String(headers['content-encoding'] ?? '')))
    throw invalid(`${host} sends a compressed answer, which was not asked for.`);
  if (Number(headers['content-length'] ?? 0) > largest) throw tooLarge(host);
}

function tooLarge(host: string): OutsideError {
  return new OutsideError('invalid', `${host} answers with more than ${largest / 1024} KiB.`);
}

function parseJson(host: string, body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new OutsideError('invalid', `${host} answers with something that is not valid JSON.`);
  }
}

/** The real reason is not shown: it contains addresses, and the other side may have made it up. */
function unreachable(host: string, error: unknown, signal: AbortSignal): OutsideError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (signal.aborted) return new OutsideError('unreachable', `${host} has not answered in time.`);
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME|SIGNATURE/.test(code))
    return new OutsideError('unreachable', `${host} has no trusted certificate for its name.`);
  return new OutsideError('unreachable', `${host} cannot be reached, or does not speak HTTPS.`);
}

/** For work that cannot be aborted itself. */
function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
