import { orAborted } from '../../../protocol/base/abort.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import type { FileDiff } from '../../../protocol/messages/chat.ts';
import type { CallContext } from '../../chat/daemonTools.ts';
import type { EditFile, WriteFile } from './builtinTools.ts';
import { createEditHelp, jsonNote, leavesLittle, refusePlaceholders } from './editHelp.ts';
import type { createEditJournal, EditingTurn } from './editJournal.ts';
import { createFileDiff } from './fileDiff.ts';
import { nothingThere } from './fileReads.ts';
import {
  changedMeanwhile,
  encodeText,
  type FileStore,
  type FileText,
  refuseUnsaved,
  type UnsavedDocuments,
} from './fileStore.ts';
import type { ReadRecord } from './knownFiles.ts';
import { applyEdits, type EditedText, type TextEdit } from './textEdits.ts';
import { decidesWhatRuns, FileProblemError, type Workspace, type WorkspacePlace } from './workspace.ts';

interface FileChangesOptions extends UnsavedDocuments {
  readonly workspace: () => Promise<Workspace>;
  readonly store: FileStore;
  readonly known: ReadRecord;
  /** Absent if nothing is kept. */
  readonly journal?: ReturnType<typeof createEditJournal> | undefined;
  readonly now: () => number;
}

/** A change that was made from the text of a file, and is written if the file still has that text. */
export interface PreparedChange {
  /** The arguments as they are meant. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly diff: FileDiff;
  /** The user is asked even if the tool is allowed. */
  readonly isAskedAnyway: boolean;
  /** The model copied the text that it changes badly. */
  readonly isForgiven: boolean;
  write(): Promise<string>;
  /** Other changes of the file no longer wait for this one. */
  end(): void;
}

/** The new text of a file, with notes for the model. */
type MakeText = (place: WorkspacePlace, before: FileText | undefined) => Promise<EditedText>;

/** A file with a longer text is not changed, because its user could not see what changes. In characters. */
const maxEdited = 1024 * 1024;

/** Changes files as calls want it, one change of a file after another. */
export class FileChanges {
  readonly #options: FileChangesOptions;
  readonly #takeTurn = createFileTurns();
  readonly #help = createEditHelp();

  constructor(options: FileChangesOptions) {
    this.#options = options;
  }

