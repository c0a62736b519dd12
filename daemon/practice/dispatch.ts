import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { answerEmpty, answerJson, type Exchange, type Runner, type Script } from './exchange.ts';
import { ApiFailure } from './failure.ts';
import { readText, tryBody } from './requestBody.ts';
import type { RecordedRequest, RequestLog } from './requestLog.ts';
import { findRoute, isBlobUpload } from './routes.ts';

interface Dispatch {
  readonly answer: (incoming: IncomingMessage, response: ServerResponse) => void;
  /** Resolves when no request is being answered. */
  settled(): Promise<void>;
}

interface DispatchOptions {
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

/**
 * Whether a request is allowed. Refused are a host name that a web page made point at this machine, and a web page of
 * another origin. Programs send no origin.
 */
function isAllowed({ host = '', origin }: IncomingHttpHeaders): boolean {
  return isOwnHost(hostOf(host)) && (origin === undefined || isOwnOrigin(origin));
}

const editorSchemes = /^(?:vscode-webview|vscode-file|app|file|tauri):\/\//;
const privateAddress =
  /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0$|::1?$|f[cd]|fe80:)/i;

function isOwnOrigin(origin: string): boolean {
  if (editorSchemes.test(origin)) return true;
  const host = hostOf(origin.replace(/^https?:\/\//, ''));
  return host === 'localhost' || privateAddress.test(host);
}

function isOwnHost(host: string): boolean {
  if (isIP(host) !== 0) return privateAddress.test(host);
  return (
    ['', 'localhost', hostname().toLowerCase()].includes(host) || /\.(?:localhost|local|internal)$/.test(host)
  );
}

/** The host without its port and without the brackets of IPv6. */
function hostOf(text: string): string {
  return (/^\[([^\]]*)\]|^[^:/]*/.exec(text)?.[1] ?? text.replace(/:\d+$/, '')).toLowerCase();
}
