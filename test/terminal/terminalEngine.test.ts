import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { ResponseError } from 'vscode-jsonrpc';
import { waysTo } from '../../daemon/engine/engine.ts';
import type { EngineModel, EngineOffers, EngineStatus } from '../../protocol/messages/engine.ts';
import { defaultHost } from '../../protocol/messages/settings.ts';
import type { Status } from '../../protocol/messages/status.ts';
import { modelLike } from '../support/modelLike.ts';
import {
  type Asked,
  offline,
  resultOf,
  startTerminal,
  type TerminalOptions,
  type Turn,
} from './terminalPeer.ts';

const library = {
  isThere: false,
  bytes: 85_000_000,
  from: 'the npm registry https://npm.example/',
  licenses: 'MIT (97)',
  packages: 117,
  folder: '/data/engine',
};
const sample = {
  ...library,
  bytes: 92_900_000,
  packages: 1,
  licenses: 'Apache-2.0',
  from: 'the Python package x',
};
const ollama = { product: 'ollama', path: '/usr/bin/ollama', version: '0.31.4' } as const;
const llama = { product: 'llama.cpp', path: '/usr/bin/llama-server', version: '9937' } as const;
const weights = { name: 'qwen3', path: '/m/qwen3.gguf', size: 4e9, fits: true, source: 'LM Studio' } as const;
const running: EngineStatus = {
  state: 'running',
  message: "Runner's own engine runs at http://127.0.0.1:5 with small.",
  isInstalled: true,
};

/** A terminal whose daemon says this about the engine, and what it was asked to do. */
function begin(
  offers: Partial<EngineOffers>,
  {
    answers = {},
    models = [],
    ...options
  }: TerminalOptions & { readonly found?: readonly EngineModel[] } = {},
) {
  const asked: (readonly [string, object])[] = [];
  const note = (method: string, result: object) => [
    `runner/engine/${method}`,
    ({ params: { workDoneToken: _, ...params } }: Asked) => {
      asked.push([method, params]);
      return result;
    },
  ];
  const { found = [], ...rest } = options;
  const there = { programs: [], library, sample, ...offers };
  const run = startTerminal({
    ...rest,
    models,
    answers: {
      'runner/engine/offers': () => ({
        ...there,
        ways: waysTo({ ...there, models: found, samplePath: '/data/small.gguf' }),
      }),
      'runner/engine/models': () => ({ models: found }),
      ...Object.fromEntries([
        note('install', { folder: '/data/engine' }),
        note('sample', { path: '/data/small.gguf' }),
        note('start', running),
        note('stop', { wasRunning: true }),
        note('remove', { wasThere: true }),
      ]),
      ...answers,
    },
  });
  return { run, asked };
}

async function say({ send }: Turn) {
  await send({ kind: 'text', text: 'Hello.' });
  return resultOf('Hello.');
}

/** A request that only a cancel ends, which comes at once. */
function cancelledBy(interrupt: () => void, { token }: Asked) {
  return new Promise((resolve) => {
    token.onCancellationRequested(() => resolve(new ResponseError(-32800, 'The request was cancelled.')));
    interrupt();
  });
}

const small = modelLike('small');
t.test('a script is told what starts the engine that is installed, or starts it', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'runner-own-'));
  t.teardown(() => rmSync(data, { recursive: true, force: true }));
  mkdirSync(join(data, 'runner', 'engine'), { recursive: true });
  const status: Status = { state: 'offline', kind: 'error', message: `No runner answers at ${defaultHost}.` };
  for (const keepRunning of [false, true]) {
    const settings = [{ name: 'engine', value: { keepRunning }, from: 'file' }];
    const { run, asked } = begin(
      {},
      {
        ...{
          args: ['chat', 'hi'],
          input: '',
          status,
          models: [small],
          chat: say,
          env: { XDG_DATA_HOME: data },
        },
        answers: { 'runner/settings/list': () => ({ path: '/c', settings }) },
      },
    );
    t.equal(await run.ended, keepRunning ? 0 : 1);
    t.strictSame(asked, keepRunning ? [['start', { keep: true }]] : []);
    t.equal(/Start it with "runner engine start", or/.test(run.stderr.text()), !keepRunning);
  }
});

