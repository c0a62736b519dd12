import { once } from 'node:events';
import { createServer } from 'node:http';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { RunnerError } from '../../daemon/base/errors.ts';
import { readEvents, type ServerSentEvent } from '../../daemon/runner/http/textStreams.ts';
import { Transport } from '../../daemon/runner/http/transport.ts';
import { ChatAnswer, createFillReader, nothing } from '../../daemon/runner/openai/chatAnswer.ts';
import { openaiErrors, refuseFailure } from '../../daemon/runner/openai/errorTexts.ts';
import { isLoaded, parseEntries, parseProps } from '../../daemon/runner/openai/modelList.ts';
import { chatBody } from '../../daemon/runner/openai/requests.ts';
import type { ChatRequest, Runner, Server } from '../../daemon/runner/runner.ts';
import { openaiRunner, recognise } from '../../daemon/runner/servers.ts';
import { isRecord } from '../../protocol/base/json.ts';
import type { ChatParams, Message } from '../../protocol/messages/chat.ts';
import { startLogsRequest } from '../../protocol/messages/log.ts';
import {
  type CapabilityName,
  cloudRequest,
  libraryRequest,
  listModelsRequest,
  pullModelRequest,
  showModelRequest,
} from '../../protocol/messages/models.ts';
import { discoverRequest, serversRequest, statusRequest } from '../../protocol/messages/status.ts';
import { startPair } from '../support/daemonPair.ts';
import { failsWith } from '../support/failsWith.ts';
import { golden } from '../support/golden.ts';
import {
  delta,
  llamaHeaders,
  llamaRoutes,
  type OpenaiStandIn,
  sendJson,
  startOpenaiStandIn,
  streaming,
  usage,
} from '../support/openaiStandIn.ts';
import { closeServer, portOf, type Recording, readRecordings, startReplay } from '../support/recordings.ts';
import { poll } from '../support/waiting.ts';

const timeouts = { connect: 5_000, list: 10_000, firstByte: 10_000, idle: 10_000 };
const facts = { product: 'other', can: ['chat', 'complete'], hasFreeNames: true } as const;
const empty: ChatRequest = { model: 'm', messages: [], tools: [] };
const never = new AbortController().signal;

function transportTo(url: string, api?: Server['api']) {
  return new Transport({
    server: { name: 'default', url, ...(api ? { api } : {}) },
    timeouts,
    headersFor: async () => ({}),
  });
}

t.test('every recorded exchange is read correctly', async (t) => {
  const outcomes: Record<string, unknown> = {};
  for (const recording of readRecordings('recordings-openai'))
    outcomes[recording.file] = await replay(recording);
  t.equal(Object.keys(outcomes).length, 217);
  const { actual, accepted } = golden('replayed-openai.json', outcomes);
  t.equal(actual, accepted, 'test/fixtures/golden/replayed-openai.json (ACCEPT=1 takes what is)');
});

t.test('the stand-in for llama.cpp says nothing that a real server does not say', async (t) => {
  const events = [delta({ role: 'assistant', content: null }), delta({ content: 'a' }), delta({}, 'stop')];
  const chat = 'POST /v1/chat/completions';
  const routes = { ...llamaRoutes('m'), [chat]: streaming([...events, usage(1, 1)]) };
  const standIn = await startOpenaiStandIn(routes, llamaHeaders);
  t.teardown(() => standIn.close());
  const recordings = readRecordings('recordings-openai');
  for (const [route, file] of [
    ['GET /v1/models', '006-models.json'],
    ['GET /props', '009-props.json'],
    ['GET /nowhere', '015-unknown-route.json'],
    [chat, '023-chat-stream-usage.json'],
    ['POST /infill', '068-infill-unsupported.json'],
    ['POST /v1/chat/completions/input_tokens', '071-input-tokens.json'],
  ] as const) {
    const [method = '', path] = route.split(' ');
    const answer = await fetch(`${standIn.url}${path}`, { method });
    const real = recordings.find((recording) => recording.file === file)?.response;
    t.match(
      { status: answer.status, server: answer.headers.get('server') },
      { status: real?.status, server: real?.headers['server'] },
    );
    const known = fieldsOf(real?.chunks.map(({ text }) => text).join('') ?? '');
    t.strictSame(
      [...fieldsOf(await answer.text())].filter((field) => !known.has(field)),
      [],
      route,
    );
  }
});

