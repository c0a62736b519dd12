import { createGlob } from '../base/globs.ts';
import { readRegularFile } from '../base/regularFile.ts';

/** Whether a path is ignored, relative to the folder of its rule: undefined if the rule says nothing about it. */
export type IgnoreRule = (path: string, isFolder: boolean) => boolean | undefined;

/** Folders that hold what programs make, whether or not a `.gitignore` says so. */
const noise: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.svn',
  '.jj',
  'node_modules',
  'bower_components',
  '.venv',
  'venv',
  '__pycache__',
  '.mypy_cache',
  '.pytest_cache',
  '.tox',
  '.gradle',
  '.next',
  '.nuxt',
  '.cache',
  '.DS_Store',
]);

export function isNoise(name: string): boolean {
  return noise.has(name);
}

/** In bytes, and in rules: more are not made by hand. */
const maxFile = 64 * 1024;
const maxRules = 500;
/** In characters. */
const maxPattern = 500;

/** The rules of a `.gitignore`, in order; the last that says something counts. None if it cannot be read. */
export async function readIgnoreRules(path: string): Promise<readonly IgnoreRule[]> {
  const text = await readRegularFile(path, maxFile).catch(() => '');
  return parseIgnoreRules(text);
}

/** As https://git-scm.com/docs/gitignore says, but in upper and lower case alike. */
export function parseIgnoreRules(text: string): readonly IgnoreRule[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#') && line.length <= maxPattern);
  return patterns.slice(0, maxRules).map(ruleOf);
}

function ruleOf(line: string): IgnoreRule {
  const isNegated = line.startsWith('!');
  const pattern = isNegated ? line.slice(1) : line;
  const isOfFolders = pattern.endsWith('/');
  const bare = isOfFolders ? pattern.slice(0, -1) : pattern;
  // A slash within it binds a pattern to the folder of its file; otherwise it holds at every depth.
  const matches = createGlob(bare.includes('/') ? bare : `**/${bare}`);
  return (path, isFolder) => ((isFolder || !isOfFolders) && matches(path) ? !isNegated : undefined);
}
