import { isTyping } from '../../daemon/completion/openDocuments.ts';
import { restFor } from '../../daemon/completion/pacing.ts';
import {
  type InlineCompletionItem,
  type InlineCompletionList,
  inlineCompletionRequest,
} from '../../protocol/messages/completion.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemonProcess.ts';
import type { RecordedRequest } from '../support/runner/requestLog.ts';
import { type RunnerStandIn, startStandIn } from '../support/runnerStandIn.ts';
import { createFigures, heapOf, median, reportsHeap } from './figures.ts';

const figures = createFigures('completion');
const model = 'filler:1b';

/** What a key costs beside the pause and the runner, and what is asked of the runner. */
async function keys(): Promise<void> {
  const { runner, daemon } = await start();
  const uri = 'file:///bench/keys.ts';
  const cursor = await open(daemon, uri, 'const total = ', ';\n');
  const shown: number[] = [];
  const through: number[] = [];
  for (let count = 0; count < 15; count++) {
    const at = await change(daemon, uri, cursor, `a${count} + `);
    runner.on('/api/generate').say('first + second + third');
    const begun = performance.now();
    await ask(daemon, uri, at, invoked);
    shown.push(performance.now() - begun);
    const typed = await change(daemon, uri, at, 'first');
    const again = performance.now();
    await ask(daemon, uri, typed);
    through.push(performance.now() - again);
    await erase(daemon, uri, cursor, typed);
  }
  row(
    'a key to its suggestion, without the pause and with a runner that answers at once',
    shown,
    'at most 15 ms',
  );
  row('typing what is suggested, with no request', through, 'at most 15 ms');
  await abort(runner, daemon, uri, cursor);
  await daemon.close();
  await runner.close();
}

/** What a key costs in large documents, each with its change sent before: the text is not copied or split at each. */
async function sizes(): Promise<void> {
  const { runner, daemon } = await start();
  const code = 'const value = compute(first, second);\n';
  const documents: readonly (readonly [name: string, before: string, after: string])[] = [
    ['100 lines', code.repeat(50), code.repeat(50)],
    ['50,000 lines', code.repeat(25_000), code.repeat(25_000)],
    ['a line of 100,000 characters', `[${'"😀é", '.repeat(14_300)}`, ''],
  ];
  let smallest: number | undefined;
  for (const [name, before, after] of documents) {
    const times = await typeThrough(runner, daemon, `file:///bench/${name.length}.ts`, [before, after]);
    smallest ??= median(times);
    const slowest = Math.max(...times).toFixed(1);
    line(
      `a key in a document of ${name}, change and request`,
      `${median(times).toFixed(2)} ms (slowest ${slowest}), ${(median(times) / smallest).toFixed(1)} times`,
      'at most 3 times',
    );
  }
  await daemon.close();
  await runner.close();
}

/** Types a suggestion key by key: all of the daemon's work but the runner's. Times in ms. */
async function typeThrough(
  runner: RunnerStandIn,
  daemon: DaemonProcess,
  uri: string,
  [before, after]: readonly [string, string],
): Promise<readonly number[]> {
  const text = 'total + first.second(third, fourth) + fifth.sixth(seventh) + last';
  let at = await open(daemon, uri, `${before}const sum = `, `;\n${after}`);
  runner.on('/api/generate').say(text);
  await ask(daemon, uri, at, 1);
  const times: number[] = [];
  for (const key of text.slice(0, -2)) {
    const begun = performance.now();
    at = await change(daemon, uri, at, key);
    if (!(await ask(daemon, uri, at))) throw new Error('Nothing was suggested.');
    times.push(performance.now() - begun);
  }
  return times;
}

/** What the daemon holds after a storm of keys at a runner that fails at each of them in its own way. */
async function storms(): Promise<void> {
  const ways: Readonly<Record<string, (runner: RunnerStandIn) => unknown>> = {
    answers: (runner) => generates(runner).say('first + second'),
    'is down': (runner) => runner.close(),
    hangs: (runner) => generates(runner).hang(),
    'refuses to insert': (runner) => generates(runner).failWith(400, { error: 'does not support insert' }),
    'answers garbage': (runner) => generates(runner).rawLines('no JSON\n'),
    'fails with 500': (runner) => generates(runner).failWith(500, { error: 'the runner has stopped' }),
    'dies in the middle': (runner) => generates(runner).dieMidAnswer(2),
  };
  for (const [name, prepare] of Object.entries(ways)) await storm(name, prepare);
}

const generates = (runner: RunnerStandIn) => runner.on('/api/generate', Number.POSITIVE_INFINITY);

