import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { createExclusiveWork } from '../base/exclusiveWork.ts';
import { tryReadKept, writePrivateFile } from '../base/privateFile.ts';

/** What the user always allows, in a file of the user's alone. A key stands for one tool of one entry. */
export interface KeptApprovals {
  has(key: string): Promise<boolean>;
  /** @throws {Error} where it cannot be written. */
  add(key: string): Promise<void>;
  /** Waits for what is being written. */
  close(): Promise<void>;
}

const maxBytes = 1024 * 1024;
const maxKept = 5_000;
/** Another process only reads and writes the file, in ms. */
const longestTurn = 5_000;
const keptSchema = z.object({ approved: z.array(z.string()) });

/** Of two processes that write at once, each adds to what the other has written. */
export function createKeptApprovals(path: string): KeptApprovals {
  const writing = createExclusiveWork({
    folder: dirname(path),
    longest: longestTurn,
    busy: () => new Error('another Runner process is writing the file. Allow the tool again'),
  });
  return {
    has: async (key) => (await readKept(path)).includes(key),
    add: (key) =>
      writing.run('approvals', async () => {
        const kept = await readKept(path);
        if (kept.includes(key)) return;
        const approved = [...kept, key].slice(-maxKept);
        await writePrivateFile(path, JSON.stringify({ approved }, undefined, 1));
      }),
    close: writing.close,
  };
}

/** A file that cannot be read allows nothing. */
async function readKept(path: string): Promise<readonly string[]> {
  return (await tryReadKept(path, { schema: keptSchema, maxBytes }))?.approved ?? [];
}
