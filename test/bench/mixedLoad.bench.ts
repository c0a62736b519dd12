// One daemon under mixed load: chats, completions, downloads, cancels, a log that is followed, changed settings. What
// is printed: that every request was answered exactly once, and whether heap, descriptors and memory stay flat.
// Usage: node .tap-build/mixedLoad.bench.mjs [--minutes 60]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Message, StreamMessageReader } from 'vscode-jsonrpc/node';
import { type InlineCompletionList, inlineCompletionRequest } from '../../protocol/messages/completion.ts';
import { deleteModelRequest, listModelsRequest, pullModelRequest } from '../../protocol/messages/models.ts';
import { statusRequest } from '../../protocol/messages/status.ts';
import { type DaemonProcess, runnerdPath, startDaemonProcess } from '../support/daemonProcess.ts';
import { createFigures, heapOf, reportsHeap, residentOf } from './figures.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '1' } }, strict: false });
const minutes = Number(values.minutes);
const model = 'practice:latest';
const { section, row } = createFigures('mixedLoad');

interface Sample {
  readonly heap: number;
  readonly descriptors: number;
  readonly resident: number;
}

/** Counts of what was asked for, by its outcome. */
const outcomes = new Map<string, number>();

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'runner-load-'));
  const logFile = join(home, '.ollama', 'logs', 'server.log');
  mkdirSync(join(home, '.ollama', 'logs'), { recursive: true });
  appendFileSync(logFile, 'the log begins\n');
  const { url, stop } = await startPractice();
  const daemon = await startDaemonProcess(
    { host: url, completionModel: model, streamLogs: true },
    { env: { HOME: home, ...reportsHeap } },
  );
  const answers = countAnswers(daemon);
  const end = new AbortController();
  const loops = [
    () => chat(daemon),
    () => chat(daemon),
    () => cancelledChat(daemon),
    () => complete(daemon),
    () => pull(daemon),
    () => ask(daemon),
    () => changeSettings(daemon),
    () => writeLog(logFile),
  ].map((work) => repeat(work, end.signal));

  const samples = [await sampleOf(daemon)];
  for (let minute = 0; minute < minutes; minute++) {
    await wait(60_000);
    samples.push(await sampleOf(daemon));
  }
  end.abort();
  await Promise.all(loops);
  report(daemon, answers(), samples);
  await daemon.close();
  stop();
  rmSync(home, { recursive: true });
}