/** The fields of JSON, or of a stream's events, each with its type, such as `.data[].meta.n_ctx number`. */
function fieldsOf(text: string): ReadonlySet<string> {
  const fields = new Set<string>();
  const walk = (value: unknown, path: string): void => {
    fields.add(`${path} ${value === null ? 'null' : typeof value}`);
    if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`);
    else if (isRecord(value)) for (const [key, field] of Object.entries(value)) walk(field, `${path}.${key}`);
  };
  const events = text.split('\n').filter((line) => line.startsWith('data: {'));
  for (const json of events.length > 0 ? events.map((line) => line.slice('data: '.length)) : [text])
    walk(JSON.parse(json), '');
  return fields;
}

async function replay(recording: Recording): Promise<unknown> {
  const { url, close } = await startReplay(recording);
  const transport = transportTo(url);
  try {
    return await outcomeOf(url, recording);
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    const outcome = JSON.stringify({ ...error.data, message: error.message });
    return JSON.parse(outcome.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST'));
  } finally {
    await transport.close();
    await close();
  }
}

async function outcomeOf(url: string, { request, response }: Recording): Promise<unknown> {
  const transport = transportTo(url).speaking(openaiErrors);
  const runner = openaiRunner(transport, facts);
  const { method, path } = request;
  const body = request.body as { model?: string; stream?: boolean } | undefined;
  const about = body?.model === undefined ? {} : { model: body.model };
  if (response.headers['content-type'] === 'text/event-stream' && path === '/v1/chat/completions')
    return summaryOf(runner.chat({ ...empty, ...about }, never));
  if (response.headers['content-type'] === 'text/event-stream' && /infill|completions?$/.test(path)) {
    const read = createFillReader(transport.subject());
    let text = '';
    for await (const events of transport.stream({ method: 'POST', path, body, signal: never }, readEvents))
      for (const part of events.map(read)) {
        text += part?.text ?? '';
        if (part?.done) return { text, doneReason: part.doneReason };
      }
    return { text, isLost: true };
  }
  if (/sse$/.test(path)) {
    let events = 0;
    const stream = transport.stream({ method: 'GET', path, signal: never }, readEvents);
    await (async () => {
      for await (const batch of stream) events += batch.length;
    })().catch(() => undefined);
    return { events };
  }
  const value = await transport.json({ method: method as 'GET', path, signal: never, ...about });
  if (/^\/v1\/models|^\/models$/.test(path) && method === 'GET' && !path.includes('/models/'))
    return parseEntries(value);
  if (path.startsWith('/props')) {
    const { template, ...props } = parseProps(value);
    return { ...props, template: template?.length };
  }
  return 'JSON';
}

/** What a chat gave; one that fails half way keeps what had come. */
async function summaryOf(batches: ReturnType<Runner['chat']>) {
  const summary = { content: '', thinking: '', calls: [] as unknown[], end: {} as object };
  try {
    for await (const parts of batches)
      for (const { content, thinking, toolCalls, done, doneReason, ...rest } of parts) {
        summary.content += content;
        summary.thinking += thinking;
        summary.calls.push(...toolCalls);
        if (done) summary.end = { doneReason, ...rest };
      }
    return summary;
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    return { ...summary, failed: error.kind, message: error.message.replace(/127\.0\.0\.1:\d+/, 'HOST') };
  }
}

async function eventsOf(chunks: readonly Buffer[]): Promise<readonly ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  async function* body() {
    yield* chunks;
  }
  for await (const batch of readEvents(body())) events.push(...batch);
  return events;
}

t.test('server-sent events are the same in any cut of their bytes', async (t) => {
  const text =
    ': ping\r\n\r\ndata: {"a":"ü"}\r\n\r\nevent: error\nid: 6\ndata: one\ndata:two\ndatas: no\n\nid: 7\nretry: 1\ndata\n\nrubbish\n\ndata: [DONE]\n\ndata: lost';
  const want = [
    { name: 'message', data: '{"a":"ü"}' },
    { name: 'error', data: 'one\ntwo' },
    { name: 'message', data: '' },
    { name: 'message', data: '[DONE]' },
  ];
  const bytes = Buffer.from(text);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      return JSON.stringify(await eventsOf(chunks)) === JSON.stringify(want);
    }),
    { numRuns: 300 },
  );
  t.strictSame(await eventsOf([bytes]), want);
});

t.test('bodies of other forms are events all the same, in any cut of their bytes', async (t) => {
  const whole = JSON.stringify({ choices: [], error: 'ü' }, null, 2);
  for (const [text, want] of [
    [`\r\n\n${whole}\n`, [{ name: 'message', data: whole }]],
    [JSON.stringify({ a: 1 }), [{ name: 'message', data: '{"a":1}' }]],
    [
      'data: 1\n\nerror: {"code":500}\n\n{"a":1}\n',
      [
        { name: 'message', data: '1' },
        { name: 'error', data: '{"code":500}' },
      ],
    ],
  ] as const) {
    const bytes = Buffer.from(text);
    for (const size of [1, 3, 1_000]) {
      const length = Math.ceil(bytes.length / size);
      const chunks = Array.from({ length }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
      const read = (await eventsOf(chunks)).map(({ name, data }) => ({ name, data: data.trim() }));
      t.strictSame(read, want, `${text.slice(0, 12)} by ${size}`);
    }
  }
});

t.test('an event is bounded by its lines, not by their characters alone', async (t) => {
  const most = 8 * 1024 * 1024;
  const refused = failsWith({ kind: 'bad-response', message: /an event of more than 8 MB/ });
  for (const line of ['data\n', 'data:\n', 'data: \r\n', `data: ${'x'.repeat(1_000)}\n`]) {
    const flood = Buffer.from(line.repeat(Math.ceil(65_536 / line.length)));
    const chunks = Array.from({ length: Math.ceil((4 * most) / flood.length) }, () => flood);
    await t.rejects(eventsOf(chunks), refused, JSON.stringify(line.slice(0, 8)));
  }
  const [event] = await eventsOf([Buffer.from(`${'data:\n'.repeat(1_000)}\n`)]);
  t.equal(event?.data, '\n'.repeat(999), 'a thousand lines are no flood');
});

t.test('what answers at an address is recognised', async (t) => {
  const list = (entry: object) => ({ 'GET /v1/models': { object: 'list', data: [entry] } });
  const locked = (response: Parameters<typeof sendJson>[0]) => sendJson(response, 401, { error: 'no' });
  const unexpected = { error: 'Unexpected endpoint or method. (GET /api/version)' };
  const loading = (response: Parameters<typeof sendJson>[0]) =>
    sendJson(response, 503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } });
  const cases: readonly {
    name: string;
    routes: Parameters<typeof startOpenaiStandIn>[0];
    headers?: Readonly<Record<string, string>>;
    api?: Server['api'];
    want: string;
  }[] = [
    { name: 'Ollama', routes: { 'GET /api/version': { version: '0.9' } }, want: 'ollama' },
    { name: 'llama.cpp', routes: llamaRoutes('m'), headers: llamaHeaders, want: 'llama.cpp' },
    { name: 'llama.cpp behind a proxy', routes: llamaRoutes('m'), want: 'llama.cpp' },
    { name: 'a proxy for several', routes: list({ id: 'm', owned_by: 'llamacpp' }), want: 'other' },
    {
      name: 'llama.cpp that loads',
      routes: { 'GET /api/version': loading, 'GET /v1/models': loading },
      headers: llamaHeaders,
      want: 'llama.cpp',
    },
    {
      name: 'llama.cpp that wants a key',
      routes: { 'GET /api/version': locked, 'GET /v1/models': locked },
      headers: llamaHeaders,
      want: 'llama.cpp',
    },
    { name: 'vLLM', routes: list({ id: 'm', owned_by: 'vllm', max_model_len: 8_192 }), want: 'vllm' },
    {
      name: 'vLLM that wants a key',
      routes: { 'GET /v1/models': locked, 'GET /version': { version: '0.11' } },
      want: 'vllm',
    },
    {
      name: 'LM Studio',
      routes: { 'GET /api/version': unexpected, ...list({ id: 'm', owned_by: 'organization_owner' }) },
      headers: { 'x-powered-by': 'Express' },
      want: 'lmstudio',
    },
    { name: 'another one', routes: list({ id: 'm', owned_by: 'someone' }), want: 'other' },
    { name: 'another one that wants a key', routes: { 'GET /v1/models': locked }, want: 'other' },
    {
      name: 'one that keeps everything behind a token',
      routes: { 'GET /api/version': locked, 'GET /v1/models': locked },
      want: 'ollama',
    },
    { name: 'nothing that is known', routes: {}, want: 'ollama' },
    {
      name: 'a router of llama.cpp',
      routes: { 'GET /props': { role: 'router' }, 'GET /api/version': loading },
      headers: llamaHeaders,
      want: 'llama.cpp',
    },
    { name: 'vLLM by its name alone', routes: list({ id: 'm', owned_by: 'vllm' }), want: 'vllm' },
    { name: 'SGLang', routes: list({ id: 'm', owned_by: 'sglang', max_model_len: 1 }), want: 'other' },
    {
      name: 'a new LM Studio',
      routes: { ...list({ id: 'm', owned_by: 'organization_owner' }), 'GET /api/v1/models': { models: [] } },
      want: 'lmstudio',
    },
    {
      name: 'LM Studio that wants a key',
      routes: { 'GET /api/version': unexpected, 'GET /v1/models': locked },
      headers: { 'x-powered-by': 'Express' },
      want: 'lmstudio',
    },
    { name: 'no list', routes: { 'GET /v1/models': { data: {} } }, want: 'ollama' },
    { name: "Ollama's list without its name", routes: { 'GET /api/tags': { models: [] } }, want: 'other' },
    { name: 'as the settings say', routes: {}, api: 'openai', want: 'other' },
    { name: 'as the settings say, too', routes: llamaRoutes('m'), api: 'ollama', want: 'ollama' },
  ];
  for (const { name, routes, headers, api, want } of cases) {
    const standIn = await startOpenaiStandIn(routes, headers);
    const transport = transportTo(standIn.url, api);
    const { runner } = await recognise(transport, never);
    t.equal(runner.facts.product, want, name);
    t.ok(standIn.asked.length <= 3, `${name}: at most three questions`);
    await transport.close();
    await standIn.close();
  }
});

t.test('the only model of a server has what its properties say, and a mark of them', async (t) => {
  const caps = { supports_tools: true };
  const standIn = await startOpenaiStandIn(llamaRoutes('m', { caps, template: 'a' }), llamaHeaders);
  const transport = transportTo(standIn.url);
  t.teardown(async () => {
    await transport.close();
    await standIn.close();
  });
  const { runner } = await recognise(transport, never);
  const list = async (routes: object = {}) => {
    Object.assign(standIn.routes, routes);
    const { models, leftOut } = await runner.list(never);
    t.equal(leftOut, 0);
    return models.map(({ mark, ...model }) => ({ model, mark: mark ?? '' }));
  };
  const [{ model, mark } = { model: {}, mark: '' }] = await list();
  const said = {
    ...{ name: 'm', aliases: ['m'], size: 96_576_768, allocatedContext: 4_096, maximumContext: 8_192 },
    ...{ slots: 1, capabilities: ['completion', 'tools'], lacks: ['vision'] },
    ...{ parameterSize: '134.5M', quantization: 'Q4_1' },
  };
  t.strictSame(model, said);
  t.match(mark, /^[\da-f]{64}$/);
  t.strictSame(await list(llamaRoutes('m', { caps, template: 'a', slots: 2, window: 9 })), [
    { model: { ...said, slots: 2, allocatedContext: 9 }, mark },
  ]);
  standIn.routes['GET /props'] = (response) => sendJson(response, 401, { error: 'Invalid API Key' });
  await t.rejects(runner.identify(never), failsWith({ kind: 'unauthorized' }), 'it wants a token');
  const marks = new Set([mark]);
  for (const other of [{ caps, template: 'b' }, { template: 'a' }, { caps }])
    for (const { mark: changed } of await list(llamaRoutes('m', other))) marks.add(changed);
  t.equal(marks.size, 4, 'another template, or other abilities, is another model');
  const { slots: _, capabilities: __, lacks: ___, ...alone } = said;
  const router = { ...llamaRoutes('m'), 'GET /props': { role: 'router' } };
  t.strictSame(await list(router), [{ model: alone, mark: '' }], 'a router has no only model');
});

async function startDaemon(t: Test, standIn: OpenaiStandIn, options: object = {}) {
  const daemon = await startPair({ host: `${standIn.url}/v1`, ...options });
  t.teardown(async () => {
    await daemon.close();
    await standIn.close();
  });
  const chat = async (params: Partial<ChatParams>, cancels = false) => {
    const asked = { model: 'small', messages: [{ role: 'user' as const, content: 'hello' }], ...params };
    return (await daemon.chat(asked, cancels ? { cancelAt: () => true } : {})).result;
  };
  return { daemon, chat };
}

const tools = [{ name: 'get_weather', description: 'd', inputSchema: { type: 'object' } }];

t.test('a chat with llama.cpp', async (t) => {
  const standIn = await startOpenaiStandIn(llamaRoutes('small'), llamaHeaders);
  const { daemon, chat } = await startDaemon(t, standIn);
  t.match(await daemon.request(statusRequest, {}), {
    state: 'online',
    product: 'llama.cpp',
    message: `llama.cpp answers at ${standIn.url}.`,
    version: 'b1-0c1e570',
    can: ['chat', 'complete', 'count'],
  });
  t.match(await daemon.request(listModelsRequest, {}), {
    models: [
      {
        name: 'small',
        size: 96_576_768,
        details: { parameterSize: '134.5M', quantization: 'Q4_1' },
        context: { allocated: 4_096, maximum: 8_192 },
        capabilities: { completion: { value: true, from: 'server' } },
      },
    ],
  });

  standIn.routes['POST /v1/chat/completions'] = streaming([
    ': ping\n\n',
    delta({ role: 'assistant', content: null }),
    delta({ reasoning_content: 'hm', reasoning: 'hm' }),
    delta({ content: 'Hel' }),
    delta({ content: 'lo' }),
    delta({}, 'stop'),
    usage(36, 3),
  ]);
  const answer = await chat({ options: { temperature: 0.5, num_predict: 9, num_ctx: 99 }, keepAlive: '5m' });
  t.match(answer, {
    finishReason: 'stop',
    message: { content: 'Hello', thinking: 'hm' },
    usage: { promptTokens: 36, completionTokens: 3, contextLength: 4_096 },
    notices: [],
  });
  t.strictSame(standIn.bodies('/v1/chat/completions'), [
    {
      temperature: 0.5,
      max_tokens: 9,
      model: 'small',
      messages: [{ role: 'user', content: 'hello' }],
      stream_options: { include_usage: true },
      stream: true,
    },
  ]);

  await t.test('a limit below zero is none, and other options may be below zero', async (t) => {
    await chat({ options: { num_predict: -1, seed: -1 } });
    const { max_tokens: limit, seed } = standIn.bodies('/v1/chat/completions').at(-1) ?? {};
    t.strictSame([limit, seed], [undefined, -1]);
  });

  await t.test('tools are not sent to a template that knows none, which is said', async (t) => {
    t.match(await chat({ tools }), { notices: [{ code: 'tools-disabled' }], message: { content: 'Hello' } });
    t.notOk('tools' in (standIn.bodies('/v1/chat/completions').at(-1) ?? {}));
  });

  await t.test('a name that it does not have is refused, although it would answer', async (t) => {
    const asked = standIn.bodies('/v1/chat/completions').length;
    await t.rejects(chat({ model: 'other' }), failsWith({ data: { kind: 'model-not-found' } }));
    t.equal(standIn.bodies('/v1/chat/completions').length, asked);
  });

  await t.test('what it cannot do is refused, with the name of the product', async (t) => {
    await t.rejects(daemon.request(pullModelRequest, { model: 'qwen' }), {
      data: { kind: 'not-supported', capability: 'pull' },
      message: /^llama\.cpp at .* cannot download models\./,
    });
    await t.rejects(
      daemon.request(startLogsRequest, {}),
      failsWith({
        data: { kind: 'not-supported', capability: 'logs' },
        message: /^llama\.cpp at .* cannot show its log\. Read it where the server was started\.$/,
      }),
      'the log of an Ollama on this machine is not its log',
    );
    for (const request of [libraryRequest, cloudRequest])
      await t.rejects(
        daemon.request(request, {}),
        failsWith({
          data: { kind: 'not-supported', capability: 'catalog' },
          message: /^llama\.cpp at .* cannot use the catalog of Ollama\. Use an Ollama server for that\.$/,
        }),
        'it has nothing that could be pulled there',
      );
  });

  await t.test('a prompt that nearly fills the window is counted exactly', async (t) => {
    standIn.routes['POST /v1/chat/completions/input_tokens'] = { input_tokens: 4_000 };
    const long = { messages: [{ role: 'user', content: 'word '.repeat(2_500) }] } as const;
    const { notices } = await chat(long);
    t.match(notices, [{ code: 'context-nearly-full', message: /98 % of the context window of 4096 tokens/ }]);
  });

  await t.test('a prompt that does not fit is refused with both figures', async (t) => {
    standIn.routes['POST /v1/chat/completions'] = (response) =>
      sendJson(response, 400, {
        error: {
          code: 400,
          message:
            'request (5031 tokens) exceeds the available context size (4096 tokens), try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 5_031,
          n_ctx: 4_096,
        },
      });
    const figures = { needed: 5_031, allocated: 4_096, maximum: 8_192 };
    const message =
      'The prompt needs 5031 tokens and the context window holds 4096, as the server was started. Shorten it or start a new chat.';
    await t.rejects(chat({}), failsWith({ message, data: { kind: 'context-exceeded', ...figures } }));
  });

  await t.test('a cancel closes the socket', async (t) => {
    standIn.routes['POST /v1/chat/completions'] = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(delta({ content: 'first' }))}\n\n`);
    };
    t.match(await chat({}, true), { finishReason: 'cancelled', message: { content: 'first' } });
    await poll(
      async () => standIn.asked.findLast(({ path }) => path === '/v1/chat/completions')?.isClosed,
      (isClosed) => isClosed === true,
    );
  });
});

