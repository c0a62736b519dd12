import t from 'tap';
import { Lifecycle } from '../../daemon/models/lifecycle.ts';
import { ModelCapabilities } from '../../daemon/models/modelCapabilities.ts';
import { Models } from '../../daemon/models/models.ts';
import { Transport } from '../../daemon/runner/http/transport.ts';
import { OllamaRunner } from '../../daemon/runner/ollama/ollamaRunner.ts';
import { chatRequest } from '../../protocol/messages/chat.ts';
import { lifecycleCommands } from '../../protocol/messages/completion.ts';
import {
  type ProgressParams,
  progressNotification,
  type WorkProgress,
} from '../../protocol/messages/messageTypes.ts';
import {
  deleteModelRequest,
  listModelsRequest,
  type Model,
  modelsDidChange,
  pullModelRequest,
  runModelRequest,
  runningModelsRequest,
  stopModelRequest,
} from '../../protocol/messages/models.ts';
import type { DaemonClient } from '../support/daemonClient.ts';
import { startPair } from '../support/daemonPair.ts';
import { startDaemonWithRunner, type Teardown } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import type { StandInModel } from '../support/runner/standInModel.ts';
import { type RunnerStandIn, type StandInOptions, startStandIn } from '../support/runnerStandIn.ts';
import { poll } from '../support/waiting.ts';

const megabyte = 1024 * 1024;
const models: readonly StandInModel[] = [
  { name: 'plain:latest' },
  { name: 'hf.co/Acme/Tiny-GGUF:Q4_K_M' },
  { name: 'embedder:latest', capabilities: ['embedding'] },
  { name: 'old-embedder:latest', capabilities: ['embedding'], old: true },
  { name: 'cloudy:120b-cloud', remote: { host: 'https://ollama.com:443', model: 'cloudy:120b' } },
];
const catalog: readonly StandInModel[] = [
  { name: 'guest:latest', size: 20 * megabyte, template: 'x', license: ['MIT'] },
  { name: 'large:1b', size: 4_000 * megabyte },
];

const setUp = (test: Teardown, standIn: StandInOptions = {}, capabilities: object = {}) =>
  startDaemonWithRunner(test, {}, { standIn: { models, catalog, ...standIn }, pair: { capabilities } });

const pathsOf = (runner: RunnerStandIn) =>
  runner.requests
    .map(({ method, path }) => `${method} ${path}`)
    .filter((line) => !line.endsWith('/api/version'));

/** All progress that the daemon tells, by token. */
function watchProgress(daemon: DaemonClient): Map<string | number, WorkProgress[]> {
  const seen = new Map<string | number, WorkProgress[]>();
  daemon.on(progressNotification, ({ token, value }: ProgressParams) => {
    seen.set(token, [...(seen.get(token) ?? []), value]);
  });
  return seen;
}

/** Settles at the next change that is told. */
function nextChange(daemon: DaemonClient): Promise<void> {
  return new Promise((resolve) => daemon.on(modelsDidChange, () => resolve()));
}

t.test(
  'run loads, and stop unloads by the specified call, or else by one that the server supports',
  async (t) => {
    const { runner, daemon } = await setUp(t, { unloadTakes: 250 });
    const loaded = nextChange(daemon);
    const { model } = await daemon.request(runModelRequest, { model: 'Plain', keepAlive: '10m' });
    await loaded;
    t.equal(model.name, 'plain:latest');
    t.ok(model.running && Date.parse(model.running.expiresAt) > Date.now() + 500_000);
    t.match(runner.bodies('/api/chat'), [{ model: 'Plain', messages: [], keep_alive: '10m', stream: false }]);

    const unloaded = nextChange(daemon);
    t.strictSame(await daemon.request(stopModelRequest, { model: 'plain' }), {});
    await unloaded;
    t.strictSame((await daemon.request(runningModelsRequest, {})).models, [], 'it is gone when stop answers');
    const stop = pathsOf(runner).filter((line) => line.startsWith('DELETE') || line.endsWith('/api/chat'));
    t.strictSame(stop, ['POST /api/chat', 'DELETE /api/ps/plain%3Alatest', 'POST /api/chat']);
    t.match(runner.bodies('/api/chat').at(-1), { model: 'plain:latest', messages: [], keep_alive: 0 });

    await daemon.request(runModelRequest, { model: 'hf.co/acme/tiny-gguf:q4_k_m' });
    await daemon.request(stopModelRequest, { model: 'HF.co/Acme/Tiny-GGUF:Q4_K_M' });
    t.equal(
      pathsOf(runner).filter((line) => line.startsWith('DELETE')).length,
      1,
      'that it is no route is remembered',
    );
  },
);

