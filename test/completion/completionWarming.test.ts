import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { RunnerError } from '../../daemon/base/errors.ts';
import type { Log } from '../../daemon/base/log.ts';
import type { WarmRunner } from '../../daemon/completion/completionRunner.ts';
import { createWarming, isLoadedAs, type WarmingDependencies } from '../../daemon/completion/warming.ts';
import { chatRequest } from '../../protocol/messages/chat.ts';
import { type InlineCompletionList, inlineCompletionRequest } from '../../protocol/messages/completion.ts';
import type { Model } from '../../protocol/messages/models.ts';
import type { RunnerOptions } from '../../protocol/messages/settings.ts';
import type { DaemonClient } from '../support/daemonClient.ts';
import { startDaemonWithRunner, type Teardown } from '../support/daemonWithRunner.ts';
import type { RunnerStandIn } from '../support/runnerStandIn.ts';
import { createVirtualClock } from '../support/virtualClock.ts';

const uri = 'file:///shop/a.ts';
const other = 'file:///shop/b.ts';
const lines = 'const value = 1;\n'.repeat(60);

/** Warming between a document and a runner that are of the test's own. */
function setUpAlone(more: Partial<WarmingDependencies> = {}) {
  const clock = createVirtualClock();
  const warmed: Parameters<WarmRunner>[0][] = [];
  const logged: string[] = [];
  const log = { debug: (message: string) => void logged.push(message) } as Log;
  const warming = createWarming({
    document: (at) => TextDocument.create(at, 'typescript', 1, lines),
    model: () => 'm',
    whyNotSendable: async () => undefined,
    isIdle: () => true,
    isLoaded: async () => true,
    warm: async (what) => warmed.push(what) > 0,
    wait: clock.wait,
    log,
    ...more,
  });
  const pause = async (milliseconds = 1_000) => {
    clock.pass(milliseconds);
    await turn();
  };
  return { warming, warmed, logged, clock, pause };
}

const never = new AbortController().signal;

t.test('a document is warmed once, after a pause, at the position of the user', async (t) => {
  const { warming, warmed, pause } = setUpAlone();
  warming.arrive(uri, { line: 1, character: 5 });
  await pause(999);
  t.strictSame(warmed, [], 'not before');
  await pause(1);
  t.match(warmed, [
    { isGuess: false, place: { uri, model: 'm', around: { position: { line: 1, character: 5 } } } },
  ]);
  warming.arrive(uri, { line: 2, character: 0 });
  await pause();
  t.equal(warmed.length, 1, 'once');
  warming.leave(uri);
  warming.arrive(uri);
  await pause();
  t.match(
    warmed.slice(1),
    [{ isGuess: true, place: { around: { prefix: lines, suffix: '' } } }],
    'opened anew',
  );
  t.strictSame(warmed[1]?.place.around.position, { line: 0, character: 0 });
});

t.test('the document that the user visited last is warmed', async (t) => {
  const { warming, warmed, pause, clock } = setUpAlone();
  for (const at of [uri, other, uri]) {
    warming.arrive(at);
    await pause(700);
  }
  t.equal(clock.waiting, 1);
  await pause();
  t.strictSame(
    warmed.map(({ place }) => place.uri),
    [uri],
  );
});

t.test('another model is warmed again, and a document with a request need not be warmed', async (t) => {
  let model: string | undefined = 'm';
  const { warming, warmed, pause, clock } = setUpAlone({ model: () => model });
  warming.arrive(uri);
  await pause();
  model = 'other';
  warming.arrive(uri);
  await pause();
  t.strictSame(
    warmed.map(({ place }) => place.model),
    ['m', 'other'],
  );
  const ask = warming.observe(async () => '');
  const place = { uri: other, model, around: warmed[0]?.place.around ?? t.bailout() };
  await ask(place as Parameters<typeof ask>[0], never, () => undefined);
  warming.arrive(other);
  t.equal(clock.waiting, 0);
  model = undefined;
  warming.arrive('file:///shop/c.ts');
  t.equal(clock.waiting, 0, 'completion is off');
});

