import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerEmpty, answerJson, type Exchange, type Runner, type Script } from './exchange.ts';
import { ApiFailure } from './failure.ts';
import { isAllowed } from './guard.ts';
import { readText, tryBody } from './requestBody.ts';
import type { RecordedRequest, RequestLog } from './requestLog.ts';
import { findRoute, isBlobUpload } from './routes.ts';

export interface Dispatch {
  readonly answer: (incoming: IncomingMessage, response: ServerResponse) => void;
  /** Resolves when no request is being answered. */
  settled(): Promise<void>;
}

export interface DispatchOptions {
  readonly runner: Runner;
  readonly log: RequestLog;
  readonly script: Script;
  readonly onRequest: (request: RecordedRequest) => void;
}

/** Takes every request through the same steps: record, read, script or route, error. */
export function createDispatch(options: DispatchOptions): Dispatch {
  const running = new Set<Promise<void>>();
  return {
    answer(incoming, response) {
      const work = answerRequest(options, incoming, response);
      running.add(work);
      void work.finally(() => running.delete(work));
    },
    async settled() {
      await Promise.all(running);
    },
  };
}

async function answerRequest(
  { runner, log, script, onRequest }: DispatchOptions,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const watched = log.watch(incoming, response);
  const { request, signal } = watched;
  const [path = '/'] = request.path.split('?');
  try {
    const text = isBlobUpload(request.method, path) ? '' : await readText(incoming);
    if (text !== '') request.body = tryBody(text);
    onRequest(request);
    if (!isAllowed(incoming.headers)) return answerEmpty(response, 403);
    const base = { ...watched, runner, incoming, response, text };
    const scripted = script(request);
    if (scripted?.kind === 'answer') return await scripted.write(base);
    const { route, tail } = findRoute(request.method, path, runner);
    const exchange: Exchange = { ...base, tail, ...(scripted ? { speak: scripted.speak } : {}) };
    await route(exchange);
  } catch (error) {
    answerError(response, error, signal);
  }
}

/** After an abort nobody reads an answer. An error that is not a failure of the API is a mistake of ours. */
function answerError(response: ServerResponse, error: unknown, signal: AbortSignal): void {
  if (signal.aborted || response.destroyed) return;
  if (error instanceof ApiFailure) answerJson(response, error.body, { status: error.status });
  else if (response.headersSent) response.destroy();
  else answerJson(response, { error: `practice runner: ${String(error)}` }, { status: 500 });
}
