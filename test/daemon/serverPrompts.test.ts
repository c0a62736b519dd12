import { resolve } from 'node:path';
import * as fc from 'fast-check';
import t from 'tap';
import { completionsIn, promptsIn, readPromptResult } from '../../daemon/prompts/serverPrompts.ts';
import { serverLists } from '../../daemon/tools/serverLists.ts';
import { trustDidChange } from '../../protocol/messages/initialize.ts';
import {
  completePromptRequest,
  getPromptRequest,
  listPromptsRequest,
} from '../../protocol/messages/prompts.ts';
import type { ToolServers } from '../../protocol/messages/tools.ts';
import { startPair } from '../support/daemonPair.ts';
import type { Teardown } from '../support/daemonWithRunner.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const offering = (...args: readonly string[]) => ({
  command: process.execPath,
  args: [resolve('test', 'support', 'offeringServer.cjs'), ...args],
});

async function start(t: Teardown, mcpServers: ToolServers, files: Readonly<Record<string, string>> = {}) {
  const home = await temporaryFolder(t, files);
  const daemon = await startPair(
    { mcpServers },
    { env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home } },
  );
  t.teardown(() => daemon.close());
  const list = (more: { wait?: boolean; commands?: readonly string[] } = { wait: true }) =>
    daemon.request(listPromptsRequest, more);
  const get = (name: string, text = '', more = {}) =>
    daemon.request(getPromptRequest, { name, text, ...more });
  return { daemon, list, get };
}

t.test('prompts of tool servers are in the list, beside those of files', async (t) => {
  const { list } = await start(
    t,
    { 'my docs': offering(), bare: offering('bare'), gone: { command: '/no/such/program' } },
    { 'runner/prompts/ask.md': 'Ask.' },
  );
  const { prompts, problems } = await list();
  t.strictSame(
    prompts.map(({ name }) => name),
    ['ask', 'my_docs:empty', 'my_docs:fails', 'my_docs:huge', 'my_docs:review', 'my_docs:talk_it_over'],
  );
  t.strictSame(
    prompts.find(({ name }) => name === 'my_docs:review'),
    {
      name: 'my_docs:review',
      description: 'Reviews a branch\u241b[31m',
      from: 'server',
      server: 'my docs',
      arguments: [
        { name: 'branch', description: 'Which branch', required: true },
        { name: 'focus', required: false },
      ],
    },
  );
  t.equal(problems.length, 1, 'the one that is not there costs a sentence');
  t.match(problems[0], /^The tool server gone /);
});

t.test('a server that is slow does not hold up the list, and is in a later one', async (t) => {
  const { list } = await start(t, { late: offering('late') }, { 'runner/prompts/ask.md': 'Ask.' });
  const names = async () => (await list({})).prompts.map(({ name }) => name);
  t.strictSame(await names(), ['ask'], 'what is there comes at once');
  await poll(names, (found) => found.includes('late:review'));
});

t.test('what a prompt becomes', async (t) => {
  const { get } = await start(t, { docs: offering() }, { 'notes.md': 'secret' });
  t.strictSame(
    await get('docs:review', '"the main" what is {{branch}} slow'),
    {
      kind: 'prompt',
      name: 'docs:review',
      text: 'Review the main for what is {{branch}} slow. @notes.md {{x}}',
    },
    'nothing in its text or in a value is replaced or looked up',
  );
  t.match(await get('docs:review', '', { values: { branch: 'next' } }), {
    text: 'Review next. @notes.md {{x}}',
  });
  t.match(await get('docs:review'), {
    kind: 'missing',
    missing: [{ name: 'branch', description: 'Which branch' }],
    message: 'The prompt /docs:review needs a value for "branch". Type /docs:review branch=…',
  });
  const talk = await get('docs:talk_it_over', 'And 9?');
  t.match(talk, {
    kind: 'prompt',
    text: 'User:\nIs 2 prime?\n\nAssistant:\nYes.\n\nUser:\nmemo://1:\n\nthe memo\n\nAnd 9?',
  });
  t.equal(talk.kind === 'prompt' && talk.images?.length, 1);
});

t.test('what cannot be used says why', async (t) => {
  const { get } = await start(t, { docs: offering(), gone: { command: '/no/such/program' } });
  const cases = [
    [
      'docs:fails',
      { kind: 'unusable', message: /^The tool server docs answered with an error: .*no such thing/ },
    ],
    [
      'docs:huge',
      { kind: 'unusable', message: /^The tool server docs sent more than 1,000,000 characters\.$/ },
    ],
    ['docs:empty', { kind: 'unusable', message: /^The tool server docs sent a prompt without text\.$/ }],
    ['docs:reviw', { kind: 'none', near: ['docs:review'] }],
    ['gone:review', { kind: 'unusable', message: /^The tool server gone / }],
    ['other:review', { kind: 'none', near: [] }],
  ] as const;
  for (const [name, want] of cases) t.match(await get(name), want, name);
});

