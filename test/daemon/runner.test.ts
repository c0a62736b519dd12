import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import t from 'tap';
import { RunnerError } from '../../daemon/base/errors.ts';
import { excessOf, maxNodes, nodesIn } from '../../daemon/base/nesting.ts';
import { ModelCapabilities } from '../../daemon/models/modelCapabilities.ts';
import { Models } from '../../daemon/models/models.ts';
import { failureOfAnswer } from '../../daemon/runner/http/answerFailure.ts';
import { failureOfConnection } from '../../daemon/runner/http/connectionFailure.ts';
import {
  createTransport,
  type Transport,
  type TransportOptions,
} from '../../daemon/runner/http/transport.ts';
import {
  parseChatLine,
  parseGenerateLine,
  parseModels,
  parseShow,
  parseWorkLine,
  tryVersion,
} from '../../daemon/runner/ollama/answers.ts';
import { failureOfErrorLine, ollamaErrors } from '../../daemon/runner/ollama/errorTexts.ts';
import { createOllamaRunner, readJsonLines } from '../../daemon/runner/ollama/ollamaRunner.ts';
import type { ChatRequest, CreateRequest, FillPart, FillRequest } from '../../daemon/runner/runner.ts';
import { parseAddress } from '../../protocol/messages/address.ts';
import type { Message } from '../../protocol/messages/chat.ts';
import { failsWith } from '../support/failsWith.ts';
import { golden } from '../support/golden.ts';
import { type Answer, sendJson, startOpenaiStandIn } from '../support/openaiStandIn.ts';
import { needs } from '../support/parts.ts';
import { closeServer, portOf, type Recording, readRecordings, startReplay } from '../support/recordings.ts';
import { poll } from '../support/waiting.ts';

const timeouts = { connect: 2_000, list: 2_000, firstByte: 2_000, idle: 2_000 };

function transportTo(url: string, options: Partial<TransportOptions> = {}): Transport {
  return createTransport({ server: 'default', url, timeouts, headers: async () => ({}), ...options });
}

t.test('an address is read as OLLAMA_HOST is', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'http://127.0.0.1:11434'],
    ['  "http://127.0.0.1:1"  ', 'http://127.0.0.1:1'],
    ['box', 'http://box:11434'],
    [':8080', 'http://127.0.0.1:8080'],
    ['box:8080', 'http://box:8080'],
    ['box:8080/prefix/', 'http://box:8080/prefix'],
    ['[::1]:11434', 'http://[::1]:11434'],
    ['::1', 'http://[::1]:11434'],
    ['http://box', 'http://box'],
    ['https://box', 'https://box'],
    ['https://box:8443/a/b?q#f', 'https://box:8443/a/b'],
    ['ollama.com', 'https://ollama.com'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['http://[::]:11434', 'http://[::1]:11434'],
  ];
  for (const [text, want] of cases) t.equal(parseAddress(text), want, text || 'nothing');
  for (const text of ['ftp://box', 'http://', 'http://a b', 'box:99999', 'http://user:word@box:1', 'me@box'])
    t.throws(() => parseAddress(text), TypeError, text);
});

