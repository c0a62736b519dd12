import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Practice } from '../../daemon/practice/exchange.ts';
import { answerLoaded, parseKeepAlive, readInference, thinks } from '../../daemon/practice/inference.ts';
import { installedEntry, modelfileOf, runningEntry, shownModel } from '../../daemon/practice/listing.ts';
import { blobPath, layersOf, manifestDigest, practiceModel } from '../../daemon/practice/model.ts';
import { tryModelName } from '../../daemon/practice/modelName.ts';
import { createLoadedModels, createModelStore } from '../../daemon/practice/modelStore.ts';
import { findSections, quoteSection, readPages, splitPage, wordsOf } from '../../daemon/practice/pages.ts';
import { startPracticeRunner } from '../../daemon/practice/practiceRunner.ts';
import { answerProgress, pullLines } from '../../daemon/practice/pull.ts';
import { encodeJson } from '../../daemon/practice/server.ts';
import { createSpeaker } from '../../daemon/practice/speaker.ts';
import { countTokens, type PracticePrompt, splitTokens } from '../../daemon/practice/speech.ts';
import { callFor, sampleOf } from '../../daemon/practice/toolChoice.ts';
import { failsWith } from '../support/failsWith.ts';
import { golden } from '../support/golden.ts';
import { createRequestLog } from '../support/runner/requestLog.ts';
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

