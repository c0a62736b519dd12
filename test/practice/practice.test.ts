import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { countTokens } from '../../daemon/practice/exchange.ts';
import { startPracticeRunner } from '../../daemon/practice/practiceRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import type { Piece } from '../support/runner/scriptedSpeech.ts';
import { type StandInOptions, startStandIn } from '../support/runnerStandIn.ts';
import { settled } from '../support/waiting.ts';

const label = '*Practice runner, not a language model.*\n\n';
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' }, unit: { enum: ['C', 'F'] } },
      required: ['city'],
    },
  },
};

t.test('a practice model', async (t) => {
  const { chat } = await start(t, { docs: 'docs' });

  await t.test('says in every turn what it is, and quotes a document word for word', async (t) => {
    const question = 'What happens when no runner answers?';
    const { message } = await chat({ messages: [{ role: 'user', content: question }] });
    t.ok(message.content.startsWith(label));
    t.match(message.content, /From `RUNNERS\.md`, “When no runner answers”:\n\n> /);
    t.match(message.thinking, /^Looking for .* in \d+ documents .* Best match: `RUNNERS\.md`/);
    const second = await chat({
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content: message.content },
        { role: 'user', content: 'How do I cancel an answer?' },
      ],
    });
    t.ok(second.message.content.startsWith(label));
    t.not(second.message.content, message.content);
  });

  await t.test('lists what can be asked if it has nothing to quote', async (t) => {
    for (const content of ['hello', 'zymurgy']) {
      const { message } = await chat({ messages: [{ role: 'user', content }], think: false });
      t.ok(message.content.startsWith(label));
      t.match(message.content, /Ask me about:\n\n- /);
      t.notOk(message.thinking);
    }
  });

  await t.test('calls a tool only if the question asks for one', async (t) => {
    const tools = [weather];
    const { message } = await chat({
      messages: [{ role: 'user', content: 'What is the weather in Köln for 3 days?' }],
      tools,
    });
    t.ok(message.content.startsWith(label));
    t.match(message.tool_calls, [
      {
        id: /^call_[a-z0-9]{8}$/,
        function: { index: 0, name: 'get_weather', arguments: { city: 'Köln', days: 3 } },
      },
    ]);
    const other = await chat({ messages: [{ role: 'user', content: 'What is a Modelfile?' }], tools });
    t.notOk(other.message.tool_calls);
    const camel = { function: { name: 'countOpenTabs', parameters: {} } };
    const named = await chat({
      messages: [{ role: 'user', content: 'Please count the open tabs.' }],
      tools: [weather, camel],
    });
    t.match(named.message.tool_calls, [{ function: { name: 'countOpenTabs' } }], 'named by its words');
    const single = await chat({
      messages: [{ role: 'user', content: 'Ping, please.' }],
      tools: [weather, { function: { name: 'Ping', parameters: {} } }],
    });
    t.match(single.message.tool_calls, [{ function: { name: 'Ping' } }], 'named by its only word');
    const after = await chat({
      messages: [
        { role: 'user', content: 'What is the weather in Köln?' },
        { role: 'assistant', content: '', tool_calls: message.tool_calls },
        { role: 'tool', tool_name: 'get_weather', content: '11 C\nrain' },
      ],
      tools,
    });
    t.equal(after.message.content, `${label}The tool \`get_weather\` answered:\n\n> 11 C\n> rain`);
    t.notOk(after.message.tool_calls);
    const blank = await chat({ messages: [{ role: 'tool', content: ' \n' }], tools });
    t.equal(blank.message.content, `${label}The tool answered nothing.`);
  });

  await t.test('follows a format', async (t) => {
    const messages = [{ role: 'user', content: 'Anything in F' }];
    const { message } = await chat({ messages, format: weather.function.parameters });
    t.match(JSON.parse(message.content), { city: String });
    t.ok(JSON.parse((await chat({ messages, format: 'json' })).message.content));
  });
});

t.test('without documents, it says that it has none', async (t) => {
  for (const docs of [undefined, '/no/such/folder', await emptyFolder(t)]) {
    const { chat } = await start(t, docs === undefined ? {} : { docs });
    const { message } = await chat({ messages: [{ role: 'user', content: 'Why?' }] });
    t.match(message.content, /I have no documents to quote from/);
  }
});

