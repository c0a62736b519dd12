import type { Readable } from 'node:stream';
import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc';

import type { Trace } from './trace.ts';

/** A header block larger than this is none. */
const maxHeaderBytes = 8 * 1024;
/** A message larger than this is refused: pictures fit, a runaway client does not fill the memory. */
const maxMessageBytes = 256 * 1024 * 1024;

const headerEnd = Buffer.from('\r\n\r\n');

/** What is wrong with what came in; it is answered with a JSON-RPC error that has no id. */
export interface FrameProblem {
  readonly code: -32700 | -32600;
  readonly message: string;
}

/**
 * Reads LSP frames (`Content-Length: N`, a blank line, N bytes of JSON) and outlives what is no frame: a broken header
 * or message is told to `onProblem`, and reading goes on at the next header. Linear in what comes in.
 */
export class FrameReader extends AbstractMessageReader {
  readonly #input: Readable;
  readonly #onProblem: (problem: FrameProblem) => void;
  readonly #trace: Trace;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes of the message that is being read, once its header is known. */
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

  /** Whether there may be more in what has come. */
  #readOne(): boolean {
    if (this.#wanted === undefined) return this.#readHeader();
    if (this.#size < this.#wanted) return false;
    const body = this.#shift(this.#wanted);
    this.#wanted = undefined;
    this.#deliver(body);
    return this.#size > 0;
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

  /** Keeps the end, where a header may have begun. */
  #drop(buffer: Buffer): void {
    const next = buffer.lastIndexOf('Content-Length:');
    this.#chunks = [
      buffer.subarray(next === -1 || next < buffer.length - maxHeaderBytes ? buffer.length - 16 : next),
    ];
    this.#size = this.#chunks[0]?.length ?? 0;
    this.#onProblem({ code: -32700, message: noLength });
  }

  #refuse(length: number): void {
    this.#onProblem({
      code: -32600,
      message: `A message of ${length} bytes is larger than the ${maxMessageBytes} that are taken.`,
    });
    this.#skip = Math.max(0, length - this.#size);
    this.#shift(Math.min(length, this.#size));
  }

  #deliver(body: Buffer): void {
    const message = tryJson(body);
    if (message === undefined) this.#onProblem({ code: -32700, message: 'A message is not JSON.' });
    else if (!isMessage(message))
      this.#onProblem({
        code: -32600,
        message: 'A message is neither a request, a notification nor an answer.',
      });
    else {
      this.#trace('in', message);
      this.#callback(message);
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

const noLength =
  'What came in has no "Content-Length" header; frames are those of the Language Server Protocol.';

/** The last header of that name counts: what stands before it is what was left of a broken frame. */
function contentLengthOf(headers: string): number | undefined {
  const lengths = [...headers.matchAll(/content-length:[ \t]*(\d{1,15})[ \t]*(?=\r|\n|$)/gi)];
  const digits = lengths.at(-1)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function tryJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if ('method' in value) return typeof value.method === 'string';
  return 'id' in value && ('result' in value || 'error' in value);
}
