import t from 'tap';
import {
  countCapabilities,
  filterRows,
  isFilterOn,
  noFilter,
  type RowFilter,
} from '../../client/vscode/views/filter.ts';
import { catalogRow, endsOf, localRow, runningRow } from '../../client/vscode/views/modelRows.ts';
import type { LoadOutcome } from '../../client/vscode/views/rowStore.ts';
import { viewStateOf } from '../../client/vscode/views/rowStore.ts';
import { describeServer, groupByFamily, toServerNodes } from '../../client/vscode/views/treeNodes.ts';
import { modelLike as model, yes } from '../support/modelLike.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const running = { expiresAt: '2026-11-21T12:04:30Z', size: 4e9, sizeVram: 3e9 };

t.test('rows are grouped by family, and a family of one is no folder', async (t) => {
  const rows = ['a', 'b', 'a', 'c'].map((family, index) => ({ family, index }));
  t.strictSame(groupByFamily(rows), [{ family: 'a', rows: [rows[0], rows[2]] }, rows[1], rows[3]]);
  t.strictSame(groupByFamily([]), []);
});

t.test('what a row says of a model, and nothing in it is a link', async (t) => {
  const guessed = { value: true, from: 'name' } as const;
  t.match(localRow(model('a', { size: 2.5e9 }, { tools: yes, embedding: guessed })), {
    description: 'tools embed?',
    spoken: '2.5 GB, calls tools, maybe embeds, not loaded',
  });
  const far = model('far', { size: 400, remote: { host: 'https://x', model: 'far' } });
  t.match(localRow(far), { size: 'remote', spoken: 'runs elsewhere, not loaded', icon: 'cloud' });
  t.match(localRow(model('a', { loading: { percent: 41.6 } })), { description: 'loading, 42 %' });
  const context = { allocated: 4096, maximum: 40_960 };
  t.match(runningRow(model('a', { running, context })), { description: '75 % GPU · 4,096 tokens' });
  const entry = { name: 'q', model: 'q', url: 'https://x/library/q', family: 'q', installed: true };
  t.match(catalogRow({ ...entry, sizes: ['4b', '8b'], description: '[x](command:evil) *b*' }, 'library'), {
    description: '4b 8b · installed',
    tooltip: '**q** (installed)\n\n\\[x\\]\\(command:evil\\) \\*b\\*',
  });
});

t.test('a view looks again when a model ends, and ever more slowly while it is still listed', async (t) => {
  const row = runningRow(model('a', { running }));
  const stays = runningRow(model('b', { running: { ...running, expiresAt: '2318-01-01T00:00:00Z' } }));
  const odd = runningRow(model('c', { running: { expiresAt: '', size: 0, sizeVram: 0 } }));
  t.strictSame(endsOf([row, stays, odd], now), [now + 271_000], 'only what ends is waited for');
  const over = (seconds: number) => endsOf([row], now + 270_000 + seconds * 1_000)[0];
  t.strictSame(
    [0, 1, 4, 600].map((seconds) => (over(seconds) ?? 0) - now - 270_000),
    [1_000, 2_000, 8_000, 660_000],
  );
});

t.test('the rows of several servers, and of one that fails', async (t) => {
  const rows = [localRow(model('a')), localRow(model('b'))];
  const arrange = (of: readonly unknown[]) => ({ roots: of as typeof rows, count: of.length });
  const down = { sentence: 'No runner answers at http://box:1. Start it.', kind: 'server-unreachable' };
  const nodes = toServerNodes(
    [
      { name: 'default', rows },
      { name: 'empty', rows: [] },
      { name: 'box', rows: [], failure: down },
      { name: 'old', rows: rows.slice(1), note: 'This is the last known list.' },
    ],
    arrange,
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
  const gone = { name: 'a', rows: [] };
  t.strictSame(
    toServerNodes([{ name: 'default', rows }, gone], () => ({ roots: [], count: 0 })).map(
      ({ server }) => server,
    ),
    ['a'],
    'the filter leaves out a server of whose models none fits',
  );
  t.strictSame(toServerNodes([gone], arrange), [], 'without any model, the view has a text and no row');
  const wanted = [
    { description: '2 · LM Studio', context: 'server', label: 'server default, LM Studio, 2 models' },
    { description: 'no models', context: 'server', label: 'server empty, no models' },
    { description: 'no answer at http://a:1', context: 'serverDown', icon: 'warning', tooltip: /Start it/ },
    { description: '1 · last known list', context: 'serverDown' },
  ];
  for (const [index, node] of nodes.entries())
    t.match(describeServer(node, 'http://a:1', index === 0 ? 'lmstudio' : undefined), wanted[index]);
  const closed = { kind: 'unauthorized', sentence: 'Set a token.' };
  t.match(describeServer({ server: 'x', roots: [], count: 0, failure: closed }, undefined), {
    ...{ description: 'wants an access token', context: 'serverClosed' },
  });
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

t.test('the state of a view, which decides the text that it shows', async (t) => {
  const failed = (kind: string) => ({ name: 'a', rows: [], failure: { kind, sentence: 'Start it.' } });
  const [empty, filled] = [
    { name: 'a', rows: [] },
    { name: 'a', rows: [localRow(model('m'))], note: 'Old.' },
  ];
  const cases: readonly (readonly [outcomes: readonly LoadOutcome[], sources: number, ...want: string[]])[] =
    [
      [[], 1, 'loading', ''],
      [[empty], 1, 'empty', ''],
      [[filled], 1, 'filled', 'Old.'],
      [[failed('timeout')], 1, 'offline', ''],
      [[failed('unauthorized')], 1, 'unauthorized', ''],
      [[failed('bad-response')], 1, 'failed', 'Start it.'],
      [[empty], 2, 'loading', ''],
      [[empty, empty], 2, 'empty', ''],
      [[empty, failed('timeout')], 2, 'filled', ''],
    ];
  for (const [outcomes, sources, condition, message] of cases)
    t.strictSame(viewStateOf({ outcomes, filter: noFilter, shown: 1, sources }), { condition, message });
  const filter = { words: ' zz ', capabilities: ['tools'] };
  t.match(viewStateOf({ outcomes: [filled], filter, shown: 0, sources: 1 }), {
    message: /^Nothing matches “zz” \+ to/,
  });
});