t.test('a server that was started again with another template is another one', async (t) => {
  const standIn = await startOpenaiStandIn(
    llamaRoutes('small', { caps: { supports_tools: true }, template: '{{ messages }}' }),
    llamaHeaders,
  );
  const { daemon } = await startDaemon(t, standIn);
  const toolsOf = async () => {
    await daemon.request(listModelsRequest, { refresh: true });
    const { model } = await daemon.request(showModelRequest, { model: 'small' });
    return model.capabilities.tools.value;
  };
  t.equal(await toolsOf(), true);
  Object.assign(standIn.routes, llamaRoutes('small', { template: '{{ other }}' }));
  t.equal(await toolsOf(), false);
});

t.test('tool calls arrive in pieces', async (t) => {
  const standIn = await startOpenaiStandIn(
    llamaRoutes('small', { caps: { supports_tools: true } }),
    llamaHeaders,
  );
  const { chat } = await startDaemon(t, standIn);
  const piece = (index: number, text: string, head: object = {}) =>
    delta({
      tool_calls: [
        { index, ...head, function: { arguments: text, ...('id' in head ? { name: 'get_weather' } : {}) } },
      ],
    });
  const cases: readonly { name: string; events: readonly object[]; want: object }[] = [
    {
      name: 'a call',
      events: [piece(0, '{', { id: 'a' }), piece(0, '"city":"Bern"}'), delta({}, 'tool_calls')],
      want: { finishReason: 'toolCalls', message: { toolCalls: [{ id: 'a', arguments: { city: 'Bern' } }] } },
    },
    {
      name: 'arguments that cannot be read are a notice and no call',
      events: [piece(0, '{"city":', { id: 'a' }), delta({}, 'tool_calls')],
      want: { finishReason: 'stop', notices: [{ code: 'tool-call-malformed' }] },
    },
  ];
  for (const { name, events, want } of cases) {
    standIn.routes['POST /v1/chat/completions'] = streaming(events);
    t.match(await chat({ tools }), want, name);
  }
  t.match(standIn.bodies('/v1/chat/completions').at(-1), {
    tools: [{ type: 'function', function: { name: 'get_weather' } }],
  });
});

