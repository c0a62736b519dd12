import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { createMessageConnection, type Message, StreamMessageWriter } from 'vscode-jsonrpc/node';
import * as z from 'zod/mini';
import { readMessageLines } from '../../daemon/acp/acpConnection.ts';
import { createLog } from '../../daemon/base/log.ts';
import { exact, type Schema } from '../../daemon/base/validate.ts';
import { createDeltaPump } from '../../daemon/chat/deltas.ts';
import { compileCacheFolder } from '../../daemon/compose/compileCache.ts';
import { ErrorOutput } from '../../daemon/compose/errorOutput.ts';
import { startDaemon } from '../../daemon/compose/handshake.ts';
import { type Daemon, type StdioServerOptions, startServer } from '../../daemon/compose/server.ts';
import { createSecretStore, parseSecretLine } from '../../daemon/config/secrets.ts';
import { openUserFile } from '../../daemon/config/userFile.ts';
import type { Endpoint } from '../../daemon/rpc/endpoint.ts';
import { toOutgoing } from '../../daemon/rpc/frameConnection.ts';
import { FrameReader } from '../../daemon/rpc/frameStreams.ts';
import { allWorkspaceFolders, workspaceRoot } from '../../daemon/rpc/greeting.ts';
import { createLogOutbox } from '../../daemon/rpc/logOutbox.ts';
import { cacheFolder, stateFolder, userConfigFile } from '../../protocol/base/platform/folders.ts';
import { writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
import type { ChatDelta } from '../../protocol/messages/chat.ts';
import type { NotificationMessage } from '../../protocol/messages/messageTypes.ts';
import { connectClient } from '../support/daemonClient.ts';
import { startPair } from '../support/daemonPair.ts';
import { has, where } from '../support/systems.ts';

interface FrameProblem {
  readonly code: number;
  readonly message: string;
}

const frame = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const note = (n: number, text = '') => JSON.stringify({ jsonrpc: '2.0', method: `m${n}`, params: { text } });

async function readFrames(
  chunks: readonly Buffer[],
): Promise<{ messages: Message[]; problems: FrameProblem[] }> {
  const input = new PassThrough();
  const messages: Message[] = [];
  const problems: FrameProblem[] = [];
  new FrameReader(input, (problem) => problems.push(problem)).listen((message) => messages.push(message));
  for (const chunk of chunks) input.write(chunk);
  await new Promise<void>((resolve) => input.end(() => setImmediate(resolve)));
  return { messages, problems };
}

t.test('frames come out the same however they are cut', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 40 }),
      async (texts, size) => {
        const bytes = Buffer.from(texts.map((text, n) => frame(note(n, text))).join(''));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
          bytes.subarray(n * size, (n + 1) * size),
        );
        const { messages, problems } = await readFrames(chunks);
        t.strictSame(
          messages,
          texts.map((text, n) => JSON.parse(note(n, text))),
        );
        t.strictSame(problems, []);
      },
    ),
    { numRuns: 100 },
  );
});

