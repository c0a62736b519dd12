import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { EngineModel } from '../../protocol/messages/engine.ts';
import { openRegularFile } from '../base/regularFile.ts';

/** A file that has weights, under its real path. */
export interface ModelFileEntry extends Omit<EngineModel, 'fits'> {}

export interface Walk {
  /** How many entries may still be looked at, in all folders together. */
  left: number;
}

/** The caches of models have few files, but they may be anywhere. */
const maxDepth = 6;
export const maxEntries = 20_000;

/** The files with this ending below a folder, in bounded work. Links to folders are not followed. */
export async function* ggufFilesIn(folder: string, walk: Walk, depth = maxDepth): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(() => undefined);
  if (!entries) return;
  const [folders, files]: [string[], string[]] = [[], []];
  for await (const entry of entries) {
    walk.left -= 1;
    if (walk.left < 0) break;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) folders.push(path);
    else if (/\.gguf$/i.test(entry.name) && !isPart(entry.name)) files.push(path);
  }
  yield* files.toSorted();
  if (depth > 0 && walk.left >= 0)
    for (const inner of folders.toSorted()) yield* ggufFilesIn(inner, walk, depth - 1);
}

/** A model of several files is loaded by its first, and what sees images is no model of its own. */
function isPart(name: string): boolean {
  const [, part] = /-(\d{5})-of-\d{5}\.gguf$/i.exec(name) ?? [];
  return /^mmproj|[-_.]mmproj[-_.]/i.test(name) || (part !== undefined && part !== '00001');
}

/** Undefined if it cannot be read, or does not begin as such files do. */
export async function tryWeights(
  path: string,
  source: EngineModel['source'],
  name = nameOf(path),
): Promise<ModelFileEntry | undefined> {
  const file = await openRegularFile(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    if (bytesRead < 4 || buffer.toString('latin1') !== 'GGUF') return undefined;
    const size = await sizeOf(path, (await file.stat()).size);
    return { name, path, size, source };
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** The name of its file, without the ending and the number of its part. */
function nameOf(path: string): string {
  return basename(path).replace(/(-\d{5}-of-\d{5})?\.gguf$/i, '');
}

/** Of all parts. */
async function sizeOf(path: string, first: number): Promise<number> {
  const [, stem, count] = /^(.*)-00001-of-(\d{5})\.gguf$/i.exec(path) ?? [];
  let size = first;
  for (let part = 2; stem !== undefined && part <= Math.min(Number(count), 100); part += 1) {
    const other = await stat(`${stem}-${String(part).padStart(5, '0')}-of-${count}.gguf`).catch(
      () => undefined,
    );
    size += other?.size ?? 0;
  }
  return size;
}

/** One file that several folders link to is listed once. */
export async function withoutDoubles(files: readonly ModelFileEntry[]): Promise<readonly ModelFileEntry[]> {
  const byPath = new Map<string, ModelFileEntry>();
  for (const file of files) {
    const real = await realpath(file.path).catch(() => file.path);
    if (!byPath.has(real)) byPath.set(real, file);
  }
  return [...byPath.values()];
}