t.test('a schema of which the server can make no grammar is sent once more, simpler', async (t) => {
  const standIn = await startOpenaiStandIn(
    llamaRoutes('small', { caps: { supports_tools: true } }),
    llamaHeaders,
  );
  const { chat } = await startDaemon(t, standIn);
  let refusal = 'Failed to initialize samplers: failed to parse grammar';
  const odd = /pattern|format|maxLength|minimum|"not"|https:|:true|"any"/;
  standIn.routes['POST /v1/chat/completions'] = (response, asked) => {
    if (odd.test(JSON.stringify(asked.body['tools'] ?? [])))
      return sendJson(response, 400, { error: { code: 400, message: refusal, type: 'e' } });
    const answer = streaming([delta({ content: 'Hi.' }), delta({}, 'stop')]);
    return typeof answer === 'function' ? answer(response, asked) : undefined;
  };
  const schema = {
    type: 'object',
    properties: {
      day: { type: 'string', pattern: '^\\d+$', maxLength: 10_000, description: 'd' },
      list: { type: 'array', items: { anyOf: [{ type: 'integer', minimum: 1 }, true] }, maxItems: 9 },
      odd: { type: 'any', not: { type: 'string' } },
      far: { $ref: 'https://example.org/a' },
    },
    required: ['day'],
  };
  const simple = {
    type: 'object',
    properties: {
      day: { type: 'string', description: 'd' },
      list: { type: 'array', items: { anyOf: [{ type: 'integer' }, {}] } },
      ...{ odd: {}, far: {} },
    },
    required: ['day'],
  };
  const [plain] = tools;
  const given = [...tools, { name: 'plan', description: 'd', inputSchema: schema }];
  const sent = () =>
    standIn.bodies('/v1/chat/completions').map(({ tools }) => (Array.isArray(tools) ? tools.at(-1) : 0));
  const first = await chat({ tools: given });
  t.match(first, {
    message: { content: 'Hi.' },
    notices: [{ code: 'tool-schemas-simplified', message: /^The runner refused the schemas of plan, so/ }],
  });
  t.strictSame(
    sent().map(({ function: { parameters } }) => parameters),
    [schema, simple],
  );
  t.match(await chat({ tools: given }), { message: { content: 'Hi.' }, notices: [] });
  t.equal(sent().length, 3, 'it is remembered');
  for (const words of [
    '"x": JSON schema conversion failed:\nUnrecognized schema: true',
    'Pattern must start with',
  ]) {
    refusal = words;
    const other = [{ name: `plan ${words}`, description: 'd', inputSchema: schema }];
    t.match(await chat({ tools: other }), { notices: [{ code: 'tool-schemas-simplified' }] }, words);
  }
  standIn.routes['POST /v1/chat/completions'] = (response) =>
    sendJson(response, 400, { error: { message: 'failed to parse grammar.' } });
  await t.rejects(
    chat({ tools: plain ? [plain] : [] }),
    failsWith({
      data: { kind: 'invalid-request' },
      message: /parse grammar\. Offer fewer tools, or simplify the format\.$/,
    }),
  );
});

t.test('pieces of calls of any kind are joined, and a wrong piece harms no other', async (t) => {
  const subject = { url: 'http://127.0.0.1', server: 'default', redact: (text: string) => text };
  const read = (...deltas: readonly unknown[]) => {
    const answer = new ChatAnswer(subject);
    const data = (choice: object) => ({ name: 'message', data: JSON.stringify({ choices: [choice] }) });
    for (const delta of deltas) answer.read(data({ delta: { tool_calls: delta } }));
    answer.read(data({ delta: {}, finish_reason: 'tool_calls' }));
    const { toolCalls: calls = [], malformed = [] } = answer.read({ name: 'message', data: '[DONE]' }) ?? {};
    return { calls, malformed };
  };
  const f = (given?: unknown, name: unknown = 'f') => ({ function: { name, arguments: given } });
  const more = (given: string) => ({ function: { arguments: given } });
  const at0 = (delta: object, id?: string) => ({ index: 0, ...(id === undefined ? {} : { id }), ...delta });
  const called = (given: object, id?: string) => ({
    ...(id === undefined ? {} : { id }),
    name: 'f',
    arguments: given,
  });
  const deep = '['.repeat(600) + ']'.repeat(600);
  const cases: readonly (readonly [name: string, deltas: readonly unknown[], want: object])[] = [
    ['none', [undefined, {}, ['x']], {}],
    ['without an index', [[f('{}'), f('{"a":1}')]], { calls: [called({}), called({ a: 1 })] }],
    ['an object instead of its text', [[f({ a: 1 })]], { calls: [called({ a: 1 })] }],
    ['no arguments, or blanks', [[f(), f(' ')]], { calls: [called({}), called({})] }],
    ['an index far away', [[{ index: 7, ...f('{}') }]], { calls: [called({})] }],
    [
      'each with an identifier of its own, all numbered 0',
      [[at0(f('{"a":1}'), 'a')], [at0(f('{"a":2}'), 'b')]],
      { calls: [called({ a: 1 }, 'a'), called({ a: 2 }, 'b')] },
    ],
    [
      'the same in pieces, of which the first is named',
      [[at0(f(''), 'a')], [at0(more('{"a":'))], [at0(more('1}'))], [at0(f(''), 'b')], [at0(more('{"a":2}'))]],
      { calls: [called({ a: 1 }, 'a'), called({ a: 2 }, 'b')] },
    ],
    [
      'each piece with the same identifier and name',
      [[at0(f('{"a":'), 'a')], [at0(f('{"b":1}'), 'a')], [at0(f('}'), 'a')]],
      { calls: [called({ a: { b: 1 } }, 'a')] },
    ],
    [
      'each piece with a new identifier, of which the first is named',
      [[at0(f(''), 'a')], [at0(more('{"a":'), 'b')], [at0(more('1}'), 'c')], [at0(more(''), 'd')]],
      { calls: [called({ a: 1 }, 'a')] },
    ],
    [
      'all numbered 0, without identifiers, of other names',
      [[at0(f('{'))], [at0(more('}'))], [at0(f('{}', 'g'))]],
      { calls: [called({}), { ...called({}), name: 'g' }] },
    ],
    [
      'neither numbers nor identifiers, one in each chunk',
      [[f('{"a":1}')], [f('{"a":2}')], [more('{"a":"}{"}')]],
      { calls: [called({ a: 1 }), called({ a: 2 }), called({ a: '}{' })] },
    ],
    [
      'the whole arguments once more, with and without what names them',
      [[at0(f('{"a":'), 'a')], [at0(more('1}'))], [at0(f('{"a":1}'), 'a')], [at0(more('{"a":1}'))]],
      { calls: [called({ a: 1 }, 'a')] },
    ],
    [
      'the same arguments under another identifier are another call',
      [[at0(f('{}'), 'a')], [at0(f('{}'), 'b')]],
      { calls: [called({}, 'a'), called({}, 'b')] },
    ],
    [
      'one identifier for two numbers, and pieces that take turns',
      [
        [
          { index: 0, id: 'a', ...f('{') },
          { index: 1, id: 'b', ...f('{') },
        ],
        [{ index: 1, ...more('}') }],
        [at0(more('}'))],
      ],
      { calls: [called({}, 'a'), called({}, 'b')] },
    ],
    [
      'marks behind the arguments are no other call',
      [[at0(f('{"a":"\\"{"}'))], [at0(more('</tool_call>'))]],
      { malformed: [{ name: 'f', text: '{"a":"\\"{"}</tool_call>' }] },
    ],
    ['a name that comes later', [[f('{', '')], [f('}')]], { calls: [called({})] }],
    ['no name at all', [[f('{}', 7)]], { calls: [] }],
    ['no function', [[{ id: 'a' }], [f('{}')]], { calls: [called({}, 'a')] }],
    [
      'a list, and what nests too deep',
      [[f('[]'), f(`{"a":${deep}}`)]],
      {
        malformed: [
          { name: 'f', text: '[]' },
          { name: 'f', text: `{"a":${deep}}` },
        ],
      },
    ],
  ];
  for (const [name, deltas, want] of cases)
    t.strictSame(read(...deltas), { calls: [], malformed: [], ...want }, name);
  const many = read(
    Array.from({ length: 1_001 }, () => f('{}')),
    [f('')],
  );
  t.equal(many.calls.length, 1_000, 'an answer has no more calls');
  const most = 4 * 1024 * 1024;
  t.strictSame(read([f(' '.repeat(most - 1))]).calls, [called({})]);
  const long = 'x'.repeat(most / 4);
  for (const deltas of [
    [f(' '.repeat(most)), f(' ')],
    Array.from({ length: 5 }, () => f('', long)),
    Array.from({ length: 5 }, (_, at) => ({ id: `${long}${at}`, ...f('') })),
  ])
    t.throws(() => read(deltas), failsWith({ kind: 'bad-response' }));
});

