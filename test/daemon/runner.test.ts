import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { RunnerError } from '../../daemon/base/errors.ts';
import { excessOf, maxNodes, nodesIn } from '../../daemon/base/nesting.ts';
import { ModelCapabilities } from '../../daemon/models/modelCapabilities.ts';
import { Models } from '../../daemon/models/models.ts';
import { failureOfAnswer } from '../../daemon/runner/http/answerFailure.ts';
import { failureOfConnection } from '../../daemon/runner/http/connection.ts';
import { readJsonLines } from '../../daemon/runner/http/textStreams.ts';
import { Transport, type TransportOptions } from '../../daemon/runner/http/transport.ts';
import {
  parseChatLine,
  parseGenerateLine,
  parseModels,
  parseShow,
  parseWorkLine,
  tryVersion,
} from '../../daemon/runner/ollama/answers.ts';
import { failureOfErrorLine, ollamaErrors } from '../../daemon/runner/ollama/errorTexts.ts';
import { OllamaRunner } from '../../daemon/runner/ollama/ollamaRunner.ts';
import type { ChatRequest, FillPart, FillRequest, Server } from '../../daemon/runner/runner.ts';
import type { Message } from '../../protocol/messages/chat.ts';
import { parseAddress } from '../../protocol/messages/settings.ts';
import { failsWith } from '../support/failsWith.ts';
import { golden } from '../support/golden.ts';
import { startOpenaiStandIn } from '../support/openaiStandIn.ts';
import { needs } from '../support/parts.ts';
import { type Recording, readRecordings, startReplay } from '../support/recordings.ts';
import { poll } from '../support/waiting.ts';

const timeouts = { connect: 2_000, list: 2_000, firstByte: 2_000, idle: 2_000 };

function transportTo(
  url: string,
  { caFile, ...options }: Partial<TransportOptions & Pick<Server, 'caFile'>> = {},
): Transport {
  const server = { name: 'default', url, ...(caFile === undefined ? {} : { caFile }) };
  return new Transport({ server, timeouts, headersFor: async () => ({}), ...options });
}

/** A server, and the one client for runners that asks it. Both end with the test. */
async function clientOf(t: Test, server: HttpServer | NetServer, options: Partial<TransportOptions> = {}) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  const transport = transportTo(url, options);
  t.teardown(async () => {
    await transport.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { signal } = new AbortController();
  return { transport, client: new OllamaRunner(transport), signal };
}

/** The limits in milliseconds, all but those that a test sets so long that they are never reached. */
const within = (limits: Partial<TransportOptions['timeouts']>) => ({
  timeouts: { connect: 60_000, list: 60_000, firstByte: 60_000, idle: 60_000, ...limits },
});

t.test('an address is read as OLLAMA_HOST is', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'http://127.0.0.1:11434'],
    ['  "http://127.0.0.1:1"  ', 'http://127.0.0.1:1'],
    ['box', 'http://box:11434'],
    [':8080', 'http://127.0.0.1:8080'],
    ['box:8080', 'http://box:8080'],
    ['box:8080/prefix/', 'http://box:8080/prefix'],
    ['[::1]:11434', 'http://[::1]:11434'],
    ['::1', 'http://[::1]:11434'],
    ['http://box', 'http://box'],
    ['https://box', 'https://box'],
    ['https://box:8443/a/b?q#f', 'https://box:8443/a/b'],
    ['ollama.com', 'https://ollama.com'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['http://[::]:11434', 'http://[::1]:11434'],
  ];
  for (const [text, want] of cases) t.equal(parseAddress(text), want, text || 'nothing');
  for (const text of ['ftp://box', 'http://', 'http://a b', 'box:99999', 'http://user:word@box:1', 'me@box'])
    t.throws(() => parseAddress(text), TypeError, text);
});

