import type { Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { RunnerTimeouts } from '../../../protocol/messages/settings.ts';
import { type AdvisedMessage, RunnerError } from '../../base/errors.ts';
import {
  headerOf,
  maxErrorBytes,
  parseBody,
  readFailure,
  readText,
  refuseHtml,
  type TextAnswer,
  wantsPassword,
} from './answerBody.ts';
import { type ErrorTexts, failureOfAnswer, type Subject } from './answerFailure.ts';
import { createConnection, type HttpConnection } from './connection.ts';
import { failureOfConnection, stoppedSending } from './connectionFailure.ts';
import { plainErrors } from './errorBody.ts';

/** The most bytes of a whole answer: enough for ten thousand models, and for all licences of any model. */
const maxBytes = 16 * 1024 * 1024;

export interface TransportOptions {
  /** The server's name, for errors. */
  readonly server: string;
  /** Base address without a trailing slash; it may have a path prefix. */
  readonly url: string;
  readonly caFile?: string;
  readonly timeouts: RunnerTimeouts;
  /**
   * Authorization and other headers for exactly this address. It is called for each request, and again once the server
   * has refused one: `wantsPassword` says that it asked for a user name and a password.
   */
  readonly headers: (url: string, wantsPassword?: boolean) => Promise<Readonly<Record<string, string>>>;
  /** Called when an answer begins, with whatever status. */
  readonly onAnswer?: () => void;
  /** Called when no connection can be opened, or none gives an answer. */
  readonly onLost?: () => void;
  /** Why the runner does not get its token; undefined if none is withheld. */
  readonly whyWithheld?: () => AdvisedMessage | undefined;
  /** Removes secrets from what the runner says, before any of it is cut. */
  readonly redact?: (text: string) => string;
}

export interface TransportRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged instead of `body`. It is read no faster than the runner takes it. */
  readonly upload?: { readonly bytes: number; readonly stream: Readable };
  /** The model that the request is about, for errors. */
  readonly model?: string;
  readonly signal: AbortSignal;
  /**
   * The time limit that applies until the first byte; default `list`. `work` is like `firstByte`, and applies between
   * two reads as well.
   */
  readonly wait?: 'list' | 'firstByte' | 'work';
  /** The most bytes that an answer may have; default 16 MB. */
  readonly limit?: number;
}

/** Whatever an address answers. */
export interface Look {
  readonly status: number;
  /** At most 64 KB, unless the request says otherwise. */
  readonly text: string;
  header(name: string): string | undefined;
}

/** Reads the body of a stream. */
export type StreamReader<T> = (body: AsyncIterable<Buffer>) => AsyncGenerator<readonly T[]>;

/**
 * HTTP to one runner. It follows no redirects and uses no proxies. Answers are bounded in size and time. An aborted
 * signal closes the socket, even before the first byte. Every failure is a `RunnerError`, except the abort itself,
 * which is thrown unchanged.
 */
export interface Transport {
  /** A whole answer as text. */
  text(request: TransportRequest): Promise<TextAnswer>;
  /** A short answer of any status. */
  look(request: TransportRequest): Promise<Look>;
  /** A whole JSON answer; undefined if it is empty. */
  json(request: TransportRequest): Promise<unknown>;
  /** A stream, of which `read` makes batches; an empty one says that the runner is still sending. */
  stream<T>(request: TransportRequest, read: StreamReader<T>): AsyncGenerator<readonly T[]>;
  /** The same connections for a wire with other error texts. */
  speaking(texts: ErrorTexts): Transport;
  /** What a request is about, for errors. */
  subject(model?: string): Subject;
  /** Aborted by `close`, which waits for running requests. What runs for no caller ends with it. */
  readonly closing: AbortSignal;
  close(): Promise<void>;
}

export function createTransport(options: TransportOptions): Transport {
  const connection = createConnection(options);
  return speakTo(connection, options, plainErrors);
}

