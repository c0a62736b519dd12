import { orAborted } from '../../../protocol/base/abort.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import type { CallBounds, CallContext, PreparedCall } from '../../chat/daemonTools.ts';
import type { BuiltinArguments } from './builtinTools.ts';
import { editHelp, jsonNotes, leavesLittle, refusePlaceholders } from './editHelp.ts';
import { createFileDiff, describeDiff } from './fileDiff.ts';
import { FileProblemError } from './fileProblem.ts';
import type { FileTools } from './fileReads.ts';
import { changedMeanwhile, type NewText } from './fileStore.ts';
import { decidesWhatRuns } from './reservedFiles.ts';
import { applyEdits, type EditedText, EditPlaceError } from './textEdits.ts';
import type { WorkspacePlace } from './workspace.ts';

interface Change {
  /** The arguments as they are meant. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly path: string;
  /** The call has the whole text. */
  readonly isWhole: boolean;
  readonly turn: CallContext['turn'];
  /** The new text of a file, with notes for the model; `before` is undefined if there is no file. */
  readonly make: (place: WorkspacePlace, before: string | undefined) => EditedText | Promise<EditedText>;
}

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

  /** Several edits are of one file. */
  edit(calls: readonly BuiltinArguments[], context: CallContext, signal: AbortSignal): Promise<PreparedCall> {
    const edits = calls.map(({ old_string = '', new_string = '' }) => ({
      old: old_string,
      wanted: new_string,
    }));
    const [{ path = '', ...only } = {}, ...more] = calls;
    const given = more.length === 0 ? only : { edits: calls.map(({ path: _, ...edit }) => edit) };
    const isEverywhere = calls.every((call) => call.replace_all === true);
    const make: Change['make'] = async (place, before) => {
      for (const edit of edits) refusePlaceholders(edit.wanted, `${edit.old}\n${before ?? ''}`);
      const [first] = edits;
      if (before === undefined && first?.old === '' && more.length === 0)
        return { text: first.wanted, forgiven: [] };
      if (before === undefined) throw await this.#tools.workspace.nothingAt(place, signal);
      try {
        return applyEdits(before, edits, isEverywhere);
      } catch (error) {
        throw error instanceof EditPlaceError ? this.#failed(error, place, before, context) : error;
      }
    };
    return this.#prepared({ given, path, isWhole: false, turn: context.turn, make }, signal);
  }

  write(
    { path = '', content = '' }: BuiltinArguments,
    { replaceable, turn }: CallContext,
    signal: AbortSignal,
  ): Promise<PreparedCall> {
    const make: Change['make'] = ({ path: found, name }, before = '') => {
      refusePlaceholders(content, before);
      if (before.length > replaceable)
        throw new FileProblemError(`${name} is too long to be replaced as a whole. Use edit_file.`);
      if (before !== '' && !this.#tools.known.isWhole(found, before))
        throw new FileProblemError(
          `${name} is there, and you have not read all of its present text. Read it first, or use edit_file.`,
        );
      // Models write `\n` alone.
      const isPlain = !before.includes('\r\n') || content.includes('\r\n');
      return { text: isPlain ? content : content.replaceAll('\n', '\r\n'), forgiven: [] };
    };
    return this.#prepared({ given: { content }, path, isWhole: true, turn, make }, signal);
  }

  #failed(error: EditPlaceError, { path, name }: WorkspacePlace, text: string, bounds: CallBounds) {
    const times = (this.#failures.get(path) ?? 0) + 1;
    if (this.#failures.size >= maxFiles) this.#failures.clear();
    this.#failures.set(path, times);
    return new FileProblemError(error.message + editHelp(error, { ...bounds, name, text, times }));
  }

  /** Changes of one file wait for each other: the next is made from what the one before it has written. Gives its end. */
  #takeTurn(path: string, signal: AbortSignal): Promise<() => void> {
    const turn = new Promise<() => void>((begin) => {
      void this.#turns.run(path, () => new Promise<void>((end) => (signal.aborted ? end() : begin(end))));
    });
    return orAborted(turn, signal);
  }

  async #prepared(change: Change, signal: AbortSignal): Promise<PreparedCall> {
    const { workspace, store } = this.#tools;
    const { given, path, isWhole, make } = change;
    const end = await this.#takeTurn((await workspace.find(path)).path, signal);
    try {
      // A change that came first may have made it.
      const file = await workspace.find(path);
      const { name } = file;
      if (file.isFolder) throw new FileProblemError(`${name} is a folder. Name a file in it.`);
      await store.refuseUnsaved(file);
      const before = file.isThere ? await store.read(file, signal) : undefined;
      requireEditable(name, before?.text);
      const { text, forgiven } = await make(file, before?.text);
      if (text === before?.text)
        throw new FileProblemError(`${name} would stay as it is: the new text is the same as the old one.`);
      requireEditable(name, text);
      const diff = createFileDiff({ ...file, after: text, ...(before && { before: before.text }) });
      const notes = [...forgiven, ...jsonNotes(name, before?.text ?? '', text)];
      return {
        given: { ...given, path: file.given },
        isAskedAnyway: decidesWhatRuns(name) || (isWhole && leavesLittle(before?.text ?? '', text)),
        isForgiven: forgiven.length > 0,
        ...{ diff, end },
        call: async (calling) => {
          await this.#write(file, { ...change, before, text }, calling).finally(end);
          return { content: [describeDiff(diff), ...notes].join('\n'), isError: false };
        },
      };
    } catch (error) {
      end();
      throw error;
    }
  }

  async #write(
    { path, name, isThere }: WorkspacePlace,
    { before, text, ...change }: Change & NewText,
    signal: AbortSignal,
  ): Promise<void> {
    const { workspace, store, known, edits } = this.#tools;
    const now = await workspace.find(change.path);
    // Another program may have changed what the path leads to since the user was asked.
    if (now.path !== path || now.isThere !== isThere) throw changedMeanwhile(name);
    await store.write(now, { before, text }, signal);
    // Who knew the whole text before knows it now.
    if (change.isWhole || (before && known.isWhole(path, before.text))) known.noteRead(path, text);
    this.#failures.delete(path);
    // The edit is made, whether or not it can be taken back.
    if (change.turn) await edits?.note(change.turn, now, { before, text }).catch(() => undefined);
  }
}

function requireEditable(name: string, text = ''): void {
  if (text.length > maxEdited)
    throw new FileProblemError(`${name} is longer than a million characters, which are not edited here.`);
}