t.test('a failed answer becomes the error of the table', async (t) => {
  const json = (error: string, more: object = {}) => JSON.stringify({ error, ...more });
  type Case = readonly [
    name: string,
    status: number,
    body: string,
    kind: string,
    more?: object,
    headers?: object,
  ];
  const tools = { capability: 'tools' };
  const tooLong = json('the input length exceeds the context length');
  const figures = json('request (26012 tokens) exceeds the available context size (4096 tokens)');
  const signIn = (url: string) => json('unauthorized', { signin_url: url });
  const [connect, html] = ['https://ollama.com/connect?x', '<html><body>Bad Gateway'];
  const cases: readonly Case[] = [
    ['no route', 404, '404 page not found', 'not-supported'],
    ['a wrong method', 405, '405 method not allowed', 'not-supported'],
    ['a proxy without the method', 501, '', 'not-supported'],
    ['an unknown model', 404, json("model 'm' not found"), 'model-not-found', { model: 'm' }],
    [
      'a model that costs more',
      403,
      json('this model requires a subscription.'),
      'unauthorized',
      { advice: undefined },
    ],
    [
      'a limit of the account',
      429,
      json('you have reached your hourly usage limit'),
      'busy',
      { retryAfter: undefined },
    ],
    ['another 404', 404, json('blob missing'), 'invalid-request'],
    [
      'tools refused',
      400,
      json('registry.ollama.ai/library/m:2b does not support tools'),
      'not-supported',
      tools,
    ],
    ['several refused', 400, json('x does not support thinking\ntools'), 'not-supported', tools],
    ...[500, 501, 503].map(
      (status): Case => [
        `tools refused with ${status}`,
        status,
        json('m does not support tools'),
        'not-supported',
        tools,
      ],
    ),
    [
      'what a driver lacks',
      500,
      json('the device does not support CUDA graphs'),
      'runner-failed',
      { capability: undefined },
    ],
    ['a prompt too long, with 500', 500, tooLong, 'context-exceeded'],
    ['a prompt too long', 400, tooLong, 'context-exceeded'],
    ['a prompt too long, with figures', 400, figures, 'context-exceeded', { needed: 26012, allocated: 4096 }],
    [
      'thinking refused with advice',
      400,
      json('"m" does not support thinking. Pull the model again'),
      'not-supported',
      { capability: 'thinking' },
    ],
    ['a bad option', 400, json('invalid think value'), 'invalid-request'],
    ['payment', 402, json('subscribe'), 'invalid-request'],
    ['no token', 401, signIn(connect), 'unauthorized', { signinUrl: connect }],
    [
      'a sign-in address that is a script',
      401,
      signIn('javascript:alert(1)'),
      'unauthorized',
      { signinUrl: undefined },
    ],
    ['forbidden, empty', 403, '', 'unauthorized'],
    ['busy', 503, json('server busy, please try again.  maximum pending requests exceeded'), 'busy'],
    ['a rate limit', 429, '<html>', 'busy', { retryAfter: 7 }, { retryAfter: '7' }],
    ...['-1', 'soon', 'Fri, 01 Jan 2100 00:00:00 GMT'].map(
      (retryAfter): Case => [
        `a rate limit of ${retryAfter}`,
        429,
        '',
        'busy',
        { retryAfter: undefined },
        { retryAfter },
      ],
    ),
    ['a gateway page', 502, html, 'bad-response'],
    ['a page of another server', 404, '<!DOCTYPE html><title>Not here', 'bad-response'],
    ['the runner failed', 500, json('llama runner process has terminated'), 'runner-failed'],
    ['a failure inside a failure', 500, json('{"error":{"message":"inner"}}'), 'runner-failed'],
    ['a sentence inside of a sentence', 500, json('{"error":{"error":"inmost"}}'), 'runner-failed'],
    ['status 500 and nothing', 500, '', 'bad-response'],
    ['a redirect', 307, '', 'bad-response', {}, { location: 'https://evil.example/x?token=1' }],
    ['a redirect to nowhere, with words', 302, json('m does not support tools'), 'bad-response'],
    ['a page with a reason', 500, json('a model'), 'bad-response', {}, { contentType: 'text/html' }],
    ['what a model lacks', 501, json('no'), 'runner-failed'],
    ['no manifest', 500, json('pull model manifest: file does not exist'), 'model-not-found'],
    ['a number', 500, '{"error":7}', 'runner-failed'],
    ['no error', 500, '{"message":"no"}', 'bad-response'],
  ];
  const subject = { url: 'http://127.0.0.1:1', server: 's', redact: (text: string) => text };
  const failureOf = (answer: Parameters<typeof failureOfAnswer>[0]) =>
    failureOfAnswer(answer, { ...subject, model: 'm' }, ollamaErrors);
  for (const [name, status, body, kind, more, headers] of cases) {
    const contentType = body.startsWith('<') ? 'Text/HTML' : '';
    const error = failureOf({ status, body, contentType, ...headers });
    t.match({ ...error.data }, { kind, ...more }, name);
    t.equal(error.status, status, `${name}: the status is kept`);
    t.match(error.message, /[.!]$/, `${name}: a whole sentence`);
    t.notMatch(error.message, /token=1/, `${name}: no query of a foreign address`);
  }
  for (const [text, advice] of [
    ['model requires more system memory (8.0 GiB) than is available', /smaller/],
    ['pull model manifest: Get "https://r/v2/x": dial tcp: lookup r: no such host.', /Check the network/],
    ['pull model manifest: 401: access   denied', /Check the name, and whether the model is public/],
    ['pull model manifest: 412: the model requires a newer version of Ollama', /Update the runner/],
    ['digest mismatch, file must be downloaded again: want a, got b', /only the damaged part/],
    ['write /x: no space left on device', /Free some space/],
  ] as const)
    t.match(failureOf({ status: 500, body: json(text), contentType: '' }).message, advice, text);
  const unknown = { status: 404, body: json('not found'), contentType: 'application/json' };
  const ofTheServer = failureOfAnswer(unknown, subject, ollamaErrors);
  t.equal(ofTheServer.kind, 'not-supported', 'no model is asked for: the route is not there');
  const line = failureOfErrorLine('an error was encountered while running the model: EOF', subject);
  t.equal(line.kind, 'runner-failed');
});

