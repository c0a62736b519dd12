import { IssuerMismatchError, OAuthError } from '@modelcontextprotocol/client';
import { cutText } from '../../../protocol/base/text.ts';
import { RunnerError } from '../../base/errors.ts';
import { plainText } from '../../base/programOutput.ts';

/** Of what an authorization server says in its own words. */
const maxSaid = 300;

/** What went wrong in a login, as a sentence. Nothing of a token is in it: what came in is quoted only where it is an error. */
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
  return new RunnerError('bad-response', `${origin} sent an answer that is not a login.`, {
    cause: error,
  });
}

/** `code` and `description` are as RFC 6749 has them (4.1.2.1, 5.2), from outside. */
export function refusedLogin(origin: string, code: string, description?: string): RunnerError {
  const said = [code, description].flatMap((text) => (text ? [cutText(plainText(text), maxSaid)] : []));
  return new RunnerError('unauthorized', `${origin} refused the login: ${[...new Set(said)].join(': ')}.`);
}

/** Of an error of the system, such as ENOSPC. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'an unknown error';
}
