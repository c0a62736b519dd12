import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type { Event, SecretStorage } from 'vscode';
import {
  createKeptChanges,
  planChanges,
  type UserSettings,
} from '../../client/vscode/chat/editorChatSettings.ts';
import { createCancelWarning, createNotices, isChat } from '../../client/vscode/chat/notices.ts';
import { isBinary, listed, toAttachment } from '../../client/vscode/chat/prompt.ts';
import { createTokenStore, needsPlainHttp, problemOfToken } from '../../client/vscode/daemon/tokenStore.ts';
import {
  adviseOnToken,
  createDocsTokens,
  fingerprintOf,
  refuses,
} from '../../client/vscode/documents/docsTokens.ts';
import { hunksOf } from '../../client/vscode/edit/hunks.ts';
import { countingValue, schemaOf } from '../../client/vscode/settingSchema.ts';
import { retryOfflineServers } from '../../client/vscode/status/offlineRetry.ts';
import type { Model } from '../../protocol/messages/models.ts';
import type { Status } from '../../protocol/messages/status.ts';
import { handClock } from '../support/handClock.ts';
import { memoryLike } from '../support/memoryLike.ts';
import { modelLike as model } from '../support/modelLike.ts';

/** What one can listen to, and what listens. */
function eventLike<T>() {
  const listeners = new Set<(value: T) => unknown>();
  const event: Event<T> = (listener) => {
    listeners.add(listener);
    return { dispose: () => void listeners.delete(listener) };
  };
  return { event, listeners, fire: (value: T) => Promise.all([...listeners].map((take) => take(value))) };
}

type Answer = (params: Record<string, unknown>) => unknown;

/** A daemon that gives these answers by the methods of requests, and fails with an error that is one. */
function daemonLike(answers: Readonly<Record<string, Answer>>) {
  const asked: unknown[] = [];
  const request = async ({ method }: { readonly method: string }, params: Record<string, unknown>) => {
    asked.push([method.replace('runner/', ''), params]);
    const answer = answers[method.replace('runner/', '')]?.(params);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, daemon: { request } as unknown as Parameters<typeof retryOfflineServers>[0]['daemon'] };
}

/** The user's settings, and the defaults of this version of the editor. */
function settingsLike(defaults: Readonly<Record<string, unknown>>, set: Record<string, unknown> = {}) {
  const settings: UserSettings = {
    inspect: (key) => (key in defaults ? { defaultValue: defaults[key], globalValue: set[key] } : undefined),
    update: async (key, value) => {
      await new Promise(setImmediate);
      set[key] = value;
    },
  };
  return { settings, set };
}

t.test("the settings for the editor's own chat", async (t) => {
  const newest = {
    'inlineChat.defaultModel': '',
    'chat.byokUtilityModelDefault': 'copilot',
    'chat.utilityModel': '',
    'chat.utilitySmallModel': '',
    'runner.contextLength': 0,
  };
  const { 'chat.byokUtilityModelDefault': _, ...older } = newest;
  const agent = model('qwen3:4b', { context: { maximum: 131_072 } });
  const planned = (defaults: object, set: Record<string, unknown>, of: Model | undefined = agent) =>
    planChanges(settingsLike({ ...defaults }, set).settings, of).map(({ key, value }) => [key, value]);
  const inline = ['inlineChat.defaultModel', 'qwen3:4b (runner)'];
  const main = ['chat.byokUtilityModelDefault', 'mainAgent'];
  const window = ['runner.contextLength', 65_536];
  t.strictSame(planned(newest, {}), [inline, main, window]);
  t.strictSame(planned(older, {}), [
    inline,
    ['chat.utilityModel', 'runner/qwen3:4b'],
    ['chat.utilitySmallModel', 'runner/qwen3:4b'],
    window,
  ]);
  const small = { 'runner.contextLength': 40_959 };
  t.strictSame(planned({ 'runner.contextLength': 0 }, small), [window], 'a task would not fit');
  t.strictSame(planned({ 'runner.contextLength': 0 }, { 'runner.contextLength': 40_960 }), []);
  const { settings, set } = settingsLike(newest, { 'runner.contextLength': 4096 });
  const kept = createKeptChanges(memoryLike(3), settings);
  t.equal(kept.isAny(), false);
  await kept.make(planChanges(settings, agent));
  t.match(set, {
    'inlineChat.defaultModel': 'qwen3:4b (runner)',
    'chat.byokUtilityModelDefault': 'mainAgent',
    'runner.contextLength': 65_536,
  });
  t.equal(kept.isAny(), true);
  set['inlineChat.defaultModel'] = 'another (runner)';
  t.strictSame(await kept.takeBack(), [main[0], window[0]], 'what the user changed since stays');
  t.match(set, {
    'inlineChat.defaultModel': 'another (runner)',
    'chat.byokUtilityModelDefault': undefined,
    'runner.contextLength': 4096,
  });
  t.equal(kept.isAny(), false);
  t.strictSame(await kept.takeBack(), [], 'once');
});