t.test(
  'a connection that fails has a kind, a sentence, and its cause for who looks for the fault',
  async (t) => {
    const coded = (code: string) => Object.assign(new Error(), { code });
    const named = Object.assign(new Error(), { name: 'HTTPParserError' });
    const wrapped = new AggregateError([coded('ENOTFOUND'), coded('EPROTO')]);
    for (const [cause, kind, message, answered = false] of [
      [coded('UND_ERR_CONNECT_TIMEOUT'), 'timeout', /^Could not connect to http:\/\/box in time\. Start it/],
      [coded('UND_ERR_HEADERS_TIMEOUT'), 'timeout', /too long to begin/],
      [coded('UND_ERR_BODY_TIMEOUT'), 'timeout', /stopped sending/, true],
      [coded('UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'), 'invalid-request', /^A file changed/],
      [coded('ECONNRESET'), 'bad-response', /lost in the middle/, true],
      [coded('HPE_INVALID_CONSTANT'), 'bad-response', /does not speak HTTP/],
      [named, 'bad-response', /does not speak HTTP/],
      [coded('UND_ERR_HEADERS_OVERFLOW'), 'bad-response', /does not speak HTTP/],
      [coded('CERT_HAS_EXPIRED'), 'server-unreachable', /not trusted \(CERT_HAS_EXPIRED\)/],
      [coded('EAI_AGAIN'), 'server-unreachable', /not found/],
      [new TypeError('fetch failed', { cause: wrapped }), 'server-unreachable', /not found/],
      [coded('ECONNREFUSED'), 'server-unreachable', /^No runner answers at http:\/\/box\. Start it/],
    ] as const) {
      const subject = { url: 'http://box', server: 's', model: 'm', redact: (text: string) => text };
      const error = failureOfConnection(cause, subject, answered);
      t.match(error, { kind, message, details: { server: 's', model: 'm' }, cause }, String(message));
      t.equal(error.ofStatus(500).cause, cause);
    }
  },
);

t.test('JSON lines come out the same however they are cut', async (t) => {
  const read = async (chunks: readonly Buffer[]) => {
    const values: unknown[] = [];
    for await (const batch of readJsonLines(from(chunks))) values.push(...batch);
    return values;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.json(), { maxLength: 8 }), fc.array(fc.nat(400)), async (lines, cuts) => {
      const bytes = Buffer.from(lines.join('\n') + '\n');
      const want = lines.map((line) => JSON.parse(line));
      t.strictSame(await read(cutAt(bytes, cuts)), want);
    }),
    { numRuns: 200 },
  );
  const split = Buffer.from('{"a":"€𝄞"}\r\n\n  \n{"b":1}');
  t.strictSame(
    await read([...split].map((byte) => Buffer.from([byte]))),
    [{ a: '€𝄞' }, { b: 1 }],
    'a byte at a time',
  );
  t.strictSame(
    await read([Buffer.from('{"a":"\xff"}', 'latin1')]),
    [{ a: '\ufffd' }],
    'invalid UTF-8 is replaced',
  );
  await t.rejects(read([Buffer.from('{"a":1}\nnot json\n')]), failsWith({ kind: 'bad-response' }));
  await t.rejects(read([Buffer.from('<html>\n')]), failsWith({ kind: 'bad-response', message: /web page/ }));
});

t.test('only lines, and each megabyte of a long one, are batches', async (t) => {
  const sizes = async (...chunks: readonly string[]) => {
    const batches: number[] = [];
    for await (const batch of readJsonLines(from(chunks.map((chunk) => Buffer.from(chunk)))))
      batches.push(batch.length);
    return batches;
  };
  t.strictSame(await sizes(' ', '\n', '\r\n\n', '{', '', '}\n{', '}\n', ' '), [1, 1]);
  const part = 'x'.repeat(600_000);
  t.strictSame(await sizes('"', part, part, part, part, '"\n'), [0, 0, 1]);
  t.strictSame(await sizes(`"${part}`, `"\n"${part}`, `${part}"\n`), [1, 1], 'the next line counts anew');
});

