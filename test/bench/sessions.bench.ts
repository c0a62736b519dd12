import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '../../protocol/messages/chat.ts';
import { createSessionRequest } from '../../protocol/messages/sessions.ts';
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
    const { size } = statSync(join(state, 'runner', 'sessions', `${id}.jsonl`));
    figures.section(
      `A conversation of ${(size / 1e6).toFixed(1)} MB is gone on with (medians of 15 daemons each)`,
    );
    const kept: number[] = [];
    const bare: number[] = [];
    for (let run = 0; run < 15; run += 1) {
      bare.push(await firstToken(start, {}));
      kept.push(await firstToken(start, { session: id }));
    }
    figures.row('first token of the same chat without', `${median(bare).toFixed(1)} ms`);
    figures.row('and appended to the conversation', `${(median(kept) - median(bare)).toFixed(1)} ms more`, {
      goal: 'at most 20 ms',
      plot: { unit: 'ms', bars: { 'the chat alone': median(bare), 'kept as well': median(kept) } },
    });
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
  more: { readonly session?: string },
): Promise<number> {
  const daemon = await start();
  await daemon.chat({ model, options, messages: [{ role: 'user', content: 'hi' }] });
  const params = {
    model,
    options,
    messages: [...history, { role: 'user' as const, content: 'And?' }],
    ...more,
  };
  const began = performance.now();
  let first = 0;
  await daemon.chat(params, { onDelta: () => (first ||= performance.now() - began) });
  await daemon.close();
  return first;
}
