import type { Writable } from 'node:stream';
import type { Message, MessageWriter } from 'vscode-jsonrpc/node';
import { frameOf } from './frame.ts';
import { AbstractMessageWriter } from './languageServer.ts';
import type { Trace } from './trace.ts';

/** Changes a message before it is written and traced. */
export type Edge = (message: Message) => Message;

export interface FrameWriterOptions {
  readonly edge: Edge;
  readonly trace: Trace;
  /** The id of a request whose answer is already in the output. */
  readonly answered?: RequestId | undefined;
}

export type RequestId = string | number;

/**
 * Writes LSP frames, each in one piece: a chat sends a message for each token, and the library's own writer would wake
 * the client twice for each. Every message passes through the edge, and what is written is traced.
 */
export class FrameWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #output: Writable;
  readonly #edge: Edge;
  readonly #trace: Trace;
  #answered: RequestId | undefined;

  constructor(output: Writable, { edge, trace, answered }: FrameWriterOptions) {
    super();
    this.#output = output;
    this.#edge = edge;
    this.#trace = trace;
    this.#answered = answered;
    output.on('error', (error) => this.fireError(error));
    output.on('close', () => this.fireClose());
  }

  /** Settles when the output has taken the message. */
  async write(message: Message): Promise<void> {
    const outgoing = this.#edge(message);
    this.#trace('out', outgoing);
    if (this.#isWritten(outgoing)) this.#answered = undefined;
    else await this.#send(outgoing);
  }

  end(): void {
    this.#output.end();
  }

  #send(message: Message): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(frameOf(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  #isWritten(message: Message): boolean {
    return (
      this.#answered !== undefined &&
      'id' in message &&
      message.id === this.#answered &&
      !('method' in message)
    );
  }
}
