import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AccessUnavailableError } from '../auth/accessDatabase.ts';
import { RendererBusy } from '../formats/renderer.ts';
import { Unrenderable } from '../formats/renderJob.ts';
import { IndexUnavailableError, QueryError } from '../search/documentIndex.ts';
import { DocumentMoved, HttpProblem, type ProblemError, sendProblem } from './problem.ts';

/** In characters, without the query. */
const longestPath = 2_048;

/** Every error becomes a problem, and none reveals more than its sentence. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, new HttpProblem(404, `There is nothing at ${pathOf(request)}. ${where}`)),
  );
  app.addHook('onRequest', async (request) => {
    if (pathOf(request).length > longestPath)
      throw new HttpProblem(414, `A path has at most ${longestPath} characters.`);
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
  const problem = error instanceof DocumentMoved ? redirection(error, request) : problemOf(error);
  const isDefect = problem.status >= 500 && problem.status !== 503 && !request.raw.destroyed;
  if (isDefect) request.log.error({ err: error }, 'a defect');
  return problem;
}

/** To the same route with the right slug. */
function redirection(
  { slug, message }: DocumentMoved,
  { routeOptions, params, url }: FastifyRequest,
): HttpProblem {
  const values: Readonly<Record<string, unknown>> = { ...(params as object), slug };
  const path = (routeOptions.url ?? '').replace(/:(\w+)|\*/g, (placeholder, name = placeholder) =>
    String(values[name]).split('/').map(encodeURIComponent).join('/'),
  );
  const query = url.indexOf('?');
  return new HttpProblem(308, message, {
    headers: { location: query < 0 ? path : path + url.slice(query) },
  });
}

const where = 'The documents are at /api/v1/docs, and /docs describes every address.';

export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

export function problemOf(error: FastifyError | HttpProblem): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error.validation !== undefined) return validationProblem(error);
  if (error instanceof QueryError)
    return new HttpProblem(400, error.message, { errors: [{ path: 'q', message: error.message }] });
  if (error instanceof AccessUnavailableError)
    return unavailable('Tokens and sign-ins cannot be kept right now. Try again in a moment.', error);
  if (error instanceof IndexUnavailableError)
    return unavailable('The index does not answer. Try again in a moment.', error);
  if (error instanceof Unrenderable) return new HttpProblem(422, error.message, { cause: error });
  if (error instanceof RendererBusy)
    return unavailable('Too much is being rendered right now. Try again in a moment.', error);
  const status = error.statusCode ?? 500;
  if (error.code === 'FST_ERR_BAD_URL')
    return new HttpProblem(400, 'The path is not valid: a "%" must be followed by two hexadecimal digits.');
  if (status >= 400 && status < 500)
    return new HttpProblem(status, sentence(error.message), { cause: error });
  return new HttpProblem(500, 'The service has failed. Its log has more.', { cause: error });
}

export function unavailable(detail: string, cause?: unknown): HttpProblem {
  return new HttpProblem(503, detail, { headers: { 'retry-after': '5' }, cause });
}

function validationProblem(error: FastifyError): HttpProblem {
  const errors: ProblemError[] = (error.validation ?? []).map(
    ({ instancePath, keyword, message, params }) => ({
      path: instancePath.replace(/^\//, '').replaceAll('/', '.') || String(params['missingProperty'] ?? ''),
      message: sentences[keyword]?.(params) ?? message ?? 'is not valid',
    }),
  );
  const listed = errors.map(({ path, message }) => `${path} ${message}`).join('; ');
  return new HttpProblem(400, `The request is not valid: ${listed}.`, { errors });
}

/** The validator's keywords as sentences for people. */
const sentences: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => string>> = {
  type: ({ type }) => (type === 'string' ? 'must be given once' : 'must be one whole number'),
  minLength: () => 'must not be empty',
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
};

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
