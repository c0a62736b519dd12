import type { Advice, Advised } from '../../protocol/messages/advice.ts';
import { withAdvice } from '../base/errors.ts';
import { plainText } from '../base/programOutput.ts';
import { cutText } from './cutText.ts';
import { LoginNeededError } from './httpTransport.ts';
import { reasonOf } from './mcpFailure.ts';
import { canHaveToken } from './oauth/accessTokens.ts';
import type { ServerTransportOptions } from './serverTransport.ts';

/** A tool server that could not do what was wanted; the message is a sentence without secrets. */
export class ToolServerError extends Error {
  override readonly name = 'ToolServerError';
  readonly needsLogin: boolean;
  readonly advice: Advice | undefined;

  constructor(
    { message, advice }: Advised,
    { needsLogin = false, cause }: { needsLogin?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.needsLogin = needsLogin;
    this.advice = advice;
  }
}

/** Of what a server says of itself. */
const maxReason = 500;

/** The errors of one server. */
export interface ServerErrors {
  /** A sentence of a clause, whose subject is the server. */
  of(
    clause: string,
    more?: { advice?: Omit<Advice, 'problem'>; needsLogin?: boolean; cause?: unknown },
  ): ToolServerError;
  /** Of what its connection throws. `how` says more of a server that has ended than what came of the call. */
  from(error: unknown, how?: string): ToolServerError;
}

export function createServerErrors({
  entry,
  redact,
}: Pick<ServerTransportOptions, 'entry' | 'redact'>): ServerErrors {
  const sentenceOf = (clause: string) => {
    const reason = cutText(plainText(redact(clause)), maxReason).replace(/\.$/, '');
    return `The tool server ${entry.name} ${reason}.`;
  };
  const of: ServerErrors['of'] = (clause, { advice, ...more } = {}) => {
    const problem = sentenceOf(clause);
    const advised = advice === undefined ? { message: problem } : withAdvice({ ...advice, problem });
    return new ToolServerError(advised, more);
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
    of,
    from(error, how) {
      if (how === undefined && error instanceof LoginNeededError) return loginNeeded(error);
      return of(how ?? reasonOf(error), { cause: error });
    },
  };
}

/** What such an error says of its server. */
export function clauseOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^The tool server \S+ /, '').replace(/\.$/, '');
}
