import { inflateRawSync } from 'node:zlib';

/** The files of a zip archive by their names, as text. */
export function filesOf(archive: Uint8Array): Map<string, string> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const files = new Map<string, string>();
  // The end of the archive has no comment here, so it is the last 22 bytes.
  const count = bytes.readUInt16LE(bytes.length - 12);
  for (let at = bytes.readUInt32LE(bytes.length - 6), left = count; left > 0; left -= 1) {
    const [name, next] = [
      bytes.readUInt16LE(at + 28),
      bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32),
    ];
    const start = bytes.readUInt32LE(at + 42);
    const from = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
    const packed = bytes.subarray(from, from + bytes.readUInt32LE(at + 20));
    const isPacked = bytes.readUInt16LE(at + 10) === 8;
    files.set(
      bytes.toString('utf8', at + 46, at + 46 + name),
      String(isPacked ? inflateRawSync(packed) : packed),
    );
    at += 46 + name + next;
  }
  return files;
}