t.test('every request to a runner has the authorization header', async (t) => {
  const runner = await startStandIn({ models, catalog });
  t.teardown(() => runner.close());
  const secret = 'a-token-that-the-client-adds';
  const daemon = await startPair({ host: runner.url }, { secrets: [{ origin: runner.url, secret }] });
  t.teardown(daemon.close);
  await daemon.request(listModelsRequest, {});
  await daemon.request(runModelRequest, { model: 'plain' });
  await daemon.request(runningModelsRequest, {});
  await daemon.request(stopModelRequest, { model: 'plain' });
  await daemon.request(pullModelRequest, { model: 'guest' });
  await daemon.request(deleteModelRequest, { model: 'guest' });
  const specified = [
    ...['GET /api/tags', 'GET /api/ps', 'POST /api/pull', 'DELETE /api/delete', 'POST /api/chat'],
    'DELETE /api/ps/plain%3Alatest',
  ];
  t.strictSame(
    specified.filter((line) => !pathsOf(runner).includes(line)),
    [],
    'every route of the specification',
  );
  for (const { method, path, headers } of runner.requests)
    t.equal(headers['authorization'], `Bearer ${secret}`, `${method} ${path}`);
});

t.test('clients learn of a model that another program removed, from a list or from a chat', async (t) => {
  const { runner, daemon } = await setUp(t);
  const remove = (model: string) =>
    fetch(`${runner.url}/api/delete`, { method: 'DELETE', body: JSON.stringify({ model }) });
  await daemon.request(listModelsRequest, {});
  await remove('plain:latest');
  const listed = nextChange(daemon);
  await daemon.request(listModelsRequest, { refresh: true });
  await listed;

  const asked = nextChange(daemon);
  const messages = [{ role: 'user', content: 'hi' }] as const;
  const chat = daemon.request(chatRequest, { streamId: '1', model: 'plain', messages });
  await t.rejects(chat, failsWith({ data: { kind: 'model-not-found' } }));
  await asked;
});

t.test('a server that knows the specified call is not asked again', async (t) => {
  const { runner, daemon } = await setUp(t, { stopRoute: true });
  await daemon.request(runModelRequest, { model: 'hf.co/Acme/Tiny-GGUF:Q4_K_M' });
  await daemon.request(stopModelRequest, { model: 'hf.co/Acme/Tiny-GGUF:Q4_K_M' });
  t.ok(pathsOf(runner).includes('DELETE /api/ps/hf.co%2FAcme%2FTiny-GGUF%3AQ4_K_M'));
  t.equal(runner.bodies('/api/chat').length, 1);
});