t.test('a notice is a quote where a chat shows the answer, and a notification once elsewhere', async (t) => {
  const initiators = ['core', 'GitHub.copilot-chat', 'me.mine', undefined];
  t.strictSame(initiators.map(isChat), [true, true, false, false]);
  const said: string[] = [];
  const notices = createNotices((sentence) => said.push(sentence));
  const show = (message: string, initiator?: string) =>
    notices.show({ code: 'x', message } as never, initiator);
  t.equal(show('Blind.', 'Core'), '\n\n> Blind.\n\n');
  t.equal(show('Cut.'), '\n\n> Cut.\n\n', 'an older editor does not say who asks');
  t.strictSame(said, []);
  for (const message of ['[It](x) is.', 'Deaf.', 'Deaf.']) t.equal(show(message, 'me.mine'), undefined);
  t.strictSame(said, ['[It] (x) is.', 'Deaf.']);
  const cases = [
    ['\n\n> Blind.\n\nHello.', 'Hello.'],
    ['Hello.\n\n> Blind.\n\n', 'Hello.'],
    ['> Blind. he said', '> Blind. he said'],
    ['> Deaf.\n\nHello.', '> Deaf.\n\nHello.'],
  ] as const;
  for (const [content, want] of cases)
    t.strictSame(
      notices.remove([
        { role: 'user', content },
        { role: 'assistant', content, thinking: 'hm' },
      ]),
      [
        { role: 'user', content },
        { role: 'assistant', content: want, thinking: 'hm' },
      ],
      content,
    );
});

/** The editor's secret storage. */
function secretsLike(kept = new Map<string, string>()) {
  const { event: onDidChange, fire } = eventLike<{ readonly key: string }>();
  const secrets = {
    get: async (key: string) => kept.get(key),
    store: async (key: string, value: string) => {
      if (value === 'allowed') await new Promise(setImmediate);
      kept.set(key, value);
      await fire({ key });
    },
    delete: async (key: string) => {
      kept.delete(key);
      await fire({ key });
    },
    onDidChange,
  };
  return { kept, secrets: secrets as unknown as SecretStorage };
}

t.test(
  'an access token is kept for its origin, with the permission to send it over plain http',
  async (t) => {
    const { kept, secrets } = secretsLike(new Map([['runner.docsToken http://box', 'other']]));
    const store = createTokenStore(secrets);
    const lines: unknown[] = [];
    const listening = store.onDidChange((line) => lines.push(line));
    const [box, far] = ['http://box', 'https://far'];
    await store.set(box, 'abc', { allowPlainHttp: true });
    await store.set(far, 'def', {});
    const [boxLine, farLine] = [
      { origin: box, secret: 'abc', allowPlainHttp: true },
      { origin: far, secret: 'def' },
    ];
    t.strictSame(lines.splice(0), [boxLine, farLine], 'the permission is there once the token is');
    t.strictSame(await store.linesFor([far, 'http://none', box]), [farLine, boxLine]);
    await store.set(box, 'ghi', { allowPlainHttp: false });
    t.strictSame(lines.splice(0), [{ origin: box, secret: 'ghi' }], 'a new token needs a new permission');
    await store.clear(box);
    t.strictSame(lines.splice(0), [{ origin: box, secret: null }]);
    t.strictSame([...kept.keys()], ['runner.docsToken http://box', 'runner.token https://far']);
    t.strictSame(await store.linesFor([box]), []);
    listening.dispose();
    await store.clear(far);
    t.strictSame(lines, []);
    for (const [text, isGood] of [
      [' abc ', true],
      ['!~', true],
      ['', true],
      ['a b', false],
      ['me:a word', true],
      ['me too:word', false],
      ['ä', false],
      ['a\u007f', false],
    ] as const)
      t.equal(problemOfToken(text), isGood ? undefined : 'A token has no spaces.', JSON.stringify(text));
    for (const [origin, needs] of [
      ['http://box', true],
      ['http://127.0.0.1:1', false],
      ['http://localhost', false],
      ['https://box', false],
    ] as const)
      t.equal(needsPlainHttp(origin), needs, origin);
  },
);

