import t from 'tap';
import { describeAnswer } from '../../client/vscode/chat/finishedTurn.ts';
import { toPickerEntries } from '../../client/vscode/chat/pickerEntries.ts';
import { largestOf, windowChoices } from '../../client/vscode/chat/windowChoices.ts';
import { describeContext } from '../../client/vscode/convert/contextSizes.ts';
import { describeServers, inShort } from '../../client/vscode/convert/failure.ts';
import { createKnownServers, rowContext } from '../../client/vscode/daemon/knownServers.ts';
import { createContextPresets, styles, toModelfile } from '../../client/vscode/modelfile/modelfileContent.ts';
import { describeChoice, detailsOf } from '../../client/vscode/models/modelDescriptions.ts';
import { describeNeed } from '../../client/vscode/models/pullChoices.ts';
import { adviseOnChat, adviseOnCompletion, adviseOnModels } from '../../client/vscode/status/doctorAdvice.ts';
import { inEditorWords, remediesFor, withTryAgain } from '../../client/vscode/ui/remedies.ts';
import {
  countCapabilities,
  describeFilter,
  filterRows,
  isFilterOn,
  noFilter,
  type RowFilter,
} from '../../client/vscode/views/filter.ts';
import {
  catalogRow,
  describePull,
  describeRow,
  endsOf,
  localRow,
  runningRow,
  timeLeft,
  toRowName,
} from '../../client/vscode/views/modelRows.ts';
import { describeServer, groupByFamily, toServerNodes } from '../../client/vscode/views/treeNodes.ts';
import { formatBytes } from '../../protocol/base/bytes.ts';
import { adviceCodes } from '../../protocol/messages/advice.ts';
import { type ErrorData, errorCodes } from '../../protocol/messages/errors.ts';
import type { Model } from '../../protocol/messages/models.ts';
import { golden } from '../support/golden.ts';
import { modelLike as model, no, unknown, yes } from '../support/modelLike.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const running = { expiresAt: '2026-11-21T12:04:30Z', size: 4e9, sizeVram: 3e9 };

t.test('rows are grouped by family, and a family of one is no folder', async (t) => {
  const rows = ['a', 'b', 'a', 'c'].map((family, index) => ({ family, index }));
  t.strictSame(groupByFamily(rows), [{ family: 'a', rows: [rows[0], rows[2]] }, rows[1], rows[3]]);
  t.strictSame(groupByFamily([]), []);
});

