import { setTimeout as wait } from 'node:timers/promises';
import { chat, generate } from './answering.ts';
import { blobExists, create, uploadBlob } from './create.ts';
import type { ExchangeRoute, HttpAnswer, Practice, Request } from './exchange.ts';
import { deleteModel, installedEntry, runningEntry, showModel } from './listing.ts';
import { practiceCatalog, practiceModels } from './model.ts';
import { createLoadedModels, createModelStore } from './modelStore.ts';
import { readPages } from './pages.ts';
import { pull } from './pull.ts';
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

type PracticeRoute = (practice: Practice, request: Request) => HttpAnswer | Promise<HttpAnswer>;

/** By method and path; a `*` stands for the last part of a path. */
const routes: Readonly<Record<string, PracticeRoute>> = {
  'GET /': () => ({ text: 'Ollama is running', contentType: 'text/plain; charset=utf-8' }),
  'GET /api/version': () => ({ json: { version: '0.31.4' } }),
  'GET /api/tags': ({ store }) => ({ json: { models: store.list().map(installedEntry) } }),
  'GET /api/ps': ({ loaded }) => ({ json: { models: loaded.list().map(runningEntry) } }),
  'POST /api/show': showModel,
  'POST /api/generate': generate,
  'POST /api/chat': chat,
  'POST /api/pull': pull,
  'POST /api/create': create,
  'DELETE /api/delete': deleteModel,
  'HEAD /api/blobs/*': blobExists,
  'POST /api/blobs/*': uploadBlob,
};

/** The routes of Ollama's API that the clients of this project use. */
export function createRoutes(practice: Practice): ExchangeRoute {
  return (request) => {
    const key = `${request.method} ${request.path.replace(/\?.*$/, '')}`;
    const route = routes[key] ?? routes[key.replace(/[^/]+$/, '*')];
    return route ? route(practice, request) : { text: '404 page not found', status: 404 };
  };
}