t.test(
  'a token of a document service is kept for its origin alone, and its form is remarked on',
  async (t) => {
    const { kept, secrets } = secretsLike(new Map([['runner.token https://d', 'other']]));
    const tokens = createDocsTokens(secrets);
    let changes = 0;
    tokens.onDidChange(() => {
      changes += 1;
    });
    t.equal(await tokens.get('https://d'), undefined);
    await tokens.set('https://d', 'rdocs_a');
    await tokens.set('https://e', 'rdocs_b');
    t.strictSame([await tokens.get('https://d'), await tokens.get('https://e')], ['rdocs_a', 'rdocs_b']);
    await secrets.store('runner.token https://d', 'another');
    t.equal(changes, 2, 'the tokens of runners are none of its business');
    await tokens.clear('https://d');
    t.strictSame([await tokens.get('https://d'), changes], [undefined, 3]);
    t.strictSame([...kept.keys()], ['runner.token https://d', 'runner.docsToken https://e']);
    t.equal(fingerprintOf(undefined), 'no token');
    t.match(fingerprintOf('rdocs_a'), /^[0-9a-f]{8}$/);
    t.not(fingerprintOf('rdocs_a'), fingerprintOf('rdocs_b'));
    const cases: readonly (readonly [text: string, severity: number | undefined])[] = [
      ['rd', undefined],
      [' rdocs_abc ', undefined],
      ['my_rdocs_', 2],
      ['rdocs_a b', 3],
      ['Bearer rdocs_a', 3],
      ['rdocs_ä', 3],
    ];
    for (const [text, severity] of cases) t.equal(adviseOnToken(text)?.severity, severity, text);
  },
);

t.test('a document service refuses a token only where it says so itself', async (t) => {
  const asked: unknown[] = [];
  let [status, headers]: [number, Record<string, string>] = [200, {}];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url } = request;
      const { authorization, accept, 'content-type': type } = request.headers;
      const body = JSON.parse(Buffer.concat(chunks).toString());
      asked.push({ method, url, authorization, accept, type, body });
      response.writeHead(status, headers).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [answered, more, want] of [
    [200, {}, false],
    [401, {}, true],
    [403, {}, false],
    [500, {}, false],
    [302, { location: `${origin}/elsewhere` }, false],
  ] as const) {
    [status, headers] = [answered, more];
    t.equal(await refuses(origin, 'rdocs_a'), want, String(answered));
  }
  const ping = {
    ...{ method: 'POST', url: '/mcp', authorization: 'Bearer rdocs_a', type: 'application/json' },
    accept: 'application/json, text/event-stream',
    body: { jsonrpc: '2.0', id: 1, method: 'ping' },
  };
  t.strictSame(asked, Array(5).fill(ping), 'no redirect is followed');
  await new Promise((resolve) => server.close(resolve));
  t.equal(await refuses(origin, 'rdocs_a'), false, 'nothing answers there');
});

t.test('the changes that turn lines into others, as small as they can be', async (t) => {
  const cases = [
    ['a b c', 'a b c', []],
    ['a b c', 'a x c', [[1, 2, 'x']]],
    ['a b c', 'a c', [[1, 2, '']]],
    [
      'a b c d e',
      'x b c e y',
      [
        [0, 1, 'x'],
        [3, 4, ''],
        [5, 5, 'y'],
      ],
    ],
    ['a', '', [[0, 1, '']]],
  ] as const;
  const split = (text: string) => text.split(' ').filter(Boolean);
  for (const [before, after, want] of cases) {
    const hunks = hunksOf(split(before), split(after));
    t.strictSame(
      hunks.map(({ start, end, lines }) => [start, end, lines.join(' ')]),
      want,
      `${before} > ${after}`,
    );
  }
  const long = Array.from({ length: 2_001 }, (_, at) => `${at}`);
  t.equal(hunksOf(long, [...long, 'x']).length, 1, 'what would take long is one change');
});

t.test('the value of a setting that counts', async (t) => {
  const schema = { type: 'integer', minimum: 0 } as const;
  const source = { defaultValue: 0, schema, isTrusted: true };
  const cases: readonly (readonly [
    name: string,
    merged: unknown,
    more: Partial<Parameters<typeof countingValue>[1]>,
    want: unknown,
  ])[] = [
    ['the default', 0, {}, null],
    ["the user's", 5, { globalValue: 5 }, 5],
    ['one of the wrong type', '5', { globalValue: '5' }, null],
    ["the workspace's", 7, { globalValue: 5, workspaceValue: 7 }, 7],
    ['beside an untrusted workspace', 7, { globalValue: 5, workspaceValue: 7, isTrusted: false }, 5],
    ['only of an untrusted workspace', 7, { workspaceValue: 7, isTrusted: false }, null],
    ["the user's in an untrusted workspace", 5, { globalValue: 5, isTrusted: false }, 5],
    ['the good entries of a list', ['a', 1], { schema: { type: 'array', items: { type: 'string' } } }, ['a']],
  ];
  for (const [name, merged, more, want] of cases)
    t.strictSame(countingValue(merged, { ...source, ...more }), want, name);
  const schemas = {
    'runner.host': { type: 'string' },
    'runner.engine.keepRunning': { type: 'boolean' },
    'runner.engine.path': { type: 'string' },
    'runner.engineer': { type: 'array' },
    'other.runner.host.x': { type: 'null' },
  };
  t.strictSame(schemaOf(schemas, 'runner.host'), { type: 'string' });
  t.equal(schemaOf(schemas, 'runner.none'), undefined);
  t.strictSame(schemaOf(schemas, 'runner.engine'), {
    type: 'object',
    properties: { keepRunning: { type: 'boolean' }, path: { type: 'string' } },
  });
});

