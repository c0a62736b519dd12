import t, { type Test } from 'tap';
import { Transport } from '../../daemon/runner/http/transport.ts';
import type { WorkStep } from '../../daemon/runner/runner.ts';
import { recognise } from '../../daemon/runner/servers.ts';
import type { ChatParams } from '../../protocol/messages/chat.ts';
import {
  listModelsRequest,
  pullModelRequest,
  runModelRequest,
  runningModelsRequest,
  showModelRequest,
  stopModelRequest,
} from '../../protocol/messages/models.ts';
import { statusRequest } from '../../protocol/messages/status.ts';
import { startPair } from '../support/daemonPair.ts';
import { failsWith } from '../support/failsWith.ts';
import { halfOllamas, startHalfOllama } from '../support/halfOllamas.ts';
import {
  type Answer,
  delta,
  type OpenaiStandIn,
  sendJson,
  startOpenaiStandIn,
  streaming,
  usage,
} from '../support/openaiStandIn.ts';

async function setUp(t: Test, standIn: OpenaiStandIn, options: object = {}) {
  const daemon = await startPair({ host: standIn.url, ...options });
  t.teardown(async () => {
    await daemon.close();
    await standIn.close();
  });
  const chat = async (params: Partial<ChatParams> & { readonly model: string }) => {
    const asked = { messages: [{ role: 'user' as const, content: 'hello' }], ...params };
    return (await daemon.chat(asked)).result;
  };
  return { daemon, chat };
}

const answering = (...deltas: readonly object[]) => streaming([...deltas, delta({}, 'stop'), usage(3, 2)]);
const list = (...data: readonly object[]) => ({ 'GET /v1/models': { object: 'list', data } });

const unexpected: Answer = (response, { method, path }) =>
  sendJson(response, 200, { error: `Unexpected endpoint or method. (${method} ${path})` });

/** LM Studio 0.4, with one model loaded. */
function studioRoutes() {
  const qwen = {
    type: 'llm',
    key: 'qwen/qwen3-4b',
    display_name: 'Qwen3 4B',
    architecture: 'qwen3',
    quantization: { name: 'Q4_K_M', bits_per_weight: 4 },
    size_bytes: 2_500_000_000,
    params_string: '4B',
    max_context_length: 32_768,
    capabilities: { vision: false, trained_for_tool_use: true },
    loaded_instances: [] as object[],
  };
  const gemma = {
    type: 'llm',
    key: 'google/gemma-3-4b',
    max_context_length: 131_072,
    capabilities: { vision: true, trained_for_tool_use: false },
    loaded_instances: [null, { id: 'google/gemma-3-4b', config: { context_length: 8_192 } }],
  };
  const nomic = { type: 'embedding', key: 'nomic', max_context_length: 2_048, loaded_instances: [] };
  const routes: Record<string, Answer> = {
    '*': unexpected,
    ...list({ id: 'qwen/qwen3-4b', object: 'model', owned_by: 'organization_owner' }),
    'GET /api/v1/models': { models: [qwen, gemma, nomic] },
    'POST /api/v1/models/load': (response) => {
      qwen.loaded_instances.push({ id: 'qwen/qwen3-4b', config: { context_length: 4_096 } });
      sendJson(response, 200, { type: 'llm', instance_id: 'qwen/qwen3-4b', status: 'loaded', error: null });
    },
    'POST /api/v1/models/unload': (response, { body }) => {
      qwen.loaded_instances.length = 0;
      sendJson(response, 200, body);
    },
  };
  return routes;
}