async function storm(name: string, prepare: (runner: RunnerStandIn) => unknown): Promise<void> {
  const stillOpen = new Set<RecordedRequest>();
  const { runner, daemon } = await start({
    env: reportsHeap,
    // It tells once of a request that has been read, and once when its answer is over.
    onRequest: (request) => {
      if (!stillOpen.delete(request) && !request.aborted) stillOpen.add(request);
    },
  });
  await prepare(runner);
  const uri = 'file:///bench/storm.ts';
  const code = 'const value = compute(first, second);\n'.repeat(5_000);
  const cursor = await open(daemon, uri, `${code}const a = `, '\n');
  const press = async (count: number) => {
    let [at, older] = [cursor, Promise.resolve<unknown>(undefined)];
    for (let key = 0; key < count; key++) {
      at = await change(daemon, uri, at, 'x');
      const newer = ask(daemon, uri, at, 1);
      // A newer key ends the older request; where the runner fails at once, it has ended before.
      await (name === 'hangs' ? older : newer);
      older = newer;
    }
    await erase(daemon, uri, cursor, at);
    await Promise.all([older, ask(daemon, uri, { line: 0, character: 2 }, 1)]);
  };
  await press(200);
  const before = await heapOf(daemon);
  const begun = performance.now();
  await press(2_000);
  const each = (performance.now() - begun) / 2_000;
  const after = await heapOf(daemon);
  const said = daemon.logs.filter(({ level }) => level !== 'info' && level !== 'debug').length;
  line(
    `2,000 keys at a runner that ${name}`,
    `${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after; requests open: ${stillOpen.size}, warnings: ${said}; ${each.toFixed(1)} ms a key`,
    'as much as before, none open, one warning at most',
  );
  await daemon.close();
  await runner.close();
}

/** What is held of documents that were closed. */
async function closings(): Promise<void> {
  const { runner, daemon } = await start({ env: reportsHeap });
  const code = 'const value = compute(first, second);\n'.repeat(10_000);
  const visit = async (count: number) => {
    for (let index = 0; index < count; index++) {
      const uri = `file:///bench/visited/${index}.ts`;
      await typeThrough(runner, daemon, uri, [`${index}${code}`, code]);
      await daemon.connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
    }
  };
  await visit(10);
  const before = await heapOf(daemon);
  await visit(100);
  const after = await heapOf(daemon);
  line(
    '100 documents of 0.8 MB, opened, typed in and closed',
    `${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after`,
    'as much as before',
  );
  await daemon.close();
  await runner.close();
}

/** After an acceptance what follows is there already. */
async function acceptance(): Promise<void> {
  const { runner, daemon } = await start();
  const uri = 'file:///bench/accept.ts';
  let cursor = await open(daemon, uri, 'const total = ', '\n');
  const times: number[] = [];
  runner.on('/api/generate', 40).say('first + second;');
  for (let count = 0; count < 15; count++) {
    const seen = runner.requests.length;
    const begun = performance.now();
    const item = await ask(daemon, uri, cursor);
    // The first one is asked for; the others were fetched ahead.
    if (count > 0) times.push(performance.now() - begun);
    if (!item) throw new Error('Nothing was suggested.');
    cursor = await change(daemon, uri, cursor, item.insertText);
    await runner.waitFor(
      (asked) => runner.requests.indexOf(asked) >= seen && asked.path === '/api/generate' && asked.finished,
    );
  }
  row('what follows an acceptance, fetched ahead', times, 'at most 15 ms');
  await daemon.close();
  await runner.close();
}

/** From a newer key to the socket that closes. */
async function abort(
  runner: RunnerStandIn,
  daemon: DaemonProcess,
  uri: string,
  cursor: Position,
): Promise<void> {
  const times: number[] = [];
  for (let count = 0; count < 10; count++) {
    runner.on('/api/generate').hang();
    const at = await change(daemon, uri, cursor, 'x');
    const older = ask(daemon, uri, at);
    const seen = runner.requests.length;
    const request = await runner.waitFor(
      (asked) =>
        runner.requests.indexOf(asked) >= seen && asked.path === '/api/generate' && asked.body !== undefined,
    );
    const newer = await change(daemon, uri, at, 'y');
    const pressed = performance.now();
    const latest = ask(daemon, uri, newer);
    await runner.waitFor((asked) => asked === request && asked.aborted);
    times.push(performance.now() - pressed);
    await Promise.all([older, latest]);
    await erase(daemon, uri, cursor, newer);
  }
  row('a newer key to the closed socket of the older request', times, 'within 50 ms');
}

