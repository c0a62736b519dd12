import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Memento } from 'vscode';
import { isRecord } from '../../../protocol/base/json.ts';
import { writePrivateFile } from '../../../protocol/base/platform/privateFile.ts';

const memoryKey = 'runner.offeredIds';

/**
 * The ids that the picker was last offered. It may still have one of them chosen, and a question to an id that nobody
 * offers fails in the editor, before Runner learns of it. They are kept in the editor and in a file of the user's state
 * folder: the editor forgets what an extension kept when it is uninstalled, but not which model is chosen.
 */
export function createOfferedIds(memory: Memento, stateFolder: string) {
  const path = join(stateFolder, 'vscodeModels.json');
  let last = memory.get<readonly string[]>(memoryKey) ?? readIds(path);
  return {
    get last(): readonly string[] {
      return last;
    },
    /** Settles once they are kept. */
    async keep(ids: readonly string[]): Promise<void> {
      if (ids.join(' ') === last.join(' ')) return;
      last = ids;
      const text = `${JSON.stringify({ ids })}\n`;
      await Promise.all([memory.update(memoryKey, ids), writePrivateFile(path, text)]);
    },
  };
}

/** Empty if there is no file, or if it is broken: then only the editor remembers. */
function readIds(path: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const ids: unknown = isRecord(kept) ? kept['ids'] : undefined;
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