t.test('what can be asked about are guides, not references', async (t) => {
  const docs = await emptyFolder(t);
  await writeFile(join(docs, 'guide.md'), '---\ntitle: The guide\n---\n# The guide\n\nWords.\n');
  await writeFile(join(docs, 'api.md'), '---\ntitle: The API\ntype: reference\n---\n# The API\n\nWords.\n');
  const { chat } = await start(t, { docs });
  const { message } = await chat({ messages: [{ role: 'user', content: 'zymurgy' }] });
  t.match(message.content, /Ask me about:\n\n- The guide$/);
});

t.test('an internal error is answered as long as no answer has begun', async (t) => {
  const speak = async function* (): AsyncGenerator<Piece> {
    yield { kind: 'text', text: 'begun' };
    throw new Error('a mistake');
  };
  const runner = await startStandIn({ models: [{ name: 'm', speak }] });
  t.teardown(() => runner.close());
  const ask = async (stream: boolean) => {
    const body = JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'hello' }] });
    const answer = await fetch(`${runner.url}/api/chat`, { method: 'POST', body });
    return { status: answer.status, said: await answer.json() };
  };
  const failed = { status: 500, said: { error: 'practice runner: Error: a mistake' } };
  t.strictSame(await ask(false), failed);
  await t.rejects(ask(true), failsWith({ name: 'TypeError' }), 'one that has begun is broken off');
  t.strictSame(await ask(false), failed, 'and the next request is answered');
});

t.test('raw prompts with the tokens of any family are completed too', async (t) => {
  const { ask } = await start(t);
  const [prefix, suffix] = ['const total = sum(a);\nconst total', '\nend();\n'];
  for (const prompt of [
    `<|fim_prefix|>${prefix}<|fim_suffix|>${suffix}<|fim_middle|>`,
    `<fim_prefix>${prefix}<fim_suffix>${suffix}<fim_middle>`,
    `<PRE> ${prefix} <SUF>${suffix} <MID>`,
    `<｜fim▁begin｜>${prefix}<｜fim▁hole｜>${suffix}<｜fim▁end｜>`,
    `[SUFFIX]${suffix}[PREFIX]${prefix}`,
    `<|code_suffix|>${suffix}<|code_prefix|>${prefix}<|code_middle|>`,
    prefix,
  ]) {
    const body = { model: 'practice', prompt, raw: true, stream: false, think: false };
    t.equal((await ask('/api/generate', body)).response, ' = sum(a);', prompt);
  }
});

t.test('a hole is filled from the text around it', async (t) => {
  const { ask } = await start(t);
  const cases = [
    { prefix: 'const total = sum(a);\nconst total', suffix: '\n', want: ' = sum(a);' },
    { prefix: 'function measure() {}\nmea', suffix: '', want: 'sure' },
    { prefix: 'const total = sum(a);\nconst total\nconst total', suffix: '\n', want: ' = sum(a);' },
    { prefix: 'measure + mea\n;mea', suffix: '', want: 'sure' },
    { prefix: 'x = ', suffix: '\n}', want: '' },
  ];
  for (const { prefix, suffix, want } of cases) {
    const body = { model: 'practice', prompt: prefix, suffix: suffix || '\n', stream: false, think: false };
    t.equal((await ask('/api/generate', body)).response, want, prefix);
  }
});

t.test('an answer that the client aborts is recorded, and its work stops', async (t) => {
  const { standIn } = await start(t);
  let said = 0;
  standIn.answer({ kind: 'speech', pieces: () => endless(() => (said += 1)), perSecond: 500 });
  const sent = open(standIn.url, { model: 'practice', messages: [{ role: 'user', content: 'x' }] });
  await sent.firstBytes;
  sent.destroy();
  const request = await standIn.waitFor(({ aborted }) => aborted);
  t.match(request, { method: 'POST', path: '/api/chat', finished: false, abortedAt: Number });
  const before = said;
  await settled(() => said);
  t.equal(said, before);
});

t.test('a client that does not read pauses the answer', async (t) => {
  const { standIn } = await start(t);
  let said = 0;
  standIn.answer({ kind: 'speech', pieces: () => endless(() => (said += 1), 'x'.repeat(10_000)) });
  const sent = open(standIn.url, { model: 'practice', messages: [{ role: 'user', content: 'x' }] });
  await sent.firstBytes;
  // Until it rests, or has said more than all buffers hold.
  await settled(() => Math.min(said, 5_000));
  t.ok(said < 5_000, `${said} pieces`);
  sent.destroy();
});

