import t from 'tap';
import { createTokenCounter } from '../../client/vscode/chat/tokenCounter.ts';
import { canChat, toModelInformation, windowOf } from '../../client/vscode/convert/modelInformation.ts';
import { originsOf } from '../../client/vscode/daemon/servers.ts';
import { plain } from '../../client/vscode/notificationText.ts';
import { modelLike as model, no, unknown, yes } from '../support/modelLike.ts';

t.test('what the picker offers', async (t) => {
  const models = [
    model('able:8b', { context: { allocated: 4096, maximum: 131_072 } }, { tools: unknown, vision: yes }),
    model('embedder', {}, { completion: no, embedding: yes }),
    model('old-embedder', {}, { completion: unknown, embedding: yes }),
    model('plain', { server: 'box' }),
    model('cloudy', { remote: { host: 'https://ollama.com', model: 'c' }, context: { maximum: 262_144 } }),
  ];
  const [able, plain, cloudy, ...more] = toModelInformation(models, {
    isStale: () => false,
    contextLength: 0,
  });
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
  t.match(toModelInformation(models, { isStale: () => true, contextLength: 0 })[0], { detail: 'offline' });
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

t.test('the origins to which a token can belong', async (t) => {
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
  t.equal(originsOf({}, undefined).get('default'), 'http://127.0.0.1:11434');
  t.equal(
    originsOf({}, 'box:1234').get('default'),
    'http://box:1234',
    'OLLAMA_HOST holds where nothing is set',
  );
  t.equal(originsOf({ host: 'localhost:41329' }, 'box').get('default'), 'http://localhost:41329');
  const odd = [null, 1, { name: 'x' }] as never;
  t.strictSame([...originsOf({ servers: odd }, undefined).keys()], ['default'], 'settings may say anything');
});

t.test('a sentence of a server is no link in a notification', async (t) => {
  t.equal(plain('See [this](command:x) now.'), 'See [this] (command:x) now.');
});
