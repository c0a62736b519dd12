// Searches a second by MCP beside the same searches by REST, against the built service in a process of its own. A bare
// message shows what the SDK's client costs.
// Usage: node .tap-build/docsMcp.bench.mjs [--documents N]
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { runDocs, serveDocs } from '../support/docsProcess.ts';
import { createFigures, median } from './figures.ts';

const { values } = parseArgs({ options: { documents: { type: 'string', default: '2000' } } });
const documents = Number(values.documents);
/** Milliseconds of each measurement. They take turns, so that a noisy machine slows all ways alike. */
const span = 500;
const rounds = 7;
const connections = 16;
const { section, row } = createFigures('docsMcp');

const folder = await mkdtemp(join(tmpdir(), 'runner-docs-bench-'));
await mkdir(join(folder, 'content'));
for (let at = 0; at < documents; at++) await writeFile(join(folder, 'content', `n${at}.md`), documentOf(at));
const data = join(folder, 'data');
// The askers stand for many people, who come through a proxy.
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
const [byRest = 0, ...others] = rates.map(median);
row('REST', `${byRest.toFixed(0)} a second`);
for (const [at, each] of others.entries())
  row(ways[at + 1]?.name ?? '', `${each.toFixed(0)} a second: ${(each / byRest).toFixed(2)} of REST`, {
    goal: '0.9 of REST',
  });
await client.close();

await service.stop();

await rm(folder, { recursive: true });

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

function documentOf(at: number): string {
  const words = Array.from({ length: 380 }, (_, place) => `word${(at * 31 + place * 17) % 5_000}`);
  return `---\ntitle: Document ${at}\ntype: note\n---\n# Document ${at}\n\n${words.join(' ')}\n`;
}
