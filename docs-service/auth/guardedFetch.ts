import { isIP } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { orAborted } from '../../protocol/base/abort.ts';
import { readBounded, TooLargeError } from '../../protocol/base/byteStreams.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import {
  arePublic,
  createDnsLookup,
  fixedLookup,
  type LookUpAddresses,
} from '../../protocol/base/publicHosts.ts';
import { busy, GuardedFetchError, invalid, refused, unreachable } from './authErrors.ts';
import { TurnQueue, type TurnQueueOptions } from './turnQueue.ts';

/**
 * Fetches a JSON document from an address that somebody else has named. `content` is what it has; if a key occurs
 * twice, the last one counts. `cacheControl` is that header, in lower case. Throws GuardedFetchError.
 */
export type GuardedFetch = (
  address: URL,
) => Promise<{ readonly content: unknown; readonly cacheControl: string }>;

export interface GuardedFetchOptions {
  /** How many fetches may run at once, and how many may wait. */
  readonly bounds?: TurnQueueOptions;
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
const maxBytes = 64 * 1024;
/** In milliseconds. */
const usualDeadline = 5_000;
const usualBounds = { lanes: 8, length: 32 };

export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { resolve = createDnsLookup(), deadline = usualDeadline, bounds = usualBounds } = options;
  const queue = new TurnQueue(bounds);
  return async (address) => {
    const problem = hostProblem(address);
    if (problem !== undefined) throw refused(problem);
    const signal = AbortSignal.timeout(deadline);
    try {
      const leave = await queue.tryEnter(address.hostname, signal);
      if (leave === undefined) throw busy('Too many sign-ins are in progress. Try again in a moment.');
      try {
        const found = await orAborted(resolve(address.hostname, signal), signal);
        return await fetchFrom(address, checkAddresses(address.hostname, found), signal, options);
      } finally {
        leave();
      }
    } catch (error) {
      throw toGuardedFetchError(address.hostname, error, signal);
    }
  };
}

function checkAddresses(hostname: string, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) throw unreachable(`There is no server named ${hostname}.`);
  if (arePublic(addresses)) return addresses;
  throw refused(`${hostname} is not on the public network, so nothing is fetched from it.`);
}

/** One connection, only to the checked addresses, for this one request. No proxy is used. */
async function fetchFrom(
  address: URL,
  addresses: readonly string[],
  signal: AbortSignal,
  { ca, reach = (own) => own, deadline = usualDeadline }: GuardedFetchOptions,
) {
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
    const content = parseJson(address.hostname, await readBounded(answer.body, maxBytes));
    return { content, cacheControl: String(answer.headers['cache-control'] ?? '').toLowerCase() };
  } finally {
    // Nobody waits for a connection that is still being opened: it ends by itself.
    client.destroy().catch(() => undefined);
  }
}

function checkAnswer(host: string, { statusCode, headers }: Dispatcher.ResponseData): void {
  if (statusCode >= 300 && statusCode < 400)
    throw invalid(`${host} redirects to another address. The document must be at the address itself.`);
  if (statusCode !== 200)
    throw invalid(`${host} answers with the status ${statusCode} and without a document.`);
  const type = String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  if (!/^application\/([a-z0-9.+-]{1,100}\+)?json$/i.test(type.trim()))
    throw invalid(`${host} answers with something that is not JSON.`);
  if (!/^(identity)?$/i.test(String(headers['content-encoding'] ?? '')))
    throw invalid(`${host} sends a compressed answer, which was not asked for.`);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(host);
}

function tooLarge(host: string): GuardedFetchError {
  return invalid(`${host} answers with more than ${maxBytes / 1024} KiB.`);
}

function parseJson(host: string, body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw invalid(`${host} answers with something that is not valid JSON.`);
  }
}

/** The reason of another error is not shown: it contains addresses, and the other side may have made it up. */
function toGuardedFetchError(host: string, error: unknown, signal: AbortSignal): GuardedFetchError {
  if (error instanceof GuardedFetchError) return error;
  if (error instanceof TooLargeError) return tooLarge(host);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (signal.aborted) return unreachable(`${host} has not answered in time.`);
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME|SIGNATURE/.test(code))
    return unreachable(`${host} has no trusted certificate for its name.`);
  return unreachable(`${host} cannot be reached, or does not speak HTTPS.`);
}

/**
 * Why nothing is fetched from an address, whatever its name resolves to; undefined if the name must be looked up first.
 * The URL parser has already turned every other spelling of an IP address into the usual one.
 */
function hostProblem({ protocol, hostname, port, username, password }: URL): string | undefined {
  if (protocol !== 'https:') return 'Documents are only fetched from addresses that begin with https://.';
  if (username !== '' || password !== '') return 'An address with a user name or a password is not fetched.';
  if (hostname.startsWith('[') || isIP(hostname) !== 0)
    return 'Documents are only fetched from hosts with a name, not from IP addresses.';
  if (!isPublicName(hostname))
    return `${hostname} is not a name on the public network, so nothing is fetched from it.`;
  // Ports below 1024 belong to other protocols; this service must not send requests to them for a stranger.
  if (port !== '' && Number(port) < 1_024) return `Documents are not fetched from port ${port}.`;
  return undefined;
}

/** Names of one label, and names below these, are only valid in the local network (RFC 6761, RFC 6762, RFC 8375). */
function isPublicName(hostname: string): boolean {
  const labels = hostname.split('.');
  const isWhole = labels.length > 1 && labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
  return isWhole && !/\.(localhost|local|internal|home\.arpa|onion|invalid)$/.test(hostname);
}