t.test('when nothing is warmed', async (t) => {
  const cases: readonly { name: string; more: Partial<WarmingDependencies> }[] = [
    { name: 'while a chat is answered', more: { isIdle: () => false } },
    { name: 'where the model is not loaded', more: { isLoaded: async () => false } },
    { name: 'of what must not be sent', more: { whyNotSendable: async () => 'it looks like a secret' } },
    { name: 'of a document that is closed', more: { document: () => undefined } },
    {
      name: 'of a document that is too large',
      more: { document: (at) => TextDocument.create(at, 'x', 1, 'x'.repeat(11 * 1024 * 1024)) },
    },
    {
      name: 'where the runner does not say what is loaded',
      more: { isLoaded: () => Promise.reject(new Error('down')) },
    },
  ];
  for (const { name, more } of cases) {
    const { warming, warmed, pause } = setUpAlone(more);
    warming.arrive(uri);
    await pause();
    t.strictSame(warmed, [], name);
  }
  const { warming, warmed, pause } = setUpAlone();
  let end: (text: string) => void = () => undefined;
  const asked = warming.observe(
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  )({ uri: other, model: 'm', around: {} } as never, never, () => undefined);
  warming.arrive(uri);
  await pause();
  t.strictSame(warmed, [], 'while a completion is asked for');
  end('');
  await asked;
});

t.test('any event ends warming, and a refused request is not repeated', async (t) => {
  const place = { uri: other, model: 'm', around: {} } as never;
  const ends: readonly (readonly [name: string, end: (warming: ReturnType<typeof createWarming>) => void])[] =
    [
      ['a key', (warming) => warming.arrive(uri)],
      ['a key elsewhere', (warming) => warming.arrive(other)],
      ['a chat', (warming) => warming.stop()],
      ['a completion', (warming) => void warming.observe(async () => '')(place, never, () => undefined)],
      ['the document is closed', (warming) => warming.leave(uri)],
    ];
  for (const [name, end] of ends) {
    let signal = never;
    const { warming, logged, pause } = setUpAlone({
      warm: (_what, given) => {
        signal = given;
        return new Promise((_, reject) => given.addEventListener('abort', () => reject(given.reason)));
      },
    });
    warming.arrive(uri);
    await pause();
    t.notOk(signal.aborted);
    end(warming);
    t.ok(signal.aborted, name);
    await turn();
    t.strictSame(logged, [], name);
  }
  let tried = 0;
  const { warming, logged, pause } = setUpAlone({
    warm: async () => {
      tried += 1;
      throw new RunnerError('not-supported', 'refused');
    },
  });
  for (let count = 0; count < 2; count += 1) {
    warming.arrive(uri);
    await pause();
  }
  t.equal(tried, 1);
  t.match(logged, [/Nothing was warmed: refused/]);
  const passing = setUpAlone({ warm: () => Promise.reject(new RunnerError('server-unreachable', 'down')) });
  for (const count of [1, 2]) {
    passing.warming.arrive(uri);
    await passing.pause();
    t.equal(passing.logged.length, count, 'what may pass is tried again');
  }
});

t.test('whether a model is loaded with the wanted window', async (t) => {
  const running = [
    { name: 'filler:latest', context: { allocated: 4096 } },
    { name: 'old:1b', context: {} },
    { name: 'small', context: { allocated: 2048, maximum: 2048 } },
  ];
  for (const [model, contextLength, want] of [
    ['filler', undefined, true],
    ['library/filler:latest', 4096, true],
    ['filler', 8192, false],
    ['old:1b', 8192, true],
    ['small', 8192, true],
    ['other', undefined, false],
  ] as const) {
    const asked = { model, ...(contextLength === undefined ? {} : { contextLength }) };
    t.equal(isLoadedAs(running as unknown as Model[], asked), want, `${model} ${contextLength}`);
  }
});

const models = [
  { name: 'filler:latest', capabilities: ['completion', 'insert'] },
  { name: 'codellama:7b-code', capabilities: ['completion'] },
  {
    name: 'qwen3-coder:480b-cloud',
    capabilities: ['completion', 'tools'],
    remote: { host: 'https://ollama.com:443', model: 'qwen3-coder:480b' },
  },
] as const;

async function setUp(test: Teardown, options: RunnerOptions = {}) {
  const clock = createVirtualClock();
  const { runner, daemon } = await startDaemonWithRunner(
    test,
    { completionModel: 'filler', logLevel: 'debug', ...options },
    { standIn: { models }, pair: { wait: clock.wait, now: clock.now } },
  );
  /** The daemon has read what was sent to it. */
  const settled = () => daemon.request({ method: 'runner/status' }, {});
  const pause = async () => {
    await settled();
    clock.pass(1_000);
  };
  return { runner, daemon, settled, pause };
}

async function open(daemon: DaemonClient, at: string, text: string): Promise<void> {
  const textDocument = { uri: at, languageId: 'typescript', version: 1, text };
  await daemon.connection.sendNotification('textDocument/didOpen', { textDocument });
}

