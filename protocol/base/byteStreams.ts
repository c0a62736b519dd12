/** What was read has more bytes than its reader takes. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/**
 * All bytes of a body or a stream.
 * @param limit in bytes.
 * @throws {TooLargeError} as soon as there are more.
 */
export async function readBounded(body: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > limit) throw new TooLargeError(`It has more than ${limit.toLocaleString('en')} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}

/** A line without its line feed. Invalid UTF-8 is U+FFFD. */
export interface SplitLine {
  /** If the line is longer than the limit, only its beginning. The last character may then be cut. */
  readonly text: string;
  /** The length of the whole line in bytes. */
  readonly bytes: number;
  /** Whether the line is longer than the limit. */
  readonly isCut: boolean;
}

const lineFeed = 0x0a;

/**
 * Cuts bytes into lines at line feeds, however the bytes are split into chunks, in linear time. At most `limit` bytes
 * of a line are held. A chunk may be a buffer that its owner uses again once the lines of it have been read.
 */
export class LineSplitter {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #kept = 0;
  #bytes = 0;

  /** @param limit in bytes; the rest of a longer line is dropped. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The length in bytes of the line that has not ended yet. */
  get pending(): number {
    return this.#bytes;
  }

  /** The lines that end in this chunk. */
  *push(chunk: Buffer): Generator<SplitLine> {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      const part = chunk.subarray(start, end);
      start = end + 1;
      yield this.#finish(part);
    }
    // It is copied, because the owner of the chunk may use it again.
    if (start < chunk.length) this.#keep(Buffer.from(chunk.subarray(start)));
  }

  /** The last line, if it has no line feed. What is pushed later begins a new line. */
  end(): SplitLine | undefined {
    return this.#bytes === 0 ? undefined : this.#finish(Buffer.alloc(0));
  }

  #finish(part: Buffer): SplitLine {
    this.#keep(part);
    const [only = part] = this.#parts;
    const whole = this.#parts.length > 1 ? Buffer.concat(this.#parts, this.#kept) : only;
    const line = { text: whole.toString('utf8'), bytes: this.#bytes, isCut: this.#bytes > this.#limit };
    this.#parts = [];
    this.#kept = 0;
    this.#bytes = 0;
    return line;
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    const kept = part.subarray(0, Math.max(0, this.#limit - this.#kept));
    if (kept.length === 0) return;
    this.#parts.push(kept);
    this.#kept += kept.length;
  }
}