t.test('the texts of a local row', async (t) => {
  const able = model('a', { size: 2.5e9 }, { tools: yes, thinking: { value: true, from: 'name' } });
  t.match(localRow(able), {
    model: 'a',
    size: '2.5 GB',
    description: 'tools thinking?',
    context: 'local',
    capabilities: ['completion', 'tools', 'thinking'],
  });
  t.equal(describeRow(localRow(able), now).label, 'a, 2.5 GB, calls tools, maybe thinks, not loaded');
  const whole = localRow(
    model(
      'a',
      {},
      { tools: yes, vision: yes, thinking: yes, insert: yes, embedding: { value: true, from: 'name' } },
    ),
  );
  t.match(whole, {
    description: 'tools vision thinking insert embed?',
    spoken: 'calls tools, sees images, thinks, fills in code, maybe embeds, not loaded',
  });
  t.match(
    whole.tooltip,
    /\n- Can: chat, tools, vision, thinking, insert \\\(as the server says\\\); embed \\\(by its name\\\)$/,
  );
  const far = model('far', { size: 400, remote: { host: 'https://x', model: 'far' } });
  t.match(localRow(far), { size: 'remote', spoken: 'runs elsewhere, not loaded', icon: 'cloud' });
  t.notMatch(localRow(far).tooltip, /Size/);
  t.match(localRow(model('a', { running })), { context: 'loaded', icon: 'circle-filled' });
  t.equal(describeRow(localRow(model('a', { running })), now).description, 'loaded');
  const loading = localRow(
    model('a', { loading: { percent: 41.6 }, context: { allocated: 4096, from: 'observed' } }),
  );
  t.match(loading, { description: 'loading, 42 %', icon: 'loading~spin', spoken: 'loading, 42 %' });
  t.match(loading.tooltip, /Window: 4,096 tokens, as observed\n- Can: chat \\\(as the server says\\\)/);
  const name = 'hf.co/owner/Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_M';
  const long = localRow(model(name, { server: 'box', size: 1e9, running }));
  t.match(long, { server: 'box', spoken: '1.0 GB, loaded' });
  t.equal(describeRow(long, now).description, '1.0 GB · loaded · hf.co/owner', 'its size comes first');
  const labels = [
    [name, 'Qwen3-30B-A3B-Instru…:Q4_K_M', 'hf.co/owner'],
    [name.replace('Q4_K_M', 'Q8_0'), 'Qwen3-30B-A3B-Instruct…:Q8_0', 'hf.co/owner'],
    ['llama3.1:8b-instruct-q4_K_M', 'llama3.1:8b-instruct-q4_K_M', ''],
    ['llama3.1:70b-instruct-q4_K_M', 'llama3.1:70b-instruct-q4_K_M', ''],
    ['qwen2.5-coder:32b-instruct-q4_K_M', 'qwen2.5-coder…nstruct-q4_K_M', ''],
    ['a/a-model-with-a-long-name-and-no-tag', 'a-model-with-…ame-and-no-tag', 'a'],
    [`${'n'.repeat(20)}:${'t'.repeat(13)}`, `${'n'.repeat(13)}…:${'t'.repeat(13)}`, ''],
    [`${'n'.repeat(20)}:${'t'.repeat(14)}`, `${'n'.repeat(13)}…${'t'.repeat(14)}`, ''],
    ['/a', 'a', ''],
  ] as const;
  for (const [whole, label, path] of labels)
    t.strictSame(toRowName(whole), { label, path }, 'the end, by which variants differ, is not cut');
  t.match(long.tooltip, /^\*\*hf\.co\/owner\/Qwen3[\s\S]*- Size: 1\.0 GB/);
});

t.test('the texts of a pull row', async (t) => {
  const name = 'hf.co/owner/Qwen3-30B-GGUF:Q4_K_M';
  const pull = { model: name, server: 'default', percentage: undefined, message: '' };
  t.strictSame(describePull(pull), {
    description: 'pulling · hf.co/owner',
    tooltip: `Pulling ${name}`,
    label: `${name} is being pulled`,
  });
  t.match(describePull({ ...pull, model: 'q', server: 'box', percentage: 7, message: 'Checking' }), {
    description: '7 % · box',
    tooltip: 'q: Checking',
    label: 'q is being pulled, 7 percent',
  });
});

t.test('the texts of a loaded row at a given time', async (t) => {
  const row = runningRow(model('a', { running, context: { allocated: 8192 } }, { tools: yes }));
  t.strictSame(describeRow(row, now), {
    description: '4.0 GB · 5 min left · 75 % GPU · 8,192 tokens',
    label:
      'a, 4.0 GB of memory, 75 percent of it on the GPU, a window of 8,192 tokens, calls tools, loaded, 5 min left',
  });
  t.match(describeRow(row, now + 240_000).description, /^4\.0 GB · 30 s left · /);
  const stays = runningRow(model('b', { running: { ...running, expiresAt: '2318-01-01T00:00:00Z' } }));
  t.match(describeRow(stays, now).description, /^4\.0 GB · stays · /);
  const odd = runningRow(model('c', { running: { expiresAt: '', size: 0, sizeVram: 0 } }));
  t.strictSame(describeRow(odd, now), { description: '', label: 'c, loaded' }, 'no figure that nobody said');
  t.strictSame(endsOf([row, stays, odd], now), [now + 271_000], 'only what ends is waited for');
  const over = (seconds: number) => endsOf([row], now + 270_000 + seconds * 1_000)[0];
  t.strictSame(
    [0, 1, 4, 600].map((seconds) => (over(seconds) ?? 0) - now - 270_000),
    [1_000, 2_000, 8_000, 660_000],
    'while the runner still lists it, it is asked again, ever more slowly',
  );
});

