import { count, cutText, plainEnds } from '../../../protocol/base/text.ts';
import { Omissions } from '../../files/folderFiles.ts';
import { readFile } from './fileStore.ts';
import { type LineMatches, type LineSearch, literalSearch, regexSearch } from './lineSearch.ts';
import { type ProjectFile, type ProjectOptions, projectFiles } from './projectFiles.ts';
import { FileProblemError, type WorkspacePlace } from './workspace.ts';

/** In bytes: larger files are seldom written by hand. */
const maxFile = 1024 * 1024;
/** Bytes that one search reads. */
const maxRead = 64 * 1024 * 1024;
const maxShown = 50;
/** Lines of one file, as long as other files have some. */
const maxOfFile = 5;
/** Lines that are kept until it is known which are shown. */
const maxKept = 2_000;
const maxNames = 20;
const roomForNote = 200;

interface SearchOptions {
  readonly query: string;
  readonly regex?: boolean | undefined;
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
  project: ProjectOptions,
  { query, regex = false, room, signal }: SearchOptions,
): Promise<string> {
  const search = regex ? regexSearch(query) : literalSearch(query);
  try {
    const { found, names, note } = await searchAll(place, project, { query, search, signal });
    if (found.length === 0) return withNote(regex ? 'No line matches.' : nothingFound(query, names), note);
    return withNote(shownLines(found, room - roomForNote - note.length), note);
  } finally {
    search.end();
  }
}

async function searchAll(
  place: WorkspacePlace,
  project: ProjectOptions,
  {
    query,
    search,
    signal,
  }: { readonly query: string; readonly search: LineSearch; readonly signal: AbortSignal },
) {
  const left = new Omissions();
  const files = place.isFolder ? projectFiles(place, project, { left, signal }) : [place];
  const found: FileLines[] = [];
  const names: string[] = [];
  let [bytes, kept, note] = [0, 0, ''];
  for await (const file of files) {
    if (file.name.toLowerCase().includes(query.toLowerCase())) names.push(file.name);
    const text = await readText(file);
    if (text === undefined && !place.isFolder)
      throw new FileProblemError(`${place.name} is not searched: it is no text, or has more than 1 MB.`);
    if (text === undefined) continue;
    bytes += text.length;
    if (bytes > maxRead) left.stop('the rest');
    const lines = left.rest === undefined ? await search.lines(text, kept < maxKept ? maxShown : 1) : 'late';
    if (lines === 'late') {
      note =
        '[The search took too long and was ended: not all files were searched. Name a folder in "path".]';
      break;
    }
    if (lines.total === 0) continue;
    kept += lines.lines.length;
    // A name with a line end in it would look like two lines.
    found.push({ name: file.name.replace(/[\r\n]/g, '?'), ...lines });
  }
  if (note === '' && left.rest !== undefined)
    note = '[The project is very large: not all files were searched. Name a folder in "path".]';
  return { found, names, note };
}

/** Undefined if it is no text, or too large. */
async function readText({ path }: ProjectFile): Promise<string | undefined> {
  const bytes = await readFile(path, maxFile).catch(() => undefined);
  return bytes === undefined || bytes.includes(0) ? undefined : plainEnds(bytes.toString('utf8'));
}

function withNote(text: string, note: string): string {
  return note === '' ? text : `${text}\n${note}`;
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
  const first = found.map(({ lines }) => Math.min(lines.length, maxOfFile));
  let free = maxShown;
  const shares = first.map((wanted) => takeFrom(wanted));
  function takeFrom(wanted: number): number {
    const taken = Math.min(wanted, free);
    free -= taken;
    return taken;
  }
  for (const [at, { lines }] of found.entries())
    shares[at] = (shares[at] ?? 0) + takeFrom(lines.length - (shares[at] ?? 0));
  let rest = room;
  const shown: string[] = [];
  for (const [at, { name, lines }] of found.entries())
    for (const { number, text } of lines.slice(0, shares[at])) {
      const line = `${name}:${number}: ${text}`;
      rest -= line.length + 1;
      if (rest >= 0) shown.push(line);
    }
  const counts = `${count(total, 'line')} in ${count(found.length, 'file')}`;
  const isWhole = shown.length === total;
  return [`${counts}${isWhole ? '' : `; ${shown.length} shown`}`, ...shown].join('\n');
}
