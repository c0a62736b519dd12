import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { tryNow } from '../../protocol/base/text.ts';
import { ContentError } from '../../protocol/base/yaml.ts';

/** The folders from which documents may show and include files. */
export interface ContentPlaces {
  /** Absolute, with every link in it resolved. */
  readonly contentFolder: string;
  /** Those that the operator adds, by their names in paths: `.files/NAME/…`. */
  readonly otherFolders?: Readonly<Record<string, string>>;
}

export interface ContentPlace {
  /** The folder that it must really be in. */
  readonly folder: string;
  readonly path: string;
}

/** @param path from the content folder */
export function placeOf({ contentFolder, otherFolders = {} }: ContentPlaces, path: string): ContentPlace {
  const [, name = '', rest = ''] = /^\.files\/([^/]+)\/(.+)$/s.exec(path) ?? [];
  const folder = Object.hasOwn(otherFolders, name) ? otherFolders[name] : undefined;
  return folder === undefined ? { folder: contentFolder, path } : { folder, path: rest };
}

/** What a path that leads out of the content folder is called, if it is in one of the other folders. */
export function tryOtherPlace(
  { contentFolder, otherFolders = {} }: ContentPlaces,
  path: string,
): string | undefined {
  const file = join(contentFolder, path);
  const [name, folder] = Object.entries(otherFolders).find(([, one]) => isInside(one, file)) ?? [];
  if (name === undefined || folder === undefined) return undefined;
  const parts = relative(folder, file).split(sep);
  return parts.some((part) => part.startsWith('.')) ? undefined : ['.files', name, ...parts].join('/');
}

export function isInside(folder: string, file: string): boolean {
  return file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** In bytes. A larger file is left out. */
const maxFileBytes = 10 * 1024 * 1024;

/** Reads the whole file. Throws ContentError if it is too large, no longer a file, or outside of its folder. */
export async function readPlace({ folder, path }: ContentPlace): Promise<Uint8Array> {
  // Throws ENOENT if the file has disappeared since it was found.
  const file = await realpath(join(folder, path));
  if (!isInside(folder, file)) throw new ContentError(outside);
  // An ordinary open of a pipe without a writer would block for ever.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!isOpenedAt(handle.fd, file)) throw new ContentError(outside);
    return await readWhole(handle);
  } finally {
    await handle.close();
  }
}

/** The bytes of a file, or what is wrong with it, such as "is not a file". Throws what the system says. */
export function readPlaceNow({ folder, path }: ContentPlace, maxBytes: number): Uint8Array | string {
  const file = realpathSync(join(folder, path));
  if (!isInside(folder, file)) return 'is outside the content folder';
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!isOpenedAt(descriptor, file)) return 'is outside the content folder';
    const found = fstatSync(descriptor);
    if (!found.isFile()) return 'is not a file';
    return found.size > maxBytes ? `is larger than ${maxBytes / 1_000_000} MB` : readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const outside = 'The file is outside the content folder.';

async function readWhole(handle: FileHandle): Promise<Uint8Array> {
  const found = await handle.stat();
  const { size } = found;
  if (!found.isFile()) throw new ContentError('It is not a regular file.');
  if (size > maxFileBytes)
    throw new ContentError(`The file has more than ${maxFileBytes / 1024 / 1024} MB. Split it.`);
  const buffer = Buffer.alloc(size);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, size - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length === size) return buffer.subarray(0, length);
  }
}

/**
 * Whether an open file is the one at this path. A path that was checked before may lead elsewhere when it is opened,
 * because somebody has put a symbolic link into it; the open file is always the one that will be read.
 * @param path without symbolic links, as it was checked
 */
export function isOpenedAt(descriptor: number, path: string): boolean {
  const opened = tryNow(() => readlinkSync(`/proc/self/fd/${descriptor}`)) ?? realpathSync(path);
  // An editor may have replaced the file by now.
  return opened === path || opened === `${path} (deleted)`;
}
