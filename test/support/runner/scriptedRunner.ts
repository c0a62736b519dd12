import { createServer, type ServerResponse } from 'node:http';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import {
  type Answer,
  ApiFailure,
  type Fields,
  type Practice,
  type Request,
  type Route,
} from '../../../daemon/practice/exchange.ts';
import { practiceCatalog, practiceModels } from '../../../daemon/practice/model.ts';
import { createLoadedModels, createModelStore } from '../../../daemon/practice/modelStore.ts';
import { readPages } from '../../../daemon/practice/pages.ts';
import { createRoutes } from '../../../daemon/practice/routes.ts';
import { serve } from '../../../daemon/practice/server.ts';
import { createSpeaker } from '../../../daemon/practice/speaker.ts';
import type { Speaker } from '../../../daemon/practice/speech.ts';
import { tryJson } from '../../../protocol/base/json.ts';
import { closeServer, portOf } from '../recordings.ts';
import { lingering } from './lingeringModels.ts';
import { readBody } from './ollamaBody.ts';
import { dressAnswer } from './ollamaLines.ts';
import { answerElsewhere, ollamaRoutes, stopModel } from './ollamaRoutes.ts';
import { createRequestLog, type RecordedRequest, type Watched } from './requestLog.ts';
import { type Ending, type ScriptedSpeaker, speakScript } from './scriptedSpeech.ts';
import { extrasOf, type StandInModel, toPracticeModel } from './standInModel.ts';

export interface ScriptedRunner {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

export interface ScriptedRunnerOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** The installed models. Default: the practice models. */
  readonly models?: readonly StandInModel[];
  /** The models that can be pulled. Default: the practice models and one more. */
  readonly catalog?: readonly StandInModel[];
  /** A folder of Markdown that models without a script quote. */
  readonly docs?: string;
  /** Milliseconds between two lines of a pull's progress. Default 0. */
  readonly pullStep?: number;
  /** Milliseconds that a model stays in the list after its unload was answered. Default 20. */
  readonly unloadTakes?: number;
  /** Answers `DELETE /api/ps/<model>`, which a real runner does not have. Default false. */
  readonly stopRoute?: boolean;
  readonly now?: () => number;
  /** Called when a request has been read, and again when its answer is over. */
  readonly onRequest?: (request: RecordedRequest) => void;
}

/** What a script may use if it writes the bytes of an answer itself. */
export interface RawExchange extends Pick<Watched, 'signal' | 'drop'> {
  readonly response: ServerResponse;
}

/** What a script does with a request: nothing, replace what the model says, or write the whole answer. */
export type Script = (
  request: RecordedRequest,
) =>
  | { readonly kind: 'speech'; readonly speak: ScriptedSpeaker }
  | { readonly kind: 'answer'; readonly write: (exchange: RawExchange) => Promise<void> }
  | undefined;

