import type { EditsResult, RestoredEdits } from '../../../protocol/messages/tools.ts';
import type { createEditJournal, EditedFile } from './editJournal.ts';
import { createFileDiff } from './fileDiff.ts';
import { decodeText, encodeText, type FileStore, refuseUnsaved, type UnsavedDocuments } from './fileStore.ts';
import { FileProblemError, type Workspace } from './workspace.ts';

interface EditHistoryOptions extends UnsavedDocuments {
  readonly workspace: () => Promise<Workspace>;
  readonly store: FileStore;
  readonly journal: ReturnType<typeof createEditJournal>;
}

/** Takes the edits of a turn back, and brings them back, as long as nobody else has changed the files. */
export function createEditHistory(options: EditHistoryOptions) {
  const { journal } = options;

  const restore = async (files: readonly EditedFile[], isBack: boolean, signal: AbortSignal) => {
    const restored: string[] = [];
    const left: { name: string; reason: string }[] = [];
    for (const file of files) {
      const [from, to] = isBack ? [file.after, file.before] : [file.before, file.after];
      try {
        await put(options, { ...file, from, to }, signal);
        restored.push(file.name);
      } catch (error) {
        if (!(error instanceof FileProblemError)) throw error;
        left.push({ name: file.name, reason: error.message });
      }
    }
    return { restored, left };
  };

  return {
    async list(session: string, prompt: number): Promise<EditsResult> {
      const edits = await journal.made(session, prompt);
      const files = (edits?.files ?? []).map(({ path, name, before, after }) => {
        const old = before ? { before: decodeText(before).text } : {};
        return createFileDiff({ path, name, ...old, after: decodeText(after).text });
      });
      return { files, count: edits?.count ?? 0 };
    },

    async undo(session: string, prompt: number, signal: AbortSignal): Promise<RestoredEdits> {
      const edits = await journal.made(session, prompt);
      if (!edits) return { restored: [], left: [] };
      const result = await restore(edits.files, true, signal);
      await journal.mark(session, edits, 'undone');
      return result;
    },

    async redo(session: string, signal: AbortSignal): Promise<RestoredEdits> {
      const edits = await journal.undone(session);
      if (!edits) return { restored: [], left: [] };
      const result = await restore(edits.files, false, signal);
      await journal.mark(session, edits, 'made');
      return result;
    },
  };
}

interface Replaced {
  readonly path: string;
  readonly name: string;
  /** What is there if nobody has changed it; undefined: nothing. */
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

/** @throws {FileProblemError} if the file is not as the agent left it, or cannot be written. */
async function put(
  options: EditHistoryOptions,
  { path, name, from, to }: Replaced,
  signal: AbortSignal,
): Promise<void> {
  const { store } = options;
  const file = await (await options.workspace()).find(path);
  if (file.path !== path || file.isThere !== (from !== undefined)) throw changed(name);
  await refuseUnsaved(options, file);
  const present = file.isThere ? await store.read(file, signal) : undefined;
  if (present && from && !encodeText(present).equals(from)) throw changed(name);
  if (to) await store.write(file, { before: present, text: decodeText(to).text }, signal);
  else if (from) await store.remove(file, from);
}

function changed(name: string): FileProblemError {
  return new FileProblemError(`${name} has changed since.`);
}
