import { count, cutText, plainEnds } from '../../../protocol/base/text.ts';
import { Omissions } from '../../files/folderFiles.ts';
import { FileProblemError } from './fileProblem.ts';
import { readFile } from './fileStore.ts';
import { createLineSearch, type LineMatches } from './lineSearch.ts';
import { fitting } from './readLines.ts';
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
const roomForNote = 200;

interface SearchOptions {
  readonly query: string;
  readonly isRegex: boolean;
  /** The most characters of the result. */
  readonly room: number;
  readonly signal: AbortSignal;
}

interface FileLines extends LineMatches {
  readonly name: string;
}

/** The lines of the project's files that have a text, each as `path:line: text`, below how many there are. */
export async function searchFiles(
  place: WorkspacePlace,
  workspace: Workspace,
  options: SearchOptions,
): Promise<string> {
  const { found, names, note } = await searchAll(place, workspace, options);
  const { query, isRegex, room } = options;
  if (found.length > 0) return `${shownLines(found, room - roomForNote - note.length)}${note}`;
  return `${isRegex ? 'No line matches.' : nothingFound(query, names)}${note}`;
}

async function searchAll(
  place: WorkspacePlace,
  workspace: Workspace,
  { query, isRegex, signal }: SearchOptions,
) {
  const search = createLineSearch(query, isRegex, signal);
  const left = new Omissions();
  const found: FileLines[] = [];
  const names: string[] = [];
  let [read, kept] = [0, 0];
  try {
    for await (const { name, path } of place.isFolder ? workspace.filesBelow(place, signal, left) : [place]) {
      if (name.toLowerCase().includes(query.toLowerCase())) names.push(name);
      const text = await readText(path);
      if (text === undefined && !place.isFolder)
        throw new FileProblemError(`${name} is not searched: it is no text, or has more than 1 MB.`);
      if (text === undefined) continue;
      read += text.length;
      const isLate = read > maxRead || left.rest !== undefined;
      const matches = isLate ? 'late' : await search.lines(text, kept < maxKept ? maxShown : 1);
      if (matches === 'late') return { found, names, note: lateNote };
      kept += matches.lines.length;
      // A name with a line end in it would look like two lines.
      if (matches.total > 0) found.push({ name: name.replace(/[\r\n]/g, '?'), ...matches });
    }
  } finally {
    search.end();
  }
  return { found, names, note: left.rest === undefined ? '' : largeNote };
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
  const [early, late] = [lines.filter(({ isEarly }) => isEarly), lines.filter(({ isEarly }) => !isEarly)];
  const chosen = new Set([...early, ...late].slice(0, maxShown));
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
