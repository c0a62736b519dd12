import { plainEnds } from '../../../protocol/base/text.ts';
import type { CallContext, PreparedCall } from '../../chat/daemonTools.ts';
import type { BuiltinArguments } from './builtinTools.ts';
import { FileProblemError } from './fileProblem.ts';
import type { FileStore } from './fileStore.ts';
import { listFiles } from './listFiles.ts';
import { type ReadRecord, readLines } from './readLines.ts';
import type { RulesFiles } from './rulesFiles.ts';
import { searchFiles } from './searchFiles.ts';
import type { Workspace, WorkspacePlace } from './workspace.ts';

interface FileReadsOptions {
  readonly workspace: Workspace;
  readonly store: FileStore;
  readonly known: ReadRecord;
  readonly rules: RulesFiles;
}

/** What the tools that read do at a place. */
type Reading = (place: WorkspacePlace, signal: AbortSignal) => Promise<string>;

/** Calls that read: where one leads is looked up before the user is asked, and again when it runs. */
export function createFileReads({ workspace, store, known, rules }: FileReadsOptions) {
  const prepared = async (given: BuiltinArguments, run: Reading): Promise<PreparedCall> => {
    const before = await workspace.find(given.path || undefined);
    return {
      given: given.path === undefined ? given : { ...given, path: before.given },
      end: () => undefined,
      async call(signal) {
        const place = await workspace.find(given.path || undefined);
        if (!place.isThere) throw await workspace.nothingAt(place, signal);
        if (place.path !== before.path) throw new FileProblemError(`${given.path} has changed. Try again.`);
        return { content: await run(place, signal), isError: false };
      },
    };
  };

  const textOf = async (
    place: WorkspacePlace,
    { start_line: from, end_line: to }: BuiltinArguments,
    { characters, turn }: CallContext,
    signal: AbortSignal,
  ): Promise<string> => {
    const { text } = await store.read(place, signal);
    const unsaved = (await store.isUnsaved(place)) ? unsavedNote : '';
    const note = (await rules.noteFor(place, turn?.session)) + unsaved;
    const { content, first, last } = readLines(plainEnds(text), { from, to, room: characters - note.length });
    known.noteRead(place.path, text, first, last);
    return content + note;
  };

  return {
    list: (given: BuiltinArguments, { characters: room }: CallContext) =>
      prepared(given, async (place, signal) =>
        place.isFolder
          ? listFiles(place, workspace, { pattern: given.pattern, room, signal })
          : `${place.name} is a file. Read it with read_file.`,
      ),

    search: ({ query = '', ...given }: BuiltinArguments, { characters: room }: CallContext) =>
      prepared({ query, ...given }, (place, signal) =>
        searchFiles(place, workspace, { query, isRegex: given.regex === true, room, signal }),
      ),

    read: (given: BuiltinArguments, context: CallContext) =>
      prepared(given, (place, signal) =>
        place.isFolder
          ? listFiles(place, workspace, { room: context.characters, signal })
          : textOf(place, given, context, signal),
      ),
  };
}

const unsavedNote = '\n[The editor has unsaved changes of this file. This is what is on the disk.]';