async function type(daemon: DaemonClient, at: string, line: number, text: string): Promise<void> {
  const start = { line, character: 0 };
  await daemon.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri: at, version: 2 },
    contentChanges: [{ range: { start, end: start }, text }],
  });
}

function ask(daemon: DaemonClient, at: string, line: number): Promise<InlineCompletionList | null> {
  const position = { line, character: 0 };
  const params = { textDocument: { uri: at }, position, context: { triggerKind: 1 } };
  return daemon.request(inlineCompletionRequest, params);
}

/** By a suggestion of nothing in a document of its own. */
async function load(daemon: DaemonClient, runner: RunnerStandIn): Promise<void> {
  await open(daemon, 'file:///shop/first.ts', 'first();\n');
  runner.on('/api/generate').say('');
  await ask(daemon, 'file:///shop/first.ts', 1);
}

interface Body {
  readonly prompt?: string;
  readonly options?: { readonly num_predict?: number };
}

const isWarming = ({ path, body }: { readonly path: string; readonly body: unknown }) =>
  path === '/api/generate' && (body as Body | undefined)?.options?.num_predict === 1;

t.test('the first prompt in a document begins with the warmed text', async (t) => {
  const { runner, daemon, pause } = await setUp(t, { keepAlive: '5m', contextLength: 2048 });
  await load(daemon, runner);
  await open(daemon, uri, lines);
  await pause();
  const { body } = await runner.waitFor((request) => isWarming(request) && request.finished === true);
  t.match(body, {
    model: 'filler',
    prompt: `// shop/first.ts\n// first();\n\n${lines}`,
    suffix: String,
    options: { num_predict: 1, num_ctx: 2048 },
    keep_alive: '5m',
    think: false,
  });
  runner.on('/api/generate').say('last();');
  t.ok(await ask(daemon, uri, 30));
  const { prompt = '' } = body as Body;
  const [, , first] = runner.bodies('/api/generate') as readonly Body[];
  t.ok(prompt.startsWith(first?.prompt ?? 'none'));
  t.strictSame(
    daemon.logs.filter(({ level }) => level === 'warn' || level === 'error'),
    [],
  );
});

t.test('after a key, the position of the key is warmed', async (t) => {
  const { runner, daemon, pause } = await setUp(t);
  await load(daemon, runner);
  await open(daemon, uri, lines);
  await type(daemon, uri, 40, 'a = \n  b');
  await pause();
  const { body } = await runner.waitFor(isWarming);
  t.match((body as Body).prompt, /1;\na = \n {2}b$/);
});

t.test('a document that was skipped for its unknown position is warmed once it is known', async (t) => {
  const insideOfAWord = { line: 40, character: 2 };
  for (const { name, arrive, want } of [
    {
      name: 'by a key',
      arrive: (daemon: DaemonClient) => type(daemon, uri, 40, 'a = '),
      want: /^<PRE> <SUF>const value.* <MID> .*1;\na = $/s,
    },
    {
      name: 'by a request, also where nothing is suggested',
      arrive: (daemon: DaemonClient) =>
        daemon.request(inlineCompletionRequest, { textDocument: { uri }, position: insideOfAWord }),
      want: /^<PRE> <SUF>nst value.* <MID> .*1;\nco$/s,
    },
  ]) {
    const { runner, daemon, pause } = await setUp(t, { completionModel: 'codellama:7b-code' });
    await load(daemon, runner);
    await open(daemon, uri, lines);
    await pause();
    await runner.waitFor(({ path, finished }) => path === '/api/ps' && finished === true);
    await arrive(daemon);
    await pause();
    const { body } = await runner.waitFor(isWarming);
    t.match((body as Body).prompt, want, name);
  }
});

t.test('a key, a request and a chat close its socket', async (t) => {
  const ends: readonly (readonly [name: string, end: (daemon: DaemonClient) => unknown])[] = [
    ['a key', (daemon) => type(daemon, uri, 1, 'a')],
    ['a request', (daemon) => ask(daemon, uri, 3)],
    [
      'a chat',
      (daemon) =>
        daemon.request(chatRequest, {
          streamId: 's',
          model: 'filler',
          messages: [{ role: 'user', content: 'Hi' }],
        }),
    ],
  ];
  for (const [name, end] of ends) {
    const { runner, daemon, pause } = await setUp(t);
    await load(daemon, runner);
    await open(daemon, uri, lines);
    runner.on('/api/generate').hang();
    await pause();
    const request = await runner.waitFor((asked) => isWarming(asked) && asked.body !== undefined);
    t.notOk(request.aborted);
    await end(daemon);
    t.ok((await runner.waitFor((asked) => asked === request && asked.aborted)).aborted, name);
  }
});