function speakTo(connection: HttpConnection, options: TransportOptions, texts: ErrorTexts): Transport {
  async function begin(request: TransportRequest): Promise<Dispatcher.ResponseData> {
    const headers = await options.headers(options.url);
    const response = await sendWith(headers, request);
    if (response.statusCode !== 401 || request.upload) return response;
    const others = await options.headers(options.url, wantsPassword(response));
    if (others['authorization'] === headers['authorization']) return response;
    release(response.body, request.signal);
    return sendWith(others, request);
  }

  async function sendWith(headers: SentHeaders, request: TransportRequest): Promise<Dispatcher.ResponseData> {
    const sent = { ...request, headers };
    const response = await respond(await connection.agent(), options, sent).catch((error) => {
      if (request.signal.aborted) throw error;
      options.onLost?.();
      throw failureOfConnection(error, subjectOf(options, request.model), false);
    });
    options.onAnswer?.();
    return response;
  }

  /** A short answer has a deadline as a whole. Without it, an answer that arrives byte by byte would never end. */
  function inTimeOf<T>(
    request: TransportRequest,
    work: (signal: AbortSignal) => Promise<T>,
    more = 0,
  ): Promise<T> {
    const limit = timerOf(options.timeouts.list) + Math.min(more, maxTimeLimit);
    const reason = tooSlow(subjectOf(options, request.model));
    return withTimeLimit({ limit, reason, signal: request.signal }, work);
  }

  function look(request: TransportRequest): Promise<Look> {
    return inTimeOf(request, async (signal) => {
      const response = await begin({ ...request, signal });
      const text = await readText(response.body, request.limit ?? maxErrorBytes, false).catch((error) => {
        throw signal.aborted ? error : failureOfConnection(error, subjectOf(options), true);
      });
      return { status: response.statusCode, text, header: (name) => headerOf(response, name) };
    });
  }

  /** The caller reads in time, or closes the connection. */
  async function readInTime<T>(
    request: TransportRequest,
    response: Dispatcher.ResponseData,
    read: () => Promise<T>,
  ): Promise<T> {
    return inTimeOf(request, read).catch((error) => {
      const subject = subjectOf(options, request.model);
      response.body.destroy();
      throw request.signal.aborted ? error : failureOfConnection(error, subject, true);
    });
  }

  async function send(request: TransportRequest): Promise<Dispatcher.ResponseData> {
    const response = await begin(request);
    if (response.statusCode >= 200 && response.statusCode < 300) return response;
    const failed = await readInTime(request, response, () => readFailure(response));
    throw failureOfAnswer(failed, subjectOf(options, request.model), texts);
  }

  function text(request: TransportRequest): Promise<TextAnswer> {
    // An answer may take long to begin, but once it has begun it is short.
    if (request.wait !== undefined && request.wait !== 'list') return whole(request);
    return inTimeOf(request, (signal) => whole({ ...request, signal }), options.timeouts.connect);
  }

  async function whole(request: TransportRequest): Promise<TextAnswer> {
    const response = await send(request);
    const limit = request.limit ?? maxBytes;
    const read = await readInTime(request, response, () => readText(response.body, limit, true));
    return { contentType: headerOf(response, 'content-type')?.toLowerCase() ?? '', text: read };
  }

  async function json(request: TransportRequest): Promise<unknown> {
    const answer = await text(request);
    return parseBody(answer, subjectOf(options, request.model));
  }

  async function* stream<T>(request: TransportRequest, read: StreamReader<T>): AsyncGenerator<readonly T[]> {
    const response = await send(request);
    const subject = subjectOf(options, request.model);
    try {
      refuseHtml(headerOf(response, 'content-type')?.toLowerCase() ?? '', subject);
      const batches = read(response.body.iterator({ destroyOnReturn: false }));
      const limit = timerOf(limitsOf(request, options.timeouts).bodyTimeout);
      yield* inTime(batches, limit, () => response.body.destroy(stoppedSending(subject.url)));
    } catch (error) {
      throw request.signal.aborted ? error : failureOfConnection(error, subject, true);
    } finally {
      release(response.body, request.signal);
    }
  }

  return {
    look,
    text,
    json,
    stream,
    speaking: (others) => speakTo(connection, options, others),
    subject: (model) => subjectOf(options, model),
    closing: connection.closing,
    close: () => connection.close(),
  };
}

/**
 * Calls `end` if the next batch does not come within `limit`, in ms. Undici counts bytes, so that blanks would keep an
 * answer open. The time of a caller who reads slowly does not count.
 */
async function* inTime<T>(batches: AsyncGenerator<T>, limit: number, end: () => void): AsyncGenerator<T> {
  let timer = setTimeout(end, limit);
  try {
    for await (const batch of batches) {
      clearTimeout(timer);
      yield batch;
      timer = setTimeout(end, limit);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The longest time limit, in ms. It is as good as none, and a timer can take two of them together. */
const maxTimeLimit = 2 ** 30 - 1;

/** A time limit of 0 means no limit. */
function timerOf(limit: number): number {
  return limit === 0 ? maxTimeLimit : Math.min(limit, maxTimeLimit);
}

function tooSlow({ url, server, model }: Subject): RunnerError {
  return new RunnerError(
    'timeout',
    `${url} did not finish its answer in time. Ask again, or raise the time limit.`,
    {
      details: withoutUndefined({ server, model }),
    },
  );
}

type SentHeaders = Awaited<ReturnType<TransportOptions['headers']>>;

function respond(
  agent: Agent,
  options: TransportOptions,
  request: TransportRequest & { readonly headers: SentHeaders },
): Promise<Dispatcher.ResponseData> {
  const base = new URL(options.url);
  return agent.request({
    origin: base.origin,
    path: base.pathname.replace(/\/$/, '') + request.path,
    method: request.method,
    headers: {
      accept: 'application/json',
      ...contentHeaders(request),
      ...request.headers,
    },
    body: request.upload?.stream ?? (request.body === undefined ? null : JSON.stringify(request.body)),
    signal: request.signal,
    ...limitsOf(request, options.timeouts),
  });
}

function contentHeaders({ body, upload }: TransportRequest): Readonly<Record<string, string>> {
  if (upload) return { 'content-type': 'application/octet-stream', 'content-length': String(upload.bytes) };
  return body === undefined ? {} : { 'content-type': 'application/json' };
}

function limitsOf({ wait = 'list' }: TransportRequest, { list, firstByte, idle }: RunnerTimeouts) {
  const limits = {
    list: { headersTimeout: list, bodyTimeout: list },
    firstByte: { headersTimeout: firstByte, bodyTimeout: idle },
    work: { headersTimeout: firstByte, bodyTimeout: Math.max(firstByte, idle) },
  };
  return limits[wait];
}

/**
 * At most a few bytes follow the last line. Reading them keeps the connection open for the next request. A body that
 * does not end by itself, or was aborted, is closed.
 */
function release(body: Dispatcher.ResponseData['body'], signal: AbortSignal): void {
  if (signal.aborted || body.errored) {
    body.destroy();
    return;
  }
  const timer = setTimeout(() => body.destroy(), 100);
  // Closing a body before its end makes it emit an error that nobody waits for.
  body.on('error', () => undefined);
  body.on('close', () => clearTimeout(timer)).resume();
}

function subjectOf(options: TransportOptions, model?: string): Subject {
  const { url, server, whyWithheld, redact = (text) => text } = options;
  return withoutUndefined({ url, server, redact, model, whyWithheld });
}
