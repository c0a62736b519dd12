import type { Agent } from 'undici';
import type { ErrorKind } from '../../../protocol/messages/errors.ts';
import type { RunnerTimeouts } from '../../../protocol/messages/settings.ts';
import { type AdvisedMessage, advise, RunnerError } from '../../base/errors.ts';
import { readRegularFile } from '../../base/regularFile.ts';
import type { Server } from '../runner.ts';
import { detailsOf, type Subject } from './answerFailure.ts';

/** The connections to one runner, which are opened on first use. */
export class HttpConnection {
  readonly #server: Server;
  readonly #timeouts: RunnerTimeouts;
  readonly #closing = new AbortController();
  #agent: Promise<Agent> | undefined;

  constructor({ server, timeouts }: { readonly server: Server; readonly timeouts: RunnerTimeouts }) {
    this.#server = server;
    this.#timeouts = timeouts;
  }

  /** Aborted when the connections are to close, which then waits for what still runs. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  agent(): Promise<Agent> {
    this.#agent ??= openAgent(this.#server, this.#timeouts);
    this.#agent.catch(() => {
      this.#agent = undefined;
    });
    return this.#agent;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const opened = await this.#agent?.catch(() => undefined);
    await opened?.close();
  }
}

/** Undici takes longer to load than everything else together, so it is loaded on first use. */
async function openAgent({ caFile }: Server, timeouts: RunnerTimeouts): Promise<Agent> {
  const { HttpAgent, buildConnector, withoutContinue } = await import('./httpAgent.ts');
  const ca = caFile === undefined ? undefined : await readCertificates(caFile);
  const connect = buildConnector({ timeout: timeouts.connect, ...(ca && { ca }) });
  return new HttpAgent({
    connect: (to, done) =>
      connect(to, (...[error, socket]) => (error ? done(error, null) : done(null, withoutContinue(socket)))),
    bodyTimeout: timeouts.idle,
    maxHeaderSize: 64 * 1024,
  });
}

/** The certificates of a whole system take a quarter of this. */
const maxCertificateBytes = 1024 * 1024;

/** The named certificates are trusted in addition to those that the system trusts. */
async function readCertificates(caFile: string): Promise<string[]> {
  const { rootCertificates } = await import('node:tls');
  try {
    return [...rootCertificates, await readRegularFile(caFile, maxCertificateBytes)];
  } catch (cause) {
    throw new RunnerError(
      'server-unreachable',
      `The CA file ${caFile} cannot be read. Check that it is a file, its path and its mode.`,
      { cause },
    );
  }
}

/** The error for a request whose connection failed. `answered` is true if the runner's status had already arrived. */
export function failureOfConnection(cause: unknown, subject: Subject, answered: boolean): RunnerError {
  return (cause instanceof RunnerError ? cause : explain(cause, subject, answered)).with(detailsOf(subject));
}

/** What a code means: the kind of the error, and its sentence. */
type Explanation = readonly [
  codes: RegExp,
  kind: ErrorKind,
  say: (url: string, code: string) => string | AdvisedMessage,
];

const whenever: readonly Explanation[] = [
  [
    /^UND_ERR_CONNECT_TIMEOUT$/,
    'timeout',
    (url) => advise(`Could not connect to ${url} in time.`, 'start-runner'),
  ],
  [
    /^UND_ERR_HEADERS_TIMEOUT$/,
    'timeout',
    (url) => `${url} took too long to begin its answer. Ask again, or raise the time limit.`,
  ],
  [/^UND_ERR_BODY_TIMEOUT$/, 'timeout', sentenceOfStop],
  [
    /^UND_ERR_REQ_CONTENT_LENGTH_MISMATCH$/,
    'invalid-request',
    () => 'A file changed while it was being sent. Try again when nothing writes to it any more.',
  ],
];

const inAnswer: Explanation = [
  /^/,
  'bad-response',
  (url) => `The connection to ${url} was lost in the middle of an answer. Ask again.`,
];

const beforeAnswer: readonly Explanation[] = [
  [
    /^HPE_|^HTTPParserError$|^UND_ERR_HEADERS_OVERFLOW$/,
    'bad-response',
    (url) => advise(`What answers at ${url} does not speak HTTP.`, 'check-address'),
  ],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_|CERT_|ERR_TLS|ERR_SSL|EPROTO|HOSTNAME_MISMATCH)/,
    'server-unreachable',
    (url, code) => advise(`The certificate of ${url} is not trusted (${code}).`, 'name-ca-file'),
  ],
  [
    /^(ENOTFOUND|EAI_AGAIN)$/,
    'server-unreachable',
    (url) => advise(`The host of ${url} was not found.`, 'check-address'),
  ],
];

const silent: Explanation = [
  /^/,
  'server-unreachable',
  (url) => advise(`No runner answers at ${url}.`, 'start-runner'),
];

function explain(cause: unknown, { url }: Subject, answered: boolean): RunnerError {
  const code = codeOf(cause);
  const explanations = [...whenever, ...(answered ? [inAnswer] : beforeAnswer)];
  const [, kind, say] = explanations.find(([codes]) => codes.test(code)) ?? silent;
  return new RunnerError(kind, say(url, code), { cause });
}

export function stoppedSending(url: string): RunnerError {
  return new RunnerError('timeout', sentenceOfStop(url));
}

function sentenceOfStop(url: string): string {
  return `${url} stopped sending in the middle of an answer. Ask again.`;
}

/** Undici wraps errors. If it tried several addresses, the first reason is as good as any. */
function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  if (cause.name === 'HTTPParserError') return cause.name;
  if (cause instanceof AggregateError) return codeOf(cause.errors[0]);
  return codeOf(cause.cause);
}
