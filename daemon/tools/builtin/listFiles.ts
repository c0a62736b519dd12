import { stat } from 'node:fs/promises';
import { formatBytes } from '../../../protocol/base/bytes.ts';
import { count, cutText } from '../../../protocol/base/text.ts';
import { createGlob } from '../../base/globs.ts';
import { Omissions } from '../../files/folderFiles.ts';
import { FileProblemError } from './fileProblem.ts';
import { fitting } from './readLines.ts';
import type { Workspace, WorkspacePlace } from './workspace.ts';

const maxEntries = 200;
/** A folder with more entries is not opened, unless it is listed itself: it would take the place of the others. */
const maxOfFolder = 50;
/** In characters. A longer glob takes too long for very many files. */
const maxPattern = 200;
/** Of an entry, in characters, beside its name: its size or its number of files. */
const roomForSize = 14;
const roomForNote = 200;

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
  const entries = entriesOf(root, openFolders(root, room - roomForNote));
  const roomFor = ({ name }: Entry) => name.length + roomForSize;
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
  const globs = [pattern, ...(pattern.includes('/') ? [] : [`**/${pattern}`])].map(createGlob);
  return (name) => globs.some((matches) => matches(name));
}

interface ListedFile {
  readonly name: string;
  readonly path: string;
}

interface Folder {
  readonly name: string;
  readonly folders: Map<string, Folder>;
  readonly files: ListedFile[];
  /** The files in it, also in its folders. */
  count: number;
}

type Entry = Folder | ListedFile;

function createFolder(name: string): Folder {
  return { name, folders: new Map(), files: [], count: 0 };
}

/** `start` is where the path below the folder begins. */
function addFile(folder: Folder, file: ListedFile, start: number): void {
  folder.count += 1;
  const end = file.name.indexOf('/', start);
  if (end === -1) return void folder.files.push(file);
  const name = file.name.slice(0, end);
  const next = folder.folders.get(name) ?? createFolder(name);
  folder.folders.set(name, next);
  addFile(next, file, end + 1);
}

/** The folders whose content is shown: those at the top first, and there the small ones, as long as there is room. */
function openFolders(root: Folder, room: number): ReadonlySet<Folder> {
  const open = new Set([root]);
  let { entries, characters } = sizeOf(root);
  for (const folder of open) {
    const children = [...folder.folders.values()].map((child) => ({ child, size: sizeOf(child) }));
    for (const { child, size } of children.sort((a, b) => a.size.entries - b.size.entries)) {
      // Its entries come in place of its own.
      const [more, longer] = [size.entries - 1, size.characters - child.name.length - roomForSize];
      const isFitting = entries + more <= maxEntries && characters + longer <= room;
      if (!isFitting || size.entries > maxOfFolder) continue;
      open.add(child);
      entries += more;
      characters += longer;
    }
  }
  return open;
}

function sizeOf({ folders, files }: Folder) {
  const all = [...folders.values(), ...files];
  const characters = all.reduce((sum, { name }) => sum + name.length + roomForSize, 0);
  return { entries: all.length, characters };
}

/** Folders by their names: they are met in the order of their first files. */
function entriesOf({ folders, files }: Folder, open: ReadonlySet<Folder>): readonly Entry[] {
  const inOrder = [...folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [...inOrder.flatMap((child) => (open.has(child) ? entriesOf(child, open) : [child])), ...files];
}

/** A name with a line end in it would look like two entries. */
async function lineOf(entry: Entry): Promise<string> {
  const name = cutText(entry.name, 1_000).replace(/[\r\n]/g, '?');
  if ('folders' in entry) return `${name}/ (${count(entry.count, 'file')})`;
  const found = await stat(entry.path).catch(() => undefined);
  return `${name}${found === undefined ? '' : ` (${formatBytes(found.size)})`}`;
}