t.test(
  'what a window is, in the same words for a row, its tooltip, the details and the picker',
  async (t) => {
    const cases = [
      [{}, undefined, ''],
      [{ maximum: 40_960 }, undefined, 'at most 40,960 tokens'],
      [{ configured: 8192, maximum: 40_960 }, undefined, '8,192 of at most 40,960 tokens once loaded'],
      [{ allocated: 4096, configured: 8192, maximum: 40_960 }, undefined, '4,096 of at most 40,960 tokens'],
      [{ allocated: 4096 }, 4096, '4,096 tokens'],
      [{ allocated: 40_960, maximum: 40_960 }, undefined, '40,960 tokens'],
      [{ maximum: 40_960 }, 32_768, '32,768 of at most 40,960 tokens once loaded'],
      [{ allocated: 4096, maximum: 40_960 }, 16_384, '16,384 of at most 40,960 tokens, 4,096 now'],
    ] as const;
    for (const [context, expected, want] of cases)
      t.equal(describeContext({ context }, expected), want, JSON.stringify(context));
    const silent = { running, context: { configured: 8192, maximum: 40_960 } };
    t.equal(describeContext(silent), 'at most 40,960 tokens', 'nobody knows what a loaded one has');
    t.equal(describeContext(silent, 32_768), 'at most 40,960 tokens');
    t.equal(describeContext({ ...silent, context: {} }, 32_768), '');
    const loaded = model('a', { running, context: { allocated: 4096, maximum: 40_960 } });
    for (const row of [localRow(loaded), runningRow(loaded)])
      t.match(row.tooltip, 'Window: 4,096 of at most 40,960 tokens');
    t.match(runningRow(loaded), {
      description: '75 % GPU · 4,096 tokens',
      spoken: /a window of 4,096 of at most 40,960 tokens/,
    });
    t.equal(runningRow(model('a', silent)).description, '75 % GPU');
  },
);

t.test('the rows of several servers, and of one that fails', async (t) => {
  const names = (rows: readonly { readonly model: string }[]) => rows.map(({ model }) => model);
  const rows = [localRow(model('a')), localRow(model('b'))];
  const arrange = (of: typeof rows) => ({ roots: of, count: of.length });
  const fallback = { server: '', roots: [], count: 0 };
  const down = { sentence: 'No runner answers at http://box:1. Start it.', kind: 'server-unreachable' };
  const nodes = toServerNodes(
    [
      { name: 'default', rows },
      { name: 'empty', rows: [] },
      { name: 'box', rows: [], failure: down },
      { name: 'old', rows: rows.slice(1), note: 'This is the last known list.' },
    ],
    (of) => arrange([...of]),
  );
  t.strictSame(
    nodes.map(({ server, count }) => [server, count]),
    [
      ['default', 2],
      ['empty', 0],
      ['box', 0],
      ['old', 1],
    ],
  );
  const [here = fallback, empty = fallback, box = fallback, old = fallback] = nodes;
  t.match(describeServer(empty, 'http://127.0.0.1:2'), {
    description: 'no models',
    label: 'server empty, no models',
    context: 'server',
  });
  const none = (of: typeof rows) => ({ roots: of, count: 0 });
  const gone = { name: 'a', rows: [] };
  t.strictSame(
    toServerNodes([{ name: 'default', rows }, gone], (of) => none([...of])).map(({ server }) => server),
    ['a'],
    'the filter leaves out a server of whose models none fits',
  );
  t.strictSame(
    toServerNodes([gone], (of) => arrange([...of])),
    [],
    'without any model, the view has a text and no row',
  );
  t.strictSame(names(here.roots as typeof rows), ['a', 'b']);
  t.match(describeServer(here, 'http://127.0.0.1:1'), {
    description: '2',
    context: 'server',
    icon: undefined,
    tooltip: /Set Address changes/,
  });
  t.match(describeServer(here, 'http://127.0.0.1:1', 'lmstudio'), {
    description: '2 · LM Studio',
    label: 'server default, LM Studio, 2 models',
    tooltip: /\*\*default\*\*: LM Studio at http/,
  });
  t.match(describeServer(box, 'http://box:1'), {
    description: 'no answer at http://box:1',
    label: 'server box, no answer at http://box:1',
    context: 'serverDown',
    icon: 'warning',
    tooltip: /Start it[\s\S]*Set Address/,
  });
  t.match(describeServer(old, undefined), { description: '1 · last known list', context: 'serverDown' });
  const short = (kind: string) =>
    describeServer({ server: 'x', roots: [], count: 0, failure: { kind, sentence: 'A proxy?' } }, undefined);
  t.match(short('unauthorized'), {
    description: 'wants an access token',
    context: 'serverClosed',
    icon: 'lock',
  });
  t.match(short('timeout'), { description: 'no answer in time' });
  t.match(short('bad-response'), { description: 'A proxy?' });
});