t.test('a runner that is down is tried again, while the window has the focus', async (t) => {
  const clock = handClock();
  const [changed, focus] = [eventLike<void>(), eventLike<{ readonly focused: boolean }>()];
  const states: Record<string, Status['state'] | Error> = { a: 'offline', b: new Error('x') };
  const { asked, daemon } = daemonLike({
    status: ({ server }) => {
      const state = states[String(server)];
      return state instanceof Error ? state : { state };
    },
  });
  const failures = new Map<string, { readonly sentence: string }>();
  const window = { state: { focused: true }, onDidChangeWindowState: focus.event };
  let refreshed = 0;
  const offered = {
    failures,
    onDidChange: changed.event,
    refresh: async () => {
      refreshed += 1;
      await changed.fire();
    },
  };
  const retrying = retryOfflineServers({ daemon, offered, clock, window: window as never });
  const turn = async () => {
    clock.turn();
    for (let ticks = 0; ticks < 5; ticks += 1) await new Promise(setImmediate);
  };
  await changed.fire();
  t.equal(clock.next, undefined, 'all models are known');
  failures.set('a', { sentence: '' }).set('b', { sentence: '' });
  await changed.fire();
  t.equal(clock.next, 3_000);
  clock.pass(1_000);
  await changed.fire();
  t.equal(clock.next, 2_000, 'news of it puts nothing off');
  const waits: unknown[] = [];
  for (let tries = 0; tries < 6; tries += 1) {
    await turn();
    waits.push(clock.next);
  }
  t.strictSame(waits, [6_000, 12_000, 24_000, 48_000, 60_000, 60_000]);
  t.strictSame(asked.splice(0, 2), [
    ['status', { server: 'a' }],
    ['status', { server: 'b' }],
  ]);
  t.equal(refreshed, 0);
  window.state.focused = false;
  await turn();
  t.equal(clock.next, undefined);
  window.state.focused = true;
  await focus.fire({ focused: true });
  t.equal(clock.next, 3_000, 'the waits begin anew');
  states['a'] = 'busy';
  await turn();
  t.strictSame([refreshed, clock.next], [1, 6_000], 'b is down still');
  clock.turn();
  retrying.dispose();
  await turn();
  t.equal(clock.next, undefined, 'no try is left, also where it ended while it asked');
  t.strictSame([changed.listeners.size, focus.listeners.size], [0, 0]);
});

t.test('an attachment has at most so many characters, and a folder so many names', async (t) => {
  const [fits, long] = ['x'.repeat(100_000), 'x'.repeat(100_001)];
  t.strictSame(toAttachment('a.ts', fits), { path: 'a.ts', text: fits });
  t.strictSame(toAttachment('a.ts', long), { path: 'a.ts', text: `${fits}\n(cut)` });
  t.equal(listed(['b', 'a/', 'C']), 'C\na/\nb');
  t.equal(listed([]), '');
  const names = Array.from({ length: 502 }, (_, index) => String(1_000 + index));
  t.equal(listed(names.slice(0, 500)), names.slice(0, 500).join('\n'));
  t.equal(listed(names.toReversed()), [...names.slice(0, 500), '(2 more)'].join('\n'));
  for (const [text, is] of [
    ['text', false],
    ['', false],
    ['\0', true],
    [`${'x'.repeat(8_191)}\0`, true],
    [`${'x'.repeat(8_192)}\0`, false],
  ] as const)
    t.equal(isBinary(text), is, String(text.length));
});

t.test('an editor that may lose a cancel says so once, also in the next window', async (t) => {
  for (const [version, want] of [
    ['1.127.0', 0],
    ['2.0.0-insider', 0],
    ['1.126.2', 1],
    ['0.200.0', 1],
  ] as const) {
    const [memory, said] = [memoryLike(), [] as string[]];
    for (const _window of [1, 2]) createCancelWarning({ version, memory, show: (text) => said.push(text) })();
    t.equal(said.length, want, version);
  }
});
