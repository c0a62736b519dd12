import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { expectationOf } from '../../protocol/base/expectation.ts';
import { AccessUnavailableError } from '../auth/accessDatabase.ts';
import type { BaseUrl } from '../base/baseUrl.ts';
import { RendererBusyError } from '../formats/renderer.ts';
import { UnrenderableError } from '../formats/renderJob.ts';
import { IndexIncompleteError, IndexUnavailableError, QueryError } from '../search/documentIndex.ts';
import { patternSentences } from './listFilters.ts';

/** For a 400: which parameter is wrong, and why. */
interface ProblemError {
  readonly path: string;
  readonly message: string;
}

/** The answer to a request that cannot be fulfilled. Its detail says what to do. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly ProblemError[] | undefined;

  constructor(
    readonly status: number,
    detail: string,
    more: {
      readonly headers?: Record<string, string>;
      readonly errors?: readonly ProblemError[];
      readonly cause?: unknown;
    } = {},
  ) {
    super(detail, { cause: more.cause });
    this.headers = more.headers ?? {};
    this.errors = more.errors;
  }
}

/** The document has another slug; `answerErrors` leads there on the same route. */
export class DocumentMovedError extends Error {
  override readonly name = 'DocumentMovedError';

  constructor(readonly slug: string) {
    super(`The document has the slug "${slug}".`);
  }
}

/** Names of RFC 9110 that Node does not have yet. */
const newerTitles: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** As RFC 9457 defines it; `instance` is the requested path. */
function sendProblem(reply: FastifyReply, problem: HttpProblem): FastifyReply {
  const { status, message, headers, errors } = problem;
  const body = {
    type: 'about:blank',
    title: newerTitles[status] ?? STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    instance: reply.request.url.split('?', 1)[0]?.slice(0, 2_048) ?? '',
    errors,
  };
  return withoutAnswer(reply)
    .code(status)
    .headers({ 'cache-control': 'no-store', ...headers })
    .type('application/problem+json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(body);
}

/** Removes the headers that were meant for the answer that could not be given. */
export function withoutAnswer(reply: FastifyReply): FastifyReply {
  for (const name of ['etag', 'content-disposition', 'accept-ranges']) reply.removeHeader(name);
  return reply;
}

/** In characters, without the query. */
const maxPathLength = 2_048;

const typeSentences = ['must be given once', 'must be one whole number'];

/** Every error becomes a problem, and none reveals more than its sentence. */
export function answerErrors(app: FastifyInstance, { path }: BaseUrl): void {
  const where = `The documents are at ${path}/api/v1/docs, and ${path}/docs describes every address.`;
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, new HttpProblem(404, `There is nothing at ${pathOf(request)}. ${where}`)),
  );
  app.addHook('onRequest', async (request) => {
    if (pathOf(request).length > maxPathLength)
      throw new HttpProblem(414, `A path has at most ${maxPathLength} characters.`);
  });
}

/** Also for requests without a route lookup, such as one with a broken address. */
export function answerError(
  error: FastifyError | HttpProblem,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  return sendProblem(reply, loggedProblemOf(error, request));
}

/** The error as the caller gets it. An internal error is logged. */
export function loggedProblemOf(error: FastifyError | HttpProblem, request: FastifyRequest): HttpProblem {
  const problem = error instanceof DocumentMovedError ? redirection(error, request) : problemOf(error);
  const isDefect = problem.status >= 500 && problem.status !== 503 && !request.raw.destroyed;
  if (isDefect) request.log.error({ err: error }, 'a defect');
  return problem;
}

/** To the same route with the right slug. */
function redirection(
  { slug, message }: DocumentMovedError,
  { routeOptions, params, url }: FastifyRequest,
): HttpProblem {
  const values: Readonly<Record<string, unknown>> = { ...(params as object), slug };
  const path = (routeOptions.url ?? '').replace(/:(\w+)|\*/g, (placeholder, name = placeholder) =>
    String(values[name]).split('/').map(encodeURIComponent).join('/'),
  );
  const query = url.indexOf('?');
  return new HttpProblem(308, message, { headers: { location: query < 0 ? path : path + url.slice(query) } });
}

export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

function problemOf(error: FastifyError | HttpProblem): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error.validation !== undefined) return validationProblem(error);
  if (error instanceof QueryError)
    return new HttpProblem(400, error.message, { errors: [{ path: 'q', message: error.message }] });
  if (error instanceof AccessUnavailableError)
    return unavailable('Tokens and sign-ins cannot be kept right now. Try again in a moment.', error);
  if (error instanceof IndexIncompleteError) return unavailable(error.message, error);
  if (error instanceof IndexUnavailableError)
    return unavailable('The index does not answer. Try again in a moment.', error);
  if (error instanceof UnrenderableError) return new HttpProblem(422, error.message, { cause: error });
  if (error instanceof RendererBusyError) return unavailable(error.message, error);
  const status = error.statusCode ?? 500;
  if (error.code === 'FST_ERR_BAD_URL')
    return new HttpProblem(400, 'The path is not valid: a "%" must be followed by two hexadecimal digits.');
  if (status >= 400 && status < 500)
    return new HttpProblem(status, error.message.replace(/(?<![.!?])$/, '.'), { cause: error });
  return new HttpProblem(500, 'The service has failed. Its log has more.', { cause: error });
}

export function noPage(): HttpProblem {
  return new HttpProblem(404, 'There is no page at this address.');
}

export function unavailable(detail: string, cause?: unknown): HttpProblem {
  return new HttpProblem(503, detail, { headers: { 'retry-after': '5' }, cause });
}

function validationProblem(error: FastifyError): HttpProblem {
  const errors: ProblemError[] = (error.validation ?? []).map(
    ({ instancePath, keyword, message, params }) => ({
      path: instancePath.replace(/^\//, '').replaceAll('/', '.') || String(params['missingProperty'] ?? ''),
      message:
        // The query has only texts and whole numbers. A text has the wrong type only if it is given more than once.
        (keyword === 'type' ? typeSentences[params['type'] === 'string' ? 0 : 1] : undefined) ??
        patternSentences[String(params['pattern'])] ??
        expectationOf({
          keyword,
          limit: Number(params['limit']),
          values: [params['allowedValues']].flat(),
        }) ??
        message ??
        'is not valid',
    }),
  );
  const listed = errors.map(({ path, message }) => `${path} ${message}`).join('; ');
  return new HttpProblem(400, `The request is not valid: ${listed}.`, { errors });
}
