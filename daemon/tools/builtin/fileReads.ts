import { basename } from 'node:path';
import { plainEnds } from '../../../protocol/base/text.ts';
import type { CallBounds, CallContext } from '../../chat/daemonTools.ts';
import type { ListFiles, ReadFileArguments, SearchFiles } from './builtinTools.ts';
import { type FileStore, isUnsaved, type UnsavedDocuments } from './fileStore.ts';
import type { ReadRecord } from './knownFiles.ts';
import { listFiles } from './listFiles.ts';
import { filesNamed, type ProjectOptions } from './projectFiles.ts';
import { readLines } from './readLines.ts';
import type { RulesFiles } from './rulesFiles.ts';
import { searchFiles } from './searchFiles.ts';
import { FileProblemError, type Workspace, type WorkspacePlace } from './workspace.ts';

interface FileReadsOptions extends UnsavedDocuments {
  readonly workspace: () => Promise<Workspace>;
  readonly store: FileStore;
  readonly known: ReadRecord;
  readonly rules: Pick<RulesFiles, 'noteFor'>;
  readonly now: () => number;
}

/** A call that reads: where it leads is looked up before the user is asked, and again when it runs. */
export interface FileReading {
  /** The arguments as they are meant. */
  readonly given: Readonly<Record<string, unknown>>;
  run(signal: AbortSignal): Promise<string>;
}

export function createFileReads(options: FileReadsOptions) {
  const { workspace, store, known, rules, now } = options;
  const project = async (): Promise<ProjectOptions> => ({ workspace: await workspace(), now });

  const reading = async <T extends { readonly path?: string | undefined }>(
    given: T,
    run: (place: WorkspacePlace, signal: AbortSignal) => Promise<string>,
  ): Promise<FileReading> => {
    const { find, folders, pathOf } = await workspace();
    const placeOf = () => find(given.path || (folders[0] ?? ''));
    const before = await placeOf();
    return {
      given: given.path === undefined ? given : { ...given, path: pathOf(before) },
      async run(signal) {
        const place = await placeOf();
        if (!place.isThere) throw await nothingThere(place, await project(), signal);
        if (place.path !== before.path) throw new FileProblemError(`${given.path} has changed. Try again.`);
        return run(place, signal);
      },
    };
  };

  const read = async (place: WorkspacePlace, given: ReadLines) => {
    const { start_line: from, end_line: to, room, session, signal } = given;
    const { text } = await store.read(place, signal);
    const unsaved = (await isUnsaved(options, place)) ? unsavedNote : '';
    const note = (await rules.noteFor(place, session)) + unsaved;
    const shown = readLines(plainEnds(text), { from, to, room: room - note.length });
    known.noteRead(place.path, text, shown);
    return shown.content + note;
  };

  return {
    list: (given: ListFiles, { characters: room }: CallBounds) =>
      reading(given, async (place, signal) =>
        place.isFolder
          ? listFiles(place, await project(), { ...given, room, signal })
          : `${place.name} is a file. Read it with read_file.`,
      ),

    search: (given: SearchFiles, { characters: room }: CallBounds) =>
      reading(given, async (place, signal) =>
        searchFiles(place, await project(), { ...given, room, signal }),
      ),

    read: (given: ReadFileArguments, { characters: room, turn }: CallContext) =>
      reading(given, async (place, signal) =>
        place.isFolder
          ? listFiles(place, await project(), { room, signal })
          : read(place, { ...given, room, session: turn?.session, signal }),
      ),
  };
}

interface ReadLines extends ReadFileArguments {
  readonly room: number;
  readonly session: string | undefined;
  readonly signal: AbortSignal;
}

const unsavedNote = '\n[The editor has unsaved changes of this file. This is what is on the disk.]';

/** Names the files of that name elsewhere: which of them is meant, the model says. */
export async function nothingThere(
  { name }: WorkspacePlace,
  project: ProjectOptions,
  signal: AbortSignal,
): Promise<FileProblemError> {
  const others = await filesNamed(basename(name), project, signal);
  const hint =
    others.length === 0 ? 'List the files, or search for a word of it.' : `There is ${others.join(', ')}.`;
  return new FileProblemError(`There is no file or folder ${name}. ${hint}`);
}
