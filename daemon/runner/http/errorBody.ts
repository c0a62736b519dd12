import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { isNestedTooDeep } from '../../base/nesting.ts';
import type { ErrorTexts } from './answerFailure.ts';

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
