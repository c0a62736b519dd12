import t, { type Test } from 'tap';
import { chatRequest } from '../../protocol/messages/chat.ts';
import {
  deleteModelRequest,
  listModelsRequest,
  modelsDidChange,
  pullModelRequest,
  runModelRequest,
  runningModelsRequest,
  stopModelRequest,
} from '../../protocol/messages/models.ts';
import { statusRequest } from '../../protocol/messages/status.ts';
import { startPair } from '../support/daemonPair.ts';
import { failsWith } from '../support/failsWith.ts';
import { delta, sendJson, streaming } from '../support/openaiStandIn.ts';
import { type RoutedModel, recordedEvents, startRouterStandIn } from '../support/routerStandIn.ts';
import { poll } from '../support/waiting.ts';

const unloaded = { state: 'unloaded' } as const;

async function setUp(t: Test, models: Readonly<Record<string, RoutedModel>>, pair: object = {}) {
  const router = await startRouterStandIn(structuredClone(models));
  const daemon = await startPair({ host: router.url }, pair);
  t.teardown(async () => {
    await daemon.close();
    await router.close();
  });
  const listed = async (name: string) => {
    const { models: all } = await daemon.request(listModelsRequest, { refresh: true });
    return all.find((model) => model.name === name);
  };
  const isAsked = (path: string) =>
    poll(
      async () => router.asked.some((one) => one.path === path),
      (was) => was,
    );
  return { router, daemon, listed, isAsked };
}

t.test('what a router has and can do', async (t) => {
  const { daemon, listed } = await setUp(t, {
    plain: { state: 'loaded' },
    other: unloaded,
    coming: { state: 'downloading' },
  });
  t.match(await daemon.request(statusRequest, {}), {
    product: 'llama.cpp',
    can: ['chat', 'complete', 'count', 'load', 'unload', 'pull', 'delete'],
  });
  const { models } = await daemon.request(listModelsRequest, {});
  t.strictSame(models.map(({ name }) => name).sort(), ['other', 'plain'], 'none that is being downloaded');
  t.match(await listed('plain'), {
    running: Object,
    context: { allocated: 1_024, maximum: 8_192, from: 'server' },
    capabilities: { tools: { value: false } },
  });
  t.match(await listed('other'), { context: {}, capabilities: { tools: { value: 'unknown' } } });
  const { models: running } = await daemon.request(runningModelsRequest, {});
  t.strictSame(
    running.map(({ name }) => name),
    ['plain'],
  );
});

t.test('a load is answered when the model is loaded, and the list says how far it is', async (t) => {
  const { router, daemon, listed, isAsked } = await setUp(t, { plain: unloaded });
  let changes = 0;
  daemon.on(modelsDidChange, () => void (changes += 1));
  const run = daemon.request(runModelRequest, { model: 'plain' });
  await isAsked('/models/load');
  t.match(await listed('plain'), { loading: {} });
  t.match(await daemon.request(runningModelsRequest, {}), { models: [] }, 'it is not loaded yet');
  const before = changes;
  const progress = { stages: ['text_model', 'mmproj'], current: 'text_model', value: 0.5 };
  router.emit({ model: 'plain', event: 'status_change', data: { status: 'loading', progress } });
  await poll(
    async () => (await listed('plain'))?.loading?.percent,
    (percent) => percent === 25,
  );
  await poll(
    async () => changes,
    (count) => count > before,
  );
  router.models.set('plain', { state: 'loaded' });
  for (const event of recordedEvents('160-router-sse', 'plain')) router.emit(event);
  t.match(await run, { model: { name: 'plain', running: Object, context: { allocated: 1_024 } } });
  t.notOk((await listed('plain'))?.loading);
  await daemon.request(runModelRequest, { model: 'plain' });
  t.equal(router.bodies('/models/load').length, 1, 'a loaded model is not loaded again');
});