t.test('values are completed by the server', async (t) => {
  const { daemon } = await start(t, { docs: offering(), bare: offering('bare') });
  const complete = async (name: string, argument: string, value: string) =>
    (await daemon.request(completePromptRequest, { name, argument, value })).values;
  t.strictSame(await complete('docs:review', 'branch', 'ma'), ['main', 'make it']);
  t.strictSame(await complete('docs:review', 'focus', ''), []);
  t.strictSame(await complete('docs:none', 'focus', ''), []);
  t.strictSame(await complete('bare:none', 'focus', ''), []);
});

t.test('servers of an untrusted workspace offer nothing', async (t) => {
  const home = await temporaryFolder(t, {});
  const daemon = await startPair(
    { trusted: false },
    {
      env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home },
      settings: { mcpServers: { docs: offering() } },
      capabilities: { workspace: { configuration: true } },
    },
  );
  t.teardown(() => daemon.close());
  const names = async () =>
    (await daemon.request(listPromptsRequest, { wait: true })).prompts.map(({ name }) => name);
  t.strictSame(await names(), []);
  await daemon.connection.sendNotification(trustDidChange.method, { trusted: true });
  await poll(names, (found) => found.includes('docs:review'));
});

t.test('a list is read page by page, up to its limits', async (t) => {
  interface Page {
    readonly items: readonly number[];
    readonly nextCursor: string | undefined;
  }
  const list = serverLists<number>({
    method: 'x/list',
    needs: 'prompts',
    pageIn: (answer) => answer as Page,
  });
  const { signal } = new AbortController();
  const items = (count: number) => Array.from({ length: count }, (_, at) => at);
  const read = async (page: (cursor: string | undefined, at: number) => Page | undefined) => {
    const cursors: (string | undefined)[] = [];
    const ask = async ({ params }: { readonly params: Record<string, unknown> }) => {
      const cursor = typeof params['cursor'] === 'string' ? params['cursor'] : undefined;
      return page(cursor, cursors.push(cursor));
    };
    const found = await list({ name: 'a', server: { ask } }, 'long', signal);
    return { count: found.items.length, cursors, problem: found.problem };
  };
  const ends = { nextCursor: undefined };
  t.match(await read(() => ({ items: [1], ...ends })), { count: 1, cursors: [undefined] });
  t.match(
    await read((cursor) =>
      cursor === undefined ? { items: [1], nextCursor: 'b' } : { items: [2], ...ends },
    ),
    { count: 2, cursors: [undefined, 'b'] },
  );
  t.match(
    await read(() => ({ items: [1], nextCursor: 'b' })),
    { count: 2, cursors: [undefined, 'b'] },
    'a cursor that leads to itself',
  );
  t.match(await read((_, at) => ({ items: [], nextCursor: String(at) })), { cursors: { length: 20 } });
  t.match(await read((_, at) => ({ items: items(100), nextCursor: String(at) })), {
    count: 200,
    cursors: { length: 2 },
  });
  t.match(await read((_, at) => ({ items: items(199), nextCursor: String(at) })), {
    count: 200,
    cursors: { length: 2 },
  });
  t.match(await read(() => undefined), { count: 0, problem: undefined }, 'a server without such a list');
  t.match(
    await read(() => {
      throw new Error('Two\nlines.');
    }),
    { count: 0, problem: /^Two.*lines\.$/ },
  );
  t.match(await list({ name: 'a', server: {} }, 'long', signal), { items: [] });
});