t.test('LM Studio: its own list, load, unload, download', async (t) => {
  const studio = await startOpenaiStandIn(studioRoutes(), { 'x-powered-by': 'Express' });
  const { daemon } = await setUp(t, studio);
  t.match(await daemon.request(statusRequest, {}), {
    product: 'lmstudio',
    can: ['chat', 'complete', 'load', 'unload', 'pull'],
  });
  const { models } = await daemon.request(listModelsRequest, {});
  const named = (name: string) => models.find((model) => model.name === name);
  t.match(named('qwen/qwen3-4b'), {
    size: 2_500_000_000,
    details: { family: 'qwen3', parameterSize: '4B', quantization: 'Q4_K_M' },
    context: { maximum: 32_768, from: 'server' },
    capabilities: { tools: { value: true }, vision: { value: false }, thinking: { from: 'name' } },
  });
  t.match(named('google/gemma-3-4b'), {
    running: Object,
    context: { allocated: 8_192, maximum: 131_072 },
    capabilities: {
      vision: { value: true, from: 'server' },
      tools: { value: false },
      thinking: { value: 'unknown' },
    },
  });
  t.match(named('nomic'), { capabilities: { completion: { value: false }, embedding: { value: true } } });

  const model = 'qwen/qwen3-4b';
  t.match(await daemon.request(runModelRequest, { model }), { model: { context: { allocated: 4_096 } } });
  await daemon.request(runModelRequest, { model });
  t.strictSame(studio.bodies('/api/v1/models/load'), [{ model }], 'it is not loaded a second time');
  t.strictSame(await daemon.request(stopModelRequest, { model }), {});
  t.strictSame(await daemon.request(stopModelRequest, { model }), {}, 'stopping what does not run succeeds');
  t.strictSame(studio.bodies('/api/v1/models/unload'), [{ instance_id: model }]);

  await t.test('a chat may say for how long its model stays', async (t) => {
    studio.routes['POST /v1/chat/completions'] = answering(delta({ content: 'Hello' }));
    for (const [keepAlive, ttl] of [
      ['5m', 300],
      ['90', 90],
      [2, 2],
      ['1h', 3_600],
      [-1, undefined],
      ['0', undefined],
      [undefined, undefined],
    ] as const) {
      const messages = [{ role: 'user' as const, content: 'hi' }];
      await daemon.chat({ model, messages, ...(keepAlive === undefined ? {} : { keepAlive }) });
      t.equal(studio.bodies('/v1/chat/completions').at(-1)?.['ttl'], ttl, String(keepAlive));
    }
  });

  await t.test('a download', async (t) => {
    const job = { job_id: 'j/1', status: 'downloading', total_size_bytes: 100 };
    studio.routes['POST /api/v1/models/download'] = job;
    studio.routes['GET /api/v1/models/download/status/j%2F1'] = (response) =>
      sendJson(response, 200, { ...job, downloaded_bytes: 100, status: 'completed' });
    const progress: object[] = [];
    daemon.connection.onNotification('$/progress', ({ value }) => void progress.push(value));
    await daemon.request(pullModelRequest, { model, workDoneToken: 'w' });
    t.match(
      progress.find((value) => 'total' in value),
      { total: 100, completed: 0 },
    );
    studio.routes['POST /api/v1/models/download'] = { status: 'already_downloaded' };
    t.strictSame(await daemon.request(pullModelRequest, { model }), { model }, 'what is there succeeds');
    studio.routes['POST /api/v1/models/download'] = { ...job, status: 'failed' };
    await t.rejects(
      daemon.request(pullModelRequest, { model }),
      failsWith({ data: { kind: 'runner-failed' }, message: /LM Studio could not download/ }),
    );
  });

  await t.test('the steps of a download, whatever the server leaves out', async (t) => {
    const statuses = ['paused', 'downloading', 'completed'].map((status, at) =>
      at === 0 ? { status } : { status, total_size_bytes: 9, downloaded_bytes: 4, error: null },
    );
    studio.routes['POST /api/v1/models/download'] = { ...statuses.shift(), job_id: 7 };
    studio.routes['GET /api/v1/models/download/status/7'] = (response) =>
      sendJson(response, 200, statuses.shift() ?? {});
    const { runner, close } = await runnerAt(studio.url);
    const steps: WorkStep[] = [];
    for await (const batch of runner.pull?.(model, new AbortController().signal) ?? []) steps.push(...batch);
    const step = { status: `pulling ${model}`, digest: model };
    t.strictSame(steps, [
      { ...step, total: 0, completed: 0 },
      { ...step, total: 9, completed: 4 },
      { status: 'success' },
    ]);
    studio.routes['POST /api/v1/models/download'] = { error: { message: 'no such model' } };
    const details = { server: 'default', model };
    const refused = failsWith({ kind: 'runner-failed', message: /no such model/, details });
    await t.rejects(
      async () => void (await runner.pull?.(model, new AbortController().signal).next()),
      refused,
    );
    await close();
  });

  await t.test('an error with status 200 is an error', async (t) => {
    delete studio.routes['POST /api/v1/models/load'];
    await t.rejects(
      daemon.request(runModelRequest, { model }),
      failsWith({ data: { kind: 'runner-failed' }, message: /Unexpected endpoint/ }),
    );
  });
});

