import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { messageOf } from '../../protocol/base/text.ts';
import { looksSecret } from '../base/filePrivacy.ts';
import { tryModelName } from '../models/name.ts';
import type { Argument, Instruction, Problem } from './parser.ts';

/** What the model is made from: what the commands that name models and files refer to. */
export interface ModelSources {
  /** The name of a model, from the last FROM that names a model. */
  readonly from?: string;
  readonly files: readonly ModelFile[];
  readonly adapters: readonly ModelFile[];
  readonly drafts: readonly ModelFile[];
  /** What is missing or cannot be used. */
  readonly problems: readonly Problem[];
}

/**
 * Finds what FROM, ADAPTER and DRAFT name. Relative paths start from `folder`. An existing file or folder takes
 * precedence over a model of the same name, as in the runner's own client. Only names and sizes are read.
 */
export async function resolveSources(
  commands: readonly Instruction[],
  folder: string | undefined,
  signal?: AbortSignal,
): Promise<ModelSources> {
  const problems: Problem[] = [];
  let from: string | undefined;
  const files: ModelFile[] = [];
  let adapters: readonly ModelFile[] = [];
  let drafts: readonly ModelFile[] = [];
  let looked = 0;
  for (const { name, args } of commands) {
    const [value] = args;
    if (!['from', 'adapter', 'draft'].includes(name) || value.text === '') continue;
    signal?.throwIfAborted();
    if (looked++ === maxSources) {
      problems.push(problemAt(value, `A Modelfile names at most ${maxSources} models and files.`).problem);
      break;
    }
    const meant = await resolveValue(name, value, folder);
    if (meant.kind === 'problem') problems.push(meant.problem);
    else if (meant.kind === 'model') from = meant.name;
    else if (name === 'from') files.push(...meant.files);
    else if (name === 'adapter') adapters = meant.files;
    else drafts = meant.files;
  }
  const same = drafts.find(({ path }) => files.some((file) => file.path === path));
  const draft = commands.findLast(({ name }) => name === 'draft');
  if (same && draft) problems.push(problemAt(draft.args[0], 'DRAFT names the same file as FROM.').problem);
  return withoutUndefined({ from, files, adapters, drafts, problems });
}

/** More sources than any model is made from. Each one costs a disk access. */
const maxSources = 64;

type Meant =
  | { readonly kind: 'files'; readonly files: readonly ModelFile[] }
  | { readonly kind: 'model'; readonly name: string }
  | { readonly kind: 'problem'; readonly problem: Problem };

async function resolveValue(command: string, value: Argument, folder: string | undefined): Promise<Meant> {
  const { text } = value;
  const path = expandPath(text, folder);
  const found = path === undefined ? undefined : await findModelFiles(path, folder);
  if (found?.kind === 'files') return found;
  if (found?.kind === 'unusable') return problemAt(value, found.problem);
  const isName = command === 'from' && !looksLikePath(text);
  if (isName && tryModelName(text)) return { kind: 'model', name: text };
  if (isName) return problemAt(value, noName(text));
  if (path !== undefined) return problemAt(value, `There is no file or folder ${path}.`);
  return problemAt(
    value,
    'A relative path starts from the folder of the Modelfile: save the Modelfile first, or write an absolute path.',
  );
}

function noName(text: string): string {
  const hint = / #/.test(text) ? ' A comment needs a line of its own.' : '';
  return `"${text.slice(0, 60)}" is neither a model's name nor an existing file.${hint}`;
}

function problemAt(at: Argument, message: string): Meant & { readonly kind: 'problem' } {
  const { start, end } = at;
  return { kind: 'problem', problem: { start, end, severity: 'error', message } };
}

/** A file that a model is made from. */
export interface ModelFile {
  /** Absolute. */
  readonly path: string;
  /** The path below the named folder, with `/`; for a single file its own name. */
  readonly name: string;
  readonly bytes: number;
}

/** What was found at a path of a Modelfile. */
type SourceFiles =
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
export async function findModelFiles(path: string, folder?: string): Promise<SourceFiles> {
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

function unreadable(path: string, error: unknown): SourceFiles {
  const reason = messageOf(error);
  return { kind: 'unusable', problem: `${path} cannot be read: ${reason}` };
}

async function filesOfFolder(folder: string): Promise<SourceFiles> {
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