t.test('an answer names up to two other sections that fit', async (t) => {
  const more = (headings: string) => `There is more in ${headings}.`;
  for (const { name, headings, want } of [
    { name: 'no other', headings: ['Apples'], want: '> Apples are red.' },
    { name: 'one other', headings: ['Apples', 'Pears'], want: more('`a.md`, “Pears”') },
    {
      name: 'three others',
      headings: ['Apples', 'Pears', 'Plums', 'Cherries'],
      want: more('`a.md`, “Pears” and `a.md`, “Plums”'),
    },
  ]) {
    const docs = await emptyFolder(t);
    const sections = headings.map((heading) => `# ${heading}\n\nApples are red.\n`);
    await writeFile(join(docs, 'a.md'), sections.join('\n'));
    const { chat } = await start(t, { docs });
    const { message } = await chat({ messages: [{ role: 'user', content: 'apples' }] });
    t.ok(message.content.endsWith(want), `${name}: ${message.content}`);
  }
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

t.test('the vocabulary of the stand-in', async (t) => {
  const { standIn, chat, raw } = await start(t);
  const messages = [{ role: 'user', content: 'x' }];
  const call = { name: 'f', arguments: { a: 1 } };
  const lines = async () =>
    (await raw({ messages })).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  standIn.think('so so', 'thus');
  t.match(await chat({ messages }), { message: { content: 'thus', thinking: 'so so' }, done: true });
  standIn.toolCalls([call], { callsInLastLine: true });
  t.match((await lines()).at(-1), {
    done: true,
    message: { tool_calls: [{ function: { name: 'f', index: 0 } }] },
  });
  standIn.toolCalls([call]);
  t.match((await lines())[0], { done: false, message: { tool_calls: [{ function: { name: 'f' } }] } });
  standIn.swallowToolCall(31);
  t.match(await lines(), [{ done: true, eval_count: 31, message: { content: '' } }]);
  standIn.errorLine('it broke');
  t.match((await lines()).at(-1), { error: 'it broke' });
  standIn.endWithoutDone('some');
  t.notOk((await lines()).some(({ done }) => done));
  standIn.tokens(3);
  t.equal((await chat({ messages })).eval_count, 3);
  standIn.giantLine(3_000_000);
  t.equal((await lines())[0].message.content.length, 3_000_000);
  standIn.failWith(429, { error: 'slower' }, { headers: { 'retry-after': '7' } });
  const refused = await raw({ messages });
  t.match(refused, { status: 429, text: '{"error":"slower"}' });
  t.equal(refused.headers.get('retry-after'), '7');
  standIn.html();
  t.match((await raw({ messages })).headers.get('content-type'), /^text\/html/);
  standIn.redirect('/elsewhere');
  t.match(await raw({ messages }), { status: 302 });
  standIn.dieMidAnswer(2);
  await t.rejects(raw({ messages }));
  standIn.hang();
  await t.rejects(raw({ messages }, AbortSignal.timeout(30)));
  standIn.on('/api/tags').failWith(503, { error: 'busy' });
  t.equal((await fetch(`${standIn.url}/api/tags`)).status, 503);
  t.equal((await fetch(`${standIn.url}/api/tags`)).status, 200);
  standIn.say('kept for a request that asks for text');
  await chat({ messages: [] });
  t.match(await chat({ messages }), { message: { content: 'kept for a request that asks for text' } });
  await t.rejects(
    standIn.waitFor(() => false, 10),
    /No such request within 10 ms/,
  );
});

t.test('a script may split writes anywhere', async (t) => {
  const { standIn } = await start(t);
  const lines = [{ text: 'ä€😀' }, { done: true }];
  standIn.rawLines(lines, { cut: 3 });
  const sent = open(standIn.url, { model: 'practice', messages: [{ role: 'user', content: 'x' }] });
  const chunks = await sent.chunks();
  t.ok(chunks.length > 3, `${chunks.length} reads`);
  t.equal(Buffer.concat(chunks).toString(), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
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

t.test('the weights arrive in steps, and what fits in one step has no line without bytes', async (t) => {
  const step = 262_144;
  const catalog = [step, step + 1].map((size) => ({ name: `of-${size}`, size }));
  const { standIn } = await start(t, { catalog });
  const completed = async (model: string) => {
    const response = await fetch(`${standIn.url}/api/pull`, {
      method: 'POST',
      body: JSON.stringify({ model }),
    });
    const lines = (await response.text()).trim().split('\n');
    return lines
      .map((line) => JSON.parse(line))
      .filter(({ total }) => total >= step)
      .map((line) => line.completed);
  };
  t.strictSame(await completed(`of-${step}`), [step]);
  t.strictSame(await completed(`of-${step + 1}`), [undefined, step, step + 1]);
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

t.test('a session with the practice runner is answered word for word', async (t) => {
  const clock = handClock(Date.UTC(2026, 0, 1));
  const { standIn } = await start(t, { now: clock.now });
  const weights = 'weights';
  const digest = `sha256:${createHash('sha256').update(weights).digest('hex')}`;
  const user = (content: string, more: object = {}) => ({ role: 'user', content, ...more });
  const model = 'practice';
  const little = { num_ctx: 64 };
  const asked: readonly (readonly [request: string, body?: object | string])[] = [
    ...['GET /', 'GET /api/version', 'GET /api/tags', 'GET /api/ps', 'GET /nowhere'].map(
      (one) => [one] as const,
    ),
    ['POST /api/show', { model: 'practice-plain' }],
    ['POST /api/show', { model: 'none' }],
    ['POST /api/show', {}],
    ['POST /api/chat', { model, messages: [user('Hello')], stream: false, think: false }],
    ['POST /api/chat', { model, messages: [user('Hello')], stream: true }],
    ['POST /api/chat', { model, messages: [user('Hello', { images: ['a'] })], stream: false, keep_alive: 0 }],
    ['GET /api/ps'],
    ['POST /api/chat', { model, messages: [user('Hello')], options: { num_predict: 1 }, stream: false }],
    [
      'POST /api/chat',
      { model, messages: [user('Hello')], options: { stop: ['not', 'a lang'] }, think: false },
    ],
    [
      'POST /api/chat',
      { model, messages: [user('w '.repeat(100))], options: little, stream: false, shift: false },
    ],
    [
      'POST /api/chat',
      { model, messages: [user('w '.repeat(40))], options: little, stream: false, shift: false },
    ],
    ['POST /api/chat', { model, messages: [user('w '.repeat(99))], options: little, truncate: false }],
    [
      'POST /api/chat',
      { model, messages: [user('What is the weather in Köln?')], tools: [weather], stream: false },
    ],
    ['POST /api/chat', { model: 'practice-plain', messages: [user('Hi')], tools: [weather], stream: false }],
    ['POST /api/chat', { model: 'practice-plain', messages: [user('Hi')], think: true, stream: false }],
    ['POST /api/chat', { model, messages: [user('Hi')], format: 'json', stream: false }],
    ['POST /api/chat', { model, messages: 7 }],
    ['POST /api/chat', { model: 'none', messages: [] }],
    ['POST /api/chat', { model, messages: [], keep_alive: '5m' }],
    ['GET /api/ps'],
    ['POST /api/generate', { model, prompt: 'Hello', stream: false, system: 'Be kind.' }],
    [
      'POST /api/generate',
      { model, prompt: 'function add(a, b) {\n  return ', suffix: '\n}', stream: false },
    ],
    ['POST /api/generate', { model: 'practice-plain', prompt: 'a', suffix: 'b', stream: false }],
    [
      'POST /api/generate',
      { model, prompt: '<PRE> let a = 1;\nlet b = <SUF>;\n <MID>', raw: true, stream: false },
    ],
    ['POST /api/generate', { model }],
    ['POST /api/generate', { model: 'practice-plain', keep_alive: 0 }],
    ['POST /api/generate', { model, keep_alive: 0 }],
    ['GET /api/ps'],
    [`HEAD /api/blobs/${digest}`],
    [`POST /api/blobs/${digest}`, 'others'],
    ['POST /api/create', { model: 'mine', files: { 'a.gguf': digest } }],
    [`POST /api/blobs/${digest}`, weights],
    [`POST /api/blobs/${digest}`, weights],
    [`POST /api/blobs/${digest.replace(':', '-')}`, weights],
    ['POST /api/blobs/sha256:0', weights],
    [`HEAD /api/blobs/${digest}`],
    [
      'POST /api/create',
      { model: 'mine', files: { 'a.gguf': digest }, license: ['MIT', ''], system: 'Be brief.' },
    ],
    [
      'POST /api/create',
      {
        ...{ model: 'yours', from: 'mine', license: 'BSD', template: '{{ .Prompt }}', stream: false },
        ...{ parameters: { num_ctx: 9, stop: ['a'] }, messages: [{ role: 'user', content: 'x' }, 7] },
      },
    ],
    ['POST /api/create', { model: 'again', from: 'yours', parameters: { num_ctx: 8 }, license: [] }],
    ['POST /api/show', { model: 'yours' }],
    ['POST /api/show', { model: 'again', verbose: true }],
    ['POST /api/create', { model: 'a b', from: 'mine' }],
    ['POST /api/create', { model: 'other', from: 'a b' }],
    ['POST /api/create', { model: 'other', from: 'nothing' }],
    ['POST /api/create', { model: 'other' }],
    ['POST /api/create', { model: 'other', from: 'mine', template: '{{ if }}' }],
    ['POST /api/create', { model: 'other', from: 'mine', template: '{{ .Prompt' }],
    ['POST /api/pull', { model: 'nothing', stream: false }],
    ['POST /api/pull', { model: 'a b' }],
    ['DELETE /api/delete', { model: 'yours' }],
    ['DELETE /api/delete', { model: 'yours' }],
    ['GET /api/tags'],
  ];
  const answers: object[] = [];
  for (const [request, body] of asked) {
    const [method = '', path = ''] = request.split(' ');
    const sent = typeof body === 'object' ? JSON.stringify(body) : (body ?? null);
    const response = await fetch(`${standIn.url}${path}`, { method, body: sent });
    const text = (await response.text())
      .replace(/("\w+_duration":)\d+/g, '$10')
      .replace(/call_[a-z0-9]{8}/g, 'call_0');
    const type = response.headers.get('content-type');
    answers.push({
      request,
      body,
      status: response.status,
      type,
      text,
    });
    clock.advance(1_000);
  }
  const { actual, accepted } = golden('practiceSession.json', answers);
  t.equal(actual, accepted, 'test/fixtures/golden/practiceSession.json (ACCEPT=1 takes what is)');
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

t.test('small parts', async (t) => {
  t.equal(encodeJson({ a: '<b>&\u2028' }), '{"a":"\\u003cb\\u003e\\u0026\\u2028"}');
  for (const [system, want] of [
    ['two words', 'two words'],
    ['with "quotes"', 'with "quotes"'],
    ['two\nlines', '"two\nlines"'],
    [' blanks ', '" blanks "'],
    ['"two"\nlines', '""""two"\nlines"""'],
  ] as const)
    t.match(modelfileOf(practiceModel({ name: 'm', system })), `\nSYSTEM ${want}\n`, want);
  for (const [value, want] of [
    [0, 0],
    [1.5, 1_500],
    ['1h30m', 5_400_000],
    ['1m2s3ms', 62_003],
    ['-1s', Infinity],
    [-1, Infinity],
    ['0', 0],
  ] as const)
    t.equal(parseKeepAlive(value), want, String(value));
  for (const value of ['300', 'soon', true, '']) t.throws(() => parseKeepAlive(value), String(value));
  const names = {
    llama: 'llama:latest',
    'hf.co/a/B:Q4': 'hf.co/a/B:Q4',
    'registry.ollama.ai/library/m': 'm:latest',
    'a/m': 'a/m:latest',
  };
  for (const [name, want] of Object.entries(names)) {
    t.equal(tryModelName(name)?.short, want);
  }
  for (const name of ['', 'a/', ':x', 'm:', 'a b', 'a/b/c/d', 'm@sha256:1'])
    t.notOk(tryModelName(name), name);
  t.equal(tryModelName('m:20b')?.full, 'registry.ollama.ai/library/m:20b');
  for (const [schema, question, want] of [
    [{ type: 'integer' }, 'How many?', 1],
    [{ type: 'number' }, 'About -2.5, please', -2.5],
    [{ type: 'integer', minimum: 5, maximum: 9 }, 'Take 3', 5],
    [{ type: 'integer', minimum: 5, maximum: 9 }, 'Take 30', 9],
    [{ type: 'boolean' }, 'Is it?', true],
    [{ type: ['null', 'array'], items: { const: 'x' } }, 'A list', ['x']],
    [{ anyOf: [{ type: 'boolean' }, { type: 'string' }] }, 'Any', true],
    [{ oneOf: [{ default: 7 }] }, 'One', 7],
    [{ enum: ['red', 'green'] }, 'Is it Green?', 'green'],
    [{ enum: ['', 'red'] }, 'Is it blue?', ''],
    [{ enum: ['only'] }, 'Is it blue?', 'only'],
    [
      {
        type: 'object',
        properties: { days: { type: 'integer' }, share: { type: 'number' }, word: { type: 'string' }, x: 5 },
      },
      'Take 3',
      { days: 3, share: 3 },
    ],
    [{ type: 'string' }, ' Say "well done" now ', 'well done'],
    [{ type: 'string' }, ' Say it ', 'Say it'],
    [{ type: 'string' }, 'x'.repeat(300), 'x'.repeat(200)],
    [{ properties: {} }, 'Nothing', {}],
  ] as const)
    t.same(sampleOf(schema, question), want, `${JSON.stringify(schema)} ${question}`);
  for (const [name, question, want] of [
    ['url', 'Read https://a.example/b now', 'https://a.example/b'],
    ['link', 'Read it', 'https://example.org/'],
    ['path', 'Open docs/USAGE.md', 'docs/USAGE.md'],
    ['folder', 'List "all of it"', 'all of it'],
    ['file', 'Open it', 'README.md'],
    ['city', 'How warm is it in San José?', 'San José'],
    ['city', 'How warm is "it"?', 'it'],
    ['town', 'How warm is it?', 'Cologne'],
    ['town', 'Which is warm, Rome or Oslo?', 'Oslo'],
  ] as const)
    t.equal(sampleOf({ type: 'string' }, question, name), want, question);
  t.same(sampleOf(weather.function.parameters, 'in Oslo, unit F'), { city: 'Oslo', unit: 'F' });
  t.same(sampleOf(weather.function.parameters, 'Weather in Oslo, says Anna'), { city: 'Oslo' });
  t.same(sampleOf(weather.function.parameters, 'What about Oslo?'), { city: 'Oslo' });
});

t.test('a document is split at its headings, and fences stay whole', async (t) => {
  const sections = splitPage(
    '---\ntitle: x\n---\n# One\nfirst\n\n```sh\n# no heading\n\nls\n```\n## Two\n\nsecond pull\n',
    'a.md',
  );
  t.same(
    sections.map(({ heading, paragraphs }) => [heading, paragraphs.length]),
    [
      ['One', 2],
      ['Two', 1],
    ],
  );
  const [best] = findSections('pulling?', sections);
  t.equal(best?.section.heading, 'Two');
  t.equal(best && quoteSection('pulling?', best.section), '> second pull');
  t.same(findSections('', sections), []);
  const guide = splitPage('# A\n\npull\n', 'guide.md');
  const reference = splitPage('---\ntype: reference\n---\n\n# A\n\npull\n', 'page.md');
  const found = findSections('pull', [...reference, ...guide]).map(({ section }) => section.file);
  t.same(found, ['guide.md', 'page.md'], 'a guide comes before a reference');
  const long = ['pull '.repeat(100), 'pull it '.repeat(100)].map((text) => text.trim());
  const [both] = splitPage(`# Pulls\n\n${long.join('\n\n')}\n`, 'a.md');
  t.equal(both && quoteSection('pull', both), `> ${long[0]}`, 'of two that fit alike, the first');
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

t.test('only the newest requests are remembered', async (t) => {
  const log = createRequestLog(Date.now, () => undefined);
  for (let n = 0; n < 12_000; n++) {
    const incoming = { method: 'GET', url: `/${n}`, headers: {} } as IncomingMessage;
    const { request } = log.watch(incoming, new EventEmitter() as ServerResponse);
    request.body = 'text';
  }
  t.equal(log.requests.length, 10_000);
  t.equal(log.requests.at(-1)?.path, '/11999');
  t.equal(log.requests.filter(({ body }) => body !== undefined).length, 1_000);
});

t.test('a question calls the tool that it names, or the one that fits it best', async (t) => {
  const tool = (name: string, description = '') => ({ name, description, parameters: {} });
  const tools = [
    tool('list_tabs', 'Lists the open tabs.'),
    tool('get_weather', 'The weather in a city today.'),
    ...[tool('countLines', 'Counts.'), tool('_run'), tool('ping'), tool(''), tool('.')],
  ];
  for (const [question, want] of [
    ['What is the weather in the city today?', 'get_weather'],
    ['Please fetch the open tabs.', 'list_tabs'],
    ['Call get_weather in the list of cities.', 'get_weather'],
    ['Can you count the lines?', 'countLines'],
    ['count and list the tabs', 'list_tabs'],
    ['Use any tool.', 'list_tabs'],
    ['Use the abacus.', undefined],
    ['Fetch what is open.', 'list_tabs'],
    ['Fetch tabs.', 'list_tabs'],
    ['Count. Lines!', 'countLines'],
    ['Now _run it.', '_run'],
    ['Ping', 'ping'],
    ['Is it pinging?', undefined],
    ['How is your city?', undefined],
  ] as const)
    t.equal(callFor(question, tools)?.name, want, question);
  t.equal(callFor('Use any tool.', []), undefined);
  t.match(callFor('Use any tool.', tools)?.id, /^call_[0-9a-f]{8}$/);
});

const pets = `---
title: x
---
Before any heading.

# Cats \`purr\`

Cats sleep a lot:

- at night
- at noon

Cats eat fish.

~~~sh
# no heading
\`\`\`

feed cats
~~~~

## Dogs

Dogs bark at cats.
####### no heading

### Empty
`;
const sections = [
  ...splitPage(pets, 'pets.md'),
  ...splitPage(
    '---\r\ntype: reference\r\n---\r\n# Birds\r\n\r\nBirds sing. Cats hunt them.\r\n',
    'sub/birds.md',
  ),
];

t.test('a page is its headings, with paragraphs that belong together', async (t) => {
  const page = { file: 'pets.md', title: 'Cats purr', isGuide: true };
  t.strictSame(sections, [
    { ...page, heading: 'pets.md', paragraphs: ['Before any heading.'] },
    {
      ...{ ...page, heading: 'Cats purr' },
      paragraphs: [
        'Cats sleep a lot:\n\n- at night\n- at noon',
        'Cats eat fish.',
        '~~~sh\n# no heading\n```\n\nfeed cats\n~~~~',
      ],
    },
    { ...page, heading: 'Dogs', paragraphs: ['Dogs bark at cats.\n####### no heading'] },
    {
      ...{ file: 'sub/birds.md', title: 'Birds', isGuide: false, heading: 'Birds' },
      paragraphs: ['Birds sing. Cats hunt them.'],
    },
  ]);
  const found = (question: string) =>
    findSections(question, sections).map(({ section, share, score }) => [
      section.heading,
      Number(share.toFixed(4)),
      Number(score.toFixed(4)),
    ]);
  t.strictSame(found('cats'), [
    ['Cats purr', 1, 2.4155],
    ['Dogs', 1, 1.333],
    ['Birds', 1, 0.7998],
  ]);
  t.strictSame(found('Do dogs bark?'), [['Dogs', 1, 6.4227]]);
  t.strictSame(found('cats hunt birds'), [
    ['Birds', 1, 4.6534],
    ['Cats purr', 0.3333, 1.6103],
    ['Dogs', 0.3333, 0.8887],
  ]);
  t.strictSame(found('purring'), [['Cats purr', 1, 1.831]]);
  t.strictSame(found('fish zebra'), [['Cats purr', 0.5, 1.4981]]);
  t.strictSame(found('what is it?'), []);
  t.strictSame([...wordsOf('Ponies, a PONY x boxing boxed foxes? is 7 42')], ['poni', 'box', 'fox', '42']);
  const plain = splitPage('One word\n  \ntwo\n   ```\nx\n\n```\nthree\n', 'plain.md');
  const file = { file: 'plain.md', title: 'plain.md', isGuide: true, heading: 'plain.md' };
  t.strictSame(plain, [{ ...file, paragraphs: ['One word', 'two\n   ```\nx\n\n```\nthree'] }]);
  t.equal(findSections('wordtwo', plain).length, 0, 'paragraphs are apart');
  const quoted = (question: string, ...paragraphs: readonly string[]) =>
    quoteSection(question, { ...file, paragraphs });
  t.equal(quoted('red green blue', 'red', 'red green', 'blue'), '> red\n>\n> red green\n>\n> blue');
  t.equal(quoted('red green blue', 'red', 'red green blue', 'x'), '> red green blue\n>\n> x');
  const half = 'x'.repeat(450);
  t.equal(quoted('red', half, half, 'y'), `> ${half}\n>\n> ${half}`);
  t.equal(quoted('red', half, `${half}y`), `> ${half}`);
});

t.test('a folder of pages is read once, within bounds', async (t) => {
  const docs = await emptyFolder(t);
  for (let at = 0; at <= 200; at += 1)
    await writeFile(join(docs, `${String(at).padStart(3, '0')}.md`), `# ${at}\n\nIt.\n`);
  await writeFile(join(docs, '000.txt'), '# no page\n\nIt.\n');
  const most = 512 * 1024;
  const heading = '# Long\n\n';
  const long = 'y'.repeat(most - heading.length);
  await writeFile(join(docs, '001.md'), `${heading}${long}z`);
  const read = readPages(docs);
  const pages = await read();
  t.equal(await read(), pages);
  t.equal(pages.length, 200);
  t.strictSame([pages[0]?.heading, pages[2]?.heading, pages.at(-1)?.heading], ['0', '2', '199']);
  t.ok(pages[1]?.paragraphs[0] === long, 'the end of a long one is left out');
  t.strictSame(await readPages(join(docs, 'none'))(), []);
});

t.test('what the practice model says, word for word', async (t) => {
  const speak = createSpeaker(async () => sections);
  const said = async (more: Partial<PracticePrompt>, content = '') => {
    const user = { role: 'user', content, images: 0, toolName: '' };
    const prompt = { messages: [user], think: false, tools: [], signal: AbortSignal.abort(), ...more };
    const parts: Record<string, string> = {};
    for await (const piece of speak(prompt as unknown as PracticePrompt)) {
      const words = piece.kind === 'calls' ? JSON.stringify(piece.calls) : piece.text;
      parts[piece.kind] = (parts[piece.kind] ?? '') + words.replace(/call_[0-9a-f]{8}/, 'call_1');
    }
    return parts;
  };
  const cats =
    '> Cats sleep a lot:\n>\n> - at night\n> - at noon\n>\n> Cats eat fish.\n>\n> ~~~sh\n> # no heading\n> ```\n>\n> feed cats\n> ~~~~';
  const more = '\n\nThere is more in `pets.md`, “Dogs” and `sub/birds.md`, “Birds”.';
  const looking = (words: string) => `Looking for ${words} in 2 documents with 4 sections.`;
  const guides = 'Ask me about:\n\n- Cats purr';
  const think = { think: true };
  for (const [content, given, want] of [
    ['Tell me about cats', {}, { text: `${label}From \`pets.md\`, “Cats purr”:\n\n${cats}${more}` }],
    [
      'cats',
      think,
      {
        thinking: `${looking('"cat"')} Best match: \`pets.md\`, “Cats purr” with 2.4 points, before \`pets.md\`, “Dogs” with 1.3.\n`,
        text: `${label}From \`pets.md\`, “Cats purr”:\n\n${cats}${more}`,
      },
    ],
    [
      'cat fish zebra unicorn yeti',
      {},
      {
        text: `${label}The closest match that I can quote, from \`pets.md\`, “Cats purr”:\n\n${cats}${more}`,
      },
    ],
    [
      'Dogs bark',
      think,
      {
        thinking: `${looking('"dog", "bark"')} Best match: \`pets.md\`, “Dogs” with 6.4 points.\n`,
        text: `${label}From \`pets.md\`, “Dogs”:\n\n> Dogs bark at cats.\n> ####### no heading`,
      },
    ],
    [
      'heading',
      {},
      {
        text: `${label}From \`pets.md\`:\n\n> Before any heading.\n\nThere is more in \`pets.md\`, “Dogs” and \`pets.md\`, “Cats purr”.`,
      },
    ],
    [
      'zebra',
      think,
      {
        thinking: `${looking('"zebra"')} Nothing fits.\n`,
        text: `${label}I can only quote this project's documents, and found nothing in them for that. ${guides}`,
      },
    ],
    [
      'hello you',
      think,
      {
        thinking: 'That has no word that I could look for.\n',
        text: `${label}Hello. I quote this project's documents, so that you see how an answer streams before you install anything. ${guides}`,
      },
    ],
    [
      '<ctx a="b">dogs</ctx> birds',
      {},
      { text: `${label}From \`sub/birds.md\`, “Birds”:\n\n> Birds sing. Cats hunt them.` },
    ],
    [
      '<a>birds</a>',
      {},
      { text: `${label}From \`sub/birds.md\`, “Birds”:\n\n> Birds sing. Cats hunt them.` },
    ],
    [
      '<a>birds</a> ',
      {},
      { text: `${label}From \`sub/birds.md\`, “Birds”:\n\n> Birds sing. Cats hunt them.` },
    ],
    ['cat zebra', {}, { text: `${label}From \`pets.md\`, “Cats purr”:\n\n${cats}${more}` }],
    ['cats', { format: 'json' }, { text: '{"note":"Practice runner, not a language model."}' }],
    ['Take 3', { format: { type: 'integer' } }, { text: '3' }],
    [
      'Use the tool look',
      { tools: [{ name: 'look', description: '', parameters: {} }] },
      {
        text: `${label}I call the tool \`look\` with arguments from your question.`,
        calls: '[{"id":"call_1","name":"look","arguments":{}}]',
      },
    ],
  ] as const)
    t.strictSame(await said(given as Partial<PracticePrompt>, content), want, content);
  const tool = (content: string, toolName = '') => {
    return { messages: [{ role: 'tool', content, toolName, images: 0 }] };
  };
  const after = {
    messages: [{ role: 'user', content: 'cats', toolName: '', images: 0 }, ...tool('ok').messages],
  };
  for (const [given, want] of [
    [after, 'The tool answered:\n\n> ok'],
    [tool('one\n\ntwo', 'look'), 'The tool `look` answered:\n\n> one\n>\n> two'],
    [tool('x'.repeat(1_000)), `The tool answered:\n\n> ${'x'.repeat(1_000)}`],
    [tool('x'.repeat(1_001)), `The tool answered:\n\n> ${'x'.repeat(1_000)} …`],
    [tool(' \n', 'look'), 'The tool `look` answered nothing.'],
  ] as const)
    t.strictSame(await said(given), { text: `${label}${want}` });
  for (const [prefix, suffix, want] of [
    ['let total = sum(a);\nlet total', '', ' = sum(a);'],
    ['  let total = 1;\n  let total = 2;\nlet t', '', 'otal = 2;'],
    ['abcd\n ab', '', 'cd'],
    ['measure mea', '', ''],
    ['measure\nmea', '', 'sure'],
    ['mea', 'measure', 'sure'],
    ['x\nx', 'xy', ''],
    ['$ab größer\ngrö', '', 'ßer'],
    ['a = ', 'b', ''],
    ['ab = 1\nab', '', ''],
    ['abc = 1\nabc', '', ' = 1'],
    ['ab = 1\nab ', '', ''],
    ['abc1\nabc\nabc', '', '1'],
  ] as const)
    t.equal((await said({ hole: { prefix, suffix } })).text ?? '', want, prefix);
  t.strictSame(splitTokens(' one two\n three '), [' one', ' two', '\n three', ' ']);
  t.strictSame(splitTokens(''), []);
});

const model = practiceModel({
  ...{ name: 'm', capabilities: ['completion', 'thinking'], contextLength: 2_048, size: 100 },
  ...{ template: 'T', system: 'S', license: ['MIT', 'BSD'], parent: 'base:latest' },
  parameters: { num_ctx: 1_024, stop: ['a', 'b'] },
  messages: [{ role: 'user', content: 'Hi\nyou' }],
});

t.test('a practice model is listed and shown as a real one is', async (t) => {
  const installed = { ...model, modifiedAt: Date.parse('2026-11-22T00:00:00Z') };
  const details = {
    ...{ parent_model: 'base:latest', format: 'gguf', family: 'practice', families: ['practice'] },
    ...{ parameter_size: '0', quantization_level: 'unknown' },
  };
  const layers = layersOf(model);
  t.strictSame(
    layers.map(({ size }) => size),
    [100, 1, 7, 1, 33, 37, 31],
    'the weights, template, license, system, parameters, messages and configuration',
  );
  t.equal(new Set(layers.map(({ digest }) => digest)).size, 7);
  for (const { digest } of layers) t.match(digest, /^sha256:[0-9a-f]{64}$/);
  t.strictSame(
    layersOf(practiceModel({ name: 'plain' })).map(({ size }) => size),
    [65_536, 13, 24],
  );
  const digest = manifestDigest(model);
  t.match(digest, /^[0-9a-f]{64}$/);
  t.not(manifestDigest({ ...model, template: 'U' }), digest);
  const both = { name: 'm', model: 'm', digest };
  t.strictSame(installedEntry(installed), {
    ...{ ...both, modified_at: '2026-11-22T00:00:00.000Z', size: 210 },
    details: { ...details, context_length: 2_048, embedding_length: 320 },
    capabilities: ['completion', 'thinking'],
  });
  t.strictSame(
    runningEntry({ model: installed, window: 512, expiresAt: Date.parse('2026-11-23T00:00:00Z') }),
    {
      ...{ ...both, size: 420, details: { ...details, parent_model: '' } },
      ...{ expires_at: '2026-11-23T00:00:00.000Z', size_vram: 0, context_length: 512 },
    },
  );
  const path = blobPath(model.weights);
  t.match(path, /^\/models\/blobs\/sha256-[0-9a-f]{64}$/);
  t.strictSame(shownModel(installed), {
    license: 'MIT\nBSD',
    modelfile: `# Modelfile generated by "ollama show"
# To build a new Modelfile based on this, replace FROM with:
# FROM m

FROM ${path}
TEMPLATE T
SYSTEM S
PARAMETER num_ctx 1024
PARAMETER stop a
PARAMETER stop b
LICENSE MIT
LICENSE BSD
MESSAGE user "Hi
you"
`,
    parameters: [
      'num_ctx                        1024',
      'stop                           "a"',
      'stop                           "b"',
    ].join('\n'),
    ...{ template: 'T', system: 'S', details, messages: [{ role: 'user', content: 'Hi\nyou' }] },
    model_info: {
      ...{ 'general.architecture': 'practice', 'general.parameter_count': 0 },
      ...{ 'practice.context_length': 2_048, 'practice.embedding_length': 320 },
    },
    ...{ capabilities: ['completion', 'thinking'], modified_at: '2026-11-22T00:00:00.000Z' },
  });
  const plain = shownModel({ ...practiceModel({ name: 'plain' }), modifiedAt: 0 });
  t.strictSame(
    [plain['license'], plain['parameters'], plain['system'], plain['messages']],
    [undefined, undefined, undefined, undefined],
  );
  t.match(plain['details'], {
    parent_model: blobPath(`${layersOf(practiceModel({ name: 'plain' }))[0]?.digest}`),
  });
});

/** What a practice runner is made of, with a clock that is moved by hand. */
function practiceOf(...models: readonly ReturnType<typeof practiceModel>[]) {
  let now = 1_000_000;
  const waits: number[] = [];
  const practice: Practice = {
    store: createModelStore(models, () => now),
    loaded: createLoadedModels(() => now),
    catalog: models,
    speak: () => [],
    clock: {
      now: () => now,
      async delay(milliseconds, signal) {
        signal.throwIfAborted();
        waits.push(milliseconds);
      },
    },
  };
  return { practice, waits, pass: (milliseconds: number) => void (now += milliseconds) };
}

t.test('what a request to a practice model asks for', async (t) => {
  const { practice } = practiceOf(model, practiceModel({ name: 'plain' }));
  const read = (fields: object) => {
    const { model: found, ...inference } = readInference(practice, { model: 'm', ...fields });
    t.equal(found, practice.store.find(inference.name));
    return inference;
  };
  const usual = {
    ...{ name: 'm', stream: true, think: undefined, keepAlive: undefined, truncate: true, shift: true },
    ...{ format: undefined, window: 1_024, limit: Number.POSITIVE_INFINITY, stop: ['a', 'b'] },
  };
  for (const [fields, want] of [
    [{}, {}],
    [{ stream: null, think: null, keep_alive: null, format: null, truncate: null, shift: null }, {}],
    [
      { stream: false, truncate: false, shift: false },
      { stream: false, truncate: false, shift: false },
    ],
    [
      { think: false, format: 'json', keep_alive: 0 },
      { think: false, format: 'json', keepAlive: 0 },
    ],
    [{ keep_alive: '5m' }, { keepAlive: 300_000 }],
    [{ options: { num_ctx: 1 } }, { window: 4 }],
    [{ options: { num_ctx: 5 } }, { window: 5 }],
    [{ options: { num_ctx: 9_999 } }, { window: 2_048 }],
    [{ options: { num_ctx: 'all' } }, { window: 2_048 }],
    [{ options: { num_predict: 1 } }, { limit: 1 }],
    [{ options: { num_predict: 0 } }, {}],
    [{ options: { num_predict: -1 } }, {}],
    [{ options: { stop: 'x' } }, { stop: ['x'] }],
    [{ options: { stop: ['x', '', 7] } }, { stop: ['x'] }],
    [{ model: 'plain' }, { name: 'plain', window: 4_096, stop: [] }],
  ] as const)
    t.strictSame(read(fields), { ...usual, ...want }, JSON.stringify(fields));
  t.throws(() => read({ model: 'a b' }), { status: 400, message: 'invalid model name' });
  t.throws(() => read({ model: 'none' }), { status: 404, message: "model 'none' not found" });
  const thinking = (name: string, think: unknown) => thinks(readInference(practice, { model: name, think }));
  t.strictSame(
    [thinking('m', undefined), thinking('m', 'low'), thinking('m', false), thinking('plain', true)],
    [true, true, false, false],
  );
});

t.test('practice models stand in their order, each a second older than the one before', (t) => {
  let now = 1_000_999;
  const names = ['plain', 'able', 'other'];
  const { list } = createModelStore(
    names.map((name) => practiceModel({ name })),
    () => now++,
  );
  t.strictSame(
    list().map(({ name, modifiedAt }) => [name, Math.floor(modifiedAt / 1_000)]),
    [
      ['plain:latest', 1_000],
      ['able:latest', 999],
      ['other:latest', 998],
    ],
  );
  t.end();
});

t.test('practice models are known by every spelling, and stay in memory for their time', async (t) => {
  const { practice, pass } = practiceOf(model, practiceModel({ name: 'plain' }));
  const { store, loaded } = practice;
  const names = () => store.list().map(({ name, modifiedAt }) => [name, modifiedAt]);
  t.strictSame(names(), [
    ['m:latest', 1_000_000],
    ['plain:latest', 999_000],
  ]);
  t.equal(store.find('registry.ollama.ai/library/M:LATEST')?.name, 'm:latest');
  t.equal(store.find('a b'), undefined);
  pass(5);
  store.install(practiceModel({ name: 'PLAIN' }));
  store.install(practiceModel({ name: 'a/new' }), 7);
  t.strictSame(names(), [
    ['plain:latest', 1_000_005],
    ['m:latest', 1_000_000],
    ['a/new:latest', 7],
  ]);
  for (const { digest } of layersOf(model)) t.ok(store.blobs.has(digest));
  t.throws(() => store.install(practiceModel({ name: 'a b' })), { message: '"a b" is no model name.' });
  t.strictSame([store.remove('M'), store.remove('m'), store.remove('a b')], [true, false, false]);
  t.equal(names().length, 2);

  const [one, two] = store.list();
  if (!one || !two) throw new Error('There are two.');
  loaded.load(one, 512);
  loaded.load(two, 256, 60_000);
  loaded.load({ ...two, name: 'endless' }, 1, Number.POSITIVE_INFINITY);
  const running = () =>
    loaded.list().map(({ model: { name }, window, expiresAt }) => [name, window, expiresAt]);
  const [endless, ...others] = running();
  t.strictSame(others, [
    ['plain:latest', 512, 1_300_005],
    ['a/new:latest', 256, 1_060_005],
  ]);
  t.strictSame(endless, ['endless', 1, 1_000_005 + 2 ** 63 / 1e6], 'no date is beyond it');
  pass(59_999);
  t.equal(running().length, 3);
  pass(1);
  t.equal(running().length, 2, 'its time is over');
  loaded.unload(one);
  t.strictSame(running(), [endless]);

  const answered = (keepAlive: unknown) =>
    answerLoaded(practice, readInference(practice, { model: 'plain', keep_alive: keepAlive }), { x: 1 });
  const at = { model: 'plain', created_at: '1970-01-01T00:17:40.005Z', x: 1, done: true };
  t.strictSame(answered('1m'), { json: { ...at, done_reason: 'load' } });
  t.strictSame(running()[1], ['plain:latest', 4_096, 1_120_005]);
  t.strictSame(answered(0), { json: { ...at, done_reason: 'unload' } });
  t.strictSame(running(), [endless]);
});

t.test('a pull goes layer after layer, in steps, from where an earlier one ended', async (t) => {
  const large = practiceModel({ name: 'large', size: 600_000, license: ['MIT'] });
  const { practice, waits } = practiceOf();
  const { store, clock, ...rest } = practice;
  const pulling = { ...rest, store, clock, catalog: [large] };
  const name = tryModelName('a/large');
  const own = tryModelName('LARGE');
  if (!name || !own) throw new Error('These are names.');
  const all = async (lines: AsyncIterable<object>) => {
    const found: object[] = [];
    for await (const line of lines) found.push(line);
    return found;
  };
  const never = new AbortController().signal;
  await t.rejects(all(pullLines(pulling, name, never)), {
    ...{ status: 500, message: 'pull model manifest: file does not exist' },
  });
  const [weights, ...others] = layersOf(large);
  if (!weights) throw new Error('It has weights.');
  store.parts.set(weights.digest, 100_000);
  store.blobs.add(others[0]?.digest ?? '');
  const lineOf = ({ digest, size }: typeof weights, completed?: number) => ({
    ...{ status: `pulling ${digest.slice(7, 19)}`, digest, total: size },
    ...(completed === undefined ? {} : { completed }),
  });
  const end = [
    ...others.map((layer) => lineOf(layer, layer.size)),
    { status: 'verifying sha256 digest' },
    { status: 'writing manifest' },
    { status: 'success' },
  ];
  t.strictSame(await all(pullLines(pulling, own, never)), [
    { status: 'pulling manifest' },
    lineOf(weights, 362_144),
    lineOf(weights, 600_000),
    ...end,
  ]);
  t.strictSame(waits, [60, 60, 60, 60], 'what is there already takes no time');
  t.equal(store.find('large')?.name, 'LARGE:latest');
  t.equal(store.parts.size, 0);
  const again = await all(pullLines(pulling, own, never));
  t.strictSame(again, [{ status: 'pulling manifest' }, lineOf(weights, 600_000), ...end]);
  store.blobs.clear();
  const whole = await all(pullLines(pulling, own, never));
  t.strictSame(whole.slice(0, 3), [
    { status: 'pulling manifest' },
    lineOf(weights),
    lineOf(weights, 262_144),
  ]);
  const aborted = AbortSignal.abort(new Error('left'));
  store.blobs.clear();
  await t.rejects(all(pullLines(pulling, own, aborted)), { message: 'left' });
  const [one, other] = [pullLines(pulling, own, never), pullLines(pulling, own, never)];
  const next = async (lines: AsyncGenerator<object>) => (await lines.next()).value;
  for (const wanted of [{ status: 'pulling manifest' }, lineOf(weights), lineOf(weights, 262_144)])
    t.strictSame(await next(one), wanted);
  for (const wanted of [{ status: 'pulling manifest' }, lineOf(weights, 524_288)])
    t.strictSame(await next(other), wanted, 'two share what is there');
  t.strictSame(await next(one), lineOf(weights, 600_000));
  await next(one);
  await one.return(undefined);
  t.strictSame((await all(pullLines(pulling, own, never)))[1], lineOf(weights, 600_000), 'it is whole');
  const exact = practiceModel({ name: 'exact', size: 262_144 });
  const exactly = tryModelName('exact');
  const small = exactly ? await all(pullLines({ ...pulling, catalog: [exact] }, exactly, never)) : [];
  t.match(small[1], { total: 262_144, completed: 262_144 });
  const lines = async function* () {
    yield* [{ a: 1 }, { b: 2 }];
  };
  t.strictSame(await answerProgress({ stream: false }, lines()), { json: { b: 2 } });
  const given = lines();
  t.strictSame(await answerProgress({}, given), { lines: given });
});
