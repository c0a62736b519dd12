import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { homeFolder, stateFolder, thisPlatform } from '../../../protocol/base/platform/folders.ts';

/** How many entries can be recalled. */
export const historySize = 1000;
/** In bytes. A larger file becomes the older one of two when a conversation begins. */
const maxFile = 256 * 1024;
/** In characters. A longer entry is not kept. */
const maxEntry = 64 * 1024;

export function historyPath(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = thisPlatform,
): string {
  return join(stateFolder(env, platform), 'history');
}

/** Where Runner 0.1 kept it, on every system and also under a relative path. */
export function formerHistoryPath(env: Readonly<Record<string, string | undefined>>): string {
  const home = env['XDG_STATE_HOME'] || join(homeFolder(env), '.local', 'state');
  return join(home, 'runner', 'history');
}

/**
 * The entries of earlier conversations in any terminal, newest first, as readline wants them. A file at the former path
 * moves to the new one, unless there is one already.
 */
export function readHistory(path: string, former = path): string[] {
  if (former !== path && !existsSync(path)) move(former, path);
  makeRoom(path);
  const entries = [olderThan(path), path].flatMap(entriesOf).reverse();
  return [...new Set(entries)].slice(0, historySize);
}

/**
 * Adds an entry. Other terminals append to the same file, so the file is never rewritten. Prompts are private: only
 * their owner can read the file. If the folder cannot be written, only the history is lost.
 */
export function appendHistory(path: string, entry: string): void {
  if (entry.length > maxEntry) return;
  makeFolders(path);
  // Appending does not change the mode of an existing file.
  tryTo(() => chmodSync(path, 0o600));
  tryTo(() => appendFileSync(path, `${entry}\n`, { mode: 0o600 }));
}

function move(from: string, to: string): void {
  if (!existsSync(from)) return;
  makeFolders(to);
  tryTo(() => renameSync(from, to));
}

function makeFolders(path: string): void {
  for (const folder of foldersOf(path)) tryTo(() => mkdirSync(folder, { mode: 0o700 }));
}

function entriesOf(path: string): readonly string[] {
  const text = tryTo(() => readFileSync(path, 'utf8')) ?? '';
  return text.split('\n').filter((line) => line !== '');
}

/** An entry that another terminal adds at the same moment is in one of the two files. */
function makeRoom(path: string): void {
  const taken = `${path}.${process.pid}`;
  tryTo(() => {
    if (statSync(path).size <= maxFile) return;
    renameSync(path, taken);
    if (statSync(taken).size > maxFile) return renameSync(taken, olderThan(path));
    // Another terminal has moved the file already. This one has only the entries since then.
    appendFileSync(path, readFileSync(taken), { mode: 0o600 });
    unlinkSync(taken);
  });
}

function olderThan(path: string): string {
  return `${path}.old`;
}

/** The result of the work; undefined if the file system refuses it. */
function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** The outermost first. They are created one by one, because Node's recursive `mkdir` never ends on `/proc`. */
function foldersOf(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...foldersOf(folder), folder];
}

/** Stands for a line feed in the history, so that a prompt of several lines is one entry that can be edited. */
export const lineEnd = '\u2424';
const quotes = '"""';

/** The lines in one line of the editor, which may be an entry of the history. */
export function linesOfEntry(line: string): readonly string[] {
  return line.split(lineEnd);
}

/** The entry as the history keeps it. */
export function entryOfLines(lines: readonly string[]): string {
  return joinContinued(lines).replaceAll('\n', lineEnd);
}

/** Whether more lines follow: the last one ends with a backslash, or the quotes are not closed. */
export function isOpenEntry(lines: readonly string[]): boolean {
  const text = lines.join('\n').trim();
  if (text.startsWith(quotes)) return text.length < 2 * quotes.length || !text.endsWith(quotes);
  return lines.at(-1)?.endsWith('\\') === true;
}

/** The prompt, without the backslashes and quotes that joined its lines. */
export function textOfEntry(lines: readonly string[]): string {
  const text = lines.join('\n').trim();
  if (!text.startsWith(quotes) || isOpenEntry(lines)) return joinContinued(lines);
  const quoted = text.slice(quotes.length, -quotes.length).replace(/^\n|\n$/g, '');
  // In quotes it is always a prompt. Two slashes begin a prompt with one slash.
  return quoted.trimStart().startsWith('/') ? `/${quoted.trimStart()}` : quoted;
}

function joinContinued(lines: readonly string[]): string {
  return lines.join('\n').replace(/\\\n/g, '\n');
}