/** A run of keys with pauses, as a person types: one request a pause is the least that can be had. */
async function typing(): Promise<void> {
  const { runner, daemon } = await start();
  const uri = 'file:///bench/typing.ts';
  let cursor = await open(daemon, uri, '', '\n');
  const restsAfter = [10, 21];
  const text = 'const total = items.length * 2;';
  const gapAfter = (index: number) => (restsAfter.includes(index) ? 500 : 80);
  const gaps = Array.from(text, (_, index) => (index === text.length - 1 ? 1_500 : gapAfter(index)));
  const asked: Promise<unknown>[] = [];
  for (const [index, key] of [...text].entries()) {
    cursor = await change(daemon, uri, cursor, key);
    asked.push(ask(daemon, uri, cursor));
    await new Promise((resolve) => setTimeout(resolve, gapAfter(index)));
  }
  await Promise.all(asked);
  const requests = runner.bodies('/api/generate').length;
  const aborted = runner.requests.filter(({ aborted }) => aborted).length;
  line(
    `${text.length} keys at 80 ms with ${restsAfter.length + 1} pauses`,
    `${requests} requests, what is fetched ahead among them, ${aborted} aborted; with 150 ms each ${requestsOf(gaps, () => 150).requests}`,
    'one a pause, and one ahead; a peer 19 to 22, none aborted',
  );
  await daemon.close();
  await runner.close();
}

/**
 * What the wait costs and saves that follows the keys: runs of keys as people of three speeds type them, without a
 * daemon, and a request wherever the keys rest for as long as is waited.
 */
function rests(): void {
  for (const usual of [80, 180, 280])
    for (const latency of [50, 800]) {
      const gaps = keyGaps(usual);
      const fixed = requestsOf(gaps, () => 150);
      const adaptive = requestsOf(gaps, (before) => restFor({ gaps: before.slice(-12), latency }));
      const waited = median(adaptive.waits).toFixed(0);
      line(
        `${gaps.length} keys at about ${usual} ms with ${pauses} pauses, a model of ${latency} ms`,
        `${fixed.requests} requests after 150 ms each, ${adaptive.requests} after about ${waited} ms`,
        'one a pause',
      );
    }
}

const pauses = 10;

/** The same ones each time: a third above and below the usual one, and a pause of a second and a half after 20 keys. */
function keyGaps(usual: number): readonly number[] {
  let seed = 7;
  return Array.from({ length: pauses * 20 }, (_, index) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return index % 20 === 19 ? 1_500 : usual * (0.67 + (0.66 * seed) / 2_147_483_648);
  });
}

function requestsOf(gaps: readonly number[], restAfter: (before: readonly number[]) => number) {
  const waits = gaps.map((_, index) => restAfter(gaps.slice(0, index).filter(isTyping)));
  return { requests: gaps.filter((gap, index) => gap > (waits[index] ?? 0)).length, waits };
}

/** LSP's `InlineCompletionTriggerKind.Invoked`: the daemon does not wait for the keys to rest. */
const invoked = 1;

interface Position {
  readonly line: number;
  readonly character: number;
}

async function start({
  env = {},
  onRequest = () => undefined,
}: {
  readonly env?: Readonly<Record<string, string>>;
  readonly onRequest?: (request: RecordedRequest) => void;
} = {}): Promise<{ runner: RunnerStandIn; daemon: DaemonProcess }> {
  const capabilities = ['completion', 'insert'] as const;
  const runner = await startStandIn({ models: [{ name: model, capabilities }], onRequest });
  const daemon = await startDaemonProcess({ host: runner.url, completionModel: model }, { env });
  return { runner, daemon };
}

const versions = new Map<string, number>();

async function open(
  daemon: DaemonProcess,
  uri: string,
  before: string,
  after: string,
  languageId = 'typescript',
): Promise<Position> {
  versions.set(uri, 1);
  const textDocument = { uri, languageId, version: 1, text: before + after };
  await daemon.connection.sendNotification('textDocument/didOpen', { textDocument });
  const lines = before.split('\n');
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

async function change(daemon: DaemonProcess, uri: string, at: Position, text: string): Promise<Position> {
  await edit(daemon, uri, { start: at, end: at }, text);
  return { line: at.line, character: at.character + text.length };
}

async function erase(daemon: DaemonProcess, uri: string, start: Position, end: Position): Promise<void> {
  await edit(daemon, uri, { start, end }, '');
}

async function edit(
  daemon: DaemonProcess,
  uri: string,
  range: { readonly start: Position; readonly end: Position },
  text: string,
): Promise<void> {
  const version = (versions.get(uri) ?? 1) + 1;
  versions.set(uri, version);
  await daemon.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri, version },
    contentChanges: [{ range, text }],
  });
}

async function ask(
  daemon: DaemonProcess,
  uri: string,
  position: Position,
  triggerKind = 2,
): Promise<InlineCompletionItem | undefined> {
  const params = { textDocument: { uri }, position, context: { triggerKind } };
  const list: InlineCompletionList | null = await daemon.request(inlineCompletionRequest, params);
  return list?.items[0];
}

function row(what: string, times: readonly number[], goal: string): void {
  const slowest = Math.max(...times).toFixed(1);
  line(what, `${median(times).toFixed(1)} ms (slowest ${slowest})`, goal);
}

function line(what: string, shown: string, goal: string): void {
  figures.row(what, shown, { goal });
}

figures.section('Inline completion (medians)');
await keys();
await sizes();
await storms();
await closings();
await acceptance();
await typing();
rests();
