import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { cutText, messageOf } from '../../protocol/base/text.ts';
import type { Advice, AdviceMessage } from '../../protocol/messages/advice.ts';
import { withAdvice } from '../base/errors.ts';
import { plainText } from '../base/programOutput.ts';
import { LoginNeededError } from './httpTransport.ts';
import { unfitAnswer } from './mcpClient.ts';
import { canHaveToken } from './oauth/accessTokens.ts';
import { codeOf } from './oauth/oauthFetch.ts';
import type { ServerTransportOptions } from './serverTransport.ts';

/** A server that failed. The message is a sentence without secrets. */
export class McpServerError extends Error {
  override readonly name = 'McpServerError';
  readonly needsLogin: boolean;
  /** The server has forgotten the session, and has run nothing. */
  readonly isSessionUnknown: boolean;
  readonly advice: Advice | undefined;

  constructor(
    { message, advice }: AdviceMessage,
    { needsLogin, isSessionUnknown, cause }: ErrorOptions = {},
  ) {
    super(message, { cause });
    this.needsLogin = needsLogin ?? false;
    this.isSessionUnknown = isSessionUnknown ?? false;
    this.advice = advice;
  }
}

interface ErrorOptions {
  readonly needsLogin?: boolean;
  readonly isSessionUnknown?: boolean;
  readonly cause?: unknown;
}

/** How much of a server's own words an error quotes, in characters. */
const maxReason = 500;

export type ServerErrors = ReturnType<typeof createServerErrors>;

/** Creates the errors of one server. */
export function createServerErrors({ entry, redact }: Pick<ServerTransportOptions, 'entry' | 'redact'>) {
  type Options = ErrorOptions & { readonly advice?: Omit<Advice, 'problem'> };
  const of = (clause: string, { advice, ...options }: Options = {}) => {
    const reason = cutText(plainText(redact(clause)), maxReason).replace(/\.$/, '');
    const problem = `The tool server ${entry.name} ${reason}.`;
    const advised = advice === undefined ? { message: problem } : withAdvice({ ...advice, problem });
    return new McpServerError(advised, options);
  };
  const loginNeeded = ({ message }: LoginNeededError) => {
    if (entry.kind !== 'http' || !canHaveToken(entry.url))
      return of(
        `${message}. Its address is plain http on another machine, where no token is sent: enter its https address`,
        { needsLogin: true },
      );
    const text = `Run "runner mcp login ${entry.name}" (with its address instead of its name, if only an editor has the server), or enter a token for its address under "auth" in ~/.config/runner/config.json.`;
    return of(message, { needsLogin: true, advice: { code: 'log-in', text, server: entry.name } });
  };
  return {
    /** `clause` becomes a sentence, whose subject is the server. */
    of,
    /** From what its session throws. If the server has ended, `how` says more than the error of the call does. */
    from(error: unknown, how?: string, options?: Pick<ErrorOptions, 'isSessionUnknown'>): McpServerError {
      if (how === undefined && error instanceof LoginNeededError) return loginNeeded(error);
      return of(how ?? reasonOf(error), { ...options, cause: error });
    },
  };
}

/** The clause from which the sentence of such an error was made. */
export function clauseOf(error: unknown): string {
  return messageOf(error)
    .replace(/^The tool server \S+ /, '')
    .replace(/\.$/, '');
}

/** Why a server could not do something, as a clause. */
function reasonOf(error: unknown): string {
  if (error instanceof SdkHttpError) return httpReason(error);
  if (error instanceof ProtocolError && error.message.endsWith(unfitAnswer)) return unfitAnswer;
  if (error instanceof ProtocolError) return `answered with an error: ${error.message}`;
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return 'is gone';
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType)
    return 'asked a question during the call, which Runner cannot answer';
  if (error instanceof TypeError && error.message === 'fetch failed')
    return `cannot be reached (${codeOf(error.cause, 'no connection')})`;
  return `failed: ${messageOf(error)}`;
}

function httpReason({ status, message }: SdkHttpError): string {
  if (status === 401)
    return 'refused the token that Runner sent (401). Enter another one in its entry, or under "auth" in ~/.config/runner/config.json';
  if (status === 403) return 'does not allow this with the token or login that Runner sent (403)';
  return `answered with status ${status}: ${message.replace(/^Error POSTing to endpoint: /, '')}`;
}
