import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { ResponseError } from 'vscode-jsonrpc';
import { createFindPrivacy } from '../../daemon/base/filePrivacy.ts';
import { findNamedFiles } from '../../daemon/files/namedFiles.ts';
import type { ChatResult } from '../../protocol/messages/chat.ts';
import type { FindFilesParams } from '../../protocol/messages/files.ts';
import type { Capability, Model } from '../../protocol/messages/models.ts';
import { pictures } from '../support/pictures.ts';
import { type Asked, startTerminal, type TerminalOptions, type Turn } from './terminalPeer.ts';

const cwd = mkdtempSync(join(tmpdir(), 'runner-prompts-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
mkdirSync(join(cwd, 'src'));
writeFileSync(join(cwd, 'a.ts'), 'const a = 1;\n');
writeFileSync(join(cwd, 'src', 'b.ts'), 'b');
writeFileSync(join(cwd, 'src', 'c.md'), '@a.ts');
writeFileSync(join(cwd, '.env'), 'KEY=1\n');
writeFileSync(join(cwd, 'dot.png'), pictures.png);

const capability: Capability = { value: true, from: 'server' };
const capabilities = Object.fromEntries(
  ['completion', 'tools', 'vision', 'thinking', 'insert', 'embedding'].map((name) => [name, capability]),
) as unknown as Model['capabilities'];
const models: readonly Model[] = [
  {
    name: 'm:1b',
    server: 'default',
    family: 'm',
    capabilities: { ...capabilities, embedding: { value: false, from: 'server' } },
    context: {},
  },
];

function resultOf(content: string, more: Partial<ChatResult> = {}): ChatResult {
  const usage = { promptTokens: 3, completionTokens: 20 };
  return { finishReason: 'stop', message: { role: 'assistant', content }, usage, notices: [], ...more };
}

const { signal } = new AbortController();
const answers = {
  'runner/files/find': async ({ params }: Asked) => ({
    mentions: await findNamedFiles(params as unknown as FindFilesParams, {
      findPrivacy: createFindPrivacy(() => []),
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
  t.match(json.stdout.events().slice(0, 3), [
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

t.test(
  'in a conversation, what goes along is shown, asked for, and goes with its prompt alone',
  async (t) => {
    const run = start({ isScreen: true });
    await run.stdout.until(/m:1b › $/);
    run.type('What is @a.ts and @src/x.ts\r');
    await run.stdout.until(/ok 1[^›]*› $/);
    t.match(
      run.stdout.plain(),
      /Attached a\.ts, 13 B, about 4 tokens\.\nThere is no file src\/x\.ts, so @src\/x\.ts is only text\.\n/,
    );
    run.type('and @src/ with @.env\r');
    await run.stdout.until(/Send it to m:1b\? \[y\]es, \[n\]o $/);
    run.type('y\r');
    await run.stdout.until(/ok 2[^›]*› $/);
    t.match(
      run.stdout.plain(),
      /Attached 2 files of @src\/, 6 B, about 3 tokens: src\/b\.ts and src\/c\.md\./,
    );
    t.match(run.asked[1]?.messages, [
      { content: 'What is @a.ts and @src/x.ts', attachments: [attachmentA] },
      { role: 'assistant' },
      { attachments: [{ path: 'src/b.ts' }, { path: 'src/c.md', text: '@a.ts' }, { path: '.env' }] },
    ]);
    run.type('@https://example.org/gone\r');
    await run.stdout.until(/Fetch .* from example\.org\?/);
    run.type('y\r');
    await run.stdout.until(/It is gone\.[^›]*› $/);
    run.type('@https://example.org/a\r');
    await run.stdout.until(/(Fetch .* from example\.org\?.*){2}$/s);
    run.type('\u0003');
    await run.stdout.until(/from example\.org\? [^›]*› $/);
    run.type('done\r');
    await run.stdout.until(/ok 3[^›]*› $/);
    t.equal(run.asked[2]?.messages.at(-1)?.content, 'done');
    t.equal(run.asked[2]?.messages.length, 5, 'what was left is not sent');
    run.type('/bye\r');
    t.equal(await run.ended, 0);
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
  t.match(events.stdout.events(), [{ event: 'text' }, { event: 'notice', ...notice }, { event: 'done' }]);
});

t.test('a schema file that cannot be one is refused in a sentence', async (t) => {
  writeFileSync(join(cwd, 'list.json'), '[]');
  const cases = [
    ['gone.json', 'gone.json is not there.\n'],
    ['a.ts', 'a.ts is not JSON.\n'],
    ['list.json', 'list.json is no JSON Schema: that is an object.\n'],
  ] as const;
  for (const [file, says] of cases) {
    const run = start({ args: ['chat', 'go', '--format', file], input: '' });
    t.equal(await run.ended, 2);
    t.equal(run.stderr.text(), says);
    t.strictSame(run.asked, []);
  }
  const problem = '/type is none of object';
  const chat = async () => {
    throw new ResponseError(-32602, `The parameter "format" is not valid: ${problem}.`, {
      path: 'format',
      problem,
    });
  };
  const run = start({ args: ['chat', 'go', '--format', 'schema.json'], input: '', chat });
  t.equal(await run.ended, 2);
  t.equal(run.stderr.text(), `schema.json is no JSON Schema: ${problem}.\n`);
});
