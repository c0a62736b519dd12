import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { ResponseError } from 'vscode-jsonrpc';
import { openAddress, openerOf } from '../../client/terminal/cli/systemPrograms.ts';
import type { Advice } from '../../protocol/messages/advice.ts';
import type { ChatParams, ChatResult, Message } from '../../protocol/messages/chat.ts';
import type { Model } from '../../protocol/messages/models.ts';
import { pictures } from '../support/pictures.ts';
import { has, where } from '../support/systems.ts';
import {
  type Asked,
  offline,
  type Piece,
  startTerminal,
  type TerminalOptions,
  type Turn,
} from './terminalPeer.ts';

const folder = mkdtempSync(join(tmpdir(), 'runner-session-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const yes = { value: true, from: 'server' } as const;
const no = { value: false, from: 'server' } as const;
const capabilities = { completion: yes, tools: no, vision: no, thinking: no, insert: no, embedding: no };
const model: Model = { name: 'm:1b', server: 'default', family: 'm', capabilities, context: {} };
const models = [model];

function resultOf(content: string, more: Partial<ChatResult> = {}): ChatResult {
  const usage = { promptTokens: 3, completionTokens: 20 };
  return { finishReason: 'stop', message: { role: 'assistant', content }, usage, notices: [], ...more };
}

const toolCall = { id: 'c1', name: 'look', arguments: { at: 'x' } };
const notice = { code: 'context-nearly-full', message: 'Nearly\u001b[2J full.' } as const;
const pieces: readonly Piece[] = [
  { kind: 'notice', notice },
  { kind: 'thinking', text: 'hm' },
  { kind: 'text', text: '# Hi\n' },
  { kind: 'text', text: 'a **b**' },
  { kind: 'toolCall', toolCall },
];

async function say({ send }: Turn): Promise<ChatResult> {
  for (const piece of pieces) await send(piece);
  return resultOf('# Hi\na **b**', { notices: [notice] });
}

async function sayCut(turn: Turn): Promise<ChatResult> {
  return { ...(await say(turn)), finishReason: 'length' };
}

async function failHalfway({ send }: Turn): Promise<ChatResult> {
  await send({ kind: 'text', text: 'half' });
  const partial: Message = { role: 'assistant', content: 'half' };
  throw new ResponseError(-33009, 'The runner stopped. Ask again.', {
    kind: 'runner-failed',
    retryable: true,
    partial,
  });
}

/** Says a word and waits for the cancel. */
async function sayUntilCancelled({ send, token }: Turn): Promise<ChatResult> {
  await send({ kind: 'text', text: 'begun ' });
  if (!token.isCancellationRequested)
    await new Promise<void>((resolve) => token.onCancellationRequested(() => resolve()));
  return resultOf('begun ', { finishReason: 'cancelled' });
}

t.test('an answer in a script is its text, and the rest goes to standard error', async (t) => {
  let asked: unknown;
  const run = startTerminal({
    args: ['chat', ' Explain', 'this: '],
    input: '  code\n',
    models,
    chat: (turn) => {
      asked = turn.params;
      return sayCut(turn);
    },
  });
  t.equal(await run.ended, 1);
  t.hasStrict(asked, { model: 'm:1b', messages: [{ role: 'user', content: 'Explain this:\n\n  code' }] });
  t.equal(run.stdout.text(), '# Hi\na **b**\n');
  t.equal(
    run.stderr.text(),
    'Nearly␛[2J full.\ntool call: look {"at":"x"}\nThe answer was cut: it reached its limit of tokens.\n',
  );
});

t.test('the flags reach the turn', async (t) => {
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const [style, notes, dot] = [
    file('style', 'Brief.\n'),
    file('notes.md', 'a\n'),
    file('dot.png', pictures.png),
  ];
  const flags = [
    '--system',
    `@${style}`,
    '--file',
    notes,
    '--image',
    dot,
    '--think=high',
    '--context',
    '4096',
  ];
  const options = ['temperature=0.2', 'stop=x', 'numa=false', 'low_vram=true'];
  const more = [...options.flatMap((option) => ['--option', option]), '--keep-alive', '5m'];
  const prompt = {
    role: 'user',
    content: 'hello',
    attachments: [{ path: notes, text: 'a\n', uris: [pathToFileURL(notes).href], language: 'md' }],
    images: [pictures.png.toString('base64')],
  };
  const want = {
    model: 'm:1b',
    messages: [{ role: 'system', content: 'Brief.' }, prompt],
    think: 'high',
    options: { temperature: 0.2, stop: ['x'], numa: false, low_vram: true, num_ctx: 4096 },
    keepAlive: '5m',
  };
  const asked: Turn['params'][] = [];
  const chat = (turn: Turn) => {
    asked.push(turn.params);
    return sayCut(turn);
  };
  for (const words of [
    ['chat', 'hello'],
    ['run', 'm:1b', 'hello'],
  ]) {
    const run = startTerminal({ args: [...words, ...flags, ...more], input: '', models, chat });
    t.equal(await run.ended, 1, run.stderr.text());
    t.hasStrict(asked.pop(), want);
  }
  const conversation = startTerminal({ args: [...flags, ...more], isScreen: true, models, chat });
  await conversation.enter('hello', /length\)\n[^›]*›/);
  await conversation.enter('again', /length\)\n.*length\)\n[^›]*›/s);
  conversation.type('/bye\r');
  t.equal(await conversation.ended, 0);
  t.hasStrict(asked[0], want);
  t.strictSame(
    asked[1]?.messages.map(({ role, attachments, images }) => ({
      role,
      along: (attachments ?? images)?.length,
    })),
    [
      { role: 'system', along: undefined },
      { role: 'user', along: 1 },
      { role: 'assistant', along: undefined },
      { role: 'user', along: undefined },
    ],
    'what goes along goes once',
  );
});

t.test('the last line of an answer ends exactly once, on a screen and in a pipe', async (t) => {
  const text = (said: string): Piece => ({ kind: 'text', text: said });
  const call: Piece = { kind: 'toolCall', toolCall };
  const cases: readonly {
    name: string;
    said: readonly Piece[];
    pipe: string;
    screen: string;
    columns?: number;
  }[] = [
    { name: 'a word', said: [text('a')], pipe: 'a\n', screen: 'a\n' },
    { name: 'a line', said: [text('a\n'), text('')], pipe: 'a\n', screen: 'a\n' },
    { name: 'a call between', said: [text('a'), call, text('b')], pipe: 'ab\n', screen: 'a\nb\n' },
    {
      name: 'more than fits',
      said: [text('some words that go on beyond the edge')],
      pipe: 'some words that go on beyond the edge\n',
      screen: 'some words that go on beyond\nthe edge\n',
      columns: 30,
    },
  ];
  for (const { name, said, pipe, screen, columns = 80 } of cases)
    for (const isScreen of [false, true]) {
      const chat = async ({ send }: Turn) => {
        for (const piece of said) await send(piece);
        return resultOf('');
      };
      const run = startTerminal({ args: ['chat', 'hello'], input: '', isScreen, columns, models, chat });
      t.equal(await run.ended, 0);
      t.equal(run.stdout.plain(), isScreen ? screen : pipe, `${name}, ${isScreen ? 'screen' : 'pipe'}`);
    }
  const half = startTerminal({ args: ['chat', 'hello'], isScreen: true, models, chat: failHalfway });
  t.equal(await half.ended, 1);
  t.equal(half.stdout.plain(), 'half\n', 'what had come stays');
});

t.test('a model cannot send control sequences through a pipe, except with --raw', async (t) => {
  const chat = async ({ send }: Turn) => {
    await send({ kind: 'text', text: 'a\u001b[2J\u009b\r' });
    await send({ kind: 'text', text: '\nb\tc\u0007' });
    return resultOf('');
  };
  const safe = startTerminal({ args: ['chat', 'hello'], input: '', models, chat });
  t.equal(await safe.ended, 0);
  t.equal(safe.stdout.text(), 'a␛[2J<U+009B>\nb\tc␇\n');
  const raw = startTerminal({ args: ['chat', 'hello', '--raw'], input: '', models, chat });
  t.equal(await raw.ended, 0);
  t.equal(raw.stdout.text(), 'a\u001b[2J\u009b\r\nb\tc\u0007\n');
});

t.test(
  'a note says what an answer waits for, also after a notice, and goes with the first of the answer',
  async (t) => {
    const loaded: Model = { ...model, running: { expiresAt: '2026-11-21T13:00:00Z', size: 1, sizeVram: 1 } };
    const waits = /Waiting for m:1b …/;
    const chat = async ({ send }: Turn) => {
      await run.stderr.until(waits);
      await send({ kind: 'notice', notice });
      await run.stderr.until(/full\.\nWaiting for m:1b …/);
      await send({ kind: 'text', text: 'ok' });
      return resultOf('ok');
    };
    const run = startTerminal({
      args: ['chat', 'hello'],
      isScreen: true,
      patience: 1,
      models: [loaded],
      chat,
    });
    t.equal(await run.ended, 0);
    const clear = '\r\u001b[K';
    t.equal(run.stderr.text().split(clear).length, 3, 'each note is taken back');
    t.equal(run.stdout.plain(), 'ok\n');
  },
);

