import { resolve } from 'node:path';
import * as fc from 'fast-check';
import t from 'tap';
import { findNamedFiles } from '../../daemon/files/namedFiles.ts';
import { contentsIn, createResourceWords, resourcesIn } from '../../daemon/files/serverResources.ts';
import { completeResourceRequest, findFilesRequest } from '../../protocol/messages/files.ts';
import { startPair } from '../support/daemonPair.ts';
import type { Teardown } from '../support/daemonWithRunner.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const offering = (...args: readonly string[]) => ({
  command: process.execPath,
  args: [resolve('test', 'support', 'offeringServer.cjs'), ...args],
});

async function start(t: Teardown, files: Readonly<Record<string, string>> = {}) {
  const cwd = await temporaryFolder(t, files);
  const daemon = await startPair(
    { mcpServers: { 'my team': offering(), bare: offering('bare'), gone: { command: '/no/such' } } },
    { env: { PATH: process.env['PATH'], HOME: cwd } },
  );
  t.teardown(() => daemon.close());
  const find = async (text: string) => (await daemon.request(findFilesRequest, { text, cwd })).mentions;
  const complete = async (word: string) => (await daemon.request(completeResourceRequest, { word })).words;
  return { find, complete };
}

t.test('a resource is a file of the prompt, and nothing in it is looked up', async (t) => {
  const { find } = await start(t, { 'notes.md': 'my own' });
  t.strictSame(await find('Shorten @my_team:memo://1.'), [
    {
      word: '@my_team:memo://1.',
      files: [
        {
          path: 'my_team:memo://1',
          bytes: 18,
          tokens: 5,
          attachment: { path: 'my_team:memo://1', text: 'Remember @notes.md', uris: ['memo://1'] },
        },
      ],
      notes: [],
    },
  ]);
  const [pair] = await find('@my_team:memo://pair');
  t.match(pair?.files, [{ path: 'my_team:memo://pair/a' }]);
  t.equal(pair?.files.length, 2);
  t.equal(pair?.files[1]?.attachment?.text, 'b', 'bytes that are text');
  const [picture] = await find('@"my_team:memo://picture"');
  t.match(picture?.files, [{ path: 'my_team:memo://picture', image: /^iVBOR/ }]);
  t.match(await find('@my_team:user://ada/about'), [{ files: [{ attachment: { text: 'About ada' } }] }]);
  for (const address of ['file:///project/.env', 'file://host/%2Eenv'])
    t.match(
      await find(`@my_team:${address}`),
      [{ files: [{ privacy: 'secret' }] }],
      `the user is asked before a file with secrets is sent: ${address}`,
    );
});

t.test('what cannot be attached says why', async (t) => {
  const { find } = await start(t, { 'my_team:memo:/1': 'a file' });
  const cases = [
    [
      '@my_team:memo://none',
      /^The tool server my team answered with an error: .*, so @my_team:memo:\/\/none is only text\.$/,
    ],
    ['@my_team:memo://bytes', /^my_team:memo:\/\/bytes is no text, so it is not attached\.$/],
    ['@my_team:memo://large', /^my_team:memo:\/\/large has 5\.0 MB, which is too much to attach, so/],
    ['@my_team:memo://nothing', /^The tool server my team has nothing at memo:\/\/nothing, so/],
    ['@bare:memo://1', /^The tool server bare has no resources, so @bare:memo:\/\/1 is only text\.$/],
    ['@gone:memo://1', /^The tool server gone cannot be started: .*, so @gone:memo:\/\/1 is only text\.$/],
    ['@other:memo://1', /^There is no file other:memo:\/\/1, so/],
  ] as const;
  for (const [text, note] of cases) t.match(await find(text), [{ files: [], notes: [note] }], text);
  t.match(
    await find('@my_team:memo:/1'),
    [{ files: [{ attachment: { text: 'a file' } }] }],
    'a file comes first',
  );
  t.strictSame(await find('@nobody:here'), [], 'a word like another');
});

