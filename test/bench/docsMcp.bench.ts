// Searches a second by MCP beside the same searches by REST, what 200 agents at once cost, and how soon the program
// says who it is, against the built service in a process of its own. Each agent is the SDK's client; a bare message
// shows what the SDK's client costs.
// Usage: node .tap-build/docsMcp.bench.mjs [--documents N]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { runDocs, runnerDocsPath, serveDocs } from '../support/docsProcess.ts';
import { createFigures } from './figures.ts';

const { values } = parseArgs({ options: { documents: { type: 'string', default: '2000' } } });
const documents = Number(values.documents);
/** Milliseconds of each measurement. They take turns, so that a noisy machine slows all ways alike. */
const span = 500;
const rounds = 7;
const connections = 16;
const { section, row } = createFigures('docsMcp');
const agents = 200;
const callsOfAgent = 5;

const folder = await mkdtemp(join(tmpdir(), 'runner-docs-bench-'));
await mkdir(join(folder, 'content'));
for (let at = 0; at < documents; at++) await writeFile(join(folder, 'content', `n${at}.md`), documentOf(at));
const data = join(folder, 'data');
// The agents stand for many people, who come through a proxy: one address alone may not have 400 connections.
const service = await serveDocs([
  ...['--content', join(folder, 'content'), '--data', data, '--limit-requests', '1000000'],
  ...['--trust-proxy', 'loopback'],
]);
await service.whenReady();
const token = (await runDocs(['token', 'create', '--data', data])).stdout.trim();
const authorization = `Bearer ${token}`;
const url = new URL('/mcp', service.origin);
section(`Searches of ${documents} documents, ${connections} askers, each search another`);

const newerHeaders = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'search_docs',
};

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

let asked = 0;
/** A search that was not asked before: the service keeps none of the answers. */
const query = () => `word${(asked += 7) % 5_000} -x${asked}`;
const ways: { readonly name: string; readonly ask: () => Promise<unknown> }[] = [
  {
    name: 'REST',
    ask: () =>
      service.get(`/api/v1/docs?limit=10&q=${encodeURIComponent(query())}`, token).then((one) => found(one)),
  },
  { name: 'MCP 2026-07-28, a bare message', ask: () => post(newerCall(), newerHeaders) },
  { name: 'MCP 2025-11-25, a bare message', ask: () => post(call(), {}) },
];
const client = await connect();
ways.push({
  name: "MCP 2025-11-25, the SDK's client",
  ask: () => client.callTool({ name: 'search_docs', arguments: { query: query() } }),
});
for (const { ask } of ways) await rate(ask, span);
const rates = ways.map((): number[] => []);
for (let round = 0; round < rounds; round++)
  for (const [at, { ask }] of ways.entries()) rates[at]?.push(await rate(ask, span));
const [byRest = 0, ...others] = rates.map((each) => quantile(each, 0.5));
row('REST', `${byRest.toFixed(0)} a second`);
for (const [at, each] of others.entries())
  row(ways[at + 1]?.name ?? '', `${each.toFixed(0)} a second: ${(each / byRest).toFixed(2)} of REST`, {
    goal: '0.9 of REST',
  });
await client.close();

section(`${agents} agents at once, each connects and searches ${callsOfAgent} times`);
const before = await memory();
const connecting: number[] = [];
const searching: number[] = [];
const begun = performance.now();
await Promise.all(
  Array.from({ length: agents }, async () => {
    const agent = await timed(connecting, connect);
    for (let at = 0; at < callsOfAgent; at++)
      await timed(searching, () => agent.callTool({ name: 'search_docs', arguments: { query: query() } }));
    await agent.close();
  }),
);
const seconds = (performance.now() - begun) / 1_000;
row('all done after', `${seconds.toFixed(1)} s`);
for (const [name, times] of Object.entries({ connecting, searching }))
  row(name, `p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`);
row('memory of the service', `${before} MB before, ${await memory()} MB after`);
await service.stop();

section('How soon the program answers, the median of 10');
const starts: Readonly<Record<string, { readonly args: readonly string[]; readonly input?: string }>> = {
  'node -e 1': { args: ['-e', '1'] },
  'runner-docs --version': { args: [runnerDocsPath, '--version'] },
  'runner-docs token list': { args: [runnerDocsPath, 'token', 'list', '--data', data] },
  'runner-docs mcp, initialize': {
    args: [runnerDocsPath, 'mcp', '--content', join(folder, 'content'), '--data', data],
    input: `${JSON.stringify(initialize)}\n`,
  },
};
for (const [name, { args, input }] of Object.entries(starts)) {
  const times: number[] = [];
  for (let at = 0; at < 10; at++) times.push(await timeOfStart(args, input));
  row(name, `${quantile(times, 0.5).toFixed(0)} ms`);
}
await rm(folder, { recursive: true });

/** Milliseconds until the program has ended or, where it is asked something, until it has answered. */
async function timeOfStart(args: readonly string[], input: string | undefined): Promise<number> {
  const from = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const closed = once(child, 'close');
  child.stdout.resume();
  if (input === undefined) child.stdin.end();
  else child.stdin.write(input);
  await (input === undefined ? closed : once(child.stdout, 'data'));
  const time = performance.now() - from;
  child.stdin.end();
  await closed;
  return time;
}

async function connect(): Promise<Client> {
  const one = new Client({ name: 'bench', version: '1.0.0' });
  await one.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }));
  return one;
}

function call(meta = {}): string {
  const params = { name: 'search_docs', arguments: { query: query() }, ...meta };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

function newerCall(): string {
  return call({
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
    },
  });
}

async function post(body: string, headers: Record<string, string>): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization, ...headers },
    body,
  });
  await found(answer);
}

/** Throws where the answer has no results. */
async function found(answer: Response): Promise<void> {
  const text = await answer.text();
  if (!/"slug/.test(text.replaceAll('\\"', '"'))) throw new Error(`${answer.status}: ${text.slice(0, 300)}`);
}

async function rate(ask: () => Promise<unknown>, milliseconds: number): Promise<number> {
  const end = performance.now() + milliseconds;
  let done = 0;
  const work = async () => {
    while (performance.now() < end) {
      await ask();
      done++;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return (done * 1_000) / milliseconds;
}

async function timed<Result>(times: number[], work: () => Promise<Result>): Promise<Result> {
  const from = performance.now();
  const result = await work();
  times.push(performance.now() - from);
  return result;
}

async function memory(): Promise<number> {
  const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
}

function quantile(figures: readonly number[], part: number): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
}

function documentOf(at: number): string {
  const words = Array.from({ length: 380 }, (_, place) => `word${(at * 31 + place * 17) % 5_000}`);
  return `---\ntitle: Document ${at}\ntype: note\n---\n# Document ${at}\n\n${words.join(' ')}\n`;
}
