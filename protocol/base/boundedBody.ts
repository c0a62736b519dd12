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
