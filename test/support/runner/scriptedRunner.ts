import { createServer } from 'node:http';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { ExchangeRoute, Practice, Speaker } from '../../../daemon/practice/exchange.ts';
import {
  createLoadedModels,
  ModelStore,
  practiceCatalog,
  practiceModels,
} from '../../../daemon/practice/model.ts';
import { readPages } from '../../../daemon/practice/pages.ts';
import { createRoutes, serve } from '../../../daemon/practice/practiceRunner.ts';
import { createSpeaker } from '../../../daemon/practice/speaker.ts';
import { closeServer, portOf } from '../recordings.ts';
import { lingering } from './lingeringModels.ts';
import { createRequestLog, type RecordedRequest } from './requestLog.ts';
import { answer, type Script } from './scriptedAnswer.ts';
import { type StandInModel, toPracticeModel } from './standInModel.ts';

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
    const respond: ExchangeRoute = (request) => answer({ ...parts, ...options, watched, response, request });
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
  const store = new ModelStore(models.map(toPracticeModel), now);
  for (const model of models)
    if (model.modifiedAt !== undefined) store.install(toPracticeModel(model), model.modifiedAt);
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
