import * as z from 'zod/mini';
import type { Log } from '../log.ts';
import { writePrivateFile } from '../privateFile.ts';
import { readRegularFile } from '../regularFile.ts';

/** What the user chose last at each runner, for every client and every daemon. */
export interface ChatModelChoices {
  /** Undefined where nothing was chosen, or nothing can be read. */
  last(url: string): Promise<string | undefined>;
  /** Where it cannot be written, it holds for this daemon's life. */
  keep(url: string, model: string): Promise<void>;
}

const maxBytes = 64 * 1024;
/** Of how many runners a choice is kept; the one that was made longest ago makes room. */
const maxKept = 32;

const keptSchema = z.object({ chosen: z.array(z.object({ url: z.string(), model: z.string() })) });
type Choice = z.infer<typeof keptSchema>['chosen'][number];

/** Without a `path` nothing is kept beyond this daemon's life. */
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
        log.warn(`The choice of ${model} is not kept for the next time: ${String(error)}`);
      }
    },
  };
}

async function readKept(path: string): Promise<readonly Choice[]> {
  try {
    const parsed = keptSchema.safeParse(JSON.parse(await readRegularFile(path, maxBytes)));
    return parsed.success ? parsed.data.chosen : [];
  } catch {
    return [];
  }
}
