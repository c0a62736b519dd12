import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { count, cutText, plainEnds } from '../../../protocol/base/text.ts';
import { Omissions } from '../../files/folderFiles.ts';
import { FileProblemError } from './fileProblem.ts';
import { readFile } from './fileStore.ts';
import { fitting, roomForNote } from './readLines.ts';
import type { Workspace, WorkspacePlace } from './workspace.ts';

/** In bytes: larger files are seldom written by hand. */
const maxFile = 1024 * 1024;
/** Characters that one search reads. */
const maxRead = 64 * 1024 * 1024;
const maxShown = 50;
/** Lines of one file, as long as other files have some. */
const maxOfFile = 5;
/** Lines that are kept until it is known which are shown. */
const maxKept = 2_000;
/** Of a line, in characters. */
const maxLine = 200;
const maxNames = 20;
/** Of a regular expression, in characters. */
const maxQuery = 200;
/** For all texts of a search, in ms. A regular expression may take for ever. */
const [longest, longestOfRegex] = [10_000, 2_000];

interface SearchOptions {
  readonly query: string;
  readonly isRegex: boolean;
  /** The most characters of the result. */
  readonly room: number;
  readonly signal: AbortSignal;
}

/** The lines of the project's files that have a text, each as `path:line: text`, below how many there are. */
export async function searchFiles(
  place: WorkspacePlace,
  workspace: Workspace,
  { query, isRegex, room, signal }: SearchOptions,
): Promise<string> {
  const search = createLineSearch(query, isRegex, signal);
  const left = new Omissions();
  const found: FileLines[] = [];
  const names: string[] = [];
  let [read, kept, isLate] = [0, 0, false];
  try {
    for await (const { name, path } of place.isFolder ? workspace.filesBelow(place, signal, left) : [place]) {
      if (name.toLowerCase().includes(query.toLowerCase())) names.push(name);
      const text = await readText(path);
      if (text === undefined && !place.isFolder)
        throw new FileProblemError(`${name} is not searched: it is no text, or has more than 1 MB.`);
      if (text === undefined) continue;
      read += text.length;
      const matches = read > maxRead ? undefined : await search.lines(text, kept < maxKept ? maxShown : 1);
      isLate = matches === undefined;
      if (!matches) break;
      kept += matches.lines.length;
      // A name with a line end in it would look like two lines.
      if (matches.total > 0) found.push({ name: name.replace(/[\r\n]/g, '?'), ...matches });
    }
  } finally {
    search.end();
  }
  const note = isLate ? lateNote : left.rest === undefined ? '' : largeNote;
  if (found.length > 0) return `${shownLines(found, room - roomForNote - note.length)}${note}`;
  return `${isRegex ? 'No line matches.' : nothingFound(query, names)}${note}`;
}

const lateNote =
  '\n[The search took too long and was ended: not all files were searched. Name a folder in "path".]';
const largeNote = '\n[The project is very large: not all files were searched. Name a folder in "path".]';

/** Undefined if it is no text, or too large. */
async function readText(path: string): Promise<string | undefined> {
  const bytes = await readFile(path, maxFile).catch(() => undefined);
  return bytes === undefined || bytes.includes(0) ? undefined : plainEnds(bytes.toString('utf8'));
}

function nothingFound(query: string, names: readonly string[]): string {
  const sought = JSON.stringify(cutText(query, 100));
  if (names.length === 0) return `No line has ${sought}.`;
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `No line has ${sought}. Files with that name: ${names.slice(0, maxNames).join(', ')}${more}.`;
}

