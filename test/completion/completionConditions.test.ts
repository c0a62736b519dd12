import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { cursorContextAt } from '../../daemon/completion/cursorContext.ts';
import { type InlineCompletionList, inlineCompletionRequest } from '../../protocol/messages/completion.ts';
import type { RunnerOptions } from '../../protocol/messages/settings.ts';
import { type Status, statusDidChange } from '../../protocol/messages/status.ts';
import type { DaemonClient } from '../support/daemonClient.ts';
import { startPair } from '../support/daemonPair.ts';
import { startDaemonWithRunner, type Teardown } from '../support/daemonWithRunner.ts';
import type { StandInModel } from '../support/runner/standInModel.ts';
import { type RunnerStandIn, startStandIn } from '../support/runnerStandIn.ts';

const models: readonly StandInModel[] = [{ name: 'filler:latest', capabilities: ['completion', 'insert'] }];
const uri = 'file:///shop/sum.ts';

interface Position {
  readonly line: number;
  readonly character: number;
}

const setUp = (test: Teardown, options: RunnerOptions = {}) =>
  startDaemonWithRunner(test, { completionModel: 'filler', ...options }, { standIn: { models } });

/** Of a document: opened, changed at a place or closed. */
function documentAt({ connection }: DaemonClient, at = uri, languageId = 'typescript') {
  let version = 1;
  return {
    open: (text: string) =>
      connection.sendNotification('textDocument/didOpen', {
        textDocument: { uri: at, languageId, version, text },
      }),
    insert: (position: Position, text: string) =>
      connection.sendNotification('textDocument/didChange', {
        textDocument: { uri: at, version: ++version },
        contentChanges: [{ range: { start: position, end: position }, text }],
      }),
    close: () => connection.sendNotification('textDocument/didClose', { textDocument: { uri: at } }),
  };
}

/** Without a pause, unless it is typed. */
function ask(
  daemon: DaemonClient,
  position: Position,
  { at = uri, isTyped = false }: { readonly at?: string; readonly isTyped?: boolean } = {},
): Promise<InlineCompletionList | null> {
  const context = { triggerKind: isTyped ? 2 : 1 };
  return daemon.request(inlineCompletionRequest, { textDocument: { uri: at }, position, context });
}

function generates(runner: RunnerStandIn): readonly { prompt: string; suffix: string }[] {
  return runner.bodies('/api/generate') as readonly { prompt: string; suffix: string }[];
}

/** Waits until a request has been read that is not answered yet. */
const underWay = (runner: RunnerStandIn) =>
  runner.waitFor(({ path, body, aborted }) => path === '/api/generate' && body !== undefined && !aborted);

const line = 'const value = compute(first, second);\n';
const faces = '😀é'.repeat(33_000);

t.test('which part of a document is sent, and where the answer goes', async (t) => {
  const cases: readonly {
    name: string;
    text: string;
    position: Position;
    /** Where the text begins, when it is not the position. */
    start?: Position;
    /** Text that ends what is sent before the cursor, and that begins what is sent after it. */
    before: string;
    after: string;
  }[] = [
    {
      name: '50,000 lines, in the middle',
      text: `${line.repeat(25_000)}a = \n${line.repeat(25_000)}`,
      position: { line: 25_000, character: 4 },
      before: `${line}a = `,
      after: `\n${line}`,
    },
    {
      name: '50,000 lines, past their end',
      text: `${line.repeat(50_000)}a = `,
      position: { line: 60_000, character: 9 },
      start: { line: 50_000, character: 4 },
      before: `${line}a = `,
      after: '\n',
    },
    {
      name: 'a line of 100,000 characters',
      text: `"${faces}" + ;\n`,
      position: { line: 0, character: 99_005 },
      before: '😀é" + ',
      after: ';\n',
    },
    {
      name: 'a line of 100,000 characters, near its beginning',
      text: `a = ;${faces}\n`,
      position: { line: 0, character: 4 },
      before: 'a = ',
      after: ';😀é',
    },
    {
      name: 'past the end of a line with pairs and marks',
      text: '😀 e\u0301 𝄞 = \nb\n',
      position: { line: 0, character: 500 },
      start: { line: 0, character: 11 },
      before: '😀 e\u0301 𝄞 = ',
      after: '\nb\n',
    },
    {
      name: 'past the end of a line with CRLF',
      text: 'a = \r\nb\r\n',
      position: { line: 0, character: 5 },
      start: { line: 0, character: 4 },
      before: 'a = ',
      after: '\r\nb\r\n',
    },
    {
      name: 'old line ends',
      text: 'x\ra = \rb\r',
      position: { line: 1, character: 4 },
      before: 'x\ra = ',
      after: '\rb\r',
    },
    {
      name: 'tabs and blanks',
      text: 'f {\n\t  \tif (a)\n  \t',
      position: { line: 2, character: 3 },
      before: 'f {\n\t  \tif (a)\n  \t',
      after: '\n',
    },
  ];
  for (const { name, text, position, start = position, before, after } of cases) {
    const { runner, daemon } = await setUp(t);
    await documentAt(daemon).open(text);
    runner.on('/api/generate').say('one;\n');
    const item = (await ask(daemon, position))?.items[0];
    t.match(item, { insertText: 'one;', range: { start, end: start } }, name);
    const [{ prompt, suffix } = { prompt: '', suffix: '' }] = generates(runner);
    t.ok(prompt.endsWith(before) && suffix.startsWith(after), `${name}: ${JSON.stringify([prompt, suffix])}`);
    t.ok(prompt.length <= 6_000 && suffix.length <= 1_200, `${name}: by the budgets`);
    if (text.includes(line)) t.ok(prompt.startsWith(line) && suffix.endsWith('\n'), `${name}: cut at a line`);
    t.notMatch(prompt + suffix, /�|^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/, `${name}: nothing torn`);
  }
});

