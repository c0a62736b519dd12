import { stat } from 'node:fs/promises';
import { count, cutText } from '../../../protocol/base/text.ts';
import { createGlob } from '../../base/globs.ts';
import { Omissions } from '../../files/folderFiles.ts';
import { type ProjectFile, type ProjectOptions, projectFiles } from './projectFiles.ts';
import { FileProblemError, type WorkspacePlace } from './workspace.ts';

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
  project: ProjectOptions,
  { pattern, room, signal }: ListOptions,
): Promise<string> {
  const matches = matcherOf(pattern);
  const left = new Omissions();
  const root = createFolder(folder.name);
  for await (const file of projectFiles(folder, project, { left, signal }))
    if (matches(file.name)) addFile(root, file, folder.name === '' ? 0 : folder.name.length + 1);
  const shown = entriesOf(root, openFolders(root, room - roomForNote));
  const kept = fitting(shown, room - roomForNote);
  const lines = await Promise.all(kept.map(lineOf));
  const rest = left.rest === undefined ? [] : ['[The rest of a very large folder is not listed.]'];
  if (kept.length < shown.length)
    rest.push(
      `[${kept.length} of ${count(shown.length, 'entry', 'entries')}. Give a folder or a pattern to see others.]`,
    );
  if (lines.length === 0)
    rest.unshift(pattern === undefined ? '[No files.]' : '[No file matches the pattern.]');
  return [...lines, ...rest].join('\n');
}

/** A pattern without a slash is for names in any folder. */
function matcherOf(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined || pattern === '') return () => true;
  if (pattern.length > maxPattern)
    throw new FileProblemError(`The pattern has more than ${maxPattern} characters. Give a shorter one.`);
  const globs = [pattern, ...(pattern.includes('/') ? [] : [`**/${pattern}`])].map(createGlob);
  return (name) => globs.some((matches) => matches(name));
}

interface Folder {
  readonly name: string;
  readonly folders: Map<string, Folder>;
  readonly files: ProjectFile[];
  /** The files in it, also in its folders. */
  count: number;
}

function createFolder(name: string): Folder {
  return { name, folders: new Map(), files: [], count: 0 };
}

/** `start` is where the path below the root begins. */
function addFile(root: Folder, file: ProjectFile, start: number): void {
  let folder = root;
  folder.count += 1;
  for (let end = file.name.indexOf('/', start); end !== -1; end = file.name.indexOf('/', end + 1)) {
    const name = file.name.slice(0, end);
    const next = folder.folders.get(name) ?? createFolder(name);
    folder.folders.set(name, next);
    folder = next;
    folder.count += 1;
  }
  folder.files.push(file);
}

type Entry = { readonly folder: Folder } | { readonly file: ProjectFile };

/** The folders whose content is shown: those at the top first, and there the small ones, as long as there is room. */
function openFolders(root: Folder, room: number): ReadonlySet<Folder> {
  const open = new Set([root]);
  let [entries, characters] = [sizeOf(root).entries, sizeOf(root).characters];
  for (const folder of open) {
    const children = [...folder.folders.values()].map((child) => ({ child, size: sizeOf(child) }));
    for (const { child, size } of children.sort((a, b) => a.size.entries - b.size.entries)) {
      const isFitting =
        size.entries <= maxOfFolder &&
        entries + size.entries - 1 <= maxEntries &&
        characters + size.characters - child.name.length - roomForSize <= room;
      if (!isFitting) continue;
      open.add(child);
      entries += size.entries - 1;
      characters += size.characters - child.name.length - roomForSize;
    }
  }
  return open;
}

function sizeOf({ folders, files }: Folder) {
  const names = [...folders.keys(), ...files.map(({ name }) => name)];
  const characters = names.reduce((sum, name) => sum + name.length + roomForSize, 0);
  return { entries: names.length, characters };
}

function entriesOf(folder: Folder, open: ReadonlySet<Folder>): readonly Entry[] {
  return [
    ...inOrder(folder).flatMap((child) => (open.has(child) ? entriesOf(child, open) : [{ folder: child }])),
    ...folder.files.map((file) => ({ file })),
  ];
}

/** The folders in it, by their names: they are met in the order of their first files. */
function inOrder({ folders }: Folder): readonly Folder[] {
  return [...folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function fitting(entries: readonly Entry[], room: number): readonly Entry[] {
  let rest = room;
  const end = entries.findIndex((entry, at) => {
    rest -= nameOf(entry).length + roomForSize;
    return rest < 0 || at === maxEntries;
  });
  return end === -1 ? entries : entries.slice(0, end);
}

function nameOf(entry: Entry): string {
  return 'file' in entry ? entry.file.name : entry.folder.name;
}

/** A name with a line end in it would look like two entries. */
async function lineOf(entry: Entry): Promise<string> {
  const name = cutText(nameOf(entry), 1_000).replace(/[\r\n]/g, '?');
  if ('folder' in entry) return `${name}/ (${count(entry.folder.count, 'file')})`;
  const found = await stat(entry.file.path).catch(() => undefined);
  return `${name}${found === undefined ? '' : ` (${sizeInWords(found.size)})`}`;
}

/** Such as `812 B` or `3.1 KB`. */
function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'KB'] : [bytes / 1_000_000, 'MB'];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}
