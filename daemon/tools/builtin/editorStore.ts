import { orAborted } from '../../../protocol/base/abort.ts';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { plainEnds } from '../../../protocol/base/text.ts';
import { changedMeanwhile, type FileStore, type FileText, unsaved } from './fileStore.ts';
import { FileProblemError } from './workspace.ts';

/** The file system of an editor, as far as it has one: it knows what was not saved yet. */
export interface EditorFiles {
  readonly read?: (path: string) => Promise<string>;
  readonly write?: (path: string, text: string) => Promise<void>;
}

/**
 * Reads and writes through the editor if it has a file system, else on the disk. Both are asked when a file is read:
 * the disk says whether it is text, and has the line ends that an editor may leave out.
 */
export function createEditorStore(editor: () => EditorFiles | undefined, disk: FileStore): FileStore {
  const store: FileStore = {
    // An editor has no way to remove a file.
    remove: disk.remove,

    async read(file, signal) {
      const onDisk = await disk.read(file, signal);
      const { read } = editor() ?? {};
      if (!read) return onDisk;
      const given = await ask(file.name, () => read(file.path), signal);
      const text = given.replace(/^\ufeff/, '');
      return plainEnds(text) === plainEnds(onDisk.text) ? onDisk : { ...onDisk, text };
    },

    async write(file, { before, text }, signal) {
      const { write } = editor() ?? {};
      if (before && !isSame(await store.read(file, signal), before)) throw changedMeanwhile(file.name);
      if (!write) {
        if (before && (await disk.read(file, signal)).text !== before.text) throw unsaved(file);
        return disk.write(file, { before, text }, signal);
      }
      signal.throwIfAborted();
      await ask(file.name, () => write(file.path, before?.hasMark ? `\ufeff${text}` : text), signal);
    },
  };

  return store;
}

/** What is on the disk may not change either, though the editor has other text. */
function isSame(one: FileText, other: FileText): boolean {
  return one.text === other.text && (other.bytes === undefined || one.bytes?.equals(other.bytes) === true);
}

async function ask<T>(name: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await orAborted(work(), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new FileProblemError(`The editor refused ${name}: ${messageOf(error).replace(/\.$/, '')}.`);
  }
}
