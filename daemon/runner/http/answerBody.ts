import type { Dispatcher } from 'undici';
import { isRecord, withoutUndefined } from '../../../protocol/base/json.ts';
import { advise, RunnerError } from '../../base/errors.ts';
import { excessOf, maxNesting, maxNodes } from '../../base/nesting.ts';
import type { ListedModel } from '../runner.ts';
import type { FailedAnswer, Subject } from './answerFailure.ts';

/** The most bytes that are read of an error answer: enough for any sentence. */
export const maxErrorBytes = 64 * 1024;

/** A whole answer that need not be JSON. */
export interface TextAnswer {
  /** In lower case. */
  readonly contentType: string;
  readonly text: string;
}

export async function readFailure(response: Dispatcher.ResponseData): Promise<FailedAnswer> {
  const retryAfter = headerOf(response, 'retry-after');
  const location = headerOf(response, 'location');
  return withoutUndefined({
    status: response.statusCode,
    contentType: headerOf(response, 'content-type') ?? '',
    retryAfter,
    location,
    wantsPassword: wantsPassword(response),
    body: await readText(response.body, maxErrorBytes, false),
  });
}

/** Reads at most `limit` bytes. A longer body is an error if it must be whole; otherwise it is cut. */
export async function readText(
  body: Dispatcher.ResponseData['body'],
  limit: number,
  whole: boolean,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= limit) continue;
    if (whole)
      throw new RunnerError(
        'bad-response',
        advise('The runner sent far more than this answer can need.', 'check-address'),
      );
    break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, Math.min(size, limit));
}

export function parseBody({ contentType, text }: TextAnswer, subject: Subject): unknown {
  refuseHtml(contentType, subject);
  if (text.trim() === '') return undefined;
  try {
    refuseExcess(text);
    return JSON.parse(text);
  } catch (cause) {
    if (cause instanceof RunnerError) throw cause.with({ server: subject.server });
    throw new RunnerError(
      'bad-response',
      advise(`${subject.url} answered with something that is not JSON.`, 'check-address'),
      { cause },
    );
  }
}

/** A web page that a proxy or a web server sends with status 200 is never parsed as JSON. */
export function refuseHtml(contentType: string, subject: Subject): void {
  if (!contentType.includes('text/html')) return;
  throw new RunnerError(
    'bad-response',
    advise(`${subject.url} answered with a web page instead of a runner's answer.`, 'check-proxy'),
  );
}

/** Whether the server asks for Basic authentication, alone or besides others. */
export function wantsPassword(response: Dispatcher.ResponseData): boolean {
  const challenges = [response.headers['www-authenticate'] ?? []].flat();
  return challenges.some((challenge) => /(?:^|,)\s*basic\b/i.test(challenge));
}

export function headerOf(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * A JSON value within a stream.
 * @throws {RunnerError} `bad-response`, also if it is larger or deeper than any answer needs.
 */
export function parseStreamed(line: string): unknown {
  refuseExcess(line);
  try {
    return JSON.parse(line);
  } catch (cause) {
    const html = /^\s*<(!doctype|html)/i.test(line);
    throw new RunnerError(
      'bad-response',
      html
        ? advise('The runner address returned a web page instead of an answer.', 'check-proxy')
        : 'The runner sent a line that is not JSON. Ask again; if it happens again, update the runner.',
      { cause },
    );
  }
}

/**
 * Refuses JSON that is too large or too deep to pass on, before it takes any memory.
 * @throws {RunnerError} `bad-response`.
 */
export function refuseExcess(text: string): void {
  const excess = excessOf(text);
  if (excess === undefined) return;
  const what =
    excess === 'deep'
      ? `is nested more than ${maxNesting} levels deep`
      : `has more than ${maxNodes.toLocaleString('en')} objects, lists and keys`;
  throw new RunnerError(
    'bad-response',
    advise(`The runner sent JSON that ${what}, which no answer needs.`, 'check-address'),
  );
}

/** More models than anybody has installed. Entries of a list beyond it are left out. */
const maxModels = 10_000;
/** More characters than any name has. */
const maxNameLength = 1_000;

/** The entries of a list of models, as far as they have a name. */
export function readModels<M extends ListedModel>(
  list: readonly unknown[],
  read: (entry: Readonly<Record<string, unknown>>) => M | undefined,
): { readonly models: readonly M[]; readonly leftOut: number } {
  const models = list.slice(0, maxModels).flatMap((value) => {
    const model = isRecord(value) ? read(value) : undefined;
    return model && model.name !== '' && model.name.length <= maxNameLength ? [model] : [];
  });
  return { models, leftOut: Math.max(0, list.length - maxModels) };
}