async function startPractice(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const child = spawn(process.execPath, [runnerdPath, '--practice'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = await once(child.stdout, 'data');
  return { url: String(url).trim(), stop: () => void child.kill() };
}

async function repeat(work: () => Promise<void>, end: AbortSignal): Promise<void> {
  while (!end.aborted) await work();
}

function count(outcome: string): void {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

let asked = 0;
const question = () => ({
  model,
  messages: [{ role: 'user' as const, content: `How does part ${asked++} of the daemon work?` }],
});

async function chat(daemon: DaemonProcess): Promise<void> {
  const { result } = await daemon.chat(question());
  count(`a chat: ${result.finishReason}`);
}

async function cancelledChat(daemon: DaemonProcess): Promise<void> {
  let deltas = 0;
  const limit = 1 + (asked % 20);
  const { result } = await daemon.chat(question(), { cancelAt: () => ++deltas === limit });
  count(`a chat that is cancelled: ${result.finishReason}`);
}

let documents = 0;

/** A document is opened, typed in and closed; each pause asks for a completion. */
async function complete(daemon: DaemonProcess): Promise<void> {
  const uri = `file:///load/${documents++}.ts`;
  const text = 'const total = compute(first, second);\n'.repeat(200);
  const notify = (method: string, params: object) =>
    daemon.connection.sendNotification(`textDocument/${method}`, params);
  await notify('didOpen', { textDocument: { uri, languageId: 'typescript', version: 1, text } });
  for (let key = 0; key < 20; key++) {
    const position = { line: 200, character: key };
    await notify('didChange', {
      textDocument: { uri, version: key + 2 },
      contentChanges: [
        { range: { start: position, end: position }, text: 'const answer = compute'.charAt(key) },
      ],
    });
    const list: InlineCompletionList | null = await daemon.request(inlineCompletionRequest, {
      textDocument: { uri },
      position: { line: 200, character: key + 1 },
      context: { triggerKind: 1 },
    });
    count(`a completion: ${list?.items.length ? 'an item' : 'none'}`);
    await wait(50);
  }
  await notify('didClose', { textDocument: { uri } });
}

async function pull(daemon: DaemonProcess): Promise<void> {
  const guest = { model: 'practice-guest:latest' };
  await daemon.request(pullModelRequest, guest);
  await daemon.request(deleteModelRequest, { ...guest, stop: true });
  count('a download and its removal');
  await wait(1_000);
}

async function ask(daemon: DaemonProcess): Promise<void> {
  await daemon.request(listModelsRequest, {});
  await daemon.request(statusRequest, {});
  count('a list and a status');
  await wait(500);
}

let changes = 0;

async function changeSettings(daemon: DaemonProcess): Promise<void> {
  changes++;
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: {
      runner: {
        keepAlive: `${1 + (changes % 5)}m`,
        contextLength: 4_096 * (1 + (changes % 3)),
        logLevel: changes % 2 ? 'info' : 'warn',
        exclude: [`**/*.${changes % 7}`],
      },
    },
  });
  count('a change of settings');
  await wait(3_000);
}

let lines = 0;

/** 20 lines a second; now and then the file is rotated. */
async function writeLog(path: string): Promise<void> {
  for (let written = 0; written < 10; written++) appendFileSync(path, `level=INFO msg="line ${lines++}"\n`);
  if (lines % 5_000 === 0) {
    renameSync(path, `${path}.1`);
    appendFileSync(path, 'the log begins again\n');
  }
  await wait(500);
}

interface Answers {
  readonly asked: number;
  readonly answeredOnce: number;
  readonly answeredMore: number;
}

/** Reads the frames of the daemon beside the client. The client numbers its requests from 0. */
function countAnswers({ child }: DaemonProcess): () => Answers {
  const times = new Map<number, number>();
  if (!child.stdout) throw new Error('The daemon has no standard output.');
  new StreamMessageReader(child.stdout).listen((message: Message) => {
    if (!('id' in message) || 'method' in message) return;
    const id = Number(message.id);
    times.set(id, (times.get(id) ?? 0) + 1);
  });
  return () => {
    const ids = [...times.keys()];
    const once = ids.filter((id) => times.get(id) === 1).length;
    return {
      // The answer of `initialize`, 0, came before anybody counted.
      asked: Math.max(...ids),
      answeredOnce: once,
      answeredMore: ids.length - once,
    };
  };
}

async function sampleOf(daemon: DaemonProcess): Promise<Sample> {
  return {
    heap: await heapOf(daemon),
    descriptors: readdirSync(`/proc/${daemon.child.pid}/fd`).length,
    resident: residentOf(daemon),
  };
}

function report({ logs }: DaemonProcess, answers: Answers, samples: readonly Sample[]): void {
  section(`Mixed load in one daemon for ${minutes} minutes`);
  for (const [outcome, times] of [...outcomes].sort()) row(outcome, times.toLocaleString('en'));
  row('lines of the log', `${logs.filter(({ source }) => source === 'server').length} of ${lines}`);
  row(
    'requests',
    `${answers.asked} asked, ${answers.answeredOnce} answered once, ${answers.answeredMore} more than once`,
    { goal: 'each exactly once' },
  );
  // Before the tenth minute caches fill; a short run has no such time.
  const settled = samples.slice(Math.min(10, samples.length - 1));
  const range = (of: (sample: Sample) => number) =>
    `${Math.min(...settled.map(of)).toFixed(1)} to ${Math.max(...settled.map(of)).toFixed(1)}, at the start ${samples.slice(0, 1).map(of)[0]?.toFixed(1)}`;
  row('heap after collection, from the tenth minute on', `${range(({ heap }) => heap)} MB`, {
    goal: 'flat to 2 MB',
  });
  row(
    'descriptors',
    range(({ descriptors }) => descriptors),
    { goal: 'flat' },
  );
  row('resident memory', `${range(({ resident }) => resident)} MB`);
}

await main();