t.test('older versions of LM Studio say less, and load nothing on request', async (t) => {
  const old = [
    { id: 'old-vl', type: 'vlm', state: 'loaded', max_context_length: 4_096, loaded_context_length: 2_048 },
    { id: 'old', type: 'llm', state: 'not-loaded', max_context_length: 8_192, capabilities: ['tool_use'] },
  ];
  const studio = await startOpenaiStandIn({
    '*': unexpected,
    ...list(...old),
    'GET /api/v0/models': { data: old },
  });
  const { daemon } = await setUp(t, studio);
  t.match(await daemon.request(statusRequest, {}), { product: 'lmstudio', can: ['chat', 'complete'] });
  const { models } = await daemon.request(listModelsRequest, {});
  t.match(
    models.find(({ name }) => name === 'old-vl'),
    { running: Object, context: { allocated: 2_048 }, capabilities: { vision: { value: true } } },
  );
  t.match(
    models.find(({ name }) => name === 'old'),
    { context: { maximum: 8_192 }, capabilities: { tools: { value: true } } },
  );
  t.notOk(models.find(({ name }) => name === 'old')?.running);
  await t.rejects(
    daemon.request(runModelRequest, { model: 'old' }),
    failsWith({ data: { kind: 'not-supported', capability: 'load' }, message: /^LM Studio at / }),
  );
  delete studio.routes['GET /api/v0/models'];
  const { models: bare } = await daemon.request(listModelsRequest, { refresh: true });
  t.equal(bare.length, 2, 'the oldest have only the list of OpenAI');
});

t.test('what a server does not say is tried, and its refusal counts', async (t) => {
  const entry = { id: 'org/model', owned_by: 'vllm', max_model_len: 8_192 };
  const vllm = await startOpenaiStandIn({
    ...list(entry),
    'POST /tokenize': { count: 12, max_model_len: 8_192 },
    'POST /v1/chat/completions': answering(delta({ reasoning: 'hm' }), delta({ content: 'ok' })),
  });
  const { daemon, chat } = await setUp(t, vllm);
  const model = 'org/model';
  const thinking = async () =>
    (await daemon.request(showModelRequest, { model })).model.capabilities.thinking;
  t.strictSame(await thinking(), { value: 'unknown', from: 'server' });
  t.match(await chat({ model, think: true }), {
    message: { content: 'ok', thinking: 'hm' },
    usage: { contextLength: 8_192 },
    notices: [],
  });
  t.match(vllm.bodies('/v1/chat/completions'), [{ chat_template_kwargs: { enable_thinking: true } }]);
  t.strictSame(await thinking(), { value: true, from: 'observed' });

  await t.test('a server that refuses the field is asked without it', async (t) => {
    const strict = await startOpenaiStandIn({
      ...list({ id: model, owned_by: 'openai' }),
      'POST /v1/chat/completions': (response, asked) => {
        if ('chat_template_kwargs' in asked.body)
          sendJson(response, 400, {
            error: {
              message: 'Unrecognized request argument supplied: chat_template_kwargs',
              type: 'invalid',
            },
          });
        else (answering(delta({ content: 'ok' })) as (...given: unknown[]) => void)(response, asked);
      },
    });
    const { chat: ask } = await setUp(t, strict);
    t.match(await ask({ model, think: true }), {
      message: { content: 'ok' },
      notices: [{ code: 'thinking-unsupported' }],
    });
    t.match(await ask({ model, think: false }), { message: { content: 'ok' }, notices: [] });
  });
});

