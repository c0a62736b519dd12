import { EventEmitter, once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import {
  completionAcceptedCommand,
  inlineCompletionRequest,
  type SelectedCompletionInfo,
} from '../../protocol/messages/completion.ts';
import type { RunnerOptions } from '../../protocol/messages/settings.ts';
import { type Status, statusDidChange, statusRequest } from '../../protocol/messages/status.ts';
import {
  ask,
  asksAfter,
  fillers,
  generates,
  keepBusy,
  open,
  setOptions,
  textOf,
  type,
  untilReceived,
  sumFile as uri,
} from '../support/completing.ts';
import { startPair } from '../support/daemonPair.ts';
import { startDaemonWithRunner, type Teardown } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import type { Piece } from '../support/runner/scriptedSpeech.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { has } from '../support/systems.ts';

const setUp = (test: Teardown, options: RunnerOptions = {}, capabilities: object = {}) =>
  startDaemonWithRunner(
    test,
    { completionModel: 'filler', ...options },
    { standIn: { models: fillers }, pair: { capabilities } },
  );

t.test('a suggestion is requested with a suffix, and its acceptance is counted', async (t) => {
  const { runner, daemon } = await setUp(t, { keepAlive: '10m', contextLength: 2048, logLevel: 'debug' });
  const position = await open(daemon, 'function add(a, b) {\n  return │\n}\n');
  runner.on('/api/generate').say('a + b;');
  const list = await ask(daemon, position);
  t.match(list, {
    items: [
      {
        insertText: 'a + b;',
        range: { start: position, end: position },
        command: { title: String, command: completionAcceptedCommand, arguments: [{ id: '1' }] },
      },
    ],
  });
  t.strictSame(generates(runner).slice(0, 1), [
    {
      model: 'filler',
      prompt: 'function add(a, b) {\n  return ',
      suffix: '\n}\n',
      think: false,
      truncate: false,
      options: { temperature: 0.1, num_predict: 128, num_ctx: 2048 },
      keep_alive: '10m',
      stream: true,
    },
  ]);
  const { command, arguments: given } = list?.items[0]?.command ?? {};
  t.strictSame(
    await daemon.connection.sendRequest('workspace/executeCommand', { command, arguments: given }),
    {},
  );
  t.match(daemon.logs.at(-1), { message: '1 of 1 suggestions were accepted.' });
  await t.rejects(
    daemon.connection.sendRequest('workspace/executeCommand', { command, arguments: [{}] }),
    failsWith({ code: -32602, data: { path: 'arguments[0].id' } }),
  );
});

t.test('an answer is read no further than needed', async (t) => {
  const endless = Array.from({ length: 20_000 }, (_, index) => `${index}\n`);
  for (const { name, text } of [
    { name: 'after the line', text: 'x = │ + y\n' },
    { name: 'where the block ends', text: 'function f() {\n    │\n}\n' },
  ]) {
    const { runner, daemon } = await setUp(t);
    const position = await open(daemon, text);
    runner.on('/api/generate').rawLines(
      ['1;', '\n', 'outside(', ...endless].map((response) => ({ model: 'filler', response, done: false })),
      { end: 'open' },
    );
    t.equal((await ask(daemon, position))?.items[0]?.insertText, '1;', name);
    t.ok((await runner.waitFor(({ path, aborted }) => path === '/api/generate' && aborted)).aborted, name);
  }
});

t.test('several keys in a row make one request, and all answers but the last are null', async (t) => {
  const { runner, daemon } = await setUp(t);
  const position = await open(daemon, 'const a = │\n');
  runner.on('/api/generate', 9).say('1;');
  const answers = await Promise.all([1, 2, 3, 4].map(() => ask(daemon, position, { triggerKind: 2 })));
  t.strictSame(
    answers.map((answer) => answer?.items[0]?.insertText),
    [undefined, undefined, undefined, '1;'],
  );
  const askedHere = generates(runner).filter(({ prompt }) => String(prompt).endsWith('const a = '));
  t.equal(askedHere.length, 1);
});

/** Records how long the keys rest, without resting; the longer pause before a document is warmed never ends. */
const recordRests = (rests: number[]) => async (milliseconds: number, signal: AbortSignal) => {
  if (milliseconds < 1_000) rests.push(milliseconds);
  else await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
};

t.test('the pause depends on how the user types, and includes the time that the editor waited', async (t) => {
  let clock = 1_000;
  const waits: number[] = [];
  const wait = recordRests(waits);
  const { runner, daemon } = await startDaemonWithRunner(
    t,
    { completionModel: 'filler' },
    { standIn: { models: fillers }, pair: { now: () => clock, wait } },
  );
  runner.on('/api/generate', 99).say('');
  let [at, version] = [await open(daemon, 'const total = │\n'), 1];
  const keys = async (gaps: readonly number[]) => {
    for (const gap of gaps) {
      clock += gap;
      at = await type(daemon, at, 'x', { version: ++version });
      // The daemon has read the key before the clock goes on.
      await daemon.request({ method: 'runner/status' }, {});
    }
    waits.length = 0;
  };
  const typing = { triggerKind: 2 };
  await keys([5_000]);
  await ask(daemon, at, typing);
  t.strictSame(waits, [150], 'nothing is known');
  await keys([240, 240, 240, 240]);
  await ask(daemon, at, typing);
  t.strictSame(waits, [320], 'who types slowly');
  clock += 200;
  await ask(daemon, at, typing);
  t.strictSame(waits, [320, 120], 'what was waited already is over');
  await keys(Array.from({ length: 12 }, () => 60));
  await ask(daemon, at, typing);
  t.strictSame(waits, [80], 'who types fast');
  const other = await open(daemon, 'b = │\n', 'file:///shop/other.ts');
  await ask(daemon, other, { uri: 'file:///shop/other.ts', ...typing });
  t.strictSame(waits, [80, 150], 'each document is its own');
  await ask(daemon, at);
  t.equal(waits.length, 2, 'who asks by hand does not wait');
  await keys([300, ...Array.from({ length: 9 }, () => 60), 300, 300, 300]);
  await ask(daemon, at, typing);
  t.strictSame(waits, [80], 'of thirteen gaps the oldest no longer counts');
});

t.test('a newer request closes the socket of the older one, whose answer is null', async (t) => {
  const { runner, daemon } = await setUp(t);
  const position = await open(daemon, 'const a = │\n');
  const other = await open(daemon, 'const b = │\n', 'file:///shop/other.ts');
  runner.on('/api/generate').hang();
  const older = ask(daemon, position);
  await runner.waitFor(({ path, body }) => path === '/api/generate' && body !== undefined);
  runner.on('/api/generate', 2, asksAfter('= ')).say('2;');
  const elsewhere = await ask(daemon, other, { uri: 'file:///shop/other.ts' });
  t.ok(elsewhere, 'another document is its own');
  t.notOk(runner.requests.some(({ aborted }) => aborted));
  const newer = await ask(daemon, position);
  t.equal(newer?.items[0]?.insertText, '2;');
  t.equal(await older, null);
  await runner.waitFor(({ path, aborted }) => path === '/api/generate' && aborted);
});

t.test('a newer request replaces the older one even if it is dropped', async (t) => {
  const { runner, daemon } = await setUp(t);
  const position = await open(daemon, 'const abc = │\n');
  runner.on('/api/generate').hang();
  const older = ask(daemon, position);
  await runner.waitFor(({ path, body }) => path === '/api/generate' && body !== undefined);
  t.equal(await ask(daemon, { line: 0, character: 8 }), null);
  t.equal(await older, null);
});

t.test('a cancelled request is answered with null at once, and its socket is closed', async (t) => {
  const { runner, daemon } = await setUp(t);
  const position = await open(daemon, 'const a = │\n');
  runner.on('/api/generate').hang();
  const cancel = new AbortController();
  const answer = ask(daemon, position, { signal: cancel.signal });
  await runner.waitFor(({ path, body }) => path === '/api/generate' && body !== undefined);
  cancel.abort();
  t.equal(await answer, null);
  await runner.waitFor(({ path, aborted }) => path === '/api/generate' && aborted);

  const resting = new AbortController();
  const asked = ask(daemon, position, { triggerKind: 2, signal: resting.signal });
  resting.abort();
  t.equal(await asked, null);
  t.equal(generates(runner).length, 1, 'a cancelled pause asks for nothing');
});

t.test('the end of the connection closes the socket', async (t) => {
  const runner = await startStandIn({ models: fillers });
  t.teardown(runner.close);
  const daemon = await startPair({ host: runner.url, completionModel: 'filler' });
  const position = await open(daemon, 'const a = │\n');
  runner.on('/api/generate').hang();
  ask(daemon, position).catch(() => undefined);
  await runner.waitFor(({ path, body }) => path === '/api/generate' && body !== undefined);
  await daemon.close();
  await runner.waitFor(({ path, aborted }) => path === '/api/generate' && aborted);
});

t.test('a document that changes gets no suggestion for its old text', async (t) => {
  const { runner, daemon } = await setUp(t);
  const position = await open(daemon, 'const a = │\n');
  const changed = new EventEmitter();
  const whenChanged = once(changed, 'changed');
  runner.on('/api/generate').answer({
    kind: 'speech',
    async *pieces() {
      await whenChanged;
      yield { kind: 'text', text: '1;' };
    },
  });
  const answer = ask(daemon, position);
  await runner.waitFor(({ path, body }) => path === '/api/generate' && body !== undefined);
  await daemon.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri, version: 2 },
    contentChanges: [{ text: 'let b\n' }],
  });
  // Its answer comes after the change.
  await daemon.request(statusRequest, {});
  changed.emit('changed');
  t.equal(await answer, null);
});

