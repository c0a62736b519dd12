import { type IncomingMessage, request as openHttp } from 'node:http';
import { request as openHttps, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { type FetchLike, IssuerMismatchError, OAuthError } from '@modelcontextprotocol/client';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { readBounded, TooLargeError } from '../../../protocol/base/byteStreams.ts';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { isLoopback } from '../../../protocol/base/loopback.ts';
import {
  arePublic,
  createDnsLookup,
  fixedLookup,
  type LookUpAddresses,
} from '../../../protocol/base/publicHosts.ts';
import { cutText } from '../../../protocol/base/text.ts';
import { RunnerError } from '../../base/errors.ts';
import { plainText } from '../../base/programOutput.ts';

/** Of one answer, in bytes. Metadata and tokens are far smaller. */
const maxBody = 256 * 1024;
/** For one answer as a whole, in ms. */
const timeLimit = 10_000;
/** How many requests one login or renewal may make, whatever the metadata says. */
const maxRequests = 40;

interface OAuthFetchOptions {
  /** The address of the tool server. */
  readonly server: string;
  readonly signal: AbortSignal;
  /** Only for tests, which have no public network. */
  readonly network?: Network;
}

interface Network {
  readonly resolve: LookUpAddresses;
  /** The address at which a checked IP address is reached instead. */
  readonly reach?: (address: string) => string;
  /** Certificates to trust, as PEM. */
  readonly ca?: string;
}

/**
 * The fetch of the SDK's OAuth functions. A tool server on this machine may lead to this machine, and to https
 * elsewhere. Any other may lead to its own host, and to https on the public network, so that it cannot reach what
 * listens on this machine or in its network. Answers are bounded in size and time. The SDK follows redirects on the
 * same origin, and this fetch follows none.
 */
export function createOAuthFetch({ server, signal, network }: OAuthFetchOptions): FetchLike {
  const isServerHere = isLoopback(server);
  const { hostname: ownHost } = new URL(server);
  const { resolve, reach = (own) => own, ca }: Network = network ?? { resolve: createDnsLookup() };
  let left = maxRequests;

  const checkedLookup = async ({ hostname }: URL, inTime: AbortSignal) => {
    if (isServerHere || hostname === ownHost) return undefined;
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(host) === 0 ? await resolve(host, inTime) : [host];
    if (addresses.length === 0)
      throw new RunnerError(
        'bad-response',
        `The login leads to ${host}, but no server of this name was found. Check the network, and try again.`,
      );
    if (!arePublic(addresses))
      throw new RunnerError(
        'bad-response',
        `The login leads to ${host}, which is not on the public network, so Runner does not contact it. ` +
          'If you have a token for the tool server, enter it under "auth" in ~/.config/runner/config.json.',
      );
    return fixedLookup(addresses.map(reach));
  };
  return async (address, init = {}) => {
    const url = requireSafeAddress(address, isServerHere);
    left -= 1;
    if (left < 0) throw new RunnerError('bad-response', 'The login redirects too often.');
    const reason = new RunnerError('timeout', `${url.origin} did not answer within ${timeLimit / 1_000} s.`);
    return withTimeLimit({ limit: timeLimit, reason, signal }, async (inTime) => {
      const lookup = await checkedLookup(url, inTime);
      try {
        return await send(new Request(url, { ...init, signal: inTime }), withoutUndefined({ lookup, ca }));
      } catch (cause) {
        inTime.throwIfAborted();
        throw cause instanceof RunnerError ? cause : unreachable(url, cause);
      }
    });
  };
}

/**
 * An address to which secrets, or a browser, may be sent.
 * @throws {RunnerError} if it is not one.
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

/** Loopback in every spelling. The unspecified address and an IPv4 address within IPv6 reach it too. */
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

function unreachable({ origin }: URL, cause: unknown): RunnerError {
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new RunnerError('bad-response', `${origin} cannot be reached${code}.`, { cause });
}

/**
 * One request by a connection of its own, without a proxy and without following redirects. The machine resolves the
 * name if there is no `lookup`.
 */
async function send(request: Request, socket: Pick<RequestOptions, 'ca' | 'lookup'>): Promise<Response> {
  const { url, method, signal } = request;
  const body = Buffer.from(await request.arrayBuffer());
  const headers = { 'user-agent': 'runner', ...Object.fromEntries(request.headers) };
  const open = url.startsWith('https:') ? openHttps : openHttp;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, headers, signal, agent: false, ...socket };
    open(url, options, resolve).on('error', reject).end(body);
  });
  const answered = await readBounded(answer, maxBody).catch((error) => {
    if (!(error instanceof TooLargeError)) throw error;
    throw new RunnerError('bad-response', 'An answer of the login is larger than 256 KB.');
  });
  const text = answered.toString('utf8');
  return new Response(text === '' ? null : text, {
    status: answer.statusCode ?? 0,
    headers: Object.entries(answer.headersDistinct).map(([name, values = []]): [string, string] => [
      name,
      values.join(', '),
    ]),
  });
}

/** How much an error quotes of an authorization server's own words, in characters. */
const maxQuoted = 300;

/** What went wrong in a login, as a sentence. It quotes only error messages, so it never holds a token. */
export function loginFailure(error: unknown, issuer: string): RunnerError {
  if (error instanceof RunnerError) return error;
  const { origin } = new URL(issuer);
  if (error instanceof IssuerMismatchError)
    return new RunnerError(
      'bad-response',
      `The answer did not come from ${origin}, where the login was started, so it was not used. Start the login again.`,
      { cause: error },
    );
  if (error instanceof OAuthError)
    return refusedLogin(origin, error.code, error.code === 'server_error' ? undefined : error.message);
  return new RunnerError('bad-response', `${origin} sent an answer that is not a login.`, { cause: error });
}

/** `code` and `description` are the server's (RFC 6749, 4.1.2.1 and 5.2). */
export function refusedLogin(origin: string, code: string, description?: string): RunnerError {
  const said = [code, description].flatMap((text) => (text ? [cutText(plainText(text), maxQuoted)] : []));
  return new RunnerError('unauthorized', `${origin} refused the login: ${[...new Set(said)].join(': ')}.`);
}

/** The code of a system error, such as ENOSPC. */
export function codeOf(error: unknown, otherwise = 'an unknown error'): string {
  return error instanceof Error && 'code' in error ? String(error.code) : otherwise;
}