t.test('an answer to the specified call that is a page or another status', async (t) => {
  type Script = (reply: ReturnType<RunnerStandIn['on']>) => void;
  const scripts: Readonly<Record<string, Script>> = {
    'a page with 404': (reply) => reply.html('<html>no</html>', 404),
    'JSON with 404': (reply) => reply.failWith(404, { error: 'not found' }),
    'JSON with 404 that names a model': (reply) => reply.failWith(404, { error: 'no such model' }),
    '501': (reply) => reply.failWith(501, 'no'),
    '405': (reply) => reply.failWith(405, '405 method not allowed'),
  };
  for (const [name, script] of Object.entries(scripts)) {
    const { runner, daemon } = await setUp(t);
    await daemon.request(runModelRequest, { model: 'plain' });
    script(runner.on('/api/ps/plain%3Alatest'));
    await daemon.request(stopModelRequest, { model: 'plain' });
    t.match(runner.bodies('/api/chat').at(-1), { keep_alive: 0 }, name);
    t.strictSame((await daemon.request(runningModelsRequest, {})).models, [], name);
  }
  const { runner, daemon } = await setUp(t);
  runner.on('/api/ps/nothing').failWith(404, { error: "model 'nothing' not found" });
  await t.rejects(daemon.request(stopModelRequest, { model: 'nothing' }), failsWith({ code: -33004 }));
  runner.on('/api/ps/plain').failWith(401, { error: 'unauthorized' });
  await t.rejects(daemon.request(stopModelRequest, { model: 'plain' }), failsWith({ code: -33003 }));
});

t.test('a model that stays loaded is reported after the limit', async (t) => {
  const runner = await startStandIn({ models, unloadTakes: 60_000 });
  t.teardown(runner.close);
  const timeouts = { connect: 1_000, list: 1_000, firstByte: 1_000, idle: 1_000 };
  const server = { name: 'default', url: runner.url };
  const transport = new Transport({ server, timeouts, headersFor: async () => ({}) });
  t.teardown(() => transport.close());
  const client = new OllamaRunner(transport);
  const knowledge = new ModelCapabilities();
  const lifecycle = new Lifecycle(new Models(knowledge, Date.now), () => undefined, Date.now, 250);
  const { signal } = new AbortController();
  await lifecycle.run(client, 'plain', {}, signal);
  await t.rejects(
    lifecycle.stop(client, 'plain', signal),
    failsWith({ kind: 'timeout', message: /still loaded/ }),
  );
});

t.test('models that embed, and models of another host', async (t) => {
  const { runner, daemon } = await setUp(t);
  for (const model of ['embedder', 'old-embedder']) {
    const { model: loaded } = await daemon.request(runModelRequest, { model });
    t.ok(loaded.running, model);
    await daemon.request(stopModelRequest, { model });
  }
  t.match(runner.bodies('/api/embed'), [{ model: 'embedder', input: '' }, { model: 'old-embedder' }]);
  runner.on('/api/chat').failWith(400, { StatusCode: 400, error: 'messages must not be empty' });
  const { model: remote } = await daemon.request(runModelRequest, { model: 'cloudy:120b:cloud' });
  t.match(remote, { name: 'cloudy:120b-cloud', remote: { model: 'cloudy:120b' } });
  runner.on('/api/chat').failWith(400, { StatusCode: 400, error: 'messages must not be empty' });
  t.strictSame(await daemon.request(stopModelRequest, { model: 'cloudy:120b-cloud' }), {});
  runner
    .on('/api/chat')
    .failWith(401, { error: 'unauthorized', signin_url: 'https://ollama.com/connect?name=h&key=k' });
  await t.rejects(
    daemon.request(runModelRequest, { model: 'cloudy:120b-cloud' }),
    failsWith({
      code: -33003,
      data: { kind: 'unauthorized', signinUrl: 'https://ollama.com/connect?name=h&key=k' },
    }),
  );
});

t.test('a load has the configured window and time to live', async (t) => {
  const { runner, daemon } = await startDaemonWithRunner(
    t,
    { keepAlive: '30', contextLength: 2048 },
    { standIn: { models } },
  );
  const { model } = await daemon.request(runModelRequest, { model: 'plain' });
  t.match(runner.bodies('/api/chat'), [{ keep_alive: 30, options: { num_ctx: 2048 } }]);
  t.equal(model.context.allocated, 2048);
});

