import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, portOf } from './recordings.ts';

/** What a stand-in was asked. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage['headers'];
  /** Whether its socket was closed before the answer was over. */
  isClosed: boolean;
}

/** What a route answers: JSON with status 200, or whatever it writes itself. */
export type Answer = object | ((response: ServerResponse, asked: Asked) => void);

export interface OpenaiStandIn {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** `GET /v1/models` and the like. A query does not count. Other paths are `*`, or 404 as llama.cpp says it. */
  readonly routes: Record<string, Answer>;
  /** The bodies of the requests of one path. */
  bodies(path: string): readonly Asked['body'][];
  close(): Promise<void>;
}

/** A server of OpenAI's API that says what its routes say. Without a port it takes a free one. */
export async function startOpenaiStandIn(
  routes: Record<string, Answer>,
  headers: Readonly<Record<string, string>> = {},
  port = 0,
): Promise<OpenaiStandIn> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const path = url.split('?')[0] ?? '';
    const one: Asked = {
      method,
      path: url,
      body: text === '' ? {} : JSON.parse(text),
      headers: request.headers,
      isClosed: false,
    };
    asked.push(one);
    response.on('close', () => {
      one.isClosed = !response.writableFinished;
    });
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const answer = routes[`${method} ${path}`] ?? routes['*'];
    if (typeof answer === 'function') answer(response, one);
    else sendJson(response, answer ? 200 : 404, answer ?? notFound);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    asked,
    routes,
    bodies: (path) => asked.filter((one) => one.path.split('?')[0] === path).map(({ body }) => body),
    close: () => closeServer(server),
  };
}

const notFound = { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } };

export function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** An answer of these events, with `[DONE]` at its end. */
export function streaming(events: readonly (object | string)[], end = 'data: [DONE]\n\n'): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events)
      response.write(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`);
    response.end(end);
  };
}

/** An event of a chat. */
export function delta(change: object, finish: string | null = null): object {
  return { choices: [{ index: 0, delta: change, finish_reason: finish }] };
}

export function usage(prompt: number, completion: number): object {
  return { choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion } };
}

/** The routes of a llama.cpp server with one model. */
export function llamaRoutes(
  model: string,
  { window = 4_096, slots = 1, caps = {} as object, template = '' } = {},
): Record<string, Answer> {
  const meta = { n_ctx: window, n_ctx_train: 8_192, n_params: 134_515_008, size: 96_576_768, ftype: 'Q4_1' };
  return {
    'GET /v1/models': { object: 'list', data: [{ id: model, aliases: [model], owned_by: 'llamacpp', meta }] },
    'GET /props': {
      default_generation_settings: { n_ctx: window },
      total_slots: slots,
      modalities: { vision: false },
      chat_template: template,
      chat_template_caps: caps,
      build_info: 'b1-0c1e570',
    },
    'POST /infill': (response) =>
      sendJson(response, 501, {
        error: {
          code: 501,
          message: 'Infill is not supported by this model: no tokens',
          type: 'not_supported_error',
        },
      }),
    'POST /v1/chat/completions/input_tokens': { input_tokens: 36 },
  };
}

export const llamaHeaders = { server: 'llama.cpp' };
