import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import t from 'tap';
import { recordedModels } from '../support/recordedModels.ts';
import { type Recording, readRecordings } from '../support/recordings.ts';
import { type RunnerStandIn, type StandInOptions, startStandIn } from '../support/runnerStandIn.ts';

const recordings = readRecordings();
const models = recordedModels(recordings);
const plain = models.filter(({ name }) => name === 'scripted-plain');
const remote = {
  name: 'bigmind:120b',
  remote: { host: 'http://127.0.0.1:46545', model: 'bigmind:120b' },
} as const;
const stub = {
  ...remote,
  capabilities: ['completion', 'tools', 'thinking'],
  contextLength: 131_072,
} as const;
const registryModel = { ...plain[0], name: '127.0.0.1:40711/tiny/plain:latest' };

/** Where the stand-in does not agree with the recording: what is not compared, and why. */
const deviations: Readonly<
  Record<string, { readonly skip: 'error' | 'metrics' | 'completed' | 'said'; readonly why: string }>
> = {
  '027-create-unknown-from': { skip: 'error', why: 'the text is that of a machine without a network' },
  '101-pull-unknown-host': { skip: 'error', why: 'the same' },
  '102-pull-unknown-host-not-streamed': { skip: 'error', why: 'the same' },
  '118-cloud-offline': { skip: 'error', why: 'the same, with a time stamp in it' },
  '062-chat-window-filled-no-shift': {
    skip: 'said',
    why: 'tokens are estimated, so the window fills elsewhere',
  },
  '094-chat-engine-killed': { skip: 'said', why: 'when the engine died is chance' },
  '105-pull-aborted': {
    skip: 'completed',
    why: 'ours tells a layer before its first bytes, as slow networks do',
  },
  '112-remote-chat': {
    skip: 'metrics',
    why: 'durations are what the remote host sends, and this one sent none',
  },
};

interface Given {
  readonly options?: StandInOptions;
  readonly before?: (standIn: RunnerStandIn) => Promise<unknown> | undefined;
}

/** The state that an exchange needs, where it is not "all models are installed and none is loaded". */
const given: Readonly<Record<string, Given>> = {
  '004': { options: { models: [] } },
  '020': { options: { models: [] } },
  '024': { options: { models: [{ name: 'bare', weights: plain[0]?.weights ?? '' }] } },
  '037': {
    before: async (standIn) =>
      post(standIn, '/api/create', {
        model: 'pirate',
        from: 'scripted-plain',
        system: 'Talk like a pirate.',
      }),
  },
  '039': { before: (standIn) => load(standIn, 'scripted-plain') },
  '042': { options: { unloadTakes: 60_000 }, before: loadAndUnload },
  '043': { options: { unloadTakes: 0 }, before: loadAndUnload },
  '045': { before: (standIn) => load(standIn, 'scripted-plain', -1) },
  '093': {
    async before(standIn) {
      for (const name of ['scripted-thinking:1b', 'scripted-plain', 'scripted-hole'])
        await load(standIn, name);
    },
  },
  '094': {
    before: async (standIn) =>
      standIn.errorLine('an error was encountered while running the model: unexpected EOF', ['one', ' tw']),
  },
  '096': { options: { models: [...plain.map((model) => ({ ...model, name: 'pirate' }))] } },
  '098': { options: { models: [...plain.map((model) => ({ ...model, name: 'pirate2' }))] } },
  '105': { options: { models: [], catalog: [registryModel] } },
  '106': { options: { models: [], catalog: [registryModel] }, before: abortPull },
  '107': { options: { models: [], catalog: [registryModel] }, before: pullAll },
  '108': { options: { models: [registryModel, ...models] } },
  '110': { options: { models: [stub, registryModel, ...models] } },
  '111': { options: { models: [stub] } },
  '112': { options: { models: [stub] }, before: async (standIn) => standIn.say(['Hi']) },
  '113': {
    options: { models: [stub] },
    before: async (standIn) =>
      standIn.failWith(
        401,
        { error: 'unauthorized', signin_url: 'https://ollama.com/connect?name=host&key=KEY' },
        lines,
      ),
  },
  '114': {
    options: { models: [stub] },
    before: async (standIn) =>
      standIn.failWith(
        429,
        {
          StatusCode: 429,
          Status: '429 Too Many Requests',
          error: 'you have reached your hourly usage limit',
        },
        lines,
      ),
  },
  '115': {
    options: { models: [stub] },
    before: async (standIn) =>
      standIn.failWith(
        502,
        {
          StatusCode: 502,
          Status: '502 Bad Gateway',
          error: '<html><body><h1>502 Bad Gateway</h1></body></html>',
        },
        lines,
      ),
  },
  '116': { options: { models: [stub] }, before: async (standIn) => standIn.endWithoutDone(['Hi']) },
  '117': { options: { models: [stub] } },
};

t.test('there are recordings', async (t) => {
  t.equal(recordings.length, 118);
});

