// The document service among strangers: clients that send no HTTP, never finish a request, stay silent, break off, or
// take nothing of a large file, from several addresses and with their sides open, beside honest ones. What is printed:
// descriptors and memory of the service while it goes on, what honest clients waited for, and their errors.
// Usage: node .tap-build/docsSoak.bench.mjs [--minutes 10]
import { randomBytes } from 'node:crypto';
import { once, setMaxListeners } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type DocsService, runDocs, serveDocs } from '../support/docsProcess.ts';
import { pictures } from '../support/pictures.ts';
import { writeFiles } from '../support/temporaryFolder.ts';
import { createFigures, quantile, residentOf } from './figures.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } }, strict: false });
const minutes = Number(values.minutes);
const { section, row } = createFigures('docsSoak');

/** Pictures of 2 MB that do not compress, which make a large book. */
const photos = Array.from({ length: 20 }, (_, at) => `photo${at}.gif`);
const files = {
  ...Object.fromEntries(photos.map((name) => [name, Buffer.concat([pictures.gif, randomBytes(2_000_000)])])),
  'large.md': `# Large\n\n${photos.map((name) => `![A photo](${name})`).join('\n\n')}\n`,
  'collections/book.yaml': 'docs: [large]',
  ...Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [
      `n${at}.md`,
      `# Document ${at}\n\nWords number${at} and more.\n`,
    ]),
  ),
};
const book = '/api/v1/collections/book.epub';

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'runner-docs-soak-'));
  await writeFiles(join(folder, 'content'), files);
  const data = join(folder, 'data');
  const service = await serveDocs([
    ...['--content', join(folder, 'content'), '--data', data],
    ...['--limit-requests', '1000000', '--limit-renders', '1000000'],
  ]);
  await service.whenReady();
  const createToken = async () => (await runDocs(['token', 'create', '--data', data])).stdout.trim();
  const [token, other] = [await createToken(), await createToken()];
  await (await service.get(book, token)).arrayBuffer();

  section(`The document service among strangers for ${minutes} minutes`);
  await sample('before', service);
  const end = new AbortController();
  // Every connection listens.
  setMaxListeners(0, end.signal);
  const loops = [
    ...honestWork(service, token).map((work) => repeat(() => measured(work), end.signal)),
    repeat(() => listen(service, token, end.signal), end.signal),
    ...strangers(service, other).map((one) => repeat(() => stay(service, one, end.signal), end.signal)),
  ];
  for (let minute = 1; minute <= minutes; minute++) {
    await wait(60_000);
    await sample(`minute ${minute}`, service);
  }
  end.abort();
  await Promise.all(loops);
  await wait(5_000);
  await sample('5 s after the end', service);
  report();
  await service.stop();
  await rm(folder, { recursive: true });
  process.exitCode = errors.size === 0 ? 0 : 1;
}

async function repeat(work: () => Promise<void>, end: AbortSignal): Promise<void> {
  while (!end.aborted) await work();
}

interface Work {
  readonly name: string;
  readonly ask: () => Promise<Response>;
}

let asked = 0;

function honestWork(service: DocsService, token: string): readonly Work[] {
  const get = (name: string, path: () => string) => ({ name, ask: () => service.get(path(), token) });
  const search = (query: string) => ({ name: 'search_docs', arguments: { query } });
  return [
    get('a list', () => '/api/v1/docs'),
    get('a search', () => `/api/v1/docs?q=number${asked++ % 200}`),
    get('a document as Markdown', () => `/api/v1/docs/n${asked++ % 200}.md`),
    get('a whole book', () => book),
    {
      name: 'a search by MCP',
      ask: () => post(service, token, { method: 'tools/call', params: search(`number${asked++ % 200}`) }),
    },
  ];
}

interface Message {
  readonly method: string;
  readonly params: object;
}

function post(
  { origin }: DocsService,
  token: string,
  { method, params }: Message,
  more: RequestInit = {},
): Promise<Response> {
  return fetch(`${origin}/mcp`, {
    ...{ method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) },
    ...more,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      ...more.headers,
    },
  });
}

const revision = '2026-07-28';
/** Milliseconds: a little less than the service lets an agent listen. */
const longListening = 590_000;

/** An agent that listens for changes, while there are none. */
async function listen(service: DocsService, token: string, end: AbortSignal): Promise<void> {
  const method = 'subscriptions/listen';
  const params = {
    notifications: { resourcesListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'soak', version: '1.0.0' },
    },
  };
  const headers = { 'mcp-protocol-version': revision, 'mcp-method': method };
  const from = performance.now();
  const ending = await post(service, token, { method, params }, { headers, signal: end })
    .then(async (answer) => `${answer.status} ${(await answer.text()).slice(-200)}`)
    .catch((error: Error) => error.message);
  if (end.aborted || performance.now() - from > longListening) return;
  count(errors, `a stream of events ended: ${ending}`);
  await wait(1_000);
}

