import { dirname, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { thisPlatform } from '../../protocol/base/platform/folder.ts';
import { readRegularFile } from './regularFile.ts';

/** What a `.gitignore`, or a file of its form, says about paths below its folder. */
export interface IgnoreRules {
  /** Whether it hides a path, or brings it back; undefined if it says nothing about it. */
  hides(path: string, isFolder: boolean): boolean | undefined;
  /** The same rules, which have no effect on a folder that somebody named, as far as they hide it as a whole. */
  withNamed(folder: string): IgnoreRules;
}

/** In bytes: larger files are not made by hand. */
const maxFile = 64 * 1024;

/** No rules if the file cannot be read. */
export async function readIgnoreRules(folder: string, name: string): Promise<IgnoreRules> {
  return createIgnoreRules(folder, await readRegularFile(`${folder}${sep}${name}`, maxFile).catch(() => ''));
}

/** Reads rules as git does; `folder` is that of their file. */
export function createIgnoreRules(folder: string, text: string): IgnoreRules {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const rules: Ignore = ignore({ ignoreCase: foldsCase }).add(lines.flatMap(withinLimits));
  const nameOf = (path: string) => relative(folder, path).replaceAll(sep, '/');
  return {
    hides(path, isFolder) {
      const name = nameOf(path);
      // The folder itself, such as the path of `http://host/`.
      if (name === '') return undefined;
      const { ignored, unignored } = rules.test(isFolder ? `${name}/` : name);
      return ignored || unignored ? ignored : undefined;
    },
    withNamed(named) {
      const parts = nameOf(named)
        .replace(/[\\*?[]/g, '\\$&')
        .split('/');
      const paths = parts.map((_, at) => `!/${parts.slice(0, at + 1).join('/')}/`);
      return createIgnoreRules(folder, [text, ...paths].join('\n'));
    },
  };
}

/** By default, git does not distinguish upper and lower case where the file system does not. */
const foldsCase = thisPlatform === 'win32' || thisPlatform === 'darwin';

/** The time that a rule takes grows with each `**` as a power does. */
const maxStars = 3;

/** A rule with more `**` hides more than it should, or brings nothing back. */
function withinLimits(line: string): readonly string[] {
  if ((line.match(/\*\*/g)?.length ?? 0) <= maxStars) return [line];
  return line.startsWith('!') ? [] : [line.replace(/\*\*.*\*\*/, '**')];
}

/** How long what was read of a folder counts, in ms: completion asks about many files at once. */
const maxAge = 1_000;
const maxFolders = 1_000;

/** Whether a `.runnerignore` in a folder above a file hides the file. */
export function createRunnerIgnore(now: () => number): (path: string) => Promise<boolean> {
  const known = new Map<string, { readonly rules: Promise<IgnoreRules>; readonly readAt: number }>();
  const rulesOf = (folder: string) => {
    const last = known.get(folder);
    if (last && now() - last.readAt < maxAge) return last.rules;
    if (known.size >= maxFolders) known.clear();
    const rules = readIgnoreRules(folder, '.runnerignore');
    known.set(folder, { rules, readAt: now() });
    return rules;
  };
  return async (path) => {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      if ((await rulesOf(folder)).hides(path, false)) return true;
      if (folder === dirname(folder)) return false;
    }
  };
}
