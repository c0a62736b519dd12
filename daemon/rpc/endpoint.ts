import type { CancellationToken, Connection } from 'vscode-languageserver/node';
import { linkedSignal } from '../../protocol/base/abort.ts';
import { messageOf } from '../../protocol/base/text.ts';
import type { NotificationMessage, RequestMessage } from '../../protocol/messages/messageTypes.ts';
import { RunnerError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { type Schema, validate } from '../base/validate.ts';
import { CancellationTokenSource, ResponseError } from './languageServer.ts';
import { type FailedRequest, toWireError } from './wireError.ts';

export interface EndpointOptions {
  readonly connection: Connection;
  readonly log: Log;
  /** Aborted when the client is gone. */
  readonly closed: AbortSignal;
  /** Called for each request that failed because of a runner. */
  readonly onFailure: (error: RunnerError) => void;
}

/**
 * The `runner/` namespace over one connection, in both directions: what comes in is checked, what goes out is typed.
 */
export class Endpoint {
  readonly #options: EndpointOptions;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  onRequest<P, R>(
    { method }: RequestMessage<P, R>,
    schema: Schema<NoInfer<P>>,
    answer: (params: P, signal: AbortSignal) => Promise<R>,
  ): void {
    const { connection, log, closed, onFailure } = this.#options;
    // The only place where tokens of the wire become signals. The library spreads an array of parameters. Ours are
    // always one object, so several are a mistake.
    connection.onRequest(method, async (...received: unknown[]) => {
      const token = received.at(-1) as CancellationToken;
      const params = received.length === 2 ? received[0] : received.slice(0, -1);
      const asked = linkedSignal(closed);
      const subscription = token.onCancellationRequested(() => asked.abort());
      if (token.isCancellationRequested) asked.abort();
      try {
        return await answer(validate(schema, params), asked.signal);
      } catch (error) {
        if (error instanceof RunnerError) onFailure(error);
        return toResponseError(error, { cancelled: token.isCancellationRequested, method, log });
      } finally {
        subscription.dispose();
        asked.unlink();
      }
    });
  }

  onNotification<P>(
    { method }: NotificationMessage<P>,
    schema: Schema<NoInfer<P>>,
    take: (params: P) => void,
  ): void {
    this.#options.connection.onNotification(method, (params: unknown) => {
      try {
        take(validate(schema, params));
      } catch (error) {
        this.#options.log.warn(`${method} was left out: ${messageOf(error)}`);
      }
    });
  }

  /**
   * Asks the client. An aborted signal cancels the request there; if it is aborted already, nothing is sent.
   * @throws {Error} if it answers with an error, or with something that does not match the schema.
   */
  async request<P, R>(
    { method }: RequestMessage<P, R>,
    schema: Schema<NoInfer<R>>,
    { params, signal }: { readonly params: P; readonly signal: AbortSignal },
  ): Promise<R> {
    signal.throwIfAborted();
    const source = new CancellationTokenSource();
    const cancel = () => source.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return validate(schema, await this.#options.connection.sendRequest(method, params, source.token));
    } finally {
      signal.removeEventListener('abort', cancel);
      source.dispose();
    }
  }

  /**
   * Settles when the message is written, which is the back-pressure; rejects when the client is gone. A closed
   * connection throws at once: the `async` makes that a rejection like any other.
   */
  async notify<P>({ method }: NotificationMessage<P>, params: P): Promise<void> {
    return this.#options.connection.sendNotification(method, params);
  }
}

/** An error of the daemon for the language server library. */
export function toResponseError(error: unknown, request: FailedRequest): ResponseError<unknown> {
  if (error instanceof ResponseError) return error;
  const { code, message, data } = toWireError(error, request);
  return new ResponseError(code, message, data);
}
