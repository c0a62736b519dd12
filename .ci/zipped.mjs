import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/** In the format of MS-DOS: 1 January 1980. The same files give the same archive. */
const date = 0x0021;
/** Every name is in UTF-8. */
const flags = 0x0800;
const version = 20;
const deflated = 8;

/** A zip archive of small files, in the order of their names: `[name, bytes][]`. */
export function zipped(files) {
  const entries = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [name, content] of entries) {
    const bytes = Buffer.from(content);
    const packed = smallest(bytes);
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(version, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(deflated, 4);
    common.writeUInt16LE(date, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([signature(0x04034b50), common, path, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([signature(0x02014b50), uint16(version), common, rest, path]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, signature(0x06054b50), end]);
}

/** The files of an archive without a comment at its end. */
export function unzipped(archive) {
  let at = archive.readUInt32LE(archive.length - 6);
  return Array.from({ length: archive.readUInt16LE(archive.length - 12) }, () => {
    const [method, size, local] = [at + 10, at + 20, at + 42].map((place) => archive.readUInt32LE(place));
    const [name, extra, comment] = [28, 30, 32].map((place) => archive.readUInt16LE(at + place));
    const path = archive.toString('utf8', at + 46, at + 46 + name);
    at += 46 + name + extra + comment;
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const bytes = archive.subarray(start, start + size);
    return [path, (method & 0xffff) === deflated ? inflateRawSync(bytes) : bytes];
  });
}

function signature(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint16(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

/** How long the blocks are that suit a file best differs from file to file. */
function smallest(bytes) {
  const all = [6, 7, 8].map((memLevel) => deflateRawSync(bytes, { level: 9, memLevel }));
  return all.reduce((one, other) => (other.length < one.length ? other : one));
}
