import { stat } from 'node:fs/promises';
import { count, cutText, formatBytes } from '../../../protocol/base/text.ts';
import { createGlob } from '../../base/pathRules.ts';
import { Omissions } from '../../files/folderFiles.ts';
import { FileProblemError } from './fileProblem.ts';
import { fitting, roomForNote } from './readLines.ts';
import type { ProjectFile, Workspace, WorkspacePlace } from './workspace.ts';

const maxEntries = 200;
/** A folder with more entries is not opened, unless it is listed itself: it would take the place of the others. */
const maxOfFolder = 50;
/** In characters. A longer glob takes too long for very many files. */
const maxPattern = 200;
/** Of an entry, in characters, beside its name: its size or its number of files. */
const roomForSize = 14;

interface ListOptions {
  readonly pattern?: string | undefined;
  /** The most characters of the list. */
  readonly room: number;
  readonly signal: AbortSignal;
}

/**
 * The files of a folder with their sizes, folders first, as deep as there is room. A folder that is not opened has the
 * number of its files.
 */
export async function listFiles(
  folder: WorkspacePlace,
  workspace: Workspace,
  { pattern, room, signal }: ListOptions,
): Promise<string> {
  const matches = matcherOf(pattern);
  const left = new Omissions();
  const root = createFolder(folder.name);
  for await (const file of workspace.filesBelow(folder, signal, left))
    if (matches(file.name)) addFile(root, file, folder.name === '' ? 0 : folder.name.length + 1);
  const entries = openedEntries(root, room - roomForNote);
  const shown = fitting(entries.slice(0, maxEntries), room - roomForNote, roomFor);
  const lines = await Promise.all(shown.map(lineOf));
  if (lines.length === 0)
    lines.push(pattern === undefined ? '[No files.]' : '[No file matches the pattern.]');
  if (left.rest !== undefined) lines.push('[The rest of a very large folder is not listed.]');
  if (shown.length < entries.length)
    lines.push(
      `[${shown.length} of ${count(entries.length, 'entry', 'entries')}. Give a folder or a pattern to see others.]`,
    );
  return lines.join('\n');
}

/** A pattern without a slash is for names in any folder. */
function matcherOf(pattern = ''): (name: string) => boolean {
  if (pattern === '') return () => true;
  if (pattern.length > maxPattern)
    throw new FileProblemError(`The pattern has more than ${maxPattern} characters. Give a shorter one.`);
  return createGlob(pattern.includes('/') ? pattern : `**/${pattern}`);
}

interface Folder {
  readonly name: string;
  readonly folders: Map<string, Folder>;
  readonly files: ProjectFile[];
  /** The files in it, also in its folders. */
  count: number;
}

type Entry = Folder | ProjectFile;

function createFolder(name: string): Folder {
  return { name, folders: new Map(), files: [], count: 0 };
}

/** `start` is where the path below the folder begins. */
function addFile(folder: Folder, file: ProjectFile, start: number): void {
  folder.count += 1;
  const end = file.name.indexOf('/', start);
  if (end === -1) return void folder.files.push(file);
  const name = file.name.slice(0, end);
  const next = folder.folders.get(name) ?? createFolder(name);
  folder.folders.set(name, next);
  addFile(next, file, end + 1);
}

/** The entries of a folder, with those of its folders in their place: at the top first, and there the small ones. */
function openedEntries(root: Folder, room: number): readonly Entry[] {
  let entries = entriesOf(root);
  const open = [root];
  for (const folder of open)
    for (const child of [...folder.folders.values()].sort((a, b) => sizeOf(a) - sizeOf(b))) {
      if (sizeOf(child) > maxOfFolder || entries.length - 1 + sizeOf(child) > maxEntries) continue;
      const opened = entries.toSpliced(entries.indexOf(child), 1, ...entriesOf(child));
      if (opened.reduce((sum, entry) => sum + roomFor(entry), 0) > room) continue;
      entries = opened;
      open.push(child);
    }
  return entries;
}

/** Folders by their names: they are met in the order of their first files. */
function entriesOf({ folders, files }: Folder): readonly Entry[] {
  return [...[...folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), ...files];
}

function sizeOf({ folders, files }: Folder): number {
  return folders.size + files.length;
}

function roomFor({ name }: Entry): number {
  return name.length + roomForSize;
}

/** A name with a line end in it would look like two entries. */
async function lineOf(entry: Entry): Promise<string> {
  const name = cutText(entry.name, 1_000).replace(/[\r\n]/g, '?');
  if ('folders' in entry) return `${name}/ (${count(entry.count, 'file')})`;
  const found = await stat(entry.path).catch(() => undefined);
  return `${name}${found === undefined ? '' : ` (${formatBytes(found.size)})`}`;
}