t.test('a loaded model is not deleted unless it may be stopped', async (t) => {
  const { runner, daemon } = await setUp(t);
  await daemon.request(runModelRequest, { model: 'plain' });
  await t.rejects(
    daemon.request(deleteModelRequest, { model: 'PLAIN:latest' }),
    failsWith({ code: -33007, data: { kind: 'busy', retryable: true }, message: /Stop it first/ }),
  );
  t.strictSame(runner.bodies('/api/delete'), []);
  const changed = nextChange(daemon);
  t.strictSame(await daemon.request(deleteModelRequest, { model: 'plain', stop: true }), {});
  await changed;
  t.match(runner.bodies('/api/delete'), [{ model: 'plain' }]);
  const { models: left } = await daemon.request(listModelsRequest, {});
  t.notOk(
    left.some(({ name }: Model) => name === 'plain:latest'),
    'the list is not the one of before',
  );
  await t.rejects(
    daemon.request(deleteModelRequest, { model: 'plain' }),
    failsWith({ code: -33004, data: { model: 'plain' } }),
  );
});

t.test('a server that answers unknown routes with JSON', async (t) => {
  const { runner, daemon } = await setUp(t);
  const isUnknown = { error: 'not found' };
  await daemon.request(runModelRequest, { model: 'plain' });
  runner.on('/api/ps/plain%3Alatest').failWith(404, isUnknown);
  t.strictSame(await daemon.request(deleteModelRequest, { model: 'plain', stop: true }), {});
  t.match(runner.bodies('/api/chat').at(-1), { keep_alive: 0 }, 'it is unloaded by what the server knows');

  runner.on('/api/ps', Number.POSITIVE_INFINITY).failWith(404, isUnknown);
  await daemon.request(stopModelRequest, { model: 'embedder' });
  t.match(
    runner.bodies('/api/chat').at(-1),
    { model: 'embedder', keep_alive: 0 },
    'what is loaded is unknown',
  );
  await daemon.request(deleteModelRequest, { model: 'embedder' });
  const { models: left } = await daemon.request(listModelsRequest, {});
  t.notOk(left.some(({ name }) => ['plain:latest', 'embedder:latest'].includes(name)));
});

t.test('invalid names and other wrong parameters reach no server', async (t) => {
  const { runner, daemon } = await setUp(t);
  for (const request of [pullModelRequest, runModelRequest, stopModelRequest, deleteModelRequest]) {
    for (const model of ['', '../x', 'a b', 'x\n', 'm:']) {
      const asked = daemon.connection.sendRequest(request.method, { model });
      await t.rejects(
        asked,
        failsWith({ code: -33011, data: { kind: 'invalid-request' } }),
        `${request.method} ${model}`,
      );
    }
    const asked = daemon.connection.sendRequest(request.method, { model: 'plain', server: 'other' });
    await t.rejects(asked, failsWith({ code: -32602, data: { path: 'server' } }), `${request.method} server`);
  }
  await t.rejects(
    daemon.connection.sendRequest(runModelRequest.method, { model: 'plain', keepAlive: 'soon' }),
    failsWith({ code: -32602, data: { path: 'keepAlive' } }),
  );
  t.strictSame(
    pathsOf(runner).filter((line) => !line.startsWith('GET')),
    [],
  );
});

