import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import t from 'tap';
import type { CancellationToken, Uri } from 'vscode';
import {
  type CommitFile,
  changesIn,
  type ReadNewFile,
  type Repository,
  readNewFile,
  toCommitMessage,
  writeInto,
} from '../../client/vscode/chat/commitMessage.ts';
import { isKeptWhole, toKept } from '../../client/vscode/chat/finishedTurn.ts';
import { type AnsweringFacts, createOfferedIds, whoAnswers } from '../../client/vscode/chat/picker.ts';
import { namesCodebase, withoutCodebase, withRetryMark } from '../../client/vscode/chat/prompt.ts';
import { createRounds } from '../../client/vscode/chat/rounds.ts';
import { contextSizeOf, createTokenCounter } from '../../client/vscode/convert/contextSizes.ts';
import { DaemonKeeper } from '../../client/vscode/daemon/daemonKeeper.ts';
import { originsOf } from '../../client/vscode/daemon/servers.ts';
import { toDocsAddress } from '../../client/vscode/documents/docsTokens.ts';
import { problemOf, problemsOf, type ValueSchema } from '../../client/vscode/settingSchema.ts';
import { inEditorWords, remediesFor } from '../../client/vscode/ui/remedies.ts';
import { plain, withoutIcons } from '../../client/vscode/ui/safeText.ts';
import { cutText } from '../../protocol/base/text.ts';
import { type Advice, type AdviceCode, adviceCodes } from '../../protocol/messages/advice.ts';
import type { ChatDelta, Message } from '../../protocol/messages/chat.ts';
import { type ErrorData, type ErrorKind, errorCodes } from '../../protocol/messages/errors.ts';
import { type ChatModelResult, type Model, preferredModel } from '../../protocol/messages/models.ts';
import { handClock } from '../support/handClock.ts';
import { memoryLike } from '../support/memoryLike.ts';
import { modelLike as model, unknown, yes } from '../support/modelLike.ts';
import { isModeOf } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

t.test('which model answers @runner, and why it is not the one in the picker', async (t) => {
  const [near, other] = [
    { name: 'near', server: 'default' },
    { name: 'other', server: 'default' },
  ];
  const [gone, foreign] = [
    { id: 'gone', vendor: 'runner', name: 'gone' },
    { id: 'gpt', vendor: 'copilot', name: 'gpt' },
  ];
  const asked = (rule: ChatModelResult, facts: Omit<AnsweringFacts, 'rule'> = {}) => {
    const { model, note } = whoAnswers({ rule, preferred: near, ...facts });
    return [model?.name, ...(note ? [note.sentence, ...note.remedies.map(({ title }) => title)] : [])];
  };
  const bySetting = { model: model('near'), from: 'setting' } as const;
  const missing = { model: model('near'), from: 'loaded', missing: 'lost' } as const;
  const inPicker = { id: 'other', vendor: 'runner', name: 'other' };
  const picked = { picked: inPicker, inPicker: other };
  t.strictSame(asked(bySetting), ['near']);
  t.strictSame(asked(bySetting, { picked: { ...inPicker, name: 'near' }, inPicker: near }), ['near']);
  t.strictSame(asked(bySetting, { picked: foreign }), ['near'], 'it was chosen for @runner');
  t.match(asked(bySetting, picked), [
    'near',
    /^near answers.*runner\.chatModel.*shows other\./,
    'Let the Pi',
  ]);
  t.strictSame(asked({}, picked), ['other']);
  t.match(asked(missing, picked), [
    'other',
    /names lost, .* other answers\.$/,
    'Choose Another Model',
    /^Let/,
  ]);
  t.match(asked(missing, { picked: foreign }), ['near', /names lost, .* near answers; .* gpt\.$/, /^Choose/]);
  const gonePicked = asked({ model: model('near'), from: 'loaded' }, { picked: gone });
  t.match(gonePicked, ['near', /shows gone, which is not there any more\.$/, 'Open the Picker']);
  t.strictSame(asked({}), ['near'], 'without an answer of the daemon, the preferred one');
  t.strictSame(asked({}, { preferred: undefined }), [undefined]);
});