t.test('the status bar has the same words for each further server as its row', async (t) => {
  const failures = new Map([
    ['gpu-box', { kind: 'unauthorized', sentence: 'Set a token.' }],
    ['old', { kind: 'server-unreachable', sentence: 'Start it.' }],
    ['odd', { sentence: 'A proxy?' }],
  ]);
  t.strictSame(describeServers(['fine', ...failures.keys()], failures), [
    'fine: answers',
    'gpu-box: wants an access token',
    'old: no answer',
    'odd: A proxy?',
  ]);
  t.strictSame(
    describeServers(['fine', 'old'], failures, () => 'LM Studio'),
    ['fine: LM Studio answers', 'old: no answer'],
    'with the product, once it is known',
  );
});

t.test('the texts of a catalog row', async (t) => {
  const entry = { name: 'q', model: 'q', url: 'https://x/library/q', family: 'q', installed: true };
  const row = catalogRow({ ...entry, sizes: ['4b', '8b'], description: '[x](command:evil) *b*' }, 'library');
  t.match(row, {
    description: '4b 8b · installed',
    icon: 'check',
    url: 'https://x/library/q',
    tooltip: '**q** (installed)\n\n\\[x\\]\\(command:evil\\) \\*b\\*',
    sizes: ['4b', '8b'],
  });
  t.equal(describeRow(row, now).label, 'q, sizes 4b, 8b, installed, [x](command:evil) *b*');
  const able = catalogRow({ ...entry, capabilities: ['completion', 'tools', 'audio', 'embedding'] }, 'cloud');
  t.equal(able.description, 'tools audio embed · installed');
  const icons = (['library', 'cloud'] as const).map(
    (context) => catalogRow({ ...entry, installed: false }, context).icon,
  );
  t.strictSame([able.icon, ...icons], ['check', 'cloud-download', 'cloud']);
  t.equal(
    able.spoken,
    'calls tools, audio, embeds, installed',
    'in the words of the other views, where there are any',
  );
});

t.test('figures', async (t) => {
  const times = [
    ['2026-11-21T12:00:30Z', '30 s left'],
    ['2026-11-21T15:00:00Z', '3 h left'],
    ['2318-01-01T00:00:00Z', 'stays'],
    ['2026-11-21T11:00:00Z', 'ending'],
    ['2026-11-21T12:00:00Z', 'ending'],
    ['2026-11-21T12:00:01Z', '1 s left'],
    ['2026-11-21T12:00:59Z', '59 s left'],
    ['2026-11-21T12:01:00Z', '1 min left'],
    ['2026-11-21T13:29:59Z', '90 min left'],
    ['2026-11-21T13:30:00Z', '2 h left'],
  ] as const;
  for (const [expiresAt, want] of times) t.equal(timeLeft(Date.parse(expiresAt), now), want, expiresAt);
  t.strictSame([0, 999, 1_000, 2.62e9].map(formatBytes), ['0 B', '999 B', '1.0 kB', '2.6 GB']);
});

const rows = [
  { model: 'qwen3:8b', capabilities: ['completion', 'tools', 'thinking'] },
  { model: 'qwen2.5-coder:7b', capabilities: ['completion', 'insert'] },
  { model: 'hf.co/Owner/Llava:Q4', capabilities: ['completion', 'vision'] },
];

