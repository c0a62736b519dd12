import t from 'tap';
import { chatRequest } from '../../protocol/messages/chat.ts';
import { type InlineCompletionList, inlineCompletionRequest } from '../../protocol/messages/completion.ts';
import type { RunnerOptions } from '../../protocol/messages/settings.ts';
import { close, keepBusy, setOptions } from '../support/completing.ts';
import type { DaemonClient } from '../support/daemonClient.ts';
import { startDaemonWithRunner, type Teardown } from '../support/daemonWithRunner.ts';
import type { RunnerStandIn } from '../support/runnerStandIn.ts';
import { createVirtualClock } from '../support/virtualClock.ts';

const uri = 'file:///shop/a.ts';
const other = 'file:///shop/b.ts';
const lines = 'const value = 1;\n'.repeat(60);

const models = [
  { name: 'filler:latest', capabilities: ['completion', 'insert'] },
  { name: 'other:latest', capabilities: ['completion', 'insert'] },
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
  const warmed = () => runner.requests.filter(isWarming).map(({ body }) => body as Body);
  return { runner, daemon, settled, pause, clock, warmed };
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

t.test('a document is warmed once for each model, after a pause of a second', async (t) => {
  const { runner, daemon, settled, clock, warmed } = await setUp(t);
  await load(daemon, runner);
  await open(daemon, uri, lines);
  await settled();
  clock.pass(999);
  await settled();
  t.strictSame(warmed(), [], 'not before');
  clock.pass(1);
  await runner.waitFor((request) => isWarming(request) && request.finished === true);
  await settled();
  const becomes = async (want: number, change: () => unknown, name: string) => {
    await change();
    for (let turn = 0; turn < 3; turn += 1) await settled();
    clock.pass(1_000);
    await runner.waitFor(
      () => runner.requests.filter((one) => isWarming(one) && one.finished).length === want,
    );
    for (let turn = 0; turn < 30; turn += 1) await settled();
    t.equal(warmed().length, want, name);
  };
  await becomes(1, () => type(daemon, uri, 40, 'b'), 'once');
  await close(daemon, uri);
  await becomes(2, () => open(daemon, uri, lines), 'opened anew');
  await close(daemon, uri);
  await setOptions(daemon, { completionModel: 'other' });
  await open(daemon, 'file:///shop/second.ts', 'second();\n');
  runner.on('/api/generate').say('');
  await ask(daemon, 'file:///shop/second.ts', 1);
  await becomes(3, () => open(daemon, uri, lines), 'for another model');
  runner.on('/api/generate').say('');
  await open(daemon, other, lines);
  await ask(daemon, other, 30);
  await becomes(3, () => type(daemon, other, 40, 'a'), 'not where somebody has asked');
  await setOptions(daemon, { completionModel: '' });
  await becomes(3, () => open(daemon, 'file:///shop/c.ts', lines), 'not if completion is off');
});

t.test('the document that the user visited last is warmed', async (t) => {
  const { runner, daemon, settled, clock, warmed } = await setUp(t);
  await load(daemon, runner);
  for (const [name, at] of ['first', 'second', 'third'].entries()) {
    await open(daemon, `file:///shop/${at}x.ts`, `${'x'.repeat(600)}; // ${name}\n`);
    await settled();
    clock.pass(700);
    await settled();
  }
  clock.pass(300);
  await runner.waitFor((request) => isWarming(request) && request.finished === true);
  t.match(warmed(), [{ prompt: /\/\/ 2\n$/ }]);
});

t.test('when nothing is warmed', async (t) => {
  const large = `${'x'.repeat(1_000)}\n`.repeat(11_000);
  const cases: readonly {
    name: string;
    at?: string;
    text?: string;
    before?: (daemon: DaemonClient, runner: RunnerStandIn) => unknown;
  }[] = [
    { name: 'while a chat is answered', before: keepBusy },
    { name: 'of what must not be sent', at: 'file:///shop/.env' },
    { name: 'of a document that is too large', text: large },
    {
      name: 'while a completion is asked for',
      before: async (daemon, runner) => {
        await open(daemon, other, lines);
        runner.on('/api/generate').hang();
        ask(daemon, other, 30).catch(() => undefined);
        await runner.waitFor(({ body }) => JSON.stringify(body ?? '').includes('value'));
      },
    },
    {
      name: 'where another window would be loaded',
      before: (daemon) => setOptions(daemon, { completionModel: 'filler', contextLength: 1_024 }),
    },
    {
      name: 'where the runner does not say what is loaded',
      before: (_daemon, runner) => runner.on('/api/ps').failWith(500),
    },
  ];
  for (const { name, at = uri, text = lines, before } of cases) {
    const { runner, daemon, settled, pause, warmed } = await setUp(t);
    await load(daemon, runner);
    await before?.(daemon, runner);
    await open(daemon, at, text);
    await pause();
    for (let turn = 0; turn < 5; turn += 1) await settled();
    t.strictSame(warmed(), [], name);
  }
});

t.test('a model is loaded as it is asked for, as far as can be known', async (t) => {
  for (const [name, loaded] of [
    ['a window that is not told', { name: 'filler:latest' }],
    ['all that the model has', { name: 'filler:latest', context_length: 4_096 }],
  ] as const) {
    const { runner, daemon, pause } = await setUp(t, { contextLength: 8_192 });
    await load(daemon, runner);
    runner.on('/api/ps', 9).rawLines(JSON.stringify({ models: [{ model: loaded.name, ...loaded }] }));
    await open(daemon, uri, lines);
    await pause();
    t.ok(await runner.waitFor(isWarming), name);
  }
});

t.test('what a runner refuses to warm is not asked for again, unless it may pass', async (t) => {
  for (const [status, tries] of [
    [400, 1],
    [503, 2],
  ] as const) {
    const { runner, daemon, settled, pause, warmed } = await setUp(t);
    await load(daemon, runner);
    runner.on('/api/generate', 9).failWith(status, { error: 'odd' });
    await open(daemon, uri, lines);
    const logged = () => daemon.logs.filter(({ message }) => /^Nothing was warmed: /.test(message)).length;
    for (let turn = 1; turn <= 2; turn += 1) {
      await pause();
      await runner.waitFor(() => warmed().length >= Math.min(turn, tries));
      while (logged() < Math.min(turn, tries)) await settled();
      for (let again = 0; again < 5; again += 1) await settled();
      await type(daemon, uri, 40, 'a');
    }
    t.strictSame([warmed().length, logged()], [tries, tries], String(status));
  }
});

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
    const { runner, daemon, pause, settled } = await setUp(t, { completionModel: 'codellama:7b-code' });
    await load(daemon, runner);
    await open(daemon, uri, lines);
    await pause();
    await runner.waitFor(({ path, finished }) => path === '/api/ps' && finished === true);
    for (let turn = 0; turn < 5; turn += 1) await settled();
    await arrive(daemon);
    await pause();
    const { body } = await runner.waitFor(isWarming);
    t.match((body as Body).prompt, want, name);
  }
});

t.test('a key, a request and a chat close its socket', async (t) => {
  const ends: readonly (readonly [name: string, end: (daemon: DaemonClient) => unknown])[] = [
    ['a key', (daemon) => type(daemon, uri, 1, 'a')],
    ['a key elsewhere', (daemon) => type(daemon, 'file:///shop/first.ts', 1, 'a')],
    ['a request', (daemon) => ask(daemon, uri, 3)],
    ['the document is closed', (daemon) => close(daemon, uri)],
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
    if (text === lines) continue;
    await type(daemon, at, 1, lines);
    await pause();
    t.ok(await runner.waitFor(isWarming), 'it is long enough now');
  }
});

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
      await setOptions(daemon, options);
      await settled();
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