t.test('a line of 40 MB is refused while it arrives', async (t) => {
  let given = 0;
  async function* endless() {
    for (let n = 0; n < 40; n++) {
      given++;
      yield Buffer.alloc(1024 * 1024, 'a');
    }
  }
  await t.rejects(drain(readJsonLines(endless())), failsWith({ kind: 'bad-response', message: /8 MB/ }));
  t.ok(given < 12, `${given} MB were read`);
});

t.test('parameters of a model are read up to a megabyte', async (t) => {
  const parameters = (length: number) => ({ parameters: `num_ctx 5\n${'x'.repeat(length - 10)}` });
  const most = parameters(1024 * 1024);
  t.strictSame(parseShow(most), { ...most, configuredContext: 5, turns: 'written' });
  t.throws(() => parseShow(parameters(1024 * 1024 + 1)), failsWith({ kind: 'bad-response' }));
});

t.test('an endless stream is stopped', async (t) => {
  async function* endless() {
    for (;;) yield Buffer.from('{}\n'.repeat(1_000));
  }
  await t.rejects(
    drain(readJsonLines(endless(), { maxStream: 1024 ** 2 })),
    failsWith({ kind: 'bad-response', message: /^The runner sent more than \d{1,2} GB in one answer/ }),
  );
  const lines = () => readJsonLines(from([Buffer.from('{}\n'), Buffer.from('{}\n')]), { maxStream: 6 });
  await drain(lines());
  await t.rejects(drain(readJsonLines(from([Buffer.from('{}\n{}\n')]), { maxStream: 5 })));
});

t.test('the parts of JSON are counted before it is parsed', async (t) => {
  const countNodes = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
    return 1 + keys + Object.values(value).reduce<number>((sum, item) => sum + countNodes(item), 0);
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => nodesIn(JSON.stringify(value)) === countNodes(value)),
    { numRuns: 500 },
  );
  const cases: readonly { name: string; text: string; want: ReturnType<typeof excessOf> }[] = [
    {
      name: 'what stands in a string counts for nothing',
      text: `"${'[{:'.repeat(maxNodes)}"`,
      want: undefined,
    },
    { name: 'escaped quotes', text: `["${'\\"[\\\\'.repeat(maxNodes)}"]`, want: undefined },
    { name: 'a string without an end', text: `["${'\\"'.repeat(maxNodes)}`, want: undefined },
    { name: 'objects', text: `[${'{},'.repeat(maxNodes)}{}]`, want: 'large' },
    { name: 'keys', text: `{${'"a":1,'.repeat(maxNodes)}"a":1}`, want: 'large' },
    { name: 'lists in lists', text: '['.repeat(513), want: 'deep' },
  ];
  for (const { name, text, want } of cases) t.equal(excessOf(text), want, name);
});

t.test('a list of models is bounded, and reports how many are left out', async (t) => {
  const names = Array.from({ length: 10_003 }, (_, index) => ({ name: `m${index}` }));
  const server = createHttpServer((_request, response) => response.end(JSON.stringify({ models: names })));
  const { client, signal } = await clientOf(t, server);
  const { models, leftOut } = await client.list(signal);
  t.strictSame([models.length, leftOut], [10_000, 3]);
  t.equal((await client.running(signal)).length, 10_000);
  const knowledge = new ModelCapabilities();
  const listed = await new Models(knowledge, Date.now).list(client, { refresh: true }, signal);
  t.equal(listed.leftOut, 3, 'and whoever asked is told');
});

t.test('the client reads every recorded exchange correctly', async (t) => {
  const outcomes: Record<string, unknown> = {};
  for (const recording of readRecordings()) outcomes[recording.file] = await replay(recording);
  t.equal(Object.keys(outcomes).length, 118);
  const { actual, accepted } = golden('replayed.json', outcomes);
  t.equal(actual, accepted, 'test/fixtures/golden/replayed.json (ACCEPT=1 takes what is)');
});

/** Requests of which only the answer matters. */
const empty: ChatRequest = { model: 'm', messages: [], tools: [] };
const gap: FillRequest = { model: 'm', text: { prompt: '' }, stops: [], maxTokens: 1, temperature: 0 };

