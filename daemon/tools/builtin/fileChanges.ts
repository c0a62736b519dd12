import { orAborted } from '../../../protocol/base/abort.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import type { PreparedCall } from '../../chat/daemonTools.ts';
import type { BuiltinArguments } from './builtinTools.ts';
import { editHelp, jsonNotes, leavesLittle, refusePlaceholders } from './editHelp.ts';
import { createFileDiff, describeDiff } from './fileDiff.ts';
import { FileProblemError } from './fileProblem.ts';
import type { FileCall, FileTools } from './fileReads.ts';
import { changedMeanwhile, type NewText } from './fileStore.ts';
import { editsIn } from './forgivenCall.ts';
import { decidesWhatRuns } from './reservedFiles.ts';
import { applyEdits, type EditedText, EditPlaceError } from './textEdits.ts';
import type { WorkspacePlace } from './workspace.ts';

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
