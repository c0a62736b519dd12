import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { readBounded, TooLargeError } from '../../protocol/base/byteStreams.ts';
import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import { chat, generate } from './answering.ts';
import {
  ApiFailure,
  badRequest,
  type ExchangeRoute,
  type Fields,
  type HttpAnswer,
  type Practice,
  type Request,
  type Speaker,
} from './exchange.ts';
import { blobExists, create, pull, uploadBlob } from './install.ts';
import { deleteModel, installedEntry, runningEntry, showModel } from './listing.ts';
import { createLoadedModels, ModelStore, practiceCatalog, practiceModels } from './model.ts';
import { readPages } from './pages.ts';
import { createSpeaker } from './speaker.ts';

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
  const store = new ModelStore(practiceModels(), clock.now);
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

export interface PracticeServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Ends every answer and connection. Resolves when everything of the runner is gone. */
  close(): Promise<void>;
}

/** Only on loopback, because the pages are nobody else's business. */
export async function startServer(respond: ExchangeRoute): Promise<PracticeServer> {
  const running = new Set<Promise<void>>();
  const server = createServer((incoming, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const work = serve(respond, { incoming, response, signal: gone.signal });
    running.add(work);
    void work.finally(() => running.delete(work));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The practice runner does not listen.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, ...running]);
    },
  };
}

interface Connection {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

/** Never rejects: an error is an answer too. */
export async function serve(
  respond: ExchangeRoute,
  { incoming, response, signal }: Connection,
): Promise<void> {
  try {
    if (!isAllowed(incoming.headers)) throw new ApiFailure(403, 'a web page of another origin may not ask');
    await writeAnswer(response, await respond(await readRequest(incoming, signal)), signal);
  } catch (error) {
    // After an abort nobody reads an answer. What is no failure of the API is a mistake of ours.
    if (signal.aborted || response.destroyed) return;
    if (response.headersSent) response.destroy();
    else writeWhole(response, failureOf(error));
  }
}

/** The limit of a real runner is not known. This one keeps a runaway client from filling the memory. */
const maxBytes = 64 * 1024 * 1024;

async function readRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = 'GET', url: path = '/' } = incoming;
  const isUpload = path.startsWith('/api/blobs/');
  try {
    const text = isUpload ? '' : (await readBounded(incoming, maxBytes)).toString('utf8');
    return { method, path, text, upload: incoming, signal };
  } catch (error) {
    throw error instanceof TooLargeError ? badRequest('http: request body too large') : error;
  }
}

async function writeAnswer(response: ServerResponse, answer: HttpAnswer, signal: AbortSignal): Promise<void> {
  if ('lines' in answer) await writeLines(response, answer.lines, signal);
  else writeWhole(response, answer);
}

/**
 * Sends one JSON object on each line, and waits for a slow reader. An error before the first line has its own status. A
 * later error is the last line of a stream with status 200.
 */
async function writeLines(
  response: ServerResponse,
  lines: AsyncIterable<Fields>,
  signal: AbortSignal,
): Promise<void> {
  const send = async (line: Fields) => {
    signal.throwIfAborted();
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    if (!response.write(`${encodeJson(line)}\n`)) await once(response, 'drain', { signal });
  };
  try {
    for await (const line of lines) await send(line);
  } catch (error) {
    if (!(error instanceof ApiFailure) || !response.headersSent) throw error;
    await send({ error: error.message });
  }
  signal.throwIfAborted();
  response.end();
}

function writeWhole(
  response: ServerResponse,
  answer: Exclude<HttpAnswer, { readonly lines: unknown }>,
): void {
  const isJson = 'json' in answer;
  const { status = 200, contentType = isJson ? 'application/json; charset=utf-8' : 'text/plain' } = answer;
  const text = isJson ? encodeJson(answer.json) : answer.text;
  const type = text === '' ? {} : { 'content-type': contentType };
  response.writeHead(status, { ...type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function failureOf(error: unknown) {
  if (error instanceof ApiFailure) return { json: { error: error.message }, status: error.status };
  return { json: { error: `practice runner: ${String(error)}` }, status: 500 };
}

/**
 * Encodes like Go: `<`, `>`, `&` and the line separators U+2028/2029 are escaped. So a client that looks for tags in
 * the bytes fails here too, as it would with a real runner.
 */
export function encodeJson(value: unknown): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escaped);
}

/** Refused are a host name that a web page made point at this machine, and pages of other origins. */
function isAllowed({ host = '', origin }: IncomingHttpHeaders): boolean {
  const isOwn = (address: string) => isLoopbackHost(address.replace(/^https?:\/\//, '').replace(/:\d+$/, ''));
  return isOwn(host) && (origin === undefined || isOwn(origin));
}
