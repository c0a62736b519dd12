import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { McpProtocol } from './mcpProtocol.ts';

/** In bytes of a message: clients send short ones. */
const maxMessageLength = 1_000_000;
const usualAnswerTime = 10_000;

/**
 * One message a line. The SDK's own transport drops unanswered requests when the input ends; here a script may write
 * its requests and close.
 */
export function createStdioConnection(options: {
  readonly protocol: McpProtocol;
  readonly input: Readable;
  readonly output: Writable;
  /** Milliseconds for answers after the end of the input. */
  readonly answerTime?: number;
}) {
  const { protocol, input, output, answerTime = usualAnswerTime } = options;
  const lines = new PassThrough();
  const inner = new protocol.StdioServerTransport(lines, output, { maxBufferSize: maxMessageLength });
  const unanswered = new OpenRequests();
  const closing = new AbortController();
  const transport: Transport = {
    start: () => inner.start(),
    close: () => inner.close(),
    async send(message) {
      await inner.send(message);
      unanswered.sent(message);
    },
  };
  inner.onmessage = (message) => {
    unanswered.received(message);
    transport.onmessage?.(message);
  };
  inner.onerror = (error) => transport.onerror?.(error);
  inner.onclose = () => {
    closing.abort();
    transport.onclose?.();
  };
  input.on('data', (chunk) => lines.write(chunk));
  const answered = () => unanswered.none(answerTime);
  // `ended` resolves when the input has ended and all its requests are answered, or when the transport is closed.
  return { transport, ended: whenEnded(input, answered, closing.signal) };
}

async function whenEnded(input: Readable, answered: () => Promise<void>, closed: AbortSignal): Promise<void> {
  const isClosed = once(closed, 'abort');
  // A broken pipe is also an end.
  const isEnded = Promise.race([once(input, 'end'), once(input, 'close')]).catch(() => undefined);
  await Promise.race([isClosed, isEnded]);
  // The last input is read in the next turn.
  await turn();
  await Promise.race([isClosed, answered()]);
}

/** The client's requests that wait for an answer. */
class OpenRequests {
  readonly #ids = new Set<unknown>();
  #onNone: (() => void) | undefined;

  received(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.#ids.add(message.id);
    // Nobody waits any more.
    if (message.method === 'notifications/cancelled') this.#settle(message.params?.['requestId']);
  }

  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) this.#settle(message.id);
  }

  /** Resolves when nothing waits, or after `answerTime` milliseconds. */
  none(answerTime: number): Promise<void> {
    if (this.#ids.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, answerTime);
      this.#onNone = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #settle(id: unknown): void {
    this.#ids.delete(id);
    if (this.#ids.size === 0) this.#onNone?.();
  }
}
