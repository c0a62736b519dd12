import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { tryModelName } from '../models/name.ts';
import type { Argument, Command, Problem } from './parser.ts';
import { expandPath, findModelFiles, looksLikePath, type ModelFile } from './paths.ts';

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
  commands: readonly Command[],
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

/** No model is made from more, and each one costs a disk access. */
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
