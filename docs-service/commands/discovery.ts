import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import type { BaseUrl } from '../base/baseUrl.ts';

export interface DiscoveryFinding {
  readonly isFine: boolean;
  /** What is fine may still deserve a look. */
  readonly isWarning?: boolean;
  /** What was found, and, if it is not fine, what to do. */
  readonly text: string;
}

interface DiscoveryOptions {
  /** The address that readers use. */
  readonly baseUrl: Pick<BaseUrl, 'href' | 'origin'>;
  /** Whether the user named this address: at the default address there may be another program. */
  readonly isNamed: boolean;
  readonly fetch: Fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Follows the steps of a client that knows only the address: the challenge, the resource metadata, the metadata of the
 * authorization server. It stops at the first step where a client would stop.
 */
export async function followDiscovery(options: DiscoveryOptions): Promise<readonly DiscoveryFinding[]> {
  const { baseUrl, isNamed, fetch, now } = options;
  const { href } = baseUrl;
  const first = await ask(`${href}/mcp`, fetch, firstMessage);
  const missing = findMissing(first, options);
  if (missing.length > 0 || first.kind !== 'answer')
    return missing.map((one) => (isNamed ? one : { ...one, isFine: true }));
  const clock = findInClock(first.headers, now());
  const challenge = tryBearerChallenge(first.headers.get('www-authenticate'));
  const metadataUrl = challenge?.get('resource_metadata');
  if (metadataUrl === undefined)
    return [
      ...clock,
      ...wrong(
        `${href}/mcp refuses, but names no resource metadata: clients cannot find the sign-in. A proxy must pass the header WWW-Authenticate on.`,
      ),
    ];
  const named = URL.canParse(metadataUrl) ? new URL(metadataUrl).origin : metadataUrl;
  if (named !== baseUrl.origin) return [...clock, ...wrong(namesAnother(href, named))];
  return [...clock, ...(await followResource(metadataUrl, options))];
}

/** The first message of a client that has no token. */
const firstMessage = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'runner-docs doctor', version: '1' },
  },
};

/** Why there is no challenge; empty if there is one. */
function findMissing(
  answer: DiscoveryAnswer,
  { baseUrl: { href }, isNamed }: DiscoveryOptions,
): readonly DiscoveryFinding[] {
  const next = isNamed
    ? 'Start it with "runner-docs serve".'
    : 'If it serves at another address, add --base-url.';
  if (answer.kind === 'silence')
    return fine(`No service answers at ${href}, so the sign-in of agents was not checked. ${next}`);
  if (answer.kind === 'trouble') return wrong(`${href} cannot be asked: ${answer.reason}.`);
  const { status, headers } = answer;
  if (status === 401) return [];
  if (status >= 300 && status < 400)
    return wrong(
      `${href}/mcp redirects to ${shown(headers.get('location'))}. Agents send no token after a redirect: use that address as --base-url, and in the agents.`,
    );
  if (status === 403)
    return wrong(
      `The service at ${href} does not accept this name. Start it with --base-url ${href}, and make the proxy pass the header Host on.`,
    );
  if (status >= 500)
    return wrong(
      `${href} answers with ${status}: the service behind it is not running, or is not ready. See ${href}/readyz.`,
    );
  return wrong(
    `${href}/mcp answers with ${status}, but runner-docs would ask for a token: another program runs there. Name the address of the service with --base-url.`,
  );
}

async function followResource(url: string, options: DiscoveryOptions): Promise<readonly DiscoveryFinding[]> {
  const { baseUrl, fetch } = options;
  const metadata = toObject(await ask(url, fetch));
  if (metadata === undefined)
    return wrong(`${url} has no resource metadata: a proxy must pass /.well-known/ on.`);
  const { resource, authorization_servers: servers } = metadata;
  if (![baseUrl.href, `${baseUrl.href}/mcp`].includes(String(resource).replace(/\/$/, '')))
    return wrong(namesAnother(baseUrl.href, String(resource).replace(/\/mcp\/?$/, '')));
  const issuer: unknown = Array.isArray(servers) ? servers[0] : undefined;
  if (typeof issuer !== 'string' || !URL.canParse(issuer))
    return wrong(`${url} names no authorization server, so nobody can sign in.`);
  const metadataUrl = metadataUrlOf(issuer);
  if (!isSafe(metadataUrl)) return wrong(`The authorization server ${issuer} must have an https address.`);
  return followServer(issuer, metadataUrl, options);
}

async function followServer(
  issuer: string,
  url: string,
  { baseUrl, fetch }: DiscoveryOptions,
): Promise<readonly DiscoveryFinding[]> {
  const metadata = toObject(await ask(url, fetch));
  if (metadata === undefined)
    return wrong(`${url} has no metadata of an authorization server, so clients cannot sign in.`);
  if (metadata['issuer'] !== issuer)
    return wrong(
      `The authorization server calls itself ${shown(metadata['issuer'])}, but the resource metadata calls it ${issuer}. Clients refuse that: both must be identical, including the final slash.`,
    );
  const problems = [...findInEndpoints(metadata), ...findInMethods(metadata)];
  const found = fine(`Agents find the sign-in of ${baseUrl.href}/mcp at ${issuer}.`);
  return [...(problems.length === 0 ? found : problems), ...findInRegistration(metadata)];
}

