import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface RenditionCache {
  get(key: string): Promise<Uint8Array | undefined>;
  /** Never rejects: a full disk costs speed, but no answer. */
  put(key: string, bytes: Uint8Array): Promise<void>;
}

export interface RenditionCacheOptions {
  readonly folder: string;
  /** In bytes; the least recently used file is deleted first. */
  readonly capacity: number;
  readonly onError: (error: Error) => void;
}

/** Keeps rendered files across restarts. Its folder may be deleted at any time. */
export async function openRenditionCache(options: RenditionCacheOptions): Promise<RenditionCache> {
  const makeFolder = () => mkdir(options.folder, { recursive: true, mode: 0o700 });
  await makeFolder();
  const sizes = await readSizes(options.folder);
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const fileOf = (key: string) => createHash('sha256').update(key).digest('hex');

  const evict = async () => {
    for (const [file, size] of sizes) {
      if (total <= options.capacity) return;
      sizes.delete(file);
      total -= size;
      await rm(join(options.folder, file), { force: true });
    }
  };
  const put = async (key: string, bytes: Uint8Array) => {
    const file = fileOf(key);
    if (bytes.length > options.capacity || sizes.has(file)) return;
    sizes.set(file, bytes.length);
    total += bytes.length;
    const partial = join(options.folder, `${file}.part`);
    try {
      await makeFolder();
      await writeFile(partial, bytes, { mode: 0o600 });
      await rename(partial, join(options.folder, file));
    } catch (error) {
      sizes.delete(file);
      total -= bytes.length;
      await rm(partial, { force: true });
      throw error;
    }
    await evict();
  };
  return {
    async get(key) {
      const file = fileOf(key);
      const size = sizes.get(file);
      if (size === undefined) return undefined;
      const path = join(options.folder, file);
      const bytes = await readFile(path).catch(() => undefined);
      sizes.delete(file);
      if (bytes?.length !== size) {
        total -= size;
        return undefined;
      }
      sizes.set(file, size);
      const now = new Date();
      await utimes(path, now, now).catch(options.onError);
      return bytes;
    },
    put: (key, bytes) => put(key, bytes).catch(options.onError),
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
