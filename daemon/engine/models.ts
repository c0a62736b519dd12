import { opendir, readdir, realpath, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { homeFolder } from '../../protocol/base/platform/folders.ts';
import type { EngineModel } from '../../protocol/messages/engine.ts';
import { openRegularFile, readRegularFile } from '../base/regularFile.ts';

export interface ModelFolders {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Where the sample is kept. */
  readonly samples: string;
}

type Source = EngineModel['source'];

/** Beside the weights, in bytes: the program itself and a small window. */
const besideWeights = 400_000_000;

/** The models on this machine that an engine could load, those of the user's own path first. Nothing is written. */
export async function findModels(
  places: ModelFolders,
  path?: string,
): Promise<{ readonly models: readonly EngineModel[]; readonly isCut?: true }> {
  const found: ModelFileEntry[] = [];
  let isCut = false;
  const searchFolder = async (source: Source, folder: string) => {
    const walk: Walk = { left: maxEntries };
    for await (const file of ggufFilesIn(folder, walk)) {
      const weights = await tryWeights(file, source, source === 'Hugging Face' ? hubName(file) : undefined);
      if (weights) found.push(weights);
    }
    isCut ||= walk.left < 0;
  };
  if (path !== undefined) {
    const given = await tryWeights(path, 'path');
    if (given) found.push(given);
    else if ((await stat(path).catch(() => undefined))?.isDirectory()) await searchFolder('path', path);
  }
  for (const [source, folder] of foldersOf(places)) await searchFolder(source, folder);
  for (const folder of ollamaFolders(places)) found.push(...(await ollamaModels(folder)));
  const memory = memoryBytes();
  const models = (await withoutDoubles(found)).map((file) => ({
    ...file,
    fits: file.size * 1.1 + besideWeights <= memory,
  }));
  return { models, ...(isCut ? { isCut } : {}) };
}

/** A container may have less than its machine. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

/** Where programs keep weights as files of their own. */
function foldersOf({ env, platform, samples }: ModelFolders): readonly (readonly [Source, string])[] {
  const home = homeFolder(env);
  const local = env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local');
  const [roaming, config] = [env['APPDATA'] ?? local, env['XDG_CONFIG_HOME'] || join(home, '.config')];
  const library = join(home, 'Library', 'Application Support');
  const cache = env['XDG_CACHE_HOME'] || join(home, '.cache');
  const bySystem = (linux: string, darwin: string, win32: string) =>
    ({ darwin, win32 })[platform as 'darwin' | 'win32'] ?? linux;
  const llama = bySystem(
    join(cache, 'llama.cpp'),
    join(home, 'Library', 'Caches', 'llama.cpp'),
    join(local, 'llama.cpp'),
  );
  const hub = env['HF_HUB_CACHE'] || join(env['HF_HOME'] || join(cache, 'huggingface'), 'hub');
  const jan = bySystem(join(config, 'Jan'), join(library, 'Jan'), join(roaming, 'Jan'));
  const gpt4all = bySystem(join(home, '.local', 'share'), library, local);
  return [
    ['sample', samples],
    ['Hugging Face', hub],
    ['LM Studio', join(home, '.lmstudio', 'models')],
    ['LM Studio', join(home, '.cache', 'lm-studio', 'models')],
    ['llama.cpp', env['LLAMA_CACHE'] || llama],
    ['Jan', join(jan, 'data')],
    ['GPT4All', join(gpt4all, 'nomic.ai', 'GPT4All')],
  ];
}

/** `models--org--repo/snapshots/COMMIT/file.gguf` is `org/repo/file`. */
function hubName(path: string): string | undefined {
  const [, org, repo, file] =
    /models--([^/\\]+?)--([^/\\]+)[/\\]snapshots[/\\][^/\\]+[/\\](.+)\.gguf$/i.exec(path) ?? [];
  return file === undefined ? undefined : [org, repo, file].join('/');
}

function ollamaFolders({ env, platform }: ModelFolders): readonly string[] {
  const own = env['OLLAMA_MODELS'];
  if (own !== undefined && isAbsolute(own)) return [own];
  const home = join(homeFolder(env), '.ollama', 'models');
  // The service of Linux has a user of its own, whose folder others can often not read.
  return platform === 'linux' ? [home, '/usr/share/ollama/.ollama/models'] : [home];
}

const maxManifestBytes = 64 * 1024;
const maxManifests = 2_000;

/** In Ollama's store a manifest names the weights: `manifests/HOST/NAMESPACE/MODEL/TAG` and `blobs/sha256-HEX`. */
async function ollamaModels(store: string): Promise<readonly ModelFileEntry[]> {
  const found: ModelFileEntry[] = [];
  let left = maxManifests;
  const search = async (folder: string, parts: readonly string[]): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      left -= 1;
      if (left < 0) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && parts.length < 3) await search(path, [...parts, entry.name]);
      if (!entry.isFile() || parts.length !== 3) continue;
      const digest = weightsIn(await readRegularFile(path, maxManifestBytes).catch(() => ''));
      const name = ollamaName(parts, entry.name);
      // Old stores have the colon of the digest.
      for (const blob of digest === undefined ? [] : [`sha256-${digest}`, `sha256:${digest}`]) {
        const weights = await tryWeights(join(store, 'blobs', blob), 'Ollama', name);
        if (weights) found.push(weights);
      }
    }
  };
  await search(join(store, 'manifests'), []);
  return found;
}

/** The digits of the digest of a manifest's weights. */
function weightsIn(manifest: string): string | undefined {
  const parsed = tryJson(manifest);
  const layers: unknown = isRecord(parsed) ? parsed['layers'] : undefined;
  const layer = Array.isArray(layers)
    ? layers.find((one) => isRecord(one) && one['mediaType'] === 'application/vnd.ollama.image.model')
    : undefined;
  return /^sha256:([0-9a-f]{64})$/.exec(String(layer?.digest))?.[1];
}

/** As Ollama itself shows it: without the usual host and namespace. */
function ollamaName([host = '', namespace = '', model = '']: readonly string[], tag: string): string {
  const isUsual = host === 'registry.ollama.ai';
  const before = isUsual && namespace === 'library' ? [] : isUsual ? [namespace] : [host, namespace];
  return `${[...before, model].join('/')}:${tag}`;
}

/** A file that has weights, under its real path. */
export interface ModelFileEntry extends Omit<EngineModel, 'fits'> {}

export interface Walk {
  /** How many entries may still be looked at, in all folders together. */
  left: number;
}

/** The caches of models have few files, but they may be anywhere. */
const maxDepth = 6;
const maxEntries = 20_000;

/** The files with this ending below a folder, in bounded work. Links to folders are not followed. */
async function* ggufFilesIn(folder: string, walk: Walk, depth = maxDepth): AsyncGenerator<string> {
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
async function tryWeights(
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
async function withoutDoubles(files: readonly ModelFileEntry[]): Promise<readonly ModelFileEntry[]> {
  const byPath = new Map<string, ModelFileEntry>();
  for (const file of files) {
    const real = await realpath(file.path).catch(() => file.path);
    if (!byPath.has(real)) byPath.set(real, file);
  }
  return [...byPath.values()];
}