t.test('a failed answer becomes the error of the table', async (t) => {
  const json = (error: string, more: object = {}) => JSON.stringify({ error, ...more });
  const refused = (kind: string, body = '') => ({ body, want: { kind } });
  const said = (status: number, error: string, kind: string) => ({ status, ...refused(kind, json(error)) });
  const cases = [
    { name: 'no route', status: 404, body: '404 page not found', want: { kind: 'not-supported' } },
    { name: 'a wrong method', status: 405, body: '405 method not allowed', want: { kind: 'not-supported' } },
    { name: 'a proxy without the method', status: 501, body: '', want: { kind: 'not-supported' } },
    {
      name: 'an unknown model',
      status: 404,
      body: json("model 'm' not found"),
      want: { kind: 'model-not-found', model: 'm' },
    },
    {
      name: 'a model that costs more',
      status: 403,
      body: json('this model requires a subscription.'),
      want: { kind: 'unauthorized', advice: undefined },
    },
    {
      name: 'a limit of the account',
      status: 429,
      body: json('you have reached your hourly usage limit'),
      want: { kind: 'busy', retryAfter: undefined },
    },
    { name: 'another 404', status: 404, body: json('blob missing'), want: { kind: 'invalid-request' } },
    {
      name: 'tools refused',
      status: 400,
      body: json('registry.ollama.ai/library/m:2b does not support tools'),
      want: { kind: 'not-supported', capability: 'tools' },
    },
    {
      name: 'several refused',
      status: 400,
      body: json('x does not support thinking\ntools'),
      want: { kind: 'not-supported', capability: 'tools' },
    },
    ...[500, 501, 503].map((status) => ({
      name: `tools refused with ${status}`,
      status,
      body: json('m does not support tools'),
      want: { kind: 'not-supported', capability: 'tools' },
    })),
    {
      name: 'what a driver lacks',
      status: 500,
      body: json('the device does not support CUDA graphs'),
      want: { kind: 'runner-failed', capability: undefined },
    },
    {
      name: 'a prompt too long, with 500',
      status: 500,
      body: json('the input length exceeds the context length'),
      want: { kind: 'context-exceeded' },
    },
    {
      name: 'thinking refused with advice',
      status: 400,
      body: json('"m" does not support thinking. Pull the model again'),
      want: { kind: 'not-supported', capability: 'thinking' },
    },
    {
      name: 'a prompt too long',
      status: 400,
      body: json('the input length exceeds the context length'),
      want: { kind: 'context-exceeded' },
    },
    {
      name: 'a prompt too long, with figures',
      status: 400,
      body: json('request (26012 tokens) exceeds the available context size (4096 tokens)'),
      want: { kind: 'context-exceeded', needed: 26012, allocated: 4096 },
    },
    {
      name: 'a bad option',
      status: 400,
      body: json('invalid think value'),
      want: { kind: 'invalid-request' },
    },
    { name: 'payment', status: 402, body: json('subscribe'), want: { kind: 'invalid-request' } },
    {
      name: 'no token',
      status: 401,
      body: json('unauthorized', { signin_url: 'https://ollama.com/connect?x' }),
      want: { kind: 'unauthorized', signinUrl: 'https://ollama.com/connect?x' },
    },
    {
      name: 'a sign-in address that is a script',
      status: 401,
      body: json('unauthorized', { signin_url: 'javascript:alert(1)' }),
      want: { kind: 'unauthorized', signinUrl: undefined },
    },
    { name: 'forbidden, empty', status: 403, body: '', want: { kind: 'unauthorized' } },
    {
      name: 'busy',
      status: 503,
      body: json('server busy, please try again.  maximum pending requests exceeded'),
      want: { kind: 'busy' },
    },
    {
      name: 'a rate limit',
      status: 429,
      body: '<html>',
      retryAfter: '7',
      want: { kind: 'busy', retryAfter: 7 },
    },
    {
      name: 'a rate limit with a date',
      status: 429,
      body: '',
      retryAfter: 'Fri, 01 Jan 2100 00:00:00 GMT',
      want: { kind: 'busy', retryAfter: undefined },
    },
    { name: 'a gateway page', status: 502, body: '<html><body>Bad Gateway', want: { kind: 'bad-response' } },
    {
      name: 'a page of another server',
      status: 404,
      body: '<!DOCTYPE html><title>Not here',
      want: { kind: 'bad-response' },
    },
    {
      name: 'the runner failed',
      status: 500,
      body: json('llama runner process has terminated'),
      want: { kind: 'runner-failed' },
    },
    {
      name: 'a failure inside a failure',
      status: 500,
      body: json('{"error":{"message":"inner"}}'),
      want: { kind: 'runner-failed' },
    },
    { name: 'status 500 and nothing', status: 500, body: '', want: { kind: 'bad-response' } },
    {
      name: 'a redirect',
      status: 307,
      body: '',
      location: 'https://evil.example/x?token=1',
      want: { kind: 'bad-response' },
    },
    { name: 'the first redirect, to itself', status: 300, location: 'x?token=1', ...refused('bad-response') },
    {
      name: 'the last redirect, to no address',
      status: 399,
      location: 'http://',
      ...refused('bad-response'),
    },
    { name: 'a redirect to nowhere, with words', ...said(302, 'm does not support tools', 'bad-response') },
    { name: 'no refusal', ...said(400, 'a model', 'invalid-request') },
    { name: 'no reason at all', status: 400, ...refused('invalid-request') },
    { name: 'no token, with a reason', ...said(401, 'token is old', 'unauthorized') },
    { name: 'no token, without a reason', ...said(401, 'Unauthorized', 'unauthorized') },
    ...['0', '-1', 'soon'].map((retryAfter) => ({
      name: `a rate limit of ${retryAfter} seconds`,
      retryAfter,
      ...said(429, 'slow\n down.', 'busy'),
    })),
    { name: 'a page by its type', status: 500, contentType: 'x; TEXT/HTML', ...refused('bad-response') },
    { name: 'a page by its beginning', status: 400, ...refused('bad-response', ' \n<HTML>') },
    { name: 'words of a page', status: 400, ...refused('invalid-request', 'see <html>') },
    { name: 'a page with a reason', contentType: 'text/html', ...said(500, 'a model', 'bad-response') },
    { name: 'a method that a model lacks', ...said(405, 'no', 'invalid-request') },
    { name: 'what a model lacks', ...said(501, 'no', 'runner-failed') },
    { name: 'the last refusal', ...said(499, 'no', 'invalid-request') },
    { name: 'the last status', ...said(599, 'no', 'runner-failed') },
    ...[
      'model requires more system memory (8.0 GiB) than is available (1.0 GiB).',
      'CUDA error: out of memory',
      'option "num_ctx" must be of type integer',
      'invalid format: expected "json" or a JSON schema',
      'not in GGUF format: <b>config</b>   json',
      'unsupported architecture x',
    ].map((text) => ({ name: text, ...said(500, text, 'runner-failed') })),
    ...[
      'pull model manifest: Get "https://registry.ollama.ai/v2/x": dial tcp: lookup registry: no such host.',
      'pull model manifest: 401: access   denied',
      'pull model manifest: 412: the model requires a newer version of Ollama',
      'pull model manifest: Get "https://box": http: server gave HTTP response to HTTPS client',
      'pull model manifest: something odd',
      'pull model manifest: something odd and dialed',
      'max retries exceeded: EOF',
      'digest mismatch, file must be downloaded again: want a, got b',
      'write /x: no space left on device',
      `pull model manifest: ${'x'.repeat(501)}`,
    ].map((text) => ({ name: text.slice(0, 60), ...said(500, text, 'runner-failed') })),
    ...['file does not exist', 'x: manifest unknown', 'not found'].map((text) => ({
      name: `no manifest: ${text}`,
      ...said(500, `pull model manifest: ${text}`, 'model-not-found'),
    })),
    { name: 'a sentence without an end', ...said(500, 'x'.repeat(2_001), 'runner-failed') },
    {
      name: 'a sentence inside of a sentence',
      ...said(500, '{"error":{"error":"{\\"message\\":\\"inmost\\"}"}}', 'runner-failed'),
    },
    { name: 'a sentence that only looks like JSON', ...said(500, '{"x":1}', 'runner-failed') },
    { name: 'a number', status: 500, ...refused('runner-failed', '{"error":7}') },
    { name: 'no error', status: 500, ...refused('bad-response', '{"message":"no"}') },
    {
      name: 'several that are no abilities',
      ...said(400, 'x does not support CUDA\nvision.', 'not-supported'),
    },
    { name: 'no figures', ...said(400, '(7 tokens) exceeds the available context size', 'context-exceeded') },
  ];
  const failures: object[] = [];
  for (const { name, status, body, want, ...headers } of cases) {
    const error = failureOfAnswer(
      { status, body, contentType: body.startsWith('<') ? 'Text/HTML' : '', ...headers },
      { url: 'http://127.0.0.1:1', server: 's', model: 'm', redact: (text) => text },
      ollamaErrors,
    );
    t.match({ ...error.data }, want, name);
    t.equal(error.status, status, `${name}: the status is kept`);
    t.match(error.message, /[.!]$/, `${name}: a whole sentence`);
    t.notMatch(error.message, /token=1/, `${name}: no query of a foreign address`);
    failures.push({ name, ...error.data, message: error.message });
  }
  const { actual, accepted } = golden('failedAnswers.json', failures);
  t.equal(actual, accepted, 'test/fixtures/golden/failedAnswers.json (ACCEPT=1 takes what is)');
  const ofTheServer = failureOfAnswer(
    { status: 404, body: json('not found'), contentType: 'application/json' },
    { url: 'u', server: 's', redact: (text) => text },
    ollamaErrors,
  );
  t.equal(ofTheServer.kind, 'not-supported', 'no model is asked for: the route is not there');
  const line = failureOfErrorLine('an error was encountered while running the model: EOF', {
    url: 'u',
    server: 's',
    redact: (text) => text,
  });
  t.equal(line.kind, 'runner-failed');
});

