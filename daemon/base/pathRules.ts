import { dirname, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { thisPlatform } from '../../protocol/base/platform/folders.ts';
import { readRegularFile } from './regularFile.ts';

export type Excludes = (path: string) => boolean;

/**
 * Globs as editors write them: `*` and `?` within a name, `**` across folders, `[a-z]` and `[!a-z]`, `{one,other}`.
 * They match at every depth, a folder excludes everything below it, and case does not matter. A glob that can be read
 * in two ways excludes what either reading excludes.
 *
 * Libraries turn a glob into a regular expression, which backtracks: `*a*a*a*a*a*ab` and a name of 100 letters keep
 * picomatch 4 busy for more than a second, and each further `*a` multiplies that time. Here each part of a glob visits
 * each place in a path at most twice. The settings bound the length of globs (`daemon/config/valueSchemas.ts`), and
 * `filePrivacy.ts` bounds the length of paths.
 */
export function createExcludes(globs: readonly string[]): Excludes {
  const parts = globs.map((glob) => glob.trim()).flatMap((glob) => (glob === '' ? [] : [compileGlob(glob)]));
  return (path) => {
    const characters = [...plain(path)];
    const starts = Uint8Array.from(['', ...characters], (_, at) => Number(isBoundary(characters, at - 1)));
    return parts.some((part) => part(starts, characters).some((is, at) => is && isBoundary(characters, at)));
  };
}

/** The same globs, for a whole path that is relative to the folder of the glob. */
export function createGlob(glob: string): (path: string) => boolean {
  const part = compileGlob(glob);
  return (path) => {
    const characters = [...plain(path)];
    const start = new Uint8Array(characters.length + 1);
    start[0] = 1;
    return part(start, characters)[characters.length] === 1;
  };
}

/** Whether a place in a path is at a slash, or at an end of the path. */
function isBoundary(path: readonly string[], at: number): boolean {
  return (path[at] ?? '/') === '/';
}

/** For each place in a path, including the one after its end: 1 if a part of a glob may begin or end there, else 0. */
type Positions = Uint8Array;

/** A part of a glob: from the places where it may begin to those where it may end. */
type Part = (from: Positions, path: readonly string[]) => Positions;

/** Exported so that tests can count the work. */
export function compileGlob(glob: string): Part {
  const characters = [...withoutOuterSlashes(plain(glob))];
  const [lastBrace, lastBracket] = [characters.lastIndexOf('}'), characters.lastIndexOf(']')];
  let at = 0;
  const isNext = (character: string) => characters[at + 1] === character;

  const sequence = (ends: string): Part => {
    const parts: Part[] = [];
    for (let next = characters[at]; next !== undefined && !ends.includes(next); next = characters[++at])
      parts.push(partOf(next));
    return (from, path) => parts.reduce((places, part) => part(places, path), from);
  };
  const partOf = (character: string): Part => {
    if (character === '*') return stars();
    if (character === '?') return one(isInName);
    if (character === '[' && at + 2 <= lastBracket) return set();
    if (character === '{' && at < lastBrace) return choice();
    return one((other) => other === character);
  };
  const stars = (): Part => {
    if (!isNext('*')) return any(isInName);
    while (isNext('*')) at += 1;
    if (!isNext('/')) return anything;
    at += 1;
    return folders;
  };
  /** A bracket at the start is a member of the set. */
  const set = (): Part => {
    const start = at + 1;
    at = characters.indexOf(']', start + 1);
    return one(memberOf(characters.slice(start, at).join('')));
  };
  /** Ends at its brace, or at the end of the glob if the brace is missing. */
  const choice = (): Part => {
    const parts: Part[] = [];
    do {
      at += 1;
      parts.push(sequence(',}'));
    } while (characters[at] === ',');
    return (from, path) => union(parts.map((part) => part(from, path)));
  };
  return sequence('');
}

type Test = (character: string) => boolean;

const isInName: Test = (character) => character !== '/';

function one(isWanted: Test): Part {
  return (from, path) => {
    const after = new Uint8Array(from.length);
    for (let at = 0; at < path.length; at += 1)
      if (from[at] === 1 && isWanted(path[at] ?? '')) after[at + 1] = 1;
    return after;
  };
}

function any(isWanted: Test): Part {
  return (from, path) => {
    const after = from.slice();
    for (let at = 0; at < path.length; at += 1)
      if (after[at] === 1 && isWanted(path[at] ?? '')) after[at + 1] = 1;
    return after;
  };
}

const anything = any(() => true);
const slash = one((character) => character === '/');

/** Any folders, each with the slash after it, or none. */
const folders: Part = (from, path) => union([from, slash(anything(from, path), path)]);

function union(all: readonly Positions[]): Positions {
  return all.reduce((some, more) => some.map((is, at) => is | (more[at] ?? 0)));
}

/** The content of a set: characters and ranges. A `!` or `^` before them negates the set. */
function memberOf(inside: string): Test {
  const isNegated = /^[!^]/.test(inside);
  const ranges = [...inside.slice(isNegated ? 1 : 0).matchAll(/(.)-(.)|(.)/gsu)].map(
    ([, from, to, single = '']) => ({ from: from ?? single, to: to ?? single }),
  );
  // Both ends of a backward range are members.
  const isMember: Test = (character) =>
    ranges.some(({ from, to }) => [from, to].includes(character) || (from <= character && character <= to));
  return (character) => isInName(character) && isMember(character) !== isNegated;
}

function plain(text: string): string {
  return text.replaceAll('\\', '/').toLowerCase();
}

/** A glob may also begin with `./`. */
function withoutOuterSlashes(glob: string): string {
  const rest = glob.replace(/^(?:\.?\/)+/, '');
  let end = rest.length;
  while (rest[end - 1] === '/') end -= 1;
  return rest.slice(0, end);
}

/** In bytes: larger files are not made by hand. */
const maxFile = 64 * 1024;

/** What a `.gitignore`, or a file of its form, says about paths below its folder, read as git does. */
export class IgnoreRules {
  readonly #rules: Ignore;

  constructor(
    private readonly folder: string,
    private readonly text: string,
  ) {
    const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
    this.#rules = ignore({ ignoreCase: foldsCase }).add(lines.flatMap(withinLimits));
  }

  /** No rules if the file cannot be read. */
  static async read(folder: string, name: string): Promise<IgnoreRules> {
    const text = await readRegularFile(`${folder}${sep}${name}`, maxFile).catch(() => '');
    return new IgnoreRules(folder, text);
  }

  /** Whether it hides a path, or brings it back; undefined if it says nothing about it. */
  hides(path: string, isFolder: boolean): boolean | undefined {
    const name = this.#nameOf(path);
    // The folder itself, such as the path of `http://host/`.
    if (name === '') return undefined;
    const { ignored, unignored } = this.#rules.test(isFolder ? `${name}/` : name);
    return ignored || unignored ? ignored : undefined;
  }

  /** The same rules, which have no effect on a folder that somebody named, as far as they hide it as a whole. */
  withNamed(folder: string): IgnoreRules {
    const parts = this.#nameOf(folder)
      .replace(/[\\*?[]/g, '\\$&')
      .split('/');
    const paths = parts.map((_, at) => `!/${parts.slice(0, at + 1).join('/')}/`);
    return new IgnoreRules(this.folder, [this.text, ...paths].join('\n'));
  }

  #nameOf(path: string): string {
    return relative(this.folder, path).replaceAll(sep, '/');
  }
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
    const rules = IgnoreRules.read(folder, '.runnerignore');
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
