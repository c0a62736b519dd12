import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
import { tryReadKept } from '../base/regularFile.ts';

const maxBytes = 64 * 1024;
const keptSchema = z.object({ version: z.literal(1), folder: z.string(), allowed: z.boolean() });

/** The user's answers to the question whether the prompts of a folder count. */
export type FolderAnswers = ReturnType<typeof createFolderAnswers>;

/** Each answer is a private file, so that daemons do not write over each other's. */
export function createFolderAnswers(state: string) {
  const pathOf = (folder: string) => {
    const id = createHash('sha256').update(folder).digest('hex').slice(0, 32);
    return join(state, `${id}.json`);
  };
  return {
    /** Undefined if the user has not been asked. */
    async read(folder: string): Promise<boolean | undefined> {
      const kept = await tryReadKept(pathOf(folder), { schema: keptSchema, maxBytes });
      return kept?.folder === folder ? kept.allowed : undefined;
    },
    write(folder: string, allowed: boolean): Promise<void> {
      return writePrivateFile(
        pathOf(folder),
        `${JSON.stringify({ version: 1, folder, allowed } satisfies z.output<typeof keptSchema>)}\n`,
      );
    },
  };
}

/** For a daemon that keeps nothing: the answers last as long as it runs. */
export function rememberAnswers(): FolderAnswers {
  const answers = new Map<string, boolean>();
  return {
    read: async (folder) => answers.get(folder),
    write: async (folder, allowed) => void answers.set(folder, allowed),
  };
}
