import type { Writable } from 'node:stream';
import type { Message } from 'vscode-jsonrpc/node';
import { StreamMessageWriter } from './languageServer.ts';
import type { Trace } from './trace.ts';

/** Changes a message before it is written and traced. */
export type Edge = (message: Message) => Message;

export interface TracedWriterOptions {
  readonly edge: Edge;
  readonly trace: Trace;
  /** The id of a request whose answer is already in the output. */
  readonly answered?: RequestId | undefined;
}

export type RequestId = string | number;

/** A writer that passes everything through the edge, and traces what it writes. */
export class TracedWriter extends StreamMessageWriter {
  readonly #edge: Edge;
  readonly #trace: Trace;
  #answered: RequestId | undefined;

  constructor(output: Writable, { edge, trace, answered }: TracedWriterOptions) {
    super(output);
    this.#edge = edge;
    this.#trace = trace;
    this.#answered = answered;
  }

  override async write(message: Message): Promise<void> {
    const outgoing = this.#edge(message);
    this.#trace('out', outgoing);
    if (this.#isWritten(outgoing)) this.#answered = undefined;
    else await super.write(outgoing);
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
