import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

/** One file that a zip archive must have. */
export interface ArchiveEntry {
  readonly name: string;
  /** Of the file itself, in bytes. */
  readonly size: number;
  readonly sha256: string;
}

/** A record at the end of the archive, before a comment of at most 64 kB. */
const endRecord = { bytes: 22, mark: 0x06054b50, longestComment: 0xffff };
const entryRecord = { bytes: 46, mark: 0x02014b50 };
const localRecord = { bytes: 30 };
/** The list of a wheel with few files. */
const maxList = 1024 * 1024;
const deflated = 8;

/**
 * Writes one file of a zip archive (APPNOTE.TXT of PKWARE, sections 4.3 and 4.4). Nothing else of it is read.
 * @throws {Error} if it is not there, or not as it must be.
 */
export async function unpackEntry(archive: string, wanted: ArchiveEntry, target: string): Promise<void> {
  const file = await open(archive);
  try {
    const { offset, packed } = await findEntry(file, wanted);
    const local = await readAt(file, offset, localRecord.bytes);
    const start = offset + localRecord.bytes + local.readUInt16LE(26) + local.readUInt16LE(28);
    const hash = createHash('sha256');
    let size = 0;
    const check = new Transform({
      transform(chunk: Buffer, _, done) {
        size += chunk.length;
        hash.update(chunk);
        done(size > wanted.size ? new Error('It is larger than it should be') : null, chunk);
      },
    });
    const source = file.createReadStream({ start, end: start + packed - 1, autoClose: false });
    await pipeline(
      source,
      createInflateRaw(),
      check,
      createWriteStream(target, { flags: 'wx', mode: 0o600 }),
    );
    if (size !== wanted.size || hash.digest('hex') !== wanted.sha256)
      throw new Error('It is not the file that was expected: its SHA-256 differs');
  } finally {
    await file.close();
  }
}

async function findEntry(file: FileHandle, { name }: ArchiveEntry) {
  const { size } = await file.stat();
  const tail = Math.min(size, endRecord.bytes + endRecord.longestComment);
  const end = await readAt(file, size - tail, tail);
  const at = end.lastIndexOf(Buffer.from('PK\x05\x06'));
  if (at < 0 || at + endRecord.bytes > end.length) throw new Error('It is not a zip archive');
  const [length, start] = [end.readUInt32LE(at + 12), end.readUInt32LE(at + 16)];
  if (length > maxList) throw new Error('It has too many files');
  const list = await readAt(file, start, length);
  for (let here = 0; here + entryRecord.bytes <= list.length; ) {
    if (list.readUInt32LE(here) !== entryRecord.mark) break;
    const nameEnd = here + entryRecord.bytes + list.readUInt16LE(here + 28);
    const found = list.toString('utf8', here + entryRecord.bytes, nameEnd);
    if (found === name && list.readUInt16LE(here + 10) === deflated)
      return { packed: list.readUInt32LE(here + 20), offset: list.readUInt32LE(here + 42) };
    here = nameEnd + list.readUInt16LE(here + 30) + list.readUInt16LE(here + 32);
  }
  throw new Error(`It has no file ${name}`);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new Error('It is cut');
  return buffer;
}