t.test('an event that differs from others in its text alone is read as if it came first', (t) => {
  const subject = { url: 'http://127.0.0.1', server: 'default', redact: (text: string) => text };
  const unit = fc.constantFrom('a', '"', '\\', '\n', 'n', '}', '\u2028', '\ud83d');
  const text = fc.string({ unit, maxLength: 3 });
  const more = fc.subarray(['role', 'content', 'a"content', 'reasoning'].map((key) => [key, 'b'] as const));
  const delta = fc
    .tuple(fc.constantFrom('content', 'reasoning'), text, more)
    .map(([name, text, more]) => ({ ...Object.fromEntries(more), [name]: text }));
  const rows = [
    ...['b', 'c'].map((content) => ({ logprobs: { content }, delta: { content: 'b' } })),
    ...['type', 'kind'].map((key) => ({ delta: { content: [{ [key]: 'text', text: 'type' }] } })),
    ...['b', 'c'].map((content) => ({ delta: { content, reasoning: 'b' } })),
    ...['\n', 'xn'].map((content) => ({ delta: { content } })),
  ];
  const check = fc.property(fc.array(fc.record({ delta })), (choices) => {
    const answer = new ChatAnswer(subject);
    for (const choice of [...choices, ...rows]) {
      const event = { name: 'message', data: JSON.stringify({ choices: [choice] }) };
      t.strictSame(answer.read(event), new ChatAnswer(subject).read(event));
    }
  });
  fc.assert(check);
  t.end();
});

t.test('the events of an answer, of a chat and of a gap', async (t) => {
  const subject = { url: 'http://127.0.0.1', server: 'default', redact: (text: string) => text };
  const event = (data: object | string) => ({
    name: 'message',
    data: typeof data === 'string' ? data : JSON.stringify(data),
  });
  const choice = (given: object) => ({ choices: [given] });
  const fill = (...events: readonly (object | string)[]) => {
    const read = createFillReader(subject);
    return events.map((data) => read(event(data)));
  };
  const end = (doneReason: string, text = '') => ({ text, done: true, doneReason });
  t.strictSame(fill({ content: 'a' }, { content: 'b', stop: true, stop_type: 'limit' }), [
    { text: 'a', done: false },
    end('length', 'b'),
  ]);
  t.strictSame(
    fill(
      choice({ text: 'a' }),
      choice({ finish_reason: 'length' }),
      choice({ text: 'b', finish_reason: 'stop' }),
      ' [DONE]\r',
    ),
    [{ text: 'a', done: false }, undefined, { text: 'b', done: false }, end('length')],
    'the first reason counts',
  );
  t.strictSame(fill('7', {}, { choices: 7 }, { choices: [7] }), [undefined, undefined, undefined, undefined]);
  t.throws(() => fill(choice({ text: 'a' }), '[DONE]'), failsWith({ kind: 'bad-response' }));

  const chat = (...events: readonly (object | string)[]) => {
    const answer = new ChatAnswer(subject);
    return events.map((data) => answer.read(event(data)));
  };
  const said = (part: object) => ({ ...nothing, ...part });
  t.strictSame(
    chat(
      choice({ delta: { content: 'a', reasoning_content: 'b', reasoning: 'b' } }),
      choice({ delta: { content: null, reasoning: 'c' } }),
      choice({ delta: { content: '' } }),
      choice({ finish_reason: 'length' }),
      choice({ delta: {}, finish_reason: 'stop' }),
      { usage: { prompt_tokens: 3, completion_tokens: -1 } },
      ' [DONE]\r',
    ),
    [
      said({ content: 'a', thinking: 'b' }),
      said({ thinking: 'c' }),
      ...[undefined, undefined, undefined, undefined],
      said({ done: true, doneReason: 'length', promptTokens: 3 }),
    ],
  );
  const failed = { kind: 'runner-failed', message: /it broke/, details: { server: 'default' } };
  for (const read of [chat, fill])
    t.throws(() => read(choice({}), { error: { message: 'it broke' } }), failsWith(failed));
  for (const data of ['it broke', '"it broke"', '{"error":"it broke"}', '{"message":"it broke"}'])
    for (const read of [createFillReader(subject), (e: ServerSentEvent) => new ChatAnswer(subject).read(e)])
      t.throws(() => read({ name: 'error', data }), failsWith(failed), data);

  for (const [reason, doneReason] of [
    ...['', 'stop', 'tool_calls', 'function_call', 'eos', 'end_turn'].map((one) => [one, 'stop'] as const),
    ...['length', 'max_tokens', 'model_length', 'MAX_TOKENS', 'max_output_tokens'].map(
      (one) => [one, 'length'] as const,
    ),
    ...['abort', 'content_filter'].map((one) => [one, one] as const),
  ])
    t.match(chat(choice({ finish_reason: reason }), '[DONE]').at(-1), { doneReason }, reason);
  const text = (words: unknown) => ({ type: 'text', text: words });
  t.strictSame(
    chat(
      choice({ delta: { content: [{ type: 'thinking', thinking: [text('h'), text('m')] }, text('a')] } }),
      choice({ delta: { content: [{ text: 'b' }, { type: 'image' }, 7, text(null)] } }),
      choice({ delta: { reasoning: [text('c')], content: [{ type: 'thinking', thinking: 'no' }] } }),
    ),
    [said({ content: 'a', thinking: 'hm' }), said({ content: 'b' }), said({ thinking: 'c' })],
    'parts in a list',
  );
  t.strictSame(
    chat({
      ...choice({
        message: { content: 'a', tool_calls: [{ id: '1', function: { name: 'f' } }] },
        finish_reason: 'length',
      }),
      usage: { prompt_tokens: 3 },
    }),
    [
      said({
        ...{ content: 'a', toolCalls: [{ id: '1', name: 'f', arguments: {} }] },
        ...{ done: true, doneReason: 'length', promptTokens: 3 },
      }),
    ],
    'a whole answer in one object',
  );
});

t.test('what is sent to a server of OpenAI’s API', async (t) => {
  const body = (given: Partial<ChatRequest>) => {
    const { model: _, messages: __, ...rest } = chatBody({ ...empty, ...given });
    return rest;
  };
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const cases: readonly [name: string, given: Partial<ChatRequest>, want: object][] = [
    ['nothing that is not asked for', {}, {}],
    [
      'a tool, with its schema as parameters',
      { tools: [{ name: 'look', description: 'd', inputSchema: schema }] },
      { tools: [{ type: 'function', function: { name: 'look', description: 'd', parameters: schema } }] },
    ],
    ['a required call', { mustCall: true }, { tool_choice: 'required' }],
    ['any JSON', { format: 'json' }, { response_format: { type: 'json_object' } }],
    [
      'JSON of a schema',
      { format: schema },
      { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } },
    ],
    ['thinking', { think: true }, { chat_template_kwargs: { enable_thinking: true } }],
    ['no thinking', { think: false }, { chat_template_kwargs: { enable_thinking: false } }],
    [
      'a level of thinking',
      { think: 'low' },
      { chat_template_kwargs: { enable_thinking: true }, reasoning_effort: 'low' },
    ],
    ['a limit', { options: { num_predict: 0 } }, { max_tokens: 0 }],
    ['a limit below zero, which is none', { options: { num_predict: -1 } }, {}],
    [
      'nothing that belongs to the server',
      { options: { num_ctx: 4_096, num_gpu: 1, num_keep: 1, num_thread: 1, num_batch: 1 } },
      {},
    ],
    ['any other option', { options: { seed: -1 } }, { seed: -1 }],
  ];
  for (const [name, given, want] of cases) t.strictSame(body(given), want, name);

  const sent = (message: Message) => {
    const { messages } = chatBody({ ...empty, messages: [message] });
    return Array.isArray(messages) ? messages[0] : undefined;
  };
  const messages: readonly [name: string, given: Message, want: object][] = [
    ['text', { role: 'user', content: 'hi' }, { role: 'user', content: 'hi' }],
    [
      'thinking and a call, whose arguments are text',
      {
        role: 'assistant',
        content: '',
        thinking: 'hm',
        toolCalls: [{ id: 'call_0a1b2c3d', name: 'look', arguments: { a: 1 } }],
      },
      {
        role: 'assistant',
        content: '',
        reasoning_content: 'hm',
        tool_calls: [{ id: 'c0a1b2c3d', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
      },
    ],
    [
      'the result of a call, whose id is too long for templates of Mistral',
      { role: 'tool', content: 'b', toolCallId: 'chatcmpl-tool-0123456789abcdef', toolName: 'look' },
      { role: 'tool', tool_call_id: '789abcdef', content: 'b' },
    ],
  ];
  for (const [name, given, want] of messages) t.strictSame(sent(given), want, name);

  const images = [
    ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a])],
    ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0x10])],
    ['image/gif', Buffer.from('GIF89a')],
    ['image/webp', Buffer.from('RIFF\0\0\0\0WEBP')],
  ] as const;
  for (const [type, bytes] of images) {
    const base64 = bytes.toString('base64');
    t.strictSame(
      sent({ role: 'user', content: 'What is it?', images: [base64] }),
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: `data:${type};base64,${base64}` } },
        ],
      },
      type,
    );
  }
});