t.test('a pull reports its progress: never backwards, at most ten times a second', async (t) => {
  const { daemon } = await setUp(t, { pullStep: 12 });
  const progress = watchProgress(daemon);
  const times: number[] = [];
  daemon.on(progressNotification, ({ token, value }: ProgressParams) => {
    progress.set(token, [...(progress.get(token) ?? []), value]);
    if (value.kind === 'report') times.push(Date.now());
  });
  const changed = nextChange(daemon);
  t.strictSame(await daemon.request(pullModelRequest, { model: 'guest', workDoneToken: 'mine' }), {
    model: 'guest',
  });
  await changed;
  const [begin, ...reports] = progress.get('mine') ?? [];
  const end = reports.pop();
  t.strictSame(begin, { kind: 'begin', title: 'Pulling guest', cancellable: true, percentage: 0 });
  t.strictSame(end, { kind: 'end' });
  const percentages = reports.flatMap((value) => (value.kind === 'report' ? [value.percentage ?? 0] : []));
  t.ok(percentages.length > 3, `${percentages.length} reports`);
  t.strictSame(
    percentages,
    [...percentages].sort((a, b) => a - b),
  );
  for (const start of times)
    t.ok(times.filter((time) => time >= start && time < start + 1_000).length <= 10, 'ten in any second');
  const last = reports.at(-1);
  t.match(last, { percentage: 100 });
  t.ok(last?.kind === 'report' && last.completed === last.total && (last.total ?? 0) > 20 * megabyte);
  t.ok(
    reports.some(
      (value) =>
        value.kind === 'report' && /^Downloading [0-9a-f]{12}: [\d.]+ of 21\.0 MB$/.test(value.message),
    ),
  );
  const { models: list } = await daemon.request(listModelsRequest, {});
  t.ok(list.some(({ name }: Model) => name === 'guest:latest'));
});

t.test('two pulls of one model share one download, and can be cancelled separately', async (t) => {
  const { runner, daemon } = await setUp(t, { pullStep: 5 });
  const progress = watchProgress(daemon);
  const [first, second] = [new AbortController(), new AbortController()];
  const pull = (model: string, token: string, { signal }: AbortController) =>
    daemon.request(pullModelRequest, { model, workDoneToken: token }, signal);
  const pulls = [pull('large:1b', 'first', first), pull('LARGE:1b', 'second', second)];
  const settled = pulls.map((one) => one.catch((error) => error.code));
  await runner.waitFor(({ path }) => path === '/api/pull');
  const until = async (token: string) => {
    await poll(
      async () => progress.get(token)?.length ?? 0,
      (count) => count >= 3,
    );
  };
  await Promise.all([until('first'), until('second')]);
  first.abort();
  t.equal(await settled[0], -32800);
  const before = progress.get('second')?.length ?? 0;
  await poll(
    async () => progress.get('second')?.length ?? 0,
    (count) => count >= before + 2,
  );
  t.equal(runner.requests.filter(({ path, aborted }) => path === '/api/pull' && !aborted).length, 1);
  t.match(progress.get('first')?.at(-1), { kind: 'end' });
  second.abort();
  t.equal(await settled[1], -32800);
  await runner.waitFor(({ path, aborted }) => path === '/api/pull' && aborted === true);

  // What was got stays: the next pull goes on from there.
  const third = new AbortController();
  const again = pull('large:1b', 'third', third).catch((error) => error.code);
  await until('third');
  const report = progress
    .get('third')
    ?.find((value) => value.kind === 'report' && value.completed !== undefined);
  t.ok(
    report?.kind === 'report' && (report.completed ?? 0) > 2 * 262_144,
    'the download continues where it stopped',
  );
  third.abort();
  await again;
});

t.test('both kinds of tokens cancel, and an editor without them is not asked', async (t) => {
  const { runner, daemon } = await setUp(t, { pullStep: 5 }, { window: { workDoneProgress: true } });
  const made: (string | number)[] = [];
  daemon.connection.onRequest('window/workDoneProgress/create', ({ token }) => {
    made.push(token);
    return null;
  });
  const progress = watchProgress(daemon);
  const cancelled = async (token?: string) => {
    const params = { model: 'large:1b', ...(token === undefined ? {} : { workDoneToken: token }) };
    const pulled = daemon.request(pullModelRequest, params).catch((error) => error.code);
    const own = () => token ?? made[0] ?? '';
    await poll(
      async () => progress.get(own()) ?? [],
      (all) => all.some(({ kind }) => kind === 'report'),
    );
    await daemon.connection.sendNotification('window/workDoneProgress/cancel', { token: own() });
    t.equal(await pulled, -32800);
    t.strictSame(progress.get(own())?.at(-1), { kind: 'end', message: 'Cancelled' });
  };
  await cancelled('mine');
  t.strictSame(made, []);
  await cancelled();
  t.equal(made.length, 1);
  await runner.waitFor(({ path, aborted }) => path === '/api/pull' && aborted === true);

  const plain = await setUp(t);
  plain.daemon.connection.onRequest('window/workDoneProgress/create', () => t.fail('not asked for'));
  const seen = watchProgress(plain.daemon);
  await plain.daemon.request(pullModelRequest, { model: 'guest' });
  t.equal(seen.size, 0);
});