t.test(
  'a connection that fails has a kind, a sentence, and its cause for who looks for the fault',
  async (t) => {
    const coded = (code: string) => Object.assign(new Error(), { code });
    const unreachable = 'server-unreachable';
    const cases: readonly {
      name: string;
      cause: unknown;
      answered?: boolean;
      want: { kind: string; message: RegExp };
    }[] = [
      {
        name: 'no connection in time',
        cause: coded('UND_ERR_CONNECT_TIMEOUT'),
        want: { kind: 'timeout', message: /^Could not connect to http:\/\/box in time\. Start it/ },
      },
      {
        name: 'no head in time',
        cause: coded('UND_ERR_HEADERS_TIMEOUT'),
        want: { kind: 'timeout', message: /too long to begin/ },
      },
      {
        name: 'a pause that is too long',
        cause: coded('UND_ERR_BODY_TIMEOUT'),
        answered: true,
        want: { kind: 'timeout', message: /stopped sending/ },
      },
      {
        name: 'a file that changes',
        cause: coded('UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'),
        want: { kind: 'invalid-request', message: /^A file changed/ },
      },
      {
        name: 'lost in an answer',
        cause: coded('ECONNRESET'),
        answered: true,
        want: { kind: 'bad-response', message: /lost in the middle/ },
      },
      {
        name: 'no HTTP',
        cause: coded('HPE_INVALID_CONSTANT'),
        want: { kind: 'bad-response', message: /does not speak HTTP/ },
      },
      {
        name: 'no HTTP, by its name alone',
        cause: Object.assign(new Error(), { name: 'HTTPParserError' }),
        want: { kind: 'bad-response', message: /does not speak HTTP/ },
      },
      {
        name: 'a head without an end',
        cause: coded('UND_ERR_HEADERS_OVERFLOW'),
        want: { kind: 'bad-response', message: /does not speak HTTP/ },
      },
      {
        name: 'a certificate',
        cause: coded('CERT_HAS_EXPIRED'),
        want: { kind: unreachable, message: /not trusted \(CERT_HAS_EXPIRED\)/ },
      },
      { name: 'no such host', cause: coded('ENOTFOUND'), want: { kind: unreachable, message: /not found/ } },
      {
        name: 'no answer about the host',
        cause: coded('EAI_AGAIN'),
        want: { kind: unreachable, message: /not found/ },
      },
      {
        name: 'wrapped',
        cause: new TypeError('fetch failed', {
          cause: new AggregateError([coded('ENOTFOUND'), coded('EPROTO')]),
        }),
        want: { kind: unreachable, message: /not found/ },
      },
      {
        name: 'refused',
        cause: coded('ECONNREFUSED'),
        want: { kind: unreachable, message: /^No runner answers at http:\/\/box\. Start it/ },
      },
      { name: 'no error', cause: 'broken', want: { kind: unreachable, message: /^No runner answers/ } },
    ];
    for (const { name, cause, answered = false, want } of cases) {
      const subject = { url: 'http://box', server: 's', model: 'm', redact: (text: string) => text };
      const error = failureOfConnection(cause, subject, answered);
      t.match(error, { ...want, details: { server: 's', model: 'm' }, cause }, name);
      t.equal(error.ofStatus(500).cause, cause, name);
    }
  },
);

t.test('JSON lines come out the same however they are cut', async (t) => {
  const read = async (chunks: readonly Buffer[]) => {
    const values: unknown[] = [];
    for await (const batch of readJsonLines(from(chunks))) values.push(...batch);
    return values;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.json(), { maxLength: 8 }), fc.array(fc.nat(400)), async (lines, cuts) => {
      const bytes = Buffer.from(lines.join('\n') + '\n');
      const want = lines.map((line) => JSON.parse(line));
      t.strictSame(await read(cutAt(bytes, cuts)), want);
    }),
    { numRuns: 200 },
  );
  const split = Buffer.from('{"a":"€𝄞"}\r\n\n  \n{"b":1}');
  t.strictSame(
    await read([...split].map((byte) => Buffer.from([byte]))),
    [{ a: '€𝄞' }, { b: 1 }],
    'a byte at a time',
  );
  t.strictSame(
    await read([Buffer.from('{"a":"\xff"}', 'latin1')]),
    [{ a: '\ufffd' }],
    'invalid UTF-8 is replaced',
  );
  await t.rejects(read([Buffer.from('{"a":1}\nnot json\n')]), failsWith({ kind: 'bad-response' }));
  await t.rejects(read([Buffer.from('<html>\n')]), failsWith({ kind: 'bad-response', message: /web page/ }));
});

t.test('only lines, and each megabyte of a long one, are batches', async (t) => {
  const sizes = async (...chunks: readonly string[]) => {
    const batches: number[] = [];
    for await (const batch of readJsonLines(from(chunks.map((chunk) => Buffer.from(chunk)))))
      batches.push(batch.length);
    return batches;
  };
  t.strictSame(await sizes(' ', '\n', '\r\n\n', '{', '', '}\n{', '}\n', ' '), [1, 1]);
  const part = 'x'.repeat(600_000);
  t.strictSame(await sizes('"', part, part, part, part, '"\n'), [0, 0, 1]);
  t.strictSame(await sizes(`"${part}`, `"\n"${part}`, `${part}"\n`), [1, 1], 'the next line counts anew');
});

t.test('a line of 40 MB is refused while it arrives', async (t) => {
  let given = 0;
  async function* endless() {
    for (let n = 0; n < 40; n++) {
      given++;
      yield Buffer.alloc(1024 * 1024, 'a');
    }
  }
  await t.rejects(drain(readJsonLines(endless())), failsWith({ kind: 'bad-response', message: /8 MB/ }));
  t.ok(given < 12, `${given} MB were read`);
});

t.test('parameters of a model are read up to a megabyte', async (t) => {
  const parameters = (length: number) => ({ parameters: `num_ctx 5\n${'x'.repeat(length - 10)}` });
  const most = parameters(1024 * 1024);
  t.strictSame(parseShow(most), { ...most, configuredContext: 5, turns: 'written' });
  t.throws(() => parseShow(parameters(1024 * 1024 + 1)), failsWith({ kind: 'bad-response' }));
});

t.test('JSON that is too large or too deep is refused with the limit', async (t) => {
  const refusal = (line: string) => drain(readJsonLines(from([Buffer.from(`${line}\n`)])));
  const start = 'The runner sent JSON that';
  await t.rejects(refusal(`[${'{},'.repeat(maxNodes)}{}]`), {
    message: new RegExp(`^${start} has more than ${maxNodes.toLocaleString('en')} objects, lists and keys, `),
  });
  await t.rejects(refusal('['.repeat(513)), {
    message: new RegExp(`^${start} is nested more than 512 levels deep, which no answer needs\\.`),
  });
});

t.test('an endless stream is stopped', async (t) => {
  async function* endless() {
    for (;;) yield Buffer.from('{}\n'.repeat(1_000));
  }
  await t.rejects(
    drain(readJsonLines(endless(), { maxStream: 1024 ** 2 })),
    failsWith({ kind: 'bad-response', message: /^The runner sent more than \d{1,2} GB in one answer/ }),
  );
  const lines = () => readJsonLines(from([Buffer.from('{}\n'), Buffer.from('{}\n')]), { maxStream: 6 });
  await drain(lines());
  await t.rejects(drain(readJsonLines(from([Buffer.from('{}\n{}\n')]), { maxStream: 5 })));
});

