import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { startDaemonProcess } from '../support/daemonProcess.ts';
import { portOf } from '../support/recordings.ts';
import { createFigures, residentOf } from './figures.ts';
import { forkServer, serveParent } from './wires.ts';

/** What a hostile runner sends, so often, to whom asks for it. */
interface Attack {
  readonly name: string;
  readonly method: string;
  /** The last part of the path that it answers. */
  readonly route: string;
  /** It speaks as llama.cpp does, and not as Ollama. */
  readonly isLlama?: true;
  /** Beside the model, which names the attack and its size. */
  readonly params?: object;
  /** The size of the smaller of two runs. */
  readonly n: number;
  /** The body, piece by piece. */
  readonly body: (n: number) => Iterable<string>;
}

const chatParams = { messages: [{ role: 'user', content: 'hi' }] };
const tool = { name: 'read', description: '', inputSchema: { type: 'object', properties: {} } };
const million = 1_000_000;

const attacks: readonly Attack[] = [
  chatOf('text, one character a token', 20 * million, (n) => flood(n / 1000, said('x').repeat(1000))),
  chatOf('text in lines of 4 MB', 16, (n) => flood(n, said('y'.repeat(4 * million)))),
  chatOf('text of two bytes a character', 16, (n) => flood(n, said('\u4e16'.repeat(million)))),
  chatOf('text of control characters', 32, (n) => flood(n, said('\u0001'.repeat(million)))),
  chatOf('tags that may be thinking', 32, (n) => flood(n, said('<think'.repeat(160_000)))),
  {
    ...chatOf('line ends, quoted as thinking', 32, (n) => flood(n, thought('\n'.repeat(million)))),
    params: { ...chatParams, thinkingFormat: 'quote' },
  },
  chatOf('thinking, one character a token', 20 * million, (n) => flood(n / 1000, thought('x').repeat(1000))),
  chatOf('tool calls', million, (n) => flood(n / 1000, called('{}').repeat(1000))),
  chatOf('tool calls with large arguments', 32, (n) => flood(n, called(`{"a":"${'x'.repeat(million)}"}`))),
  chatOf('tool calls with many arguments', 32, (n) => flood(n, called(`{"a":[${many('{}', 300_000)}]}`))),
  chatOf('a call in the text that never ends', 32, (n) => [
    said('<tool_call>{"name":"read","arguments":{"a":"'),
    ...flood(n, said('z'.repeat(million))),
  ]),
  chatOf('a line that never ends', 32, (n) => flood(n, 'x'.repeat(million))),
  chatOf('line ends alone', 32, (n) => flood(n, '\n'.repeat(million))),
  chatOf('lines that say nothing', 10 * million, (n) => flood(n / 1000, '{}\n'.repeat(1000))),
  listOf('models', million, (n) => [
    `{"models":[`,
    ...flood(n / 1000, many('{"name":"a:b"},', 1000)),
    '{}]}',
  ]),
  listOf('models with long names', 1_000, (n) => [
    '{"models":[',
    ...flood(n, `{"name":"${'n'.repeat(10_000)}"},`),
    '{}]}',
  ]),
  listOf('values in a list', 4 * million, (n) => [
    '{"models":[',
    ...flood(n / 1000, '{},'.repeat(1000)),
    '{}]}',
  ]),
  showOf('parameters', million, (n) => [`{"parameters":"${'stop a\\n'.repeat(n)}"}`]),
  showOf('a template', 16, (n) => ['{"template":"', ...flood(n, 'x'.repeat(million)), '"}']),
  eventsOf('events of one character', 5 * million, (n) =>
    flood(n / 1000, event({ content: 'x' }).repeat(1000)),
  ),
  eventsOf('events of 4 MB', 16, (n) => flood(n, event({ content: 'y'.repeat(4 * million) }))),
  eventsOf('thinking under both names', 5 * million, (n) =>
    flood(n / 1000, event({ reasoning: 'x', reasoning_content: 'x' }).repeat(1000)),
  ),
  eventsOf('pieces of one call', 2 * million, (n) => flood(n / 1000, piece(0, 'xxxx').repeat(1000))),
  eventsOf('calls with an index of their own', 200_000, (n) =>
    Array.from({ length: n }, (_, index) => piece(index, '{}')),
  ),
  eventsOf('comments alone', 20 * million, (n) => flood(n / 1000, ': ping\n\n'.repeat(1000))),
  eventsOf('an event that never ends', 64, (n) => flood(n, `data: ${'x'.repeat(million)}\n`)),
  {
    ...eventsOf('a list of models on this wire', million, (n) => [
      '{"data":[',
      ...flood(n / 1000, many('{"id":"a:b"},', 1000)),
      '{}]}',
    ]),
    method: 'runner/models/list',
    route: 'models',
  },
];

const { section, row } = createFigures('hostile');
const self = fileURLToPath(import.meta.url);
if (process.argv[2] === 'serve') serve();
else await main();

