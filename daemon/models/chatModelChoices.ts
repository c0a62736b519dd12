import * as z from 'zod/mini';
import type { Log } from '../base/log.ts';
import { tryReadKept, writePrivateFile } from '../base/privateFile.ts';

/** The model that the user chose last for each runner, shared by every client and every daemon. */
export interface ChatModelChoices {
  /** Undefined if nothing was chosen, or if nothing can be read. */
  last(url: string): Promise<string | undefined>;
  /** If it cannot be written, the choice applies as long as this daemon runs. */
  keep(url: string, model: string): Promise<void>;
}

const maxBytes = 64 * 1024;
/** For how many runners a choice is kept. The oldest choice makes room. */
const maxKept = 32;

const keptSchema = z.object({ chosen: z.array(z.object({ url: z.string(), model: z.string() })) });
type Choice = z.infer<typeof keptSchema>['chosen'][number];

/** Without a `path` the choices last only as long as this daemon. */
export function createChatModelChoices(path: string | undefined, log: Log): ChatModelChoices {
  const unwritten = new Map<string, string>();
  return {
    async last(url) {
      if (path === undefined || unwritten.has(url)) return unwritten.get(url);
      return (await readKept(path)).find((choice) => choice.url === url)?.model;
    },
    async keep(url, model) {
      unwritten.set(url, model);
      if (path === undefined) return;
      try {
        const others = (await readKept(path)).filter((choice) => choice.url !== url);
        const chosen = [...others, { url, model }].slice(-maxKept);
        await writePrivateFile(path, `${JSON.stringify({ chosen }, undefined, 1)}\n`);
        unwritten.delete(url);
      } catch (error) {
        log.warn(`The choice of ${model} could not be saved for the next time: ${String(error)}`);
      }
    },
  };
}

async function readKept(path: string): Promise<readonly Choice[]> {
  return (await tryReadKept(path, { schema: keptSchema, maxBytes }))?.chosen ?? [];
}
