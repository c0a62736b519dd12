import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { ResponseError } from 'vscode-jsonrpc';
import { clipboardPrograms, clipboardSequence, copyText } from '../../client/terminal/cli/systemPrograms.ts';
import { createFindPrivacy } from '../../daemon/base/filePrivacy.ts';
import { findNamedFiles } from '../../daemon/files/namedFiles.ts';
import type { FindFilesParams } from '../../protocol/messages/files.ts';
import { modelLike, yes } from '../support/modelLike.ts';
import { pictures } from '../support/pictures.ts';
import { where } from '../support/systems.ts';
import {
  type Asked,
  converse,
  resultOf,
  runOnce,
  startTerminal,
  type TerminalOptions,
  type Turn,
} from './terminalPeer.ts';

const cwd = mkdtempSync(join(tmpdir(), 'runner-prompts-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
mkdirSync(join(cwd, 'src'));
writeFileSync(join(cwd, 'a.ts'), 'const a = 1;\n');
writeFileSync(join(cwd, 'src', 'b.ts'), 'b');
writeFileSync(join(cwd, 'src', 'c.md'), '@a.ts');
writeFileSync(join(cwd, '.env'), 'KEY=1\n');
writeFileSync(join(cwd, 'dot.png'), pictures.png);

const models = [modelLike('m:1b', {}, { tools: yes, vision: yes })];

const { signal } = new AbortController();
const answers = {
  'runner/files/find': async ({ params }: Asked) => ({
    mentions: await findNamedFiles(params as unknown as FindFilesParams, {
      findPrivacy: createFindPrivacy(() => []),
      servers: async () => [],
      now: () => 0,
      signal,
    }),
  }),
  'runner/files/fetch': ({ params: { url } }: Asked) =>
    String(url).endsWith('gone')
      ? new ResponseError(-33008, 'It is gone.', { kind: 'bad-response', retryable: true })
      : {
          file: {
            path: url,
            bytes: 2_000,
            tokens: 500,
            attachment: { path: url, text: 'page', uris: [url] },
          },
        },
};

/** A terminal whose peer answers each prompt with "ok", and what it was asked. */
function start(options: TerminalOptions) {
  const asked: Turn['params'][] = [];
  const chat = async ({ params, send }: Turn) => {
    asked.push(params);
    await send({ kind: 'text', text: `ok ${asked.length}` });
    return resultOf(`ok ${asked.length}`);
  };
  return { ...startTerminal({ cwd, models, answers, chat, ...options }), asked };
}

const uriOf = (name: string) => pathToFileURL(join(cwd, name)).href;
const attachmentA = { path: 'a.ts', text: 'const a = 1;\n', uris: [uriOf('a.ts')], language: 'ts' };

t.test('in a script, files that the words name go along, and what is piped in names none', async (t) => {
  const run = start({ args: ['chat', 'What', 'is', '@a.ts?'], input: 'see @src/b.ts\n' });
  t.equal(await run.ended, 0, run.stderr.text());
  t.strictSame(run.asked[0]?.messages, [
    { role: 'user', content: 'What is @a.ts?\n\nsee @src/b.ts', attachments: [attachmentA] },
  ]);
  t.equal(run.stderr.text(), 'Attached a.ts, 13 B, about 4 tokens.\n');
  t.equal(run.stdout.text(), 'ok 1\n');
  const json = start({
    args: ['chat', '@src/ @dot.png', '--json', '--file', join(cwd, 'src/b.ts')],
    input: '',
  });
  t.equal(await json.ended, 0);
  t.hasStrict(json.stdout.events().slice(0, 3), [
    { event: 'attached', path: 'src/b.ts', bytes: 1, tokens: 1 },
    { event: 'attached', path: 'src/c.md' },
    { event: 'attached', path: 'dot.png', bytes: pictures.png.length },
  ]);
  const [message] = json.asked[0]?.messages ?? [];
  t.strictSame(
    message?.attachments?.map(({ path }) => path),
    [join(cwd, 'src/b.ts'), 'src/c.md'],
    'what a flag attaches goes once, and a file names no other',
  );
  t.strictSame(message?.images, [pictures.png.toString('base64')]);
  const plain = start({ args: ['chat', 'mail me@a.ts or @john, and \\@a.ts'], input: '' });
  t.equal(await plain.ended, 0);
  t.strictSame(plain.asked[0]?.messages, [{ role: 'user', content: 'mail me@a.ts or @john, and \\@a.ts' }]);
  t.equal(plain.stderr.text(), '');
});

t.test('in a script, neither a secret nor an address goes without --yes', async (t) => {
  const cases = [
    { prompt: '@.env', says: '.env looks like a file with secrets. To send it all the same, add --yes.\n' },
    {
      prompt: '@https://example.org/a',
      says: 'Nothing is fetched from example.org without a yes. To agree, add --yes.\n',
    },
  ];
  for (const { prompt, says } of cases) {
    const refused = start({ args: ['chat', prompt], input: '' });
    t.equal(await refused.ended, 2);
    t.equal(refused.stderr.text(), says);
    t.strictSame(refused.asked, []);
    const agreed = start({ args: ['chat', prompt, '--yes'], input: '' });
    t.equal(await agreed.ended, 0);
    t.equal(agreed.asked[0]?.messages[0]?.attachments?.length, 1);
  }
});

t.test('at a terminal a person is asked, also for one answer', async (t) => {
  const run = start({ args: ['chat', 'Read @.env and @https://example.org/a'], isScreen: true });
  await run.stderr.until(/\.env looks like a file with secrets\. Send it to m:1b\? \[y\]es, \[n\]o $/);
  run.type('perhaps\r');
  await run.stderr.until(/(Send it.*){2}$/s);
  run.type('n\r');
  await run.stderr.until(/Fetch https:\/\/example\.org\/a from example\.org\? \[y\]es, \[n\]o $/);
  run.type('yes\r');
  t.equal(await run.ended, 0);
  t.strictSame(
    run.asked[0]?.messages[0]?.attachments?.map(({ path }) => path),
    ['https://example.org/a'],
  );
  const left = start({ args: ['chat', '@.env'], isScreen: true });
  await left.stderr.until(/Send it/);
  left.type('\u0003');
  t.equal(await left.ended, 130);
  t.strictSame(left.asked, []);
});

/** A conversation in this folder. */
const begin = (options: TerminalOptions = {}) => converse({ cwd, models, answers, ...options });

t.test(
  'in a conversation, what goes along is shown, asked for, and goes with its prompt alone',
  async (t) => {
    const { say, turns, ...run } = await begin();
    t.match(
      await say('What is @a.ts and @src/x.ts'),
      /Attached a\.ts, 13 B, about 4 tokens\. There is no file src\/x\.ts, so @src\/x\.ts is only text\./,
    );
    t.match(
      await say('and @src/ with @.env'),
      /Attached 2 files of @src\/, 6 B, about 3 tokens: src\/b\.ts and src\/c\.md\. .*Send it to m:1b\? \[y\]es, \[n\]o $/,
    );
    await say('y');
    t.hasStrict(turns[1]?.messages, [
      { content: 'What is @a.ts and @src/x.ts', attachments: [attachmentA] },
      { role: 'assistant' },
      { attachments: [{ path: 'src/b.ts' }, { path: 'src/c.md', text: '@a.ts' }, { path: '.env' }] },
    ]);
    const question = /Fetch .* from example\.org\?/;
    t.match(await say('@https://example.org/gone'), question);
    t.match(await say('y'), /It is gone\./);
    t.match(await say('@https://example.org/a'), question);
    run.type('\u0003');
    await run.stdout.until(/from example\.org\? [^›]*› $/);
    await say('done');
    t.equal(turns[2]?.messages.at(-1)?.content, 'done');
    t.equal(turns[2]?.messages.length, 5, 'what was left is not sent');
    await run.leave(t);
  },
);

t.test('--format asks for JSON, and the exit code says whether it came', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  writeFileSync(join(cwd, 'schema.json'), JSON.stringify(schema));
  const right = start({ args: ['chat', 'go', '--format', 'json'], input: '' });
  t.equal(await right.ended, 0);
  t.equal(right.asked[0]?.format, 'json');
  const notice = {
    code: 'format-not-held',
    message: 'The answer does not match the schema: it is.',
  } as const;
  const chat = async ({ params, send }: Turn) => {
    t.strictSame(params.format, schema);
    await send({ kind: 'text', text: '[1]' });
    await send({ kind: 'notice', notice });
    return resultOf('[1]', { notices: [notice] });
  };
  const wrong = start({ args: ['chat', 'go', '--format', 'schema.json'], input: '', chat });
  t.equal(await wrong.ended, 1);
  t.equal(wrong.stdout.text(), '[1]\n', 'the answer is there nevertheless');
  t.equal(wrong.stderr.text(), `${notice.message}\n`);
  const events = start({ args: ['chat', 'go', '--format=schema.json', '--json'], input: '', chat });
  t.equal(await events.ended, 1);
  t.hasStrict(events.stdout.events(), [{ event: 'text' }, { event: 'notice', ...notice }, { event: 'done' }]);
});

t.test('a schema file that cannot be one is refused in a sentence', async (t) => {
  writeFileSync(join(cwd, 'list.json'), '[]');
  const cases = [
    ['gone.json', 'gone.json is not there.\n'],
    ['a.ts', 'a.ts is not JSON.\n'],
    ['list.json', 'list.json is no JSON Schema: that is an object.\n'],
  ] as const;
  for (const [file, says] of cases) {
    const refused = start({ args: ['chat', 'go', '--format', file], input: '' });
    t.strictSame([await refused.ended, refused.stderr.text(), refused.asked], [2, says, []]);
  }
  const problem = '/type is none of object';
  const message = `The parameter "format" is not valid: ${problem}.`;
  const chat = async () => new ResponseError(-32602, message, { path: 'format', problem });
  const { code, error } = await runOnce({
    args: ['chat', 'go', '--format', 'schema.json'],
    cwd,
    models,
    chat,
  });
  t.strictSame([code, error], [2, `schema.json is no JSON Schema: ${problem}.\n`]);
});

/** What the daemon keeps of a conversation. */
function keeping() {
  const undone: unknown[] = [];
  const id = '20261123-abcd1234';
  const session = { id, title: '', createdAt: '', updatedAt: '', turns: 1 };
  return {
    id,
    undone,
    answers: {
      ...answers,
      'runner/sessions/create': () => ({ session }),
      'runner/sessions/undo': ({ params }: Asked) => {
        undone.push(params['id']);
        return { session };
      },
    },
  };
}

t.test('the last turn is asked again, taken back, and changed', async (t) => {
  const kept = keeping();
  const { say, turns, ...run } = await begin({ answers: kept.answers });
  await say('one @a.ts');
  t.match(await say('/retry'), /Asking again: one @a\.ts .*ok 2/);
  t.strictSame(turns[1]?.messages, turns[0]?.messages, 'with what was attached, and without the answer');
  t.match(turns[1], { session: kept.id, replacesLastTurn: true });
  await say('two');
  t.match(await say('/undo'), /Took back "two" and its answer\./);
  await run.enter('/edit', /\/edit\r\n[^›]*› one @a\.ts$/);
  await say(' changed');
  t.hasStrict(turns[3]?.messages, [{ content: 'one @a.ts changed', attachments: [attachmentA] }]);
  t.equal(turns[3]?.messages.length, 1);
  t.equal(turns[3]?.messages[0]?.attachments?.length, 1, 'what a prompt names goes once');
  t.equal(kept.undone.length, 2, 'the kept conversation follows');
  await run.leave(t);
});

t.test('an answer that is asked for again stays until there is another one', async (t) => {
  const asked: Turn['params'][] = [];
  const chat = async ({ params, send, token }: Turn) => {
    asked.push(params);
    const content = `ok ${asked.length}`;
    if (asked.length === 2) throw new ResponseError(-33001, 'It is down.', { kind: 'runner-unreachable' });
    await send({ kind: 'text', text: content });
    if (asked.length !== 3) return resultOf(content);
    if (!token.isCancellationRequested)
      await new Promise<void>((go) => token.onCancellationRequested(() => go()));
    return resultOf(content, { finishReason: 'cancelled' });
  };
  const { say, ...run } = await begin({ chat });
  await say('go');
  t.match(await say('/retry'), /It is down\..*goes on with the earlier answer\./);
  await run.enter('/retry', /earlier answer.*\rok/s);
  run.type('\u0003');
  await run.stdout.until(/(goes on with the earlier answer.*){2}› $/s);
  await say('and');
  t.hasStrict(asked[3]?.messages, [{ content: 'go' }, { content: 'ok 1' }, { content: 'and' }]);
  t.match(await say('/retry'), /ok 5/);
  await say('so');
  t.strictSame(
    asked[5]?.messages.map(({ content }) => content),
    ['go', 'ok 1', 'and', 'ok 5', 'so'],
  );
  await run.leave(t);
});

t.test('the last answer is copied and saved, and a file is not overwritten without a yes', async (t) => {
  const answer = 'See:\n```ts\nconst a = 1;\n```  \nor\n~~~\n```\nb\n~~~';
  const copied: string[] = [];
  const chat = async ({ send }: Turn) => {
    await send({ kind: 'text', text: answer });
    return resultOf(answer);
  };
  const { say, ...run } = await begin({ chat, copyText: async (text) => copied.push(text) < 3 });
  const path = join(cwd, 'answer.md');
  const saved = () => readFileSync(path, 'utf8');
  const cases: readonly (readonly [entry: string, says: RegExp])[] = [
    ['go', /tokens\/s/],
    ['/copy', /Copied the answer, 46 B\./],
    ['/copy 2', /Copied block 2, 5 B\./],
    ['/copy 1', /Sent block 1, 12 B, to the terminal/],
    ['/copy 3', /The answer has 2 blocks of code\./],
    ['/copy all', /Say "\/copy"/],
    ['/save gone/answer.md', /gone\/answer\.md cannot be written/],
    ['/save', /Say where: \/save FILE/],
    ['/save answer.md', /Saved the answer in answer\.md, 47 B\./],
  ];
  for (const [entry, says] of cases) t.match(await say(entry), says, entry);
  t.ok(run.stdout.text().includes(`\u001b]52;c;${Buffer.from(answer).toString('base64')}\u0007`));
  t.strictSame(copied, [answer, '```\nb', 'const a = 1;']);
  t.equal(saved(), `${answer}\n`);
  writeFileSync(path, 'mine');
  for (const [reply, says, left] of [
    ['n', /Nothing was written\./, 'mine'],
    ['y', /Saved the answer/, `${answer}\n`],
  ] as const) {
    t.match(await say('/save answer.md'), /answer\.md is there already\. Overwrite it\? \[y\]es, \[n\]o $/);
    t.match(await say(reply), says);
    t.equal(saved(), left);
  }
  await run.leave(t);
});

t.test('a picture is one, whichever flag names it', async (t) => {
  const run = start({ args: ['chat', 'look', '--file', 'dot.png', '--file', 'a.ts'], input: '' });
  t.equal(await run.ended, 0);
  t.hasStrict(run.asked[0]?.messages, [
    { images: [pictures.png.toString('base64')], attachments: [{ path: 'a.ts' }] },
  ]);
});

t.test('what goes along is at most so large', async (t) => {
  const [text, picture] = [4 * 1024 * 1024, 32 * 1024 * 1024];
  const cases: readonly (readonly [flag: string, name: string, size: number, says?: string])[] = [
    ['--file', 'long.txt', text],
    ['--file', 'long.txt', text + 1, 'long.txt has 4.2 MB; at most 4.2 MB can go along.\n'],
    ['--image', 'wide.png', picture + 1, 'wide.png has 33.6 MB; at most 33.6 MB can go along.\n'],
  ];
  for (const [flag, name, size, says = ''] of cases) {
    const isText = flag === '--file';
    writeFileSync(join(cwd, name), isText ? 'x'.repeat(size) : pictures.png);
    if (!isText) truncateSync(join(cwd, name), size);
    const run = start({ args: ['chat', 'go', flag, name], input: '' });
    t.equal(await run.ended, says === '' ? 0 : 2, name);
    t.equal(run.stderr.text(), says);
    t.equal(run.asked.length, says === '' ? 1 : 0);
  }
});

t.test('the clipboard program of each system', where('sh'), async (t) => {
  const first = (platform: NodeJS.Platform, env: Record<string, string>) =>
    clipboardPrograms(platform, env).map(([command]) => command);
  t.strictSame(clipboardPrograms('darwin', {}), [['env', 'LC_CTYPE=UTF-8', 'pbcopy']]);
  t.match(
    first('win32', {}),
    [/^C:\\Windows.System32.*powershell\.exe$/],
    'not what stands in the working folder',
  );
  t.strictSame(first('linux', {}), [], 'without a screen there is none');
  t.strictSame(first('linux', { WAYLAND_DISPLAY: 'w', DISPLAY: ':0' }), ['wl-copy', 'xclip', 'xsel']);
  t.strictSame(first('darwin', { SSH_CONNECTION: 'x' }), [], 'that of another machine is not it');
  t.equal(clipboardSequence('x'.repeat(60_000)), '', 'a terminal takes only so much');
  t.equal(await copyText('x', 'linux', {}), false);
  const bin = mkdtempSync(join(tmpdir(), 'runner-clipboard-'));
  const { PATH = '' } = process.env;
  t.teardown(() => {
    process.env['PATH'] = PATH;
    rmSync(bin, { recursive: true, force: true });
  });
  process.env['PATH'] = `${bin}:${PATH}`;
  const program = (name: string, script: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  program('wl-copy', 'exit 1');
  program('xclip', 'exit 1');
  program('xsel', `cat > "${join(bin, 'taken')}"; echo "$@" >> "${join(bin, 'taken')}"`);
  t.equal(await copyText('some text', 'linux', { WAYLAND_DISPLAY: 'w' }), false, 'it takes nothing');
  t.equal(await copyText('some text\n', 'linux', { WAYLAND_DISPLAY: 'w', DISPLAY: ':0' }), true);
  t.equal(readFileSync(join(bin, 'taken'), 'utf8'), 'some text\n--input --clipboard\n');
});

t.test('config shows where each setting comes from', async (t) => {
  const settings = [
    { name: 'host', value: 'http://box:11434', from: 'client' },
    { name: 'logLevel', value: 'warn', from: 'client' },
    { name: 'mcpServers', value: { files: 'npx\u001b[2J' }, from: 'file' },
    { name: 'timeouts', value: {}, from: 'environment' },
  ];
  const answers = { 'runner/settings/list': () => ({ path: '/home/me/c.json', settings }) };
  const { out, error } = await runOnce({
    args: ['config', '--server', 'box'],
    env: { HOME: '/home/me' },
    answers,
  });
  t.strictSame(
    out.split('\n').map((line) => line.split(/ {2,}/)),
    [
      ['SETTING', 'VALUE', 'FROM'],
      ['host', 'http://box:11434', '--server'],
      ['logLevel', 'warn', 'the terminal'],
      ['mcpServers', '{"files":"npx\\u001b[2J"}', 'the file'],
      ['timeouts', 'none', 'OLLAMA_HOST'],
      [''],
    ],
  );
  t.equal(error, 'The file is ~/c.json. Tokens, arguments and headers are not shown.\n');
  const json = await runOnce({ args: ['config', '--json'], env: { OLLAMA_HOST: 'box' }, answers });
  t.hasStrict(json.events(), [{ name: 'host', value: 'http://box:11434', from: 'OLLAMA_HOST' }]);
});