t.test('what can be named is completed', async (t) => {
  const { complete } = await start(t);
  const words = async (typed: string) => (await complete(typed)).map(({ word }) => word);
  t.strictSame(await words('my'), ['my_team:']);
  t.strictSame(await words(''), ['my_team:', 'bare:', 'gone:']);
  t.strictSame(await words('nobody:'), []);
  const listed = await poll(
    () => complete('my_team:'),
    (found) => found.length > 0,
  );
  t.match(listed, [{ word: 'my_team:memo://1', description: 'The memo' }]);
  t.strictSame(await words('my_team:user'), ['my_team:user://']);
  t.strictSame(await words('gone:m'), []);
});

t.test('of what a server lists, a hundred words are shown, and nothing that is no list', async (t) => {
  const resources = Array.from({ length: 150 }, (_, at) => ({
    uri: `memo://${at}`,
    title: ' T ',
    name: 'n',
  }));
  const serverWith = (answers: Readonly<Record<string, unknown>>) => ({
    name: 'team',
    server: { ask: async ({ method }: { readonly method: string }) => answers[method] },
  });
  const complete = async (answers: Readonly<Record<string, unknown>>) =>
    createResourceWords().complete('team:', [serverWith(answers)] as never, new AbortController().signal);
  const templates = [{ uriTemplate: 'user://{name}', description: 'One' }, { uriTemplate: '{any}' }, 5];
  const some = { 'resources/list': { resources: resources.slice(0, 1) } };
  const first = { word: 'team:memo://0', description: 'T' };
  t.strictSame(await complete({ ...some, 'resources/templates/list': 5 }), [first]);
  t.strictSame(await complete({ ...some, 'resources/templates/list': { resourceTemplates: templates } }), [
    first,
    { word: 'team:user://', description: 'One' },
  ]);
  const all = await complete({ 'resources/list': { resources } });
  t.strictSame([all.length, all.at(-1)?.word], [100, 'team:memo://99']);
});

t.test('a prompt takes so many files of servers, too', async (t) => {
  const contents = Array.from({ length: 102 }, (_, at) => ({ uri: `memo://${at}`, text: 'x' }));
  const server = { name: 'team', server: { ask: async () => ({ contents: [...contents, contents[0]] }) } };
  const [found] = await findNamedFiles(
    { text: '@team:memo://all', cwd: '/nonexistent' },
    {
      findPrivacy: async () => undefined,
      servers: async () => [server] as never,
      now: () => 0,
      signal: new AbortController().signal,
    },
  );
  t.equal(found?.files.length, 100);
  t.strictSame(
    found?.notes,
    [100, 101].map((at) => `team:memo://${at} is beyond 100 files, so it is not attached.`),
  );
});

/** What is found with a server that answers so. */
async function foundWith(
  text: string,
  ask: (uri: string) => unknown,
  { signal = new AbortController().signal, name = 'team' } = {},
) {
  const asked: string[] = [];
  const server = {
    ask: async ({ params }: { readonly params: { readonly uri: string } }) => {
      asked.push(params.uri);
      return ask(params.uri);
    },
  };
  const found = await findNamedFiles(
    { text, cwd: '/nonexistent' },
    {
      findPrivacy: async () => undefined,
      servers: async () => [{ name, server }] as never,
      now: () => 0,
      signal,
    },
  );
  return { asked, found };
}

