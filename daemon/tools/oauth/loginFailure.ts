import { IssuerMismatchError, OAuthError } from '@modelcontextprotocol/client';
import { cutText } from '../../../protocol/base/text.ts';
import { RunnerError } from '../../base/errors.ts';
import { plainText } from '../../base/programOutput.ts';

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