t.test('an unload is answered before it is complete', async (t) => {
  const clock = handClock();
  const { ask, running } = await start(t, { unloadTakes: 60, now: clock.now });
  await ask('/api/chat', { model: 'practice', messages: [] });
  t.same(
    (await running()).map(({ name }) => name),
    ['practice:latest'],
  );
  const answer = await ask('/api/generate', { model: 'PRACTICE', keep_alive: 0 });
  t.match(answer, { model: 'PRACTICE', done_reason: 'unload' });
  const [model] = await running();
  t.ok(Date.parse(model?.expires_at ?? '') <= clock.now());
  clock.advance(60);
  t.same(await running(), []);
});

t.test('the stop route of the specification exists behind a switch', async (t) => {
  const clock = handClock();
  const { standIn, ask, running } = await start(t, { stopRoute: true, now: clock.now });
  await ask('/api/chat', { model: 'practice', messages: [] });
  const response = await fetch(`${standIn.url}/api/ps/practice`, { method: 'DELETE' });
  t.same(await response.json(), {});
  clock.advance(30);
  t.same(await running(), []);
});

t.test('a pull continues where it was interrupted', async (t) => {
  const { standIn, ask } = await start(t, { pullStep: 5 });
  const sent = open(standIn.url, { model: 'practice-guest' }, '/api/pull');
  await sent.until('"completed":786432');
  sent.destroy();
  await standIn.waitFor(({ aborted }) => aborted);
  const response = await fetch(`${standIn.url}/api/pull`, {
    method: 'POST',
    body: '{"model":"practice-guest"}',
  });
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.ok(lines[1].completed > 786_432, `it goes on at ${lines[1].completed}`);
  t.match(lines.at(-1), { status: 'success' });
  const { models } = await ask('/api/tags');
  t.equal(models[0]?.name, 'practice-guest:latest');
});

t.test('a prompt that does not fit is refused only on request', async (t) => {
  const { standIn, raw } = await start(t);
  const messages = [{ role: 'user', content: 'word '.repeat(500) }];
  t.match(await raw({ messages, truncate: false, options: { num_ctx: 100 } }), {
    status: 400,
    text: '{"error":"the input length exceeds the context length"}',
  });
  standIn.say('short');
  t.match((await raw({ messages, options: { num_ctx: 100 } })).text, /"prompt_eval_count":100,/);
  t.equal(countTokens('12345'), 2);
});

t.test('only texts can be embedded', async (t) => {
  const { standIn } = await start(t);
  const embed = async (fields: object) => {
    const body = JSON.stringify({ model: 'practice', ...fields });
    const response = await fetch(`${standIn.url}/api/embed`, { method: 'POST', body });
    return { status: response.status, ...((await response.json()) as { embeddings?: number[][] }) };
  };
  const { embeddings = [] } = await embed({ input: ['one', 'two'], dimensions: 1_000 });
  t.same(
    embeddings.map(({ length }) => length),
    [320, 320],
    'a vector has no more dimensions than the model',
  );
  t.same(
    (await embed({ input: 'one', dimensions: 8 })).embeddings?.map(({ length }) => length),
    [8],
  );
  for (const input of [7, ['one', 7]])
    t.match(await embed({ input }), { status: 400, error: 'invalid input type' });
});

