/** Error codes of RFC 6749, 7009, 7591 and 8707. */
export type OAuthErrorCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

/** An error for a client. Its message is the `error_description`: ASCII without quotes, as RFC 6749 requires. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';

  constructor(
    readonly code: OAuthErrorCode,
    message: string,
    readonly status = 400,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/**
 * Why something could not be fetched from another server. The message is a sentence for a page; it reveals nothing
 * about the network that this machine is in.
 */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError';

  constructor(
    readonly kind: 'refused' | 'unreachable' | 'invalid' | 'busy',
    message: string,
  ) {
    super(message);
  }
}

/** Nothing is fetched from such an address; no request was made. */
export const refused = (message: string) => new GuardedFetchError('refused', message);

/** The server does not answer, or not in time. */
export const unreachable = (message: string) => new GuardedFetchError('unreachable', message);

/** The answer is not what was asked for. */
export const invalid = (message: string) => new GuardedFetchError('invalid', message);

/** Too many fetches are in progress. It may work later. */
export const busy = (message: string) => new GuardedFetchError('busy', message);