/** A daemon that is asked for answers, which a test publishes and ends. */
function askedDaemon() {
  let publish: (delta: ChatDelta) => void = () => undefined;
  const [ends, asked]: [(() => void)[], { readonly streamId: string }[]] = [[], []];
  const daemon = {
    onNotification: (_method: unknown, take: typeof publish) => {
      publish = take;
      return { dispose: () => undefined };
    },
    request: (_method: unknown, params: { readonly streamId: string }) => {
      asked.push(params);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
  } as unknown as Parameters<typeof createRounds>[0];
  const say = (at: number, delta: object) =>
    publish({ streamId: asked[at]?.streamId ?? '', seq: 0, ...delta } as ChatDelta);
  return { rounds: createRounds(daemon), ends, asked, say };
}

t.test('an answer for the editor has no tag of a context block', async (t) => {
  const { rounds, ends, asked } = askedDaemon();
  const answer = rounds({ model: 'plain', messages: [] }, () => undefined, {} as CancellationToken);
  ends[0]?.();
  await answer;
  t.match(asked, [{ model: 'plain', dropContextTags: true }]);
});

t.test('each round gets the deltas of its own answer, until that is over', async (t) => {
  const { rounds, ends, say } = askedDaemon();
  const got: unknown[] = [];
  const begin = (name: string) =>
    rounds(
      { model: name, messages: [] },
      (delta) => got.push([name, delta.kind === 'text' ? delta.text : delta]),
      {} as CancellationToken,
    );
  const first = begin('first');
  begin('second').catch(() => undefined);
  say(0, { kind: 'text', text: 'a' });
  say(1, { kind: 'text', text: 'b' });
  ends[0]?.();
  await first;
  say(0, { kind: 'text', text: 'late' });
  const notice = { code: 'x', message: 'It failed. Do something.', advice: adviceLike('set-token') };
  say(1, { kind: 'notice', notice });
  t.match(got, [
    ['first', 'a'],
    ['second', 'b'],
    ['second', { kind: 'notice', notice: { code: 'x', message: /Set an Access Token/ } }],
  ]);
  t.equal(got.length, 3);
});

t.test('the model that answers if the user chose none', async (t) => {
  const remote = { host: 'https://ollama.com', model: 'c' };
  const running = { expiresAt: '2026-01-01T00:00:00Z', size: 1, sizeVram: 1 };
  const cloudy = model('cloudy', { remote });
  const embedder = model('x', { running }, { completion: unknown, embedding: yes });
  const far = model('far', { server: 'box', running });
  const cases: readonly (readonly [models: readonly Model[], want: string | undefined])[] = [
    [[embedder, cloudy, model('new'), model('old')], 'new'],
    [[cloudy, model('new'), model('old', { running })], 'old'],
    [[cloudy], undefined],
    [[far, model('near')], 'near'],
    [[far], 'far'],
  ];
  for (const [models, want] of cases) t.equal(preferredModel(models)?.name, want);
});

t.test('the context size of a model', async (t) => {
  const usual = (server: string) => (server === 'box' ? 8192 : undefined);
  const remote = { host: 'https://ollama.com', model: 'c' };
  const cases = [
    {
      name: 'is what is allocated',
      context: { allocated: 4096, configured: 8192, maximum: 32_768 },
      want: 4096,
    },
    { name: 'else what is configured', context: { configured: 8192, maximum: 32_768 }, want: 8192 },
    { name: 'else what its server gives', context: { maximum: 32_768 }, server: 'box', want: 8192 },
    { name: 'no more than it was made for', context: { maximum: 2048 }, server: 'box', want: 2048 },
    { name: 'else modest', context: { maximum: 131_072 }, want: 32_768 },
    { name: 'nothing is known', context: {}, want: 32_768 },
    { name: 'elsewhere it is whole', context: { maximum: 131_072 }, remote, server: 'box', want: 131_072 },
    {
      name: 'as asked for',
      context: { allocated: 4096, maximum: 32_768 },
      contextLength: 16_384,
      want: 16_384,
    },
    { name: 'asked for too much', context: { maximum: 32_768 }, contextLength: 65_536, want: 32_768 },
  ];
  for (const { name, want, contextLength = 0, ...parts } of cases)
    t.equal(contextSizeOf(model('x', parts), { contextLength, usual }), want, name);
});

t.test('the messages of a turn are kept if it used tools, small enough to be written to disk', async (t) => {
  const call = { id: 'a', name: 'f', arguments: {} };
  const asked: Message = { role: 'assistant', content: '', thinking: 'hm', toolCalls: [call] };
  const done: Message = { role: 'tool', content: 'x'.repeat(20_001), toolCallId: 'a' };
  t.equal(toKept([{ role: 'assistant', content: 'Hi.' }]), undefined, 'the editor has the text itself');
  t.strictSame(toKept([asked, done, { ...asked, content: 'So.', images: ['AAAA'] }]), [
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', content: `${'x'.repeat(20_000)} (cut)`, toolCallId: 'a' },
    { role: 'assistant', content: 'So.' },
  ]);
  const whole = { ...done, content: 'x'.repeat(20_000) };
  t.strictSame(toKept([whole]), [whole]);
  t.strictSame(
    [undefined, '', whole.content, done.content].map(isKeptWhole),
    [false, true, true, false],
    'so is what was sent in place of the words',
  );
});

t.test('the ids of the picker outlive an uninstalled extension', async (t) => {
  const folder = join(await temporaryFolder(t), 'state', 'runner');
  const kept = memoryLike();
  const ids = createOfferedIds(kept, folder);
  t.strictSame(ids.last, []);
  await ids.keep(['a', 'box/b']);
  t.strictSame(ids.last, ['a', 'box/b']);
  t.strictSame(createOfferedIds(memoryLike(), folder).last, ['a', 'box/b'], 'the editor has forgotten them');
  const path = join(folder, 'vscodeModels.json');
  t.ok(isModeOf(path, 0o600));
  t.ok(isModeOf(folder, 0o700));
  for (const text of ['{"ids":', '[]', '{"ids":"a"}', 'null', '']) {
    await writeFile(path, text);
    t.strictSame(createOfferedIds(memoryLike(), folder).last, [], text);
  }
  await writeFile(path, '{"ids":["c",1]}');
  t.strictSame(createOfferedIds(memoryLike(), folder).last, ['c']);
  t.strictSame(createOfferedIds(kept, folder).last, ['a', 'box/b'], "the editor's own memory comes first");
});

t.test("the token estimate is corrected by the runner's counts", async (t) => {
  const counter = createTokenCounter();
  t.equal(counter.count('m', 'x'.repeat(400)), 100);
  counter.learn('m', 3_000, { promptTokens: 1_500, completionTokens: 1 });
  t.equal(counter.count('m', 'x'.repeat(400)), 200);
  t.equal(counter.count('other', 'x'.repeat(400)), 100);
  counter.learn('m', 100_000, { promptTokens: 60, completionTokens: 1 });
  t.equal(counter.count('m', 'x'.repeat(400)), 106, 'a prompt that the runner had is bounded');
});

t.test('the origins of the servers in the settings', async (t) => {
  const servers = [
    { name: 'box', url: 'https://box:8443/prefix' },
    { name: 'bare', url: '192.168.1.5' },
    { name: 'wrong', url: 'ftp://box' },
  ];
  t.strictSame(
    [...originsOf({ host: 'http://127.0.0.1:11434/x', servers }, 'elsewhere:1')],
    [
      ['default', 'http://127.0.0.1:11434'],
      ['box', 'https://box:8443'],
      ['bare', 'http://192.168.1.5:11434'],
    ],
  );
  t.equal(originsOf({}, '').get('default'), 'http://127.0.0.1:11434');
  t.equal(
    originsOf({}, 'box:1234').get('default'),
    'http://box:1234',
    'OLLAMA_HOST holds where nothing is set',
  );
  t.equal(originsOf({ host: 'localhost:41329' }, 'box').get('default'), 'http://localhost:41329');
  const odd = [null, 1, { name: 'x' }] as never;
  t.strictSame([...originsOf({ servers: odd }, '').keys()], ['default'], 'settings may say anything');
});

t.test("a server's sentence cannot become a link in a notification", async (t) => {
  t.equal(plain('See [this](command:x) now.'), 'See [this] (command:x) now.');
});

function manifest(): {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
} {
  return JSON.parse(readFileSync('package.json', 'utf8'));
}

/** What a keeper of daemons reports while these steps happen to it; `end 0` is the end of the first daemon. */
async function keep(steps: string) {
  const clock = handClock();
  const starts: Record<'start' | 'fail' | 'end', () => void>[] = [];
  const seen: string[] = [];
  const keeper = new DaemonKeeper<string>({
    start: (onDidEnd) => {
      const name = `d${starts.length + 1}`;
      return new Promise((resolve, reject) => {
        starts.push({ start: () => resolve(name), fail: () => reject(new Error(name)), end: onDidEnd });
      });
    },
    stop: async (daemon) => void seen.push(`stop ${daemon}`),
    onDidStart: () => seen.push('started'),
    onDidFail: (error) => seen.push(`failed ${error instanceof Error ? error.message : ''}`),
    onDidWait: (milliseconds) => seen.push(`wait ${milliseconds}`),
    clock,
  });
  const waiting: string[] = [];
  const does: Readonly<Record<string, () => unknown>> = {
    turn: () => clock.turn(),
    minute: () => clock.pass(60_000),
    now: () => seen.push(keeper.startNow() ? 'now' : 'not now'),
    leave: () => keeper.dispose(),
    ask: () =>
      void keeper.daemon.then(
        (name) => waiting.push(name),
        ({ message }) => waiting.push(message),
      ),
    running: () => seen.push(keeper.running ?? 'none'),
  };
  const settled = () => new Promise(setImmediate);
  await settled();
  for (const step of steps.split(', ')) {
    const [what = '', index = starts.length - 1] = step.split(' ');
    const run = does[what] ?? starts[Number(index)]?.[what as 'start' | 'fail' | 'end'];
    run?.();
    await settled();
  }
  return [...seen, ...(clock.next === undefined ? ['nothing waits'] : []), ...waiting].join(', ');
}

t.test(
  'a daemon that ends is restarted after growing waits, and callers wait for the next one',
  async (t) => {
    const cases: readonly (readonly [steps: string, want: string])[] = [
      [
        'running, start, running, end, running, ask, turn, start, end 0, running',
        'none, started, d1, wait 250, none, started, d2, nothing waits, d2',
      ],
      // One that lived a minute begins anew.
      [
        'start, end, turn, start, end, turn, start, minute, end',
        'started, wait 250, started, wait 1000, started, wait 250',
      ],
      // A daemon that does not start keeps no caller waiting, nor while it is tried again.
      ['now, fail, ask, turn, ask', 'not now, failed d1, wait 250, nothing waits, d1, d1'],
      // It starts at once when asked to, and not once more later.
      [
        'fail, turn, fail, now, start, ask',
        'failed d1, wait 250, failed d2, wait 1000, now, started, nothing waits, d3',
      ],
      ['start, now, end', 'started, not now, wait 250'],
      [
        Array(7).fill('fail, turn').join(', '),
        [250, 1_000, 4_000, 15_000, 60_000, 60_000, 60_000]
          .map((wait, index) => `failed d${index + 1}, wait ${wait}`)
          .concat('nothing waits')
          .join(', '),
      ],
      // It ends with the window, once.
      ['start, leave, running, leave, ask', 'started, stop d1, none, nothing waits, Runner is shut down.'],
      ['start, end, leave', 'started, wait 250, nothing waits'],
      ['leave, start', 'stop d1, nothing waits'],
    ];
    for (const [steps, want] of cases) t.equal(await keep(steps), want, steps);
  },
);

t.test('a setting of the wrong type is recognised by the schema in the manifest', async (t) => {
  const { contributes } = JSON.parse(readFileSync('package.json', 'utf8'));
  const schemas: Readonly<Record<string, ValueSchema>> = contributes.configuration.properties;
  const cases: readonly (readonly [key: string, value: unknown, want: boolean])[] = [
    ['host', 5, false],
    ['keepAlive', 5, true],
    ['keepAlive', true, false],
    ['contextLength', 0.5, false],
    ['timeouts', { list: '5' }, false],
    ['exclude', ['a', 1], false],
    ['servers', [{ name: 'a', url: 'b' }], true],
    ['servers', [{ name: 'a' }], false],
  ];
  for (const [key, value, want] of cases)
    t.equal(
      problemOf(value, schemas[`runner.${key}`]) === undefined,
      want,
      `${key}: ${JSON.stringify(value)}`,
    );
  const box = { name: 'box', url: 'http://box' };
  const problems = [
    ['servers', [box, { name: 'gone', host: 'x' }], ['[1]: url is missing']],
    ['exclude', ['a', 7], ['[1]: it is not of the type string']],
    ['contextLength', -1, [': it is less than 0']],
    ['tools', [], []],
  ] as const;
  for (const [key, value, want] of problems)
    t.strictSame(problemsOf(value, schemas[`runner.${key}`]), want, `${key}: ${JSON.stringify(value)}`);
});

/** As the daemon sends it, with generic words. */
function adviceLike(code: AdviceCode): Advice {
  return { code, problem: 'It failed.', text: 'Do something.' };
}

t.test('what mends a failure is a command of the manifest, and advice counts before the kind', async (t) => {
  const known = new Set(manifest().contributes.commands.map(({ command }) => command));
  const failures: readonly ErrorData[] = [
    ...(Object.keys(errorCodes) as ErrorKind[]).map((kind) => ({ kind, retryable: false })),
    ...adviceCodes.map((code) => ({ kind: 'busy' as const, retryable: true, advice: adviceLike(code) })),
  ];
  for (const failure of failures)
    for (const { command } of remediesFor(failure)) t.ok(known.has(command), JSON.stringify(failure));
  t.match(remediesFor(undefined), [{ title: 'Show Log' }], 'a mistake of ours');
  const titles = (failure: Omit<ErrorData, 'retryable'>) =>
    remediesFor({ retryable: false, ...failure }).map(({ title, arguments: given = [] }) =>
      [title, ...given].join(' '),
    );
  const start = adviceLike('start-runner');
  const unreachable = { kind: 'server-unreachable', advice: start } as const;
  t.strictSame(titles({ ...unreachable, server: 'box' }), ['Set Address box', 'What Is Wrong?']);
  const here = ['Start a Model Here', 'Set Address default', 'What Is Wrong?'];
  t.strictSame(titles({ ...unreachable, server: 'default' }), here);
  const full = { ...adviceLike('shorten-prompt'), contextLength: 0 };
  t.strictSame(titles({ kind: 'context-exceeded', advice: full }), [], 'no larger window is possible');
  const newer = { ...start, code: 'of-a-newer-daemon' as AdviceCode };
  t.strictSame(titles({ ...unreachable, advice: newer }), ['Set Address'], 'falls back to the kind');
  t.equal(inEditorWords({ message: 'It failed.', advice: newer }), 'It failed.');
});

t.test('the address of the document service', async (t) => {
  const cases: readonly (readonly [text: string, want: object])[] = [
    [' ', { kind: 'none' }],
    ...['', '/', '/mcp', '/mcp/'].map(
      (end) => [` https://d.example${end} `, { kind: 'set', origin: 'https://d.example' }] as const,
    ),
    ['http://127.0.0.1:4000', { kind: 'set', origin: 'http://127.0.0.1:4000' }],
    ['docs.example', { kind: 'wrong', message: /such as http:\/\/127\.0\.0\.1:4000, not "docs\.example"/ }],
    ['ftp://d.example', { kind: 'wrong', message: /such as http:/ }],
    ['https://me@d.example', { kind: 'wrong', message: /must not contain a user/ }],
    ...['/docs', '/mcp/x', '?a', '/#'].map(
      (end) =>
        [
          `https://d.example${end}`,
          { kind: 'wrong', message: /such as https:\/\/d\.example, without/ },
        ] as const,
    ),
    ['http://d.example', { kind: 'wrong', message: /must begin with https.* Set https:\/\/d\.example,/ }],
  ];
  for (const [text, want] of cases) t.match(toDocsAddress(text), want, JSON.stringify(text));
});

t.test('commit messages are taken out of what models make of them', async (t) => {
  const cases = [
    [' Add a test\n', 'Add a test'],
    ['```\nAdd a test\n\nIt was missing.\n```', 'Add a test\n\nIt was missing.'],
    ['```text\nAdd a test```', 'Add a test'],
    [' ```\nAdd a test\n``` ', 'Add a test'],
    ['```\n\n Add a test\n\n```', 'Add a test'],
    ['"Add a test"', 'Add a test'],
    ['Use "a" and "b"', 'Use "a" and "b"'],
  ] as const;
  for (const [answer, want] of cases) t.equal(toCommitMessage(answer), want, answer);
});

t.test(
  'a commit message is shown while it is written; without one, the box gets its text back',
  async (t) => {
    const cases = [
      { name: 'a whole one', texts: ['```\nMend', ' it\n```'], want: 'Mend it' },
      { name: 'an error', texts: ['Me'], error: new Error('It stopped.'), want: 'typed' },
      { name: 'cancelled with an error', texts: ['Me'], cancel: true, error: new Error('x'), want: 'typed' },
      { name: 'cancelled with half an answer', texts: ['Me'], cancel: true, want: 'typed' },
      { name: 'nothing', texts: [], want: 'typed' },
      { name: 'an empty code block', texts: ['```\n', '```'], want: 'typed' },
    ];
    for (const { name, texts, cancel = false, error, want } of cases) {
      const box = { value: 'typed' };
      const token = { isCancellationRequested: false };
      const writing = writeInto(
        box,
        async (take) => {
          for (const text of texts) take({ streamId: 's', seq: 0, kind: 'text', text });
          t.equal(box.value === 'typed', texts.length === 0, `${name} is shown as it comes`);
          token.isCancellationRequested = cancel;
          take({ streamId: 's', seq: 0, kind: 'thinking', text: 'hm' });
          if (error) throw error;
        },
        token,
      );
      if (error && !cancel) await t.rejects(writing, error, name);
      else await writing;
      t.equal(box.value, want, name);
    }
  },
);

t.test(
  'the request for a commit message has the changes file by file, with all of their names',
  async (t) => {
    const uriOf = (path: string) => ({ path, toString: () => `file://${path}` }) as Uri;
    const change = (path: string, status = 5): CommitFile => {
      const uri = uriOf(`/repo/${path}`);
      return { uri, originalUri: uri, renameUri: undefined, status };
    };
    const changesOf = async (
      state: Partial<Repository['state']>,
      diff = async (path: string) => `of ${path}`,
      ...readNewFile: readonly ReadNewFile[]
    ) => {
      const none = { indexChanges: [], mergeChanges: [], workingTreeChanges: [], untrackedChanges: [] };
      const asked = (where: string) => async (path: string) => {
        const text = await diff(path);
        return text && `${where} ${text}`;
      };
      const repository = {
        ...{ rootUri: uriOf('/repo'), inputBox: { value: '' }, state: none as Repository['state'] },
        // The state is old until then.
        status: async () => {
          await new Promise(setImmediate);
          repository.state = { ...none, ...state };
        },
        ...{ diffIndexWithHEAD: asked('staged'), diffWithHEAD: asked('changed') },
      };
      return changesIn(repository, ...readNewFile);
    };
    const [mergeChanges, untrackedChanges] = [[change('both.ts', 18)], [change('sub/new.ts', 7)]];
    const workingTreeChanges = [change('a[b]*.ts')];
    const other = { language: 'diff', automatic: true };
    t.strictSame(await changesOf({}), []);
    t.strictSame(await changesOf({ mergeChanges, workingTreeChanges, untrackedChanges }), [
      { path: 'both.ts', text: 'changed of :(literal)both.ts', uris: ['file:///repo/both.ts'], ...other },
      { path: 'a[b]*.ts', text: 'changed of :(literal)a[b]*.ts', uris: ['file:///repo/a[b]*.ts'], ...other },
      { path: 'sub/new.ts', text: '(a new file)', uris: ['file:///repo/sub/new.ts'], ...other },
    ]);
    const renamed = {
      ...change('b.txt', 3),
      originalUri: uriOf('/repo/.env'),
      renameUri: uriOf('/repo/c.txt'),
    };
    t.match(
      await changesOf({ indexChanges: [renamed], workingTreeChanges }),
      [
        {
          ...{ path: 'b.txt', text: /^\(renamed from \.env; .*\)\nstaged of :\(literal\)b\.txt$/ },
          uris: ['file:///repo/b.txt', 'file:///repo/.env', 'file:///repo/c.txt'],
        },
      ],
      'all of its names, so that a private one is noticed',
    );
    const textOfNew = async (text: string | undefined) =>
      (await changesOf({ untrackedChanges }, undefined, async () => text))[0]?.text;
    t.equal(await textOfNew('export {};\n'), '(a new file)\nexport {};\n');
    t.equal(await textOfNew(undefined), '(a new file)', 'it is no text');
    t.match(await textOfNew('x'.repeat(5_000)), /^\(a new file\)\nx{4000}\n\(cut\)$/);
    const files = (type: number, size = 4) => ({
      stat: async () => ({ type, size, ctime: 0, mtime: 0 }),
      readFile: async () => new TextEncoder().encode('text'),
    });
    for (const [type, size, want] of [
      [1, 1_000_000, 'text'],
      [1, 1_000_001, undefined],
      [2, 4, undefined],
      [1 | 64, 4, undefined],
    ] as const)
      t.equal(await readNewFile(files(type, size), uriOf('/repo/new.ts')), want, 'a link may lead anywhere');
    const indexChanges = Array.from({ length: 300 }, (_, index) => change(`${index}.ts`));
    let read = 0;
    const parts = await changesOf({ indexChanges }, async () => {
      read += 1;
      return 'x'.repeat(10_000);
    });
    t.strictSame([parts.length, read], [200, 3], 'what a window has room for');
    t.ok(parts.reduce((sum, { text }) => sum + text.length, 0) < 30_000);
    t.match([parts[2]?.text, parts[3]?.text], [/x\n\(cut\)$/, '(changed)']);
  },
);

t.test('a text has no icons, and is cut between characters', async () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('$', '(', 'a', ')', '\\', '😀') }),
      fc.nat(9),
      (text, most) => {
        const some = cutText(text, most);
        return text.startsWith(some) && !/[\ud800-\udbff]$/.test(some) && !withoutIcons(text).includes('$(');
      },
    ),
  );
});

t.test('#codebase counts as a word of its own, also if the question is asked again', async (t) => {
  const cases: readonly [prompt: string, names: boolean, without: string][] = [
    ['#codebase where is it?', true, 'where is it?'],
    ['where is it? #Codebase', true, 'where is it?'],
    ['in #codebase, where?', true, 'in, where?'],
    ['see issue#codebase', false, 'see issue#codebase'],
    ['#codebases', false, '#codebases'],
    ['', false, ''],
  ];
  for (const [prompt, names, without] of cases) {
    t.equal(namesCodebase(prompt), names, prompt);
    t.equal(namesCodebase(withRetryMark(prompt)), names, `${prompt}, again`);
    t.equal(withoutCodebase(prompt), without);
  }
});