t.test('the models that a server lists', async (t) => {
  const entryOf = (given: object) => parseEntries({ data: [{ id: 'm', ...given }] }).models[0];
  const cases: readonly [name: string, given: object, want: object][] = [
    ['a name alone', {}, {}],
    [
      'a model that sees images',
      { architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] } },
      { capabilities: ['completion', 'vision'] },
    ],
    [
      'a model that does not write',
      { architecture: { input_modalities: ['text'], output_modalities: ['embeddings'] } },
      { lacks: ['completion'] },
    ],
    ['millions of parameters', { meta: { n_params: 134_515_008 } }, { parameterSize: '134.5M' }],
    ['nearly a billion', { meta: { n_params: 999_900_000 } }, { parameterSize: '999.9M' }],
    ['a billion', { meta: { n_params: 1_000_000_000 } }, { parameterSize: '1B' }],
    ['counts that are none', { meta: { n_params: 0, n_ctx: 1.5, size: -1, n_ctx_train: '8' } }, {}],
    [
      'windows of its own before that of the server',
      { meta: { n_ctx: 512, n_ctx_train: 1_024 }, max_model_len: 256 },
      { allocatedContext: 512, maximumContext: 1_024 },
    ],
    ['aliases that are text', { aliases: ['a', 1, 'b'] }, { aliases: ['a', 'b'] }],
    [
      'a long quantization, which is cut',
      { meta: { ftype: 'q'.repeat(33) } },
      { quantization: 'q'.repeat(32) },
    ],
    ['a state that is known', { status: { value: 'sleeping' } }, { state: 'sleeping' }],
    ['whether it may be deleted', { can_remove: false }, { isRemovable: false }],
  ];
  for (const [name, given, want] of cases) t.strictSame(entryOf(given), { name: 'm', ...want }, name);
  for (const [name, id, isListed] of [
    ['the longest name', 'n'.repeat(1_000), true],
    ['a longer one', 'n'.repeat(1_001), false],
  ] as const)
    t.equal(parseEntries({ data: [{ id }] }).models.length, isListed ? 1 : 0, name);
  for (const [count, leftOut] of [
    [10_000, 0],
    [10_001, 1],
  ] as const) {
    const list = parseEntries({ data: Array.from({ length: count }, (_, at) => ({ id: `m${at}` })) });
    t.match({ listed: list.models.length, leftOut: list.leftOut }, { listed: 10_000, leftOut });
  }
  t.throws(() => parseEntries({ models: [] }), failsWith({ kind: 'bad-response' }));
  for (const [state, window, isThere] of [
    [undefined, undefined, false],
    [undefined, 512, true],
    ['loaded', undefined, true],
    ['sleeping', undefined, true],
    ['loading', 512, false],
  ] as const) {
    const about = { ...(state && { state }), ...(window && { allocatedContext: window }) };
    t.equal(isLoaded({ name: 'm', ...about }), isThere, JSON.stringify(about));
  }
});

t.test('what a llama.cpp server says about its model', async (t) => {
  const base = { capabilities: ['completion'], opensThinking: false, isRouter: false };
  const longest = 256 * 1024;
  const cases: readonly [name: string, given: unknown, want: object][] = [
    ['nothing', 7, {}],
    ['no window, and no slots', { default_generation_settings: { n_ctx: 0 }, total_slots: 0 }, {}],
    ['images', { modalities: { vision: true } }, { capabilities: ['completion', 'vision'] }],
    ['neither', { chat_template_caps: { supports_tools: false }, modalities: { vision: 1 } }, {}],
    [
      'a template that thinks',
      { chat_template: 'a <THINKING> b' },
      { template: 'a <THINKING> b', capabilities: ['completion', 'thinking'] },
    ],
    ['the longest template', { chat_template: 'a'.repeat(longest) }, { template: 'a'.repeat(longest) }],
    ['a longer one, which is left out', { chat_template: 'a'.repeat(longest + 1) }, {}],
    ['an engine that leaves calls in the text', { parses_tool_calls: false }, { leavesCalls: true }],
    ['a long version, which is cut', { build_info: 'b'.repeat(65) }, { version: 'b'.repeat(64) }],
  ];
  for (const [name, given, want] of cases) t.strictSame(parseProps(given), { ...base, ...want }, name);
});

t.test('why a server of OpenAI’s API refused', async (t) => {
  const subject = { url: 'http://host', server: 'default', model: 'm', redact: (text: string) => text };
  const context = (figures: object = {}) => ({ kind: 'context-exceeded' as const, ...figures });
  const lacks = (capability: CapabilityName | 'levels of thinking') => ({
    kind: 'not-supported' as const,
    capability,
  });
  const cases: readonly [message: string, want: Partial<RunnerError['data']> | undefined][] = [
    [
      'request (901 tokens) exceeds the available context size (512 tokens), try again',
      context({ needed: 901, allocated: 512 }),
    ],
    [
      "This model's maximum context length is 512 tokens. However, you requested 900 tokens",
      context({ needed: 900, allocated: 512 }),
    ],
    [
      'Trying to keep the first 900 tokens when context the overflows. A context length of only 512 tokens',
      context({ needed: 900, allocated: 512 }),
    ],
    [
      "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
      context({ needed: 40_000, allocated: 32_768 }),
    ],
    ['"auto" tool choice requires --enable-auto-tool-choice', lacks('tools')],
    ['m does not support images', lacks('vision')],
    ['The prompt contains 900 tokens, greater than the context length', context({ needed: 900 })],
    ['Extra inputs are not permitted: chat_template_kwargs', lacks('thinking')],
    ['Extra inputs are not permitted: reasoning_effort', lacks('levels of thinking')],
    ["Invalid value for reasoning_effort: 'max'", lacks('levels of thinking')],
    ['The model `m` does not exist.', { kind: 'model-not-found' }],
    ['Infill is not supported by this model', lacks('insert')],
    ['This model does not support embeddings', lacks('embedding')],
    ["model 'm' not found", { kind: 'model-not-found' }],
    ['model failed to load.', { kind: 'runner-failed' }],
    ['something odd', undefined],
  ];
  for (const [message, want] of cases) {
    const said = openaiErrors.read(JSON.stringify({ error: { message } }), subject);
    t.equal(said?.error, message);
    const { kind, capability, needed, allocated } = said?.failure?.data ?? {};
    const data = { kind, capability, needed, allocated };
    const nothingKnown = { kind: undefined, capability: undefined, needed: undefined, allocated: undefined };
    t.strictSame(data, { ...nothingKnown, ...want }, message);
  }
  const figures = { message: 'exceeds the available context size', n_prompt_tokens: 9, n_ctx: 8 };
  t.match(openaiErrors.read(JSON.stringify({ error: figures }), subject)?.failure?.data, {
    needed: 9,
    allocated: 8,
  });
  const half = { ...figures, n_ctx: 'many' };
  t.notOk('needed' in (openaiErrors.read(JSON.stringify({ error: half }), subject)?.failure?.data ?? {}));
  t.equal(openaiErrors.read('no JSON', subject), undefined);
  const tooLong = 'The maximum context length is 512 tokens';
  for (const body of [{ message: tooLong }, { detail: tooLong }, { error: tooLong }])
    t.match(openaiErrors.read(JSON.stringify(body), subject)?.failure?.data, { allocated: 512 });

  const detail = [
    { loc: ['body', 'chat_template_kwargs'], msg: 'Extra inputs are not permitted' },
    { msg: 'b' },
    7,
  ];
  const fields = openaiErrors.read(JSON.stringify({ detail }), subject);
  t.equal(fields?.error, 'body.chat_template_kwargs: Extra inputs are not permitted; b');
  t.match(fields?.failure?.data, lacks('thinking'));
  t.equal(openaiErrors.read('{"detail":[]}', subject), undefined);

  const failing: readonly [name: string, value: object, message: string | undefined][] = [
    ['error', { odd: 1 }, 'The runner failed: it gave no reason.'],
    ['message', { error: 'it broke' }, 'The runner failed: it broke.'],
    [
      'message',
      { error: { message: 'failed to load.' } },
      'The runner could not load the model: failed to load.',
    ],
    ['message', { error: null, message: 'fine' }, undefined],
  ];
  for (const [name, value, message] of failing) {
    const refuse = () => refuseFailure(name, { ...value }, subject);
    if (message === undefined) t.doesNotThrow(refuse, JSON.stringify(value));
    else {
      const want = { kind: 'runner-failed', details: { server: 'default', model: 'm' } };
      t.throws(refuse, failsWith({ ...want, message: new RegExp(`^${message} `) }), JSON.stringify(value));
    }
  }
});