t.test('filters', async (t) => {
  const cases: readonly (readonly [Partial<RowFilter>, readonly number[]])[] = [
    [{}, [0, 1, 2]],
    [{ words: '  ' }, [0, 1, 2]],
    [{ words: 'QWEN' }, [0, 1]],
    [{ words: 'coder qwen' }, [1]],
    [{ words: 'llava owner' }, [2]],
    [{ words: 'qwen llava' }, []],
    [{ words: '.*' }, []],
    [{ capabilities: ['completion'] }, [0, 1, 2]],
    [{ capabilities: ['tools', 'thinking'] }, [0]],
    [{ capabilities: ['tools', 'vision'] }, []],
    [{ words: '8b', capabilities: ['tools'] }, [0]],
    [{ words: '7b', capabilities: ['tools'] }, []],
  ];
  for (const [part, want] of cases) {
    const filter = { ...noFilter, ...part };
    t.strictSame(
      filterRows(rows, filter).map((row) => rows.indexOf(row)),
      want,
      JSON.stringify(part),
    );
  }
  t.notOk(isFilterOn({ words: ' ', capabilities: [] }));
  t.ok(isFilterOn({ words: '', capabilities: ['x'] }));
  t.strictSame(countCapabilities(rows), [
    ['completion', 3],
    ['insert', 1],
    ['thinking', 1],
    ['tools', 1],
    ['vision', 1],
  ]);
});

t.test('the sentence about a filter', async (t) => {
  const cases = [
    [{ words: ' a  b ', capabilities: ['tools'] }, 3, 11, '“a b” + tools: 3 of 11 models.'],
    [{ words: '', capabilities: ['tools', 'embedding'] }, 1, 1, 'tools + embed: 1 of 1 model.'],
    [
      { words: 'x', capabilities: [] },
      0,
      11,
      'Nothing matches “x” among 11 models. Clear the filter to see them.',
    ],
  ] as const;
  for (const [filter, shown, total, want] of cases) t.equal(describeFilter(filter, shown, total), want);
});

t.test('filtering looks at each of two thousand rows once', async (t) => {
  let looks = 0;
  const many = Array.from({ length: 2_000 }, (_, index) => ({
    family: index < 1_500 ? 'one' : `f${index}`,
    capabilities: ['tools'],
    get model() {
      looks++;
      return `m${index}`;
    },
  }));
  t.equal(filterRows(many, { words: 'm 9', capabilities: ['tools'] }).length, 542);
  t.equal(looks, 2_000);
  t.equal(groupByFamily(many).length, 501);
});