t.test('a line is cut where more than half would be lost', async (t) => {
  for (const [before, after, want] of [
    [2_999, 599, [3_000, 600]],
    [3_000, 598, [6_000, 1_200]],
  ] as const) {
    const { runner, daemon } = await setUp(t);
    const start = `x${'a'.repeat(before)}\n${'b'.repeat(5_998 - before)} `;
    await documentAt(daemon).open(`${start};${'a'.repeat(after - 1)}\n${'b'.repeat(1_200)}`);
    runner.on('/api/generate').say('');
    await ask(daemon, { line: 1, character: 5_999 - before });
    t.strictSame(
      generates(runner).map(({ prompt, suffix }) => [prompt.length, suffix.length]),
      [want],
    );
  }
});

t.test('no request is sent if the cursor is inside a character', async (t) => {
  const { runner, daemon } = await setUp(t);
  for (const [index, { name, before, after }] of [
    { name: 'a surrogate pair', before: 'a = \uD83D', after: '\uDE00' },
    { name: 'a surrogate pair in a long line', before: `${faces} \uD83D`, after: `\uDE00${faces}` },
    { name: 'a letter and its mark', before: 'a = e', after: '\u0301' },
    { name: 'a sign and its mark', before: 'a =', after: '\u0338' },
    { name: 'a face and its colour', before: 'a = 👍', after: '🏽' },
    { name: 'a family', before: 'a = 👩', after: '\u200D👧' },
    { name: 'a family, behind the joiner', before: 'a = 👩\u200D', after: '👧' },
  ].entries()) {
    const at = `file:///shop/${index}.ts`;
    await documentAt(daemon, at).open(before + after);
    t.equal(await ask(daemon, { line: 0, character: before.length }, { at }), null, name);
  }
  t.strictSame(generates(runner), []);
});

t.test('a place keeps only the text around the cursor in memory', async (t) => {
  const places = Array.from({ length: 20 }, (_, index) => {
    const document = TextDocument.create(uri, 'typescript', 1, `${index}${line.repeat(50_000)}`);
    return cursorContextAt(document, { line: 25_000, character: 4 });
  });
  const held = heap();
  const characters = places.reduce((sum, { prefix, suffix }) => sum + prefix.length + suffix.length, 0);
  places.length = 0;
  t.ok(characters > 20 * 6_000);
  // Each document has 1.9 MB.
  t.ok(held - heap() < 5e6, `${((held - heap()) / 1e6).toFixed(1)} MB for 20 places`);
});

