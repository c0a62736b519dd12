import type { Readable } from 'node:stream';
import { AbstractMessageReader, type DataCallback, type Disposable } from 'vscode-jsonrpc';
import { type FrameProblem, parseIncoming } from './incoming.ts';
import type { Trace } from './trace.ts';

/** A header block larger than this is none. */
const maxHeaderBytes = 8 * 1024;
/** A message larger than this is refused: pictures fit, a runaway client does not fill the memory. */
const maxMessageBytes = 256 * 1024 * 1024;

const headerEnd = Buffer.from('\r\n\r\n');

/**
 * Reads LSP frames (`Content-Length: N`, a blank line, N bytes of JSON) and outlives what is no frame: a broken header
 * or message is told to `onProblem`, and reading goes on at the next header, also where whoever takes a message throws.
 * Linear in what comes in.
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
    const incoming = parseIncoming(body.toString('utf8'));
    if (incoming.kind === 'problem') this.#onProblem(incoming.problem);
    if (incoming.kind !== 'message') return;
    const { message } = incoming;
    try {
      this.#trace('in', message);
      this.#callback(message);
    } catch (error) {
      // What follows in the same read is still to be answered.
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

const noLength =
  'What came in has no "Content-Length" header; frames are those of the Language Server Protocol.';

/** The last header of that name counts: what stands before it may be left of a broken frame, but no other header. */
function contentLengthOf(headers: string): number | undefined {
  const lengths = headers.split(/[\r\n]+/).map(lengthInLine);
  return lengths.findLast((length) => length !== undefined);
}

function lengthInLine(line: string): number | undefined {
  const start = line.toLowerCase().lastIndexOf(lengthHeader);
  if (
    start === -1 ||
    isHeaderName(line.charAt(start - 1)) ||
    /^[\w!#$%&'*+.^`|~-]+:/.test(line.slice(0, start))
  )
    return undefined;
  const digits = line.slice(start + lengthHeader.length).trim();
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

const lengthHeader = 'content-length:';

/** Whether a header's name goes on with this character, so that what follows is the end of another name. */
function isHeaderName(character: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]$/.test(character);
}
