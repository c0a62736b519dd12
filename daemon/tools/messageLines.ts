/** A message of a server is larger than is taken. */
export class MessageTooLargeError extends Error {
  override readonly name = 'MessageTooLargeError';
}

/** In bytes. A result of a tool is cut far below; a page of tools may be some MB. */
export const maxMessage = 16 * 1024 * 1024;

const lineEnd = 0x0a;

/** Cuts bytes into lines, however they are split, in linear time. */
export class MessageLines {
  #parts: Buffer[] = [];
  #size = 0;

  /** The lines that end in this chunk. @throws {MessageTooLargeError} */
  *endingIn(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
      this.#keep(chunk.subarray(start, end));
      const line = Buffer.concat(this.#parts, this.#size).toString('utf8');
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
      yield line;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#size += part.length;
    if (this.#size > maxMessage) {
      this.#parts = [];
      throw new MessageTooLargeError('It sent a message of more than 16 MB.');
    }
    this.#parts.push(part);
  }
}