/** First a few lines of each file, then the others. */
function shownLines(found: readonly FileLines[], room: number): string {
  const total = found.reduce((sum, file) => sum + file.total, 0);
  const lines = found.flatMap(({ name, lines }) =>
    lines.map(({ number, line, at }, index) => ({
      line: `${name}:${number}: ${partOf(line, at)}`,
      isEarly: index < maxOfFile,
    })),
  );
  const earlyFirst = lines.toSorted((a, b) => Number(b.isEarly) - Number(a.isEarly));
  const chosen = new Set(earlyFirst.slice(0, maxShown));
  const inOrder = lines.filter((one) => chosen.has(one)).map(({ line }) => line);
  const shown = fitting(inOrder, room, (line) => line.length + 1);
  const counts = `${count(total, 'line')} in ${count(found.length, 'file')}`;
  return [`${counts}${shown.length === total ? '' : `; ${shown.length} shown`}`, ...shown].join('\n');
}

/** A long line is cut around what was found in it. */
function partOf(line: string, at: number): string {
  const bare = line.trimEnd();
  if (bare.length <= maxLine) return bare;
  const start = Math.max(0, Math.min(at - maxLine / 4, bare.length - maxLine));
  const part = cutText(bare.slice(start), maxLine - 2);
  return `${start > 0 ? '…' : ''}${part}${start + part.length < bare.length ? '…' : ''}`;
}

/** The lines of one text. */
interface LineMatches {
  readonly total: number;
  /** The first of them, each with its number, from 1, the line, and where in it the text is. */
  readonly lines: readonly { readonly number: number; readonly line: string; readonly at: number }[];
}

interface FileLines extends LineMatches {
  readonly name: string;
}

/** The program of the worker. It knows nothing but the texts that it gets. */
const program = `
  const { parentPort, workerData: pattern } = require('node:worker_threads');
  parentPort.on('message', ({ text, max }) => {
    const found = { total: 0, lines: [] };
    text.split('\\n').forEach((line, index) => {
      const match = pattern.exec(line);
      if (match === null) return;
      found.total += 1;
      const start = Math.max(0, match.index - 300);
      if (found.lines.length < max)
        found.lines.push({ number: index + 1, line: line.slice(start, start + 700), at: match.index - start });
    });
    parentPort.postMessage(found);
  });`;

/** Finds the lines that have a text, in a worker that is ended once it has worked for too long. */
function createLineSearch(query: string, isRegex: boolean, signal: AbortSignal) {
  const workerData = isRegex ? regexOf(query) : literalOf(query);
  const worker = new Worker(program, { eval: true, workerData, env: {}, execArgv: [] });
  worker.unref();
  const reason = new Error('The search takes too long.');
  let limit = isRegex ? longestOfRegex : longest;
  return {
    /** Undefined once the time of the whole search is over. */
    async lines(text: string, max: number): Promise<LineMatches | undefined> {
      const begun = performance.now();
      try {
        const answer = (open: AbortSignal) => once(worker, 'message', { signal: open });
        worker.postMessage({ text, max });
        const [found] = await withTimeLimit({ limit, reason, signal }, answer);
        limit = Math.max(0, limit - (performance.now() - begun));
        return found;
      } catch (error) {
        if (error === reason) return undefined;
        throw error;
      }
    },
    end: () => void worker.terminate(),
  };
}

/** @throws {FileProblemError} if no line can have it. */
function literalOf(query: string): RegExp {
  if (query.trim() === '') throw new FileProblemError('The query is empty. Give a text that the lines have.');
  if (query.includes('\n'))
    throw new FileProblemError('A query is a part of one line. Give one without a line end.');
  return new RegExp(query.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), foldOf(query));
}

/** @throws {FileProblemError} if it is too long, or no regular expression. */
function regexOf(source: string): RegExp {
  if (source.length > maxQuery)
    throw new FileProblemError(
      `A regular expression has at most ${maxQuery} characters. Give a shorter one.`,
    );
  const fold = foldOf(source.replace(/\\./gs, ''));
  for (const flags of [`${fold}u`, fold])
    try {
      return new RegExp(source, flags);
    } catch {
      // Old forms are none with the flag `u`.
    }
  throw new FileProblemError(
    'The query is no regular expression of JavaScript. Correct it, or search without "regex".',
  );
}

/** If a query is all in lower case, case does not matter. */
function foldOf(query: string): string {
  return query === query.toLowerCase() ? 'i' : '';
}