t.test('a token that is already in use is refused', async (t) => {
  const { runner, daemon } = await setUp(t, { pullStep: 5 });
  const first = new AbortController();
  const pulled = daemon
    .request(pullModelRequest, { model: 'large:1b', workDoneToken: 7 }, first.signal)
    .catch((error) => error.code);
  await runner.waitFor(({ path }) => path === '/api/pull');
  await t.rejects(
    daemon.request(pullModelRequest, { model: 'guest', workDoneToken: 7 }),
    failsWith({ code: -32602, data: { path: 'workDoneToken' } }),
  );
  first.abort();
  t.equal(await pulled, -32800);
});

t.test('the failures of a pull', async (t) => {
  const begin = { status: 'pulling manifest' };
  const { runner, daemon } = await setUp(t);
  const pull = () => daemon.request(pullModelRequest, { model: 'guest' });
  for (const [error, code, message] of [
    ['pull model manifest: file does not exist', -33004, /registry does not know guest/],
    ['max retries exceeded: unexpected EOF', -33009, /continues where/],
    ['write /models/blobs/sha256-aa-partial: disk quota exceeded', -33009, /disk of the runner is full/],
    [
      'pull model manifest: Get "https://box:5000/v2/x": http: server gave HTTP response to HTTPS client',
      -33009,
      /uses plain http, which the runner accepts only from this machine/,
    ],
    ['something odd', -33009, /something odd/],
  ] as const) {
    runner.on('/api/pull').rawLines([begin, { error }]);
    await t.rejects(pull(), failsWith({ code, message }), error);
    runner.on('/api/pull').failWith(500, { error });
    await t.rejects(pull(), failsWith({ code }), `${error}, at once`);
  }
  runner.on('/api/pull').rawLines([begin]);
  await t.rejects(
    daemon.request(pullModelRequest, { model: 'guest' }),
    failsWith({ code: -33008, data: { retryable: true } }),
    'an end without success',
  );
  runner
    .on('/api/pull')
    .rawLines([begin, { status: 'pulling aa', digest: 'sha256:aa', total: 9 }], { end: 'reset' });
  await t.rejects(
    daemon.request(pullModelRequest, { model: 'guest' }),
    failsWith({ code: -33008, data: { retryable: true } }),
    'the runner went away',
  );
  t.strictSame(
    await daemon.request(pullModelRequest, { model: 'guest' }),
    { model: 'guest' },
    'and came back',
  );
});

