import type { BaseUrl } from '../base/baseUrl.ts';
import { OAuthError } from './oauthError.ts';
import { isOwnResource } from './ownResource.ts';
import type { Parameters } from './parameters.ts';
import { isScope, type Scope } from './scope.ts';

/** What a client asks of the owner, after its redirect address was checked. */
export interface AuthorizationRequest {
  /** Sent back with the answer, if the client sent one. */
  readonly state: string | undefined;
  /** The S256 challenge of PKCE. */
  readonly challenge: string;
  /** Empty if the client only wants to know who the owner is. */
  readonly scopes: readonly Scope[];
}

/** Throws OAuthError, which is sent to the client's redirect address. */
export function parseAuthorizationRequest(parameters: Parameters, baseUrl: BaseUrl): AuthorizationRequest {
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
  // IndieAuth requires it (5.2). The agents that name the resource may rely on PKCE alone (OAuth 2.1, 4.1.1).
  if (state === undefined && resources.length === 0)
    throw new OAuthError('invalid_request', 'state is missing.');
  return { state, challenge, scopes: parseScopes(parameters.tryGet('scope'), resources.length > 0) };
}

/** Throws OAuthError `invalid_target`. */
export function checkResources(resources: readonly string[], baseUrl: BaseUrl): void {
  if (resources.every((resource) => isOwnResource(resource, baseUrl))) return;
  throw new OAuthError('invalid_target', `The resource of this server is ${baseUrl.origin}/mcp.`);
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
