import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../../protocol/base/text.ts';
import { exact, validate } from '../../base/validate.ts';
import { engineOptions, NativeModel } from './engineModel.ts';
import { ApiError } from './requests.ts';
import { createRoutes, type EngineRoute, factsOf, type ModelFacts } from './routes.ts';

/**
 * Serves one model behind llama.cpp's API on loopback, at a port that the system chooses, and reports what happens to
 * it. Resolves once it is loaded.
 * @throws {Error} that says what is wrong with the options, or why the model cannot be loaded.
 */
export async function serveEngine(asked: unknown, report: (event: object) => void): Promise<Server> {
  const { alias, key, ...options } = validate(exact(engineOptions), asked);
  let facts: ModelFacts | undefined;
  let port = 0;
  const engine = new NativeModel(options, {
    loading: (percent) => report({ event: 'loading', percent }),
    ready(loaded) {
      facts ??= factsOf(loaded, alias);
      report({ event: 'ready', port, context: loaded.window, trainedContext: loaded.model.trainContextSize });
    },
    unloaded: () => report({ event: 'unloaded' }),
  });
  const isReady = () => facts !== undefined;
  const routes = createRoutes(engine, alias, () => facts);
  const server = createServer(
    (request, response) => void respond(request, response, { key, isReady, routes }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  report({ event: 'listening', port });
  await engine.use(() => undefined).finally(() => facts ?? server.close());
  return server;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  options: {
    readonly key: string;
    readonly routes: ReadonlyMap<string, EngineRoute>;
    /** Until then, each request is refused as llama.cpp does while it loads. */
    readonly isReady: () => boolean;
  },
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('The client has left.')));
  response.setHeader('Server', 'llama.cpp');
  try {
    const url = new URL(request.url ?? '/', 'http://engine');
    guard(request, url, options.key);
    if (!options.isReady()) throw new ApiError(503, 'unavailable_error', 'Loading model');
    const route = options.routes.get(`${request.method} ${url.pathname}`);
    if (!route) throw new ApiError(404, 'not_found_error', 'File Not Found');
    const value = await route({ request, response, url, signal: gone.signal });
    if (value) send(response, 200, value);
  } catch (error) {
    if (gone.signal.aborted || response.headersSent) return void response.destroy();
    // The rest of a body that nobody reads would stand before the next request.
    if (!request.complete) response.setHeader('Connection', 'close');
    const failure = error instanceof ApiError ? error : new ApiError(500, 'server_error', messageOf(error));
    send(response, failure.status, failure.body);
  }
}

/**
 * A page in a browser can reach every port of its machine: it sends an `Origin`, or, with a name of its own that leads
 * here, another `Host`. @throws {ApiError} unless the request comes from a program with the key.
 */
function guard(request: IncomingMessage, url: URL, key: string): void {
  const { host, origin, authorization = '' } = request.headers;
  const { localPort } = request.socket;
  if (origin !== undefined || (host !== `127.0.0.1:${localPort}` && host !== `localhost:${localPort}`))
    throw new ApiError(403, 'permission_error', 'Only programs of this machine may ask, at its own address.');
  if (url.pathname === '/health') return;
  if (!timingSafeEqual(digest(authorization), digest(`Bearer ${key}`)))
    throw new ApiError(401, 'authentication_error', 'Invalid API Key');
}

/** Texts of one length, so that comparing them takes the same time whatever they are. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function send(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(value));
}
