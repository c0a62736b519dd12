import type { Readable, Writable } from 'node:stream';
import type { DataCallback, Disposable } from 'vscode-jsonrpc';
import type { Message, MessageWriter } from 'vscode-jsonrpc/node';
import {
  contentLengthOf,
  type FrameProblem,
  frameOf,
  headerEnd,
  maxHeaderBytes,
  parseIncoming,
} from './frame.ts';
import { AbstractMessageReader, AbstractMessageWriter } from './languageServer.ts';
import type { Trace } from './trace.ts';

/** A larger message is refused. Images fit, and a runaway client cannot fill the memory. */
const maxMessageBytes = 256 * 1024 * 1024;

/**
 * Reads LSP frames (`Content-Length: N`, a blank line, N bytes of JSON) and survives anything else. A broken header or
 * message is reported to `onProblem`, and reading goes on at the next header, even if the callback throws. It takes
 * linear time.
 */
export class FrameReader extends AbstractMessageReader {
  readonly #input: Readable;
  readonly #onProblem: (problem: FrameProblem) => void;
  readonly #trace: Trace;
  #chunks: Buffer[] = [];
  #size = 0;
  /** The length in bytes of the message that is being read, once its header is known. */
  #wanted: number | undefined;
  /** Bytes of a refused message that are still to come. */
  #skip = 0;
  #callback: DataCallback = () => undefined;

  constructor(input: Readable, onProblem: (problem: FrameProblem) => void, trace: Trace = () => undefined) {
    super();
    this.#input = input;
    this.#onProblem = onProblem;
    this.#trace = trace;
  }

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    const onData = (chunk: Buffer) => this.#take(chunk);
    this.#input.on('data', onData);
    this.#input.on('error', (error) => this.fireError(error));
    this.#input.on('close', () => this.fireClose());
    return { dispose: () => this.#input.off('data', onData) };
  }

  #take(chunk: Buffer): void {
    const skipped = Math.min(this.#skip, chunk.length);
    this.#skip -= skipped;
    if (skipped === chunk.length) return;
    this.#chunks.push(chunk.subarray(skipped));
    this.#size += chunk.length - skipped;
    while (this.#readOne());
  }

  /** Whether the bytes so far may hold another message. */
  #readOne(): boolean {
    if (this.#wanted === undefined) return this.#readHeader();
    if (this.#size < this.#wanted) return false;
    const body = this.#shift(this.#wanted);
    this.#wanted = undefined;
    this.#deliver(body);
    return true;
  }

  #readHeader(): boolean {
    const buffer = this.#joined();
    const end = buffer.indexOf(headerEnd);
    if (end === -1) {
      if (this.#size > maxHeaderBytes) this.#drop(buffer);
      return false;
    }
    const length = contentLengthOf(buffer.toString('latin1', 0, end));
    this.#shift(end + headerEnd.length);
    if (length === undefined) this.#onProblem({ code: -32700, message: noLength });
    else if (length > maxMessageBytes) this.#refuse(length);
    else this.#wanted = length;
    return true;
  }

  /** Keeps only the end, where a header may have begun. */
  #drop(buffer: Buffer): void {
    const next = buffer.lastIndexOf('Content-Length:');
    const from = next === -1 || next < buffer.length - maxHeaderBytes ? buffer.length - 16 : next;
    this.#chunks = [buffer.subarray(from)];
    this.#size = buffer.length - from;
    this.#onProblem({ code: -32700, message: noLength });
  }

  #refuse(length: number): void {
    this.#onProblem({
      code: -32600,
      message: `A message of ${length} bytes is too large. The limit is ${maxMessageBytes} bytes.`,
    });
    this.#skip = Math.max(0, length - this.#size);
    this.#shift(Math.min(length, this.#size));
  }

  #deliver(body: Buffer): void {
    const incoming = parseIncoming(body.toString('utf8'));
    if (incoming.kind === 'problem') this.#onProblem(incoming.problem);
    if (incoming.kind !== 'message') return;
    const { message } = incoming;
    try {
      this.#trace('in', message);
      this.#callback(message);
    } catch (error) {
      // Messages that follow in the same read must still be answered.
      this.fireError(error);
    }
  }

  #joined(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  #shift(bytes: number): Buffer {
    const buffer = this.#joined();
    this.#chunks = [buffer.subarray(bytes)];
    this.#size = buffer.length - bytes;
    return buffer.subarray(0, bytes);
  }
}

const noLength = 'A message has no "Content-Length" header. Send frames of the Language Server Protocol.';

/** Changes a message before it is written and traced. */
export type Edge = (message: Message) => Message;

export type RequestId = string | number;

/**
 * Writes LSP frames, each in one piece: a chat sends a message for each token, and the library's own writer would wake
 * the client twice for each. Every message passes through the edge, and what is written is traced.
 */
export class FrameWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #output: Writable;
  readonly #edge: Edge;
  readonly #trace: Trace;
  /** The id of a request whose answer is already in the output. */
  #answered: RequestId | undefined;

  constructor(
    output: Writable,
    { edge, trace, answered }: { edge: Edge; trace: Trace; answered?: RequestId | undefined },
  ) {
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
