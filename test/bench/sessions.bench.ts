import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '../../protocol/messages/chat.ts';
import {
  createSessionRequest,
  listSessionsRequest,
  readSessionRequest,
} from '../../protocol/messages/sessions.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemonProcess.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { createFigures, median } from './figures.ts';

const model = 'practice:latest';
const figures = createFigures('sessions');
const options = { num_ctx: 4_000_000 };
const words = 'All that the two of them have said about the rivers of Europe so far. ';
/** 2 MB in 200 messages. */
const history: readonly Message[] = Array.from({ length: 200 }, (_, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: words.repeat(143),
}));

await main();

async function main(): Promise<void> {
  const state = mkdtempSync(join(tmpdir(), 'runner-sessions-bench-'));
  const runner = await startStandIn({
    models: [{ name: model, capabilities: ['completion'], contextLength: 4_000_000 }],
  });
  const start = () => startDaemonProcess({ host: runner.url }, { env: { XDG_STATE_HOME: state } });
  try {
    const id = await keep(await start());
    const folder = join(state, 'runner', 'sessions');
    const size = statSync(join(folder, `${id}.jsonl`)).size;
    figures.section(
      `A conversation of ${(size / 1e6).toFixed(1)} MB is gone on with (medians of 15 daemons each)`,
    );
    const kept: number[] = [];
    const bare: number[] = [];
    const read: number[] = [];
    for (let run = 0; run < 15; run += 1) {
      bare.push(await firstToken(start, () => Promise.resolve({})));
      kept.push(await firstToken(start, () => Promise.resolve({ session: id })));
      read.push(await readTime(start, id));
    }
    figures.row('first token of the same chat without', `${median(bare).toFixed(1)} ms`);
    figures.row('and appended to the conversation', `${(median(kept) - median(bare)).toFixed(1)} ms more`, {
      goal: 'at most 20 ms',
      plot: { unit: 'ms', bars: { 'the chat alone': median(bare), 'kept as well': median(kept) } },
    });
    figures.row('to read it before', `${median(read).toFixed(1)} ms`);
    await lists(await start(), folder);
  } finally {
    await runner.close();
    rmSync(state, { recursive: true, force: true });
  }
}

async function keep(daemon: DaemonProcess): Promise<string> {
  const { session } = await daemon.request(createSessionRequest, {});
  await daemon.chat({
    model,
    options,
    session: session.id,
    messages: [...history, { role: 'user', content: '?' }],
  });
  await daemon.close();
  return session.id;
}

/** Of a daemon that has just started and has asked the runner once. */
async function firstToken(
  start: () => Promise<DaemonProcess>,
  more: () => Promise<{ session?: string }>,
): Promise<number> {
  const daemon = await start();
  await daemon.chat({ model, options, messages: [{ role: 'user', content: 'hi' }] });
  const params = {
    model,
    options,
    messages: [...history, { role: 'user' as const, content: 'And?' }],
    ...(await more()),
  };
  const began = performance.now();
  let first = 0;
  await daemon.chat(params, { onDelta: () => (first ||= performance.now() - began) });
  await daemon.close();
  return first;
}

async function readTime(start: () => Promise<DaemonProcess>, id: string): Promise<number> {
  const daemon = await start();
  const began = performance.now();
  await daemon.request(readSessionRequest, { id });
  const time = performance.now() - began;
  await daemon.close();
  return time;
}

/** 200 MB in 1,000 files: a page, and a search that finds nothing, while another asks for a page. */
async function lists(daemon: DaemonProcess, folder: string): Promise<void> {
  for (let index = 0; index < 1000; index += 1) {
    const id = `20261122-${String(index).padStart(8, '0')}`;
    const line = JSON.stringify({ type: 'message', role: 'user', content: words.repeat(2800) });
    const header = JSON.stringify({ type: 'session', version: 1, id, createdAt: '2026-11-22T00:00:00Z' });
    const state = JSON.stringify({ type: 'state', title: `Number ${index}`, turns: 1 });
    writeFileSync(join(folder, `${id}.jsonl`), `${header}\n${line}\n${state}\n`);
  }
  const timed = async (work: Promise<unknown>) => {
    const began = performance.now();
    await work;
    return `${(performance.now() - began).toFixed(0)} ms`;
  };
  await daemon.request(listSessionsRequest, { limit: 1 });
  figures.row('a page of 50 of 1,000, 200 MB', await timed(daemon.request(listSessionsRequest, {})));
  const search = timed(daemon.request(listSessionsRequest, { query: 'nowhere' }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  figures.row(
    'another request while all are searched',
    await timed(daemon.request(listSessionsRequest, { limit: 1 })),
  );
  figures.row('the search, which finds nothing', await search);
  await daemon.close();
}