t.test('the parts of JSON are counted before it is parsed', async (t) => {
  const countNodes = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
    return 1 + keys + Object.values(value).reduce<number>((sum, item) => sum + countNodes(item), 0);
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => nodesIn(JSON.stringify(value)) === countNodes(value)),
    { numRuns: 500 },
  );
  const cases: readonly { name: string; text: string; want: ReturnType<typeof excessOf> }[] = [
    {
      name: 'what stands in a string counts for nothing',
      text: `"${'[{:'.repeat(maxNodes)}"`,
      want: undefined,
    },
    { name: 'escaped quotes', text: `["${'\\"[\\\\'.repeat(maxNodes)}"]`, want: undefined },
    { name: 'a string without an end', text: `["${'\\"'.repeat(maxNodes)}`, want: undefined },
    { name: 'objects', text: `[${'{},'.repeat(maxNodes)}{}]`, want: 'large' },
    { name: 'keys', text: `{${'"a":1,'.repeat(maxNodes)}"a":1}`, want: 'large' },
    { name: 'lists in lists', text: '['.repeat(513), want: 'deep' },
  ];
  for (const { name, text, want } of cases) t.equal(excessOf(text), want, name);
});

t.test('a list of models is bounded, and reports how many are left out', async (t) => {
  const names = Array.from({ length: 10_003 }, (_, index) => ({ name: `m${index}` }));
  const server = createHttpServer((_request, response) => response.end(JSON.stringify({ models: names })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOf(server)}`;
  const client = createOllamaRunner({ name: 'default', url }, transportTo(url));
  t.teardown(async () => {
    await client.close();
    await closeServer(server);
  });
  const { signal } = new AbortController();
  const { models, leftOut } = await client.list(signal);
  t.strictSame([models.length, leftOut], [10_000, 3]);
  t.equal((await client.running(signal)).length, 10_000);
  const knowledge = new ModelCapabilities();
  const listed = await new Models(knowledge, Date.now).list(client, { refresh: true }, signal);
  t.equal(listed.leftOut, 3, 'and whoever asked is told');
});

t.test('the client reads every recorded exchange correctly', async (t) => {
  const outcomes: Record<string, unknown> = {};
  for (const recording of readRecordings()) outcomes[recording.file] = await replay(recording);
  t.equal(Object.keys(outcomes).length, 118);
  const { actual, accepted } = golden('replayed.json', outcomes);
  t.equal(actual, accepted, 'test/fixtures/golden/replayed.json (ACCEPT=1 takes what is)');
});

/** Requests of which only the answer matters. */
const empty: ChatRequest = { model: 'm', messages: [], tools: [] };
const gap: FillRequest = { model: 'm', text: { prompt: '' }, stops: [], maxTokens: 1, temperature: 0 };

async function replay(recording: Recording): Promise<unknown> {
  const { url, close } = await startReplay(recording);
  const transport = transportTo(url);
  try {
    return await outcomeOf(transport, url, recording);
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    const outcome = JSON.stringify({ ...error.data, message: error.message });
    return JSON.parse(outcome.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST'));
  } finally {
    await transport.close();
    await close();
  }
}

async function outcomeOf(transport: Transport, url: string, recording: Recording): Promise<unknown> {
  const client = createOllamaRunner({ name: 'default', url }, transport);
  const { signal } = new AbortController();
  const { method, path } = recording.request;
  const body = recording.request.body as
    | { model?: string; stream?: boolean; messages?: readonly Message[]; prompt?: string }
    | undefined;
  if (path === '/api/version') return (await client.identify(signal)).version;
  if (path === '/api/tags') return (await client.list(signal)).models;
  if (path === '/api/ps') return client.running(signal);
  if (path === '/api/show') return client.show(body?.model ?? '', signal);
  if (path === '/api/chat' && body?.stream !== false && body?.messages) {
    return summaryOf(client.chat({ ...empty, model: body.model ?? '', messages: body.messages }, signal));
  }
  if (path === '/api/generate' && body?.stream !== false && body?.prompt) {
    const { model = '', prompt } = body;
    const lines: FillPart[] = [];
    for await (const batch of client.fill({ ...gap, model, text: { prompt } }, signal)) lines.push(...batch);
    return { text: lines.map(({ text }) => text).join(''), doneReason: lines.at(-1)?.doneReason };
  }
  const request = { method: method as 'GET', path, signal, ...(body?.model ? { model: body.model } : {}) };
  const lines: unknown[] = [];
  for await (const batch of transport.speaking(ollamaErrors).stream(request, readJsonLines))
    lines.push(...batch);
  return { lines: lines.length };
}

/** What a chat gave; one that fails half way keeps what had come. */
async function summaryOf(
  batches: AsyncGenerator<readonly ReturnType<typeof parseChatLine>[]>,
): Promise<unknown> {
  const summary = {
    content: '',
    thinking: '',
    toolCalls: [] as unknown[],
    last: {},
    error: undefined as unknown,
  };
  try {
    for await (const batch of batches) {
      for (const { content, thinking, toolCalls, ...rest } of batch) {
        summary.content += content;
        summary.thinking += thinking;
        summary.toolCalls.push(...toolCalls);
        summary.last = rest;
      }
    }
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    if (summary.content === '') throw error;
    summary.error = error.kind;
  }
  return summary.content.length > 300
    ? { ...summary, content: `${summary.content.slice(0, 60)}… ${summary.content.length}` }
    : summary;
}

t.test('fields of an answer with a wrong type are left out', async (t) => {
  const chat = {
    content: '',
    thinking: '',
    toolCalls: [],
    done: false,
    promptTokens: 0,
    completionTokens: 0,
  };
  const called = (...of: readonly unknown[]) => ({
    message: { tool_calls: of.map((one) => ({ function: one })) },
  });
  const call = { name: 'f', arguments: {} };
  const cases: readonly (readonly [parse: (value: unknown) => unknown, value: unknown, want: unknown])[] = [
    [parseChatLine, {}, chat],
    [parseChatLine, { message: 'x', done: 'true', prompt_eval_count: -1, eval_count: '2' }, chat],
    [
      parseChatLine,
      {
        message: { content: 'a', thinking: 'b' },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 0,
        eval_count: 2,
      },
      { ...{ ...chat, content: 'a', thinking: 'b', done: true, doneReason: 'stop' }, completionTokens: 2 },
    ],
    [parseChatLine, { error: null }, chat],
    [parseChatLine, { error: 'broken' }, { ...chat, error: 'broken' }],
    [parseChatLine, { error: { code: 1 } }, { ...chat, error: '{"code":1}' }],
    [
      parseChatLine,
      called(
        { name: 'f', arguments: { a: 1 } },
        { name: 'f', arguments: '{"a":1}' },
        { name: 'f', arguments: '[1]' },
        { name: 'f', arguments: '{' },
        { name: 'f', arguments: 1 },
        { name: '' },
        { name: 1 },
        null,
      ),
      {
        ...chat,
        toolCalls: [{ ...call, arguments: { a: 1 } }, { ...call, arguments: { a: 1 } }, call, call, call],
      },
    ],
    [
      parseChatLine,
      { message: { tool_calls: [null, { id: 'i', function: call }, { id: '', function: call }] } },
      { ...chat, toolCalls: [{ id: 'i', ...call }, call] },
    ],
    [parseGenerateLine, {}, { text: '', done: false }],
    [
      parseGenerateLine,
      { response: 'a', done: true, done_reason: 'stop', error: 'e' },
      { text: 'a', done: true, doneReason: 'stop', error: 'e' },
    ],
    [parseWorkLine, {}, { status: '' }],
    [parseWorkLine, { status: 1, digest: 1, total: 1.5, completed: -1 }, { status: '' }],
    [
      parseWorkLine,
      { status: 's', digest: 'd', total: 2, completed: 0, error: 'e' },
      { status: 's', digest: 'd', total: 2, completed: 0, error: 'e' },
    ],
    [parseWorkLine, { total: 2 ** 53, completed: Number.NaN }, { status: '' }],
    [
      parseModels,
      { models: [{ name: 'n'.repeat(1_000) }, { name: 'n'.repeat(1_001) }] },
      { models: [{ name: 'n'.repeat(1_000) }], leftOut: 0 },
    ],
    [parseModels, {}, { models: [], leftOut: 0 }],
    [parseModels, { models: null }, { models: [], leftOut: 0 }],
    [
      parseModels,
      { models: [1, {}, { name: '' }, { name: 1, model: 'm' }] },
      { models: [{ name: 'm' }], leftOut: 0 },
    ],
    [
      parseModels,
      {
        models: [
          {
            name: 'n',
            model: 'm',
            digest: 'sha256:d',
            modified_at: '2026-01-01T01:00:00.123456789+01:00',
            expires_at: 'soon',
            size: 0,
            size_vram: '1',
            context_length: 1,
            details: { context_length: 2, family: 'f', parameter_size: 'p', quantization_level: 'q' },
            capabilities: ['tools', 1],
            remote_host: 'h',
            remote_model: 'r',
          },
        ],
      },
      {
        models: [
          {
            name: 'n',
            size: 0,
            digest: 'd',
            modifiedAt: '2026-01-01T00:00:00.123Z',
            allocatedContext: 1,
            maximumContext: 2,
            family: 'f',
            parameterSize: 'p',
            quantization: 'q',
            capabilities: ['tools'],
            remoteHost: 'h',
            remoteModel: 'r',
          },
        ],
        leftOut: 0,
      },
    ],
    [
      parseModels,
      { models: [{ name: 'mlx', context_length: 4_096, details: { format: 'safetensors' } }] },
      { models: [{ name: 'mlx' }], leftOut: 0 },
    ],
    [parseShow, { details: [], capabilities: 'tools', model_info: [] }, { turns: 'written' }],
    [parseShow, { model_info: { 'x.context_length': 1 } }, { turns: 'written' }],
    [
      parseShow,
      { model_info: { 'general.architecture': 'x', 'x.context_length': 1, 'y.context_length': 2 } },
      { maximumContext: 1, turns: 'written' },
    ],
    [tryVersion, {}, undefined],
    [tryVersion, { version: 'v'.repeat(65) }, 'v'.repeat(64)],
  ];
  for (const [parse, value, want] of cases)
    t.strictSame(parse(value), want, `${parse.name} of ${JSON.stringify(value)}`);
  for (const parse of [parseChatLine, parseGenerateLine, parseModels, parseShow, tryVersion, parseWorkLine])
    for (const value of [null, undefined, [], 'x', 1])
      t.throws(() => parse(value), failsWith({ kind: 'bad-response' }));
  t.throws(() => parseModels({ models: {} }), failsWith({ kind: 'bad-response' }));
});

/** What a runner is asked in one go, with whatever it answers. */
const questions: Readonly<Record<string, (runner: OllamaRunner, signal: AbortSignal) => unknown>> = {
  identify: (runner, signal) => runner.identify(signal),
  list: (runner, signal) => runner.list(signal),
  running: (runner, signal) => runner.running(signal),
  show: (runner, signal) => runner.show('B', signal),
  'show of none': (runner, signal) => runner.show('none', signal),
  chat: (runner, signal) => partsOf(runner.chat(fullChat, signal)),
  'chat of little': (runner, signal) => partsOf(runner.chat(littleChat, signal)),
  'fill of a prompt': (runner, signal) => partsOf(runner.fill({ ...gap, keepAlive: '9' }, signal)),
  'fill of a gap': (runner, signal) =>
    partsOf(runner.fill({ ...fullGap, text: { prefix: 'a', suffix: 'b' } }, signal)),
  'fill at the end': (runner, signal) =>
    partsOf(runner.fill({ ...gap, text: { prefix: 'a', suffix: '' } }, signal)),
  load: (runner, signal) => runner.load('b', {}, signal),
  'load with options': (runner, signal) => runner.load('b', { keepAlive: '-1', contextLength: 9 }, signal),
  'load of what embeds': (runner, signal) => runner.load('b', { onlyEmbeds: true, keepAlive: 5 }, signal),
  unload: (runner, signal) => runner.unload('a/b', signal),
  'unload again': (runner, signal) => runner.unload('b', signal),
  remove: (runner, signal) => runner.remove('b', signal),
  pull: (runner, signal) => partsOf(runner.pull('b', signal)),
  'pull from this machine': (runner, signal) => partsOf(runner.pull('http://localhost:5000/b', signal)),
  'pull from another one': (runner, signal) => partsOf(runner.pull('http://127.0.0.1.a/b', signal)),
  create: (runner, signal) => partsOf(runner.creation.create(creation, signal)),
  'create of little': (runner, signal) =>
    partsOf(runner.creation.create({ ...emptyCreation, from: 'b', system: '' }, signal)),
  hasBlob: (runner, signal) => runner.creation.hasBlob('sha256:1', signal),
  uploadBlob: (runner, signal) =>
    runner.creation.uploadBlob('sha256:1', { bytes: 2, stream: Readable.from(['{', '}']) }, signal),
  facts: (runner) => runner.facts,
};

type OllamaRunner = ReturnType<typeof createOllamaRunner>;

const tool = { name: 'look', description: 'd', inputSchema: { type: 'object' } };
const littleChat: ChatRequest = {
  ...{ model: 'b', tools: [], contextLength: 7, keepAlive: '3' },
  messages: [{ role: 'user', content: 'hi', images: [], thinking: '', toolCalls: [] }],
};
const fullChat: ChatRequest = {
  ...{ model: 'b', tools: [tool], think: 'low', format: 'json', keepAlive: '5m', contextLength: 7 },
  options: { num_ctx: 8, seed: 1 },
  messages: [
    { role: 'user', content: 'hi', images: ['aGk='] },
    {
      ...{ role: 'assistant', content: '', thinking: 'hm' },
      toolCalls: ['1', '2'].map((id) => ({ id, name: 'look', arguments: { id } })),
    },
    { role: 'tool', content: 'r', toolCallId: '1', toolName: 'look' },
  ],
};
const fullGap: FillRequest = {
  ...{ model: 'b', text: { prompt: 'p' }, stops: ['x'], maxTokens: 9, temperature: 0.5 },
  ...{ keepAlive: 60, contextLength: 7 },
};
const emptyCreation: CreateRequest = {
  ...{ model: 'new', files: {}, adapters: {}, drafts: {}, parameters: {}, license: [], messages: [] },
};
const creation: CreateRequest = {
  ...{ ...emptyCreation, files: { f: 'sha256:1' }, adapters: { a: 'sha256:2' }, drafts: { d: 'sha256:3' } },
  ...{ parameters: { num_ctx: 0 }, license: ['l'], messages: [{ role: 'user', content: 'm' }] },
  ...{ template: 't', system: 's', renderer: 'r', parser: 'p', requires: '1' },
};

async function partsOf(batches: AsyncGenerator<readonly unknown[]>): Promise<unknown> {
  const parts: unknown[] = [];
  try {
    for await (const batch of batches) parts.push(...batch);
    return parts;
  } catch (error) {
    return [...parts, failureIn(error)];
  }
}

function failureIn(error: unknown): unknown {
  if (error instanceof RunnerError) return { ...error.data, message: error.message };
  throw error;
}

t.test('what each request sends to Ollama or half an Ollama, and what its answer means', async (t) => {
  const lines =
    (...values: readonly object[]): Answer =>
    (response) =>
      response.end(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  const models = [{ name: 'a:latest' }, { name: 'b:latest', size: 1 }];
  const whole: Record<string, Answer> = {
    'GET /api/version': { version: '1' },
    'GET /api/tags': { models },
    'GET /api/ps': { models: models.slice(1) },
    'POST /api/show': { template: 't', capabilities: ['tools'] },
    'POST /api/chat': (response, asked) => {
      const said = lines({ message: { content: 'a' } }, { done: true }, { message: { content: 'lost' } });
      if (asked.body['stream'] === true && typeof said === 'function') said(response, asked);
      else sendJson(response, 200, { done: true });
    },
    'POST /api/generate': lines({ response: 'a' }, { response: 'b', done: true, done_reason: 'stop' }),
    'POST /api/embed': {},
    'DELETE /api/ps/a%2Fb': {},
    'DELETE /api/delete': (response) => response.end('done'),
    'POST /api/pull': lines({ status: 'pulling' }, { status: 'success' }, { status: 'lost' }),
    'POST /api/create': lines({ status: 'a secret' }, { status: 'success' }),
    'HEAD /api/blobs/sha256:1': {},
    'POST /api/blobs/sha256:1': (response) => response.writeHead(201).end('created'),
  };
  const refuse =
    (status: number, error: string): Answer =>
    (response) =>
      sendJson(response, status, { error });
  const cases: readonly [name: string, routes: Record<string, Answer>, product?: 'other'][] = [
    ['Ollama', whole],
    ['another one with the same API', whole, 'other'],
    ['one that only lists and chats', { ...pick(whole, 'tags', 'version', 'chat'), '*': refuse(501, 'no') }],
    ['one that has no list', { ...pick(whole, 'chat'), '*': refuse(404, 'not found') }, 'other'],
    [
      'one that refuses with the name of the model',
      { ...pick(whole, 'tags'), '*': refuse(404, 'no model b') },
    ],
    [
      'one whose model does not chat, and that ends too early',
      {
        ...whole,
        'POST /api/chat': refuse(400, 'b does not support chat'),
        'POST /api/generate': lines({ response: 'a' }),
        'POST /api/pull': lines(),
        'POST /api/create': lines({ status: 'a' }, { error: 'a secret is wrong' }, { status: 'lost' }),
        'HEAD /api/blobs/sha256:1': (response) => response.writeHead(404).end(),
      },
    ],
    [
      'one that fails',
      { '*': refuse(500, 'a secret broke'), 'POST /api/chat': lines({ error: 'a secret broke' }) },
    ],
  ];
  const outcomes: object[] = [];
  for (const [name, routes, product] of cases) {
    const standIn = await startOpenaiStandIn(routes);
    const { url } = standIn;
    const transport = transportTo(url, { redact: (text) => text.replaceAll('secret', '***') });
    const runner = createOllamaRunner({ name: 'default', url }, transport, product);
    const { signal } = new AbortController();
    for (const [question, ask] of Object.entries(questions)) {
      const before = standIn.asked.length;
      const answer = await (async () => ask(runner, signal))().catch(failureIn);
      const asked = standIn.asked
        .slice(before)
        .map(({ method, path, body }) => `${method} ${path} ${JSON.stringify(body)}`);
      outcomes.push({ name, question, asked, answer: answer ?? null });
    }
    await runner.close();
    await standIn.close();
  }
  const texts: unknown = JSON.parse(JSON.stringify(outcomes).replaceAll(/127\.0\.0\.1:\d+/g, 'HOST'));
  const { actual, accepted } = golden('ollamaRequests.json', texts);
  t.equal(actual, accepted, 'test/fixtures/golden/ollamaRequests.json (ACCEPT=1 takes what is)');
});

/** The routes whose last word is one of these. */
function pick(routes: Readonly<Record<string, Answer>>, ...words: readonly string[]): Record<string, Answer> {
  return Object.fromEntries(
    Object.entries(routes).filter(([path]) => words.includes(path.split('/')[2] ?? '')),
  );
}

t.test('an answer may be as long as its limit, and time may have no limit', async (t) => {
  const standIn = await startOpenaiStandIn({ '*': (response) => response.end('0123456789') });
  t.teardown(() => standIn.close());
  const { signal } = new AbortController();
  const asked = { method: 'GET', path: '/', signal } as const;
  for (const limit of [0, 2 ** 31 - 1]) {
    const none = { connect: limit, list: limit, firstByte: limit, idle: limit };
    const transport = transportTo(standIn.url, { timeouts: none });
    for (const wait of ['list', 'firstByte', 'work'] as const)
      t.match(
        await transport.text({ ...asked, wait, limit: 10 }),
        { text: '0123456789' },
        `${limit} ${wait}`,
      );
    await t.rejects(transport.text({ ...asked, limit: 9 }), failsWith({ kind: 'bad-response' }));
    const texts = [10, 9].map(async (most) => (await transport.look({ ...asked, limit: most })).text);
    t.strictSame(await Promise.all(texts), ['0123456789', '012345678'], 'a look is cut');
    const lines = transport.stream(asked, async function* (body) {
      for await (const chunk of body) yield [String(chunk)];
    });
    t.match(await lines.next(), { value: ['0123456789'] });
    await transport.close();
  }
});

t.test('a CA file that is mended is read again', async (t) => {
  const caFile = join(t.testdir(), 'ca.pem');
  const transport = transportTo('https://127.0.0.1:9', { caFile });
  const { signal } = new AbortController();
  const ask = () => transport.json({ method: 'GET', path: '/', signal });
  await t.rejects(ask(), { message: /CA file .* cannot be read/ });
  writeFileSync(caFile, '');
  await t.rejects(ask(), { message: /^No runner answers/ });
  await transport.close();
});

t.test('an answer that is not from a runner is recognised', async (t) => {
  const cases: readonly { name: string; listener: RequestListener; kind: string }[] = [
    {
      name: 'a page with status 200',
      listener: (_, r) => r.setHeader('content-type', 'TEXT/HTML').end('<html>'),
      kind: 'bad-response',
    },
    { name: 'text', listener: (_, r) => r.end('hello'), kind: 'bad-response' },
    { name: 'an array', listener: (_, r) => r.end('[]'), kind: 'bad-response' },
    { name: 'an empty body', listener: (_, r) => r.end(), kind: 'bad-response' },
    {
      name: 'a redirect',
      listener: (_, r) => r.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      kind: 'bad-response',
    },
    { name: 'a hang-up', listener: (_, r) => r.destroy(), kind: 'server-unreachable' },
    { name: 'silence', listener: () => undefined, kind: 'timeout' },
    {
      name: 'a body that stops',
      listener: (_, r) => void r.writeHead(200).write('{"models":['),
      kind: 'timeout',
    },
    {
      name: 'a body that breaks',
      listener: (_, r) => void r.writeHead(200).write('{"models":[', () => setTimeout(() => r.destroy(), 20)),
      kind: 'bad-response',
    },
  ];
  for (const { name, listener, kind } of cases) {
    const server = createHttpServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${portOf(server)}`;
    const transport = transportTo(url, { timeouts: { connect: 300, list: 300, firstByte: 300, idle: 300 } });
    const client = createOllamaRunner({ name: 'default', url }, transport);
    await t.rejects(client.list(new AbortController().signal), failsWith({ kind }), name);
    await closeServer(server);
    await transport.close();
  }
  await t.rejects(
    transportTo('http://127.0.0.1:9').json({
      method: 'GET',
      path: '/',
      signal: new AbortController().signal,
    }),
    failsWith({
      kind: 'server-unreachable',
    }),
  );
  await t.rejects(
    transportTo('http://no.such.host.invalid').json({
      method: 'GET',
      path: '/',
      signal: new AbortController().signal,
    }),
    failsWith({
      kind: 'server-unreachable',
    }),
  );
});