/** What of a failing runner is said, and what it does not hinder. */
t.test('a runner that fails at every key is reported once, and used again once it works', async (t) => {
  const words = 'the llama runner process no longer runs';
  const failures: readonly {
    name: string;
    fail: (runner: RunnerStandIn, key: number) => void;
    warns: RegExp;
    status: object;
  }[] = [
    {
      name: 'garbage',
      fail: (runner) => runner.on('/api/generate').rawLines('<<no JSON>>\n'),
      warns: /not JSON/,
      status: { kind: 'warning', message: /not JSON/ },
    },
    {
      name: 'a page',
      fail: (runner) => runner.on('/api/generate').html(),
      warns: /web page/,
      status: { kind: 'warning', message: /web page/ },
    },
    {
      name: '500, in other words each time',
      fail: (runner, key) => runner.on('/api/generate').failWith(500, { error: `${words} (${key})` }),
      warns: /no longer runs \(0\)/,
      status: { kind: 'warning', message: /no longer runs \(0\)/ },
    },
    {
      name: '503, with another time each time',
      fail: (runner, key) =>
        runner.on('/api/generate').failWith(503, { error: 'busy' }, { headers: { 'retry-after': `${key}` } }),
      warns: /busy/,
      status: { kind: 'warning', message: /busy/ },
    },
    {
      name: 'death in the middle',
      fail: (runner) => runner.on('/api/generate').dieMidAnswer(1),
      warns: /in the middle of an answer/,
      status: { kind: 'warning', message: /in the middle/ },
    },
    {
      name: 'an end before the end',
      fail: (runner) => runner.on('/api/generate').endWithoutDone('first'),
      warns: /too early/,
      status: { kind: 'warning', message: /too early/ },
    },
    {
      name: 'an error in the middle',
      fail: (runner, key) => runner.on('/api/generate').errorLine(`${words} ${key}`, 'first'),
      warns: /no longer runs 0/,
      status: { kind: 'warning', message: /no longer runs 0/ },
    },
  ];
  for (const { name, fail, warns, status } of failures) {
    const { runner, daemon } = await setUp(t);
    const told = await statuses(daemon);
    const document = documentAt(daemon);
    await document.open('const a = \n');
    for (let key = 0; key < 6; key += 1) {
      await document.insert({ line: 0, character: 10 + key }, 'x');
      fail(runner, key);
      t.equal(await ask(daemon, { line: 0, character: 11 + key }), null, name);
    }
    t.match(warnings(daemon), [warns], name);
    t.equal(warnings(daemon).length, 1, name);
    t.match(await told(), [status], name);
    t.equal((await told()).length, 1, name);
    runner.on('/api/generate', 9).say(' + 1;');
    t.ok(await ask(daemon, { line: 0, character: 16 }), `${name}: it works again`);
    t.match((await told()).at(-1), { state: 'online', kind: 'ok' }, name);
    fail(runner, 0);
  }
});

t.test('a failure after a success is reported again', async (t) => {
  const { runner, daemon } = await setUp(t);
  await documentAt(daemon).open('const a = \n');
  for (const told of [1, 1, 2]) {
    if (told === 2) {
      runner.on('/api/generate').say('');
      t.equal(await ask(daemon, { line: 0, character: 10 }), null, 'nothing is suggested');
    }
    runner.on('/api/generate').failWith(500, { error: 'stopped' });
    t.equal(await ask(daemon, { line: 0, character: 10 }), null);
    t.equal(warnings(daemon).length, told);
  }
});

t.test('each kind of failure is reported once, until the settings change', async (t) => {
  const { runner, daemon } = await setUp(t);
  const told = await statuses(daemon);
  const document = documentAt(daemon);
  await document.open('const a = \n');
  let at = 10;
  const press = async (fail: () => void) => {
    await document.insert({ line: 0, character: at }, 'x');
    fail();
    at += 1;
    t.equal(await ask(daemon, { line: 0, character: at }), null);
  };
  const inTurns = async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      await press(() => runner.on('/api/generate').dieMidAnswer(1));
      await press(() => runner.on('/api/generate').failWith(500, { error: `stopped (${turn})` }));
    }
  };
  await inTurns();
  t.match(warnings(daemon), [/in the middle/, /stopped \(0\)/]);
  t.match(await told(), [{ message: /in the middle/ }, { message: /stopped \(0\)/ }]);
  const settings = { runner: { keepAlive: '1m' } };
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', { settings });
  await inTurns();
  t.equal(warnings(daemon).length, 4);
});

t.test('a runner that is down and comes back at its address', async (t) => {
  const first = await startStandIn({ models });
  const daemon = await startPair({ host: first.url, completionModel: 'filler' });
  t.teardown(daemon.close);
  const told = await statuses(daemon);
  await first.close();
  const document = documentAt(daemon);
  await document.open('const a = \n');
  for (let key = 0; key < 10; key += 1) {
    await document.insert({ line: 0, character: 10 + key }, 'x');
    t.equal(await ask(daemon, { line: 0, character: 11 + key }), null);
  }
  t.equal(warnings(daemon).length, 1, 'said once');
  const second = await startStandIn({ models, port: Number(new URL(first.url).port) });
  t.teardown(second.close);
  second.on('/api/generate', 9).say(' + 1;');
  t.ok(await ask(daemon, { line: 0, character: 20 }), 'the next key has its suggestion');
  await second.waitFor(({ path, finished }) => path === '/api/version' && finished);
  while ((await told()).length < 2);
  t.match(await told(), [{ state: 'offline' }, { state: 'online', kind: 'ok' }]);
});