t.test('a long call shows how long it takes, and how far it has come', async (t) => {
  const long = { id: 'c1', name: 'build', arguments: {} };
  const run = startTerminal({
    ...{ args: ['chat', 'hello'], isScreen: true, patience: 1, models },
    async chat({ send, report, approve }) {
      await send({ kind: 'text', text: 'Let me build.' });
      await send({ kind: 'toolCall', toolCall: long });
      await run.stderr.until(/build \{\}\nbuild … \d+ s$/);
      const asked = approve({ toolCall: long, server: 'files', description: '' });
      await run.stdout.until(/allow build of files.*\?/);
      t.match(run.stderr.text(), /\r\u001b\[K$/, 'there is no note beside a question');
      run.type('y\r');
      t.equal((await asked).decision, 'once');
      await run.stderr.until(/build … \d+ s$/);
      await report({ id: 'c1', progress: 2, total: 5, message: 'Compiling\u001b[2J' });
      await run.stderr.until(/build … \d+ s, 2 of 5: Compiling␛\[2J$/);
      await report({ id: 'another', progress: 3 });
      const toolResult = { id: 'c1', name: 'build', server: 'files', content: 'built', isError: false };
      await send({ kind: 'toolResult', toolResult });
      await run.stderr.until(/ {2}built\nWaiting for m:1b …$/);
      await send({ kind: 'text', text: 'Done.' });
      return resultOf('Done.');
    },
  });
  t.equal(await run.ended, 0);
  const [, seconds] = /build … (\d+) s/.exec(run.stderr.plain()) ?? [];
  t.equal(seconds, '1', 'it is counted from the call');
  t.match(run.stdout.plain(), /Let me build\.\n.*Done\.\n$/s);
});

t.test('an answer on a screen is rendered, with the thinking beside it', async (t) => {
  const run = startTerminal({ args: ['chat', 'hello'], isScreen: true, models, chat: sayCut });
  t.equal(await run.ended, 1);
  t.equal(run.stdout.plain(), 'Hi\na b\n');
  t.match(run.stdout.text(), '\u001b[1mb');
  t.match(
    run.stderr.plain(),
    /^Loading m:1b …\rNearly␛\[2J full\.\nthinking\nhm\n\ntool call.*\nm:1b · 20 tokens.*cut at the limit/s,
    'the model is named also after its answer',
  );
  const quiet = startTerminal({
    args: ['chat', 'hello'],
    isScreen: true,
    models,
    chat: say,
    env: { NO_COLOR: '1' },
  });
  await quiet.ended;
  t.equal(quiet.stdout.text(), '# Hi\na **b**\n');
  t.notMatch(quiet.stderr.text(), /\u001b\[\d*m/);
});

t.test('the exit code says that an answer was cut, or that there is none', async (t) => {
  for (const [name, more] of Object.entries({
    cut: { finishReason: 'length' },
    empty: { notices: [{ code: 'answer-empty', message: 'Nothing.' }] },
    lost: { notices: [{ code: 'answer-lost', message: 'Nothing.' }] },
  } as const)) {
    const run = startTerminal({
      args: ['chat'],
      input: 'hello',
      models,
      chat: async () => resultOf('a', more),
    });
    t.equal(await run.ended, 1, name);
  }
});

t.test('with --json there is one event a line', async (t) => {
  const run = startTerminal({ args: ['chat', '--json'], input: 'hello', models, chat: say });
  t.equal(await run.ended, 0);
  t.strictSame(run.stdout.events(), [
    { event: 'notice', ...notice },
    { event: 'thinking', text: 'hm' },
    { event: 'text', text: '# Hi\n' },
    { event: 'text', text: 'a **b**' },
    { event: 'toolCall', toolCall },
    {
      event: 'done',
      finishReason: 'stop',
      message: { role: 'assistant', content: '# Hi\na **b**' },
      usage: { promptTokens: 3, completionTokens: 20 },
      notices: [notice],
      model: 'm:1b',
      stats: {
        promptTokens: 3,
        completionTokens: 20,
        firstPieceSeconds: 1,
        answerSeconds: 1,
        tokensPerSecond: 20,
        windowTokens: 23,
      },
    },
  ]);
  t.equal(run.stderr.text(), '');
});

t.test('an error is a sentence, an exit code and the last event', async (t) => {
  const plain = startTerminal({ args: ['chat'], input: 'hello', models, chat: failHalfway });
  t.equal(await plain.ended, 1);
  t.equal(plain.stdout.text(), 'half\n');
  t.equal(plain.stderr.text(), 'The runner stopped. Ask again.\n');
  const failed = {
    event: 'error',
    kind: 'runner-failed',
    message: 'The runner stopped. Ask again.',
    retryable: true,
    partial: { role: 'assistant', content: 'half' },
  };
  const json = startTerminal({ args: ['chat', '--json'], input: 'hello', models, chat: failHalfway });
  t.equal(await json.ended, 1);
  t.strictSame(json.stdout.events().at(-1), failed);
  t.equal(json.stderr.text(), 'The runner stopped. Ask again.\n');
  const cases = [
    { args: ['chat'], input: ' \n', code: 2, kind: 'usage', says: /no prompt/ },
    { args: ['chat'], input: 'a\0b', code: 2, kind: 'usage', says: /Standard input is no text\./ },
    {
      args: ['chat'],
      input: 'x'.repeat(10 * 1024 * 1024 + 1),
      code: 2,
      kind: 'usage',
      says: /larger than 10 MB/,
    },
    {
      args: ['modls'],
      input: '',
      code: 2,
      kind: 'usage',
      says: /mean "models".*chat, agent, prompts, tools, mcp, models, show, library/,
    },
    { args: ['constructor'], input: '', code: 2, kind: 'usage', says: /no command/ },
    { args: ['doctor', 'now'], input: '', code: 2, kind: 'usage', says: /no further words/ },
    {
      args: ['models', '--server', 'a b'],
      input: '',
      code: 2,
      kind: 'usage',
      says: /--server cannot be used: it is/,
    },
    { args: ['chat'], input: 'hi', code: 1, kind: 'model-not-found', says: /no model yet.*runner pull/ },
  ];
  for (const { args, input, code, kind, says } of cases) {
    const run = startTerminal({ args: [...args, '--json'], input });
    t.equal(await run.ended, code, args.join(' '));
    t.match(run.stdout.events(), [{ event: 'error', kind, message: says, retryable: false }]);
    t.match(run.stderr.text(), says);
  }
});

t.test('an answer of thoughts alone is part of the conversation, an empty one is not', async (t) => {
  const call = { id: 'c', name: 'look', arguments: {} };
  const answers: readonly Message[] = [
    { role: 'assistant', content: '', thinking: 'hm' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'assistant', content: '', toolCalls: [] },
    { role: 'assistant', content: 'Yes.' },
  ];
  const asked: (readonly Message[])[] = [];
  const run = startTerminal({
    ...{ isScreen: true, models },
    chat: async ({ params }) => {
      asked.push(params.messages);
      return resultOf('', { message: answers[asked.length - 1] as Message });
    },
  });
  await run.stdout.until(/m:1b › $/);
  for (const count of [1, 2, 3, 4]) {
    await run.enter(`${count}`, new RegExp(`(?:20 tokens[^]*){${count}}m:1b › $`));
  }
  t.strictSame(asked.at(-1), [
    { role: 'user', content: '1' },
    answers[0],
    { role: 'user', content: '2' },
    { role: 'assistant', content: '' },
    { role: 'user', content: '4' },
  ]);
  t.equal(await run.quit(), 0);
});

t.test('nothing is sent to another machine unless the user names a model that runs there', async (t) => {
  const cloudy = models.map((model) => ({ ...model, remote: { host: 'https://ollama.com', model: 'c' } }));
  const asked: string[] = [];
  const chat = async (turn: Turn) => {
    asked.push(turn.params.model);
    return say(turn);
  };
  const run = startTerminal({ args: ['chat', 'hello'], input: '', models: cloudy, chat });
  t.equal(await run.ended, 1);
  t.match(run.stderr.text(), /runs elsewhere\. To send there all the same, name one, such as "--model m:1b"/);
  t.strictSame(asked, []);
  const named = startTerminal({ args: ['chat', '-m', 'm:1b', 'hello'], input: '', models: cloudy, chat });
  t.equal(await named.ended, 0);
  t.strictSame(asked, ['m:1b']);
});

t.test('an unknown model is reported with the installed ones', async (t) => {
  const chat = async () => {
    throw new ResponseError(-33004, 'It is not installed.', { kind: 'model-not-found', retryable: false });
  };
  const run = startTerminal({ args: ['chat', '-m', 'm', 'hello'], input: '', models, chat });
  t.equal(await run.ended, 1);
  t.equal(run.stderr.text(), 'There is no model "m". Did you mean m:1b? Installed: m:1b.\n');
});

t.test('Ctrl-C cuts the answer; a second Ctrl-C does not wait', async (t) => {
  const cut = startTerminal({ args: ['chat', 'go'], input: '', models, chat: sayUntilCancelled });
  await cut.stdout.until(/begun/);
  cut.interrupt();
  t.equal(await cut.ended, 130);
  t.equal(cut.stdout.text(), 'begun \n');
  const deaf = async ({ send }: Turn) => {
    await send({ kind: 'text', text: 'begun ' });
    return new Promise(() => undefined);
  };
  const stuck = startTerminal({ args: ['chat', 'go'], input: '', models, chat: deaf });
  await stuck.stdout.until(/begun/);
  stuck.interrupt();
  stuck.interrupt();
  t.equal(await stuck.ended, 130);
  t.equal(stuck.stdout.text(), 'begun \n');
});

t.test('a conversation that is left with a second Ctrl-C shows nothing more of the answer', async (t) => {
  const run = startTerminal({ isScreen: true, models, chat: sayUntilCancelled });
  await run.stdout.until(/m:1b ›/);
  await run.enter('go', /begun/);
  run.type('\u0003\u0003');
  t.equal(await run.ended, 0);
  t.notMatch(run.stdout.plain(), /cancelled/);
});

t.test('a slow reader of standard output pauses the daemon', async (t) => {
  const count = 400;
  const run = startTerminal({
    args: ['chat', 'go'],
    input: '',
    models,
    async chat({ send }) {
      for (let n = 0; n < count; n++) await send({ kind: 'text', text: `${n} ${'x'.repeat(200)}\n` });
      return resultOf('');
    },
  });
  run.stdout.stream.pause();
  // The frames wait in the stream from the daemon, which is not read.
  while (!run.started[0]?.isPaused()) await new Promise((resolve) => setImmediate(resolve));
  t.ok(run.stdout.stream.writableLength + run.stdout.stream.readableLength < 8_192, 'little is buffered');
  run.stdout.stream.resume();
  t.equal(await run.ended, 0);
  const numbers = run.stdout
    .text()
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(line.split(' ')[0]));
  t.strictSame(
    numbers,
    Array.from({ length: count }, (_, n) => n),
    'all came, in order',
  );
});

t.test('a runner that is found on this machine is offered, and one yes sets it', async (t) => {
  const llama = { url: 'http://127.0.0.1:8080', product: 'llama.cpp', models: 1 };
  const other = { url: 'http://127.0.0.1:1337', product: 'other' };
  const begin = (runners: readonly object[], given: Partial<TerminalOptions> = {}) => {
    const kept: unknown[] = [];
    const run = startTerminal({
      args: ['chat', 'hi'],
      isScreen: true,
      status: offline,
      models,
      chat: say,
      ...given,
      answers: {
        'runner/discover': () => ({ runners }),
        'runner/setHost': ({ params }) => {
          kept.push(params);
          return { path: '/home/me/config.json' };
        },
        ...given.answers,
      },
    });
    return { run, kept };
  };
  const cases = [
    {
      name: 'a yes',
      runners: [llama],
      asked:
        /^No runner answers at X\.\nllama\.cpp answers at http:\/\/127\.0\.0\.1:8080\. It has 1 model\.\nUse it from now on\? \[y\/N\] $/,
      typed: 'y\r',
      kept: llama.url,
    },
    {
      name: 'one of several',
      runners: [llama, other],
      asked: /1 {2}llama.*\n2 {2}A runner answers at .*:1337\. It wants a token\.\nUse one .* \[1-2, N\] $/,
      typed: '2\r',
      kept: other.url,
    },
    {
      name: 'of a host in the configuration',
      runners: [llama],
      given: { isHostNamed: true },
      asked: /\[y\/N\] $/,
      typed: 'yes\r',
      kept: llama.url,
    },
  ];
  for (const { name, runners, given, asked, typed, kept } of cases) {
    const one = begin(runners, given);
    await one.run.stderr.until(asked);
    one.run.type(typed);
    t.equal(await one.run.ended, 0, name);
    t.strictSame(one.kept, [{ url: kept }], name);
    t.strictSame(
      one.run.started.map(({ flags, options: { host } }) => ({ flags, host })),
      [
        { flags: [], host: undefined },
        { flags: [], host: kept },
      ],
      'it answers at once',
    );
    t.match(one.run.stderr.plain(), '"host" is set in /home/me/config.json.');
  }
  for (const [typed, runners] of [
    ['no\r', [llama]],
    ['3\r', [llama, other]],
    ['\u0004', [llama]],
  ] as const) {
    const none = begin(runners);
    await none.run.stderr.until(/N\] $/);
    none.run.type(typed);
    t.equal(await none.run.ended, 0);
    t.strictSame(none.kept, [], 'nothing is set without a yes');
    t.strictSame(none.run.started.at(-1)?.flags, ['--practice'], JSON.stringify(typed));
    t.match(none.run.stderr.plain(), 'So this is the practice runner');
  }
  const left = begin([llama]);
  await left.run.stderr.until(/\[y\/N\] $/);
  left.run.type('\u0003');
  t.equal(await left.run.ended, 130, 'Ctrl-C leaves');
  t.equal(left.run.started.length, 1);
  const silent = [
    { name: 'behind a pipe', given: { input: '' } },
    { name: 'with an output that is no screen', given: { isScreen: false, args: [] } },
    { name: 'with --server', given: { args: ['chat', '--server', 'http://x', 'hi'] } },
    { name: 'with OLLAMA_HOST', given: { env: { OLLAMA_HOST: 'http://x' } } },
    { name: 'with --practice', given: { args: ['chat', '--practice', 'hi'] } },
    {
      name: 'if a runner answers',
      given: { status: { state: 'online', kind: 'ok', message: 'It answers.' } },
    },
  ] as const;
  for (const { name, given } of silent) {
    let looked = 0;
    const discover = () => {
      looked += 1;
      return { runners: [llama] };
    };
    const { run, kept } = begin([llama], { ...given, answers: { 'runner/discover': discover } });
    await run.ended;
    t.strictSame([looked, kept], [0, []], `nobody looks ${name}`);
  }
});

t.test('the practice runner serves only if nobody named a runner and none answers', async (t) => {
  const practice = startTerminal({ args: [], input: 'hello', status: offline, models, chat: say });
  t.equal(await practice.ended, 0, 'whoever starts the program without a command sees something');
  t.strictSame(
    practice.started.map(({ flags }) => flags),
    [[], ['--practice']],
  );
  t.match(
    practice.stderr.text(),
    /^No runner answers at X\.\nSo this is the practice runner.*ollama\.com\/download/s,
  );
  t.equal(practice.stdout.text(), '# Hi\na **b**\n');
  const screen = startTerminal({
    args: ['chat', 'hi'],
    isScreen: true,
    status: offline,
    models,
    chat: say,
  });
  t.equal(await screen.ended, 0, 'and whoever reads a screen');
  for (const args of [
    ['chat', 'hello'],
    ['chat', 'hello', '--json'],
  ]) {
    const script = startTerminal({ args, input: '', status: offline, models, chat: say });
    t.equal(await script.ended, 1, 'a script never takes its words for an answer');
    t.match(script.stderr.text(), /^No runner answers at X\. Start one, .*--server URL.*--practice/);
    t.notMatch(script.stdout.text(), 'Hi');
    t.strictSame(
      script.started.map(({ flags }) => flags),
      [[]],
    );
  }
  const wanted = startTerminal({ args: ['chat', '--practice', 'hi'], input: '', models, chat: say });
  t.equal(await wanted.ended, 0);
  t.strictSame(
    wanted.started.map(({ flags }) => flags),
    [['--practice']],
    'unless it says so',
  );
  t.equal(wanted.stderr.text().includes('No runner'), false);
  const chat = async () => {
    throw new ResponseError(-33001, 'No runner answers.', { kind: 'server-unreachable', retryable: true });
  };
  for (const named of [
    { args: ['--server', 'http://x'], host: 'http://x' },
    { env: { OLLAMA_HOST: 'http://x' }, host: 'http://x' },
    { isHostNamed: true, host: undefined },
  ]) {
    const run = startTerminal({
      ...named,
      args: ['chat', '-m', 'm', 'hello', ...(named.args ?? [])],
      input: '',
      status: offline,
      chat,
    });
    t.equal(await run.ended, 1);
    t.equal(run.stderr.text(), 'No runner answers.\n');
    t.strictSame(
      run.started.map(({ flags }) => flags),
      [[]],
    );
    t.equal(run.started[0]?.options.host, named.host);
  }
  const odd = startTerminal({ args: ['chat', 'hello'], input: '', env: { OLLAMA_HOST: 'a b' } });
  t.equal(await odd.ended, 1, 'one that cannot be read is not passed over');
  t.equal(odd.stderr.text(), 'The address in OLLAMA_HOST cannot be used: it is not an address.\n');
});

t.test('a conversation survives a cancel, an error and the death of the daemon', async (t) => {
  const asked: (readonly Message[])[] = [];
  const run = startTerminal({
    isScreen: true,
    models,
    env: { XDG_STATE_HOME: folder },
    async chat(turn) {
      asked.push(turn.params.messages);
      const question = turn.params.messages.at(-1)?.content;
      if (question === 'long') return sayUntilCancelled(turn);
      if (question === 'bad') return failHalfway(turn);
      if (question === 'die') {
        turn.die('node:internal\n  throw err;\nTypeError: broken\n    at x\n');
        return new Promise(() => undefined);
      }
      await turn.send({ kind: 'text', text: `You said **${question}**` });
      return resultOf(`You said **${question}**`);
    },
  });
  await run.stdout.until(/m:1b ›/);
  await run.enter('long', /begun/);
  run.type('\u0003');
  await run.stdout.until(/cancelled/);
  await run.enter('bad', /The runner stopped\. Ask again\./);
  t.match(run.stdout.plain(), /half\nThe runner stopped/, 'what had come stays');
  await run.enter('die', /started again/);
  t.match(run.stdout.plain(), /The daemon runnerd ended unexpectedly \(exit code 3\)\. TypeError: broken\n/);
  await run.enter('last', /You said last/);
  run.started.at(-1)?.die('');
  await run.enter('lost', /started again.*started again/s);
  await run.enter('once more', /You said once more/);
  run.type('/bye\r');
  t.equal(await run.ended, 0);
  t.strictSame(asked.at(-2), [
    { role: 'user', content: 'long' },
    { role: 'assistant', content: 'begun ' },
    { role: 'user', content: 'bad' },
    { role: 'assistant', content: 'half' },
    { role: 'user', content: 'last' },
  ]);
  t.match(
    run.stdout.text(),
    /\u001b\[\?2004h.*\u001b\[\?2004l/s,
    'marked pastes are asked for, and given back',
  );
  t.equal(
    readFileSync(join(folder, 'runner', 'history'), 'utf8'),
    'long\nbad\ndie\nlast\nlost\nonce more\n/bye\n',
  );
});

t.test('two conversations at the same time keep the history of both', async (t) => {
  const env = { XDG_STATE_HOME: mkdtempSync(join(folder, 'both-')) };
  const open = async () => {
    const run = startTerminal({ isScreen: true, models, env });
    await run.stdout.until(/m:1b ›/);
    return run;
  };
  const [one, other] = [await open(), await open()];
  for (const [run, word] of [
    [one, 'alpha'],
    [other, 'beta'],
    [one, 'gamma'],
  ] as const) {
    await run.enter(`/${word}`, new RegExp(`no command /${word}`));
  }
  for (const run of [one, other]) {
    run.type('/bye\r');
    t.equal(await run.ended, 0);
  }
  t.equal(
    readFileSync(join(env.XDG_STATE_HOME, 'runner', 'history'), 'utf8'),
    ['/alpha', '/beta', '/gamma', '/bye', '/bye', ''].join('\n'),
  );
  const third = await open();
  third.type('\u001b[A\u001b[A\u001b[A');
  await third.stdout.until(/beta/);
  third.type('\u0003\u0003\u0003');
  t.equal(await third.ended, 0);
});

t.test('what is typed and pasted', async (t) => {
  const asked: (string | undefined)[] = [];
  let goOn: () => void = () => undefined;
  const run = startTerminal({
    isScreen: true,
    models,
    async chat({ params, send }) {
      const question = params.messages.at(-1)?.content;
      asked.push(question);
      if (question === 'wait') {
        await send({ kind: 'text', text: 'waiting\n' });
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
      }
      return resultOf('', { usage: { promptTokens: 0, completionTokens: asked.length } });
    },
  });
  const ask = async (...typed: readonly string[]) => {
    const count = asked.length + 1;
    for (const text of typed) {
      run.type(text);
      if (text.endsWith('\r')) await run.pause();
    }
    await run.stdout.until(new RegExp(`${count} tokens?\\n[^›]*›`));
  };
  await run.stdout.until(/m:1b ›/);
  await ask('hello\r');
  await ask('one\rtwo\r');
  await ask('first \\\r', 'second\r');
  await ask('\u001b[200~a\rb\r\rc\u001b[201~', 'd\r');
  await ask('//etc is a folder\r');
  await ask('not this\u0003but this\r');
  await ask('nor this\\\r', 'and this\u0003', 'but that\r');
  await ask('"""\r', 'def f():\\\r', '  pass\r', '"""\r');
  await ask('\u001b[A\u007f\u007f\u007f!"""\r');
  await ask(`${'\u001b[A'.repeat(6)}\r`);
  await run.enter('wait', /waiting/);
  run.type('typed ahead\r');
  await run.pause();
  goOn();
  await run.stdout.until(/› [^›]*typed ahead/);
  t.match(run.stdout.plain(), /m:1b › typed ahead\n/, 'it is seen where it is answered');
  await run.stdout.until(/12 tokens[^›]*›/s);
  run.type('\u0003');
  await run.stdout.until(/Ctrl-C again leaves, as Ctrl-D does\.\nm:1b › $/);
  run.type('x\u007f');
  run.type('\u0003');
  await run.stdout.until(/(?:Ctrl-C again.*){2}m:1b › $/s);
  run.type('\u0003');
  t.equal(await run.ended, 0, 'a second Ctrl-C in a row at an empty prompt leaves');
  t.match(run.stdout.plain(), /… \nm:1b › but that/, 'what Ctrl-C takes back goes on in a line of its own');
  t.match(run.stdout.plain(), /not this[^\n]*m:1b › but this/, 'a single line is begun anew where it is');
  t.strictSame(asked, [
    'hello',
    'one\ntwo',
    'first \nsecond',
    'a\nb\n\ncd',
    '/etc is a folder',
    'but this',
    'but that',
    'def f():\\\n  pass',
    'def f():\n  pass\n!',
    'a\nb\n\ncd',
    'wait',
    'typed ahead',
  ]);
});

t.test('Ctrl-Z and back', where('signals'), async (t) => {
  const run = startTerminal({ isScreen: true, models, chat: say });
  await run.stdout.until(/m:1b › $/);
  run.type('hel\u001a');
  await run.stdout.until(/hel$/);
  t.equal(run.suspended.length, 1);
  t.equal(run.modes.at(-1), false, 'the shell gets its keyboard');
  const before = run.stdout.plain().length;
  run.goOn();
  t.strictSame(run.modes.slice(-3), [false, false, true], 'set anew, whatever the shell made of it');
  t.match(run.stdout.plain().slice(before), /m:1b › hel$/, 'what was typed is there again');
  await run.enter('lo', /a b\n/);
  run.type('/bye\r');
  t.equal(await run.ended, 0);
});

t.test('doctor', async (t) => {
  const well = startTerminal({ args: ['doctor', '--json'], input: '', models });
  t.equal(await well.ended, 0);
  t.hasStrict(well.stdout.events(), [
    { check: 'runner', state: 'ok', found: '0.0.0' },
    { check: 'node', state: 'ok' },
    { check: 'runnerd', state: 'ok', found: '9.9.9' },
    { check: 'server', state: 'ok', found: 'The runner answers. Its version is 1.2.3.' },
    { check: 'models', state: 'ok', found: '1 installed, 1 can chat, 0 loaded' },
    { check: 'configuration', state: 'ok' },
  ]);
  const broken = startTerminal({
    ...{ args: ['doctor', '--json'], input: '', models },
    answers: {
      'runner/models/list': () =>
        new ResponseError(-33009, 'It broke.', { kind: 'runner-failed', retryable: false }),
      'runner/tools/list': () =>
        new ResponseError(-33009, 'No tools.', { kind: 'runner-failed', retryable: false }),
    },
  });
  t.equal(await broken.ended, 1);
  t.hasStrict(
    broken.stdout.events().filter(({ state }) => state === 'fail'),
    [
      { check: 'server', found: 'It broke.' },
      { check: 'tools', found: 'No tools.' },
    ],
  );
  const fault = 'The configuration /x:3 has "hots", which is left out: there is no such setting.';
  const answers = {
    'runner/status': async ({ notify }: Asked) => {
      await notify('runner/log', { level: 'warn', source: 'daemon', message: fault, code: 'configuration' });
      return { state: 'online', kind: 'ok', message: 'It answers.' };
    },
  };
  const misconfigured = startTerminal({ args: ['doctor', '--json'], input: '', models, answers });
  t.equal(await misconfigured.ended, 1);
  t.equal(misconfigured.stderr.text(), '', 'it is a finding, and said once');
  t.match(
    misconfigured.stdout.events().filter(({ check }) => check === 'configuration'),
    [{ state: 'fail', found: fault, mend: /docs\/PROTOCOL\.md/ }],
  );
  const command = startTerminal({ args: [], input: 'hi', models, answers, chat: say });
  t.equal(await command.ended, 0);
  t.match(command.stderr.text(), `${fault}\n`, 'every other command says it too');
  const findings = async (advice: Advice | undefined, list: Error) => {
    const said = advice ? { message: `${advice.problem} ${advice.text}`, advice } : { message: 'X answers.' };
    const run = startTerminal({
      args: ['doctor', '--json'],
      input: '',
      status: { state: advice?.code === 'check-proxy' ? 'offline' : 'online', kind: 'warning', ...said },
      answers: { 'runner/models/list': () => list },
    });
    t.equal(await run.ended, 1);
    return run.stdout.events();
  };
  const refused = new ResponseError(-33003, 'No.', { kind: 'unauthorized', retryable: false });
  const page = await findings(
    { code: 'check-proxy', problem: 'X answered with a page.', text: 'Look.' },
    refused,
  );
  t.match(page.find(({ check }) => check === 'server')?.mend, /page of a proxy.*--server URL or OLLAMA_HOST/);
  const locked = await findings(undefined, refused);
  t.match(locked.find(({ check }) => check === 'token')?.mend, /config\.json: \{ "auth"/);
  const ill = startTerminal({ args: ['doctor', '--server', 'http://x'], input: '', status: offline });
  t.equal(await ill.ended, 1);
  t.match(
    ill.stdout.text(),
    /fail {2}server: No runner answers at X\. Start it \(for example .*\), or name it with .*\.\n {6}-> Start it there, or correct the address in --server\.\n/,
  );
  const found = [
    { url: 'http://127.0.0.1:8080', product: 'llama.cpp', models: 1 },
    { url: 'http://127.0.0.1:1337', product: 'other' },
  ];
  const elsewhere = startTerminal({
    args: ['doctor', '--json'],
    input: '',
    status: offline,
    answers: { 'runner/discover': () => ({ runners: found }) },
  });
  t.equal(await elsewhere.ended, 1);
  t.hasStrict(
    elsewhere.stdout.events().filter(({ check }) => check === 'other'),
    [
      {
        found: 'llama.cpp answers at http://127.0.0.1:8080. It has 1 model.',
        mend: 'Use it with --server http://127.0.0.1:8080, or set "host" to it.',
      },
      { found: 'A runner answers at http://127.0.0.1:1337. It wants a token.' },
    ],
    'a runner that nobody has named is offered',
  );
});

t.test(
  'the doctor warns of a configuration that others can read, of a proxy, and of a narrow window',
  async (t) => {
    const path = join(folder, 'config', 'runner', 'config.json');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '{}', { mode: 0o644 });
    const running = { expiresAt: '', size: 1, sizeVram: 0 };
    const narrow: Model = { ...model, running, context: { allocated: 4096, maximum: 32_768 } };
    const env = { XDG_CONFIG_HOME: join(folder, 'config'), HTTP_PROXY: 'http://p', NO_PROXY: 'box' };
    const run = startTerminal({ args: ['doctor', '--json'], input: '', models: [narrow], env });
    t.equal(await run.ended, 0, 'a warning is no failure');
    const warnings = run.stdout.events().filter(({ state }) => state === 'warn');
    const mendOf = (found: RegExp) => warnings.find((warning) => found.test(warning.found))?.mend;
    t.match(mendOf(/^m:1b has 4096 tokens of 32768; longer prompts are refused/), /--context 8192/);
    t.equal(mendOf(/^HTTP_PROXY set/), 'Add 127.0.0.1,localhost to NO_PROXY.');
    if (has('modes')) t.equal(mendOf(/others can read/), `Run: chmod 600 ${path}`);
  },
);

const rivers = {
  id: '20261122-aaaaaaaa',
  title: 'Rivers\u001b[2J',
  cwd: '/projects/here',
  model: 'm:1b',
  createdAt: '2026-11-22T05:00:00Z',
  updatedAt: '2026-11-22T05:00:00Z',
  turns: 1,
};
const said = [
  { role: 'user', content: 'Which?' },
  { role: 'assistant', content: 'The **Rhine**.', thinking: 'hm', model: 'm:1b', partial: 'cancelled' },
] as const;

/** A daemon that keeps one conversation, and what it was asked. */
function keeper() {
  const asked: [method: string, params: unknown][] = [];
  const answer = (method: string, result: (params: Asked['params']) => unknown) =>
    [
      `runner/sessions/${method}`,
      ({ params }: Asked) => {
        asked.push([method, params]);
        return result(params);
      },
    ] as const;
  const known = ({ id }: Asked['params'], result: object) =>
    id === rivers.id ? result : new ResponseError(-32602, 'There is none.', { path: 'id' });
  const answers = Object.fromEntries([
    answer('create', () => ({ session: { ...rivers, title: '', turns: 0 } })),
    answer('list', ({ cwd = rivers.cwd }) => ({ sessions: cwd === rivers.cwd ? [rivers] : [] })),
    answer('read', (params) => known(params, { session: rivers, messages: said })),
    answer('update', (params) => known(params, { session: { ...rivers, title: params['title'], turns: 0 } })),
    answer('delete', (params) => known(params, {})),
  ]);
  return { asked, answers };
}

t.test('rounds of tools that are used up are asked about, and a script fails', async (t) => {
  const asked: ChatParams[] = [];
  const chat = ({ params }: Turn) => {
    asked.push(params);
    return Promise.resolve({ ...resultOf('So far.'), finishReason: 'toolLimit' as const });
  };
  const run = startTerminal({ args: ['chat', '--rounds', '5'], isScreen: true, models, chat });
  await run.stdout.until(/m:1b › $/);
  await run.enter('Rename it.', /no more rounds of tools.*Go on for 5 more\? \[y\/N\] $/s);
  await run.enter('y', /Go on for 5 more.*Go on for 5 more/s);
  await run.enter('n', /m:1b › $/);
  await run.enter('/rounds 7', /in one turn: 7\./);
  t.equal(await run.quit(), 0);
  t.match(asked, [{ maxRounds: 5 }, { maxRounds: 5, messages: [{}, {}, { content: 'Go on.' }] }]);
  const script = startTerminal({ args: ['chat', 'Rename it.'], input: '', models, chat });
  t.equal(await script.ended, 1);
  t.match(script.stderr.text(), /rounds of tools are used up, .*--rounds N/);
  t.equal(asked[2]?.maxRounds, undefined);
  for (const [ending, said] of [
    [{ finishReason: 'toolLoop' as const }, /same calls again and again/],
    [{ notices: [{ code: 'answer-loops' as const, message: 'It repeats itself.' }] }, /^$/],
  ] as const) {
    const looping = startTerminal({
      ...{ args: ['chat', 'Rename it.'], input: '', models },
      chat: () => Promise.resolve({ ...resultOf('So far.'), ...ending }),
    });
    t.equal(await looping.ended, 1);
    t.match(looping.stderr.text(), said);
  }
});

t.test('--continue and --session continue a conversation', async (t) => {
  const notes = join(folder, 'notes.md');
  writeFileSync(notes, 'x');
  for (const [flags, named] of [
    [['--continue'], ''],
    [['--session', rivers.id, '--server', 'box'], ' --server box'],
  ] as const) {
    const { asked, answers } = keeper();
    let chat: unknown;
    const run = startTerminal({
      args: ['chat', ...flags],
      isScreen: true,
      models,
      answers,
      env: { XDG_STATE_HOME: folder },
      chat: ({ params }) => {
        chat = params;
        return Promise.resolve(resultOf('Yes.'));
      },
    });
    await run.stdout.until(/Going on with "Rivers␛\[2J", 1 turn.*Which\?.*The Rhine\..*m:1b › /s);
    await run.enter('Sure?', /20 tokens/);
    t.hasStrict(chat, { session: rivers.id, messages: [...said, { role: 'user', content: 'Sure?' }] });
    await run.enter('/title Big rivers', /The title is "Big rivers"/);
    await run.enter('/sessions 1', /Going on with.*Going on with.*m:1b › $/s);
    await run.enter(`/file ${notes}`, /goes\s+along\s+with\s+the\s+next\s+prompt/);
    await run.enter('/clear', /new conversation/);
    await run.enter('Anew', /20 tokens.*20 tokens/s);
    t.strictSame((chat as ChatParams).messages, [{ role: 'user', content: 'Anew' }], 'nothing is attached');
    t.hasStrict(asked.at(-1), ['create', { cwd: '/projects/here' }]);
    t.equal(await run.quit(), 0);
    t.match(
      run.stdout.plain().replace(/\s+/g, ' '),
      new RegExp(
        `"runner chat${named} --continue" continues .*"runner chat${named} --session ${rivers.id}" at any`,
      ),
    );
  }
  const { answers } = keeper();
  const one = startTerminal({ args: ['chat', '--session', 'nope'], input: 'hi', models, answers });
  t.equal(await one.ended, 2);
  t.equal(one.stderr.text(), 'There is no conversation "nope". "runner sessions" lists them.\n');
});

t.test('a conversation that was deleted meanwhile is kept as another one', async (t) => {
  const { asked, answers } = keeper();
  const sent: ChatParams[] = [];
  const run = startTerminal({
    ...{ isScreen: true, models, answers, env: { XDG_STATE_HOME: join(folder, 'deleted') } },
    async chat({ params }) {
      sent.push(params);
      const gone = { path: 'session', kind: 'invalid', retryable: false };
      return sent.length === 1 ? new ResponseError(-32602, 'There is none.', gone) : resultOf('Yes.');
    },
  });
  await run.stdout.until(/m:1b › $/);
  await run.enter('/title Lakes', /The title is "Lakes"[\s\S]*m:1b › $/);
  t.hasStrict(asked, [
    ['create', { title: 'Lakes' }],
    ['update', { id: rivers.id, title: 'Lakes' }],
  ]);
  await run.enter('lost', /There is none\.[\s\S]*m:1b › $/);
  t.equal(sent.at(-1)?.session, rivers.id);
  await run.enter('found', /20 tokens[\s\S]*m:1b › $/);
  t.equal(asked.filter(([method]) => method === 'create').length, 2);
  t.equal(await run.quit(), 0);
});

t.test('after a crash of the daemon, the conversation goes on as it was kept', async (t) => {
  const { answers, asked: requests } = keeper();
  const asked: ChatParams[] = [];
  const run = startTerminal({
    ...{ isScreen: true, models, answers, env: { XDG_STATE_HOME: join(folder, 'crash') } },
    chat: async ({ params, die }) => {
      asked.push(params);
      if (asked.length > 1) return resultOf('ok');
      die('It crashed.');
      return new Promise(() => undefined);
    },
  });
  await run.stdout.until(/m:1b › $/);
  await run.enter('Which?', /can go on\.[\s\S]*m:1b › $/);
  await run.enter('And now?', /20 tokens[\s\S]*m:1b › $/);
  t.hasStrict(requests.at(-1), ['read', { id: rivers.id, open: true }]);
  t.equal(asked[1]?.session, rivers.id);
  t.equal(await run.quit(), 0);
});

t.test('conversations are listed, shown and deleted', async (t) => {
  const run = async (...args: string[]) => {
    const { asked, answers } = keeper();
    const terminal = startTerminal({ args: ['sessions', ...args], input: '', answers });
    const code = await terminal.ended;
    return { code, out: terminal.stdout.text(), err: terminal.stderr.text(), asked };
  };
  t.match((await run()).out, /^ID .*\n20261122-aaaaaaaa .* 1 .*Rivers␛\[2J +\/projects\/here\n$/);
  t.hasStrict((await run('big', 'rivers')).asked, [['list', { query: 'big rivers' }]]);
  const shown = (await run('show', rivers.id, '--json')).out.trim().split('\n');
  t.strictSame(JSON.parse(shown[0] ?? ''), rivers);
  t.hasStrict(
    shown.slice(1).map((line) => JSON.parse(line)),
    [
      { role: 'user', content: 'Which?' },
      { role: 'assistant', thinking: 'hm' },
    ],
  );
  t.same(JSON.parse((await run('rm', rivers.id, '--json')).out), { event: 'done', id: rivers.id });
  for (const [key, code] of [
    ['n', 1],
    ['y', 0],
  ] as const) {
    const { asked, answers } = keeper();
    const terminal = startTerminal({ args: ['sessions', 'rm', '--all'], isScreen: true, answers });
    await terminal.stderr.until(/Delete all 1 conversations\? \[y\/N\] $/);
    terminal.type(`${key}\r`);
    t.equal(await terminal.ended, code);
    t.equal(
      asked.some(([method]) => method === 'delete'),
      key === 'y',
    );
  }
  t.same(JSON.parse((await run('--json')).out), rivers);
  t.equal(
    (await run('show', rivers.id)).out,
    '› Which?\n\nthinking\nhm\n\nanswer\nThe **Rhine**.\ncancelled\n\n',
  );
  const markdown = (await run('show', rivers.id, '--markdown')).out;
  t.match(markdown, '## You\n\nWhich?\n\n## m:1b\n\n> hm\n\nThe **Rhine**.\n\n*Cancelled.*\n');
  t.equal((await run('rm', rivers.id)).out, 'Rivers␛[2J is deleted.\n');
  t.hasStrict((await run('rm', '--all', '--yes')).asked.at(-1), ['delete', { id: rivers.id }]);
  t.match((await run('show', 'aaaa')).out, /Which\?/, 'the beginning of an id');
  const paged = startTerminal({
    ...{ args: ['sessions', '--json'], input: '' },
    answers: {
      'runner/sessions/list': ({ params }: Asked) => {
        const { cursor } = params;
        if (cursor === undefined) return { sessions: [rivers], nextCursor: 'next' };
        return { sessions: [{ ...rivers, id: String(cursor) }] };
      },
    },
  });
  t.equal(await paged.ended, 0);
  t.hasStrict(paged.stdout.events(), [{ id: rivers.id }, { id: 'next' }], 'all pages');
  const twins = startTerminal({
    ...{ args: ['sessions', 'rm', '2026'], input: '' },
    answers: {
      ...keeper().answers,
      'runner/sessions/list': () => ({ sessions: [rivers, { ...rivers, id: '20261122-aaaaaaab' }] }),
    },
  });
  t.equal(await twins.ended, 2);
  t.match(twins.stderr.text(), /^2 conversations begin with "2026", such as 20261122-aaaaaaaa, .*Type more/);
  for (const args of [
    ['show'],
    ['rm'],
    ['rm', '--all'],
    ['rm', rivers.id, 'x'],
    ['show', 'nope'],
    ['rm', '2'],
  ])
    t.equal((await run(...args)).code, 2, args.join(' '));
});

const withServers = { toolServers: ['files'], models };
const read = { id: 'c1', name: 'read', arguments: { path: 'a.txt' } };
const readResult = { id: 'c1', name: 'read', server: 'files', isError: false };

/** Calls a tool, if it may, and says what came of it. */
async function callOnce({ send, approve, params }: Turn): Promise<ChatResult> {
  await send({ kind: 'toolCall', toolCall: read });
  const { decision } = await approve({ toolCall: read, server: 'files', description: 'Reads a file.' });
  const content = decision === 'deny' ? 'denied' : 'one\ntwo\nthree\nfour\nfive\nsix';
  await send({ kind: 'toolResult', toolResult: { ...readResult, content } });
  await send({ kind: 'text', text: `You said ${decision}.` });
  const messages: Message[] = [
    { role: 'assistant', content: '', toolCalls: [read] },
    { role: 'tool', content, toolCallId: 'c1', toolName: 'read' },
    { role: 'assistant', content: `You said ${decision}.` },
  ];
  return resultOf(`You said ${decision}.`, { messages: params.messages.length === 1 ? messages : [] });
}

t.test('a conversation asks before a call, and shows its result', async (t) => {
  const asked: Turn['params'][] = [];
  const run = startTerminal({
    ...withServers,
    isScreen: true,
    chat: (turn) => {
      asked.push(turn.params);
      return callOnce(turn);
    },
  });
  await run.stdout.until(
    /It\s+can\s+use\s+the\s+tools\s+of\s+files\.\s+"\/tools\s+docs\s+on"\s+lets\s+it\s+read\s+the\s+pages\s+of\s+Runner\./,
  );
  t.equal(run.started[0]?.approvesTools, true);
  run.type('go\r');
  const question =
    /tool call: read \{"path":"a\.txt"\}\r?\n.*allow read of files: a\.txt\? \[y\]es, for this \[s\]ession, \[a\]lways, \[n\]o/;
  await run.stdout.until(question);
  await run.enter('what', /allow read.*what[\s\S]*allow read/);
  await run.enter('s', /You said session\./);
  t.match(run.stdout.plain(), / {2}one\n {2}two\n {2}three\n {2}four\n {2}… 2 more lines/);
  t.hasStrict(asked[0], { hostedTools: ['files'] });
  await run.stdout.until(/20 tokens[\s\S]*m:1b ›/);
  await run.enter('/tools docs on', /The tools of docs are on\./);
  await run.enter('more', /You said session\.[\s\S]*allow read/);
  await run.enter('n', /You said deny\./);
  t.strictSame(asked[1]?.hostedTools, ['docs', 'files']);
  t.strictSame(
    asked[1]?.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'user'],
    'all that the turn added is history',
  );
  await run.stdout.until(/You said deny[\s\S]*20 tokens[\s\S]*m:1b ›/);
  t.equal(await run.quit(), 0);
});

t.test('a check of the command line is asked with its command, and its end is shown', async (t) => {
  const toolCall = { id: 'c1', name: 'run_check', arguments: { name: 'test', path: 'a.js' } };
  const content = ['exit code 1 after 3 s', 'one', 'two', 'three', 'four', 'five'].join('\n');
  const run = startTerminal({
    ...withServers,
    isScreen: true,
    args: ['chat', '--tools', 'builtin', '--check', 'test=npm "run it" -- {path}', '--check', "lint=a''b"],
    async chat({ send, approve }) {
      await send({ kind: 'toolCall', toolCall });
      const command = ['npm', 'run it', '--', 'a.js\u001b[31m'];
      const { decision } = await approve({ toolCall, server: 'builtin', description: '', command });
      await send({
        kind: 'toolResult',
        toolResult: { id: 'c1', name: 'run_check', server: 'builtin', content, isError: false },
      });
      return resultOf(`You said ${decision}.`, {});
    },
  });
  await run.stdout.until(/m:1b ›/);
  const [checks] = Object.values(run.started.at(-1)?.options?.checks ?? {});
  t.strictSame(checks, {
    test: { command: ['npm', 'run it', '--', '{path}'] },
    lint: { command: ['ab'] },
  });
  await run.enter('go', /allow run_check: test \(npm "run it" -- "a\.js.*\)\? \[y\]es, .*\[s\]ession/);
  t.notMatch(run.stdout.text(), 'a.js\u001b[31m');
  await run.enter(
    's',
    /exit code 1 after 3 s\r?\n {2}… 2 more lines\r?\n {2}three\r?\n {2}four\r?\n {2}five/,
  );
  await run.stdout.until(/five[\s\S]*m:1b ›/);
  t.equal(await run.quit(), 0);
  for (const wrong of ['test', '=npm', 'a b=npm', 'test=', 'test="npm', "test=npm 'x"]) {
    const refused = startTerminal({ ...withServers, args: ['chat', '--check', wrong, 'hi'], input: '' });
    t.equal(await refused.ended, 2, wrong);
    t.match(refused.stderr.text(), /is no check: it is a name, "=" and a command/);
  }
});

t.test('/check lists the checks of the folder, and takes a suggestion after a yes', async (t) => {
  const suggested = {
    name: 'lint',
    folder: '/p',
    command: ['npm', 'run', 'lint'],
    file: 'package.json',
    hash: 'h',
  };
  const allowed: unknown[] = [];
  const run = startTerminal({
    ...withServers,
    isScreen: true,
    args: ['chat', '--tools', 'builtin'],
    answers: {
      'runner/checks/list': () => ({ checks: [{ name: 'test', folder: '/p', command: ['npm', 'test'] }] }),
      'runner/checks/suggest': () => ({ suggestions: [suggested] }),
      'runner/checks/allow': ({ params }) => {
        allowed.push(params);
        return {};
      },
    },
  });
  await run.stdout.until(/m:1b › $/);
  await run.enter(
    '/check',
    /test +npm test\r?\nlint +npm run lint +package\.json suggests it: "\/check lint"/,
  );
  await run.enter('/check nothing', /Nothing suggests a check "nothing"/);
  await run.enter(
    '/check lint',
    /with your rights[\s\S]*let models run "npm run lint" here, until package\.json changes\?/,
  );
  await run.enter('n', /Nothing was changed/);
  t.strictSame(allowed, []);
  await run.enter('/check lint', /changed[\s\S]*until package\.json changes\? \[y\/N\] $/);
  await run.enter('y', /The check lint counts from the next prompt on/);
  t.strictSame(allowed, [{ folder: '/p', name: 'lint', hash: 'h' }]);
  t.equal(await run.quit(), 0);
});

t.test('an edit is asked with its change, which is folded if it is long', async (t) => {
  const lines = Array.from({ length: 60 }, (_, index) => `+line ${index + 1}`);
  const small = '@@ -1,2 +1,2 @@\n \tkept\n-old \u001b[31m\n+新しい行\n\\ No newline at end of file\n';
  const changes = [small, `@@ -0,0 +1,61 @@\n+${'x'.repeat(600)}\n${lines.join('\n')}\n`];
  const run = startTerminal({
    ...withServers,
    isScreen: true,
    args: ['chat', '--tools', 'builtin'],
    async chat({ send, approve }) {
      const unified = changes.shift() ?? '';
      const toolCall = {
        id: 'e1',
        name: 'edit_file',
        arguments: { path: 'src/a.ts', edits: [{ old: 'a'.repeat(600), new: 'b' }] },
      };
      await send({ kind: 'toolCall', toolCall });
      const { decision } = await approve({
        toolCall,
        server: 'builtin',
        description: 'Edits a file.',
        decisions: ['once', 'deny'],
        diff: {
          path: '/project/src/a.ts',
          name: 'src/a.ts',
          after: '',
          unified,
          ...(unified === small ? { before: '' } : {}),
        },
      });
      await send({ kind: 'text', text: `You said ${decision}.` });
      return resultOf(`You said ${decision}.`, {});
    },
  });
  await run.stdout.until(/m:1b ›/);
  t.match(run.started[0], { showsDiffs: true, folder: /^\// });
  await run.enter('go', /allow edit_file[^?]*\? \[y\]es, \[n\]o \[WHY\] $/);
  t.match(
    run.stdout.plain(),
    /tool call: edit_file src\/a\.ts \(1 edit\)\r?\nsrc\/a\.ts\r?\n@@ .* @@\r?\n {5}kept\r?\n-old ␛\[31m\r?\n\+新しい行\r?\n\\ No/,
  );
  t.notMatch(run.stdout.text(), 'old \u001b[31m', 'nothing in a file drives the terminal');
  await run.enter('a', /edit_file: \S+\? .*a[\s\S]*edit_file: \S+\? \[y\]es, \[n\]o \[WHY\] $/);
  await run.enter('y', /You said once\.[\s\S]*m:1b ›/);
  await run.enter(
    'go',
    /src\/a\.ts \(new file\)[\s\S]*… 28 more lines\r?\n.*\[n\]o \[WHY\], show the \[w\]hole change $/,
  );
  t.match(run.stdout.plain(), /x… 101 more characters/);
  t.notMatch(run.stdout.plain(), /\+line 60/);
  await run.enter('w', /\+line 60\r?\n.*allow edit_file[^?]*\? \[y\]es, \[n\]o \[WHY\] $/);
  t.match(run.stdout.plain(), new RegExp(`\\+${'x'.repeat(600)}`));
  await run.enter('n', /You said deny\.[\s\S]*m:1b ›/);
  t.equal(await run.quit(), 0);
});

t.test(
  'an agent works in a mode, and its user answers for a whole answer or with a reason',
  where('sh'),
  async (t) => {
    const asked: (ChatParams['agent'] | undefined)[] = [];
    const decided: unknown[] = [];
    const attached: unknown[] = [];
    const diff = {
      path: '/p/a.ts',
      name: 'a.ts',
      before: 'a',
      after: 'b',
      unified: '@@ -1,1 +1,1 @@\n-a\n+b\n',
    };
    const edit = {
      id: 'e1',
      name: 'edit_file',
      arguments: { path: 'a.ts', old_string: 'a', new_string: 'b' },
    };
    const check = { id: 'e2', name: 'run_check', arguments: { name: 'test' } };
    const about = { server: 'builtin', description: '' };
    const run = startTerminal({
      ...withServers,
      isScreen: true,
      cwd: folder,
      args: ['agent', '--mode', 'read'],
      async chat({ params, send, approve }) {
        asked.push(params.agent);
        attached.push(params.messages.at(-1)?.attachments);
        if (params.agent?.mode === 'edit') {
          await send({ kind: 'toolCall', toolCall: edit });
          const result = { ...about, id: 'e1', name: 'edit_file', content: 'Changed a.ts.', isError: false };
          await send({ kind: 'toolResult', toolResult: { ...result, diff } });
          await send({ kind: 'toolCall', toolCall: check });
          decided.push(await approve({ ...about, toolCall: check, command: ['npm', 'test'] }));
        } else {
          await send({ kind: 'toolCall', toolCall: edit });
          const decisions = ['once', 'answer', 'deny', 'stop'] as const;
          decided.push(await approve({ ...about, toolCall: edit, diff, decisions }));
        }
        await send({ kind: 'text', text: 'Done.' });
        const edits = [
          { path: 'a.ts', added: 1, removed: 1 },
          { path: 'a.ts', added: 1, removed: 1 },
          { path: 'b.ts', added: 1, removed: 1 },
        ];
        return {
          ...resultOf('Done.', {}),
          usage: { promptTokens: 5_200, completionTokens: 20, contextLength: 8_192 },
          agent: { rounds: 14, edits, checks: [{ name: 'test', exitCode: 0, ms: 5 }] },
          messages: [
            { role: 'assistant', content: '', toolCalls: [edit] },
            { role: 'tool', content: 'x', toolCallId: 'e1' },
            { role: 'assistant', content: 'Done.' },
          ],
        };
      },
    });
    await run.stdout.until(/read m:1b › $/);
    t.strictSame(run.started[0]?.decisions, ['answer', 'stop']);
    for (const [typed, decision] of [
      ['a', { decision: 'answer' }],
      ['n use util.js', { decision: 'deny', reason: 'use util.js' }],
      ['s that is enough', { decision: 'stop', reason: 'that is enough' }],
    ] as const) {
      decided.length = 0;
      await run.enter('go', /\[y\]es, \[a\]ll edits of this answer, \[n\]o \[WHY\], \[s\]top $/);
      await run.enter(typed, /m:1b › $/);
      t.strictSame(decided, [decision], typed);
    }
    await run.stdout.until(
      /3 edits in 2 files · check test: exit 0 · 14 rounds[\s\S]*20\s+tokens[\s\S]*5\.1k\s+of\s+8k/,
    );
    await run.enter('/mode', /The mode is read: it reads, and changes nothing\.[\s\S]*read m:1b › $/);
    await run.enter(
      '/mode all',
      /"all" is no mode: it is one of read, ask, edit, auto\.[\s\S]*read m:1b › $/,
    );
    await run.enter('/mode edit', /The mode is edit[\s\S]*all\s+the\s+same[\s\S]*edit m:1b › $/);
    await run.enter(
      '!printf "one\\ntwo\\n"; exit 3',
      /one\r?\ntwo\r?\n.*goes along with the next prompt\.[\s\S]*edit m:1b › $/,
    );
    await run.enter(
      'go',
      /allow run_check: test \(npm test\)\? .*\[n\]o, show the \[d\]iff of 1 edit that you have not seen $/s,
    );
    t.strictSame(attached.at(-1), [
      { path: '$ printf "one\\ntwo\\n"; exit 3', text: 'exit code 3\none\ntwo' },
    ]);
    await run.enter(
      'd',
      /-a\r?\n\+b\r?\n.*allow run_check[^?]*\? \[y\]es, for this \[s\]ession, \[a\]lways, \[n\]o $/s,
    );
    await run.enter('y', /edit m:1b › $/);
    await run.enter('!!is a prompt', /is a prompt[\s\S]*allow run_check[^?]*\? .* $/);
    t.equal(asked.length, 5);
    await run.enter('n', /edit m:1b › $/);
    await run.enter('!', /Say which command to run[\s\S]*m:1b › $/);
    t.equal(await run.quit(), 0);
    t.strictSame(asked.slice(-2), [{ mode: 'edit' }, { mode: 'edit' }]);

    const script = startTerminal({
      ...withServers,
      args: ['agent', '--json', '--mode', 'edit', '--allow', 'builtin,builtin/edit_file', 'go'],
      input: '',
      chat: async ({ send }) => {
        const result = { ...about, id: 'e1', name: 'edit_file', content: 'Changed a.ts.', isError: false };
        await send({ kind: 'toolResult', toolResult: { ...result, diff } });
        const checks = [{ name: 'test', exitCode: 1, ms: 5 }];
        return { ...resultOf('ok'), finishReason: 'toolLoop', agent: { rounds: 9, edits: [], checks } };
      },
    });
    t.equal(await script.ended, 1);
    t.hasStrict(script.started.at(-1)?.options?.approvals, { builtin: ['*', 'edit_file'] });
    const done = JSON.parse(script.stdout.text().trim().split('\n').at(-1) ?? '');
    t.match(done, { event: 'done', stopped: 'toolLoop', rounds: 9, edits: [], checks: [{ exitCode: 1 }] });
    const wrong = startTerminal({ ...withServers, args: ['agent', '--mode', 'all', 'go'], input: '' });
    t.equal(await wrong.ended, 2);
  },
);

t.test('only an answer to the question allows a call', async (t) => {
  let call: () => void = () => undefined;
  const run = startTerminal({
    ...withServers,
    isScreen: true,
    async chat(turn) {
      await turn.send({ kind: 'text', text: 'Looking.\n\n' });
      await new Promise<void>((resolve) => {
        call = resolve;
      });
      return callOnce(turn);
    },
  });
  await run.stdout.until(/m:1b ›/);
  await run.enter('go', /Looking/);
  run.type('next\r');
  await run.pause();
  run.type('actually, what about \u001b[D\u001b[D');
  await new Promise(setImmediate);
  call();
  for (const [index, word] of ['', 'stop', 'show me', 'abort', 'apt update', 'yes please', 'y'].entries()) {
    await run.stdout.until(new RegExp(`(allow read[\\s\\S]*){${index + 1}}`));
    t.notMatch(run.stdout.plain(), /You said/, `after ${index} words`);
    run.type(`${word}\r`);
  }
  await run.stdout.until(/You said once\./);
  await run.stdout.until(/m:1b › next/);
  await run.stdout.until(/next[\s\S]*Looking/);
  run.type('X');
  await new Promise(setImmediate);
  call();
  await run.stdout.until(/next[\s\S]*allow read/);
  await run.enter('No', /You said deny\.[\s\S]*m:1b › actually, what abouXt $/);
  run.type('\u0003\u0004');
  t.equal(await run.ended, 0);
});

t.test('typing ahead for the shell does not allow a call', async (t) => {
  const run = startTerminal({
    ...withServers,
    isScreen: true,
    args: ['chat', '--tools', 'files', 'go'],
    chat: (turn) =>
      callOnce({
        ...turn,
        approve: (question) =>
          turn.approve({ ...question, toolCall: { ...question.toolCall, name: 'files-read' } }),
      }),
  });
  run.type('apt update\ra\rhalf');
  await run.stdout.until(/allow files-read of files.*\?/);
  await run.enter('s', /You said session\./);
  t.equal(await run.ended, 0);
  t.notMatch(run.stdout.plain(), /apt|half/);
});

t.test('a question shows the arguments, or how much of them is cut', async (t) => {
  const content = `${'\u{1f600}'.repeat(1_000)}END`;
  for (const { name, args, want } of [
    {
      name: 'a long argument is shown whole at the question',
      args: { path: 'a', content },
      want: / {2}"path": "a"\n {2}"content": "(\u{1f600}){1000}END"\nallow write of files: a\?/u,
    },
    {
      name: 'a longer one is cut and counted',
      args: { content: content.repeat(3) },
      want: / {2}"content": "[^"]*[\u{1f600}END]… \d{4} more characters\nallow write/u,
    },
  ]) {
    const toolCall = { id: 'c1', name: 'write', arguments: args };
    for (const words of [[], ['chat', '--tools', 'files', 'go']]) {
      const run = startTerminal({
        ...withServers,
        isScreen: true,
        args: words,
        async chat({ send, approve }) {
          await send({ kind: 'toolCall', toolCall });
          await approve({ toolCall, server: 'files', description: '' });
          return resultOf('');
        },
      });
      if (words.length === 0) {
        await run.stdout.until(/m:1b ›/);
        run.type('go\r');
      }
      await run.stdout.until(/allow write/);
      t.match(run.stdout.plain(), want, name);
      const line = words.length === 0 ? run.stdout : run.stderr;
      t.match(line.plain(), /tool call: write \{"[^\n]*… \d{4} more characters\n/, name);
      t.notMatch(run.stdout.plain(), /\ufffd/, 'no character is cut in half');
      run.type('n\r');
      if (words.length === 0) {
        await run.stdout.until(/20 tokens[^›]*›/);
        run.type('\u0004');
      }
      t.equal(await run.ended, 0);
    }
  }
});

t.test('Ctrl-C at the question cancels the turn', async (t) => {
  const run = startTerminal({
    ...withServers,
    isScreen: true,
    chat: async (turn) => {
      const cancelled = new Promise<void>((resolve) => turn.token.onCancellationRequested(() => resolve()));
      void callOnce(turn).catch(() => undefined);
      await cancelled;
      return resultOf('', { finishReason: 'cancelled', messages: [] });
    },
  });
  await run.stdout.until(/›/);
  await run.enter('go', /allow read/);
  run.type('\u0003');
  await run.stdout.until(/cancelled[\s\S]*m:1b ›/);
  t.equal(await run.quit(), 0);
});

t.test(
  'what other calls return is shown after the question, and the end of the turn withdraws it',
  async (t) => {
    const write = { id: 'c2', name: 'write', arguments: {} };
    const run = startTerminal({
      ...withServers,
      isScreen: true,
      chat: async ({ send, approve, params, die }) => {
        const isLast = params.messages.length > 1;
        for (const toolCall of [read, write]) await send({ kind: 'toolCall', toolCall });
        const asked = approve({ toolCall: write, server: 'files', description: '' });
        await run.stdout.until(isLast ? /You said once[\s\S]*allow write/ : /allow write/);
        await send({ kind: 'toolResult', toolResult: { ...readResult, content: 'one' } });
        if (isLast) return die('Error: broken\n');
        // The result crosses streams on its way to the question.
        for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
        run.type('y\r');
        const { decision } = await asked;
        await send({ kind: 'text', text: `You said ${decision}.` });
        return resultOf(`You said ${decision}.`);
      },
    });
    await run.stdout.until(/m:1b ›/);
    await run.enter('go', /20 tokens[\s\S]*m:1b ›/);
    t.match(
      run.stdout.plain(),
      /allow write of files\? [^\n]*\[n\]o y\r?\nread a\.txt\r?\n {2}one\n[\s\S]*You said once/,
    );
    await run.enter('more', /Error: broken[\s\S]*m:1b › $/);
    t.equal(await run.quit(), 0);
  },
);

t.test('a script names its tools and what they may do', async (t) => {
  const refused = startTerminal({ ...withServers, args: ['chat', '--tools', 'nobody', 'hi'], input: '' });
  t.equal(await refused.ended, 2);
  t.match(refused.stderr.text(), /There is no tool server "nobody"\. There are: docs, files, builtin\./);
  t.strictSame(
    refused.started.map(({ flags }) => flags),
    [[]],
    'the daemon was only asked for the names',
  );
  for (const allow of ['nobody', 'nobody/read']) {
    const mistyped = startTerminal({ ...withServers, args: ['chat', '--allow', allow, 'hi'], input: '' });
    t.equal(await mistyped.ended, 2, allow);
    t.match(mistyped.stderr.text(), /There is no tool server "nobody"\. There are: docs, files, builtin\./);
  }
  let hostedTools: unknown;
  const run = startTerminal({
    ...withServers,
    args: ['chat', '--json', '--tools', 'files,docs', '--allow', 'files/read', '--allow', 'docs', 'hi'],
    input: '',
    chat: async ({ params, send }) => {
      ({ hostedTools } = params);
      await send({ kind: 'toolCall', toolCall: read });
      await send({ kind: 'toolResult', toolResult: { ...readResult, content: 'x' } });
      return resultOf('ok');
    },
  });
  t.equal(await run.ended, 0);
  t.strictSame(hostedTools, ['files', 'docs']);
  t.equal(run.started.at(-1)?.approvesTools, false);
  t.hasStrict(run.started.at(-1)?.options, {
    mcpServers: { docs: { command: 'runner-docs' } },
    approvals: {
      docs: ['search_docs', 'get_doc_markdown', 'list_collections', '*'],
      files: ['read'],
    },
  });
  const all: readonly (readonly [string, readonly string[]])[] = [
    ['chat --tools all hi', ['docs', 'files']],
    ['chat --tools builtin,all,files hi', ['docs', 'files', 'builtin']],
    ['agent hi', ['builtin']],
    ['agent --tools docs,builtin hi', ['builtin', 'docs']],
  ];
  for (const [line, want] of all) {
    const every = startTerminal({
      ...{ ...withServers, args: line.split(' '), input: '' },
      chat: async ({ params }) => {
        t.strictSame(params.hostedTools, want, line);
        return resultOf('ok');
      },
    });
    t.equal(await every.ended, 0, line);
  }
  const promptless = startTerminal({ ...withServers, args: ['agent'], input: '' });
  t.equal(await promptless.ended, 2);
  t.match(promptless.stderr.text(), /pipe it in: echo "why\?" \| runner agent\n$/);
  const own = startTerminal({
    toolServers: ['docs'],
    models,
    args: ['chat', '--tools', 'docs', 'hi'],
    input: '',
    chat: async () => resultOf('ok'),
  });
  t.equal(await own.ended, 0);
  t.strictSame(own.started.at(-1)?.options.approvals, {}, "a server of the user's own is not ours");
  t.hasStrict(run.stdout.events(), [
    { event: 'toolCall', toolCall: read },
    { event: 'toolResult', toolResult: { ...readResult, content: 'x' } },
    { event: 'done' },
  ]);
  const denied = startTerminal({
    ...{ ...withServers, args: ['chat', '--tools', 'files', 'hi'], input: '' },
    chat: async ({ send }) => {
      await send({ kind: 'toolCall', toolCall: read });
      const content = 'The tool read is not allowed here, and nobody can be asked.';
      const unrun = { ...readResult, content, isError: true };
      await send({ kind: 'toolResult', toolResult: { ...unrun, unapprovedTool: 'read' } });
      await send({ kind: 'toolResult', toolResult: { ...unrun, unapprovedTool: 'read it' } });
      return resultOf('ok');
    },
  });
  t.equal(await denied.ended, 0);
  t.match(denied.stderr.text(), / {2}it was not run\. To allow it: --allow files\/read\n/);
  t.match(denied.stderr.text(), /--allow 'files\/read it'\n/);
  const silent = startTerminal({
    ...withServers,
    args: ['chat', 'hi'],
    input: '',
    chat: async ({ params }) => {
      hostedTools = params.hostedTools;
      return resultOf('ok');
    },
  });
  await silent.ended;
  t.hasStrict(silent.started.at(-1)?.options.approvals, {
    docs: ['search_docs', 'get_doc_markdown', 'list_collections'],
  });
  t.equal(hostedTools, undefined, 'servers of the user are for conversations');
});

t.test('tools are listed, and the doctor tries each server', async (t) => {
  const servers = [
    {
      name: 'files',
      state: 'ready',
      tools: [{ name: 'read', description: 'Reads a file.', inputSchema: {} }],
    },
    { name: 'gone', state: 'failed', message: 'The tool server gone ended with code 4.', tools: [] },
    {
      name: 'web',
      state: 'failed',
      needsLogin: true,
      message: 'The tool server web wants a login.',
      tools: [],
    },
  ];
  const answers = { 'runner/tools/list': () => ({ servers }) };
  const list = startTerminal({ ...withServers, args: ['tools'], input: '', answers });
  t.equal(await list.ended, 1);
  t.match(list.started[0], { showsDiffs: true, folder: /^\// }, 'the built-in tools need to know where');
  t.match(
    list.stdout.plain(),
    /files {3}ready {8}read {2}Reads a file\.\ngone {4}failed\nweb {5}needs login\n\nThe tool server gone ended.*\nThe tool server web/,
  );
  const json = startTerminal({ ...withServers, args: ['tools', '--json'], input: '', answers });
  await json.ended;
  t.strictSame(json.stdout.events(), servers);
  const doctor = startTerminal({ ...withServers, args: ['doctor'], input: '', answers });
  t.equal(await doctor.ended, 1);
  t.match(
    doctor.stdout.plain(),
    /ok {4}tools: files offers one tool\nfail {2}tools: The tool server gone ended[\s\S]*wants a login\.\n +-> Run: runner mcp login web\n/,
  );
});

t.test('a login shows its address, opens it at a terminal, and takes a pasted address', async (t) => {
  const login = { url: 'https://login.example/?a=1', redirectUrl: 'http://127.0.0.1:5/callback' };
  const finishing = (scope?: string) => {
    let finish: (result: object) => void = () => undefined;
    const finished = new Promise<object>((resolve) => (finish = resolve));
    return {
      'runner/tools/login': () => login,
      'runner/tools/finishLogin': ({ params, token }: Asked) => {
        const { redirectedTo } = params;
        token.onCancellationRequested(() => finish(new ResponseError(-32800, 'Cancelled.')));
        if (redirectedTo === 'wrong')
          return new ResponseError(-32602, 'The parameter "redirectedTo" is not valid: no.', {
            path: 'redirectedTo',
          });
        if (redirectedTo !== undefined) finish(scope === undefined ? {} : { scope });
        return finished;
      },
    };
  };
  const run = startTerminal({
    args: ['mcp', 'login', 'web'],
    isScreen: true,
    answers: finishing('read\u001b[2J'),
  });
  await run.stderr.until(/begins with http:\/\/127\.0\.0\.1:5\/callback\n/);
  t.match(run.stderr.plain(), /To log in to web, open[\s\S]*\nhttps:\/\/login\.example\/\?a=1\n/);
  run.type('\n \nwrong\n');
  await run.stderr.until(/"redirectedTo" is not valid/);
  run.type(`${login.redirectUrl}?code=c&state=s\n`);
  t.equal(await run.ended, 0);
  t.match(run.stderr.plain(), /You are logged in to web, for: read␛\[2J\.\n$/);
  t.equal(run.stdout.text(), '');
  t.strictSame(run.opened, [login.url]);

  const stopped = startTerminal({
    args: ['mcp', 'login', 'web', '--no-browser'],
    isScreen: true,
    answers: finishing(),
  });
  await stopped.stderr.until(/begins with/);
  stopped.interrupt();
  t.equal(await stopped.ended, 130);
  t.match(stopped.stderr.plain(), /Stopped\. Nobody was logged in\.\n$/);
  t.strictSame(stopped.opened, []);
  const script = startTerminal({
    args: ['mcp', 'login', 'web', '--json'],
    input: 'this is not read\n',
    answers: { ...finishing(), 'runner/tools/finishLogin': () => ({ scope: 'read' }) },
  });
  t.equal(await script.ended, 0);
  t.strictSame(script.stdout.events(), [
    { event: 'open', url: login.url },
    { event: 'done', server: 'web', scope: 'read' },
  ]);
  t.strictSame(script.opened, []);
});

t.test('a logout reports whether the login was revoked, and other words are refused', async (t) => {
  for (const { result, says } of [
    { result: { wasLoggedIn: false, isRevoked: false }, says: /You were not logged in to web/ },
    { result: { wasLoggedIn: true, isRevoked: true }, says: /and its login is revoked/ },
    { result: { wasLoggedIn: true, isRevoked: false }, says: /forgotten here\. The server did not confirm/ },
  ]) {
    const answers = { 'runner/tools/logout': () => result };
    const run = startTerminal({ args: ['mcp', 'logout', 'web'], input: '', answers });
    t.equal(await run.ended, 0);
    t.match(run.stderr.text(), says);
  }
  for (const args of [['mcp'], ['mcp', 'login'], ['mcp', 'enter', 'web']]) {
    const run = startTerminal({ args, input: '' });
    t.equal(await run.ended, 2);
    t.match(run.stderr.text(), /runner mcp login/, args.join(' '));
  }
});

t.test('the browser is started without a shell, and only if there is a screen', (t) => {
  const url = 'https://login.example/?a=1&b=%22$(x)';
  for (const { platform, env, want } of [
    { platform: 'linux', env: { DISPLAY: ':0' }, want: ['xdg-open', url] },
    { platform: 'linux', env: {}, want: undefined },
    { platform: 'linux', env: { DISPLAY: ':0', SSH_CONNECTION: 'x' }, want: undefined },
    { platform: 'darwin', env: {}, want: ['open', url] },
    {
      platform: 'win32',
      env: { SystemRoot: 'D:\\W' },
      want: [join('D:\\W', 'System32', 'rundll32.exe'), 'url.dll,FileProtocolHandler', url],
    },
  ] as const)
    t.strictSame(openerOf(url, platform, env), want);
  t.equal(openerOf('file:///etc/passwd', 'darwin', {}), undefined);
  const { PATH = '' } = process.env;
  process.env['PATH'] = folder;
  openAddress(url, 'linux', {});
  openAddress(url, 'linux', { DISPLAY: ':0' });
  process.env['PATH'] = PATH;
  // That there is no such program is known a moment later, and hurts nobody.
  setImmediate(() => t.end());
});