t.test('nothing is sent for places that are not worth it, or documents that must not be sent', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runner-completion-')));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, '.env'), 'A=1\n');
  symlinkSync(join(folder, '.env'), join(folder, 'plain.txt'));
  const cases: readonly {
    name: string;
    text: string;
    uri?: string;
    options?: RunnerOptions;
  }[] = [
    { name: 'no model', text: 'a = │', options: { completionModel: '' } },
    { name: 'too large', text: `│\n${'x'.repeat(10 * 1024 * 1024)}` },
    { name: 'a secret', text: 'KEY=│', uri: 'file:///shop/.env.local' },
    { name: 'a secret that is not saved', text: 'KEY=│', uri: 'untitled:/shop/id_rsa' },
    ...(has('links')
      ? [{ name: 'a link to a secret', text: 'KEY=│', uri: pathToFileURL(join(folder, 'plain.txt')).href }]
      : []),
    {
      name: 'excluded',
      text: 'a = │',
      uri: 'file:///shop/generated/a%20b/c.ts',
      options: { exclude: ['generated/**'] },
    },
    {
      name: 'excluded, in other letters',
      text: 'a = │',
      uri: 'file:///shop/%67enerated/a.ts',
      options: { exclude: ['generated/**'] },
    },
    {
      name: 'excluded on a share',
      text: 'a = │',
      uri: 'file://host/generated/b.ts',
      options: { exclude: ['generated/**'] },
    },
    { name: 'a secret that is written badly', text: 'KEY=│', uri: 'file:///a/%ZZ/.env' },
    { name: 'too large in bytes', text: `│\n${'語'.repeat((10 * 1024 * 1024) / 3 + 1)}` },
    { name: 'no address', text: 'a = │', uri: 'b.ts' },
    { name: 'a path without an end', text: 'a = │', uri: `file:///${'a'.repeat(4_096)}` },
    { name: 'an output', text: 'a = │', uri: 'output:extension-1' },
    { name: 'an old version', text: 'a = │', uri: 'git:/shop/a.ts?%7B%7D' },
    { name: 'a chat input', text: 'a = │', uri: 'chatSessionInput:input-0' },
  ];
  for (const { name, text, uri: at = uri, options = {} } of cases) {
    const { runner, daemon } = await setUp(t, { logLevel: 'debug', ...options });
    const position = await open(daemon, text, at);
    t.equal(await ask(daemon, position, { uri: at }), null, name);
    t.strictSame(generates(runner), [], name);
    const said = daemon.logs
      .map(({ message }) => message)
      .filter((message) => /^No completion/.test(message));
    t.equal(said.length, 1, `${name}: ${said}`);
    t.notMatch(said[0], /KEY|a = |defect/, name);
  }
  const { daemon } = await setUp(t);
  t.equal(await ask(daemon, { line: 0, character: 0 }), null, 'a document that is not open');
  const { runner, daemon: one } = await setUp(t);
  const cell = 'vscode-notebook-cell:/shop/a.ipynb#W0sZmlsZQ%3D%3D';
  runner.on('/api/generate', 4, asksAfter('= ')).say('1');
  for (const at of [cell, 'untitled:Untitled-1', 'FILE:///a/b.ts', `file:///${'a'.repeat(4_095)}`])
    t.ok(await ask(one, await open(one, 'a = │', at), { uri: at }), at.slice(0, 40));
});