async function main(): Promise<void> {
  const wanted = process.argv[2] ?? '';
  const { server, url } = await forkServer(self);
  const quiet = createServer((_request, response) => response.end('{"version":"1"}'));
  await once(quiet.listen(0, '127.0.0.1'), 'listening');
  const calm = `http://127.0.0.1:${portOf(quiet)}`;
  section(
    'What a hostile runner sends: time at n and 2n, how much the daemon grows, and how long the status of another runner takes meanwhile',
  );
  try {
    for (const attack of attacks.filter(({ name }) => name.includes(wanted))) {
      const figures: string[] = [];
      for (const size of [attack.n, 2 * attack.n]) figures.push(await measure(attack, size, { url, calm }));
      row(attack.name, figures.join('; '), { goal: 'at most 200 MB, within 2,000 ms' });
    }
  } finally {
    server.kill();
    quiet.close();
  }
}

/** Each has a daemon of its own: what one leaves behind is not the next one's. */
async function measure(
  { name, method, params = {} }: Attack,
  n: number,
  { url, calm }: { readonly url: string; readonly calm: string },
): Promise<string> {
  const daemon = await startDaemonProcess({
    host: `${url}/${encodeURIComponent(name)}/${n}`,
    servers: [{ name: 'calm', url: calm }],
  });
  await daemon.connection.sendRequest('runner/status', { server: 'calm' });
  const before = residentOf(daemon);
  writeFileSync(`/proc/${daemon.child.pid}/clear_refs`, '5');
  const start = performance.now();
  let done = false;
  const attacked = daemon.connection
    .sendRequest(method, { streamId: 's', model: 'm', ...params })
    .then(
      () => 'answered',
      (error) => String(error.data?.kind ?? error.message),
    )
    .finally(() => (done = true));
  let slowest = 0;
  while (!done) {
    const asked = performance.now();
    await daemon.connection.sendRequest('runner/status', { server: 'calm' });
    slowest = Math.max(slowest, performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const outcome = await attacked;
  const taken = performance.now() - start;
  const grown = residentOf(daemon, 'VmHWM') - before;
  await daemon.close();
  return `${outcome} in ${taken.toFixed(0)} ms, +${grown} MB, others ${slowest.toFixed(0)} ms`;
}

function chatOf(name: string, n: number, body: Attack['body']): Attack {
  return { name, method: 'runner/chat', route: 'chat', params: { ...chatParams, tools: [tool] }, n, body };
}

function eventsOf(name: string, n: number, body: Attack['body']): Attack {
  return { ...chatOf(`llama.cpp: ${name}`, n, body), route: 'chat/completions', isLlama: true };
}

function listOf(name: string, n: number, body: Attack['body']): Attack {
  return { name, method: 'runner/models/list', route: 'tags', n, body };
}

function showOf(name: string, n: number, body: Attack['body']): Attack {
  return { name, method: 'runner/models/show', route: 'show', n, body };
}

function said(content: string): string {
  return `${JSON.stringify({ message: { content } })}\n`;
}

function thought(thinking: string): string {
  return `${JSON.stringify({ message: { thinking } })}\n`;
}

function called(args: string): string {
  return `{"message":{"tool_calls":[{"function":{"name":"read","arguments":${args}}}]}}\n`;
}

function event(delta: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
}

function piece(index: number, text: string): string {
  return event({ tool_calls: [{ index, id: `${index}`, function: { name: 'read', arguments: text } }] });
}

function many(text: string, count: number): string {
  return Array.from({ length: count }, () => text).join(text.endsWith(',') ? '' : ',');
}

function* flood(times: number, text: string): Iterable<string> {
  for (let n = 0; n < times; n++) yield text;
}

/** `/<attack>/<size>/api/…` or `/<attack>/<size>/v1/…`, as fast as it is read. */
function serve(): void {
  const server = createServer((request, response) => {
    const [, name = '', size = '', , ...route] = (request.url ?? '').split('/').map(decodeURIComponent);
    request.resume();
    const attack = attacks.find((candidate) => candidate.name === name);
    if (attack?.isLlama) response.setHeader('server', 'llama.cpp');
    if (attack?.route === route.join('/')) void send(response, attack.body(Number(size)));
    else response.end(JSON.stringify(attack?.isLlama ? llama : ollama));
  });
  serveParent(server);
}

/** The fields of all the answers that are no attack. */
const ollama = { version: '1', models: [], capabilities: ['completion', 'tools'] };
const llama = {
  data: [{ id: 'm', meta: {} }],
  chat_template_caps: { supports_tools: true },
  default_generation_settings: { n_ctx: 4096 },
  total_slots: 1,
};

async function send(response: ServerResponse, body: Iterable<string>): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  for (const piece of body) {
    if (response.destroyed) return;
    if (!response.write(piece)) await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
  }
  response.end();
}
