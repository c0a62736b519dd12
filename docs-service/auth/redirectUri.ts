import type { OAuthClient } from './oauthClient.ts';

/** Whether a browser may be sent to this address, of all that a client could ask for. */
export function isRedirectAllowed(_client: OAuthClient, _redirectUri: string): boolean {
  return false;
}

/** The address as it was written where it is one that redirects may lead to; a sentence why where it is not. */
export function checkRedirectUri(_text: string): { readonly problem: string | undefined } {
  return { problem: 'not yet' };
}
