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
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: OAuthErrorCode, message: string, status = 400, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}