t.test('a call in the text is news only where the server reads calls itself', async (t) => {
  const routes = llamaRoutes('small', { caps: { supports_tools: true } });
  const written = '<tool_call>{"name":"get_weather","arguments":{"city":"Bern"}}</tool_call>';
  for (const [said, codes] of [
    [{}, ['tool-call-recovered']],
    [{ parses_tool_calls: false }, []],
  ] as const) {
    const props = { ...(routes['GET /props'] as object), ...said };
    const answer = streaming([delta({ content: written }), delta({}, 'stop')]);
    const own = { ...routes, 'GET /props': props, 'POST /v1/chat/completions': answer };
    const { chat } = await startDaemon(t, await startOpenaiStandIn(own, llamaHeaders));
    const { message, notices } = await chat({ tools });
    t.match(message.toolCalls, [{ name: 'get_weather', arguments: { city: 'Bern' } }]);
    t.same(
      notices.map(({ code }) => code),
      codes,
    );
  }
});

t.test('a call is required of a server that can hold a model to it, in the first round', async (t) => {
  const llama = await startOpenaiStandIn(
    llamaRoutes('small', { caps: { supports_tools: true } }),
    llamaHeaders,
  );
  const other = await startOpenaiStandIn({ 'GET /v1/models': { data: [{ id: 'small' }] } });
  for (const [standIn, sent, notices] of [
    [llama, 'required', []],
    [other, undefined, ['tool-choice-ignored']],
  ] as const) {
    const { chat } = await startDaemon(t, standIn);
    standIn.routes['POST /v1/chat/completions'] = streaming([delta({ content: 'no' }, 'stop')]);
    const answer = await chat({ tools, toolChoice: 'required' });
    t.equal(standIn.bodies('/v1/chat/completions').at(-1)?.['tool_choice'], sent);
    t.strictSame(
      answer.notices.map(({ code }) => code),
      notices,
    );
  }
});

t.test('what an answer waits for is said after a second', async (t) => {
  const standIn = await startOpenaiStandIn(llamaRoutes('small'), llamaHeaders);
  const { daemon } = await startDaemon(t, standIn);
  const noSlot = { error: { code: 503, message: 'no slot available', type: 'unavailable_error' } };
  const answer = streaming([delta({ content: 'Hello' }, 'stop')]) as (...given: unknown[]) => void;
  /** Begins the answer that waits. */
  let begin: (() => void) | undefined;
  standIn.routes['POST /v1/chat/completions'] = (response, asked) => {
    begin = () => answer(response, asked);
  };
  const chat = async () => {
    const params = { model: 'small', messages: [{ role: 'user' as const, content: 'hello' }] };
    const { result } = await daemon.chat(params, {
      onDelta: ({ kind }) => {
        if (kind === 'notice') begin?.();
      },
    });
    t.equal(result.message.content, 'Hello');
    return result.notices.map(({ code }) => code);
  };
  const slots = (status: number, value: object) => {
    standIn.routes['GET /slots'] = (response) => {
      sendJson(response, status, value);
      if (status !== 503) begin?.();
    };
  };

  slots(503, noSlot);
  t.strictSame(await chat(), ['waiting-for-slot']);
  slots(200, []);
  t.strictSame(await chat(), [], 'it reads the prompt');
  slots(501, { error: { code: 501, message: 'off' } });
  t.strictSame(await chat(), [], 'it does not say');
  standIn.routes['GET /v1/models'] = { data: [{ id: 'small', status: { value: 'loading' } }] };
  t.strictSame(await chat(), ['model-loading']);
});

t.test('whether it fills gaps is known although all slots are busy', async (t) => {
  const standIn = await startOpenaiStandIn(llamaRoutes('small'), llamaHeaders);
  const { daemon } = await startDaemon(t, standIn);
  const { 'POST /infill': unsupported = {} } = standIn.routes;
  // Nothing is answered before a slot is free.
  standIn.routes['POST /infill'] = () => undefined;
  const fills = async () => {
    const { model } = await daemon.request(showModelRequest, { model: 'small' });
    return model.capabilities.insert;
  };
  t.match(await fills(), { value: true, from: 'server' });
  await poll(
    async () => standIn.asked.find(({ path }) => path === '/infill')?.isClosed,
    (isClosed) => isClosed === true,
  );
  standIn.routes['POST /infill'] = { content: '' };
  t.match(await fills(), { value: true });
  standIn.routes['POST /infill'] = unsupported;
  t.match(await fills(), { value: false });
  standIn.routes['POST /infill'] = (response) => sendJson(response, 503, { error: { message: 'busy' } });
  await t.rejects(fills(), 'what may be different in a moment is no answer');
});

t.test('completions share the last slot, and a chat leaves it to them', async (t) => {
  const gap = { model: 'small', stops: [], maxTokens: 1, temperature: 0 };
  const texts = [{ prompt: 'a' }, { prefix: 'a', suffix: 'b' }];
  for (const [total, completions, chats] of [
    [1, undefined, undefined],
    [2, 1, 0],
    [4, 3, undefined],
  ] as const) {
    const standIn = await startOpenaiStandIn(llamaRoutes('small', { slots: total }), llamaHeaders);
    const transport = transportTo(standIn.url);
    t.teardown(async () => {
      await transport.close();
      await standIn.close();
    });
    const { runner } = await recognise(transport, never);
    const said = streaming([delta({}, 'stop')]);
    standIn.routes['POST /v1/chat/completions'] = said;
    standIn.routes['POST /v1/completions'] = streaming([{ choices: [{ text: 'x', finish_reason: 'stop' }] }]);
    standIn.routes['POST /infill'] = streaming([{ content: 'x', stop: true, stop_type: 'eos' }], '');
    const chat = async () => {
      for await (const _ of runner.chat({ ...empty, model: 'small' }, never));
      return standIn.bodies('/v1/chat/completions').at(-1)?.['id_slot'];
    };
    t.equal(await chat(), undefined, 'no completion was asked for yet');
    for (const text of texts) for await (const _ of runner.fill({ ...gap, text }, never));
    for (const path of ['/v1/completions', '/infill'])
      t.equal(standIn.bodies(path).at(-1)?.['id_slot'], completions, `${path} with ${total} slots`);
    t.equal(await chat(), chats, `a chat with ${total} slots`);
  }
});

