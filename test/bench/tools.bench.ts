import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { ChatParams } from '../../protocol/messages/chat.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import { statusRequest } from '../../protocol/messages/status.ts';
import { listToolsRequest } from '../../protocol/messages/tools.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemonProcess.ts';
import { type RunnerStandIn, startStandIn } from '../support/runnerStandIn.ts';
import { toolServerPath } from '../support/toolDaemon.ts';
import { createFigures, heapOf, median, quantile, reportsHeap, residentOf, timed } from './figures.ts';

const figures = createFigures('tools');
const model = 'practice:latest';
const call = { id: 'call_1', name: 'echo', arguments: { word: 'hello' } };
const question = { role: 'user', content: 'Say hello.' } as const;
const entry = (kind: string) => ({ command: process.execPath, args: [toolServerPath, kind] });

await main();

async function main(): Promise<void> {
  const runner = await startStandIn({
    models: [{ name: model, capabilities: ['completion', 'tools'], contextLength: 131_072 }],
  });
  try {
    await rounds(runner);
    await starts(runner);
    await manyCalls(runner);
  } finally {
    await runner.close();
  }
}

interface StartOptions {
  /** Of the tool servers. */
  readonly names?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function start(
  runner: RunnerStandIn,
  kinds: readonly string[],
  { names = kinds, ...daemon }: StartOptions = {},
): Promise<DaemonProcess> {
  const options: InitializationOptions = {
    host: runner.url,
    mcpServers: Object.fromEntries(names.map((name, index) => [name, entry(kinds[index] ?? 'other')])),
    approvals: Object.fromEntries(names.map((name) => [name, 'always'])),
  };
  return startDaemonProcess(options, daemon);
}

/**
 * A round of one call, against the same two requests to the runner and a call of the same server without the daemon.
 */
async function rounds(runner: RunnerStandIn): Promise<void> {
  const daemon = await start(runner, ['good']);
  const bare = new Client({ name: 'bench', version: '1' });
  await bare.connect(new StdioClientTransport(entry('good')));
  const { servers } = await daemon.request(listToolsRequest, {});
  const tools = (servers[0]?.tools ?? []).map(({ name, description, inputSchema }) => ({
    ...{ name, description, inputSchema },
  }));
  const times: Record<'round' | 'requests' | 'call', number[]> = { round: [], requests: [], call: [] };
  const chat = (params: Partial<ChatParams>) => daemon.chat({ model, messages: [question], ...params });
  for (let run = 0; run < 220; run += 1) {
    const order = () => {
      runner.toolCalls([call]);
      runner.say('You said hello.');
    };
    order();
    const round = await timed(() => chat({ hostedTools: ['good'] }));
    order();
    const requests = await timed(async () => {
      await chat({ tools });
      await chat({
        tools,
        messages: [
          question,
          { role: 'assistant', content: '', toolCalls: [call] },
          { role: 'tool', content: 'You said hello.', toolCallId: call.id },
        ],
      });
    });
    const alone = await timed(() => bare.callTool({ name: 'echo', arguments: call.arguments }));
    if (run < 20) continue;
    times.round.push(round);
    times.requests.push(requests);
    times.call.push(alone);
  }
  const [round, requests, alone] = [quickest(times.round), quickest(times.requests), quickest(times.call)];
  figures.section('A round of one tool call (the fastest tenth of 200, in turns)');
  figures.row('the same two requests', `${requests.toFixed(1)} ms`);
  figures.row('the same call without the daemon', `${alone.toFixed(1)} ms`);
  figures.row('the round', `${round.toFixed(1)} ms, ${(round - requests - alone).toFixed(1)} ms more`, {
    goal: 'at most 5 ms more',
    plot: { unit: 'ms', bars: { 'two requests and a call': requests + alone, 'the round': round } },
  });
  await bare.close();
  await daemon.close();
}

/** Until a request is answered that needs no runner. */
async function starts(runner: RunnerStandIn): Promise<void> {
  const ten = Array.from({ length: 10 }, (_, index) => `server${index}`);
  const time = async (names: readonly string[]) => {
    const begun = performance.now();
    const daemon = await start(runner, [], { names });
    await daemon.request(statusRequest, {});
    const taken = performance.now() - begun;
    await daemon.close();
    return taken;
  };
  const [without, withTen]: [number[], number[]] = [[], []];
  for (let run = 0; run < 15; run += 1) {
    without.push(await time([]));
    withTen.push(await time(ten));
  }
  figures.section('The start of the daemon, to its first answer (medians of 15, in turns)');
  figures.row('without a tool server', `${median(without).toFixed(0)} ms`);
  figures.row('with ten configured', `${median(withTen).toFixed(0)} ms`, {
    goal: 'no slower',
    plot: { unit: 'ms', bars: { 'no tool server': median(without), 'ten tool servers': median(withTen) } },
  });
}

async function manyCalls(runner: RunnerStandIn): Promise<void> {
  const daemon = await start(runner, ['good'], { env: reportsHeap });
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      for (let round = 0; round < 20; round += 1) runner.toolCalls([call]);
      runner.say('ok');
      await daemon.chat({ model, messages: [question], hostedTools: ['good'], maxRounds: 50 });
    }
  };
  await turns(5);
  const before = await memoryOf(daemon);
  const time = await timed(() => turns(50));
  const after = await memoryOf(daemon);
  await turns(100);
  const long = await memoryOf(daemon);
  figures.section('Memory of the daemon over tool calls, 20 in a turn');
  figures.row('after 100', textOf(before));
  figures.row('after 1,000 more', textOf(after));
  figures.row('after 2,000 more', textOf(long), {
    goal: 'the heap does not grow',
    plot: { unit: 'MB of heap', bars: { '100 calls': before.heap, '1,100': after.heap, '3,100': long.heap } },
  });
  figures.row('a call and its request', `${(time / 1_000).toFixed(1)} ms`);
  await daemon.close();
}

/** What a busy machine has added is left out, of all alike. */
function quickest(values: readonly number[]): number {
  return quantile(values, 0.1);
}

/** In MB. */
interface Memory {
  readonly resident: number;
  /** What is left of the heap after a collection: the rest of the resident memory is garbage, and Node itself. */
  readonly heap: number;
}

function textOf({ resident, heap }: Memory): string {
  return `${resident.toFixed(0)} MB resident; after a collection the heap has ${heap.toFixed(1)} MB`;
}

async function memoryOf(daemon: DaemonProcess): Promise<Memory> {
  return { resident: residentOf(daemon), heap: await heapOf(daemon) };
}