for (const recording of recordings) {
  const name = recording.file.replace('.json', '');
  t.test(`${name}: ${recording.note}`, async (t) => {
    const { options = {}, before } = given[name.slice(0, 3)] ?? {};
    const standIn = await startStandIn({ models, catalog: [], ...options });
    t.teardown(() => standIn.close());
    await before?.(standIn);
    const got = await ask(standIn, recording);
    const skip = deviations[name]?.skip;
    const { response } = recording;
    const text = response.chunks.map((chunk) => chunk.text).join('');
    t.same(
      { status: got.status, ...headersOf(got.headers), lines: shapesOf(got.text, skip) },
      { status: response.status, ...headersOf(response.headers), lines: shapesOf(text, skip) },
    );
    if (response.end === 'complete' && skip !== 'said') t.equal(saidIn(got.text), saidIn(text));
    if (response.end === 'aborted-by-client') await standIn.waitFor(({ aborted }) => aborted);
  });
}

const lines = { contentType: 'application/x-ndjson' };

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Puts the recorded request; a recording that the client broke off is broken off after as many reads. */
function ask(standIn: RunnerStandIn, { request, response: recorded }: Recording): Promise<Got> {
  const { path, body } = bytesOf(request);
  const headers = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      `${standIn.url}${path}`,
      { method: request.method, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        const { statusCode: status = 0, headers } = response;
        const give = () => resolve({ status, headers, text: wholeLines(Buffer.concat(chunks).toString()) });
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if (recorded.end === 'complete' || chunks.length < recorded.chunks.length) return;
          give();
          sent.destroy();
        });
        response.on('end', () => resolve({ status, headers, text: Buffer.concat(chunks).toString() }));
        response.on('error', () => give());
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The bytes of an uploaded file are not in the recordings: other bytes, with their own digest, stand for them. */
function bytesOf({ path, body, raw }: Recording['request']): {
  readonly path: string;
  readonly body: string;
} {
  if (raw === undefined) return { path, body: body === undefined ? '' : JSON.stringify(body) };
  if (!/^\d+ bytes$/.test(raw)) return { path, body: raw };
  const digest = createHash('sha256').update(raw).digest('hex');
  return { path: path.replace(/[0-9a-f]{64}/, digest), body: raw };
}

function headersOf(headers: Readonly<Record<string, unknown>>): object {
  const { 'content-type': contentType, allow, location } = headers;
  return { contentType, allow, location };
}

/** Each line's fields in their order, with their types or, where they matter, their values; repetitions told once. */
function shapesOf(text: string, skip: string | undefined): readonly string[] {
  const shapes = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => (line.startsWith('{') ? shapeOf(JSON.parse(line), skip) : line));
  return shapes.filter((shape, index) => shape !== shapes[index - 1]);
}

const valued = new Set([
  'error',
  'status',
  'done',
  'done_reason',
  'role',
  'StatusCode',
  'Status',
  'signin_url',
]);
const metrics = /_(count|duration)$/;

function shapeOf(value: unknown, skip: string | undefined): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map((one) => shapeOf(one, skip)))].sort().join()}]`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const fields = Object.entries(value)
    .filter(([key]) => !(skip === 'metrics' && metrics.test(key)) && !(skip === 'completed' && key === skip))
    .map(([key, field]) => {
      if (key === 'capabilities') return `${key}:${JSON.stringify(field)}`;
      const whole =
        (valued.has(key) || (key === 'model' && 'done' in value)) &&
        key !== skip &&
        typeof field !== 'object';
      return `${key}:${whole ? withoutDigests(String(field)) : shapeOf(field, skip)}`;
    });
  return `{${fields.map((field) => field.replace(/^practice\./, 'llama.')).join()}}`;
}

function withoutDigests(text: string): string {
  return text.replace(/[0-9a-f]{12,64}/g, '#').replace(/:latest$/, '');
}

/** What a model said, without regard to its pieces. */
function saidIn(text: string): string {
  const parts = text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    const { message = {}, response = '', thinking = '' } = JSON.parse(line);
    const { content = '', thinking: thought = '', tool_calls: calls } = message;
    return [
      response,
      thinking,
      content,
      thought,
      calls ? JSON.stringify(calls).replace(/call_\w+/g, 'call_#') : '',
    ];
  });
  return parts.join('');
}

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

async function post(standIn: RunnerStandIn, path: string, body: unknown): Promise<string> {
  const response = await fetch(`${standIn.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return response.text();
}

async function load(standIn: RunnerStandIn, model: string, keepAlive = 300): Promise<void> {
  await post(standIn, '/api/chat', { model, messages: [], keep_alive: keepAlive });
}

async function loadAndUnload(standIn: RunnerStandIn): Promise<void> {
  await load(standIn, 'scripted-plain');
  await load(standIn, 'scripted-plain', 0);
}

async function abortPull(standIn: RunnerStandIn): Promise<void> {
  const aborted = recordings.find(({ file }) => file.startsWith('105'));
  if (aborted) await ask(standIn, aborted);
  await standIn.waitFor((request) => request.aborted);
}

async function pullAll(standIn: RunnerStandIn): Promise<void> {
  await post(standIn, '/api/pull', { model: registryModel.name, stream: false });
}