t.test('bytes that are not a frame are reported, and reading goes on', async (t) => {
  const good = frame(note(1));
  const cases = [
    { name: 'a line of text', bytes: `hello\n${good}`, codes: [] },
    { name: 'a header without a length', bytes: `Content-Type: x\r\n\r\n${good}`, codes: [-32700] },
    { name: 'a length that is no number', bytes: `Content-Length: many\r\n\r\n${good}`, codes: [-32700] },
    { name: 'a body that is not JSON', bytes: `${frame('{nope}')}${good}`, codes: [-32700] },
    { name: 'a number', bytes: `${frame('7')}${good}`, codes: [-32600] },
    { name: 'a batch', bytes: `${frame(`[${note(2)}]`)}${good}`, codes: [-32600] },
    { name: 'an object of no kind', bytes: `${frame('{}')}${good}`, codes: [-32600] },
    { name: 'the end of another name', bytes: `X-Content-Length: 5\r\n\r\n${good}`, codes: [-32700] },
    { name: 'an id that is none', bytes: `${frame('{"id":{},"method":"m"}')}${good}`, codes: [-32600] },
    {
      name: 'null parameters',
      bytes: `${frame('{"id":1,"method":"m","params":null}')}${good}`,
      codes: [-32602],
    },
    {
      name: 'parameters that are nested deep',
      bytes: `${frame(`{"id":1,"method":"m","params":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)}${good}`,
      codes: [-32602],
    },
    { name: 'a length that is too short', bytes: `Content-Length: 3\r\n\r\n{"a":1}${good}`, codes: [-32700] },
    {
      name: 'a length in the middle of a line',
      bytes: `noise Content-Length: ${Buffer.byteLength(note(1))}\r\n\r\n${note(1)}`,
      codes: [],
    },
    { name: 'a megabyte of noise', bytes: `${'noise '.repeat(200_000)}\r\n\r\n${good}`, codes: [-32700] },
    {
      name: 'lower case and further headers',
      bytes: `content-type: a\r\ncontent-length: ${Buffer.byteLength(note(1))}\r\n\r\n${note(1)}`,
      codes: [],
    },
  ];
  for (const { name, bytes, codes } of cases) {
    const { messages, problems } = await readFrames([Buffer.from(bytes)]);
    t.strictSame([...new Set(problems.map(({ code }) => code))], codes, name);
    t.strictSame(messages, [JSON.parse(note(1))], `${name}: the next message arrives`);
  }
});

t.test('which messages are passed on, refused or dropped', async (t) => {
  const passed: readonly (readonly [body: string, want: object])[] = [
    ['{"id":1,"method":"shutdown","params":null}', { id: 1, method: 'shutdown' }],
    ['{"method":"exit","params":null}', { method: 'exit' }],
    ['{"id":"a","method":"m","params":[]}', { id: 'a', method: 'm', params: [] }],
    ['{"method":"m"}', { method: 'm' }],
    ['{"method":"$/cancelRequest","params":{"id":1}}', { method: '$/cancelRequest', params: { id: 1 } }],
    ['{"id":1,"result":null}', { id: 1, result: null }],
    ['{"id":null,"error":{}}', { id: null, error: {} }],
  ];
  for (const [body, want] of passed) {
    const { messages, problems } = await readFrames([Buffer.from(frame(body))]);
    t.strictSame([messages, problems], [[want], []], body);
  }
  const others: readonly (readonly [body: string, codes: readonly number[]])[] = [
    ['{"method":"m","params":null}', []],
    ['{"method":"m","params":7}', []],
    ['{"id":1,"method":"m","params":null}', [-32602]],
    ['{"id":true,"result":1}', [-32600]],
    ['{"method":"$/cancelRequest","params":{"id":1e999}}', []],
    ['{"id":1}', [-32600]],
  ];
  for (const [body, codes] of others) {
    const { messages, problems } = await readFrames([Buffer.from(frame(body))]);
    t.strictSame([messages, problems.map(({ code }) => code)], [[], codes], body);
  }
});

t.test('an endless header is dropped, but not the next one that begins at its end', async (t) => {
  const good = frame(note(1));
  const largest = 8 * 1024;
  const noise = (bytes: number) => `${'x'.repeat(bytes - 1)}\n`;
  const cases = [
    { name: 'as long as a header may be', pieces: [noise(largest), good], problems: 0 },
    { name: 'a byte longer', pieces: [noise(largest + 1), good], problems: 1 },
    { name: 'several times as long', pieces: [noise(3 * largest), noise(3 * largest), good], problems: 2 },
    {
      name: 'a header that begins in it',
      pieces: [`${noise(largest)}${good.slice(0, 15)}`, good.slice(15)],
      problems: 1,
    },
    {
      name: 'a header whose name is cut',
      pieces: [`${noise(largest)}${good.slice(0, 14)}`, good.slice(14)],
      problems: 1,
    },
    {
      name: 'a header that begins and does not end',
      pieces: [`Content-Length: ${noise(2 * largest)}`, noise(largest - 16), good],
      problems: 1,
    },
  ];
  for (const { name, pieces, problems } of cases) {
    const read = await readFrames(pieces.map((piece) => Buffer.from(piece)));
    t.strictSame(
      read.problems.map(({ code }) => code),
      Array(problems).fill(-32700),
      name,
    );
    t.strictSame(read.messages, [JSON.parse(note(1))], `${name}: the next message arrives`);
  }
});

t.test('a reader cannot be stopped by what it reads', async (_t) => {
  const message = fc.record(
    {
      id: fc.oneof(fc.jsonValue(), fc.integer(), fc.string()),
      method: fc.oneof(fc.constantFrom('$/cancelRequest', '$/progress', 'exit2', 'x'), fc.jsonValue()),
      params: fc.oneof(fc.jsonValue(), fc.record({ id: fc.jsonValue() })),
      result: fc.jsonValue(),
      error: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 5 }), async (messages) => {
      const input = new PassThrough();
      const output = new PassThrough();
      const connection = createMessageConnection(
        new FrameReader(input, () => undefined),
        new StreamMessageWriter(output),
      );
      const asked = new Promise<void>((resolve) => connection.onRequest('last', () => resolve()));
      connection.listen();
      // All in one read, so that what stops the reader leaves the last one unanswered.
      input.write(
        [...messages.map((each) => JSON.stringify(each)), '{"jsonrpc":"2.0","id":"last","method":"last"}']
          .map(frame)
          .join(''),
      );
      await asked;
      connection.dispose();
    }),
    { numRuns: 200 },
  );
});

t.test('before initialize and after shutdown every request is refused', async (t) => {
  const toDaemon = new PassThrough();
  const toClient = new PassThrough();
  const daemon = startServer({
    ...{ input: toDaemon, output: toClient, version: '0', platform: process.platform, env: {} },
    ...{
      user: await openUserFile({ path: '/nonexistent', clientHasSettings: true }),
      readSecrets: async () => undefined,
      now: Date.now,
      random: Math.random,
      wait: async () => undefined,
    },
  });
  const client = createMessageConnection(
    new FrameReader(toClient, () => undefined),
    new StreamMessageWriter(toDaemon),
  );
  client.listen();
  t.teardown(async () => {
    client.dispose();
    await daemon.close();
  });
  const hello = {
    processId: null,
    rootUri: null,
    capabilities: {},
    initializationOptions: { host: '127.0.0.1:9' },
  };
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  t.teardown(() => void process.off('warning', onWarning));
  const late = { textDocument: { uri: 'file:///Modelfile' }, position: { line: 0, character: 0 } };
  const asked = [
    ...['shutdown', 'textDocument/hover', 'runner/status', 'runner/no/such'],
    'workspace/executeCommand',
  ];
  for (const method of asked)
    await t.rejects(client.sendRequest(method, late), { code: -32002 }, `${method} before`);
  await client.sendRequest('initialize', hello);
  await t.rejects(client.sendRequest('initialize', hello), { code: -32600 }, 'a second initialize');
  await Promise.all(Array.from({ length: 30 }, () => client.sendRequest('runner/status', {})));
  await new Promise(setImmediate);
  t.strictSame(warnings, [], 'many requests at once are nothing to warn of');
  await client.sendRequest('shutdown');
  for (const method of [...asked, 'initialize'])
    await t.rejects(client.sendRequest(method, late), { code: -32600 }, `${method} after`);
});

t.test('initialize is answered once, before the server is loaded, with the same answer', async (t) => {
  const introduce = (id: string | number, params: object) =>
    frame(
      JSON.stringify({
        ...{ jsonrpc: '2.0', id, method: 'initialize' },
        params: { processId: null, rootUri: null, capabilities: {}, ...params },
      }),
    );
  const hello = (id: string | number, initializationOptions: unknown, capabilities: unknown = {}) =>
    introduce(id, { capabilities, initializationOptions });
  const wants = (protocolVersion: unknown) => ({ experimental: { runner: { protocolVersion } } });
  const early = frame('{"jsonrpc":"2.0","id":5,"method":"runner/status","params":{}}');
  for (const { name, bytes, isAnswered } of [
    { name: 'no options', bytes: hello(1, undefined), isAnswered: true },
    { name: 'options', bytes: hello('a', { host: '127.0.0.1:9', keepAlive: null }), isAnswered: true },
    { name: 'a root that is no text', bytes: introduce(1, { rootUri: 5 }), isAnswered: true },
    {
      name: 'odd words about itself',
      bytes: introduce(1, {
        capabilities: { workspace: 5, textDocument: { inlineCompletion: 7, hover: 'x', completion: [] } },
        ...{ processId: 'me', trace: 4, workDoneToken: {}, clientInfo: 9, workspaceFolders: 'all' },
      }),
      isAnswered: true,
    },
    {
      name: 'wrong options, and then others',
      bytes: hello(1, { host: 5 }) + hello(2, {}),
      isAnswered: false,
    },
    { name: 'this version', bytes: hello(1, {}, wants(1)), isAnswered: true },
    {
      name: 'a newer version, and then this one',
      bytes: hello(1, {}, wants(2)) + hello(2, {}, wants(1)),
      isAnswered: false,
    },
    { name: 'another request first', bytes: early + hello(1, {}), isAnswered: false },
    { name: 'no frame first', bytes: `x\r\n\r\n${hello(1, {})}`, isAnswered: false },
    { name: 'what an editor can do is unknown', bytes: hello(1, {}, null), isAnswered: false },
    { name: 'large', bytes: hello(1, { completionModel: 'x'.repeat(1024 * 1024) }), isAnswered: false },
  ]) {
    const file = { path: '/nonexistent', clientHasSettings: true };
    const user = await openUserFile(file);
    const whole = await answersTo(bytes, async (options) => startServer({ ...options, user }));
    const parted = await answersTo(bytes, (options) => startDaemon({ ...options, userFile: file }));
    t.strictSame(parted.answers, whole.answers, name);
    t.equal(parted.isFirstAlone, isAnswered, name);
    if (name.startsWith('wrong options'))
      t.match(parted.answers, [
        { id: 1, error: { code: -32602, message: /host/ } },
        { id: 2, result: { capabilities: {} } },
      ]);
    if (name.startsWith('a newer version'))
      t.match(parted.answers, [
        {
          error: {
            message: /protocolVersion" is not valid: this runnerd speaks version 1; update Runner/,
            data: { path: 'capabilities.experimental.runner.protocolVersion' },
          },
        },
        { id: 2, result: { capabilities: {} } },
      ]);
    if (name === 'no frame first')
      t.match(parted.answers, [
        { jsonrpc: '2.0', id: null, error: { code: -32700 } },
        { id: 1, result: {} },
      ]);
  }
});

/** What a daemon answers to these bytes, and whether it had answered before it went on to read. */
async function answersTo(
  bytes: string,
  start: (options: Omit<StdioServerOptions, 'user'>) => Promise<Daemon>,
): Promise<{ answers: readonly unknown[]; isFirstAlone: boolean }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answers: unknown[] = [];
  const ended = new Promise<void>((resolve) =>
    new FrameReader(output, () => undefined).listen((message) => {
      if ('id' in message && message.id === 'last') resolve();
      else answers.push(message);
    }),
  );
  const starting = start({
    ...{ input, output, version: '0', platform: process.platform, env: {} },
    ...{ readSecrets: async () => undefined, now: Date.now, random: Math.random },
    wait: async () => undefined,
  });
  for (let at = 0; at < bytes.length; at += 10_007) input.write(bytes.slice(at, at + 10_007));
  const daemon = await starting;
  const isFirstAlone = answers.length === 1;
  input.write(frame('{"jsonrpc":"2.0","id":"last","method":"runner/no/such"}'));
  await ended;
  await daemon.close();
  return { answers, isFirstAlone };
}

t.test('an answer that is nested too deep to be sent is an error, and nothing else may be', (t) => {
  const { redaction } = createSecretStore();
  let deep: unknown = 'x';
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  t.match(toOutgoing({ jsonrpc: '2.0', id: 7, result: deep } as Message, redaction), {
    jsonrpc: '2.0',
    id: 7,
    error: { code: Number, message: /nested deeper/, data: { kind: 'bad-response' } },
  });
  for (const more of [{ method: 'm' }, { method: 'm', id: 7 }])
    t.throws(() => toOutgoing(Object.assign({ jsonrpc: '2.0', params: deep }, more), redaction), RangeError);
  t.end();
});

t.test('the folder of the workspace is the first one, or what older editors send', (t) => {
  const folder = (path: string) => ({ uri: pathToFileURL(path).href, name: 'x' });
  const other = { uri: 'vscode-vfs://github/a/b', name: 'x' };
  const cases: readonly {
    name: string;
    sent: Parameters<typeof workspaceRoot>[0];
    want: string | undefined;
    all: readonly string[];
  }[] = [
    {
      name: 'the first',
      sent: { workspaceFolders: [folder('/a'), folder('/b')], rootUri: folder('/c').uri },
      ...{ want: '/a', all: ['/a', '/b'] },
    },
    { name: 'an older editor', sent: { rootUri: folder('/c d').uri }, want: '/c d', all: ['/c d'] },
    { name: 'the oldest editors', sent: { rootUri: null, rootPath: '/c d' }, want: '/c d', all: ['/c d'] },
    { name: 'no folder', sent: { workspaceFolders: null, rootUri: null }, want: undefined, all: [] },
    {
      name: 'a folder elsewhere',
      sent: { workspaceFolders: [other, folder('/b')], rootUri: null },
      ...{ want: undefined, all: ['/b'] },
    },
  ];
  for (const { name, sent, want, all } of cases) {
    t.equal(workspaceRoot(sent), sent.rootPath ?? (want && resolve(want)), name);
    t.strictSame(
      allWorkspaceFolders(sent),
      all.map((one) => sent.rootPath ?? resolve(one)),
      name,
    );
  }
  t.end();
});

t.test('a message above the limit is refused and not kept in memory', async (t) => {
  const input = new PassThrough();
  const problems: FrameProblem[] = [];
  const messages: Message[] = [];
  new FrameReader(input, (problem) => problems.push(problem)).listen((message) => messages.push(message));
  const length = 300 * 1024 * 1024;
  const piece = Buffer.alloc(1024 * 1024, 'x');
  input.write(Buffer.concat([Buffer.from(`Content-Length: ${length}\r\n\r\n`), piece.subarray(0, 5)]));
  for (let n = 0; n < 299; n++)
    if (!input.write(piece)) await new Promise((resolve) => input.once('drain', resolve));
  const good = frame(note(1));
  input.write(Buffer.concat([piece.subarray(5), Buffer.from(good.slice(0, 5))]));
  input.write(good.slice(5));
  await new Promise<void>((resolve) => input.end(() => setImmediate(resolve)));
  t.strictSame(
    problems.map(({ code }) => code),
    [-32600],
  );
  t.equal(messages.length, 1);

  const most = 256 * 1024 * 1024;
  t.strictSame((await readFrames([Buffer.from(`Content-Length: ${most}\r\n\r\n{`)])).problems, []);
  const whole = `Content-Length: ${most + 1}\r\n\r\n`;
  t.match((await readFrames([Buffer.from(whole)])).problems, [
    { code: -32600, message: `A message of ${most + 1} bytes is too large. The limit is ${most} bytes.` },
  ]);
});

t.test('a line that is too long is refused and not kept in memory, and the next one is read', async (t) => {
  const input = new PassThrough();
  const problems: FrameProblem[] = [];
  const lines = readMessageLines(input, { onProblem: (problem) => problems.push(problem), limit: 100 });
  const message = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'm' });
  for (let n = 0; n < 50; n++) input.write(Buffer.alloc(1000, 'x'));
  input.write(`\n \r\n${message(1)}\n${'y'.repeat(200)}\n\n${message(2)}`);
  input.end();
  const ids: unknown[] = [];
  for await (const read of lines) ids.push('id' in read ? read.id : undefined);
  t.strictSame(ids, [1, 2]);
  t.strictSame(
    problems.map(({ code }) => code),
    [-32600, -32600],
    'each is reported once',
  );
  const endless: FrameProblem[] = [];
  const onProblem = (problem: FrameProblem) => endless.push(problem);
  const unended = ['x'.repeat(40), 'x', 'x'].map((piece) => Buffer.from(piece));
  for await (const one of readMessageLines(Readable.from(unended), { onProblem, limit: 40 }))
    t.fail(`${one}`);
  t.equal(endless.length, 1, 'one that never ends is reported as well');
});

t.test('a client that does not read its log gets no more of it', async (t) => {
  const sent: string[] = [];
  let release: () => void = () => undefined;
  const written = new Promise<void>((resolve) => (release = resolve));
  let isStuck = true;
  const outbox = createLogOutbox(
    async ({ message }) => {
      sent.push(message);
      if (isStuck) await written;
    },
    () => t.fail('nothing failed'),
  );
  for (let n = 0; n < 5_000; n++) outbox({ level: 'info', source: 'server', message: `line ${n}` });
  t.equal(sent.length, 1_000);
  isStuck = false;
  release();
  await new Promise(setImmediate);
  t.equal(sent.at(-1), '… 4,000 lines left out because they were not read');
  outbox({ level: 'info', source: 'server', message: 'next' });
  t.equal(sent.at(-1), 'next');
  t.equal(sent.length, 1_002, 'what was left out is reported once');
});

t.test('a command is found by its id, and takes one argument', async (t) => {
  const daemon = await startPair({ host: 'http://127.0.0.1:9' });
  t.teardown(daemon.close);
  const given = [{ model: 'm' }];
  const command = 'runner.models.stop';
  for (const [params, data] of [
    [{ command: 'three' }, { path: 'command', problem: 'there is no command "three"' }],
    [{ command }, { path: 'arguments[0]' }],
    [{ command, arguments: [{}] }, { path: 'arguments[0].model' }],
    [{ command, arguments: given, workDoneToken: [] }, { path: 'workDoneToken' }],
    [{ arguments: given }, { path: 'command' }],
  ] as const)
    await t.rejects(daemon.connection.sendRequest('workspace/executeCommand', params), {
      code: -32602,
      data,
    });
});

t.test('standard error that nobody reads takes a bounded amount of memory', async (t) => {
  const target = new PassThrough();
  const output = new ErrorOutput(() => target);
  const line = `${'x'.repeat(999)}\n`;
  for (let n = 0; n < 5_000; n++) output.write(line);
  const kept = target.writableLength + target.readableLength;
  t.ok(kept < 2 * 1024 * 1024, `${kept} bytes`);
  target.resume();
  await once(target, 'drain');
  let said = '';
  target.on('data', (chunk) => (said += chunk));
  output.write('after\n');
  await new Promise(setImmediate);
  t.match(said, /… [\d]+ messages left out because nobody read them\nafter/);
});

t.test('deltas keep order and text, with one unwritten', async (t) => {
  const sent: ChatDelta[] = [];
  const releases: (() => void)[] = [];
  const pump = createDeltaPump('s', (delta) => {
    sent.push(delta);
    return new Promise((resolve) => releases.push(resolve));
  });
  for (const text of ['a', 'b', 'c']) pump.push({ kind: 'text', text });
  pump.push({ kind: 'thinking', text: 'x' });
  pump.push({ kind: 'notice', notice: { code: 'answer-lost', message: 'm' } });
  pump.push({ kind: 'text', text: 'd' });
  t.strictSame(sent, [{ streamId: 's', seq: 0, kind: 'text', text: 'a' }], 'the first goes at once');
  let isFlushed = false;
  const flushed = pump.flush().then(() => {
    isFlushed = true;
  });
  while (!isFlushed) {
    t.ok(releases.length <= 1, 'one is unwritten');
    releases.shift()?.();
    await new Promise(setImmediate);
    t.notOk(isFlushed && releases.length > 0);
  }
  await flushed;
  t.strictSame(
    sent.map(({ seq, kind, ...rest }) => [seq, kind, 'text' in rest ? rest.text : '']),
    [
      [0, 'text', 'a'],
      [1, 'text', 'bc'],
      [2, 'thinking', 'x'],
      [3, 'notice', ''],
      [4, 'text', 'd'],
    ],
  );
});

t.test('a schema that differs from its type does not compile', async (t) => {
  const schema = z.object({ name: z.string(), size: z.exactOptional(z.number()) });
  const inside: Schema<{ readonly list: readonly { readonly a?: string }[] }> = exact(
    z.object({ list: z.array(z.object({ a: z.exactOptional(z.string()) })) }),
  );
  // @ts-expect-error The type has an optional key more, further in.
  const deep: Schema<{ readonly list: readonly { readonly a?: string; readonly b?: string }[] }> = exact(
    z.object({ list: z.array(z.object({ a: z.exactOptional(z.string()) })) }),
  );
  const same: Schema<{ readonly name: string; readonly size?: number }> = exact(schema);
  // @ts-expect-error The type has an optional key more, which the schema would leave out.
  const more: Schema<{ readonly name: string; readonly size?: number; readonly more?: string }> =
    exact(schema);
  // @ts-expect-error The type has a key less.
  const less: Schema<{ readonly name: string }> = exact(schema);
  // @ts-expect-error The type has a wider key.
  const wider: Schema<{ readonly name: string | number; readonly size?: number }> = exact(schema);
  // @ts-expect-error Only `exact` makes one.
  const made: Schema<{ readonly name: string; readonly size?: number }> = schema;
  const message: NotificationMessage<{ readonly name: string; readonly more?: string }> = { method: 'm' };
  // @ts-expect-error A message takes the schema of its own parameters alone.
  const take = (endpoint: Endpoint) => endpoint.onNotification(message, same, () => undefined);
  t.ok([inside, deep, same, more, less, wider, made, take].every(Boolean));
});

t.test('an empty object of Lua is an empty object', async (t) => {
  const daemon = await startPair([] as object, { settings: [] });
  t.teardown(daemon.close);
  t.match(await daemon.connection.sendRequest('runner/status', []), { state: 'offline' });
});

t.test('a secret is sent to its origin, and appears nowhere else', async (t) => {
  const store = createSecretStore();
  store.set({ origin: 'https://box:8443', secret: 'planted-token', headers: { 'X-Key': 'planted-header' } });
  store.set({ origin: 'http://127.0.0.1:1', secret: 'loop-token' });
  store.set({ origin: 'http://far.example', secret: 'plain-token' });
  t.strictSame(store.headersFor('https://box:8443/prefix'), {
    authorization: 'Bearer planted-token',
    'x-key': 'planted-header',
  });
  t.strictSame(store.headersFor('http://127.0.0.1:1'), { authorization: 'Bearer loop-token' });
  for (const url of [
    ...['https://box', 'http://box:8443', 'https://box.evil.example:8443', 'http://far.example'],
    'http://127.0.0.1:2',
  ]) {
    t.strictSame(store.headersFor(url), {}, `nothing for ${url}`);
  }
  t.strictSame(store.runnerHeadersFor('http://far.example'), {}, 'nor for a runner');
  t.ok(store.isWithheld('http://far.example/prefix'));
  for (const url of ['https://box:8443', 'http://127.0.0.1:1', 'http://other.example', 'https://far.example'])
    t.notOk(store.isWithheld(url), `${url} waits for no token`);
  store.set({ origin: 'http://far.example', secret: 'plain-token', allowPlainHttp: true });
  t.strictSame(store.runnerHeadersFor('http://far.example'), { authorization: 'Bearer plain-token' });
  t.strictSame(store.runnerHeadersFor('http://far.example:8080'), {}, 'another origin');
  t.strictSame(store.headersFor('http://far.example'), {}, 'only a runner gets it');
  t.notOk(store.isWithheld('http://far.example'));
  store.set({ origin: 'http://far.example', secret: 'plain-token' });
  t.ok(store.isWithheld('http://far.example'), 'a later line takes the permission back');
  const pair = { authorization: `Basic ${Buffer.from('me:a word').toString('base64')}` };
  store.set({ origin: 'https://basic', secret: 'me:a word' });
  t.strictSame(store.headersFor('https://basic'), { authorization: 'Bearer me:a word' });
  t.strictSame(store.headersFor('https://basic/x', true), pair);
  t.strictSame(store.runnerHeadersFor('https://basic'), pair, 'what its server asked for is remembered');
  t.equal(store.redact('a word, or bWU6YSB3b3Jk'), '***, or ***');
  store.set({ origin: 'https://basic', secret: 'another-one' });
  t.strictSame(store.headersFor('https://basic'), { authorization: 'Bearer another-one' });
  t.equal(store.redact('see planted-token and planted-header'), 'see *** and ***');
  store.set({ origin: 'https://box:8443', secret: null });
  t.strictSame(store.headersFor('https://box:8443'), {});
  t.equal(store.redact('planted-token'), '***', 'also after it was replaced');
  for (const [text, want] of [
    ['Authorization: Bearer abcdef', 'Authorization: Bearer ***'],
    ['{"authorization":"abcdefgh"}', '{"authorization":"***"}'],
    ['http://user:word@host/x', 'http://***@host/x'],
    ['?token=abcdef&x=1', '?token=***&x=1'],
    ['an authorization header, a token and a password', 'an authorization header, a token and a password'],
  ] as const) {
    t.equal(store.redact(text), want, text);
  }
});

t.test('a wrong secret line is refused without being quoted', async (t) => {
  for (const line of [
    ...['{"origin":"x","secret":"planted"}', '{"origin":"http://a"}', 'planted'],
    '{"origin":"http://a","secret":"plan\\nted"}',
    '{"origin":"http://a","secret":"planted","headers":{"a b":"c"}}',
    '{"origin":"http://a","secret":"planted","allowPlainHttp":"yes"}',
    '{"origin":"http://a","secret":"planted","headers":{"a":"plan\\nted"}}',
    '{"origin":"http://a","secret":"planted","headers":{"a":1}}',
    '{"origin":"http://a","secret":"planted","headers":{"a":"b","c":1}}',
    '{"origin":"http://a","secret":"planted","headers":null}',
    '{"origin":"http://a","secret":"planted","headers":"planted"}',
    ...['{"origin":"http://a","secret":["planted"]}', '{"origin":["http://a"],"secret":"planted"}'],
    ...['["planted"]', 'null', '"planted"'],
  ]) {
    t.notMatch(
      messageOf(() => parseSecretLine(line)),
      /plan|^no error$/,
      line,
    );
  }
});

t.test('a secret line has what its author wrote, and nothing else', async (t) => {
  const whole = { origin: 'http://a', secret: '', headers: { 'X-Key~': ' ~' }, allowPlainHttp: false };
  for (const line of [whole, { origin: 'http://a', secret: null }])
    t.strictSame(parseSecretLine(JSON.stringify({ ...line, more: 1 })), line);
  const store = createSecretStore();
  let set = 0;
  store.onDidSet(() => set++);
  store.set({ origin: 'https://a/path', secret: null, headers: { 'X-Key': 'abcd' } });
  t.strictSame(store.headersFor('https://a'), { 'x-key': 'abcd' }, 'headers alone');
  store.set({ origin: 'https://a', secret: 'abcde', headers: { Authorization: 'Basic x' } });
  t.strictSame(store.headersFor('https://a/b'), { authorization: 'Basic x' }, 'its own way to log in');
  t.equal(set, 2);
  t.equal(store.redact('abcd and abc'), '*** and abc', 'the shortest secret that is one');
});

t.test("the paths of the user's files", where('modes'), async (t) => {
  const home = { HOME: '/h' };
  const windows = { LOCALAPPDATA: '/l' };
  t.equal(userConfigFile(home), '/h/.config/runner/config.json');
  t.equal(userConfigFile({ ...home, XDG_CONFIG_HOME: '/c' }), '/c/runner/config.json');
  const cases: readonly (readonly [
    NodeJS.Platform,
    NodeJS.ProcessEnv,
    state: string,
    cache: string | undefined,
  ])[] = [
    ['linux', home, '/h/.local/state/runner', '/h/.cache/runner'],
    ['linux', { ...home, XDG_STATE_HOME: '/s', XDG_CACHE_HOME: '/c' }, '/s/runner', '/c/runner'],
    [
      'linux',
      { ...home, XDG_STATE_HOME: 's', XDG_CACHE_HOME: './c' },
      '/h/.local/state/runner',
      '/h/.cache/runner',
    ],
    ['darwin', home, '/h/Library/Application Support/runner', '/h/.cache/runner'],
    ['win32', windows, '/l/runner', '/l/runner/Cache'],
  ];
  for (const [platform, env, state, cache] of cases) {
    t.equal(stateFolder(env, platform), state);
    t.equal(cacheFolder(env, platform), cache);
  }
  t.equal(cacheFolder({}, 'linux'), undefined, 'nobody is at home');
  t.equal(userConfigFile({ ...home, XDG_CONFIG_HOME: 'of/a/workspace' }), '/h/.config/runner/config.json');
});

t.test("Node's compile cache is in the user's cache folder, and nowhere else", async (t) => {
  const home = t.testdir({ Local: {} });
  const folder = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv) => compileCacheFolder({ platform, env });
  const ownFolder = join('runner', 'compiled');
  t.equal(folder('linux', { HOME: home }), join(home, '.cache', ownFolder));
  t.equal(folder('darwin', { HOME: home }), join(home, '.cache', ownFolder));
  t.equal(
    folder('win32', { LOCALAPPDATA: join(home, 'Local') }),
    join(home, 'Local', 'runner', 'Cache', 'compiled'),
  );
  t.equal(
    folder('linux', { HOME: home, XDG_CACHE_HOME: join(home, 'Local') }),
    join(home, 'Local', ownFolder),
  );
  t.equal(folder('linux', { HOME: join(home, 'none') }), undefined, 'no home folder is made');
  t.equal(
    folder('linux', { HOME: home, NODE_COMPILE_CACHE: '/tmp/chosen' }),
    undefined,
    'it was chosen already',
  );
});

t.test(
  'a private file that is written many times at once is one of the texts, for its owner alone',
  async (t) => {
    const folder = t.testdir({});
    const path = join(folder, 'state', 'kept.json');
    const texts = Array.from({ length: 20 }, (_, n) => String(n).repeat(10_000 - 400 * n));
    await Promise.all(texts.map((text) => writePrivateFile(path, text)));
    t.ok(texts.includes(readFileSync(path, 'utf8')));
    if (has('modes')) t.equal(statSync(path).mode & 0o777, 0o600);
    t.strictSame(readdirSync(join(folder, 'state')), ['kept.json'], 'nothing is left beside it');
    // Node's recursive mkdir would go on for ever there.
    await t.rejects(writePrivateFile('/proc/1/none/deep/kept.json', 'x'));
  },
);

t.test('the log has four levels and no secrets', async (t) => {
  const lines: string[] = [];
  const log = createLog(
    () => 'warn',
    (text) => text.replace('planted', '***'),
  );
  log.onDidWrite(({ level, message }) => lines.push(`${level} ${message}`));
  log.debug('a');
  log.info('b');
  log.warn('c planted');
  log.error('d');
  t.strictSame(lines, ['warn c ***', 'error d']);
});

function messageOf(work: () => unknown): string {
  try {
    work();
    return 'no error';
  } catch (error) {
    return error instanceof TypeError ? error.message : 'no error';
  }
}

t.test('a message that is not in LSP fails the test', async (t) => {
  const cases = [
    { name: 'a message of our own', says: { method: 'runner/sessions/didChange', params: {} } },
    {
      ...{ name: 'a misspelt property', asks: 'textDocument/hover' },
      ...{ answer: { result: { contents: 'text', rnage: {} } }, want: /unevaluated/ },
    },
    {
      ...{ name: 'a kind that there is not', asks: 'textDocument/completion' },
      ...{ answer: { result: [{ label: 'x', kind: 99 }] }, want: /allowed values/ },
    },
    {
      name: 'what is registered',
      says: {
        ...{ id: 1, method: 'client/registerCapability' },
        params: { registrations: [{ id: '1', method: 'textDocument/inlineCompletoin' }] },
      },
      want: /no method textDocument\/inlineCompletoin/,
    },
    {
      name: 'another direction',
      says: { method: 'textDocument/didOpen', params: {} },
      want: /only a client/,
    },
    { name: 'an answer to nothing', says: { id: 7, result: null }, want: /answers nothing/ },
  ] as const;
  for (const { name, ...given } of cases) {
    const { asks, answer, says, want } = { asks: '', answer: {}, says: undefined, want: undefined, ...given };
    const [toClient, toDaemon] = [new PassThrough(), new PassThrough()];
    const client = connectClient(toClient, toDaemon);
    const send = (message: object) => toClient.write(frame(JSON.stringify({ jsonrpc: '2.0', ...message })));
    if (asks !== '') {
      const answered = client.connection.sendRequest(asks).catch(() => undefined);
      await once(toDaemon, 'data');
      send({ id: 0, ...answer });
      await answered;
    }
    const isRead = new Promise((resolve) =>
      client.connection.onNotification('runner/models/didChange', resolve),
    );
    if (says) send(says);
    send({ method: 'runner/models/didChange', params: {} });
    await isRead;
    if (want) t.throws(() => client.disconnect(), { message: want }, name);
    else t.doesNotThrow(() => client.disconnect(), name);
  }
});
