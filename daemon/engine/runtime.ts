import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { tryJson } from '../../protocol/base/json.ts';
import { RunnerError } from '../base/errors.ts';
import { type ChildOptions, isExecutable, onPath, reasonOf, runChild } from './programs.ts';

/** The package that has the library. */
export const libraryPackage = 'node-llama-cpp';

/** Never compiles, and never downloads. */
const checkScript = `import { getLlama } from '${libraryPackage}';
const llama = await getLlama({ build: 'never', skipDownload: true, progressLogs: false, gpu: false });
await llama.dispose();
`;

/** What loads the library of a folder, found by trying: first `own`, which runs this daemon. */
export interface RuntimeSearch extends Omit<ChildOptions, 'cwd'> {
  readonly own: string;
  /** Called before something is tried, which takes a second. */
  readonly onWillTry: () => void;
}

/**
 * The program that runs the engine. An editor's own runtime need not be able to load native parts; then it is a `node`
 * on PATH. What was found is kept beside the library.
 * @throws {RunnerError} with a sentence, if none loads it.
 */
export async function findRuntime(folder: string, search: RuntimeSearch): Promise<string> {
  const key = `${search.own} ${process.version}`;
  const known = await readKnown(folder);
  const before = known[key];
  if (before !== undefined && (await isExecutable(before))) return before;
  search.onWillTry();
  const found = await tryAll(folder, search);
  await writeFile(pathIn(folder), JSON.stringify({ ...known, [key]: found }));
  return found;
}

const pathIn = (folder: string) => join(folder, 'runtimes.json');

/** By the program that runs a daemon, with its version. */
async function readKnown(folder: string): Promise<Readonly<Record<string, string>>> {
  const kept = tryJson(await readFile(pathIn(folder), 'utf8').catch(() => ''));
  return z.record(z.string(), z.string()).safeParse(kept).data ?? {};
}

async function tryAll(folder: string, { own, ...search }: RuntimeSearch): Promise<string> {
  // On Linux a symbol that is missing would otherwise be noticed only when it is used.
  const options = { ...search, cwd: folder, env: { ...search.env, LD_BIND_NOW: '1' } };
  // A file, because the library starts a process with the same arguments.
  const script = join(folder, `check-${randomUUID()}.mjs`);
  let problem: unknown;
  await writeFile(script, checkScript);
  try {
    for await (const file of candidates(own, options))
      try {
        await runChild(file, [script], options);
        return file;
      } catch (error) {
        options.signal.throwIfAborted();
        problem ??= error;
      }
  } finally {
    await rm(script, { force: true });
  }
  throw new RunnerError(
    'not-supported',
    `The engine is there, but it cannot be loaded: ${reasonOf(problem)} Put Node ${oldest.join('.')} or newer on the PATH, or install Ollama from https://ollama.com/download.`,
    { cause: problem },
  );
}

/** The oldest Node that the engine runs on. */
const oldest = [20, 19] as const;

async function* candidates(own: string, options: ChildOptions): AsyncGenerator<string> {
  yield own;
  for (const file of onPath('node', options.env, options.platform)) {
    if (file === own || !(await isExecutable(file))) continue;
    const said = await runChild(file, ['--version'], options).catch(() => '');
    const [, major = 0, minor = 0] = (/^v(\d+)\.(\d+)\./.exec(said) ?? []).map(Number);
    if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) yield file;
  }
}
