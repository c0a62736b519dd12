import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { completeLine } from '../../client/terminal/conversation/slashCompletion.ts';
import type { ListPromptsResult } from '../../protocol/messages/prompts.ts';
import type { Product } from '../../protocol/messages/status.ts';
import { modelLike } from '../support/modelLike.ts';
import { pictures } from '../support/pictures.ts';
import { type Asked, converse, type TerminalOptions } from './terminalPeer.ts';

const cwd = mkdtempSync(join(tmpdir(), 'runner-slash-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
mkdirSync(join(cwd, 'src'));
mkdirSync(join(cwd, 'many'));
const many = [...'ebhagdcf'].map((name) => `many/${name}`);
for (const name of ['a.ts', 'src/b.ts', 'my notes.md', '.env', ...many]) writeFileSync(join(cwd, name), '');
writeFileSync(join(cwd, 'style.md'), 'Be brief.\n');
writeFileSync(join(cwd, 'dot.png'), pictures.png);

/** Some that can be used, one that a command hides, and one that is wrong. */
const listed: ListPromptsResult = {
  prompts: [
    { name: 'broken', description: '', from: 'user', arguments: [], problem: 'It is empty.', line: 1 },
    { name: 'model', description: 'm', from: 'user', arguments: [], hiddenBy: 'command' },
    {
      name: 'review',
      description: 'Reviews \u001b[2Jit',
      from: 'user',
      arguments: [{ name: 'file', required: true }, { name: 'focus' }],
    },
    { name: 'seek', description: '', from: 'workspace', arguments: [] },
    {
      ...{ name: 'git:show', description: '', from: 'server', server: 'git' },
      arguments: [{ name: 'branch', required: true }],
    },
  ],
  folder: { path: '/here/.runner/prompts', state: 'unasked', files: 2 },
  problems: [],
};

function begin(options: TerminalOptions = {}) {
  return converse({
    ...{ cwd, toolServers: ['files', 'my server'] },
    models: [modelLike('wise:8b'), modelLike('wise-old:1b'), modelLike('able:1b')],
    ...options,
    answers: {
      'runner/models/choose': () => ({}),
      'runner/prompts/list': () => listed,
      ...options.answers,
    },
  });
}

t.test('what is set with slash commands reaches the next turn, and what is wrong is refused', async (t) => {
  const { say, turns, leave } = await begin();
  const cases: readonly (readonly [entry: string, says: RegExp])[] = [
    ['/think high', /Thinking is high/],
    ['/set temperature 0.2', /is 0\.2/],
    ['/set parameter stop ["a b"]', /stop is \["a b"\]/],
    ['/set top_k = 3', /top_k is 3/],
    ['/set temperature hot', /must be a number, not "hot"/],
    ['/set own_option 2', /own_option is 2/],
    ['/set own_option off', /left to the model/],
    ['/context lots', /number of tokens/],
    ['/set num_ctx 32k', /has 32768 tokens/],
    ['/system @style.md', /is set/],
    ['/file my notes.md', /my notes\.md goes along with the next prompt\./],
    ['/file "my notes.md"', /my notes\.md goes along/],
    ['/file my\\ notes.md', /my notes\.md goes along/],
    ['/image dot.png', /dot\.png goes along/],
    ['/image style.md', /style\.md is no picture: it is a PNG, JPEG, GIF or WebP file\./],
    ['/file .', /\. is no file\./],
    ['/file -', /Pipe it in without --file/],
    ['/tools my server on', /The tools of my server are on/],
    ['/tools my server', /Say "\/tools my server on"/],
    ['/model 3', /Now talking to able:1b/],
    ['/model 9', /no model "9"/],
    ['/model wise', /Now talking to wise:8b/],
  ];
  for (const [entry, says] of cases) t.match(await say(entry), says, entry);
  if (process.platform !== 'win32') {
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    const written = writeFile(join(cwd, 'pipe'), 'a difference');
    t.match(await say('/file pipe'), /pipe goes along/, 'as from <(git diff)');
    await written;
    rmSync(join(cwd, 'pipe'));
  }
  await say('go');
  t.match(turns[0], {
    ...{ model: 'wise:8b', think: 'high', hostedTools: ['files', 'my server'] },
    options: { temperature: 0.2, stop: ['a b'], top_k: 3, num_ctx: 32_768 },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { content: 'go', images: [pictures.png.toString('base64')] },
    ],
  });
  t.notOk('own_option' in (turns[0]?.options ?? {}));
  for (const entry of ['/set nothink', '/system @@home', '/context auto', '/tools my server off'])
    await say(entry);
  await say('and');
  t.match(turns[1], {
    ...{ think: false, hostedTools: ['files'] },
    messages: [{ role: 'system', content: '@home' }],
  });
  t.equal(turns[1]?.hostedTools?.length, 1);
  t.notOk(turns[1]?.messages.at(-1)?.attachments, 'what goes along goes once');
  t.notOk('num_ctx' in (turns[1]?.options ?? {}));
  for (const entry of ['/set think', '/system off']) await say(entry);
  await say('so');
  t.match(turns[2], { think: true, messages: [{ role: 'user' }] });
  await leave(t);
});

t.test('what is no command is suggested one, unless that takes something away', async (t) => {
  const { say, turns, leave } = await begin();
  const cases: readonly (readonly [entry: string, says: RegExp])[] = [
    ['/reviw', /Did you mean \/review\?/],
    ['/clea', /no command \/clea\. "\/help" lists/],
    ['/broke', /no command \/broke\. "\/help" lists/],
    ['/constructor', /There is no command/],
    ['/__proto__', /There is no command/],
    ['/help', /Prompts: \/review FILE \[FOCUS\] Reviews ␛\[2Jit \/seek \/git:show BRANCH \/here\S+ has 2 pr/],
  ];
  for (const [entry, says] of cases) t.match(await say(entry), says, entry);
  await say('/home/x');
  t.match(turns, [{ messages: [{ content: '/home/x' }] }]);
  await leave(t);
});

t.test('a window that the server fixes cannot be set', async (t) => {
  const { say, leave } = await begin({
    status: { state: 'online', kind: 'ok', message: '', product: 'llama.cpp' },
  });
  for (const entry of ['/context 4096', '/set num_ctx 4096', '/set parameter num_ctx 4096'])
    t.match(await say(entry), /llama\.cpp fixes the context window/, entry);
  t.notMatch(await say('/help'), '/context');
  await leave(t);
});

t.test('the edits of a turn are taken back, shown and brought back after a question', async (t) => {
  const session = { id: '20261123-abcd1234', title: '', createdAt: '', updatedAt: '', turns: 0 };
  const diffOf = (name: string) => ({ path: `/p/${name}`, name, before: '', after: '', unified: '@@\n+x\n' });
  const asked: unknown[] = [];
  const note = (method: string, result: object) => [
    `runner/${method}`,
    ({ params }: Asked) => {
      asked.push([method, params]);
      return result;
    },
  ];
  const left = [{ name: 'b.ts', reason: 'b.ts has changed since.' }];
  const { say, turns, leave } = await begin({
    answers: {
      'runner/sessions/create': () => ({ session }),
      'runner/sessions/undo': () => ({ session }),
      'runner/edits/list': () => ({ files: [diffOf('a.ts'), diffOf('b.ts')], count: 3 }),
      ...Object.fromEntries([
        note('edits/undo', { restored: ['a.ts'], left }),
        note('edits/redo', { restored: ['a.ts'], left: [] }),
      ]),
    },
  });
  await say('Fix it.');
  const undo =
    /take back the prompt, and its 3 edits in 2 files\? \[y\]es, \[p\]rompt only, \[d\]iff, \[n\]o/;
  const retry = /take back its 3 edits in 2 files first\? \[y\]es, \[k\]eep, \[n\]o/;
  t.match(await say('/undo'), undo);
  t.match(await say('d'), new RegExp(`a\\.ts @@ \\+x b\\.ts @@ \\+x .*${undo.source}`));
  t.match(await say('n'), /Nothing was taken back\./);
  t.match(await say('/retry'), retry);
  t.match(await say('k'), /Asking again: Fix it\./);
  t.strictSame(asked, [], 'no file was touched yet');
  t.match(await say('/retry'), retry);
  t.match(
    await say('y'),
    /Took back the edits of a\.ts\. b\.ts stays as it is: b\.ts has changed since\. Ask/,
  );
  await say('/undo');
  t.match(await say('p'), /Took back "Fix it\." and its answer\./);
  t.match(await say('/redo'), /Brought back the edits of a\.ts\./);
  t.strictSame(asked, [
    ['edits/undo', { session: session.id, prompt: 1 }],
    ['edits/redo', { session: session.id }],
  ]);
  t.equal(turns.length, 3);
  await leave(t);
});

t.test('Tab completes slash commands, and what they take', async (t) => {
  const state = {
    cwd,
    knownTools: ['git', 'my server'],
    models: async () => [modelLike('wise:8b'), modelLike('able:1b')],
    sessions: async () => [],
    product: async (): Promise<Product | undefined> => undefined,
    prompts: async () => listed,
    completeArgument: async () => ['two words', 'one'],
    completeResource: async (word: string) =>
      ['git:', 'git:memo://1', 'git:memo://a b'].filter((offered) => word !== '' && offered.startsWith(word)),
  };
  const cases: readonly (readonly [line: string, candidates: readonly string[]])[] = [
    ['/mo', ['/model ', '/mode ']],
    ['/c', ['/context ', '/check', '/copy', '/clear']],
    ['/se', ['/set ', '/sessions ', '/seek']],
    ['/nope x', []],
    ['/model wi', ['wise:8b']],
    ['/think h', ['high']],
    ['/tools ', ['git ', 'my server ']],
    ['/tools my server o', ['on', 'off']],
    ['/file src/', ['src/b.ts']],
    ['/file my\\ n', ['my\\ notes.md']],
    ['/file .e', ['.env']],
    ['/file ', ['a.ts', 'dot.png', 'many/', 'my\\ notes.md', 'src/', 'style.md']],
    ['/file many/', many.toSorted()],
    ['/image gone/', []],
    ['/system @my', ['my notes.md']],
    ['/system o', ['off']],
    ['What does @a', ['@a.ts']],
    ['see @src/', ['@src/b.ts']],
    ['@"my n', ['@"my notes.md"']],
    ['@gone/', []],
    ['@git:m', ['@git:memo://1', '@"git:memo://a b"']],
    ['/review ', ['file=', 'focus=']],
    ['/review file=src/b.ts f', ['focus=']],
    ['/review src/', ['src/b.ts']],
    ['/git:show b', ['branch=']],
    ['/git:show branch=', ['"two words"', 'one']],
    ['/broken ', []],
  ];
  for (const [line, candidates] of cases)
    t.strictSame((await completeLine(line, state))?.candidates, candidates, line);
  for (const prompt of ['text', 'me@a', '@a.ts ', '\\@a'])
    t.equal(await completeLine(prompt, state), undefined, 'elsewhere in a prompt, Tab is a character');
  const failing = { ...state, models: () => Promise.reject(new Error('no runner')) };
  t.strictSame((await completeLine('/model ', failing))?.candidates, []);
  const fixed = { ...state, product: async () => 'llama.cpp' as const };
  t.strictSame((await completeLine('/c', fixed))?.candidates, ['/check', '/copy', '/clear']);
});