t.test('a model is not loaded to warm it, and short or uncertain prompts are skipped', async (t) => {
  const cases: readonly {
    name: string;
    text?: string;
    at?: string;
    options?: RunnerOptions;
    load?: false;
  }[] = [
    { name: 'not loaded', load: false },
    { name: 'a short text', text: 'a = 1;\n' },
    { name: 'a place that decides all', options: { completionModel: 'codellama:7b-code' } },
  ];
  for (const { name, text = lines, at = uri, options = {}, load: isLoaded = true } of cases) {
    const { runner, daemon, pause, settled } = await setUp(t, options);
    if (isLoaded) await load(daemon, runner);
    await open(daemon, at, text);
    await pause();
    await runner.waitFor(({ path, finished }) => path === '/api/ps' && finished === true);
    // The daemon has read the answer before it answers this.
    await settled();
    await settled();
    t.strictSame(runner.requests.filter(({ body, path }) => isWarming({ path, body })).length, 0, name);
    t.equal(runner.bodies('/api/generate').length, isLoaded ? 1 : 0, name);
  }
});

/** Changes the settings, which the daemon has read when this settles. */
async function change(daemon: DaemonClient, runner: RunnerOptions): Promise<void> {
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', { settings: { runner } });
  await daemon.request({ method: 'runner/status' }, {});
}

t.test(
  'a document that is excluded during the pause is not sent, nor if completion is switched off',
  async (t) => {
    for (const options of [{ completionModel: '' }, { exclude: ['**/a.ts'] }]) {
      const { runner, daemon, settled, pause } = await setUp(t);
      await load(daemon, runner);
      const before = runner.bodies('/api/generate').length;
      await open(daemon, uri, lines);
      const position = { line: 30, character: 0 };
      const context = { triggerKind: 2 };
      const asked = daemon.request(inlineCompletionRequest, { textDocument: { uri }, position, context });
      await settled();
      await change(daemon, options);
      await pause();
      t.equal(await asked, null);
      await pause();
      await settled();
      t.equal(runner.bodies('/api/generate').length, before, JSON.stringify(options));
    }
  },
);

t.test('a chat ends the request ahead', async (t) => {
  const { runner, daemon } = await setUp(t);
  await open(daemon, uri, lines);
  runner.on('/api/generate').say('last();');
  runner.on('/api/generate').hang();
  t.ok(await ask(daemon, uri, 60));
  const asked = () => runner.requests.filter(({ path }) => path === '/api/generate');
  await runner.waitFor((request) => request === asked()[1]);
  const messages = [{ role: 'user', content: 'Hi' }] as const;
  await daemon.request(chatRequest, { streamId: 's', model: 'filler', messages });
  t.ok(await runner.waitFor((request) => request === asked()[1] && request.aborted));
});

t.test('nothing is sent to a model that runs on another host', async (t) => {
  const { runner, daemon, settled } = await setUp(t, { completionModel: 'qwen3-coder:480b-cloud' });
  await open(daemon, uri, lines);
  t.equal(await ask(daemon, uri, 30), null);
  await settled();
  t.strictSame(runner.bodies('/api/generate'), []);
  t.match(
    daemon.logs.map(({ message }) => message).join('\n'),
    /runs on another host, so your files are not sent to it/,
  );
});

t.test('warming a file does not change the beginning of other prompts', async (t) => {
  const { runner, daemon, pause } = await setUp(t);
  await load(daemon, runner);
  await open(daemon, uri, lines);
  await ask(daemon, uri, 10);
  const other = 'file:///shop/other.ts';
  await open(daemon, other, lines.replaceAll('value', 'another'));
  await pause();
  await runner.waitFor((request) => isWarming(request) && request.finished === true);
  await ask(daemon, uri, 12);
  const { prompt = '' } = runner.bodies('/api/generate').at(-1) as Body;
  t.ok(prompt.startsWith('// shop/first.ts'));
  t.notMatch(prompt, 'another');
});

t.test('a recalled suggestion does not count as a success of a failing runner', async (t) => {
  const { runner, daemon, settled } = await setUp(t);
  await open(daemon, uri, lines);
  runner.on('/api/generate').say('good();');
  t.ok(await ask(daemon, uri, 30));
  runner.on('/api/generate', 9).failWith(400, { error: 'odd' });
  for (const line of [10, 11, 12]) {
    t.equal(await ask(daemon, uri, line), null);
    t.ok(await ask(daemon, uri, 30));
  }
  await settled();
  t.equal(daemon.logs.filter(({ level }) => level === 'warn').length, 1);
});