t.test('malformed parameters name what is wrong', async (t) => {
  const { daemon } = await setUp(t);
  for (const [params, path] of [
    [{}, 'textDocument'],
    [{ textDocument: null, position: null }, 'textDocument'],
    [{ textDocument: { uri } }, 'position'],
    [{ textDocument: { uri }, position: { line: null, character: 0 } }, 'position.line'],
    [{ textDocument: { uri }, position: { line: 0, character: -1 } }, 'position.character'],
  ] as const)
    await t.rejects(
      daemon.connection.sendRequest(inlineCompletionRequest.method, params),
      failsWith({ code: -32602, data: { path } }),
    );
});

t.test('a model that refuses a suffix is asked with its tokens at once, and remembered', async (t) => {
  const { runner, daemon } = await setUp(t, { completionModel: 'deepseek-coder:7b' });
  const position = await open(daemon, 'a = │\n', uri, 'plaintext');
  runner
    .on('/api/generate')
    .failWith(400, { error: 'registry.ollama.ai/library/deepseek-coder:7b does not support insert' });
  const after = await open(daemon, 'b = │\n', 'file:///shop/other.ts', 'plaintext');
  runner
    .on('/api/generate', 2, ({ body }) => JSON.stringify(body).includes(' = <｜fim▁hole｜>'))
    .say('1<|EOT|>');
  t.equal((await ask(daemon, position))?.items[0]?.insertText, '1');
  t.equal((await ask(daemon, after, { uri: 'file:///shop/other.ts' }))?.items[0]?.insertText, '1');
  t.strictSame(
    generates(runner)
      .filter(({ prompt }) => !String(prompt).includes('= 1'))
      .map(({ prompt, suffix }) => [prompt, suffix]),
    [
      ['a = ', '\n'],
      ['<｜fim▁begin｜>a = <｜fim▁hole｜>\n<｜fim▁end｜>', undefined],
      ['<｜fim▁begin｜>b = <｜fim▁hole｜>\n<｜fim▁end｜>', undefined],
    ],
  );
});