  /** Several edits are of one file. */
  edit(calls: readonly EditFile[], bounds: CallContext, signal: AbortSignal): Promise<PreparedChange> {
    const edits = calls.map((call): TextEdit => ({ old: call.old_string, new: call.new_string }));
    const [{ path = '', ...only } = {}, ...more] = calls;
    const given = more.length === 0 ? only : { edits: calls.map(({ path: _, ...edit }) => edit) };
    const isEverywhere = calls.every((call) => call.replace_all === true);
    const make: MakeText = async (place, before) => {
      for (const edit of edits) refusePlaceholders(edit.new, `${edit.old}\n${before?.text ?? ''}`);
      if (!before) return { text: await this.#newText(place, edits, signal), forgiven: [] };
      try {
        return applyEdits(before.text, edits, isEverywhere);
      } catch (error) {
        throw this.#help.failed(error, { ...place, text: before.text, ...bounds });
      }
    };
    return this.#prepare({ path, ...given, isWhole: false }, { make, turn: bounds.turn }, signal);
  }

  write(given: WriteFile, { replaceable, turn }: CallContext, signal: AbortSignal): Promise<PreparedChange> {
    const make: MakeText = async ({ path, name }, before) => {
      refusePlaceholders(given.content, before?.text ?? '');
      if (!before) return { text: given.content, forgiven: [] };
      if (before.text !== '' && !this.#options.known.isWhole(path, before.text))
        throw new FileProblemError(
          `${name} is there, and you have not read all of its present text. Read it first, or use edit_file.`,
        );
      if (before.text.length > replaceable)
        throw new FileProblemError(`${name} is too long to be replaced as a whole. Use edit_file.`);
      return { text: withEndsOf(before.text, given.content), forgiven: [] };
    };
    return this.#prepare({ ...given, isWhole: true }, { make, turn }, signal);
  }

  async #prepare(
    { path, isWhole, ...given }: { readonly path: string; readonly isWhole: boolean },
    { make, turn }: { readonly make: MakeText; readonly turn: EditingTurn | undefined },
    signal: AbortSignal,
  ): Promise<PreparedChange> {
    const { workspace } = this.#options;
    const first = await (await workspace()).find(path);
    const end = await this.#takeTurn(first.path, signal);
    try {
      const { find, pathOf } = await workspace();
      // A change that came first may have made it.
      const file = await find(path);
      const change = await this.#change(file, make, signal);
      const { before, after } = change.diff;
      const write = async () => {
        const found = await find(path);
        // Another program may have changed what the path leads to since the user was asked.
        if (found.path !== file.path || found.isThere !== file.isThere) throw changedMeanwhile(file.name);
        return this.#write(found, { ...change, isWhole, turn }, signal);
      };
      return {
        given: { ...given, path: pathOf(file) },
        isAskedAnyway:
          decidesWhatRuns(file.name) || (isWhole && before !== undefined && leavesLittle(before, after)),
        isForgiven: change.forgiven.length > 0,
        ...{ diff: change.diff, end, write: () => write().finally(end) },
      };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** What the change would be. @throws {FileProblemError} if there can be none. */
  async #change(file: WorkspacePlace, make: MakeText, signal: AbortSignal): Promise<Change> {
    if (file.isFolder) throw new FileProblemError(`${file.name} is a folder. Name a file in it.`);
    await refuseUnsaved(this.#options, file);
    const before = file.isThere ? await this.#options.store.read(file, signal) : undefined;
    if (before) requireEditable(file, before.text);
    const { text, forgiven } = await make(file, before);
    if (text === before?.text)
      throw new FileProblemError(
        `${file.name} would stay as it is: the new text is the same as the old one.`,
      );
    requireEditable(file, text);
    const diff = createFileDiff({ ...file, after: text, ...(before ? { before: before.text } : {}) });
    return { before, diff, forgiven };
  }

  async #write(
    file: WorkspacePlace,
    { before, diff, forgiven, isWhole, turn }: WrittenChange,
    signal: AbortSignal,
  ): Promise<string> {
    const { store, known, journal } = this.#options;
    await refuseUnsaved(this.#options, file);
    await store.write(file, { before, text: diff.after }, signal);
    known.noteWritten(file.path, before?.text, diff.after, isWhole);
    const bytes = encodeText({ text: diff.after, hasMark: before?.hasMark ?? false });
    const { path, name } = file;
    // The edit is made, whether or not it can be taken back.
    if (turn && journal)
      await journal
        .note(turn, { path, name, ...(before ? { before: encodeText(before) } : {}), after: bytes })
        .catch(() => undefined);
    this.#help.succeeded(file.path);
    const notes = [...forgiven, jsonNote(file.name, before?.text ?? '', diff.after)].filter(Boolean);
    return [described(file.name, diff), ...notes].join('\n');
  }

  async #newText(place: WorkspacePlace, edits: readonly TextEdit[], signal: AbortSignal): Promise<string> {
    const { workspace, now } = this.#options;
    const [first, ...others] = edits;
    if (first?.old === '' && others.length === 0) return first.new;
    throw await nothingThere(place, { workspace: await workspace(), now }, signal);
  }
}

interface WrittenChange extends Change {
  readonly isWhole: boolean;
  readonly turn: EditingTurn | undefined;
}

interface Change {
  readonly before: FileText | undefined;
  readonly diff: FileDiff;
  readonly forgiven: readonly string[];
}

/** Models write `\n` alone. */
function withEndsOf(before: string, text: string): string {
  const isPlain = !before.includes('\r\n') || text.includes('\r\n');
  return isPlain ? text : text.replaceAll('\n', '\r\n');
}

function requireEditable({ name }: WorkspacePlace, { length }: string): void {
  if (length > maxEdited)
    throw new FileProblemError(`${name} is longer than a million characters, which are not edited here.`);
}

/** Changes of one file wait for each other: the next one is made from what the one before it has written. */
function createFileTurns() {
  const queue = new SerialQueue();
  /** Waits for the turn of a file. The function that it returns ends it. */
  return async (path: string, signal: AbortSignal): Promise<() => void> => {
    const turn = new Promise<() => void>((begin) => {
      void queue.run(path, () => new Promise<void>((end) => begin(end)));
    });
    try {
      return await orAborted(turn, signal);
    } catch (error) {
      void turn.then((end) => end());
      throw error;
    }
  };
}

/** Such as `Changed src/a.ts, lines 12 to 15 (+3 -1).` */
function described(name: string, { unified, before }: FileDiff): string {
  const lines = unified.split('\n');
  const added = lines.filter((line) => line.startsWith('+')).length;
  const removed = lines.filter((line) => line.startsWith('-')).length;
  const counts = `(+${added} -${removed})`;
  if (before === undefined) return `Created ${name} ${counts}.`;
  const { first, last } = changedLines(lines);
  return `Changed ${name}, ${first === last ? `line ${first}` : `lines ${first} to ${last}`} ${counts}.`;
}

/** The first and the last line of the new text that a change touches; where lines were removed, the next one. */
function changedLines(unified: readonly string[]): { readonly first: number; readonly last: number } {
  let [line, first, last] = [0, 0, 0];
  const note = (at: number) => {
    first ||= at;
    last = Math.max(last, at);
  };
  for (const each of unified) {
    const start = /^@@ -\S+ \+(\d+)/.exec(each)?.[1];
    if (start !== undefined) line = Number(start);
    else if (each.startsWith('+')) note(line++);
    else if (each.startsWith('-')) note(Math.max(1, line));
    else if (each.startsWith(' ')) line += 1;
  }
  return { first, last };
}
