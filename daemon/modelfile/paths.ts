import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { looksSecret } from '../base/filePrivacy.ts';

/** A file that a model is made from. */
export interface ModelFile {
  /** Absolute. */
  readonly path: string;
  /** The path below the named folder, with `/`; for a single file its own name. */
  readonly name: string;
  readonly bytes: number;
}

/** What was found at a path of a Modelfile. */
export type Found =
  | { readonly kind: 'files'; readonly files: readonly ModelFile[] }
  | { readonly kind: 'none' }
  /** Something is there, but it cannot be used; `problem` says why. */
  | { readonly kind: 'unusable'; readonly problem: string };

/** Kinds of weights in order of preference. All files of the first kind that exists are used. */
const weightPatterns: readonly RegExp[] = [
  /^model.*\.safetensors$/,
  /^consolidated.*\.safetensors$/,
  /^pytorch_model.*\.bin$/,
  /^consolidated.*\.pth$/,
  /^.*\.gguf$/,
  /^.*\.bin$/,
];
/** A folder with more files is not the folder of a model. */
const maxFiles = 10_000;

/**
 * The absolute path that a value means: an absolute path, a path in the home folder, or one relative to the Modelfile's
 * folder. Without a folder, relative paths are undefined.
 */
export function expandPath(value: string, folder: string | undefined): string | undefined {
  if (value === '' || value.includes('\0')) return undefined;
  if (value === '~') return homedir();
  if (/^~[/\\]/.test(value)) return join(homedir(), value.slice(2));
  if (isAbsolute(value)) return value;
  return folder === undefined ? undefined : resolve(folder, value);
}

/** Whether a value is written as a path and cannot be a model's name. */
export function looksLikePath(value: string): boolean {
  return isAbsolute(value) || /^(\.\.?([/\\]|$)|~([/\\]|$))|\\|\.(gguf|safetensors|bin|pth)$/i.test(value);
}

/**
 * Finds the file, or the files of a folder, from which a model is made. A path inside of the Modelfile's folder must
 * not lead out of it by a link: a reader of `FROM ./model.gguf` expects a file of that folder.
 */
export async function findModelFiles(path: string, folder?: string): Promise<Found> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    const isNone = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(found.code ?? '');
    return isNone ? { kind: 'none' } : unreadable(path, found);
  }
  try {
    const real = await realpath(path);
    if (folder !== undefined && isBelow(folder, path) && !isBelow(await realpath(folder), real))
      return { kind: 'unusable', problem: `${path} leads out of its folder.` };
    if (found.isDirectory()) return await filesOfFolder(path);
    if (!found.isFile()) return { kind: 'unusable', problem: `${path} is neither a file nor a folder.` };
    if (looksSecret(path, real))
      return { kind: 'unusable', problem: `${path} looks like a secret; such files are never sent.` };
    if (found.size === 0) return { kind: 'unusable', problem: `${path} is empty.` };
    return { kind: 'files', files: [{ path: real, name: basename(path), bytes: found.size }] };
  } catch (error) {
    // Something is there, such as a folder with a broken link, so the value is not a model's name.
    return unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): Found {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'unusable', problem: `${path} cannot be read: ${reason}` };
}

async function filesOfFolder(folder: string): Promise<Found> {
  const root = await realpath(folder);
  const names = await namesIn(root);
  if (names.length > maxFiles)
    return { kind: 'unusable', problem: `${folder} has too many files for a model.` };
  const own = names.filter((name) => !name.includes('/'));
  const pattern = weightPatterns.find((candidate) => own.some((name) => candidate.test(name)));
  if (!pattern)
    return {
      kind: 'unusable',
      problem: `There are no weights in ${folder}: no safetensors and no GGUF file.`,
    };
  const wanted = names.filter(
    (name) =>
      (!name.includes('/') && (pattern.test(name) || name === 'chat_template.jinja')) ||
      /^([^/]+\/)?([^/]+\.json|tokenizer\.model)$/.test(name),
  );
  const files: ModelFile[] = [];
  for (const name of wanted) {
    const path = await realpath(join(root, name));
    if (looksSecret(name, path)) continue;
    if (!isBelow(root, path))
      return { kind: 'unusable', problem: `${join(folder, name)} leads out of its folder.` };
    const found = await stat(path);
    if (found.isFile()) files.push({ path, name, bytes: found.size });
  }
  return { kind: 'files', files };
}

/** The names in a folder and one level below it. If there are too many, only some of them. */
async function namesIn(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  if (entries.length > maxFiles) return entries.map(({ name }) => name);
  const names: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (!entry.isDirectory()) names.push(entry.name);
    else names.push(...(await readdir(join(root, entry.name))).map((name) => `${entry.name}/${name}`));
    if (names.length > maxFiles) break;
  }
  return names.sort();
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