t.test('a load that fails says so, also without any event', async (t) => {
  const { router, daemon, isAsked } = await setUp(t, { broken: unloaded });
  delete router.routes['GET /models/sse'];
  const run = daemon.request(runModelRequest, { model: 'broken' });
  const failed = t.rejects(
    run,
    failsWith({ data: { kind: 'runner-failed' }, message: /could not load the model.* broken/ }),
  );
  await isAsked('/models/load');
  router.models.set('broken', { state: 'unloaded', failed: true });
  await failed;
  await t.rejects(
    daemon.request(runModelRequest, { model: 'nope' }),
    failsWith({ data: { kind: 'model-not-found' } }),
  );
});

t.test('a stop is answered when the model is gone, and stopping what does not run succeeds', async (t) => {
  const { router, daemon, isAsked } = await setUp(t, { plain: { state: 'loaded' } });
  let isOver = false;
  const stop = daemon.request(stopModelRequest, { model: 'plain' }).then((answer) => {
    isOver = true;
    return answer;
  });
  await isAsked('/models/unload');
  const asked = router.asked.length;
  await poll(
    async () => router.asked.length,
    (count) => count > asked + 1,
  );
  t.notOk(isOver, 'the list still says that it is loaded');
  router.models.set('plain', { state: 'unloaded' });
  router.emit({ model: 'plain', event: 'status_change', data: { status: 'unloaded', exit_code: 0 } });
  t.strictSame(await stop, {});
  t.strictSame(await daemon.request(stopModelRequest, { model: 'plain' }), {});
});

t.test('a download', async (t) => {
  const name = 'tiny/plain-GGUF:Q4_K_M';
  const events = recordedEvents('175-download-sse', name);
  const begun = events.slice(0, 7);

  await t.test('has progress, and is over when the list has the model', async (t) => {
    const { router, daemon, isAsked, listed } = await setUp(t, {});
    const seen: { completed?: number; total?: number; message?: string }[] = [];
    daemon.connection.onNotification('$/progress', ({ value }) => void seen.push(value));
    const pull = daemon.request(pullModelRequest, { model: name, workDoneToken: 'w' });
    await isAsked('/models');
    for (const event of begun) router.emit(event);
    await poll(
      async () => seen.at(-1),
      (last) => (last?.completed ?? 0) > 0,
    );
    t.match(seen.at(-1), { total: 2_597_056, message: /^Downloading plain-Q4_K_M\.gguf: / });
    router.models.set(name, { state: 'unloaded', isRemovable: true });
    router.emit({ model: name, event: 'download_finished' });
    t.strictSame(await pull, { model: name });
    t.ok(await listed(name));
    t.strictSame(await daemon.request(pullModelRequest, { model: name }), { model: name }, 'it is there');
  });

  await t.test('of a repository that does not exist is no success', async (t) => {
    const { router, daemon, isAsked } = await setUp(t, {});
    const pull = daemon.request(pullModelRequest, { model: 'nobody/none-GGUF:Q4_K_M' });
    const failed = t.rejects(
      pull,
      failsWith({ data: { kind: 'model-not-found' }, message: /Name a repository of Hugging Face/ }),
    );
    await isAsked('/models');
    router.models.clear();
    for (const event of recordedEvents('175-download-sse', 'nobody/none-GGUF:Q4_K_M')) router.emit(event);
    await failed;
  });

  await t.test('that fails is an error', async (t) => {
    const { router, daemon, isAsked } = await setUp(t, {});
    const failed = t.rejects(
      daemon.request(pullModelRequest, { model: name }),
      failsWith({ data: { kind: 'runner-failed' } }),
    );
    await isAsked('/models');
    router.models.clear();
    router.emit({ model: name, event: 'download_failed' });
    await failed;
  });

  await t.test('that is cancelled ends at the router, unless another client began it', async (t) => {
    const { router, daemon, isAsked } = await setUp(t, { [`${name}0`]: { state: 'downloading' } });
    const cancel = async (model: string) => {
      const cancelled = new AbortController();
      const pull = daemon.request(pullModelRequest, { model }, cancelled.signal).catch(({ code }) => code);
      await poll(
        async () => router.bodies('/models').some((body) => body['model'] === model),
        (was) => was,
      );
      cancelled.abort();
      t.equal(await pull, -32800);
    };
    await cancel(`${name}0`);
    await cancel(name);
    await isAsked('/models/unload');
    t.strictSame(router.bodies('/models/unload'), [{ model: name }]);
  });
});

