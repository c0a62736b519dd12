import type { FetchLike } from '@modelcontextprotocol/client';
import { isLoopback } from '../../../protocol/address.ts';
import { withTimeLimit } from '../../abort.ts';
import { RunnerError } from '../../errors.ts';

/** Of one answer, in bytes: metadata and tokens are far below. */
const maxBody = 256 * 1024;
/** For one answer as a whole, in ms. */
const timeLimit = 10_000;
/** In one login, or one renewal, whatever the metadata leads to. */
const maxRequests = 40;

export interface OAuthFetchOptions {
  /** The address of the tool server. */
  readonly server: string;
  readonly signal: AbortSignal;
}

/**
 * What the SDK's functions of OAuth fetch with. It goes to https elsewhere, or to this machine where the tool server itself
 * is on this machine: so no server elsewhere can lead to what listens here. No answer is large or late. The SDK
 * follows redirects on the same origin, and this none.
 */
export function createOAuthFetch({ server, signal }: OAuthFetchOptions): FetchLike {
  const isServerHere = isLoopback(server);
  let left = maxRequests;
  return (address, init = {}) => {
    const url = requireSafeAddress(address, isServerHere);
    left -= 1;
    if (left < 0) throw new RunnerError('bad-response', 'The login redirects too often.');
    const reason = new RunnerError('timeout', `${url.origin} did not answer within ${timeLimit / 1_000} s.`);
    return withTimeLimit({ limit: timeLimit, reason, signal }, async (inTime) => {
      const response = await reach(url, { ...init, redirect: 'manual', signal: inTime });
      const { status, statusText, headers } = response;
      const body = await readBounded(response);
      return new Response(body === '' ? null : body, { status, statusText, headers });
    });
  };
}

/**
 * An address that secrets may be sent to, or a browser.
 * @throws {RunnerError} where it is none.
 */
export function requireSafeAddress(address: string | URL, isServerHere: boolean): URL {
  const url = URL.canParse(String(address)) ? new URL(address) : undefined;
  if (!url || !isWeb(url, isServerHere) || url.username !== '' || url.password !== '')
    throw unsafe('that is not https');
  if (!isServerHere && isThisMachine(url)) throw unsafe('on this machine');
  return url;
}

function isWeb({ protocol, href }: URL, isServerHere: boolean): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isServerHere && isLoopback(href));
}

/** Loopback in all its spellings: the unspecified address reaches it too, and so does an IPv4 address within IPv6. */
function isThisMachine({ href, hostname }: URL): boolean {
  return (
    isLoopback(href) ||
    /^(.+\.)?localhost\.$/.test(hostname) ||
    /^(0\.0\.0\.0|\[::(ffff:(0|7f[0-9a-f]{2}):[0-9a-f]+)?\])$/.test(hostname)
  );
}

function unsafe(where: string): RunnerError {
  return new RunnerError(
    'bad-response',
    `The login leads to an address ${where}, which Runner does not contact.`,
  );
}

async function reach(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    init.signal?.throwIfAborted();
    const { cause: inner } = cause as { readonly cause?: unknown };
    const code = inner instanceof Error && 'code' in inner ? ` (${String(inner.code)})` : '';
    throw new RunnerError('bad-response', `${url.origin} cannot be reached${code}.`, { cause });
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBody)
      throw new RunnerError('bad-response', 'An answer of the login is larger than 256 KB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
