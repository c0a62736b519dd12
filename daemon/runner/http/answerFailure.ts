import { isRecord, tryJson, withoutUndefined } from '../../../protocol/base/json.ts';
import {
  type AdvisedMessage,
  advise,
  adviseOnWindow,
  type ErrorDetails,
  RunnerError,
  sayAfter,
} from '../../base/errors.ts';
import { isNestedTooDeep } from '../../base/nesting.ts';

/** What is known about an answer that is a failure. */
export interface FailedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter?: string;
  readonly location?: string;
  /** It asks for a user name and a password. */
  readonly wantsPassword?: boolean;
  /** The beginning of the body; the transport bounds its length. */
  readonly body: string;
}

/** What the body of a failed answer says. */
export interface ErrorBody {
  /** The runner's own sentence, without secrets. */
  readonly error: string;
  readonly signinUrl?: string;
  /** The failure, if it is known by what was said, whatever the status. */
  readonly failure?: RunnerError;
}

/** How the servers of one wire say what failed. */
export interface ErrorTexts {
  /** Undefined if the body has not the form of the wire. */
  read(body: string, subject: Subject): ErrorBody | undefined;
}

/** The error for an answer with a status other than 2xx, by the table of docs/PROTOCOL.md. */
export function failureOfAnswer(answer: FailedAnswer, subject: Subject, texts: ErrorTexts): RunnerError {
  const said = texts.read(answer.body, subject);
  const known = answer.status >= 400 ? said?.failure : undefined;
  return (known ?? failureOfStatus(answer, said, subject)).with(detailsOf(subject)).ofStatus(answer.status);
}

function failureOfStatus(answer: FailedAnswer, said: ErrorBody | undefined, subject: Subject): RunnerError {
  const { status } = answer;
  if (status >= 300 && status < 400) return redirected(answer, subject);
  if (status === 401 || status === 403) return unauthorized(answer, said, subject);
  if (status === 503 || status === 429) return busy(answer, said);
  if (isHtml(answer)) return notARunner(subject, 'a web page', said);
  if (status === 404 && said && /model/i.test(said.error)) return modelNotFound(subject, said.error);
  if ([404, 405, 501].includes(status) && (!said || subject.model === undefined)) return noRoute(subject);
  if (status >= 500)
    return said ? runnerFailed(said.error) : notARunner(subject, `status ${status} without a reason`, said);
  return new RunnerError(
    'invalid-request',
    `The runner refused the request: ${sentenceWithoutEnd(said?.error ?? `status ${status}`)}.`,
  );
}

export function notSupported(capability: string, { model = 'The model' }: Subject): RunnerError {
  return new RunnerError(
    'not-supported',
    `${model} does not support ${capability}. Choose a model that does.`,
    { details: { capability } },
  );
}

/** How long a prompt is and the window that there is, in tokens. */
export interface PromptFigures {
  readonly needed?: number;
  readonly allocated?: number;
}

/** The prompt does not fit. Some engines name the figures. */
export function contextExceeded(figures: PromptFigures): RunnerError {
  const problem = 'The prompt is longer than the context window that the runner has allocated.';
  return new RunnerError('context-exceeded', adviseOnWindow(problem, 'shorten-prompt'), { details: figures });
}

/** The figures in `request (26012 tokens) exceeds the available context size (4096 tokens)`. */
export function figuresInParentheses(text: string): PromptFigures | undefined {
  const [, needed, allocated] = /\((\d+) tokens?\).*?\((\d+) tokens?\)/s.exec(text) ?? [];
  return needed && allocated ? { needed: Number(needed), allocated: Number(allocated) } : undefined;
}

function redirected(answer: FailedAnswer, subject: Subject): RunnerError {
  const target = originOf(answer.location, subject.url);
  return new RunnerError(
    'bad-response',
    advise(
      `${subject.url} answered with a redirect${target ? ` to ${target}` : ''}, which is not followed.`,
      'set-address',
    ),
  );
}

function originOf(location: string | undefined, base: string): string | undefined {
  if (location === undefined || !URL.canParse(location, base)) return undefined;
  return new URL(location, base).origin;
}

function unauthorized(
  { wantsPassword }: FailedAnswer,
  said: ErrorBody | undefined,
  subject: Subject,
): RunnerError {
  const reason = said && !/^unauthorized$/i.test(said.error) ? `: ${sentenceWithoutEnd(said.error)}` : '';
  const problem = `${subject.url} does not let this request in${reason}.`;
  if (said?.signinUrl)
    return new RunnerError('unauthorized', `${problem} Sign in at ${said.signinUrl} and ask again.`, {
      details: { signinUrl: said.signinUrl },
    });
  if (said && /subscription|upgrade your plan/i.test(said.error))
    return new RunnerError(
      'unauthorized',
      `${problem} Choose another model, or change what the account pays for.`,
    );
  const withheld = subject.whyWithheld?.(subject.url);
  return new RunnerError(
    'unauthorized',
    withheld ? sayAfter(problem, withheld) : advise(problem, wantsPassword ? 'set-password' : 'set-token'),
  );
}

