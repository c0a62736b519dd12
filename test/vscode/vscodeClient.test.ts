import t from 'tap';
import { createTokenCounter } from '../../client/vscode/chat/tokenCounter.ts';
import { canChat, toModelInformation, windowOf } from '../../client/vscode/convert/modelInformation.ts';
import { originsOf } from '../../client/vscode/daemon/secretStore.ts';
import { groupByFamily } from '../../client/vscode/views/families.ts';
import {
  catalogRow,
  formatBytes,
  localRow,
  runningRow,
  timeLeft,
} from '../../client/vscode/views/modelRows.ts';
import type { Capability, Model } from '../../protocol/models.ts';

const yes: Capability = { value: true, from: 'server' };
const no: Capability = { value: false, from: 'server' };
const unknown: Capability = { value: 'unknown', from: 'server' };

function model(name: string, more: Partial<Model> = {}, can: Partial<Model['capabilities']> = {}): Model {
  const capabilities = {
    completion: yes,
    tools: no,
    vision: no,
    thinking: no,
    insert: no,
    embedding: no,
    ...can,
  };
  return { name, server: 'default', family: 'x', capabilities, context: {}, ...more };
}

t.test('what the picker offers', async (t) => {
  const models = [
    model('able:8b', { context: { allocated: 4096, maximum: 131_072 } }, { tools: unknown, vision: yes }),
    model('embedder', {}, { completion: no, embedding: yes }),
    model('old-embedder', {}, { completion: unknown, embedding: yes }),
    model('plain', { server: 'box' }),
    model('cloudy', { remote: { host: 'https://ollama.com', model: 'c' }, context: { maximum: 262_144 } }),
  ];
  const [able, plain, cloudy, ...more] = toModelInformation(models, { isStale: false, contextLength: 0 });
  t.strictSame(more, []);
  t.match(able, {
    id: 'able:8b',
    maxInputTokens: 3072,
    maxOutputTokens: 1024,
    capabilities: { toolCalling: true, imageInput: true },
    model: { name: 'able:8b', server: 'default' },
  });
  t.match(plain, { id: 'box/plain', detail: 'box', capabilities: { toolCalling: false, imageInput: false } });
  t.match(cloudy, { detail: 'remote', maxInputTokens: 262_144 - 8192, maxOutputTokens: 8192 });
  for (const offered of [able, plain, cloudy]) {
    const { maxInputTokens = 0, maxOutputTokens = 0 } = offered ?? {};
    t.ok(maxInputTokens >= (maxInputTokens + maxOutputTokens) / 2, 'never under half of the window');
  }
  t.match(toModelInformation(models, { isStale: true, contextLength: 0 })[0], { detail: 'offline' });
  t.equal(windowOf(model('x', { context: { configured: 8192, maximum: 32_768 } }), 0), 8192);
  t.equal(windowOf(model('x', { context: { configured: 8192, maximum: 32_768 } }), 16_384), 16_384);
  t.equal(
    windowOf(model('x', { context: { configured: 8192, maximum: 32_768 } }), 65_536),
    32_768,
    'no more than it was made for',
  );
  t.notOk(canChat(model('x', {}, { completion: unknown, embedding: yes })));
});

t.test('tokens are counted by what the runner counted', async (t) => {
  const counter = createTokenCounter();
  t.equal(counter.count('m', 'x'.repeat(400)), 100);
  counter.learn('m', 3_000, { promptTokens: 1_500, completionTokens: 1 });
  t.equal(counter.count('m', 'x'.repeat(400)), 200);
  t.equal(counter.count('other', 'x'.repeat(400)), 100);
  counter.learn('m', 100_000, { promptTokens: 60, completionTokens: 1 });
  t.ok(counter.count('m', 'x'.repeat(400)) > 80, 'a prompt that the runner had is bounded');
  counter.learn('n', 10, { promptTokens: 40, completionTokens: 1 });
  t.equal(counter.count('n', 'x'.repeat(400)), 100, 'a short one says nothing');
});

t.test('rows by family, where a family of one is no folder', async (t) => {
  const rows = ['a', 'b', 'a', 'c'].map((family, index) => ({ family, index }));
  t.strictSame(groupByFamily(rows), [{ family: 'a', rows: [rows[0], rows[2]] }, rows[1], rows[3]]);
  t.strictSame(groupByFamily([]), []);
});

t.test('what a row says', async (t) => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const running = { expiresAt: '2026-11-21T12:04:30Z', size: 4e9, sizeVram: 3e9 };
  t.match(localRow(model('a', { size: 2.5e9 }, { tools: yes, thinking: { value: true, from: 'name' } })), {
    model: 'a',
    description: '2.5 GB · tools thinking?',
    context: 'local',
  });
  t.match(localRow(model('a', { running })), {
    context: 'loaded',
    icon: 'circle-filled',
    description: 'loaded',
  });
  t.match(runningRow(model('a', { running, context: { allocated: 8192 } }), now), {
    description: '4.0 GB · 75 % GPU · 8,192 tokens · 5 min left',
  });
  const entry = { name: 'q', model: 'q', url: 'https://x/library/q', family: 'q', installed: true };
  t.match(catalogRow({ ...entry, sizes: ['4b', '8b'], description: '[x](command:evil) *b*' }, 'library'), {
    description: '4b 8b',
    icon: 'check',
    url: 'https://x/library/q',
    tooltip: '**q** (installed)\n\n\\[x\\]\\(command:evil\\) \\*b\\*',
  });
  const times = [
    ['2026-11-21T12:00:30Z', '30 s left'],
    ['2026-11-21T15:00:00Z', '3 h left'],
    ['2318-01-01T00:00:00Z', 'stays'],
    ['2026-11-21T11:00:00Z', 'ending'],
    ['', ''],
  ] as const;
  for (const [expiresAt, want] of times) t.equal(timeLeft(expiresAt, now), want, expiresAt);
  t.strictSame([0, 999, 1_000, 2.62e9].map(formatBytes), ['0 B', '999 B', '1.0 kB', '2.6 GB']);
});

t.test('the origins to which a token can belong', async (t) => {
  const servers = [
    { name: 'box', url: 'https://box:8443/prefix' },
    { name: 'wrong', url: 'box' },
  ];
  t.strictSame(
    [...originsOf({ host: 'http://127.0.0.1:11434/x', servers })],
    [
      ['default', 'http://127.0.0.1:11434'],
      ['box', 'https://box:8443'],
    ],
  );
  t.equal(originsOf({}).get('default'), 'http://127.0.0.1:11434');
});