async function replay(recording: Recording): Promise<unknown> {
  const { url, close } = await startReplay(recording);
  const transport = transportTo(url);
  try {
    return await outcomeOf(transport, recording);
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    const outcome = JSON.stringify({ ...error.data, message: error.message });
    return JSON.parse(outcome.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST'));
  } finally {
    await transport.close();
    await close();
  }
}

async function outcomeOf(transport: Transport, recording: Recording): Promise<unknown> {
  const client = new OllamaRunner(transport);
  const { signal } = new AbortController();
  const { method, path } = recording.request;
  const body = recording.request.body as
    | { model?: string; stream?: boolean; messages?: readonly Message[]; prompt?: string }
    | undefined;
  if (path === '/api/version') return (await client.identify(signal)).version;
  if (path === '/api/tags') return (await client.list(signal)).models;
  if (path === '/api/ps') return client.running(signal);
  if (path === '/api/show') return client.show(body?.model ?? '', signal);
  if (path === '/api/chat' && body?.stream !== false && body?.messages) {
    return summaryOf(client.chat({ ...empty, model: body.model ?? '', messages: body.messages }, signal));
  }
  if (path === '/api/generate' && body?.stream !== false && body?.prompt) {
    const { model = '', prompt } = body;
    const lines: FillPart[] = [];
    for await (const batch of client.fill({ ...gap, model, text: { prompt } }, signal)) lines.push(...batch);
    return { text: lines.map(({ text }) => text).join(''), doneReason: lines.at(-1)?.doneReason };
  }
  const request = { method: method as 'GET', path, signal, ...(body?.model ? { model: body.model } : {}) };
  const lines: unknown[] = [];
  for await (const batch of transport.speaking(ollamaErrors).stream(request, readJsonLines))
    lines.push(...batch);
  return { lines: lines.length };
}

/** What a chat gave; one that fails half way keeps what had come. */
async function summaryOf(
  batches: AsyncGenerator<readonly ReturnType<typeof parseChatLine>[]>,
): Promise<unknown> {
  const summary = {
    content: '',
    thinking: '',
    toolCalls: [] as unknown[],
    last: {},
    error: undefined as unknown,
  };
  try {
    for await (const batch of batches) {
      for (const { content, thinking, toolCalls, ...rest } of batch) {
        summary.content += content;
        summary.thinking += thinking;
        summary.toolCalls.push(...toolCalls);
        summary.last = rest;
      }
    }
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    if (summary.content === '') throw error;
    summary.error = error.kind;
  }
  return summary.content.length > 300
    ? { ...summary, content: `${summary.content.slice(0, 60)}… ${summary.content.length}` }
    : summary;
}

t.test('fields of an answer with a wrong type are left out', async (t) => {
  const chat = {
    content: '',
    thinking: '',
    toolCalls: [],
    done: false,
    promptTokens: 0,
    completionTokens: 0,
  };
  const called = (...of: readonly unknown[]) => ({
    message: { tool_calls: of.map((one) => ({ function: one })) },
  });
  const call = { name: 'f', arguments: {} };
  const cases: readonly (readonly [parse: (value: unknown) => unknown, value: unknown, want: unknown])[] = [
    [parseChatLine, {}, chat],
    [parseChatLine, { message: 'x', done: 'true', prompt_eval_count: -1, eval_count: '2' }, chat],
    [parseChatLine, { error: null }, chat],
    [parseChatLine, { error: { code: 1 } }, { ...chat, error: '{"code":1}' }],
    [
      parseChatLine,
      called(
        { name: 'f', arguments: { a: 1 } },
        { name: 'f', arguments: '{"a":1}' },
        { name: 'f', arguments: '[1]' },
        { name: 'f', arguments: '{' },
        { name: 'f', arguments: 1 },
        { name: '' },
        { name: 1 },
        null,
      ),
      {
        ...chat,
        toolCalls: [{ ...call, arguments: { a: 1 } }, { ...call, arguments: { a: 1 } }, call, call, call],
      },
    ],
    [
      parseChatLine,
      { message: { tool_calls: [null, { id: 'i', function: call }, { id: '', function: call }] } },
      { ...chat, toolCalls: [{ id: 'i', ...call }, call] },
    ],
    [parseGenerateLine, {}, { text: '', done: false }],
    [parseWorkLine, { status: 1, digest: 1, total: 1.5, completed: -1 }, { status: '' }],
    [parseWorkLine, { total: 2 ** 53, completed: Number.NaN }, { status: '' }],
    [
      parseModels,
      { models: [{ name: 'n'.repeat(1_000) }, { name: 'n'.repeat(1_001) }] },
      { models: [{ name: 'n'.repeat(1_000) }], leftOut: 0 },
    ],
    [parseModels, { models: null }, { models: [], leftOut: 0 }],
    [
      parseModels,
      { models: [1, {}, { name: '' }, { name: 1, model: 'm' }] },
      { models: [{ name: 'm' }], leftOut: 0 },
    ],
    [
      parseModels,
      { models: [{ name: 'mlx', context_length: 4_096, details: { format: 'safetensors' } }] },
      { models: [{ name: 'mlx' }], leftOut: 0 },
    ],
    [parseShow, { details: [], capabilities: 'tools', model_info: [] }, { turns: 'written' }],
    [
      parseShow,
      { model_info: { 'general.architecture': 'x', 'x.context_length': 1, 'y.context_length': 2 } },
      { maximumContext: 1, turns: 'written' },
    ],
    [tryVersion, { version: 'v'.repeat(65) }, 'v'.repeat(64)],
  ];
  for (const [parse, value, want] of cases)
    t.strictSame(parse(value), want, `${parse.name} of ${JSON.stringify(value)}`);
  for (const parse of [parseChatLine, parseGenerateLine, parseModels, parseShow, tryVersion, parseWorkLine])
    for (const value of [null, undefined, [], 'x', 1])
      t.throws(() => parse(value), failsWith({ kind: 'bad-response' }));
  t.throws(() => parseModels({ models: {} }), failsWith({ kind: 'bad-response' }));
});

t.test('an answer may be as long as its limit, and time may have no limit', async (t) => {
  const standIn = await startOpenaiStandIn({ '*': (response) => response.end('0123456789') });
  t.teardown(() => standIn.close());
  const { signal } = new AbortController();
  const asked = { method: 'GET', path: '/', signal } as const;
  for (const limit of [0, 2 ** 31 - 1]) {
    const none = { connect: limit, list: limit, firstByte: limit, idle: limit };
    const transport = transportTo(standIn.url, { timeouts: none });
    for (const wait of ['list', 'firstByte', 'work'] as const)
      t.match(
        await transport.text({ ...asked, wait, limit: 10 }),
        { text: '0123456789' },
        `${limit} ${wait}`,
      );
    await t.rejects(transport.text({ ...asked, limit: 9 }), failsWith({ kind: 'bad-response' }));
    const texts = [10, 9].map(async (most) => (await transport.look({ ...asked, limit: most })).text);
    t.strictSame(await Promise.all(texts), ['0123456789', '012345678'], 'a look is cut');
    const lines = transport.stream(asked, async function* (body) {
      for await (const chunk of body) yield [String(chunk)];
    });
    t.match(await lines.next(), { value: ['0123456789'] });
    await transport.close();
  }
});

t.test('a CA file that is mended is read again', async (t) => {
  const caFile = join(t.testdir(), 'ca.pem');
  const transport = transportTo('https://127.0.0.1:9', { caFile });
  const { signal } = new AbortController();
  const ask = () => transport.json({ method: 'GET', path: '/', signal });
  await t.rejects(ask(), { message: /CA file .* cannot be read/ });
  writeFileSync(caFile, '');
  await t.rejects(ask(), { message: /^No runner answers/ });
  await transport.close();
});

t.test('an answer that is not from a runner is recognised', async (t) => {
  const cases: readonly { name: string; listener: RequestListener; kind: string }[] = [
    {
      name: 'a page with status 200',
      listener: (_, r) => r.setHeader('content-type', 'TEXT/HTML').end('<html>'),
      kind: 'bad-response',
    },
    { name: 'text', listener: (_, r) => r.end('hello'), kind: 'bad-response' },
    { name: 'an array', listener: (_, r) => r.end('[]'), kind: 'bad-response' },
    { name: 'an empty body', listener: (_, r) => r.end(), kind: 'bad-response' },
    {
      name: 'a redirect',
      listener: (_, r) => r.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      kind: 'bad-response',
    },
    { name: 'a hang-up', listener: (_, r) => r.destroy(), kind: 'server-unreachable' },
    { name: 'silence', listener: () => undefined, kind: 'timeout' },
    {
      name: 'a body that stops',
      listener: (_, r) => void r.writeHead(200).write('{"models":['),
      kind: 'timeout',
    },
    {
      name: 'a body that breaks',
      listener: (_, r) => void r.writeHead(200).write('{"models":[', () => setTimeout(() => r.destroy(), 20)),
      kind: 'bad-response',
    },
  ];
  for (const { name, listener, kind } of cases) {
    const { client, signal } = await clientOf(
      t,
      createHttpServer(listener),
      within({ list: 150, idle: 150 }),
    );
    await t.rejects(client.list(signal), failsWith({ kind }), name);
  }
  const asked = { method: 'GET', path: '/', signal: new AbortController().signal } as const;
  for (const url of ['http://127.0.0.1:9', 'http://no.such.host.invalid'])
    await t.rejects(transportTo(url).json(asked), failsWith({ kind: 'server-unreachable' }), url);
});

t.test('at most 64 KB of a refusal are read', async (t) => {
  const refusal = (bytes: number) => `{"error":"no","rest":"${'x'.repeat(bytes - 24)}"}`;
  const server = createHttpServer(({ url }, response) =>
    response.writeHead(400).end(refusal(url === '/api/tags' ? 65_536 : 65_537)),
  );
  const { client, signal } = await clientOf(t, server);
  t.equal(refusal(65_536).length, 65_536);
  await t.rejects(client.list(signal), { message: 'The runner refused the request: no.' });
  await t.rejects(client.running(signal), { message: 'The runner refused the request: status 400.' });
});

t.test(
  'a CA file that is not a regular file does not block',
  { skip: process.platform === 'win32' },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'runner-ca-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const large = join(folder, 'large');
    writeFileSync(large, Buffer.alloc(1024 * 1024 + 1));
    for (const caFile of [pipe, large, '/dev/zero', folder]) {
      const transport = transportTo('https://127.0.0.1:1', { caFile });
      const client = new OllamaRunner(transport);
      await t.rejects(client.identify(new AbortController().signal), { message: /CA file/ }, caFile);
      await transport.close();
    }
  },
);