t.test('a model that cannot fill in the middle is reported once, with advice', async (t) => {
  const { runner, daemon } = await setUp(t, { completionModel: 'talker' });
  const told: Status[] = [];
  daemon.on(statusDidChange, (status) => void told.push(status));
  await daemon.request({ method: 'runner/status' }, {});
  const position = await open(daemon, 'a = │\n');
  t.equal(await ask(daemon, position), null);
  t.equal(await ask(daemon, position), null);
  t.strictSame(generates(runner), []);
  const logged = daemon.logs.filter(({ message }) => /cannot fill in the middle/.test(message));
  t.match(logged, [
    { level: 'warn', message: /talker cannot fill in the middle. Choose a model with insert/ },
  ]);
  t.equal(logged.length, 1);
  t.match(told.at(-1), { state: 'online', kind: 'warning', message: /Choose a model with insert/ });

  runner.on('/api/generate').say('1');
  await setOptions(daemon, { completionModel: 'filler' });
  t.ok(await ask(daemon, position), 'another model holds at once');
  await daemon.request({ method: 'runner/status' }, {});
  t.match(told.at(-1), { state: 'online', kind: 'ok' });
  const asked = generates(runner).length;
  await setOptions(daemon, { modelCapabilities: { filler: { insert: false } } });
  const other = 'file:///shop/b.ts';
  t.equal(await ask(daemon, await open(daemon, 'b = │\n', other), { uri: other }), null);
  t.equal(generates(runner).length, asked, 'what the user says holds at once too');
});