t.test('only what the router downloaded is deleted', async (t) => {
  const { router, daemon } = await setUp(t, {
    'tiny/plain-GGUF:Q4_K_M': { state: 'unloaded', isRemovable: true },
    mine: unloaded,
  });
  await daemon.request(deleteModelRequest, { model: 'tiny/plain-GGUF:Q4_K_M' });
  t.strictSame(
    router.asked.filter(({ method }) => method === 'DELETE').map(({ path }) => path),
    ['/models?model=tiny%2Fplain-GGUF%3AQ4_K_M'],
  );
  await t.rejects(
    daemon.request(deleteModelRequest, { model: 'mine' }),
    failsWith({ data: { kind: 'not-supported', capability: 'delete' }, message: /Delete its file/ }),
  );
  await t.rejects(
    daemon.request(deleteModelRequest, { model: 'nope' }),
    failsWith({ data: { kind: 'model-not-found' } }),
  );
});

t.test('a chat waits for a model that must be loaded first, and then knows what it can do', async (t) => {
  const { router, daemon, isAsked } = await setUp(t, { plain: unloaded });
  router.routes['POST /v1/chat/completions'] = streaming([delta({ content: 'ok' }), delta({}, 'stop')]);
  const tools = [{ name: 'f', description: 'd', inputSchema: { type: 'object' } }];
  const asked = { model: 'plain', messages: [{ role: 'user' as const, content: 'hello' }], tools };
  const chat = daemon.chat(asked);
  await isAsked('/models/load');
  t.strictSame(router.bodies('/v1/chat/completions'), []);
  router.models.set('plain', { state: 'loaded' });
  const { result } = await chat;
  t.match(result, {
    message: { content: 'ok' },
    notices: [{ code: 'model-loading' }, { code: 'tools-disabled' }],
    usage: { contextLength: 1_024 },
  });
  t.notOk('tools' in (router.bodies('/v1/chat/completions').at(-1) ?? {}));

  router.models.set('plain', { state: 'unloaded' });
  const cancelled = new AbortController();
  const waits = daemon.request(chatRequest, { ...asked, streamId: 's' }, cancelled.signal);
  await poll(
    async () => router.bodies('/models/load').length,
    (count) => count === 2,
  );
  cancelled.abort();
  t.match(await waits, { finishReason: 'cancelled' });
});

t.test('a router that wants a key is a router as soon as it gets one', async (t) => {
  const { router, daemon } = await setUp(t, { plain: unloaded });
  const props = router.routes['GET /props'] ?? {};
  const list = router.routes['GET /v1/models'] ?? {};
  const locked = (response: Parameters<typeof sendJson>[0]) =>
    sendJson(response, 401, {
      error: { message: 'Invalid API Key', type: 'authentication_error', code: 401 },
    });
  Object.assign(router.routes, { 'GET /props': locked, 'GET /v1/models': locked });
  await t.rejects(daemon.request(listModelsRequest, {}), failsWith({ data: { kind: 'unauthorized' } }));
  t.match(await daemon.request(statusRequest, {}), { product: 'llama.cpp' });
  Object.assign(router.routes, { 'GET /props': props, 'GET /v1/models': list });
  await daemon.request(listModelsRequest, {});
  t.match(await daemon.request(statusRequest, {}), {
    can: ['chat', 'complete', 'count', 'load', 'unload', 'pull', 'delete'],
  });
});