/** Milliseconds of each honest answer, from the request to its last byte. */
const times = new Map<string, number[]>();
const errors = new Map<string, number>();

async function measured({ name, ask }: Work): Promise<void> {
  const from = performance.now();
  try {
    const answer = await ask();
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const all = times.get(name) ?? [];
    all.push(performance.now() - from);
    times.set(name, all);
  } catch (error) {
    const { message, cause } = error as Error;
    count(errors, `${name}: ${message}${cause instanceof Error ? `, ${cause.message}` : ''}`);
  }
  await wait(100);
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

interface Stranger {
  readonly name: string;
  /** What it sends when it is connected. */
  readonly text: string;
  /** What it sends each second from then on. */
  readonly drip?: string;
  /** What it does with an answer: it reads it, takes nothing more, or breaks off. */
  readonly onAnswer: 'read' | 'take nothing' | 'break off';
  /** An address of its own on loopback. */
  readonly from: string;
}

/** Six hundred connections, more than the service has. */
function strangers({ origin }: DocsService, token: string): readonly Stranger[] {
  const { host } = new URL(origin);
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const kinds: readonly Omit<Stranger, 'from'>[] = [
    { name: 'no HTTP', text: 'twenty bytes, no HTTP', onAnswer: 'read' },
    { name: 'headers without an end', text: 'GET / HTTP/1.1\r\n', drip: 'X-A: b\r\n', onAnswer: 'read' },
    {
      name: 'a body without an end',
      text: `POST /token HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 900\r\n\r\n`,
      drip: 'x',
      onAnswer: 'read',
    },
    { name: 'silence', text: '', onAnswer: 'read' },
    { name: 'silence after an answer', text: get('/healthz'), onAnswer: 'read' },
    { name: 'a download that nobody takes', text: get(book), drip: '\r\n', onAnswer: 'take nothing' },
    {
      name: 'a page that nobody takes',
      text: get('/docs').repeat(20),
      drip: '\r\n',
      onAnswer: 'take nothing',
    },
    { name: 'a download that is broken off', text: get(book), onAnswer: 'break off' },
  ];
  return kinds.flatMap((kind, at) =>
    Array.from({ length: 75 }, () => ({ ...kind, from: `127.0.0.${at + 2}` })),
  );
}

const visits = new Map<string, number>();

/** Holds one connection for as long as the service allows, with its own side open. */
async function stay(service: DocsService, stranger: Stranger, end: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(service.origin);
  const options = { host: hostname, port: Number(port), localAddress: stranger.from, allowHalfOpen: true };
  const socket = connect(options).on('error', () => undefined);
  const leave = () => socket.destroy();
  end.addEventListener('abort', leave);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.once('connect', () => socket.write(stranger.text));
  const drip = setInterval(() => socket.write(stranger.drip ?? ''), 1_000);
  if (stranger.onAnswer === 'read') socket.resume();
  else socket.once('data', () => (stranger.onAnswer === 'break off' ? leave() : socket.pause()));
  // The service has let go when it answers a write with a reset; until then this side stays open.
  await Promise.race([closed, once(socket, 'end').then(() => untilReset(socket))]).catch(() => undefined);
  clearInterval(drip);
  end.removeEventListener('abort', leave);
  leave();
  count(visits, stranger.name);
  await wait(1_000);
}

async function untilReset(socket: Socket): Promise<void> {
  while (!socket.destroyed) {
    socket.write('x');
    await wait(500);
  }
}

interface Sample {
  readonly descriptors: number;
  /** In MB. */
  readonly resident: number;
}

const samples: Sample[] = [];

async function sample(when: string, { child }: DocsService): Promise<void> {
  const descriptors = (await readdir(`/proc/${child.pid}/fd`)).length;
  const resident = residentOf({ child });
  samples.push({ descriptors, resident });
  row(when, `${descriptors} descriptors, ${resident} MB`);
}

function report(): void {
  section('What strangers tried');
  for (const [name, count] of visits) row(name, `${count.toLocaleString('en')} connections`);
  section('What honest clients waited for meanwhile');
  for (const [name, all] of times) {
    const at = (part: number) => `${quantile(all, part).toFixed(0)} ms`;
    row(name, `${all.length} answers, p50 ${at(0.5)}, p99 ${at(0.99)}, slowest ${at(1)}`);
  }
  for (const [name, count] of errors) row(`error: ${name}`, `${count}`);
  row('errors', `${[...errors.values()].reduce((sum, times) => sum + times, 0)}`, { goal: 'none' });
  row('the most descriptors', `${Math.max(...samples.map(({ descriptors }) => descriptors))}`, {
    goal: 'below 1,024',
  });
}

await main();