t.test('a whole answer has a deadline, however its bytes arrive', async (t) => {
  const server = createHttpServer((request, response) => {
    const isRefused = request.url === '/api/generate';
    request.resume();
    response.writeHead(isRefused ? 500 : 200, { 'content-type': 'application/json' });
    // Each byte comes long before the gap between two of them is too long.
    const drip = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(drip));
  });
  const { client, signal } = await clientOf(t, server, within({ list: 100 }));
  const asked: Readonly<Record<string, Promise<unknown>>> = {
    list: client.list(signal),
    running: client.running(signal),
    show: client.show('m', signal),
    version: client.identify(signal),
    'the reason of a refusal': client.fill(gap, signal).next(),
    load: client.load('m', {}, signal),
    'load of what embeds': client.load('m', { onlyEmbeds: true }, signal),
    upload: client.uploadBlob('sha256:0', { bytes: 1, stream: Readable.from(['x']) }, signal),
  };
  await Promise.all(
    Object.entries(asked).map(([name, answer]) =>
      t.rejects(answer, failsWith({ kind: 'timeout', details: { server: 'default' } }), name),
    ),
  );
});

t.test('JSON that is nested 100,000 deep is a bad response in each place', async (t) => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const call = `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":${deep}}}}]},"done":true}\n`;
  const server = createHttpServer(({ url }, response) => {
    response.writeHead(url === '/api/generate' || url === '/api/ps' ? 500 : 200, {
      'content-type': 'application/json',
    });
    response.end(
      url === '/api/chat' ? call : `{"error":${url === '/api/ps' ? '{"error":'.repeat(2_000) : deep}}`,
    );
  });
  const { client, signal } = await clientOf(t, server);
  const asked: Readonly<Record<string, Promise<unknown>>> = {
    'the arguments of a call': client.chat(empty, signal).next(),
    'the reason of an error': client.fill(gap, signal).next(),
    'an error in an error': client.running(signal),
    'a list': client.list(signal),
  };
  await Promise.all(
    Object.entries(asked).map(([name, answer]) =>
      t.rejects(answer, failsWith({ kind: 'bad-response', details: { server: 'default' } }), name),
    ),
  );
});