function findInEndpoints(metadata: Metadata): readonly DiscoveryFinding[] {
  return ['authorization_endpoint', 'token_endpoint'].flatMap((name) => {
    const url = metadata[name];
    if (typeof url !== 'string' || !URL.canParse(url))
      return wrong(`The authorization server names no ${name}, so clients cannot sign in.`);
    return isSafe(url) ? [] : wrong(`The ${name} ${url} must be https: clients refuse it.`);
  });
}

function findInMethods(metadata: Metadata): readonly DiscoveryFinding[] {
  const methods = metadata['code_challenge_methods_supported'];
  if (Array.isArray(methods) && methods.includes('S256')) return [];
  return wrong(
    'The authorization server does not offer PKCE with S256. Clients refuse to sign in without it.',
  );
}

/** Switching registration off is a choice, not a problem. */
function findInRegistration(metadata: Metadata): readonly DiscoveryFinding[] {
  const hasDocuments = metadata['client_id_metadata_document_supported'] === true;
  if (typeof metadata['registration_endpoint'] === 'string') return [];
  return fine(
    hasDocuments
      ? 'Registration is off: a client without a metadata document, such as Cursor, needs "runner-docs client add" or a token.'
      : 'The authorization server supports neither registration nor client metadata documents: each client must be added there, or needs a token.',
  );
}

/** Milliseconds; a code is valid for one minute. */
const maxDrift = 30_000;

function findInClock(headers: Headers, now: number): readonly DiscoveryFinding[] {
  const date = Date.parse(headers.get('date') ?? '');
  const drift = Math.abs(date - now);
  // The header has whole seconds.
  if (!(drift > maxDrift)) return [];
  return wrong(
    `The clocks of the service and of this machine are ${Math.round(drift / 1_000)} seconds apart, so tokens expire too early or too late. Set both by NTP.`,
  );
}

type Metadata = Readonly<Record<string, unknown>>;

function toObject(answer: DiscoveryAnswer): Metadata | undefined {
  if (answer.kind !== 'answer' || answer.status !== 200) return undefined;
  const value = tryJson(answer.text);
  return isRecord(value) ? value : undefined;
}

/** RFC 8414: between the host and the path. */
function metadataUrlOf(issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`;
}

function isSafe(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

function namesAnother(href: string, other: string): string {
  return `The service at ${href} calls itself ${shown(other)}, and clients refuse that. Start it with --base-url ${href}.`;
}

/** Text from outside is shown in one line, without control characters that a terminal would obey. */
function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : 'nothing';
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, 200);
}

export function fine(text: string): readonly DiscoveryFinding[] {
  return [{ isFine: true, text }];
}

export function wrong(text: string): readonly DiscoveryFinding[] {
  return [{ isFine: false, text }];
}

/** The result of one request, as far as discovery needs it. */
export type DiscoveryAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly text: string }
  /** Nobody answers. */
  | { readonly kind: 'silence' }
  /** Somebody answers, but not correctly; a sentence without a full stop. */
  | { readonly kind: 'trouble'; readonly reason: string };

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Milliseconds for the whole answer. */
const limit = 5_000;
const maxBytes = 65_536;

/** Posts the message, if there is one. Follows no redirect, and reads at most 64 KB. */
export async function ask(url: string, fetch: Fetch, message?: object): Promise<DiscoveryAnswer> {
  const accept = 'application/json, text/event-stream';
  const json = { accept, 'content-type': 'application/json' };
  try {
    const response = await fetch(url, {
      ...(message === undefined
        ? { headers: { accept } }
        : { method: 'POST', headers: json, body: JSON.stringify(message) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(limit),
    });
    return { kind: 'answer', status: response.status, headers: response.headers, text: await read(response) };
  } catch (error) {
    return toFailure(error);
  }
}

async function read(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBytes);
}

const nobody = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

function toFailure(error: unknown): DiscoveryAnswer {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (nobody.has(code)) return { kind: 'silence' };
  if (error instanceof Error && error.name === 'TimeoutError')
    return { kind: 'trouble', reason: `it did not answer within ${limit / 1_000} seconds` };
  return {
    kind: 'trouble',
    reason: cause instanceof Error ? cause.message.slice(0, 200) : 'the request failed',
  };
}

/** The longest header that is read. */
const maxHeaderLength = 8_192;

/** A name, followed by a value if it is a parameter; anything else is passed over. */
const words = /([!#$%&'*+.^_`|~\w-]+)(?:\s?=\s?(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?|[^!#$%&'*+.^_`|~\w-]/gy;

/**
 * The parameters of the first `Bearer` challenge of a WWW-Authenticate header (RFC 9110), by their names in lower case;
 * undefined if there is none.
 */
export function tryBearerChallenge(header: string | null): ReadonlyMap<string, string> | undefined {
  if (header === null || header.length > maxHeaderLength) return undefined;
  let found: Map<string, string> | undefined;
  for (const [, word, quoted, bare] of header.matchAll(words)) {
    if (word === undefined) continue;
    const name = word.toLowerCase();
    const value = quoted?.replace(/\\(.)/g, '$1') ?? bare;
    // A name without a value is a scheme.
    if (value !== undefined) found?.set(name, found.get(name) ?? value);
    else if (found) break;
    else if (name === 'bearer') found = new Map();
  }
  return found;
}