const newcomer = { args: ['chat', 'hi'], isScreen: true, status: offline, models: [small], chat: say };

t.test('two keys take a newcomer to a real model', async (t) => {
  const { run, asked } = begin({}, newcomer);
  await run.stderr.until(/\[s, g, p\]: $/);
  t.match(run.stderr.plain(), /^No runner answers at X\.\r?\nWhat would you like\?/);
  t.match(
    run.stderr.plain(),
    /s {2}a small real model here, now \(178 MB\)\n {2}g {2}get Ollama: how\n {2}p {2}the practice/,
  );
  run.type('xg');
  await run.stderr.until(/https:\/\/ollama\.com\/download.*Press a key \[s, g, p\]: $/s);
  t.strictSame(asked, [], 'an offer fetches nothing');
  run.type('s');
  await run.stderr.until(/Fetch it\? \[y\/N\] $/);
  const said = run.stderr.plain().replace(/\s+/g, ' ');
  t.match(
    said,
    'This fetches about 85.0 MB (117 packages; licenses: MIT (97)) from the npm registry https://npm.example/, into /data/engine.',
  );
  t.match(said, 'answers are often wrong');
  run.type('y');
  t.equal(await run.ended, 0);
  t.strictSame(asked, [
    ['install', {}],
    ['sample', {}],
    ['start', { product: 'runner-engine', model: '/data/small.gguf' }],
  ]);
  t.strictSame(
    run.started.map(({ flags }) => flags),
    [[]],
    'the same daemon goes on',
  );
  t.notMatch(run.stderr.plain(), 'practice runner.\n');
});

t.test('nothing is fetched or started without a yes', async (t) => {
  for (const keys of [['s', 'n', 'p'], ['s', '\r', 'p'], ['p']]) {
    const { run, asked } = begin({}, newcomer);
    let count = 0;
    for (const key of keys) {
      count += 1;
      await run.stderr.until(
        new RegExp(`(?:(?:Press a key|Fetch it\\?).*){${count}}(?:\\]|N\\])[: ]*$`, 's'),
      );
      run.type(key);
    }
    t.equal(await run.ended, 0);
    t.strictSame(asked, [], keys.join());
    t.strictSame(run.started.at(-1)?.flags, ['--practice']);
    t.equal(run.stderr.plain().split('No runner answers').length, 2, 'what is wrong is said once');
  }
  const left = begin({}, newcomer);
  await left.run.stderr.until(/\]: $/);
  left.run.type('\u0003');
  t.equal(await left.run.ended, 130, 'Ctrl-C leaves');
  for (const given of [
    { input: '' },
    { args: ['chat', '--practice', 'hi'] },
    { isScreen: false, args: [] },
  ]) {
    const silent = begin({}, { ...newcomer, ...given });
    await silent.run.ended;
    t.notMatch(silent.run.stderr.plain(), 'Press a key', JSON.stringify(given));
  }
});

t.test('what is installed is started with one key', async (t) => {
  for (const [offers, found, key, label, want] of [
    [{ programs: [ollama] }, [], 'o', /o {2}start Ollama 0\.31\.4, which is/, { product: 'ollama' }],
    [
      { programs: [llama] },
      [weights],
      'l',
      /l {2}start llama-server 9937, which is installed, with qwen3 \(4\.0 GB\)/,
      { product: 'llama.cpp', model: weights.path },
    ],
    [
      { library: { ...library, isThere: true }, sample: { ...sample, isThere: true } },
      [],
      's',
      /s {2}a small real model here, now \(installed\)/,
      { product: 'runner-engine', model: '/data/small.gguf' },
    ],
    [
      { library: { ...library, isThere: true }, sample: { ...sample, problem: 'No pip.' } },
      [weights],
      's',
      /s {2}start qwen3 here, with an engine of Runner's own \(installed\)/,
      { product: 'runner-engine', model: weights.path },
    ],
  ] as const) {
    const { run, asked } = begin(offers, { ...newcomer, found });
    await run.stderr.until(/\]: $/);
    t.match(run.stderr.plain(), label);
    run.type(key);
    t.equal(await run.ended, 0);
    t.strictSame(asked.at(-1), ['start', want]);
  }
  const { run } = begin({ library: { ...library, problem: 'This system has musl.' } }, newcomer);
  await run.stderr.until(/\[g, p\]: $/);
  run.type('p');
  t.equal(await run.ended, 0, 'what cannot run here is not offered');
});