t.test('the words for every kind of model, failure and advice are as they were accepted', async (t) => {
  const stays = { expiresAt: '9999-12-31T23:59:59.000Z', size: 0, sizeVram: 0 };
  const models: readonly Model[] = [
    model('plain'),
    model(
      'able:8b',
      {
        ...{ size: 5.2e9, modifiedAt: '2026-11-01T08:00:00Z', digest: '0123456789abcdef', running },
        details: { parameterSize: '8B', quantization: 'Q4_K_M', family: 'able' },
        context: { allocated: 4096, maximum: 131_072, configured: 4096, from: 'server' },
      },
      { tools: yes, vision: { value: true, from: 'name' }, thinking: unknown, insert: yes },
    ),
    model('embedder', { running: stays }, { completion: no, embedding: yes }),
    model(
      'far',
      { size: 400, remote: { host: 'https://x', model: 'f' }, context: { maximum: 262_144 } },
      { tools: yes },
    ),
    model('hf.co/me/Some-Long-Name-Of-A-Model-GGUF:Q4_K_M', { server: 'box', loading: { percent: 7 } }),
    model('small', { context: { allocated: 2048, from: 'assumed' }, loading: {} }),
  ];
  const servers = createKnownServers(() => ['default', 'box']);
  servers.take('box', {
    state: 'online',
    kind: 'ok',
    message: '',
    product: 'llama.cpp',
    can: ['chat', 'count'],
  });
  const information = [0, 8192].flatMap((contextLength) =>
    toPickerEntries(models, {
      isStale: (server) => server === 'box',
      isAllowed: () => true,
      remembered: ['gone', 'none'],
      sizing: { contextLength, usual: (server) => (server === 'box' ? 16_384 : undefined) },
    }),
  );
  const entry = { name: 'q', model: 'q:cloud', family: 'q', url: 'https://x/q' };
  const entries = [
    { ...entry, installed: false },
    {
      ...{ ...entry, installed: true, description: 'Small *and* good.' },
      ...{ capabilities: ['completion', 'tools', 'vision'], sizes: ['4b', '8b'] },
    },
  ];
  const failures = Object.keys(errorCodes).flatMap((kind) => [
    { kind, retryable: true },
    { kind, retryable: false, server: 'box', model: 'a', capability: 'tools', needed: 9000, maximum: 8192 },
  ]) as unknown as readonly ErrorData[];
  const advised = adviceCodes.map((code) => ({
    ...{ kind: 'context-exceeded', retryable: false, server: 'box', maximum: 8192 },
    advice: { code, problem: 'It is wrong.', text: 'Mend it.', server: 'files', contextLength: 16_384 },
  })) as unknown as readonly ErrorData[];
  const words = {
    local: models.map(localRow),
    running: models.map(runningRow),
    described: models.map(runningRow).map((row) => describeRow(row, now)),
    catalog: entries.flatMap((one) => [catalogRow(one, 'library'), catalogRow(one, 'cloud')]),
    choices: models.map(describeChoice),
    pages: models.map((one) =>
      detailsOf({ model: one, system: 'Be brief.', parameters: { stop: ['a', 'b'], top_k: 3 } }, servers),
    ),
    picker: information,
    windows: [
      windowChoices({}, 0),
      windowChoices({ fitting: 9000, maximum: 20_000 }, 8192),
      windowChoices({ maximum: 4096 }, 6000),
      windowChoices(largestOf(models.slice(1, 2)), 16_384),
    ],
    sizes: ['270m', '4b', '8x7b', 'e2b', '1t', '1.5b', 'latest'].map((size) => describeNeed(size, 8e9)),
    failures: failures.map((failure) => remediesFor(failure).map((remedy) => withTryAgain([remedy]))),
    short: failures.map(({ kind }) => inShort({ kind, sentence: 'It failed.' }, ' at x')),
    advice: advised.map((failure) => [
      remediesFor(failure),
      inEditorWords(
        { message: 'It is wrong. Mend it.', ...(failure.advice && { advice: failure.advice }) },
        'box',
      ),
    ]),
    doctor: [
      adviseOnModels({ models: [], all: 0, isStale: false, canPull: true }),
      adviseOnModels({ models: [], all: 2, isStale: false, canPull: false }),
      adviseOnModels({ models: models.slice(0, 1), all: 2, isStale: true, canPull: true }),
      adviseOnModels({ models, all: 6, isStale: false, canPull: false }),
      ...['', 'able:8b', 'plain', 'gone'].flatMap((wanted) => [
        adviseOnChat(models, wanted),
        adviseOnCompletion(models, wanted),
      ]),
    ],
    answers: [
      [1, 5, 0],
      [1_000, 11, 201],
      [60_000, 5_536, 100_000],
    ].map(([promptTokens = 0, completionTokens = 0, milliseconds = 0]) =>
      describeAnswer({
        ...{ model: 'able:8b', milliseconds },
        usage: { promptTokens, completionTokens, contextLength: 65_536 },
      }),
    ),
    contexts: models.map((one) => rowContext('local', servers, one.server)),
    modelfiles: [...styles, ...createContextPresets()].map(({ label, description, parameters }) => [
      ...[label, description],
      toModelfile({ base: '/a b/c.gguf', system: ' Say "hi".\r\n', parameters }),
    ]),
  };
  const { actual, accepted } = golden('vscodeWords.json', words);
  t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
});