t.test('a failed request is answered with null, and logged', async (t) => {
  for (const [status, error, message] of [
    [404, "model 'filler' not found", /not installed/],
    [500, 'the model runner has stopped', /stopped/],
    [503, 'server busy', /busy/],
  ] as const) {
    const { runner, daemon } = await setUp(t);
    const position = await open(daemon, 'secretText = │\n');
    runner.on('/api/generate').failWith(status, { error });
    t.equal(await ask(daemon, position), null);
    const said = daemon.logs.filter(({ level }) => level === 'warn').map((log) => log.message);
    t.match(said, [message]);
    t.notMatch(said.join(), /secretText/);
  }
});

t.test('the capability is registered while a model is set, if the editor supports that', async (t) => {
  const told: string[] = [];
  let wake: () => void = () => undefined;
  const toldOf = async (count: number) => {
    while (told.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  const take = (what: string) => (params: unknown) => {
    told.push(`${what} ${JSON.stringify(params).includes('"textDocument/inlineCompletion"')}`);
    wake();
    return null;
  };
  const { daemon } = await startDaemonWithRunner(
    t,
    { completionModel: 'filler' },
    {
      pair: {
        capabilities: { textDocument: { inlineCompletion: { dynamicRegistration: true } } },
        answers: {
          'client/registerCapability': take('register'),
          'client/unregisterCapability': take('unregister'),
        },
      },
    },
  );
  t.notHas(daemon.announced, { inlineCompletionProvider: true });
  const set = (completionModel: string) => setOptions(daemon, { completionModel });
  await toldOf(1);
  await set('talker');
  await set('');
  await toldOf(2);
  await set('filler');
  await toldOf(3);
  t.strictSame(told, ['register true', 'unregister true', 'register true']);
});

t.test('other editors learn the capability at the start', async (t) => {
  const { daemon } = await setUp(t, { completionModel: '' });
  t.match(daemon.announced, {
    // Only what changed of a document is sent.
    textDocumentSync: { openClose: true, change: 2, save: true },
    inlineCompletionProvider: true,
    executeCommandProvider: {
      commands: ['runner.models.pull', String, String, String, completionAcceptedCommand],
    },
  });
});

t.test('a server that lists no capabilities is asked for them once', async (t) => {
  for (const [completionModel, way] of [
    ['qwen2.5-coder:1b', { raw: true }],
    ['filler', { suffix: String }],
  ] as const) {
    const { runner, daemon } = await setUp(t, { completionModel });
    const position = await open(daemon, 'a = │\n');
    runner.on('/api/show', 9).rawLines('{}', { contentType: 'application/json' });
    runner.on('/api/generate', 2).say('1');
    t.ok(await ask(daemon, position));
    t.ok(await ask(daemon, position));
    t.match(generates(runner), [way, way]);
    t.equal(runner.bodies('/api/show').length, 1);
  }
});

/** An answer whose second part waits until the test lets it go on. */
function inTwoParts(first: readonly string[], second: readonly string[]) {
  const steps = new EventEmitter();
  const mayGoOn = once(steps, 'goOn');
  const isHalfRead = untilReceived(first.join(''));
  return {
    kind: 'speech' as const,
    async *pieces(): AsyncGenerator<Piece> {
      for (const text of first) yield { kind: 'text', text };
      await mayGoOn;
      for (const text of second) yield { kind: 'text', text };
    },
    goOn: () => void steps.emit('goOn'),
    /** The daemon, which runs in this process, has read the first part. */
    isHalfRead,
  };
}

t.test('a running answer goes on while the user types what it says', async (t) => {
  for (const [said, typed, text, want] of [
    ['one ', 'o', 'const a = │\n', 'ne + two;'],
    ['o', 'one', 'const a = │\n', ' + two;'],
    ['  one ', 'o', 'const a = │\n', 'ne + two;'],
    ['\none ', '\r\no', 'a =│\r\n', 'ne + two;'],
  ] as const) {
    const { runner, daemon } = await setUp(t);
    const start = await open(daemon, text);
    const whole = said.replace(/o.*/, 'one + two;\n');
    const answer = inTwoParts([said], [whole.slice(said.length)]);
    runner.on('/api/generate').answer(answer);
    const first = new AbortController();
    const older = ask(daemon, start, { signal: first.signal });
    const request = await runner.waitFor(({ path }) => path === '/api/generate');
    await answer.isHalfRead;
    const at = await type(daemon, start, typed, { version: 2 });
    // As VS Code does it: the older is cancelled, then the newer is asked.
    first.abort();
    const newer = ask(daemon, at);
    t.equal(await older, null);
    answer.goOn();
    t.equal(textOf(await newer), want, said);
    t.notOk(request.aborted);
  }
});

t.test('a running answer that says something else is aborted at once', async (t) => {
  const { runner, daemon } = await setUp(t);
  const start = await open(daemon, 'const a = │\n');
  const answer = inTwoParts(['one '], ['+ ', 'two', ';']);
  runner.on('/api/generate').answer(answer);
  const older = ask(daemon, start);
  const request = await runner.waitFor(({ path }) => path === '/api/generate');
  await answer.isHalfRead;
  const at = await type(daemon, start, 'x', { version: 2 });
  runner.on('/api/generate').say('yz;');
  const newer = ask(daemon, at);
  t.equal(await older, null);
  await runner.waitFor((asked) => asked === request && asked.aborted);
  t.equal(textOf(await newer), 'yz;');
  answer.goOn();
});

t.test('a key that differs from the suggestion ends the request ahead', async (t) => {
  const { runner, daemon } = await setUp(t);
  const start = await open(daemon, 'const a = │\n');
  runner.on('/api/generate').say('first;');
  runner.on('/api/generate').hang();
  t.equal(textOf(await ask(daemon, start)), 'first;');
  const ahead = await runner.waitFor(asksAfter('const a = first;'));
  const kept = await type(daemon, start, 'fir', { version: 2 });
  t.equal(textOf(await ask(daemon, kept, { triggerKind: 2 })), 'st;');
  t.notOk(ahead.aborted, 'the suggestion itself keeps it');
  const at = await type(daemon, kept, 'x', { version: 3 });
  runner.on('/api/generate').say('y;');
  t.equal(textOf(await ask(daemon, at)), 'y;');
  await runner.waitFor((asked) => asked === ahead && asked.aborted);
});

t.test('only one request is ahead, for the suggestion that was shown last', async (t) => {
  const { runner, daemon } = await setUp(t);
  const other = 'file:///shop/other.ts';
  for (const [at, name] of [
    [uri, 'a'],
    [other, 'b'],
  ] as const) {
    const start = await open(daemon, `${name} = │\n`, at);
    runner.on('/api/generate', 1, asksAfter(`${name} = `)).say('one;');
    runner.on('/api/generate', 1, asksAfter(`${name} = one;`)).hang();
    t.equal(textOf(await ask(daemon, start, { uri: at })), 'one;');
    await runner.waitFor(asksAfter(`${name} = one;`));
  }
  await runner.waitFor((asked) => asksAfter('a = one;')(asked) && asked.aborted);
  t.notOk(runner.requests.some((asked) => asksAfter('b = one;')(asked) && asked.aborted));
});

t.test('no request ahead is sent while a chat is answered', async (t) => {
  const { runner, daemon } = await setUp(t);
  const start = await open(daemon, 'const a = │\n');
  const stop = await keepBusy(daemon, runner);
  runner.on('/api/generate').say('first;');
  t.equal(textOf(await ask(daemon, start)), 'first;');
  const at = await type(daemon, start, 'f', { version: 2 });
  t.equal(textOf(await ask(daemon, at)), 'irst;');
  t.equal(generates(runner).length, 1);
  await stop();
});

t.test('the item selected in the editor’s list is continued, and typing it sends no request', async (t) => {
  const { runner, daemon } = await setUp(t);
  let at = await open(daemon, 'function f() {\n  cons│\n}\n');
  const select = (text: string): SelectedCompletionInfo => ({
    range: { start: { line: 1, character: 2 }, end: at },
    text,
  });
  runner.on('/api/generate', 1, asksAfter('  console')).say('.log(a);');
  runner.on('/api/generate', 9, asksAfter('(a);')).say('');
  const list = await ask(daemon, at, { selected: select('console') });
  t.match(list?.items, [{ insertText: 'console.log(a);', range: select('').range }]);
  t.match(generates(runner), [{ prompt: 'function f() {\n  console', suffix: '\n}\n' }]);
  const askedOnce = () =>
    generates(runner).filter(({ prompt }) => !String(prompt).endsWith('(a);')).length === 1;
  at = await type(daemon, at, 'o', { version: 2 });
  const more = await ask(daemon, at, { selected: select('console'), triggerKind: 2 });
  t.match(more?.items, [{ insertText: 'console.log(a);', range: select('').range }], 'typed on');
  at = await type(daemon, at, 'le', { version: 3 });
  t.equal(textOf(await ask(daemon, at, { triggerKind: 2 })), '.log(a);', 'taken from the list');
  t.ok(askedOnce());
  at = await type(daemon, at, '.l', { version: 4 });
  const member = { range: { start: { ...at, character: at.character - 1 }, end: at }, text: 'log' };
  const rest = await ask(daemon, at, { selected: member, triggerKind: 2 });
  t.match(
    rest?.items,
    [{ insertText: 'log(a);', range: member.range }],
    'what was suggested before the list came',
  );
  t.ok(askedOnce());

  runner.on('/api/generate', 1, asksAfter('.lower')).say('  \n');
  t.equal(await ask(daemon, at, { selected: { ...member, text: 'lower' } }), null, 'nothing fits');
  const elsewhere = {
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } },
    text: 'a',
  };
  t.equal(await ask(daemon, at, { selected: elsewhere }), null);
});

t.test('a model with a small window gets less text, and that is remembered', async (t) => {
  const { runner, daemon } = await setUp(t);
  const lines = 'const value = 1;\n'.repeat(300);
  const start = await open(daemon, `${lines}const a = │\n${lines}`);
  const tooLong = { error: 'the input length exceeds the context length' };
  runner.on('/api/generate').failWith(400, tooLong);
  runner.on('/api/generate', 2, asksAfter('= ')).say('one;');
  t.equal(textOf(await ask(daemon, start)), 'one;');
  const at = await type(daemon, start, 'b + c = ', { version: 2 });
  t.equal(textOf(await ask(daemon, at)), 'one;');
  const lengths = generates(runner)
    .filter(({ prompt }) => prompt.endsWith('= '))
    .map(({ prompt, suffix }) => [Math.ceil(prompt.length / 100), Math.ceil(suffix.length / 100)]);
  t.strictSame(lengths, [
    [52, 12],
    [20, 4],
    [20, 4],
  ]);
});