t.test('a server is asked for the name as it is typed, then without the punctuation', async (t) => {
  const nothing = () => ({ contents: [] });
  const only = (uri: string) => (asked: string) => ({
    contents: asked === uri ? [{ uri, text: 'x' }] : [],
  });
  t.match(await foundWith('@team:a.', only('a.')), {
    asked: ['a.'],
    found: [{ files: [{ path: 'team:a.' }] }],
  });
  t.match(await foundWith('@team:a.', only('a')), {
    asked: ['a.', 'a'],
    found: [{ files: [{ path: 'team:a' }], notes: [] }],
  });
  const failing = (uri: string) => {
    throw new Error(`no ${uri}!`);
  };
  t.match(await foundWith('@team:a.', failing), {
    asked: ['a.', 'a'],
    found: [{ files: [], notes: ['no a.!, so @team:a. is only text.'] }],
  });
  t.strictSame(await foundWith('@team:.', nothing), { asked: [], found: [] }, 'no address');
  t.strictSame(await foundWith('@team: @:a @other:a', nothing), { asked: [], found: [] });
  t.match(await foundWith('@my_team:a:b', nothing, { name: 'my team' }), { asked: ['a:b'] });
  const stop = new AbortController();
  await t.rejects(
    foundWith(
      '@team:a',
      () => {
        stop.abort(new Error('stopped'));
        throw new Error('broken');
      },
      { signal: stop.signal },
    ),
    { message: 'stopped' },
  );
  t.match(
    (
      await foundWith('@team:a', () => {
        throw new Error('no\nway.');
      })
    ).found,
    [{ notes: ['no way, so @team:a is only text.'] }],
  );
});

t.test('the parts of a resource come with what they are, each once, within the bounds', async (t) => {
  const contents = [
    { uri: 'memo://a.ts', text: '\ufeffab' },
    { uri: '', text: 'own' },
    { uri: 'memo://a.ts', text: 'again' },
    { uri: 'memo://b', blob: Buffer.from('a\0b').toString('base64') },
    { uri: 'memo://c', text: 'x'.repeat(4 * 1_024 * 1_024 - 8) },
    { uri: 'memo://d', text: 'x' },
  ];
  const { found } = await foundWith('@team:memo://all', () => ({ contents }));
  const file = (uri: string, bytes: number, text: string) => ({
    path: `team:${uri}`,
    bytes,
    tokens: Math.ceil(text.length / 3.8),
    attachment: { path: `team:${uri}`, text, uris: [uri] },
  });
  t.strictSame(found, [
    {
      word: '@team:memo://all',
      files: [
        {
          ...file('memo://a.ts', 5, 'ab'),
          attachment: { ...file('memo://a.ts', 5, 'ab').attachment, language: 'ts' },
        },
        file('memo://all', 3, 'own'),
        file('memo://c', 4 * 1_024 * 1_024 - 8, 'x'.repeat(4 * 1_024 * 1_024 - 8)),
      ],
      notes: [
        'team:memo://b is no text, so it is not attached.',
        'team:memo://d has 1 B, which is too much to attach, so it is not attached.',
      ],
    },
  ]);
});

t.test('whatever a server sends, it is read within bounds', (t) => {
  t.strictSame(resourcesIn(5), { items: [], nextCursor: undefined });
  const listed = (uri: unknown) => resourcesIn({ resources: [{ uri }] }).items;
  const odd = [
    { uri: 'a', title: 'x'.repeat(201) },
    { uri: 'b', title: 5 },
    { uri: 'x'.repeat(4_000), title: '\u001b\ud83d' },
  ];
  t.match(resourcesIn({ resources: odd, nextCursor: 'more' }), {
    items: [{ description: 'x'.repeat(200) }, { uri: 'x'.repeat(4_000), description: '\u241b\ufffd' }],
    nextCursor: 'more',
  });
  for (const uri of [5, '', 'x'.repeat(4_001), 'x'.repeat(5_000), 'a\nb', 'a"b', '\u001b[2J'])
    t.strictSame(listed(uri), []);
  const from = { name: 'a b' };
  t.match(contentsIn({ contents: [{ uri: '', text: 'x' }] }, from, 'memo://1'), {
    contents: [{ path: 'a_b:memo://1', uri: 'memo://1' }],
  });
  t.match(contentsIn({ contents: [{ uri: 'a', blob: '!' }] }, from, 'a'), { problem: /is no resource$/ });
  fc.assert(
    fc.property(fc.anything(), (value) => {
      resourcesIn({ resources: [value] });
      contentsIn({ contents: [value] }, from, 'memo://1');
    }),
  );
  t.end();
});
