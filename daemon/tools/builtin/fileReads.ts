import { plainEnds } from '../../../protocol/base/text.ts';
import type { CallContext, PreparedCall } from '../../chat/daemonTools.ts';
import type { BuiltinArguments } from './builtinTools.ts';
import type { EditHistory } from './editHistory.ts';
import { FileProblemError } from './fileProblem.ts';
import type { FileStore } from './fileStore.ts';
import { listFiles } from './listFiles.ts';
import { type ReadRecord, readLines } from './readLines.ts';
import type { RulesFiles } from './rulesFiles.ts';
import { searchFiles } from './searchFiles.ts';
import type { Workspace, WorkspacePlace } from './workspace.ts';

/** What the calls of a server share. */
export interface FileTools {
  readonly workspace: Workspace;
  readonly store: FileStore;
  readonly known: ReadRecord;
  readonly rules: RulesFiles;
  /** Absent if nothing is kept. */
  readonly edits: EditHistory | undefined;
}

/** A call whose arguments were read as they are meant, and checked against the schema of its tool. */
export interface FileCall {
  readonly tool: string;
  readonly given: BuiltinArguments;
  readonly context: CallContext;
}

/** A call that reads: where it leads is looked up before the user is asked, and again when it runs. */
export async function prepareRead(call: FileCall, tools: FileTools): Promise<PreparedCall> {
  const { given } = call;
  const { workspace } = tools;
  const before = await workspace.find(given.path || undefined);
  return {
    given: given.path === undefined ? given : { ...given, path: before.given },
    end: () => undefined,
    async call(signal) {
      const place = await workspace.find(given.path || undefined);
      if (!place.isThere) throw await workspace.nothingAt(place, signal);
      if (place.path !== before.path) throw new FileProblemError(`${given.path} has changed. Try again.`);
      return { content: await read(place, call, { ...tools, signal }), isError: false };
    },
  };
}

async function read(
  place: WorkspacePlace,
  { tool, given, context: { characters: room, turn } }: FileCall,
  { workspace, store, known, rules, signal }: FileTools & { readonly signal: AbortSignal },
): Promise<string> {
  const { query = '', regex = false, pattern, start_line: from, end_line: to } = given;
  if (tool === 'search_files') return searchFiles(place, workspace, { query, isRegex: regex, room, signal });
  if (place.isFolder) return listFiles(place, workspace, { pattern, room, signal });
  if (tool === 'list_files') return `${place.name} is a file. Read it with read_file.`;
  const { text } = await store.read(place, signal);
  const unsaved = (await store.isUnsaved(place)) ? unsavedNote : '';
  const note = (await rules.noteFor(place, turn?.session)) + unsaved;
  const { content, first, last } = readLines(plainEnds(text), { from, to, room: room - note.length });
  known.noteRead(place.path, text, first, last);
  return content + note;
}

const unsavedNote = '\n[The editor has unsaved changes of this file. This is what is on the disk.]';