t.test('an answer that is not whole is an error, with what had come', async (t) => {
  const standIn = await startOpenaiStandIn(llamaRoutes('small'), llamaHeaders);
  const { chat } = await startDaemon(t, standIn);
  const half = [delta({ content: 'half' })];
  const call = delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }] });
  const cases: Readonly<Record<string, Parameters<typeof streaming>>> = {
    'an end without [DONE]': [[...half, delta({}, 'stop')], ''],
    '[DONE] without a reason to finish': [half],
    'an error with status 200': [
      [...half, { error: { code: 500, message: 'the engine failed', type: 'server_error' } }],
    ],
    'an event called error': [[...half, 'event: error\ndata: {"error":{"message":"it broke"}}\n\n']],
    'half a call at the limit': [[...half, call, delta({}, 'length')]],
    'bare text of a router': [half, 'proxy error: Failed to read connection'],
  };
  for (const [name, given] of Object.entries(cases)) {
    standIn.routes['POST /v1/chat/completions'] = streaming(...given);
    const error = await chat({}).catch((failure) => failure);
    t.match(error, { data: { partial: { content: 'half' } } }, name);
  }
});

t.test('an answer that was broken off is an error, and one without a word has a notice', async (t) => {
  const standIn = await startOpenaiStandIn({ 'GET /v1/models': { data: [{ id: 'small' }] } });
  const { chat } = await startDaemon(t, standIn);
  const says = (...events: readonly object[]) => {
    standIn.routes['POST /v1/chat/completions'] = streaming(events);
    return chat({ tools });
  };
  const first = delta({ content: 'The first' });
  for (const [reason, message] of [
    ['error', /^The runner broke the answer off \(error\)\. Ask again;/],
    ['content_filter', /^A filter of the runner stopped the answer \(content_filter\)\./],
  ] as const)
    await t.rejects(
      says(first, delta({}, reason)),
      failsWith({ message, data: { kind: 'runner-failed', partial: { content: 'The first' } } }),
    );
  t.match(await says(first, delta({}, 'max_tokens')), { finishReason: 'length' });
  const thought = await says(delta({ reasoning_content: 'hm' }), delta({}, 'stop'), usage(3, 40));
  t.match(thought, {
    finishReason: 'stop',
    notices: [{ code: 'answer-empty', message: /^The model thought/ }],
  });
  t.match(await says(delta({}, 'stop')), {
    notices: [{ code: 'answer-empty', message: /^The model stopped/ }],
  });
  const call = { index: 0, id: 'a', function: { name: 'get_weather', arguments: '{"city":"Oslo",}' } };
  t.match(await says(delta({ tool_calls: [call] }), delta({}, 'tool_calls')), {
    message: { toolCalls: [{ id: 'a', arguments: { city: 'Oslo' } }] },
    notices: [{ code: 'tool-call-recovered' }],
  });
});

t.test('any other server: list and chat, and what is unknown is said to be unknown', async (t) => {
  const standIn = await startOpenaiStandIn({
    'GET /v1/models': { object: 'list', data: [{ id: 'Org/Model-7B@q4', object: 'model', owned_by: 'x' }] },
    'POST /v1/chat/completions': streaming([delta({ content: 'ok' }), delta({}, 'stop')]),
  });
  const { daemon, chat } = await startDaemon(t, standIn);
  const model = 'Org/Model-7B@q4';
  t.match(await daemon.request(showModelRequest, { model }), {
    model: { name: model, capabilities: { tools: { value: 'unknown' } }, context: {} },
  });
  t.match(await chat({ model }), { message: { content: 'ok' }, usage: { promptTokens: 0 } });
  t.match(await daemon.request(statusRequest, {}), { product: 'other', can: ['chat', 'complete'] });

  await t.test('its window is known once it has refused a prompt', async (t) => {
    const contextOf = async () => (await daemon.request(showModelRequest, { model })).model.context;
    const message = "This model's maximum context length is 512 tokens, you requested 900 tokens.";
    standIn.routes['POST /v1/chat/completions'] = (response) =>
      sendJson(response, 400, { error: { message, type: 'BadRequestError', code: 400 } });
    const refusal = { data: { kind: 'context-exceeded', needed: 900, allocated: 512 } };
    await t.rejects(chat({ model }), failsWith(refusal));
    t.strictSame(await contextOf(), { allocated: 512, from: 'observed' });
    const answer = [delta({ content: 'ok' }), delta({}, 'stop'), usage(600, 1)];
    standIn.routes['POST /v1/chat/completions'] = streaming(answer);
    await chat({ model });
    t.strictSame(await contextOf(), {}, 'a longer prompt that is accepted shows another window');
  });
});

t.test('a server that has no version answers all the same', async (t) => {
  const standIn = await startOpenaiStandIn({ 'GET /api/tags': { models: [] } });
  const { daemon } = await startDaemon(t, standIn, { host: standIn.url, api: 'ollama' });
  t.match(await daemon.request(statusRequest, {}), {
    state: 'online',
    kind: 'warning',
    message: `${standIn.url} answers without a version.`,
    product: 'ollama',
  });
});

t.test('each server says what it is and can do, and a dead one delays no other', async (t) => {
  const standIn = await startOpenaiStandIn(llamaRoutes('small'), llamaHeaders);
  const model = { id: 'm', object: 'model', owned_by: 'vllm', max_model_len: 2_048 };
  const other = await startOpenaiStandIn({ 'GET /v1/models': { object: 'list', data: [model] } });
  const closed = await startOpenaiStandIn({ 'GET /api/version': (response) => sendJson(response, 401, {}) });
  const silent = createServer(() => undefined);
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const urls = {
    other: other.url,
    closed: closed.url,
    dead: 'http://127.0.0.1:9',
    silent: `http://127.0.0.1:${portOf(silent)}`,
  };
  const { daemon } = await startDaemon(t, standIn, {
    servers: Object.entries(urls).map(([name, url]) => ({ name, url })),
    // The request itself has a limit.
    timeouts: { connect: 0, list: 0, firstByte: 0 },
  });
  t.teardown(() => Promise.all([other.close(), closed.close(), closeServer(silent)]));
  const { servers } = await daemon.request(serversRequest, {});
  const can = ['chat', 'complete'];
  t.match(servers, [
    { name: 'default', url: standIn.url, status: { state: 'online', product: 'llama.cpp', can } },
    { name: 'other', url: urls.other, status: { state: 'online', product: 'vllm', can } },
    { name: 'closed', url: urls.closed, status: { state: 'online', kind: 'warning' } },
    { name: 'dead', url: urls.dead, status: { state: 'offline', advice: { code: 'start-runner' } } },
    { name: 'silent', url: urls.silent, status: { state: 'offline', message: /did not answer within 4 s/ } },
  ]);
  t.strictSame(
    servers.map(({ status }) => status.can !== undefined),
    [true, true, true, false, false],
    'of what does not answer, nothing is known',
  );
  t.equal(servers.length, 5);
});

t.test('runners at the usual ports of this machine are found, and get no token', async (t) => {
  const standIn = await startAtUsualPort();
  const { url } = standIn;
  const pair = { secrets: [{ origin: url, secret: 'a-token-of-this-origin' }] };
  const daemon = await startPair({ host: 'http://127.0.0.1:9' }, pair);
  t.teardown(async () => {
    await daemon.close();
    await standIn.close();
  });
  const { runners } = await daemon.request(discoverRequest, {});
  t.match(
    runners.filter((runner) => runner.url === url),
    [{ url, product: 'llama.cpp', models: 1 }],
  );
  t.ok(standIn.asked.length > 0);
  t.strictSame(
    standIn.asked.filter(({ headers }) => headers.authorization !== undefined),
    [],
  );
  standIn.routes['GET /v1/models'] = (response) => sendJson(response, 401, { error: 'no' });
  const locked = await daemon.request(discoverRequest, {});
  t.strictSame(
    locked.runners.filter((runner) => runner.url === url),
    [{ url, product: 'llama.cpp' }],
    'one that wants a token is there',
  );
});

/** At a usual port that is free: another program of this machine may have one. */
async function startAtUsualPort() {
  for (const port of [13305, 30000, 5001, 1337, 9931, 8012]) {
    const standIn = await startOpenaiStandIn(llamaRoutes('small'), llamaHeaders, port).catch(() => undefined);
    if (standIn) return standIn;
  }
  throw new Error('No usual port is free.');
}
