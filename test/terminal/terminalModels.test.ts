import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { ResponseError } from 'vscode-jsonrpc';
import { columnsOf } from '../../client/terminal/screen/columns.ts';
import { formatShare } from '../../protocol/base/text.ts';
import type { PartProgress, WorkProgress } from '../../protocol/messages/messageTypes.ts';
import type { CatalogEntry, Model, ShowModelResult } from '../../protocol/messages/models.ts';
import { modelLike, no, yes } from '../support/modelLike.ts';
import { has, where } from '../support/systems.ts';
import { type Asked, resultOf, runOnce, startTerminal, type TerminalOptions } from './terminalPeer.ts';
import { TerminalScreen } from './terminalScreen.ts';

process.env['TZ'] = 'UTC';

const folder = mkdtempSync(join(tmpdir(), 'runner-terminal-models-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const running = { expiresAt: '2026-11-21T13:05:00Z', size: 4.1e9, sizeVram: 4.1e9 };

function model(name: string, more: Partial<Model> = {}): Model {
  return modelLike(name, { family: 'qwen', ...more }, { tools: yes });
}

const models = [model('qwen3:4b', { size: 2.5e9 }), model('m:1b', { size: 1e9, running })];

function failure(code: number, kind: string, message: string, more: object = {}): () => never {
  return () => {
    throw new ResponseError(code, message, { kind, retryable: false, ...more });
  };
}

const notFound = failure(-33004, 'model-not-found', 'It is not installed.');

function squeeze(text: string): string {
  return text.replace(/\s/g, '');
}

/** A request that only a cancel ends. */
function untilCancelled({ token }: Asked): Promise<never> {
  return new Promise((_, reject) =>
    token.onCancellationRequested(() => reject(new ResponseError(-32800, 'The request was cancelled.'))),
  );
}

/** Work that tells of its progress as the daemon does. */
function work(reports: readonly Omit<Extract<WorkProgress, { kind: 'report' }>, 'kind'>[]) {
  return async ({ params, notify }: Asked) => {
    const tell = (value: WorkProgress) =>
      notify('$/progress', { token: params['workDoneToken'] as string, value });
    await tell({ kind: 'begin', title: `Pulling ${params['model']}`, cancellable: true, percentage: 0 });
    await notify('$/progress', { token: 'another', value: { kind: 'report', message: 'not ours' } });
    for (const report of reports) await tell({ kind: 'report', ...report });
    await tell({ kind: 'end' });
    return { model: params['model'] };
  };
}

const layer = (completed: number): PartProgress => ({ name: '3e4cb1417446', completed, total: 2.5e9 });
const downloading = (completed: number, percentage: number) => ({
  message: `Downloading 3e4cb1417446: ${formatShare(completed, 2.5e9)}`,
  percentage,
  completed,
  total: 2.5e9,
  parts: [layer(completed)],
});
const pullReports = [
  { message: 'Looking up the model' },
  downloading(0.2e9, 8),
  downloading(0.24e9, 9),
  downloading(0.1e9, 9),
  downloading(0.3e9, 12),
  downloading(1.5e9, 60),
  downloading(1.4e9, 56),
  { ...downloading(2.5e9, 99), message: 'Checking\u001b[2J what was downloaded' },
];

t.test('the command line of the commands about models', async (t) => {
  const cases = [
    { args: ['show'], says: /"runner show" needs the name of a model\. Say: runner show M\n/ },
    { args: ['stop', 'a', 'b'], says: /takes no further words; there is "b"/ },
    { args: ['create'], says: /needs a name for the model\. Say: runner create NAME \[-f FILE\]/ },
    { args: ['completion', 'tcsh'], says: /no completion for "tcsh", only for bash, zsh, fish, powershell/ },
    { args: ['rm', 'm'], says: /asks before it deletes.*--yes/ },
    { args: ['shwo', 'm'], says: /Did you mean "show"\?/ },
    { args: ['models', '--cloud'], says: /"runner models" does not take --cloud, which is for "library"\./ },
    { args: ['run', 'm', '--raw'], says: /--raw is for an answer\. Say: runner run m "PROMPT"/ },
    { args: ['cp', 'm'], says: /needs the name of a model and a new one\. Say: runner cp M NAME/ },
    { args: ['create', 'm', '-f', 'a', '-f', 'b'], says: /from one Modelfile/ },
  ];
  for (const { args, says } of cases) {
    const { code, error, started } = await runOnce({ args });
    t.strictSame([code, started.length], [2, 0], `no daemon is asked: ${args.join(' ')}`);
    t.match(error, says);
  }
  t.equal(
    (await runOnce({ args: ['rm', 'm', '--json'], isScreen: true })).code,
    2,
    'with --json nothing is asked',
  );
});

const shown: ShowModelResult = {
  model: model('qwen3:4b', {
    size: 2.5e9,
    details: { family: 'qwen3', parameterSize: '4.0B', quantization: 'Q4_K_M' },
    context: { allocated: 4096, maximum: 131072 },
    running,
  }),
  parameters: { temperature: 0.6, stop: ['<|im_start|>', '<|im_end|>\u001b[31m'] },
  system: 'Be brief.\u001b]0;title\u0007',
  template: Array.from({ length: 12 }, (_, n) => `line ${n}\t${'x'.repeat(90)}`).join('\r\n'),
  license: 'Apache',
};

t.test('show cuts a template to the screen, and no field drives the terminal', async (t) => {
  const show = { args: ['show', 'qwen3:4b'], answers: { 'runner/models/show': () => shown } };
  const piped = await runOnce(show);
  t.match(piped.out, /<\|im_end\|>␛\[31m\n\nSystem\n {2}Be brief\.␛\]0;title␇\n/);
  t.match(piped.out, `line 11\t${'x'.repeat(90)}\n`, 'a program gets all of it');
  const screen = startTerminal({ ...show, isScreen: true, columns: 40 });
  t.equal(await screen.ended, 0);
  t.match(screen.stdout.plain(), /Template\n {2}line 0 {2}x{28}…\n/);
  t.match(screen.stdout.plain(), / {2}line 7 .*…\n {2}… 4 more lines\n\nLicense/);
  const lines = screen.stdout.plain().split('\n');
  t.ok(lines.every((line) => columnsOf(line) < 46));
});

t.test('a server that is no Ollama: its product, its windows, and what it cannot do', async (t) => {
  const by = (can: readonly string[], product = 'llama.cpp'): object => ({
    status: { state: 'online', kind: 'ok', message: 'X answers.', version: 'b1', product, can },
  });
  const guessed = { value: true, from: 'name' } as const;
  const said = {
    tools: { value: true, from: 'configured' },
    insert: { value: false, from: 'configured' },
  } as const;
  const one = model('smol', {
    capabilities: { ...model('x').capabilities, vision: guessed, ...said },
    context: { allocated: 4096, from: 'assumed' },
    loading: { percent: 41.6 },
  });
  const llama = by(['chat', 'complete', 'count']);
  const run = (args: readonly string[], more: object) => runOnce({ args, models: [one], ...llama, ...more });
  const list = await run(['models'], {});
  t.match(list.out, /\nsmol .* 4096 assumed .* loading, 42 %\n$/);
  t.equal(list.error, '', 'nothing beside the table for a program');
  const screen = await run(['models'], { isScreen: true });
  t.equal(screen.error, '\u001b[2mServed by llama.cpp b1\u001b[22m\n');
  t.hasStrict((await run(['models', '--json'], {})).events(), [
    { name: 'smol', product: 'llama.cpp', context: { from: 'assumed' }, loading: { percent: 41.6 } },
  ]);
  const answers = { 'runner/models/show': () => ({ model: one }) };
  const page = (await run(['show', 'smol'], { answers })).out;
  const learnt = 'tools as configured, vision by its name, no insert as configured, context assumed';
  t.match(page, new RegExp(`context +4096 tokens\n +learnt +${learnt}\n`));
  t.match(page, /served by +llama\.cpp\n +loaded +loading, 42 %\n/);
  t.hasStrict((await run(['show', 'smol', '--json'], { answers })).events(), [{ product: 'llama.cpp' }]);
  const none = { models: [] };
  t.match((await run(['models'], none)).error, /^No model is installed\. Load one in the program/);
  t.equal((await run(['ps'], none)).error, 'No model is loaded. The first question loads one.\n');
  t.match((await run(['chat', 'hi'], none)).error, /no model yet\. Load one in the program/);
  const asked = startTerminal({ args: ['rm', 'smol'], isScreen: true, models: [one], ...llama });
  t.equal(await asked.ended, 1);
  t.match(
    asked.stderr.plain(),
    /^llama\.cpp cannot delete models\. Start llama-server/,
    'no question before it',
  );
});

t.test('models: the current list, or the last known one', async (t) => {
  for (const stale of [false, true]) {
    const asked: unknown[] = [];
    const list = ({ params }: Asked) => {
      asked.push(params);
      return { models, stale };
    };
    const { code, out, error } = await runOnce({ args: ['models'], answers: { 'runner/models/list': list } });
    t.equal(code, 0);
    t.match(out, /^MODEL .*\nqwen3:4b .*\nm:1b .* 4\.1 GB, on the GPU\n$/);
    t.equal(error, stale ? 'The runner does not answer; this is the last known list.\n' : '');
    t.strictSame(asked, [{ refresh: true, everywhere: true }]);
  }
});

t.test('an unknown model is reported with similar names', async (t) => {
  const embeds = modelLike('embed:1b', {}, { completion: no, embedding: yes });
  for (const [command, method] of [
    ['show', 'show'],
    ['run', 'run'],
    ['stop', 'stop'],
    ['rm', 'delete'],
  ]) {
    const { code, error } = await runOnce({
      args: [`${command}`, 'qwen3', ...(command === 'rm' ? ['--yes'] : [])],
      models: [...models, embeds],
      answers: { [`runner/models/${method}`]: notFound },
    });
    t.equal(code, 1, `${command}`);
    t.match(error, /"qwen3"\. Did you mean qwen3:4b\? Installed: qwen3:4b, m:1b, embed:1b\.\n$/);
  }
});

const entries: readonly CatalogEntry[] = [
  {
    name: 'qwen3',
    model: 'qwen3',
    description: `Small and good at ${'very '.repeat(20)}much\u001b[2J.`,
    capabilities: ['tools', 'thinking'],
    sizes: ['4b', '8b'],
    url: 'https://x/qwen3',
    family: 'qwen',
    installed: true,
  },
  { name: 'b', model: 'b:cloud', url: 'https://x/b', family: 'b', installed: false },
];

t.test('library', async (t) => {
  let asked: unknown;
  const answer = ({ params }: Asked) => {
    asked = params;
    return { entries, fetchedAt: '2026-11-20T09:30:00Z', stale: true };
  };
  const answers = { 'runner/models/library': answer, 'runner/models/cloud': answer };
  const env = { XDG_CACHE_HOME: '/var/cache/me' };
  const piped = await runOnce({ args: ['library', ' small', 'ones '], answers, env });
  t.strictSame([asked, piped.code], [{ query: 'small ones' }, 0]);
  if (has('slashes')) t.equal(piped.started[0]?.options.cacheDir, '/var/cache/me/runner');
  t.match(
    piped.out,
    /^NAME +CAN +SIZES +DESCRIPTION\nqwen3 \* {2}tools thinking {2}4b 8b {2}Small.*much␛\[2J\.\nb:cloud\n$/,
  );
  t.match(
    piped.error,
    /^This is the list of 2026-11-20 09:30; the catalog does not answer\.\n\* is installed/,
  );
  const screen = startTerminal({
    ...{ args: ['library', '--cloud', '--refresh'], answers, env: { HOME: '/home/me' } },
    ...{ isScreen: true, columns: 50 },
  });
  t.equal(await screen.ended, 0);
  t.strictSame(asked, { refresh: true });
  if (has('slashes')) t.equal(screen.started[0]?.options.cacheDir, '/home/me/.cache/runner');
  const lines = screen.stdout.plain().split('\n');
  t.ok(lines.every((line) => columnsOf(line) <= 50));
  t.match(lines[1], /…$/);
  const none = { 'runner/models/library': () => ({ entries: [], fetchedAt: '' }) };
  const empty = await runOnce({ args: ['library', 'x\u001b'], answers: none, env: { HOME: '' } });
  t.match(empty, { code: 0, error: 'The catalog has nothing for "x␛".\n' });
  t.equal(empty.started[0]?.options.cacheDir, undefined);
});

t.test('pull in a script prints each tenth and each new message once', async (t) => {
  const answers = { 'runner/models/pull': work(pullReports) };
  t.match(await runOnce({ args: ['pull', 'qwen3:4b'], answers }), {
    ...{ code: 0, out: '' },
    error: `Looking up the model
Downloading 3e4cb1417446: 0.2 of 2.5 GB (8 %)
Downloading 3e4cb1417446: 0.3 of 2.5 GB (12 %)
Downloading 3e4cb1417446: 1.5 of 2.5 GB (60 %)
Checking␛[2J what was downloaded (99 %)
Pulled qwen3:4b.
`,
  });
  const dumb = await runOnce({ args: ['pull', 'm'], isScreen: true, env: { TERM: 'dumb' }, answers });
  t.equal(dumb.code, 0);
  t.notMatch(dumb.error, '\u001b');
});

t.test('pull with --json', async (t) => {
  const answers = { 'runner/models/pull': work(pullReports) };
  const done = await runOnce({ args: ['pull', 'm', '--json'], isScreen: true, answers });
  t.strictSame(done.events(), [
    ...pullReports.map((report) => ({ event: 'progress', ...report })),
    { event: 'done', model: 'm' },
  ]);
  t.strictSame([done.code, done.error], [0, '']);
  const refuse = { 'runner/models/pull': failure(-33004, 'model-not-found', 'The registry has no "m".') };
  const failed = await runOnce({ args: ['pull', 'm', '--json'], answers: refuse });
  t.equal(failed.code, 1);
  t.hasStrict(failed.events(), [{ event: 'error', kind: 'model-not-found' }]);
  const cut = startTerminal({
    args: ['pull', 'm', '--json'],
    input: '',
    answers: {
      'runner/models/pull': async (asked: Asked) => {
        await work(pullReports.slice(0, 1))(asked);
        return untilCancelled(asked);
      },
    },
  });
  await cut.stdout.until(/Looking/);
  cut.interrupt();
  t.equal(await cut.ended, 130);
  t.strictSame(cut.stdout.events().at(-1), { event: 'cancelled', model: 'm' });
});

t.test('pull on a screen draws bars, and leaves a sentence and a cursor however it ends', async (t) => {
  const ends = [
    { name: 'done', answer: work(pullReports), code: 0, says: 'Pulled m.\n' },
    {
      name: 'failed',
      async answer(asked: Asked) {
        await work(pullReports)(asked);
        return failure(-33009, 'runner-failed', 'The disk is full.')();
      },
      code: 1,
      says: 'The disk is full.\n',
    },
    {
      name: 'cancelled',
      async answer(asked: Asked) {
        await work(pullReports.slice(0, 3))(asked);
        return untilCancelled(asked);
      },
      code: 130,
      says: 'Stopped. What was downloaded is kept; pulling again goes on from there.\n',
    },
  ];
  const sizes = [
    { columns: 80, rows: 24 },
    { columns: 24, rows: 3 },
    { columns: 0, rows: 0 },
  ];
  for (const size of sizes)
    for (const { name, answer, code, says } of ends) {
      const run = startTerminal({
        args: ['pull', 'm'],
        isScreen: true,
        ...size,
        answers: { 'runner/models/pull': answer },
      });
      if (name === 'cancelled') {
        await run.stderr.until(/9 %|9…/);
        run.stderr.stream.emit('resize');
        run.interrupt();
      }
      t.equal(await run.ended, code, `${name} at ${size.columns}`);
      const screen = new TerminalScreen(size.columns === 0 ? {} : size).write(run.stderr.text());
      if (size.columns === 80 || size.columns === 0) t.equal(screen.text(), says);
      t.ok(screen.isCursorShown);
      t.ok(squeeze(says).endsWith(squeeze(screen.text())), 'nothing of the bars is left');
      t.equal(run.stdout.text(), '');
      t.notMatch(run.stderr.text(), '\u001b[2J', 'the runner drives no terminal');
      t.notMatch(run.stderr.text(), '\u001b[0A', 'which would go up by one row');
    }
});

t.test('a second Ctrl-C leaves at once', async (t) => {
  const deaf = async (asked: Asked) => {
    await work(pullReports.slice(0, 3))(asked);
    return new Promise(() => undefined);
  };
  for (const command of ['pull', 'create', 'run']) {
    const run = startTerminal({
      args: [command, 'm'],
      isScreen: true,
      answers: { [`runner/models/${command}`]: deaf },
    });
    await run.stderr.until(command === 'run' ? /Loading m …/ : /total/);
    run.interrupt();
    run.interrupt();
    t.equal(await run.ended, 130, command);
    t.ok(new TerminalScreen().write(run.stderr.text()).isCursorShown);
  }
});

const mistakes = [
  {
    range: { start: { line: 1, character: 0 }, end: { line: 1, character: 5 } },
    message: '"PARMA" is not a command.',
    severity: 1,
  },
  {
    range: { start: { line: 2, character: 8 }, end: { line: 3, character: 1 } },
    message: 'It does\nnot end.',
    severity: 2,
  },
] as const;

t.test('create', async (t) => {
  let asked: Record<string, unknown> = {};
  const create = (asking: Asked) => {
    asked = asking.params;
    return work([{ message: 'Reading the Modelfile' }])(asking);
  };
  const answers = { 'runner/models/create': create };
  t.match(await runOnce({ args: ['create', 'mine'], answers }), {
    ...{ code: 0, error: 'Reading the Modelfile\nCreated mine.\n' },
  });
  t.hasStrict(asked, { model: 'mine', path: resolve('Modelfile'), text: undefined });
  const piped = await runOnce({ args: ['create', 'mine', '-f', '-', '--json'], input: 'FROM m\n', answers });
  t.hasStrict(asked, { text: 'FROM m\n', path: undefined });
  t.strictSame(piped.events(), [
    { event: 'progress', message: 'Reading the Modelfile' },
    { event: 'done', model: 'mine' },
  ]);
  const path = join(folder, 'Modelfile');
  writeFileSync(path, 'FROM m\r\nPARMA\ttemperature\u001b 1\r\nSYSTEM\t"日本語 x\r\n');
  const wrong = {
    'runner/models/create': failure(-33010, 'invalid-modelfile', 'The Modelfile has a mistake.', {
      diagnostics: mistakes,
    }),
  };
  const createFrom = (...more: readonly string[]) =>
    runOnce({ args: ['create', 'mine', '-f', ...more], input: 'FROM m\nPARMA', answers: wrong });
  const problem = 'The Modelfile has a mistake.';
  t.match(await createFrom(path), {
    code: 1,
    error: `${path}:2:1: "PARMA" is not a command.
PARMA temperature␛ 1
^~~~~
${path}:3:9: warning: It does not end.
SYSTEM "日本語 x
        ^~~~~~~~
${problem}
`,
  });
  const json = await createFrom(path, '--json');
  t.hasStrict(json.events(), [{ event: 'error', kind: 'invalid-modelfile', diagnostics: mistakes }]);
  t.match(json, { code: 1, error: `${problem}\n` });
  t.match(await createFrom('-'), {
    code: 1,
    error: /^<stdin>:2:1: "PARMA" is not a command\.\nPARMA\n\^~~~~\n/,
  });
  t.match(await createFrom('not/there'), { code: 1, error: /^not\/there:2:1: .*\nnot\/there:3:9/ });
});

t.test('cp', async (t) => {
  let asked: unknown;
  const create = ({ params }: Asked) => {
    asked = params;
    return { model: 'mine' };
  };
  const copy = (name: string) =>
    runOnce({ args: ['cp', 'qwen3:4b', name], models, answers: { 'runner/models/create': create } });
  t.match(await copy('mine'), { code: 0, error: 'Created mine.\n' }, 'and nothing about Modelfiles');
  t.strictSame(asked, { server: 'default', model: 'mine', text: 'FROM qwen3:4b\n' });
  t.match(await copy('QWEN3:4b'), {
    code: 2,
    error: /"QWEN3:4b" is the name of the model itself\. Give it ano/,
  });
});

t.test('run and stop', async (t) => {
  let asked: unknown;
  const loaded = model('m:1b', { running, context: { allocated: 4096, maximum: 131072 } });
  const answers = {
    'runner/models/run': ({ params }: Asked) => {
      asked = params;
      return { model: loaded };
    },
    'runner/models/stop': () => ({}),
  };
  t.match(await runOnce({ args: ['run', 'm:1b', '--keep-alive', '10m'], answers }), {
    ...{ code: 0, error: 'Loading m:1b …\n' },
    out: 'm:1b is loaded: 4.1 GB, on the GPU, 4096 of 131072 tokens, until 13:05.\n',
  });
  t.strictSame(asked, { model: 'm:1b', keepAlive: '10m' });
  const prompts: unknown[] = [];
  const piped = await runOnce({
    ...{ args: ['run', 'm:1b'], input: '  Why?\n' },
    answers: { 'runner/models/run': () => t.fail('it answers') },
    async chat({ params }) {
      prompts.push(params.model, params.messages);
      return resultOf('');
    },
  });
  t.equal(piped.code, 0);
  t.strictSame(prompts, ['m:1b', [{ role: 'user', content: '  Why?' }]], 'what is piped in is a prompt');
  t.match(await runOnce({ args: ['run', 'm:1b'], input: ' \n', answers }), { code: 0, out: /is loaded/ });
  const screen = await runOnce({ args: ['run', 'm:1b'], isScreen: true, answers });
  t.equal(new TerminalScreen().write(screen.error).text(), '', 'the status is gone again');
  const json = await runOnce({ args: ['run', 'm:1b', '--json'], answers });
  t.strictSame(json.events(), [{ event: 'done', model: loaded }]);
  const stop = await runOnce({ args: ['stop', 'm:1b\u001b'], answers });
  t.match(stop, { code: 0, out: 'm:1b␛ is unloaded.\n' });
});

t.test('rm asks first, and a no deletes nothing', async (t) => {
  let asked: unknown[] = [];
  const listed: unknown[] = [];
  const answers = {
    'runner/models/delete': ({ params }: Asked) => {
      asked.push(params);
      return {};
    },
    'runner/models/list': ({ params }: Asked) => {
      listed.push(params);
      return { models };
    },
  };
  const cases = [
    { name: 'qwen3:4b', typed: 'y\r', code: 0, sent: [{ model: 'qwen3:4b' }] },
    { name: 'M:1B', typed: 'Yes\r', code: 0, sent: [{ model: 'm:1b', stop: true }] },
    { name: 'qwen3:4b', typed: '\r', code: 1, sent: [] },
    { name: 'qwen3:4b', typed: '\u0004', code: 1, sent: [] },
    { name: 'qwen3:4b', typed: '\u0003', code: 130, sent: [] },
  ];
  for (const { name, typed, code, sent } of cases) {
    asked = [];
    const run = startTerminal({ args: ['rm', name], isScreen: true, models, answers });
    await run.stderr.until(/\[y\/N\] /);
    run.type(typed);
    t.equal(await run.ended, code, JSON.stringify(typed));
    t.strictSame(asked, sent);
    if (name === 'M:1B')
      t.match(run.stderr.plain(), 'It is loaded and will be stopped.\nDelete m:1b (1.0 GB)? [y/N] ');
    else t.match(run.stderr.plain(), /^Delete qwen3:4b \(2\.5 GB\)\? \[y\/N\] /);
    if (code === 0) t.match(run.stdout.text(), /^\S+ is deleted\.\n$/);
    else t.match(run.stderr.plain(), /\n(\r)?Nothing was deleted\.\n$/);
  }
  t.strictSame(
    listed,
    Array(cases.length).fill({ refresh: true, everywhere: true }),
    'what is told of it is so now',
  );
  asked = [];
  const sure = await runOnce({ args: ['rm', 'm:1b', '-y', '--json'], models, answers });
  t.strictSame(asked, [{ model: 'm:1b' }]);
  t.strictSame(sure.events(), [{ event: 'done', model: 'm:1b' }]);
  const busy = { 'runner/models/delete': failure(-33007, 'busy', 'm:1b is loaded. Stop it first.') };
  t.match(await runOnce({ args: ['rm', 'm:1b', '--yes'], models, answers: busy }), {
    ...{ code: 1, error: 'm:1b is loaded. Stop it first.\n' },
  });
  const hostile = startTerminal({
    args: ['rm', 'x\u001b[2J'],
    isScreen: true,
    models: [model('x\u001b[2J')],
  });
  await hostile.stderr.until(/Delete x␛\[2J\? \[y\/N\] /);
  hostile.type('\r');
  t.equal(await hostile.ended, 1);
});

t.test('logs', async (t) => {
  const lines = [
    { level: 'info', source: 'server', message: '12:00 up\u001b[2J' },
    { level: 'error', source: 'daemon', message: 'not of the server' },
    { level: 'error', source: 'server', message: '12:01 down' },
  ];
  const answers = {
    'runner/logs/start': async ({ notify }: Asked) => {
      for (const line of lines) await notify('runner/log', line);
      return { source: '/var/log/ollama.log' };
    },
  };
  const follow = async (options: TerminalOptions) => {
    const run = startTerminal({ answers, ...options });
    await run.stderr.until(/Following/);
    await run.stdout.until(/down/);
    run.interrupt();
    t.equal(await run.ended, 0);
    return run;
  };
  const plain = await follow({ args: ['logs'], input: '' });
  t.equal(plain.stdout.text(), '12:00 up␛[2J\n12:01 down\n');
  t.equal(plain.stderr.text(), 'Following /var/log/ollama.log. Ctrl-C ends it.\n');
  const screen = await follow({ args: ['logs'], isScreen: true });
  t.match(screen.stdout.text(), '\u001b[31m12:01 down\u001b[39m\n');
  const json = await follow({ args: ['logs', '--json'], input: '' });
  t.strictSame(json.stdout.events(), [
    { level: 'info', message: '12:00 up\u001b[2J' },
    { level: 'error', message: '12:01 down' },
  ]);
  const none = { 'runner/logs/start': failure(-33005, 'not-supported', 'The runner is elsewhere.') };
  t.match(await runOnce({ args: ['logs'], answers: none }), { code: 1, error: 'The runner is elsewhere.\n' });
});

t.test('a slow reader of the logs pauses the daemon', async (t) => {
  const count = 400;
  const run = startTerminal({
    args: ['logs'],
    input: '',
    answers: {
      'runner/logs/start': async ({ notify }: Asked) => {
        const message = 'x'.repeat(200);
        for (let n = 0; n < count; n++)
          await notify('runner/log', { level: 'info', source: 'server', message: `${n} ${message}` });
        return { source: 'x' };
      },
    },
  });
  run.stdout.stream.pause();
  while (!run.started[0]?.isPaused()) await new Promise((resolve) => setImmediate(resolve));
  t.ok(run.stdout.stream.writableLength + run.stdout.stream.readableLength < 8_192, 'little is buffered');
  run.stdout.stream.resume();
  await run.stdout.until(new RegExp(`^${count - 1} `, 'm'));
  run.interrupt();
  t.equal(await run.ended, 0);
  t.equal(run.stdout.text().split('\n').length, count + 1);
});

t.test('candidates for the word at the cursor, which no daemon is asked for', async (t) => {
  const inFolder = join(folder, 'candidates');
  mkdirSync(inFolder);
  for (const name of ['a b.txt', 'plain.txt', '.hidden']) writeFileSync(join(inFolder, name), '');
  const complete = async (words: readonly string[], cwd = process.cwd()) => {
    const { code, out, error, started } = await runOnce({ args: ['__complete', '--', ...words], cwd });
    t.strictSame([code, started.length, error], [0, 0, '']);
    return out.split('\n').slice(0, -1);
  };
  const cases = [
    { words: ['s'], want: ['show', 'stop', 'sessions'] },
    { words: ['mcp', ''], want: ['login', 'logout'] },
    { words: ['completion', '""'], want: ['bash', 'zsh', 'fish', 'powershell'] },
    { words: ['rm', '--'], want: ['--yes', '--server', '--practice', '--json', '--help', '--version'] },
    { words: ['ls', '--j'], want: ['--json'] },
    { words: ['chat', '--think', ''], want: [] },
    { words: ['chat', '--think=h'], want: ['--think=high'] },
    { words: ['chat', '--', '--think=h'], want: [] },
    { words: ['chat', '--option', 'repeat'], want: ['repeat_penalty=', 'repeat_last_n='] },
    { words: ['chat', '--option=see'], want: ['--option=seed='] },
    { words: ['chat', '--system', '@package.j'], want: ['@package.json'] },
    { words: ['chat', '--system', '@dae'], want: ['@daemon/'] },
    { words: ['chat', '--system=@daemon/mai'], want: ['--system=@daemon/main.ts'] },
    { words: ['--mod'], want: ['--model', '--mode'] },
    { words: ['__'], want: [] },
  ];
  for (const { words, want } of cases)
    t.strictSame(
      (await complete(words)).map((line) => line.split('\t')[0]),
      want,
      words.join(' '),
    );
  const meanings = [
    { words: ['ps'], want: ['ps\twhich models are loaded, and until when'] },
    { words: ['rm', '--y'], want: ['--yes\tdeletes without a question'] },
    { words: ['chat', '--system', '@'], want: ['@plain.txt'] },
    { words: ['chat', '--system', '@.'], want: ['@.hidden'] },
  ];
  for (const { words, want } of meanings)
    t.strictSame(await complete(words, inFolder), want, words.join(' '));
});

t.test('the script for bash completes names with colons', where('sh'), async (t) => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const script = join(folder, 'completion.bash');
  writeFileSync(script, (await runOnce({ args: ['completion', 'bash'] })).out);
  writeFileSync(
    join(bin, 'runner'),
    '#!/bin/sh\nshift 2\nprintf "%s|" "$@" >> "$ASKED"\nprintf "qwen3:4b\\t2.5 GB\\nqwen3:8b\\n"\n',
  );
  chmodSync(join(bin, 'runner'), 0o755);
  const complete = (line: string, breaks: string) => {
    const asked = join(folder, 'asked');
    rmSync(asked, { force: true });
    const { stdout } = spawnSync(
      'bash',
      [
        '--norc',
        '-c',
        `source "$1"; COMP_LINE=$2; COMP_POINT=\${#2}; COMP_WORDBREAKS=$3; _runner_complete
         printf '%s\\n' "\${COMPREPLY[@]}"; cat "$ASKED" 2> /dev/null`,
        'bash',
        script,
        line,
        breaks,
      ],
      { encoding: 'utf8', env: { PATH: `${bin}:${process.env['PATH']}`, ASKED: asked } },
    );
    return stdout.trim().split('\n');
  };
  t.strictSame(complete('runner show ', ' :='), ['qwen3:4b', 'qwen3:8b', 'show||']);
  t.strictSame(complete('runner  show qwen3:', ' :='), ['4b', '8b', 'show|qwen3:|']);
  t.strictSame(complete('runner show qwen3:', ' ='), ['qwen3:4b', 'qwen3:8b', 'show|qwen3:|']);
  t.strictSame(complete('runner create x -f Mod', ' :='), [''], 'a file is left to bash');
  t.strictSame(complete('runner chat --format js', ' :='), ['json']);
  t.strictSame(complete('runner chat --format package.j', ' :='), ['package.json'], 'a schema is a file');
});