t.test('progress of a server is redacted, bounded and checked', async (t) => {
  const runner = await startStandIn({ models, catalog });
  const secret = 'sk-very-secret-123456';
  const daemon = await startPair({ host: runner.url }, { secrets: [{ origin: runner.url, secret }] });
  t.teardown(async () => {
    await daemon.close();
    await runner.close();
  });
  const progress = watchProgress(daemon);
  const layer = { status: 'pulling', total: 1.7e308, completed: 1.7e308 };
  runner
    .on('/api/pull')
    .rawLines([
      { status: `you sent ${secret}` },
      { ...layer, digest: 'sha256:a' },
      { ...layer, digest: 'sha256:b' },
      { error: `${'<'.repeat(300_000)} ${secret}` },
    ]);
  const started = Date.now();
  const failed = await daemon
    .request(pullModelRequest, { model: 'guest', workDoneToken: 'w' })
    .catch((error: { message: string; data: object }) => error);
  t.ok(Date.now() - started < 10_000);
  t.ok('message' in failed && failed.message.length < 3_000);
  const all = JSON.stringify([failed, progress.get('w')]);
  t.notMatch(all, /sk-very|null/);
  runner
    .on('/api/pull')
    .failWith(401, { error: 'unauthorized', signin_url: `https://ollama.com/?key=${secret}` });
  const refused = await daemon
    .request(pullModelRequest, { model: 'guest' })
    .catch((error: { data: { kind: string; signinUrl: string } }) => error);
  t.match(refused, { data: { kind: 'unauthorized', signinUrl: 'https://ollama.com/?key=***' } });
});

t.test('a cancel counts even before the editor has confirmed the token', async (t) => {
  const { runner, daemon } = await setUp(t, { pullStep: 5 }, { window: { workDoneProgress: true } });
  const asked = new Promise<string>((resolve) => {
    daemon.connection.onRequest('window/workDoneProgress/create', async ({ token }) => {
      resolve(token);
      await runner.waitFor(({ path, aborted }) => path === '/api/pull' && aborted === true);
      return null;
    });
  });
  const pulled = daemon.request(pullModelRequest, { model: 'large:1b' }).catch((error) => error.code);
  await runner.waitFor(({ path }) => path === '/api/pull');
  await daemon.connection.sendNotification('window/workDoneProgress/cancel', { token: await asked });
  t.equal(await pulled, -32800);
});

t.test('the lifecycle as commands', async (t) => {
  const { runner, daemon } = await setUp(t);
  const execute = (command: string, ...args: unknown[]) =>
    daemon.connection.sendRequest('workspace/executeCommand', { command, arguments: args });
  const progress = watchProgress(daemon);
  t.strictSame(
    await daemon.connection.sendRequest('workspace/executeCommand', {
      command: lifecycleCommands.pull,
      arguments: [{ model: 'guest' }],
      workDoneToken: 'command',
    }),
    { model: 'guest' },
  );
  t.equal(progress.get('command')?.at(-1)?.kind, 'end');
  t.match(await execute(lifecycleCommands.run, { model: 'guest' }), { model: { name: 'guest:latest' } });
  await t.rejects(execute(lifecycleCommands.delete, { model: 'guest' }), failsWith({ code: -33007 }));
  t.strictSame(await execute(lifecycleCommands.stop, { model: 'guest' }), {});
  t.strictSame(await execute(lifecycleCommands.delete, { model: 'guest' }), {});
  t.equal(runner.bodies('/api/delete').length, 1);
  await t.rejects(
    execute('runner.models.explode', {}),
    failsWith({ code: -32602, data: { path: 'command' } }),
  );
  await t.rejects(
    execute(lifecycleCommands.run),
    failsWith({ code: -32602, data: { path: 'arguments[0].model' } }),
  );
  await t.rejects(
    execute(lifecycleCommands.run, { model: 'guest', server: 'other' }),
    failsWith({ code: -32602, data: { path: 'server' } }),
  );
});

t.test('a load by a chat, and an unload that is noticed, are changes', async (t) => {
  const { runner, daemon } = await setUp(t, { unloadTakes: 0 });
  await daemon.request(listModelsRequest, {});
  const loaded = nextChange(daemon);
  await daemon.chat({ model: 'plain', messages: [{ role: 'user', content: 'hi' }] });
  await daemon.request(runningModelsRequest, {});
  await loaded;
  const unloaded = nextChange(daemon);
  await fetch(`${runner.url}/api/generate`, {
    method: 'POST',
    body: JSON.stringify({ model: 'plain', keep_alive: 0 }),
  });
  t.strictSame((await daemon.request(runningModelsRequest, {})).models, []);
  await unloaded;
});
