import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';

/** Why a server could not do something, as a clause. */
export function reasonOf(error: unknown): string {
  if (error instanceof SdkHttpError) return httpReason(error);
  if (error instanceof ProtocolError) return `answered with an error: ${error.message}`;
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return 'is gone';
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType)
    return 'asked a question during the call, which Runner cannot answer';
  if (error instanceof TypeError && error.message === 'fetch failed')
    return `cannot be reached (${codeOf(error.cause)})`;
  return `failed: ${error instanceof Error ? error.message : String(error)}`;
}

function httpReason({ status, message }: SdkHttpError): string {
  if (status === 401)
    return 'refused the token that Runner sent (401). Enter another one in its entry, or under "auth" in ~/.config/runner/config.json';
  if (status === 403) return 'does not allow this with the token or login that Runner sent (403)';
  return `answered with status ${status}: ${message.replace(/^Error POSTing to endpoint: /, '')}`;
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'no connection';
}
