import type { FastifyReply } from 'fastify';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';

/** RFC 9457. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The requested path. */
  readonly instance: string;
  /** For a 400: which parameter is wrong, and why. */
  readonly errors?: readonly ProblemError[];
}

export interface ProblemError {
  readonly path: string;
  readonly message: string;
}

/** The answer to a request that cannot be fulfilled. Its detail tells the caller what to do. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly ProblemError[] | undefined;

  constructor(
    status: number,
    detail: string,
    more: {
      readonly headers?: Record<string, string>;
      readonly errors?: readonly ProblemError[];
      readonly cause?: unknown;
    } = {},
  ) {
    super(detail, { cause: more.cause });
    this.status = status;
    this.headers = more.headers ?? {};
    this.errors = more.errors;
  }
}

/** The document has another slug; `answerErrors` leads there on the same route. */
export class DocumentMoved extends Error {
  override readonly name = 'DocumentMoved';
  readonly slug: string;

  constructor(slug: string) {
    super(`The document has the slug "${slug}".`);
    this.slug = slug;
  }
}

const titles: Readonly<Record<number, string>> = {
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

export function sendProblem(reply: FastifyReply, problem: HttpProblem): FastifyReply {
  const { status, message, headers, errors } = problem;
  const body: Problem = withoutUndefined({
    type: 'about:blank',
    title: titles[status] ?? 'Error',
    status,
    detail: message,
    instance: reply.request.url.split('?', 1)[0]?.slice(0, 2_048) ?? '',
    errors,
  });
  // These headers were meant for the answer that could not be given.
  for (const name of ['etag', 'content-disposition', 'accept-ranges']) reply.removeHeader(name);
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', ...headers })
    .type('application/problem+json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(body);
}