t.test('what fails to start says so, and another key can be pressed', async (t) => {
  let tries = 0;
  const failure = new ResponseError(-33009, 'It does not start.', {
    kind: 'runner-failed',
    retryable: false,
  });
  const start = () => (++tries === 1 ? failure : running);
  const { run } = begin({ programs: [ollama] }, { ...newcomer, answers: { 'runner/engine/start': start } });
  await run.stderr.until(/\]: $/);
  run.type('O');
  await run.stderr.until(/It does not start\.[\s\S]*Press a key.*\]: $/);
  run.type('o');
  t.equal(await run.ended, 0);
  t.equal(tries, 2);
  t.strictSame(
    run.started.map(({ flags }) => flags),
    [[]],
  );
});

t.test('Ctrl-C while something is fetched or started leads back to the keys', async (t) => {
  const steps = ['install', 'sample', 'start'];
  for (const [index, step] of steps.entries()) {
    const untilCancelled = (asked: Asked) => cancelledBy(() => run.interrupt(), asked);
    const { run, asked } = begin({}, { ...newcomer, answers: { [`runner/engine/${step}`]: untilCancelled } });
    await run.stderr.until(/\[s, g, p\]: $/);
    run.type('s');
    await run.stderr.until(/Fetch it\? \[y\/N\] $/);
    run.type('y');
    await run.stderr.until(/Fetch it\?[\s\S]*\[s, g, p\]: $/);
    run.type('p');
    t.equal(await run.ended, 0);
    t.strictSame(
      asked.map(([method]) => method),
      steps.slice(0, index),
      step,
    );
    t.strictSame(run.started.at(-1)?.flags, ['--practice']);
  }
});

t.test('Ctrl-C ends what is being fetched or started', async (t) => {
  for (const [args, left] of [
    [['install', '--yes'], 'Nothing is left of it.'],
    [['start'], 'Nothing was started.'],
  ] as const)
    for (const flags of [[], ['--json']]) {
      const untilCancelled = (asked: Asked) => cancelledBy(() => run.interrupt(), asked);
      const answers = { [`runner/engine/${args[0]}`]: untilCancelled };
      const { run } = begin({}, { args: ['engine', ...args, ...flags], input: '', answers });
      t.equal(await run.ended, 130);
      const isJson = flags.length > 0;
      t.equal(run.stdout.text(), isJson ? '{"event":"cancelled"}\n' : '');
      t.equal(run.stderr.text().split('\n').at(-2), isJson ? undefined : `Stopped. ${left}`);
    }
});

t.test('an installed Ollama without a model gets one', async (t) => {
  const pulled: unknown[] = [];
  const { run, asked } = begin(
    { programs: [ollama] },
    {
      ...newcomer,
      answers: {
        'runner/models/chatModel': () => (pulled.length === 0 ? {} : { model: small }),
        'runner/models/pull': ({ params: { workDoneToken: _, ...params } }) => {
          pulled.push(params);
          return params;
        },
      },
    },
  );
  const question = /no model that can chat yet\..*4 GB of memory\..*Pull qwen3:4b\? \[y\/N\] $/s;
  await run.stderr.until(/\[o, s, p\]: $/);
  run.type('o');
  await run.stderr.until(question);
  run.type('n');
  await run.stderr.until(/"runner engine start" keeps Ollama running.*\[o, s, p\]: $/s);
  t.strictSame(pulled, [], 'without a yes nothing is pulled');
  run.type('o');
  await run.stderr.until(new RegExp(`${question.source.slice(0, -1)}.*${question.source}`, 's'));
  run.type('y');
  t.equal(await run.ended, 0);
  t.strictSame(pulled, [{ model: 'qwen3:4b' }]);
  t.strictSame(
    asked.map(([method]) => method),
    ['start', 'start'],
  );
  t.match(run.stdout.text(), /Hello\./, 'and it answers');
});

