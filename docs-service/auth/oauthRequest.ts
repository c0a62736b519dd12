import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import type { BaseUrl } from '../base/baseUrl.ts';
import { isScope, type Scope } from './accessTokens.ts';
import { OAuthError } from './authErrors.ts';

/** What a client asks of the owner, after its redirect address was checked. */
export type AuthorizationRequest = ReturnType<typeof parseAuthorizationRequest>;

/** Throws OAuthError, which is sent to the client's redirect address. */
export function parseAuthorizationRequest(parameters: Parameters, baseUrl: BaseUrl) {
  const state = parameters.tryGet('state');
  if (parameters.get('response_type') !== 'code')
    throw new OAuthError('unsupported_response_type', 'response_type must be code.');
  const challenge = parameters.tryGet('code_challenge') ?? '';
  if (!/^[\w-]{43}$/.test(challenge) || parameters.tryGet('code_challenge_method') !== 'S256')
    throw new OAuthError(
      'invalid_request',
      'PKCE is required: code_challenge with code_challenge_method S256.',
    );
  const resources = parameters.getAll('resource');
  checkResources(resources, baseUrl);
  // IndieAuth requires `state` (5.2). The agents that name the resource may rely on PKCE alone (OAuth 2.1, 4.1.1).
  if (state === undefined && resources.length === 0)
    throw new OAuthError('invalid_request', 'state is missing.');
  // `state` is sent back with the answer. Without scopes, the client only wants to know who the owner is.
  return { state, challenge, scopes: parseScopes(parameters.tryGet('scope'), resources.length > 0) };
}

/** Throws OAuthError `invalid_target`. */
export function checkResources(resources: readonly string[], baseUrl: BaseUrl): void {
  if (resources.every((resource) => isOwnResource(resource, baseUrl))) return;
  throw new OAuthError('invalid_target', `The resource of this server is ${baseUrl.href}/mcp.`);
}

/** Agents that name the resource but no scope want to read. Unknown scopes are left out. */
function parseScopes(text: string | undefined, hasResource: boolean): readonly Scope[] {
  const words = new Set((text ?? '').split(' ').filter(Boolean));
  if (words.size === 0) return hasResource ? ['read'] : [];
  // The email address is part of the profile (IndieAuth, 5.3.4).
  if (!words.has('profile')) words.delete('email');
  const known = [...words].filter(isScope);
  if (known.length === 0)
    throw new OAuthError(
      'invalid_scope',
      'None of these scopes is known. The known scopes are read, draft, profile and email.',
    );
  return known;
}

/**
 * The parameters of an OAuth request. A repeated parameter is an error (RFC 6749, 3.1), except `resource` (RFC 8707).
 * An empty one counts as missing.
 */
export class Parameters {
  readonly #values: URLSearchParams;

  /** @param longest in characters, for each value */
  constructor(
    text: string,
    private readonly longest = 2_048,
  ) {
    this.#values = new URLSearchParams(text);
  }

  /** Throws OAuthError if it is repeated or too long. */
  tryGet(name: string): string | undefined {
    const values = this.getAll(name);
    if (values.length > 1) throw new OAuthError('invalid_request', `${name} was given twice.`);
    return values[0];
  }

  /** Also throws OAuthError if it is missing. */
  get(name: string): string {
    const value = this.tryGet(name);
    if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`);
    return value;
  }

  /** Also with a parameter that came elsewhere, which may repeat the one in the form. */
  with(name: string, value: string): Parameters {
    if (this.tryGet(name) === value) return this;
    return new Parameters(`${this.#values}&${new URLSearchParams({ [name]: value })}`, this.longest);
  }

  getAll(name: string): readonly string[] {
    const values = this.#values.getAll(name).filter((value) => value !== '');
    if (values.some((value) => value.length > this.longest))
      throw new OAuthError('invalid_request', `${name} is longer than ${this.longest} characters.`);
    return values;
  }
}

/**
 * Whether a `resource` (RFC 8707) names this service: its address or that of `/mcp`, with or without a final slash. On
 * loopback, every loopback name with any port is the same machine, so that a container's port mapping works too.
 */
export function isOwnResource(resource: string, baseUrl: BaseUrl): boolean {
  const url = URL.canParse(resource) ? new URL(resource) : undefined;
  if (url === undefined || /[?#@\s]/.test(resource)) return false;
  if (![baseUrl.path, `${baseUrl.path}/mcp`].includes(url.pathname.replace(/\/$/, ''))) return false;
  if (url.origin === baseUrl.origin) return true;
  const { protocol } = new URL(baseUrl.origin);
  return baseUrl.isLoopback && url.protocol === protocol && isLoopbackHost(url.hostname);
}