t.test('the head of an answer has a deadline, however its bytes arrive', async (t) => {
  const server = createNetServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ');
    const drip = setInterval(() => socket.write('x'), 10);
    socket.on('close', () => clearInterval(drip));
  });
  const { client, signal } = await clientOf(t, server, within({ firstByte: 100 }));
  const asked: Readonly<Record<string, Promise<unknown>>> = {
    chat: client.chat(empty, signal).next(),
    load: client.load('m', {}, signal),
    pull: client.pull('m', signal).next(),
  };
  await Promise.all(
    Object.entries(asked).map(([name, answer]) => t.rejects(answer, failsWith({ kind: 'timeout' }), name)),
  );
});

t.test('a stream ends if no line arrives in time, even if blanks do', async (t) => {
  const line = '{"message":{"content":"a"},"done":false}\n';
  let piece = '';
  let pieces = 0;
  const server = createHttpServer((request, response) => {
    request.resume();
    response.writeHead(200).write(line);
    const drip = setInterval(() => {
      pieces += 1;
      response.write(piece);
    }, 10);
    response.on('close', () => clearInterval(drip));
  });
  const { client, signal } = await clientOf(t, server, within({ firstByte: 100, idle: 100 }));
  for (const [name, drip] of Object.entries({
    blanks: ' ',
    'blank lines': '\r\n',
    'a line that does not end': 'x',
  })) {
    piece = drip;
    const stopped = failsWith({ kind: 'timeout', message: /stopped sending in the middle/ });
    await t.rejects(drain(client.chat(empty, signal)), stopped, `chat: ${name}`);
    await t.rejects(drain(client.pull('m', signal)), stopped, `pull: ${name}`);
  }
  piece = ' ';
  const lines = client.chat(empty, signal);
  t.match(await lines.next(), { value: [{ content: 'a' }] });
  const before = pieces;
  await poll(
    async () => pieces,
    (now) => now > before + 20,
  );
  piece = `\n${line.replace('false', 'true')}`;
  await drain(lines);
  t.pass('the time of who reads slowly does not count');
});