t.test('Jan wants a key even on this machine, and is known once it has one', async (t) => {
  const origin = { secret: 'jan-key' };
  const routes: Record<string, Answer> = {
    ...list({ id: 'jan-nano', object: 'model', owned_by: 'jan' }),
    'POST /v1/chat/completions': answering(delta({ content: 'ok' })),
  };
  const guarded = Object.fromEntries(
    Object.entries({ '*': {}, ...routes }).map(([path, answer]) => [
      path,
      ((response, asked) => {
        if (asked.headers.authorization !== `Bearer ${origin.secret}`)
          sendJson(response, 401, { error: 'Invalid or missing authorization token' });
        else if (path === '*') sendJson(response, 404, { error: 'Not Found' });
        else if (typeof answer === 'function') answer(response, asked);
        else sendJson(response, 200, answer);
      }) satisfies Answer,
    ]),
  );
  const jan = await startOpenaiStandIn(guarded);
  const bare = await startPair({ host: jan.url });
  await t.rejects(
    bare.request(listModelsRequest, {}),
    failsWith({ data: { kind: 'unauthorized', advice: { code: 'set-token' } } }),
  );
  await bare.close();
  const daemon = await startPair(
    { host: jan.url },
    { secrets: [{ origin: jan.url, secret: origin.secret }] },
  );
  t.teardown(async () => {
    await daemon.close();
    await jan.close();
  });
  t.match(await daemon.request(listModelsRequest, {}), { models: [{ name: 'jan-nano' }] });
  t.match(await daemon.request(statusRequest, {}), { product: 'other' });
});

/** What answers at an address, without a daemon. */
async function runnerAt(url: string) {
  const timeouts = { connect: 9_000, list: 9_000, firstByte: 9_000, idle: 9_000 };
  const transport = new Transport({
    server: { name: 'default', url },
    timeouts,
    headersFor: async () => ({}),
  });
  const { runner } = await recognise(transport, new AbortController().signal);
  return { runner, close: () => runner.close() };
}

/** What the server writes into a gap. */
async function filled(url: string, model: string): Promise<string> {
  const { runner, close } = await runnerAt(url);
  const gap = { model, text: { prompt: '<PRE>' }, stops: [], maxTokens: 9, temperature: 0 };
  let text = '';
  for await (const parts of runner.fill(gap, new AbortController().signal))
    for (const part of parts) text += part.text;
  await close();
  return text;
}

for (const [name, server] of Object.entries(halfOllamas))
  t.test(`${name}, half an Ollama: list, chat, complete, and the rest is unknown`, async (t) => {
    const standIn = await startHalfOllama(server);
    const { model } = server;
    const { daemon, chat } = await setUp(t, standIn, { completionModel: model });
    t.match(await daemon.request(statusRequest, {}), {
      state: 'online',
      product: server.version === undefined ? 'other' : 'ollama',
      can: ['chat', 'complete'],
    });
    const { models } = await daemon.request(listModelsRequest, {});
    t.match(models, [
      {
        name: model,
        context: {},
        capabilities: {
          completion: { value: 'unknown' },
          tools: { value: 'unknown' },
          vision: { value: 'unknown' },
        },
      },
    ]);
    t.notOk(models[0]?.running);
    t.notOk(models[0]?.digest);
    t.match(await daemon.request(showModelRequest, { model }), { model: { name: model } });
    t.strictSame(await daemon.request(runningModelsRequest, {}), { models: [] });
    t.match(await chat({ model, think: true }), {
      finishReason: 'stop',
      message: { content: 'Hello' },
      notices: [],
    });
    await t.rejects(
      daemon.request(showModelRequest, { model: 'nope' }),
      failsWith({ data: { kind: 'model-not-found' } }),
    );
    await t.rejects(
      daemon.request(pullModelRequest, { model }),
      failsWith({ data: { kind: 'not-supported', capability: 'pull' } }),
    );
    t.equal(await filled(standIn.url, model), 'a + b');
  });
