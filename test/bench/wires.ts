import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { parseStreamed } from '../../daemon/runner/http/answerBody.ts';
import { readEvents, readJsonLines } from '../../daemon/runner/http/textStreams.ts';
import { parseChatLine } from '../../daemon/runner/ollama/answers.ts';
import { llamaHeaders, llamaRoutes } from '../support/openaiStandIn.ts';
import { portOf } from '../support/recordings.ts';

/** What the server of a benchmark is asked for, in the request's `options`. */
export interface Load {
  readonly tokens: number;
  /** 0 floods. */
  readonly perSecond: number;
}

/** How a server is asked for a chat, and what it streams. */
export interface Wire {
  readonly name: string;
  /** The least share of the direct throughput that a flood through the daemon should have. */
  readonly flood: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  /** Where a completion is asked for, and the whole answer of one that suggests this text. */
  readonly fill: { readonly path: string; readonly answer: (text: string) => string };
  body(load: Load): object;
  loadOf(body: unknown): Load;
  /** What other requests get, by method and path. */
  readonly routes: Readonly<Record<string, unknown>>;
  readonly line: (text: string) => string;
  readonly end: (tokens: number) => string;
  /** The texts of an answer, as directly as they can be read. */
  texts(body: Readable): AsyncIterable<readonly string[]>;
}

/** Its family has tokens for gaps. */
export const model = 'codellama:7b';

export const wires: readonly [Wire, Wire] = [
  {
    name: 'Ollama',
    flood: 0.5,
    headers: { 'content-type': 'application/x-ndjson' },
    path: '/api/chat',
    fill: {
      path: '/api/generate',
      answer: (response) => `${JSON.stringify({ model, response, done: true, done_reason: 'stop' })}\n`,
    },
    body: (options) => ({ model, messages: [], options }),
    loadOf: (body) => (body as { options: Load }).options,
    routes: { 'GET /api/version': { version: 'bench' }, 'GET /api/tags': { models: [] } },
    line: (content) =>
      `{"model":"${model}","created_at":"2026-11-21T05:00:00.123456789Z","message":{"role":"assistant","content":"${content}"},"done":false}\n`,
    end: (tokens) =>
      `{"model":"${model}","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":${tokens}}\n`,
    async *texts(body) {
      for await (const lines of readJsonLines(body)) yield lines.map((line) => parseChatLine(line).content);
    },
  },
  {
    name: 'llama.cpp',
    flood: 0.8,
    headers: { ...llamaHeaders, 'content-type': 'text/event-stream' },
    path: '/v1/chat/completions',
    fill: {
      path: '/v1/completions',
      answer: (text) =>
        `data: ${JSON.stringify({ choices: [{ text, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
    },
    body: (load) => ({ model, messages: [], stream: true, ...load }),
    loadOf: (body) => body as Load,
    routes: llamaRoutes(model),
    line: (content) =>
      `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"${content}"}}],"created":1795239600,"id":"chatcmpl-4q2m","model":"${model}","system_fingerprint":"b1-0c1e570","object":"chat.completion.chunk"}\n\n`,
    end: (tokens) =>
      `data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":${tokens}}}\n\ndata: [DONE]\n\n`,
    async *texts(body) {
      for await (const events of readEvents(body))
        yield events.flatMap(({ data }) => (data === '[DONE]' ? [] : (contentOf(data) ?? [])));
    },
  },
];

function contentOf(data: string): string | undefined {
  const value = parseStreamed(data) as { choices?: { delta?: { content?: string } }[] };
  return value.choices?.[0]?.delta?.content;
}

export async function readDirectly(
  wire: Wire,
  agent: Agent,
  origin: string,
  load: Load,
  take: (text: string) => void,
): Promise<void> {
  const { path } = wire;
  const request = { origin, path, method: 'POST', body: JSON.stringify(wire.body(load)) } as const;
  const { body } = await agent.request(request);
  for await (const texts of wire.texts(body)) for (const text of texts) take(text);
}

/**
 * A runner in a process of its own: as many tokens as asked for, at the pace asked for. Each token of a paced answer is
 * the moment at which it was sent, on the clock that all processes share. It tells its parent its address, and later
 * the moments at which answers were cancelled.
 */
export function serveWire(wire: Wire): void {
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(wire.headers)) response.setHeader(name, value);
    if (request.url === wire.fill.path) {
      request.resume();
      return response.end(wire.fill.answer('first + second;'));
    }
    if (request.url !== wire.path) {
      const [path = ''] = (request.url ?? '').split('?');
      const known = wire.routes[`${request.method} ${path}`];
      if (typeof known === 'function') return known(response);
      response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
      return response.end(JSON.stringify(known ?? { error: 'not found' }));
    }
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.on('end', () => void answer(wire.loadOf(JSON.parse(body))));
    const gone = new AbortController();
    response.on('close', () => {
      gone.abort();
      if (!response.writableFinished) process.send?.(String(process.hrtime.bigint()));
    });

    async function answer({ tokens, perSecond }: Load): Promise<void> {
      const start = performance.now();
      for (let sent = 0; sent < tokens && !response.destroyed; sent++) {
        const wait = perSecond === 0 ? 0 : start + (sent * 1000) / perSecond - performance.now();
        if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
        const isFull = !response.write(wire.line(perSecond === 0 ? 'tok ' : `${process.hrtime.bigint()} `));
        if (isFull && !response.destroyed)
          await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
      }
      response.end(wire.end(tokens));
    }
  });
  serveParent(server);
}

/** Tells the parent process the address, and ends with it. */
export function serveParent(server: Server): void {
  server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${portOf(server)}`));
  process.on('disconnect', () => process.exit(0));
}

/** Starts the script as the server that it calls `serveParent` with. */
export async function forkServer(script: string, ...words: readonly string[]) {
  const server = fork(script, ['serve', ...words], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [url] = await once(server, 'message');
  return { server, url: String(url) };
}