t.test('keys at a runner that hangs leave one request open, and none afterwards', async (t) => {
  const { runner, daemon } = await setUp(t);
  const told = await statuses(daemon);
  const document = documentAt(daemon);
  await document.open('const a = \n');
  runner.on('/api/generate', Number.POSITIVE_INFINITY).hang();
  const isOpen = ({ path, finished, aborted }: RunnerStandIn['requests'][number]) =>
    path === '/api/generate' && !finished && !aborted;
  const answers: Promise<unknown>[] = [];
  for (let key = 0; key < 25; key += 1) {
    const seen = runner.requests.length;
    await document.insert({ line: 0, character: 10 + key }, 'x');
    answers.push(ask(daemon, { line: 0, character: 11 + key }));
    await runner.waitFor(
      (asked) => runner.requests.indexOf(asked) >= seen && isOpen(asked) && asked.body !== undefined,
    );
  }
  await document.close();
  t.strictSame(new Set(await Promise.all(answers)), new Set([null]));
  await runner.waitFor(() => !runner.requests.some(isOpen));
  t.equal(generates(runner).length, 25);
  t.strictSame(warnings(daemon), []);
  t.strictSame(await told(), []);
});

/** What the log says aloud. */
function warnings(daemon: DaemonClient): readonly string[] {
  return daemon.logs.filter(({ level }) => level !== 'info').map(({ message }) => message);
}

/** The changes of the status from now on, once all that was sent so far is here. */
async function statuses(daemon: DaemonClient): Promise<() => Promise<readonly Status[]>> {
  const settle = () => daemon.request({ method: 'runner/status' }, {});
  await settle();
  const told: Status[] = [];
  daemon.on(statusDidChange, (status) => void told.push(status));
  return async () => {
    await settle();
    return told;
  };
}

t.test('a document that is closed or renamed while a request runs', async (t) => {
  const { runner, daemon } = await setUp(t, { logLevel: 'debug' });
  const position = { line: 0, character: 10 };
  const [document, renamed] = [documentAt(daemon), documentAt(daemon, 'file:///shop/total.ts')];
  await document.open('const a = \n');
  runner.on('/api/generate').hang();
  const answer = ask(daemon, position);
  const request = await underWay(runner);
  await document.close();
  await renamed.open('const a = \n');
  t.equal(await answer, null);
  t.match(daemon.logs.at(-1), { message: 'No completion: The document was closed.' });
  await runner.waitFor((asked) => asked === request && asked.aborted);
  runner.on('/api/generate').say('one;');
  t.ok(await ask(daemon, position, { at: 'file:///shop/total.ts' }), 'its new name is a document of its own');

  const again = documentAt(daemon);
  await again.open('const b = \n');
  const seen = generates(runner).length;
  const resting = ask(daemon, position, { isTyped: true });
  await again.close();
  t.equal(await resting, null);
  t.strictSame(generates(runner).slice(seen), [], 'what is closed while the keys rest is not sent');
  t.notOk(daemon.logs.some(({ level }) => level === 'error'));
});

t.test('closing a document ends the request ahead for it', async (t) => {
  const { runner, daemon } = await setUp(t);
  const document = documentAt(daemon);
  await document.open('const a = \n');
  runner.on('/api/generate').say('one;');
  runner.on('/api/generate').hang();
  t.ok(await ask(daemon, { line: 0, character: 10 }));
  const ahead = await runner.waitFor(
    ({ body, path }) => path === '/api/generate' && JSON.stringify(body ?? '').includes('a = one;'),
  );
  await document.close();
  await runner.waitFor((asked) => asked === ahead && asked.aborted);
  await documentAt(daemon).open('const a = \n');
  runner.on('/api/generate').say('two;');
  const list = await ask(daemon, { line: 0, character: 10 });
  t.equal(list?.items[0]?.insertText, 'two;', 'what was suggested in a closed document is forgotten');
});

t.test(
  'dozens of documents and hundreds of suggestions: each is complete, and nothing stays open',
  async (t) => {
    const { runner, daemon } = await setUp(t);
    runner.on('/api/generate', Number.POSITIVE_INFINITY).say('one + two;');
    let shown = 0;
    for (let count = 0; count < 30; count += 1) {
      const at = `file:///shop/${count}.ts`;
      const document = documentAt(daemon, at);
      await document.open(`const a${count} = \n${line.repeat(20)}`);
      const start = `const a${count} = `.length;
      for (const typed of [...'one + two;'].keys()) {
        if (typed > 0)
          await document.insert({ line: 0, character: start + typed - 1 }, 'one + two'.charAt(typed - 1));
        const list = await ask(daemon, { line: 0, character: start + typed }, { at });
        if (list?.items[0]?.insertText === 'one + two;'.slice(typed)) shown += 1;
      }
      await document.close();
    }
    t.equal(shown, 300);
    t.ok(generates(runner).length <= 60, 'one request a document, and one ahead');
    const isOpen = ({ finished, aborted }: RunnerStandIn['requests'][number]) => !finished && !aborted;
    await runner.waitFor(() => !runner.requests.some(isOpen));
  },
);

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Bytes of the heap, without what nobody holds. */
function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
