import { orAborted } from '../../../protocol/base/abort.ts';
import { SerialQueue } from '../../../protocol/base/keyedWork.ts';
import { plainEnds } from '../../../protocol/base/text.ts';
import type { CallContext, PreparedCall } from '../../chat/daemonTools.ts';
import type { BuiltinArguments } from './builtinTools.ts';
import { editHelp, jsonNotes, leavesLittle, refusePlaceholders } from './editHelp.ts';
import type { EditHistory } from './editHistory.ts';
import { FileProblemError } from './fileProblem.ts';
import { changedMeanwhile, type FileStore, type NewText } from './fileStore.ts';
import { editsIn } from './forgivenCall.ts';
import { listFiles } from './listFiles.ts';
import { type ReadRecord, readLines } from './readLines.ts';
import type { RulesFiles } from './rulesFiles.ts';
import { searchFiles } from './searchFiles.ts';
import { applyEdits, createFileDiff, describeDiff, type EditedText, EditPlaceError } from './textEdits.ts';
import { decidesWhatRuns, type Workspace, type WorkspacePlace } from './workspace.ts';

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
interface FileCall {
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

/** A file with a longer text is not changed, because its user could not see what changes. In characters. */
const maxEdited = 1024 * 1024;
/** Files whose failed edits are counted; with more, all begin anew. */
const maxFiles = 1_000;

/** Changes files as calls want it, one change of a file after another, and only as the user was shown it. */
export class FileChanges {
  readonly #tools: FileTools;
  readonly #turns = new SerialQueue();
  /** How often edits of a file have failed in a row. */
  readonly #failures = new Map<string, number>();

  constructor(tools: FileTools) {
    this.#tools = tools;
  }

  async prepare(call: FileCall, signal: AbortSignal): Promise<PreparedCall> {
    const { workspace, store } = this.#tools;
    const { path = '' } = call.given;
    const end = await this.#takeTurn((await workspace.find(path)).path, signal);
    try {
      // A change that came first may have made it.
      const file = await workspace.find(path);
      const { name } = file;
      if (file.isFolder) throw new FileProblemError(`${name} is a folder. Name a file in it.`);
      await store.refuseUnsaved(file);
      const before = file.isThere ? await store.read(file, signal) : undefined;
      requireEditable(name, before?.text);
      const isWhole = call.tool === 'write_file';
      const made = isWhole ? this.#written(call, file, before?.text) : this.#edited(call, file, before?.text);
      if (!made) throw await workspace.nothingAt(file, signal);
      const { text, forgiven } = made;
      if (text === before?.text)
        throw new FileProblemError(`${name} would stay as it is: the new text is the same as the old one.`);
      requireEditable(name, text);
      const diff = createFileDiff({ ...file, after: text, ...(before && { before: before.text }) });
      const notes = [...forgiven, ...jsonNotes(name, before?.text ?? '', text)];
      return {
        given: { ...call.given, path: file.given },
        isAskedAnyway: decidesWhatRuns(name) || (isWhole && leavesLittle(before?.text ?? '', text)),
        isForgiven: forgiven.length > 0,
        ...{ diff, end },
        call: async (calling) => {
          await this.#write(call, file, { before, text, signal: calling }).finally(end);
          return { content: [describeDiff(diff), ...notes].join('\n'), isError: false };
        },
      };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Changes of one file wait for each other: each is made from what the one before has written. Returns its end. */
  #takeTurn(path: string, signal: AbortSignal): Promise<() => void> {
    const turn = new Promise<() => void>((begin) => {
      void this.#turns.run(path, () => new Promise<void>((end) => (signal.aborted ? end() : begin(end))));
    });
    return orAborted(turn, signal);
  }

  /** Undefined if there is no file to edit. */
  #edited({ given, context }: FileCall, { path, name }: WorkspacePlace, before: string | undefined) {
    const edits = editsIn(given).map(({ old_string = '', new_string = '' }: BuiltinArguments) => ({
      ...{ old: old_string, wanted: new_string },
    }));
    for (const edit of edits) refusePlaceholders(edit.wanted, `${edit.old}\n${before ?? ''}`);
    const [first, ...more] = edits;
    if (before === undefined)
      return first?.old === '' && more.length === 0 ? { text: first.wanted, forgiven: [] } : undefined;
    try {
      return applyEdits(before, edits, given.replace_all);
    } catch (error) {
      if (!(error instanceof EditPlaceError)) throw error;
      const times = (this.#failures.get(path) ?? 0) + 1;
      if (this.#failures.size >= maxFiles) this.#failures.clear();
      this.#failures.set(path, times);
      throw new FileProblemError(error.message + editHelp(error, { ...context, name, text: before, times }));
    }
  }

  #written({ given, context }: FileCall, { path, name }: WorkspacePlace, before = ''): EditedText {
    const { content = '' } = given;
    refusePlaceholders(content, before);
    if (before.length > context.replaceable)
      throw new FileProblemError(`${name} is too long to be replaced as a whole. Use edit_file.`);
    if (before !== '' && !this.#tools.known.isWhole(path, before))
      throw new FileProblemError(
        `${name} is there, and you have not read all of its present text. Read it first, or use edit_file.`,
      );
    // Models write `\n` alone.
    const isPlain = !before.includes('\r\n') || content.includes('\r\n');
    return { text: isPlain ? content : content.replaceAll('\n', '\r\n'), forgiven: [] };
  }

  async #write(
    { tool, given, context }: FileCall,
    { path, name, isThere }: WorkspacePlace,
    { signal, ...change }: NewText & { readonly signal: AbortSignal },
  ): Promise<void> {
    const { workspace, store, known, edits } = this.#tools;
    const { before, text } = change;
    const now = await workspace.find(given.path ?? '');
    // Another program may have changed what the path leads to since the user was asked.
    if (now.path !== path || now.isThere !== isThere) throw changedMeanwhile(name);
    await store.write(now, change, signal);
    // Who knew the whole text before knows it now.
    if (tool === 'write_file' || (before && known.isWhole(path, before.text))) known.noteRead(path, text);
    this.#failures.delete(path);
    // The edit is made, whether or not it can be taken back.
    if (context.turn) await edits?.note(context.turn, now, change).catch(() => undefined);
  }
}

function requireEditable(name: string, text = ''): void {
  if (text.length > maxEdited)
    throw new FileProblemError(`${name} is longer than a million characters, which are not edited here.`);
}