t.test('pages of other origins and foreign host names are refused', async (t) => {
  const { standIn } = await start(t);
  const statusOf = (headers: Record<string, string>) =>
    new Promise((resolve) => {
      httpRequest(standIn.url, { headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
  t.equal(await statusOf({ host: 'rebound.example.com' }), 403);
  t.equal(await statusOf({ origin: 'https://example.com' }), 403);
  t.equal(await statusOf({ host: 'localhost:1' }), 200);
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]'])
    t.equal(await statusOf({ origin }), 200, origin);
});

t.test('the library is a page of links', async (t) => {
  const { standIn } = await start(t);
  const response = await fetch(`${standIn.url}/library`);
  t.match(response.headers.get('content-type'), 'text/html');
  t.match(await response.text(), /href="\/library\/practice-guest"/);
});

t.test('close ends running answers and leaves nothing behind', async (t) => {
  await settled(() => String(resources()));
  const before = resources();
  const runner = await startPracticeRunner({ docs: 'docs' });
  const sent = open(runner.url, { model: 'practice', messages: [{ role: 'user', content: 'models' }] });
  await sent.firstBytes;
  await runner.close();
  await new Promise((resolve) => setImmediate(resolve));
  t.same(resources(), before);
});

async function start(t: Tap, options: StandInOptions = {}) {
  const standIn = await startStandIn(options);
  t.teardown(() => standIn.close());
  const ask = async (path: string, body?: object): Promise<Said> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${standIn.url}${path}`, init);
    return JSON.parse(await response.text());
  };
  const chat = (body: object) => ask('/api/chat', { model: 'practice', stream: false, ...body });
  const raw = async (body: object, signal: AbortSignal | null = null) => {
    const text = JSON.stringify({ model: 'practice', ...body });
    const init = { method: 'POST', body: text, redirect: 'manual', signal } as const;
    const response = await fetch(`${standIn.url}/api/chat`, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const running = async (): Promise<readonly { name: string; expires_at: string }[]> =>
    (await ask('/api/ps')).models;
  return { standIn, ask, chat, raw, running };
}

/** The parts of answers that tests look at. */
interface Said {
  readonly message: {
    readonly content: string;
    readonly thinking?: string;
    readonly tool_calls?: readonly object[];
  };
  readonly response?: string;
  readonly eval_count?: number;
  readonly models: readonly { readonly name: string; readonly expires_at: string }[];
  readonly error?: string;
  readonly modelfile?: string;
}

type Tap = Pick<typeof t, 'teardown'>;

/** A request whose answer is read by hand. */
function open(url: string, body: object, path = '/api/chat') {
  const sent = httpRequest(`${url}${path}`, { method: 'POST', agent: false });
  const answered = new Promise<import('node:http').IncomingMessage>((resolve) =>
    sent.once('response', resolve),
  );
  sent.on('error', () => undefined);
  sent.end(JSON.stringify(body));
  const firstBytes = answered.then(
    (response) =>
      new Promise<void>((resolve) => {
        response.on('error', () => undefined);
        response.once('readable', () => resolve());
      }),
  );
  return {
    firstBytes,
    async until(text: string): Promise<void> {
      let read = '';
      for await (const chunk of await answered) if ((read += chunk).includes(text)) return;
    },
    destroy: () => void sent.destroy(),
    async chunks(): Promise<readonly Buffer[]> {
      const chunks: Buffer[] = [];
      for await (const chunk of await answered) chunks.push(chunk);
      return chunks;
    },
  };
}

function* endless(count: () => void, text = 'on '): Generator<Piece> {
  for (;;) {
    count();
    yield { kind: 'text', text };
  }
}

/** A clock that stands until it is moved. */
function handClock(now = Date.now()) {
  return { now: () => now, advance: (by: number) => void (now += by) };
}

function resources(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => /Server|Timeout/.test(name))
    .sort();
}

async function emptyFolder(t: Tap): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'practice-'));
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}
t.test('a folder of pages is read once, within bounds', async (t) => {
  const docs = await emptyFolder(t);
  for (let at = 0; at <= 200; at += 1)
    await writeFile(join(docs, `${String(at).padStart(3, '0')}.md`), `# ${at}\n\nWord${at}.\n`);
  await writeFile(join(docs, '000.txt'), '# no page\n\nUnicorn.\n');
  const heading = '# Long\n\n';
  await writeFile(join(docs, '001.md'), `${heading}${'y '.repeat(262_140)}zebra`);
  const { chat } = await start(t, { docs });
  const thought = async (content: string) =>
    (await chat({ messages: [{ role: 'user', content }], think: true })).message.thinking;
  t.match(await thought('word199'), /in 200 documents .* Best match: `199\.md`/);
  t.match(await thought('word200'), /Nothing fits/);
  t.match(await thought('unicorn'), /Nothing fits/, 'no page');
  t.match(await thought('zebra'), /Nothing fits/, 'the end of a long one is left out');
  await rm(join(docs, '199.md'));
  t.match(await thought('word199'), /Best match: `199\.md`/, 'once');
});

t.test(
  'an answer ends before the first of its stops, and a model leaves once its time is over',
  async (t) => {
    const clock = handClock();
    const { standIn, chat, running } = await start(t, { now: clock.now });
    standIn.say(['one ', 'two b a', ' three']);
    const options = { stop: ['a', 'b'] };
    const messages = [{ role: 'user', content: 'x' }];
    t.equal((await chat({ messages, options, keep_alive: '1m' })).message.content, 'one two ');
    clock.advance(59_000);
    t.equal((await running()).length, 1);
    clock.advance(1_001);
    t.strictSame(await running(), []);
  },
);
