import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import type { BaseUrl } from '../base/baseUrl.ts';
import { ask, type DiscoveryAnswer, type Fetch, tryBearerChallenge } from './discoveryRequest.ts';

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
