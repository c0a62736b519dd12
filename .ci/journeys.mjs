// Counts the source files that a request passes on its way, from what the built programs ran: a program is run twice,
// once with the request and once without, and a file counts if a function of it ran more often with the request.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { countFunctions } from './functionCounts.mjs';

const question = 'What is a Modelfile?';
const callOfTool = 'Call the tool stand_echo, echo.';
const listRunning = inTerminal('ps');
const checkHealth = ofDocuments('/healthz');

/** Each with the run that has the request, and the one that does not. */
const journeys = [
  { name: 'a chat in the terminal', run: inTerminal('chat', question), without: listRunning },
  { name: 'a chat in VS Code', run: inEditor(question), without: inEditor() },
  {
    name: 'a chat with a tool call in the terminal',
    run: inTerminal('chat', '--tools', 'stand', '--allow', 'stand', callOfTool),
    without: listRunning,
  },
  { name: 'a PDF', run: ofDocuments('/api/v1/docs/chat.pdf'), without: checkHealth },
  { name: "an agent's search", run: ofDocuments('/mcp', searchOfAgent()), without: checkHealth },
];

/**
 * The practice runner takes the runner's place. The others belong to the start of a program: only some versions of Node
 * can keep compiled code, and time decides how often a new index is looked at.
 */
const notCounted = [
  /^daemon\/practice\//,
  /^daemon\/compose\/compileCache\.ts$/,
  /^docs-service\/search\/sqlite\/schema\.ts$/,
];

/** How often a journey is measured at most. Once is enough if its number is the expected one. */
const tries = 3;

/**
 * For each journey, by its name, the files that it passes, and their number. On a busy machine, a file that belongs to
 * no journey may come once. So a journey whose number is not the expected one is measured again: its number is larger
 * only if it has more files every time, and smaller only if it never has as many.
 */
export async function measureJourneys(numberExpected) {
  const times = new Map(journeys.map(({ name }) => [name, []]));
  const result = (name) => nearest(times.get(name), numberExpected(name));
  let left = [...times.keys()];
  for (let time = 0; time < tries && left.length > 0; time++) {
    for (const [name, files] of await measureOnce(left)) times.get(name).push(files);
    left = left.filter((name) => result(name).number !== (numberExpected(name) ?? result(name).number));
  }
  return new Map([...times.keys()].map((name) => [name, result(name)]));
}

function nearest(times, expected) {
  const files = [...new Set(times.flat())].sort();
  const always = files.filter((path) => times.every((ofOne) => ofOne.includes(path)));
  const number = Math.min(Math.max(expected ?? files.length, always.length), files.length);
  return { number, files };
}

async function measureOnce(names) {
  const home = mkdtempSync(join(tmpdir(), 'journeys-'));
  try {
    enterToolServer(home);
    const wanted = journeys.filter(({ name }) => names.includes(name));
    const runs = new Set(wanted.flatMap(({ run, without }) => [run, without]));
    const counts = await countAll([...runs], home);
    return wanted.map(({ name, run, without }) => [
      name,
      filesBetween(name, counts.get(run), counts.get(without)),
    ]);
  } finally {
    await endPrograms();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A run waits for a part of its time, so there are two more at once than cores. After a failure, no other begins. */
async function countAll(waiting, home) {
  const counts = new Map();
  const worker = async () => {
    try {
      for (let run = waiting.shift(); run !== undefined; run = waiting.shift())
        counts.set(run, await countFunctions(run, home));
    } catch (error) {
      waiting.length = 0;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() + 2 }, worker));
  return counts;
}

/** The files with a function that ran more often in the first run than in the second. */
function filesBetween(name, more, fewer) {
  const passed = new Set();
  for (const [place, count] of more)
    if (count > (fewer.get(place) ?? 0)) passed.add(place.slice(0, place.indexOf(':')));
  const files = [...passed].filter((path) => !notCounted.some((pattern) => pattern.test(path))).sort();
  if (files.length === 0) throw new Error(`No function of the programs in dist/ was counted in ${name}.`);
  return files;
}

function enterToolServer(home) {
  const folder = join(home, 'config', 'runner');
  mkdirSync(folder, { recursive: true });
  const args = [resolve('test/support/toolServer.cjs'), 'good'];
  const mcpServers = { stand: { command: process.execPath, args } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ mcpServers }));
}

function inTerminal(...words) {
  return (env) => ended(start(resolve('dist/terminal.cjs'), [...words, '--practice'], env));
}

/** `@runner` answers the prompts, in an editor that does nothing else. */
function inEditor(...prompts) {
  const standIn = resolve(import.meta.dirname, 'editorStandIn.cjs');
  return async (env) => {
    const runner = start(resolve('dist/runnerd.cjs'), ['--practice'], { PATH: env.PATH, HOME: env.HOME });
    const [address] = await textOf(runner, /http:\S+/);
    await ended(start(standIn, [address, ...prompts], env));
    runner.kill();
  };
}

/** One request to the service of the sample library, which then ends. */
function ofDocuments(path, options = {}) {
  return async (env) => {
    const service = ['serve', '--sample', '--port', '0', '--data', join(env.HOME, 'data')];
    const child = start(resolve('dist/runner-docs.cjs'), service, env);
    const [, origin, token] = await textOf(child, /served at (http:\S+).*TOKEN=(\S+).*The token is good/s);
    const headers = { ...options.headers, authorization: `Bearer ${token}` };
    const response = await fetch(`${origin}${path}`, { ...options, headers });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${answer}`);
    child.kill();
    await ended(child);
  };
}

function searchOfAgent() {
  const params = { name: 'search_docs', arguments: { query: 'modelfile' } };
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
}

/** The programs that run, each with the promise of its end. */
const running = new Map();

/** Starts a program, which is ended if it hangs. */
function start(program, words, env) {
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, [program, ...words], { env, stdio, timeout: 120_000 });
  child.output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      child.output += text;
    });
  const end = new Promise((resolve) => child.once('close', resolve));
  running.set(child, end);
  void end.then(() => running.delete(child));
  return child;
}

/** What fits in the output of a program, as soon as it does. */
function textOf(child, pattern) {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = pattern.exec(child.output);
      if (found) resolve(found);
    };
    child.stdout.on('data', look);
    child.once('close', () => reject(new Error(`${child.spawnargs.join(' ')} ended:\n${child.output}`)));
  });
}

async function ended(child) {
  const code = await (running.get(child) ?? child.exitCode);
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${code}:\n${child.output}`);
}

async function endPrograms() {
  for (const child of running.keys()) child.kill('SIGKILL');
  await Promise.all(running.values());
}
