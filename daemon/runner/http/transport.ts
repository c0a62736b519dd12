import type { Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import type { RunnerTimeouts } from '../../../protocol/messages/settings.ts';
import { type AdvisedMessage, RunnerError } from '../../base/errors.ts';
import type { Server } from '../runner.ts';
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
import { type ErrorTexts, failureOfAnswer, plainErrors, type Subject } from './answerFailure.ts';
import { failureOfConnection, HttpConnection, stoppedSending } from './connection.ts';

/** The most bytes of a whole answer: enough for ten thousand models, and for all licences of any model. */
const maxBytes = 16 * 1024 * 1024;

export interface TransportOptions {
  readonly server: Server;
  readonly timeouts: RunnerTimeouts;
  /**
   * Authorization and other headers for exactly this address. It is called for each request, and again once the server
   * has refused one: `wantsPassword` says that it asked for a user name and a password.
   */
  readonly headersFor: (url: string, wantsPassword?: boolean) => Promise<Readonly<Record<string, string>>>;
  /** Called when an answer begins, with whatever status. */
  readonly onAnswer?: () => void;
  /** Called when no connection can be opened, or none gives an answer. */
  readonly onLost?: () => void;
  /** Why the token for this address is not sent; undefined if none is withheld. */
  readonly whyWithheld?: (url: string) => AdvisedMessage | undefined;
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

export type StreamReader<T> = (body: AsyncIterable<Buffer>) => AsyncGenerator<readonly T[]>;

/**
 * HTTP to one runner. It follows no redirects and uses no proxies. Answers are bounded in size and time. An aborted
 * signal closes the socket, even before the first byte. Every failure is a `RunnerError`, except the abort itself,
 * which is thrown unchanged.
 */
export class Transport {
  constructor(
    private readonly options: TransportOptions,
    private readonly texts = plainErrors,
    private readonly connection = new HttpConnection(options),
  ) {}

  get server(): Server {
    return this.options.server;
  }

  /** Aborted by `close`, which waits for running requests. What runs for no caller ends with it. */
  get closing(): AbortSignal {
    return this.connection.closing;
  }

  /** The same connections for a wire with other error texts. */
  speaking(texts: ErrorTexts): Transport {
    return new Transport(this.options, texts, this.connection);
  }

  /** What a request is about, for errors. */
  subject(model?: string): Subject {
    const { server, whyWithheld, redact = (text) => text } = this.options;
    return withoutUndefined({ url: server.url, server: server.name, redact, model, whyWithheld });
  }

  /** A short answer of any status. */
  look(request: TransportRequest): Promise<Look> {
    return this.#inTime(request, async (signal) => {
      const response = await this.#begin({ ...request, signal });
      const text = await readText(response.body, request.limit ?? maxErrorBytes, false).catch((error) => {
        throw signal.aborted ? error : failureOfConnection(error, this.subject(), true);
      });
      return { status: response.statusCode, text, header: (name) => headerOf(response, name) };
    });
  }

  /** A whole answer as text. */
  text(request: TransportRequest): Promise<TextAnswer> {
    // An answer may take long to begin, but once it has begun it is short.
    if (request.wait !== undefined && request.wait !== 'list') return this.#whole(request);
    const { connect } = this.options.timeouts;
    return this.#inTime(request, (signal) => this.#whole({ ...request, signal }), connect);
  }

  /** A whole JSON answer; undefined if it is empty. */
  async json(request: TransportRequest): Promise<unknown> {
    return parseBody(await this.text(request), this.subject(request.model));
  }

  /** A stream, of which `read` makes batches; an empty one says that the runner is still sending. */
  async *stream<T>(request: TransportRequest, read: StreamReader<T>): AsyncGenerator<readonly T[]> {
    const response = await this.#send(request);
    const subject = this.subject(request.model);
    try {
      refuseHtml(headerOf(response, 'content-type')?.toLowerCase() ?? '', subject);
      const batches = read(response.body.iterator({ destroyOnReturn: false }));
      const limit = timerOf(limitsOf(request, this.options.timeouts).bodyTimeout);
      yield* inTime(batches, limit, () => response.body.destroy(stoppedSending(subject.url)));
    } catch (error) {
      throw request.signal.aborted ? error : failureOfConnection(error, subject, true);
    } finally {
      release(response.body, request.signal);
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  async #whole(request: TransportRequest): Promise<TextAnswer> {
    const response = await this.#send(request);
    const limit = request.limit ?? maxBytes;
    const text = await this.#readInTime(request, response, () => readText(response.body, limit, true));
    return { contentType: headerOf(response, 'content-type')?.toLowerCase() ?? '', text };
  }

  async #send(request: TransportRequest): Promise<Dispatcher.ResponseData> {
    const response = await this.#begin(request);
    if (response.statusCode >= 200 && response.statusCode < 300) return response;
    const failed = await this.#readInTime(request, response, () => readFailure(response));
    throw failureOfAnswer(failed, this.subject(request.model), this.texts);
  }

  async #begin(request: TransportRequest): Promise<Dispatcher.ResponseData> {
    const { server, headersFor } = this.options;
    const headers = await headersFor(server.url);
    const response = await this.#sendWith(headers, request);
    if (response.statusCode !== 401 || request.upload) return response;
    const others = await headersFor(server.url, wantsPassword(response));
    if (others['authorization'] === headers['authorization']) return response;
    release(response.body, request.signal);
    return this.#sendWith(others, request);
  }

  async #sendWith(headers: SentHeaders, request: TransportRequest): Promise<Dispatcher.ResponseData> {
    const { onAnswer, onLost } = this.options;
    const agent = await this.connection.agent();
    const response = await respond(agent, this.options, { ...request, headers }).catch((error) => {
      if (request.signal.aborted) throw error;
      onLost?.();
      throw failureOfConnection(error, this.subject(request.model), false);
    });
    onAnswer?.();
    return response;
  }

  /** A short answer has a deadline as a whole. Without it, an answer that arrives byte by byte would never end. */
  #inTime<T>(
    { model, signal }: TransportRequest,
    work: (signal: AbortSignal) => Promise<T>,
    more = 0,
  ): Promise<T> {
    const limit = timerOf(this.options.timeouts.list) + Math.min(more, maxTimeLimit);
    return withTimeLimit({ limit, reason: tooSlow(this.subject(model)), signal }, work);
  }

  /** The caller reads in time, or closes the connection. */
  #readInTime<T>(
    request: TransportRequest,
    response: Dispatcher.ResponseData,
    read: () => Promise<T>,
  ): Promise<T> {
    return this.#inTime(request, read).catch((error) => {
      response.body.destroy();
      throw request.signal.aborted ? error : failureOfConnection(error, this.subject(request.model), true);
    });
  }
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
    { details: withoutUndefined({ server, model }) },
  );
}

type SentHeaders = Awaited<ReturnType<TransportOptions['headersFor']>>;

function respond(
  agent: Agent,
  options: TransportOptions,
  request: TransportRequest & { readonly headers: SentHeaders },
): Promise<Dispatcher.ResponseData> {
  const base = new URL(options.server.url);
  return agent.request({
    origin: base.origin,
    path: base.pathname.replace(/\/$/, '') + request.path,
    method: request.method,
    headers: { accept: 'application/json', ...contentHeaders(request), ...request.headers },
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
