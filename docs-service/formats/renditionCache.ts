import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../protocol/base/platform/privateFile.ts';

export type RenditionCache = Awaited<ReturnType<typeof openRenditionCache>>;

export interface RenditionCacheOptions {
  readonly folder: string;
  /** In bytes; the least recently used file is deleted first. */
  readonly capacity: number;
  readonly onError: (error: Error) => void;
}

/** In milliseconds: how precisely the time of last use is kept for the next start. */
const precision = 60_000;

/** Keeps rendered files across restarts. Its folder may be deleted at any time. */
export async function openRenditionCache(options: RenditionCacheOptions) {
  const makeFolder = () => mkdir(options.folder, { recursive: true, mode: 0o700 });
  await makeFolder();
  const sizes = await readSizes(options.folder);
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const fileOf = (key: string) => createHash('sha256').update(key).digest('hex');

  const forget = (file: string) => {
    total -= sizes.get(file) ?? 0;
    sizes.delete(file);
  };
  const evict = async () => {
    for (const file of sizes.keys()) {
      if (total <= options.capacity) return;
      forget(file);
      await rm(join(options.folder, file), { force: true });
    }
  };
  const write = async (file: string, bytes: Uint8Array) => {
    const partial = join(options.folder, `${file}.part`);
    try {
      await makeFolder();
      await writeFile(partial, bytes, { mode: 0o600 });
      await replaceFile(partial, join(options.folder, file));
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    sizes.set(file, bytes.length);
    total += bytes.length;
    await evict();
  };
  // Callers that waited for the same rendering also wait for the same file.
  const writing = new Map<string, Promise<void>>();
  // A full disk costs speed, but no answer.
  const put = async (key: string, bytes: Uint8Array): Promise<void> => {
    const file = fileOf(key);
    if (bytes.length > options.capacity || sizes.has(file)) return;
    const own = writing.get(file) ?? write(file, bytes).catch(options.onError);
    writing.set(file, own);
    await own;
    writing.delete(file);
  };
  /** The file, which its caller closes. It can be read to its end even if it is deleted meanwhile. */
  const openFile = async (key: string): Promise<FileHandle | undefined> => {
    const file = fileOf(key);
    const size = sizes.get(file);
    if (size === undefined) return undefined;
    const handle = await open(join(options.folder, file)).catch(() => undefined);
    const found = await handle?.stat();
    if (handle === undefined || found?.size !== size) {
      forget(file);
      await handle?.close();
      return undefined;
    }
    // The most recently used is last.
    if (sizes.delete(file)) sizes.set(file, size);
    const now = new Date();
    if (now.getTime() - found.mtimeMs > precision) await handle.utimes(now, now).catch(options.onError);
    return handle;
  };
  return {
    /** In bytes; undefined if the rendition is not in the cache. Nothing is opened. */
    sizeOf: (key: string) => sizes.get(fileOf(key)),
    open: openFile,
    async get(key: string): Promise<Uint8Array | undefined> {
      const handle = await openFile(key);
      return handle?.readFile().finally(() => handle.close());
    },
    put,
  };
}

/** The files with their sizes, the least recently used first. It deletes unfinished files. */
async function readSizes(folder: string): Promise<Map<string, number>> {
  const files: { readonly name: string; readonly size: number; readonly used: number }[] = [];
  for (const name of await readdir(folder)) {
    if (!/^[0-9a-f]{64}$/.test(name)) await rm(join(folder, name), { force: true, recursive: true });
    else {
      const { size, mtimeMs } = await stat(join(folder, name));
      files.push({ name, size, used: mtimeMs });
    }
  }
  files.sort((a, b) => a.used - b.used);
  return new Map(files.map(({ name, size }) => [name, size]));
}
