import { advise, RunnerError } from '../../base/errors.ts';
import { detailsOf, type Subject } from './answerFailure.ts';

const tlsCodes =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_|CERT_|ERR_TLS|ERR_SSL|EPROTO|HOSTNAME_MISMATCH)/;

/** The error for a request whose connection failed. `answered` is true if the runner's status had already arrived. */
export function failureOfConnection(cause: unknown, subject: Subject, answered: boolean): RunnerError {
  return (cause instanceof RunnerError ? cause : explain(cause, subject, answered)).with(detailsOf(subject));
}

function explain(cause: unknown, { url }: Subject, answered: boolean): RunnerError {
  const code = codeOf(cause);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new RunnerError('timeout', advise(`Could not connect to ${url} in time.`, 'start-runner'), {
      cause,
    });
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT') {
    return new RunnerError(
      'timeout',
      `${url} took too long to begin its answer. Ask again, or raise the time limit.`,
      { cause },
    );
  }
  if (code === 'UND_ERR_BODY_TIMEOUT') return stoppedSending(url, cause);
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') {
    return new RunnerError(
      'invalid-request',
      'A file changed while it was being sent. Try again when nothing writes to it any more.',
      {
        cause,
      },
    );
  }
  if (answered) {
    return new RunnerError(
      'bad-response',
      `The connection to ${url} was lost in the middle of an answer. Ask again.`,
      { cause },
    );
  }
  if (code.startsWith('HPE_') || code === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new RunnerError(
      'bad-response',
      advise(`What answers at ${url} does not speak HTTP.`, 'check-address'),
      { cause },
    );
  }
  if (tlsCodes.test(code)) {
    return new RunnerError(
      'server-unreachable',
      advise(`The certificate of ${url} is not trusted (${code}).`, 'name-ca-file'),
      { cause },
    );
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new RunnerError(
      'server-unreachable',
      advise(`The host of ${url} was not found.`, 'check-address'),
      { cause },
    );
  }
  return new RunnerError('server-unreachable', advise(`No runner answers at ${url}.`, 'start-runner'), {
    cause,
  });
}

export function stoppedSending(url: string, cause?: unknown): RunnerError {
  return new RunnerError('timeout', `${url} stopped sending in the middle of an answer. Ask again.`, {
    cause,
  });
}

/** Undici wraps errors. If it tried several addresses, the first reason is as good as any. */
function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  if (cause.name === 'HTTPParserError') return cause.name;
  if (cause instanceof AggregateError) return codeOf(cause.errors[0]);
  return codeOf(cause.cause);
}
