// Counts the source files that a request passes on its way, from what the built programs ran: a program is run twice,
// once with the request and once without, and a file counts if a function of it ran more often with the request.
// The practice runner is not counted: it takes the runner's place.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = resolve('dist');
const home = mkdtempSync(join(tmpdir(), 'journeys-'));

/** For each journey its name and the files that it passes. */
export async function measureJourneys() {
  try {
    enterToolServer();
    const idle = get('/healthz');
    const journeys = [
      ['a chat in the terminal', chat(), ask('ps')],
      ['a chat with a tool call in the terminal', chatWithTool(), ask('ps')],
      ['a PDF', get('/api/v1/docs/chat.pdf'), idle],
      ["an agent's search", searchAsAgent(), idle],
    ];
    const measured = [];
    for (const [name, run, without] of journeys) measured.push([name, await filesOf(run, without)]);
    return measured;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function enterToolServer() {
  const folder = join(home, 'config', 'runner');
  mkdirSync(folder, { recursive: true });
  const args = [resolve('test/support/toolServer.cjs'), 'good'];
  const mcpServers = { stand: { command: process.execPath, args } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ mcpServers }));
}

function ask(...words) {
  return (env) => ended(start(['terminal.cjs', ...words, '--practice'], env));
}

function chat() {
  return ask('chat', 'What is a Modelfile?');
}

function chatWithTool() {
  return ask('chat', '--tools', 'stand', '--allow', 'stand', 'Call the tool stand_echo, echo.');
}

function get(path) {
  return (env) => served(env, (origin, headers) => fetch(`${origin}${path}`, { headers }));
}

function searchAsAgent() {
  const params = { name: 'search_docs', arguments: { query: 'modelfile' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return (env) =>
    served(env, (origin, headers) =>
      fetch(`${origin}/mcp`, { method: 'POST', headers: { ...headers, ...types }, body }),
    );
}

/** Serves the sample library, sends it one request, and ends it. */
async function served(env, request) {
  const data = join(env.HOME, 'data');
  const child = start(['runner-docs.cjs', 'serve', '--sample', '--port', '0', '--data', data], env);
  try {
    let out = '';
    child.stdout.on('data', (text) => (out += text));
    while (!/The token is good/.test(out) && child.exitCode === null) await once(child.stdout, 'data');
    const [, origin] = /served at (http:\S+)/.exec(out) ?? [];
    const [, token] = /TOKEN=(\S+)/.exec(out) ?? [];
    const response = await request(origin, { authorization: `Bearer ${token}` });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${answer}`);
  } finally {
    child.kill('SIGTERM');
    await ended(child);
  }
}

function start([program, ...words], env) {
  const child = spawn(process.execPath, [join(dist, program), ...words], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.stdout.setEncoding('utf8');
  return child;
}

async function ended(child) {
  child.stdout.resume();
  const [code] = await once(child, 'close');
  if (code) throw new Error(`${child.spawnargs.join(' ')} ended with exit code ${code}`);
}

/** The files with a function that ran more often in the first run than in the second. */
async function filesOf(run, without) {
  const [more, fewer] = [await countsOf(run), await countsOf(without)];
  const passed = new Set();
  for (const [place, count] of more)
    if (count > (fewer.get(place) ?? 0)) passed.add(place.slice(0, place.indexOf(':')));
  return [...passed].filter((path) => !path.startsWith('daemon/practice/')).sort();
}

/** How often each function ran, by its file and its place in the bundle. */
async function countsOf(run) {
  const folder = mkdtempSync(join(home, 'run-'));
  const coverage = join(folder, 'coverage');
  const { PATH } = process.env;
  const env = { PATH, HOME: folder, XDG_CONFIG_HOME: join(home, 'config'), NODE_V8_COVERAGE: coverage };
  await run(env);
  const counts = new Map();
  for (const name of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8'));
    for (const { url, functions } of result)
      if (url.startsWith(`file://${dist}`)) add(counts, url, functions);
  }
  return counts;
}

function add(counts, url, functions) {
  const modules = modulesOf(readFileSync(fileURLToPath(url), 'utf8'));
  for (const { functionName, ranges } of functions) {
    const [{ startOffset, count }] = ranges;
    // The first function of a script is the script itself.
    if (count === 0 || (functionName === '' && startOffset === 0)) continue;
    const path = modules.findLast(({ start }) => start <= startOffset)?.path ?? '';
    if (!/^(?:client|daemon|docs-service|protocol)\//.test(path)) continue;
    const place = `${path}:${functionName}:${startOffset}`;
    counts.set(place, (counts.get(place) ?? 0) + count);
  }
}

/** Where each module of a bundle begins: esbuild writes the path of its file into a comment above it. */
function modulesOf(text) {
  return [...text.matchAll(/^ *\/\/ (\S+\.(?:ts|js|mjs|cjs))$/gm)].map(({ index, 1: path }) => ({
    start: index,
    path,
  }));
}