t.test('100 Continue is skipped, however it is cut', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
  const named = 'HTTP/1.1 100 Continue\r\nx-so: HTTP/1.1 100\r\n\r\n';
  const body = JSON.stringify({ version: interim });
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;
  const cases: Readonly<Record<string, readonly string[]>> = {
    'with its answer': [interim + head + body],
    'before its answer': [interim, head + body],
    'byte by byte': [...(interim + head + body)],
    'more than once': [interim + named, interim, head + body],
    'never, but in what it says': [head, body],
  };
  let pieces: readonly string[] = [];
  let closed = 0;
  const server = createNetServer((socket) => {
    socket.on('close', () => closed++);
    socket.on('error', () => undefined).setNoDelay(true);
    socket.on('data', async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise(setImmediate);
      }
    });
  });
  const { client, signal } = await clientOf(t, server);
  for (const [name, sent] of Object.entries(cases)) {
    pieces = sent;
    t.strictSame(await client.identify(signal), { version: interim.slice(0, 64) }, name);
  }
  t.equal(closed, 0, 'no connection is closed');
});

t.test('a server that does not speak HTTP is a bad response', async (t) => {
  const server = createNetServer((socket) => socket.end('SSH-2.0-OpenSSH_9\r\n'));
  const { client, signal } = await clientOf(t, server);
  await t.rejects(client.list(signal), failsWith({ kind: 'bad-response' }));
});

t.test('a cancel closes the socket, before the first byte and in the middle', async (t) => {
  for (const sendsFirst of [false, true]) {
    let onClose: (() => void) | undefined;
    const socketClosed = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    const abort = new AbortController();
    const server = createHttpServer((_, response) => {
      response.on('close', () => onClose?.());
      if (sendsFirst) response.writeHead(200).write('{"message":{"content":"a"},"done":false}\n');
      setTimeout(() => abort.abort(), 30);
    });
    const { client } = await clientOf(t, server);
    await t.rejects(drain(client.chat(empty, abort.signal)), { name: 'AbortError' });
    await socketClosed;
    t.pass(sendsFirst ? 'in the middle' : 'before the first byte');
  }
});

t.test(
  'a self-signed certificate is trusted where its file is named, and only there',
  needs('openssl'),
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'runner-tls-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const made =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
    const args = [
      ...made.split(' '),
      '-addext',
      'subjectAltName=DNS:localhost',
      '-keyout',
      key,
      '-out',
      cert,
    ];
    execFileSync('openssl', args, { stdio: 'ignore' });
    const server = createHttpsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
      response.end('{"version":"9"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const address = server.address();
    const url = `https://localhost:${typeof address === 'object' && address ? address.port : 0}`;
    const ask = async (options: { caFile?: string }) => {
      const transport = transportTo(url, options);
      try {
        return await new OllamaRunner(transport).identify(new AbortController().signal);
      } finally {
        await transport.close();
      }
    };
    await t.rejects(ask({}), failsWith({ kind: 'server-unreachable', message: /CA file/ }));
    await t.rejects(ask({ caFile: join(folder, 'none.pem') }), { message: /none\.pem cannot be read/ });
    t.strictSame(await ask({ caFile: cert }), { version: '9' });
    server.closeAllConnections();
  },
);

async function drain(values: AsyncGenerator<unknown>): Promise<void> {
  for await (const _ of values);
}

async function* from(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b);
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
}
