/** The whole body, or undefined as soon as it has more bytes than `largest`. */
export async function readBoundedBody(
  body: AsyncIterable<Uint8Array>,
  largest: number,
): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > largest) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
