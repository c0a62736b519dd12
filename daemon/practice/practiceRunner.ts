import { createServer, type Server } from 'node:http';
import { createDispatch } from './dispatch.ts';
import { createDocuments } from './docsQuote.ts';
import { type Clock, type Runner, type Script, systemClock } from './exchange.ts';
import { type PracticeModel, practiceCatalog, practiceModels } from './model.ts';
import { createLoadedModels, createModelStore } from './modelStore.ts';
import { createPracticeSpeaker } from './practiceSpeaker.ts';
import { createRequestLog, type RecordedRequest } from './requestLog.ts';

export type { PracticeModel } from './model.ts';
export type { RecordedRequest } from './requestLog.ts';

export interface PracticeRunner {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Ends every answer and connection. Resolves when everything of the runner is gone. */
  close(): Promise<void>;
}

export interface PracticeRunnerOptions {
  /** Default 0, which means any free port. */
  readonly port?: number;
  /** The installed models. Default: the practice models. */
  readonly models?: readonly PracticeModel[];
  /** The models that can be pulled. Default: the practice models and one more. */
  readonly catalog?: readonly PracticeModel[];
  /** A folder of Markdown that the practice models quote. */
  readonly docs?: string;
  /** Default 60, which a reader can follow. `Infinity` sends without pauses. */
  readonly tokensPerSecond?: number;
  /** Milliseconds between two lines of a pull's progress. Default 60, as in a real runner. */
  readonly pullStep?: number;
  /** Milliseconds that a model stays in the list after its unload was answered. Default 50. */
  readonly unloadTakes?: number;
  /** Answers `DELETE /api/ps/<model>`, which a real runner does not have. Default false. */
  readonly stopRoute?: boolean;
  readonly version?: string;
  readonly clock?: Clock;
  readonly script?: Script;
  /** Called when a request has been read, and again when its answer is over. */
  readonly onRequest?: (request: RecordedRequest) => void;
}

/** Serves the runner's API on loopback, with models that have no weights. */
export async function startPracticeRunner(options: PracticeRunnerOptions = {}): Promise<PracticeRunner> {
  const { clock = systemClock, onRequest = () => undefined, script = () => undefined } = options;
  const log = createRequestLog(clock.now, onRequest);
  const dispatch = createDispatch({ runner: createRunner(options), log, script, onRequest });
  const server = createServer(dispatch.answer);
  const url = await listen(server, options.port ?? 0);
  return {
    url,
    requests: log.requests,
    async close() {
      log.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await dispatch.settled();
    },
  };
}

function createRunner(options: PracticeRunnerOptions): Runner {
  const { clock = systemClock, unloadTakes = 50 } = options;
  const documents = createDocuments(options.docs);
  return {
    clock,
    store: createModelStore(options.models ?? practiceModels, clock.now),
    loaded: createLoadedModels(clock.now, unloadTakes),
    catalog: options.catalog ?? practiceCatalog,
    speak: createPracticeSpeaker(documents),
    tokensPerSecond: options.tokensPerSecond ?? 60,
    pullStep: options.pullStep ?? 60,
    stopRoute: options.stopRoute ?? false,
    version: options.version ?? '0.31.4',
  };
}

/** Only on loopback, because the documents are nobody else's business. */
function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      const address = server.address();
      if (address === null || typeof address === 'string')
        reject(new Error('The practice runner does not listen.'));
      else resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}