function busy(answer: FailedAnswer, said: ErrorBody | undefined): RunnerError {
  const seconds = Number(answer.retryAfter);
  const retryAfter =
    answer.retryAfter !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
  const isSpent =
    said !== undefined && /(?:hourly|daily|weekly|monthly|usage) (?:usage )?limit|quota/i.test(said.error);
  const soon = isSpent ? 'Try again when it is renewed, or choose another model.' : 'Try again in a moment.';
  const wait = retryAfter === undefined ? soon : `Try again in ${retryAfter} seconds.`;
  const reason = said ? `: ${sentenceWithoutEnd(said.error)}` : '';
  return new RunnerError('busy', `The runner is busy${reason}. ${wait}`, {
    details: retryAfter === undefined ? {} : { retryAfter },
  });
}

function notARunner(subject: Subject, what: string, said: ErrorBody | undefined): RunnerError {
  return new RunnerError(
    'bad-response',
    advise(
      `${subject.url} answered with ${what} instead of a runner's answer${said ? ` (${said.error})` : ''}.`,
      'check-proxy',
    ),
  );
}

export function modelNotFound(subject: Subject, text: string): RunnerError {
  if (subject.model === undefined)
    return new RunnerError('model-not-found', `The runner does not know the model: ${text}.`);
  return new RunnerError(
    'model-not-found',
    `The model ${subject.model} is not installed on ${subject.url}. Pull it, or choose one of the installed models.`,
  );
}

export function noRoute(subject: Subject): RunnerError {
  return new RunnerError(
    'not-supported',
    `${subject.url} does not know this request. Check that the address is a runner's, and update the runner if it is old.`,
  );
}

/** A server's sentence on one line, without its full stop, as a part of ours. */
export function sentenceWithoutEnd(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replace(/\.+$/, '');
}

export function runnerFailed(text: string): RunnerError {
  const reason = sentenceWithoutEnd(text.replace(/<[^<>]*>/g, ' '));
  return new RunnerError('runner-failed', `The runner failed: ${reason}. ${remedyFor(text)}`, {
    details: isOutOfMemory(text) ? { outOfMemory: true } : {},
  });
}

function isOutOfMemory(text: string): boolean {
  return /resource limitations|out of memory|unable to allocate|requires more system memory/i.test(text);
}

function remedyFor(text: string): string {
  if (isOutOfMemory(text)) {
    return 'Stop other models or choose a smaller one, and ask again.';
  }
  if (/^option "|^invalid format/.test(text)) return 'Correct it and ask again.';
  if (/not in GGUF format|unknown type|unsupported (architecture|model)/i.test(text)) {
    return 'Check the file or the folder that FROM names.';
  }
  return 'Ask again; if it happens again, look at the runner log.';
}

function isHtml(answer: FailedAnswer): boolean {
  return answer.contentType.toLowerCase().includes('text/html') || /^\s*<(!doctype|html)/i.test(answer.body);
}

/** What a request was about. */
export interface Subject {
  /** The runner's base address, for the error message. */
  readonly url: string;
  readonly server: string;
  readonly model?: string;
  /**
   * Removes secrets from what the runner said. It is applied before the text is cut, because half a secret is not
   * recognised.
   */
  readonly redact: (text: string) => string;
  /** Why the runner does not get its token; undefined if none is withheld. */
  readonly whyWithheld?: (url: string) => AdvisedMessage | undefined;
}

/** The details that an error carries about its subject. */
export function detailsOf({ server, model }: Subject): ErrorDetails {
  return withoutUndefined({ server, model });
}

/** The most characters that are kept of a server's own sentence. */
const maxErrorText = 2_000;

/** The body of a failed answer; undefined if it is no JSON, or is nested too deep. */
export function errorJson(body: string): unknown {
  return isNestedTooDeep(body) ? undefined : tryJson(body);
}

/**
 * The sentence of an error, without secrets, wherever it stands: servers say it as `error`, `error.message`, `message`
 * or `detail`, and some put the JSON of an inner error into the text of the outer one.
 */
export function sentenceOf(value: unknown, redact: (text: string) => string): string | undefined {
  const sentence = sentenceIn(value);
  // Half a secret would not be recognised, so the text is cut afterwards.
  return sentence === undefined ? undefined : redact(sentence).slice(0, maxErrorText);
}

function sentenceIn(value: unknown): string | undefined {
  if (typeof value === 'string') {
    const inner = value.startsWith('{') ? errorJson(value) : undefined;
    return isRecord(inner) ? (sentenceIn(inner) ?? value) : value;
  }
  if (!isRecord(value)) return undefined;
  const { error, message, detail } = value;
  if (error !== undefined && error !== null) return sentenceIn(error) ?? JSON.stringify(error);
  if (Array.isArray(detail)) return detail.flatMap(sentenceOfField).join('; ') || undefined;
  return [message, detail].find((text) => typeof text === 'string');
}

/** What FastAPI says about a field, such as `body.model: Field required`. */
function sentenceOfField(problem: unknown): readonly string[] {
  if (!isRecord(problem) || typeof problem['msg'] !== 'string') return [];
  const { loc, msg } = problem;
  return [Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg];
}

/** Of a server whose wire is not known, the sentence is kept, but it says nothing about the kind of the failure. */
export const plainErrors: ErrorTexts = {
  read(body, { redact }) {
    const error = sentenceOf(errorJson(body), redact);
    return error === undefined ? undefined : { error };
  },
};