t.test('at most 64 KB of a refusal are read', async (t) => {
  const refusal = (bytes: number) => `{"error":"no","rest":"${'x'.repeat(bytes - 24)}"}`;
  const server = createHttpServer(({ url }, response) =>
    response.writeHead(400).end(refusal(url === '/api/tags' ? 65_536 : 65_537)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOf(server)}`;
  const transport = transportTo(url);
  const client = createOllamaRunner({ name: 'default', url }, transport);
  const { signal } = new AbortController();
  t.equal(refusal(65_536).length, 65_536);
  await t.rejects(client.list(signal), { message: 'The runner refused the request: no.' });
  await t.rejects(client.running(signal), { message: 'The runner refused the request: status 400.' });
  await transport.close();
  await closeServer(server);
});

t.test(
  'a CA file that is not a regular file does not block',
  { skip: process.platform === 'win32' },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'runner-ca-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const large = join(folder, 'large');
    writeFileSync(large, Buffer.alloc(1024 * 1024 + 1));
    for (const caFile of [pipe, large, '/dev/zero', folder]) {
      const transport = transportTo('https://127.0.0.1:1', { caFile });
      const client = createOllamaRunner({ name: 'default', url: 'https://127.0.0.1:1' }, transport);
      await t.rejects(client.identify(new AbortController().signal), { message: /CA file/ }, caFile);
      await transport.close();
    }
  },
);

t.test('a whole answer has a deadline, however its bytes arrive', async (t) => {
  const server = createHttpServer((request, response) => {
    const isRefused = request.url === '/api/generate';
    request.resume();
    response.writeHead(isRefused ? 500 : 200, { 'content-type': 'application/json' });
    // Each byte comes long before the gap between two of them is too long.
    const drip = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(drip));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOf(server)}`;
  const transport = transportTo(url, {
    timeouts: { connect: 100, list: 100, firstByte: 60_000, idle: 60_000 },
  });
  t.teardown(async () => {
    await transport.close();
    await closeServer(server);
  });
  const client = createOllamaRunner({ name: 'default', url }, transport);
  const { signal } = new AbortController();
  const asked: Readonly<Record<string, Promise<unknown>>> = {
    list: client.list(signal),
    running: client.running(signal),
    show: client.show('m', signal),
    version: client.identify(signal),
    'the reason of a refusal': client.fill(gap, signal).next(),
    load: client.load('m', {}, signal),
    'load of what embeds': client.load('m', { onlyEmbeds: true }, signal),
    upload: client.creation.uploadBlob('sha256:0', { bytes: 1, stream: Readable.from(['x']) }, signal),
  };
  await Promise.all(
    Object.entries(asked).map(([name, answer]) =>
      t.rejects(answer, failsWith({ kind: 'timeout', details: { server: 'default' } }), name),
    ),
  );
});

t.test('the depth limit of JSON', async (t) => {
  const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}"]"${']}'.repeat(levels / 2)}`;
  t.equal(excessOf(nested(512)), undefined);
  t.equal(excessOf(nested(514)), 'deep');
});

t.test('JSON that is nested 100,000 deep is a bad response in each place', async (t) => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const call = `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":${deep}}}}]},"done":true}\n`;
  const server = createHttpServer(({ url }, response) => {
    response.writeHead(url === '/api/generate' || url === '/api/ps' ? 500 : 200, {
      'content-type': 'application/json',
    });
    response.end(
      url === '/api/chat' ? call : `{"error":${url === '/api/ps' ? '{"error":'.repeat(2_000) : deep}}`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOf(server)}`;
  const transport = transportTo(url);
  t.teardown(async () => {
    await transport.close();
    await closeServer(server);
  });
  const client = createOllamaRunner({ name: 'default', url }, transport);
  const { signal } = new AbortController();
  const asked: Readonly<Record<string, Promise<unknown>>> = {
    'the arguments of a call': client.chat(empty, signal).next(),
    'the reason of an error': client.fill(gap, signal).next(),
    'an error in an error': client.running(signal),
    'a list': client.list(signal),
  };
  await Promise.all(
    Object.entries(asked).map(([name, answer]) =>
      t.rejects(answer, failsWith({ kind: 'bad-response', details: { server: 'default' } }), name),
    ),
  );
});

function portOfNet(server: NetServer): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

t.test('the head of an answer has a deadline, however its bytes arrive', async (t) => {
  const sockets = new Set<Socket>();
  const server = createNetServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.write('HTTP/1.1 200 OK\r\nx: ');
    const drip = setInterval(() => socket.write('x'), 10);
    socket.on('close', () => clearInterval(drip));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOfNet(server)}`;
  const transport = transportTo(url, {
    timeouts: { connect: 60_000, list: 60_000, firstByte: 100, idle: 60_000 },
  });
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await transport.close();
    server.close();
  });
  const client = createOllamaRunner({ name: 'default', url }, transport);
  const { signal } = new AbortController();
  const asked: Readonly<Record<string, Promise<unknown>>> = {
    chat: client.chat(empty, signal).next(),
    load: client.load('m', {}, signal),
    pull: client.pull('m', signal).next(),
  };
  await Promise.all(
    Object.entries(asked).map(([name, answer]) => t.rejects(answer, failsWith({ kind: 'timeout' }), name)),
  );
});

