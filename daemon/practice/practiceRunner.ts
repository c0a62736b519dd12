import { setTimeout as wait } from 'node:timers/promises';
import { practiceCatalog, practiceModels } from './model.ts';
import { createLoadedModels, createModelStore } from './modelStore.ts';
import { readPages } from './pages.ts';
import { createRoutes } from './routes.ts';
import { type PracticeServer, startServer } from './server.ts';
import { createSpeaker } from './speaker.ts';
import type { Speaker } from './speech.ts';

/** Milliseconds for each token, which is a speed that a reader can follow. */
const pace = 15;

/**
 * Serves a runner's API on loopback, with models that have no weights.
 * @param docs A folder of Markdown that the models quote.
 */
export function startPracticeRunner({ docs }: { readonly docs: string }): Promise<PracticeServer> {
  const clock = {
    now: Date.now,
    delay: (milliseconds: number, signal: AbortSignal) => wait(milliseconds, undefined, { signal }),
  };
  const quote = createSpeaker(readPages(docs));
  const speak: Speaker = async function* (prompt) {
    for await (const piece of quote(prompt)) {
      await clock.delay(pace, prompt.signal);
      yield piece;
    }
  };
  const store = createModelStore(practiceModels(), clock.now);
  const loaded = createLoadedModels(clock.now);
  return startServer(createRoutes({ store, loaded, catalog: practiceCatalog(), speak, clock }));
}