/** The practice runner, with a script, a log of its requests, and what a real runner has beside it. */
export async function startScriptedRunner(
  options: ScriptedRunnerOptions,
  script: Script,
): Promise<ScriptedRunner> {
  const { now = exactNow, onRequest = () => undefined } = options;
  const log = createRequestLog(now, onRequest);
  const speeches = new WeakMap<AbortSignal, Speaker>();
  const practice = createPractice({ ...options, now }, speeches);
  const parts = { practice, product: createRoutes(practice), script, onRequest, speeches };
  const server = createServer((incoming, response) => {
    const watched = log.watch(incoming, response);
    const respond: Route = (request) => answer({ ...parts, ...options, watched, response, request });
    void serve(respond, { incoming, response, signal: watched.signal });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    requests: log.requests,
    close() {
      log.close();
      return closeServer(server);
    },
  };
}

/** With fractions of a millisecond. */
function exactNow(): number {
  return performance.timeOrigin + performance.now();
}

/** As fast as it can be read where the options say nothing else. */
function createPractice(
  options: ScriptedRunnerOptions & { readonly now: () => number },
  speeches: WeakMap<AbortSignal, Speaker>,
): Practice {
  const { now, catalog = practiceCatalog(), pullStep = 0, unloadTakes = 20 } = options;
  const models: readonly StandInModel[] = options.models ?? practiceModels();
  const quote = createSpeaker(readPages(options.docs ?? '/nowhere'));
  const store = createModelStore([], now);
  for (const [index, model] of models.entries())
    store.install(toPracticeModel(model), model.modifiedAt ?? now() - index * 1_000);
  const loaded = lingering(createLoadedModels(now), { now, unloadTakes });
  return {
    store,
    loaded,
    catalog: catalog.map(toPracticeModel),
    async *speak(prompt) {
      const leave = loaded.use(prompt.model.name);
      try {
        yield* (speeches.get(prompt.signal) ?? quote)(prompt);
      } finally {
        leave();
      }
    },
    clock: {
      now,
      delay: (_, signal) => (pullStep > 0 ? wait(pullStep, undefined, { signal }) : turn()),
    },
  };
}

interface Exchange extends Pick<ScriptedRunnerOptions, 'stopRoute'> {
  readonly practice: Practice;
  readonly product: Route;
  readonly script: Script;
  readonly speeches: WeakMap<AbortSignal, Speaker>;
  readonly onRequest: (request: RecordedRequest) => void;
  readonly watched: Watched;
  readonly response: ServerResponse;
  readonly request: Request;
}

async function answer(exchange: Exchange): Promise<Answer> {
  const { practice, watched, response, request, script, speeches } = exchange;
  const { request: recorded, signal, drop } = watched;
  if (request.text !== '') recorded.body = tryJson(request.text) ?? request.text;
  exchange.onRequest(recorded);
  const scripted = script(recorded);
  if (scripted?.kind === 'answer') {
    await scripted.write({ response, signal, drop });
    await aborted(signal);
    throw signal.reason;
  }
  const ending: Ending = { isCut: false, lastCalls: [] };
  const [path = ''] = request.path.split('?');
  const fields = readBody(path, request.text);
  const model = practice.store.find(String(fields['model'] ?? ''));
  const speak = scripted?.speak ?? (model && extrasOf(model).speak);
  if (speak) speeches.set(signal, speakScript(speak, { ending, drop }));
  const answered = await answerPlainly(exchange, path, fields);
  return dressAnswer(answered, { path, body: fields, model, ending });
}

async function answerPlainly(exchange: Exchange, path: string, fields: Fields): Promise<Answer> {
  const { practice, product, response, request, watched, stopRoute } = exchange;
  const method = request.method === 'HEAD' && !path.startsWith('/api/blobs/') ? 'GET' : request.method;
  const key = `${method} ${path}`;
  const route = ollamaRoutes[key] ?? ollamaRoutes[key.replace(/[^/]+$/, '*')];
  const tail = /^\/(?:api\/ps|library)\/(.+)$/.exec(path)?.[1] ?? '';
  const asked = { practice, fields, tail: decodeURIComponent(tail) };
  if (stopRoute && method === 'DELETE' && path.startsWith('/api/ps/')) return stopModel(asked);
  const own = route?.(asked) ?? answerElsewhere(method, path, response);
  if (own) return own;
  const text = JSON.stringify(fields);
  try {
    const upload = counted(request.upload, watched.request);
    return await product({ ...request, method, path, text, upload });
  } catch (error) {
    if (!(error instanceof ApiFailure) || fields['stream'] !== false) throw error;
    const { message, status } = error;
    return { json: { error: message }, status };
  }
}

/** For an upload, the record has only its size. */
async function* counted(upload: Request['upload'], recorded: RecordedRequest): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of upload) {
    size += chunk.length;
    yield chunk;
  }
  recorded.body = `${size} bytes`;
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