t.test('a stream ends if no line arrives in time, even if blanks do', async (t) => {
  const line = '{"message":{"content":"a"},"done":false}\n';
  let piece = '';
  let pieces = 0;
  const server = createHttpServer((request, response) => {
    request.resume();
    response.writeHead(200).write(line);
    const drip = setInterval(() => {
      pieces += 1;
      response.write(piece);
    }, 10);
    response.on('close', () => clearInterval(drip));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOf(server)}`;
  const transport = transportTo(url, {
    timeouts: { connect: 60_000, list: 60_000, firstByte: 100, idle: 100 },
  });
  t.teardown(async () => {
    await transport.close();
    await closeServer(server);
  });
  const client = createOllamaRunner({ name: 'default', url }, transport);
  const { signal } = new AbortController();
  for (const [name, drip] of Object.entries({
    blanks: ' ',
    'blank lines': '\r\n',
    'a line that does not end': 'x',
  })) {
    piece = drip;
    const stopped = failsWith({ kind: 'timeout', message: /stopped sending in the middle/ });
    await t.rejects(drain(client.chat(empty, signal)), stopped, `chat: ${name}`);
    await t.rejects(drain(client.pull('m', signal)), stopped, `pull: ${name}`);
  }
  piece = ' ';
  const lines = client.chat(empty, signal);
  t.match(await lines.next(), { value: [{ content: 'a' }] });
  const before = pieces;
  await poll(
    async () => pieces,
    (now) => now > before + 20,
  );
  piece = `\n${line.replace('false', 'true')}`;
  await drain(lines);
  t.pass('the time of who reads slowly does not count');
});

t.test('100 Continue is skipped, however it is cut', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
  const named = 'HTTP/1.1 100 Continue\r\nx-so: HTTP/1.1 100\r\n\r\n';
  const body = JSON.stringify({ version: interim });
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;
  const cases: Readonly<Record<string, readonly string[]>> = {
    'with its answer': [interim + head + body],
    'before its answer': [interim, head + body],
    'byte by byte': [...(interim + head + body)],
    'more than once': [interim + named, interim, head + body],
    'never, but in what it says': [head, body],
  };
  let pieces: readonly string[] = [];
  let closed = 0;
  const server = createNetServer((socket) => {
    socket.on('close', () => closed++);
    socket.on('error', () => undefined).setNoDelay(true);
    socket.on('data', async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise(setImmediate);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOfNet(server)}`;
  const transport = transportTo(url);
  t.teardown(async () => {
    await transport.close();
    server.close();
  });
  const client = createOllamaRunner({ name: 'default', url }, transport);
  for (const [name, sent] of Object.entries(cases)) {
    pieces = sent;
    t.strictSame(
      await client.identify(new AbortController().signal),
      { version: interim.slice(0, 64) },
      name,
    );
  }
  t.equal(closed, 0, 'no connection is closed');
});

t.test('a server that does not speak HTTP is a bad response', async (t) => {
  const server = createNetServer((socket) => socket.end('SSH-2.0-OpenSSH_9\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = transportTo(`http://127.0.0.1:${portOfNet(server)}`);
  await t.rejects(
    transport.json({ method: 'GET', path: '/', signal: new AbortController().signal }),
    failsWith({
      kind: 'bad-response',
    }),
  );
  server.close();
});

t.test('a cancel closes the socket, before the first byte and in the middle', async (t) => {
  for (const sendsFirst of [false, true]) {
    let onClose: (() => void) | undefined;
    const socketClosed = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    const abort = new AbortController();
    const server = createHttpServer((_, response) => {
      response.on('close', () => onClose?.());
      if (sendsFirst) response.writeHead(200).write('{"message":{"content":"a"},"done":false}\n');
      setTimeout(() => abort.abort(), 30);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${portOf(server)}`;
    const client = createOllamaRunner({ name: 'default', url }, transportTo(url));
    await t.rejects(drain(client.chat(empty, abort.signal)), { name: 'AbortError' });
    await socketClosed;
    t.pass(sendsFirst ? 'in the middle' : 'before the first byte');
    await closeServer(server);
  }
});

t.test(
  'a self-signed certificate is trusted where its file is named, and only there',
  needs('openssl'),
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'runner-tls-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
      ],
      { stdio: 'ignore' },
    );
    const server = createHttpsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
      response.end('{"version":"9"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const address = server.address();
    const url = `https://localhost:${typeof address === 'object' && address ? address.port : 0}`;
    const ask = async (options: Partial<TransportOptions>) => {
      const transport = transportTo(url, options);
      try {
        return await createOllamaRunner({ name: 'default', url }, transport).identify(
          new AbortController().signal,
        );
      } finally {
        await transport.close();
      }
    };
    await t.rejects(ask({}), failsWith({ kind: 'server-unreachable', message: /CA file/ }));
    await t.rejects(ask({ caFile: join(folder, 'none.pem') }), { message: /none\.pem cannot be read/ });
    t.strictSame(await ask({ caFile: cert }), { version: '9' });
    server.closeAllConnections();
  },
);

async function drain(values: AsyncGenerator<unknown>): Promise<void> {
  for await (const _ of values);
}

async function* from(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b);
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
}