t.test('what a prompt of a server says', (t) => {
  const said = (...messages: readonly (readonly [role: string, content: unknown])[]) =>
    readPromptResult({ messages: messages.map(([role, content]) => ({ role, content })) });
  const resource = (more: object) => ({ type: 'resource', resource: { uri: 'file:///a', ...more } });
  const image = (data: string) => ({ type: 'image', data, mimeType: 'image/png' });
  const words = (text: string) => ({ type: 'text', text });
  const cases: readonly [name: string, content: unknown, text: string, images?: readonly string[]][] = [
    ['words', words('a'), 'a'],
    ['a link with a name', { type: 'resource_link', uri: 'file:///a', name: 'A' }, 'A: file:///a'],
    ['a text', resource({ text: 'b' }), 'file:///a:\n\nb'],
    ['a picture in a resource', resource({ mimeType: 'image/png', blob: 'AAAA' }), '', ['AAAA']],
    ['other data', resource({ mimeType: 'audio/wav', blob: 'AAAA' }), '[the data of file:///a is left out]'],
    ['something else', { type: 'audio', data: 5 }, '[audio is left out]'],
    ['a broken picture', image('A A'), '[image is left out]'],
    ['a long type, which is cut', { type: 'x'.repeat(65) }, `[${'x'.repeat(64)} is left out]`],
  ];
  for (const [name, content, text, images = []] of cases)
    t.strictSame(said(['user', content]), { text, images }, name);
  t.strictSame(said(['user', words('a')], ['user', words('')], ['user', words('b')]).text, 'a\n\nb');
  t.strictSame(
    said(['user', words('a')], ['assistant', words('b')], ['user', image('AAAA')]),
    { text: 'User:\na\n\nAssistant:\nb', images: ['AAAA'] },
    'who speaks is said where both do',
  );
  t.equal(said(...Array.from({ length: 200 }, () => ['user', words('a')] as const)).text.length, 598);
  t.equal(said(['user', words('a'.repeat(1_000_000))]).text.length, 1_000_000);
  t.equal(said(...Array.from({ length: 8 }, () => ['user', image('AAAA')] as const)).images.length, 8);
  const most = 'A'.repeat(16 * 1024 * 1024);
  t.equal(said(['user', image(most)]).images.length, 1);
  for (const [name, messages, message] of [
    ['messages', Array.from({ length: 201 }, () => ['user', words('a')] as const), /more than 200 messages/],
    ['text', [['user', words('a'.repeat(1_000_001))]], /more than 1,000,000 characters/],
    ['pictures', Array.from({ length: 9 }, () => ['user', image('AAAA')] as const), /more pictures/],
    [
      'large pictures',
      [
        ['user', image(most)],
        ['user', image('AAAA')],
      ],
      /more pictures/,
    ],
    ['nothing', [['user', words(' ')]], /a prompt without text/],
  ] as const)
    t.throws(() => said(...messages), { message }, `too much: ${name}`);
  t.strictSame(completionsIn({ completion: { values: ['a'.repeat(1_000)] } }).length, 1);
  t.strictSame(completionsIn({ completion: { values: ['a'.repeat(1_001)] } }), []);
  t.strictSame(completionsIn({ completion: { values: Array(101).fill('a') } }), Array(100).fill('a'));
  t.strictSame(completionsIn(5), []);
  t.end();
});

t.test('whatever a server sends, a list and a prompt keep their bounds', (t) => {
  const prompt = (more: object) => ({ name: 'p', ...more });
  const listed = (...prompts: readonly unknown[]) => promptsIn({ prompts }).items;
  t.strictSame(listed(5, null, {}, prompt({ name: '' }), prompt({ name: 'x'.repeat(300) })), []);
  t.strictSame(listed(prompt({ arguments: [{ name: 'two words' }] })), [], 'it could not be typed');
  t.strictSame(listed(prompt({ arguments: Array(21).fill({ name: 'a' }) })), []);
  t.equal(listed(prompt({ description: 'x'.repeat(9_999) }))[0]?.description.length, 500);
  t.equal(listed(prompt({ arguments: Array(20).fill({ name: 'a' }) }))[0]?.arguments.length, 20);
  t.equal(listed({ name: 'x'.repeat(256) }, { name: 'x'.repeat(257) }).length, 1);
  for (const name of ['', 'a=b', 'a\tb', 'x'.repeat(65)])
    t.strictSame(listed(prompt({ arguments: [{ name }] })), [], `${name} could not be typed`);
  t.match(promptsIn({ prompts: [prompt({ description: ' D\u001b\nE ' })], nextCursor: 'more' }), {
    items: [{ ownName: 'p', description: 'D\u241b E' }],
    nextCursor: 'more',
  });
  t.strictSame(promptsIn('no'), { items: [], nextCursor: undefined });
  t.strictSame(completionsIn({ completion: { values: ['a', 5, 'b\nc', 'x'.repeat(2_000)] } }), ['a']);
  const image = { role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } };
  t.equal(readPromptResult({ messages: [image] }).images.length, 1);
  const wrong = [
    undefined,
    {},
    { messages: [{ role: 'system', content: { type: 'text', text: 'a' } }] },
    { messages: Array(201).fill(image) },
    { messages: Array(9).fill(image) },
    { messages: [{ role: 'user', content: { type: 'image', data: 'not base64!', mimeType: 'image/png' } }] },
  ];
  for (const value of wrong) if (value !== wrong[5]) t.throws(() => readPromptResult(value), /^sent /);
  fc.assert(
    fc.property(fc.anything(), (value) => {
      promptsIn({ prompts: [value] });
      completionsIn({ completion: { values: [value] } });
      try {
        readPromptResult({ messages: [{ role: 'user', content: value }] });
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('sent ')) throw error;
      }
    }),
  );
  t.end();
});