t.test('runner engine', async (t) => {
  const engine = (args: readonly string[], options: TerminalOptions = {}) =>
    begin({}, { input: '', ...options, args: ['engine', ...args] });
  for (const [args, want] of [
    [
      ['install', '--yes'],
      ['install', {}],
    ],
    [
      ['sample', '--yes'],
      ['sample', {}],
    ],
    [['start'], ['start', { keep: true }]],
    [
      ['start', 'llama3.2:3b', '--context', '16k', '--threads', '4'],
      ['start', { model: 'llama3.2:3b', context: 16384, threads: 4, keep: true }],
    ],
    [
      ['start', 'org/repo/q4'],
      ['start', { model: 'org/repo/q4', keep: true }],
    ],
    [
      ['start', './a.gguf'],
      ['start', { model: '/projects/here/a.gguf', keep: true }],
    ],
    [['stop'], ['stop', {}]],
    [
      ['remove', '--yes'],
      ['remove', {}],
    ],
  ] as const) {
    const { run, asked } = engine(args);
    t.equal(await run.ended, 0, args.join(' '));
    t.strictSame(asked, [want], args.join(' '));
  }
  for (const [args, problem] of [
    [[], /needs install, models/],
    [['fly'], /Say what to do: runner engine install\|models\|/],
    [['stop', 'now'], /takes no further words/],
    [['stop', '--yes'], /does not take --yes/],
    [['install'], /asks before it fetches anything.*--yes/],
    [['remove'], /asks before it deletes anything.*--yes/],
  ] as const) {
    const { run, asked } = engine(args);
    t.equal(await run.ended, 2, args.join(' '));
    t.match(run.stderr.text(), problem);
    t.strictSame(asked, []);
  }
  for (const isHostNamed of [true, false]) {
    const { run } = engine(['start'], { isHostNamed });
    t.equal(await run.ended, 0);
    t.equal(/not used as long as a setting or OLLAMA_HOST/.test(run.stderr.text()), isHostNamed);
  }
  const models = ({ params }: Asked) => {
    t.strictSame(params, { path: resolve('/projects/here/weights') });
    return { models: [], isCut: true };
  };
  const none = engine(['models', 'weights'], { answers: { 'runner/engine/models': models } });
  t.equal(await none.run.ended, 0);
  t.match(
    none.run.stderr.text().replace(/\s+/g, ' '),
    /has more files than were looked at\..*\(GGUF\) was found/,
  );
  for (const key of ['n', 'y']) {
    for (const [command, question] of [
      ['install', /Fetch these 85\.0 MB\? \[y\/N\] $/],
      ['remove', /Delete the engine and its small model\? \[y\/N\] $/],
    ] as const) {
      const { run, asked } = begin({}, { args: ['engine', command], isScreen: true });
      await run.stderr.until(question);
      run.type(`${key}\r`);
      t.equal(await run.ended, key === 'y' ? 0 : 1);
      t.equal(asked.length, key === 'y' ? 1 : 0);
    }
  }
  for (const [state, code] of [
    ['running', 0],
    ['stopped', 1],
    ['down', 1],
  ] as const) {
    const answers = { 'runner/engine/status': () => ({ state, message: 'So it is.', isInstalled: true }) };
    const status = engine(['status'], { answers });
    t.equal(await status.run.ended, code, state);
    t.equal(status.run.stdout.text(), 'So it is.\nThe engine is installed.\n');
  }
});

t.test('the doctor names what was started, and what could be', async (t) => {
  const status = (state: string) => ({
    'runner/engine/status': () => ({ state, message: 'So it is.', isInstalled: false }),
  });
  const doctor = async (options: TerminalOptions) => {
    const { run } = begin({ programs: [ollama] }, { input: '', args: ['doctor', '--json'], ...options });
    await run.ended;
    return run.stdout.events().filter(({ check }) => check === 'engine' || check === 'installed');
  };
  t.match(await doctor({ status: offline, answers: status('down') }), [
    { check: 'engine', state: 'warn', found: 'So it is.', mend: /engine start/ },
    {
      check: 'installed',
      state: 'warn',
      found: /Ollama 0\.31\.4 is installed, but not running: \/usr\/bin\/ollama/,
    },
  ]);
  t.hasStrict(await doctor({ models: [small], answers: status('running') }), [
    { check: 'engine', state: 'ok' },
  ]);
  t.strictSame(await doctor({ models: [small], answers: status('stopped') }), []);
});
