import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { createEngine } from '../../daemon/engine/engine.ts';
import { type RunningEngine, readLast, readRunning, writeLast } from '../../daemon/engine/engineFile.ts';
import { hold } from '../../daemon/engine/holder.ts';
import { type StartContext, startProcess } from '../../daemon/engine/starting.ts';
import { takeHolders } from '../../daemon/engine/supervisor/holders.ts';
import { commandOf, type Launch } from '../../daemon/engine/supervisor/launch.ts';
import { CannotStartError, startRun } from '../../daemon/engine/supervisor/run.ts';
import { type SupervisorState, supervise } from '../../daemon/engine/supervisor/supervise.ts';
import type { WorkState } from '../../daemon/rpc/workDoneProgress.ts';
import { createProcessGroups } from '../../protocol/base/platform/processGroups.ts';
import type { EngineStartParams } from '../../protocol/messages/engine.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const { pid, platform } = process;

t.test('what is started, if not everything is said', async (t) => {
  const model = { path: '/m', size: 4e9, fits: false, source: 'path' } as const;
  const models = ['Small', 'org/Repo/q4', 'llama3.2:latest', 'qwen3:4b'].map((name) => ({ ...model, name }));
  const library = { 'node_modules/node-llama-cpp/package.json': '{"version":"1.2.3"}' };
  const llama = { product: 'llama.cpp', path: '/bin/llama-server', version: '1' } as const;
  const cases: readonly {
    readonly given: EngineStartParams;
    readonly last?: Parameters<typeof writeLast>[1];
    readonly has?: Readonly<Record<string, string>>;
    readonly want: RegExp;
  }[] = [
    ...(
      [
        ['small', 'Small'],
        ['SMALL', 'Small'],
        ['Q4', 'org/Repo/q4'],
        ['ORG/repo/q4', 'org/Repo/q4'],
        ['Llama3.2', 'llama3.2:latest'],
        ['llama3.2:latest', 'llama3.2:latest'],
        ['qwen3:4b', 'qwen3:4b'],
      ] as const
    ).map(([name, found]) => ({
      given: { product: 'llama.cpp', model: name } as const,
      want: new RegExp(`^${found} has 4\\.0 GB, which does not fit into the memory`),
    })),
    ...['qwen3', '4b', 'mall', 'Repo', 'org/Repo'].map((name) => ({
      given: { product: 'llama.cpp', model: name } as const,
      want: new RegExp(`no model file with the name "${name}"`),
    })),
    { given: {}, want: /^Runner's own engine is not installed/ },
    { given: {}, has: library, want: /^Say which model to start/ },
    {
      given: {},
      has: library,
      last: { product: 'ollama' },
      want: /^Ollama is not installed on this machine/,
    },
    { given: {}, last: { product: 'llama.cpp', model: '/x' }, want: /^llama-server is not installed/ },
    {
      given: {},
      has: library,
      last: { product: 'runner-engine', model: '/x' },
      want: /^asked for the runtime/,
    },
    {
      given: {},
      last: { product: 'runner-engine', model: '/x' },
      want: /^Runner's own engine is not installed/,
    },
  ];
  for (const { given, last, has = {}, want } of cases) {
    const state = await temporaryFolder(t);
    const home = await temporaryFolder(t, has);
    if (last) await writeLast(state, last);
    const context: StartContext = {
      ...{ state, home, programs: { engine: '', supervisor: '' }, keepAlive: () => undefined },
      ...{ report: () => undefined, signal: new AbortController().signal, stop: async () => undefined },
      found: { programs: async () => [], models: async () => ({ models }), running: undefined },
      runtime: async () => {
        throw new Error('asked for the runtime');
      },
    };
    await t.rejects(startProcess(given, context), { message: want }, JSON.stringify(given));
  }
  const state = await temporaryFolder(t);
  await writeLast(state, { product: 'runner-engine', model: '/x', failure: 'It broke.' });
  const found = { programs: async () => [llama], models: async () => ({ models }), running: undefined };
  const context = { ...{ state, home: state, found, programs: { engine: '', supervisor: '' } } };
  await t.rejects(
    startProcess({ model: 'small' }, { ...context, signal: new AbortController().signal } as never),
    { message: /^Small has 4\.0 GB/ },
    'without the own engine, llama-server loads a file',
  );
});

/** Takes what it is to launch, and says that it runs, or what the name of the model wants. */
const supervisorStandIn = `
const { appendFileSync, rmSync, writeFileSync } = require('node:fs');
require('node:readline').createInterface({ input: process.stdin }).once('line', (line) => {
  const { folder, socket, asked } = JSON.parse(line);
  const { product, alias: model } = asked;
  if (model === 'gone') process.exit(1);
  writeFileSync(folder + '/launch.json', line);
  const ready = { state: 'ready', pid: process.pid, url: 'http://127.0.0.1:1' };
  const states = {
    damaged: [{ state: 'failed', message: 'It is damaged.' }],
    endless: [{ state: 'starting' }],
  }[model] ?? [{ state: 'starting' }, { state: 'starting', percent: 0 }, { state: 'starting', percent: 50 }, ready];
  const known = { pid: process.pid, url: ready.url, product, model, socket, context: 9 };
  if (states.includes(ready)) writeFileSync(folder + '/engine.json', JSON.stringify(known), { mode: 0o600 });
  let isKept = false;
  const holders = new Set();
  const end = () => {
    rmSync(folder + '/engine.json', { force: true });
    process.exit();
  };
  const server = require('node:net').createServer((holder) => {
    holders.add(holder);
    for (const state of states) holder.write(JSON.stringify(state) + '\\n');
    holder.on('data', (data) => {
      appendFileSync(folder + '/heard', data);
      isKept ||= String(data).includes('"keep":true');
      if (String(data).includes('"stop":true')) end();
    });
    holder.on('error', () => undefined).on('close', () => holders.delete(holder) && !holders.size && !isKept && end());
  });
  server.listen(socket, () => process.stdout.write('listening\\n'));
});
`;

t.test('what is started is what was asked for, and the last one otherwise', async (t) => {
  const home = await temporaryFolder(t, {
    'node_modules/node-llama-cpp/package.json': '{"version":"1.2.3"}',
    'supervisor.cjs': supervisorStandIn,
  });
  const files = {
    'small.gguf': 'GGUF!',
    'damaged.gguf': 'GGUF',
    'endless.gguf': 'GGUF',
    'gone.gguf': 'GGUF',
  };
  await writeFiles(home, files);
  const models = Object.keys(files).map((file) => ({
    ...{
      name: basename(file, '.gguf'),
      path: join(home, file),
      size: 5,
      fits: true,
      source: 'path' as const,
    },
  }));
  const small = { product: 'runner-engine', model: join(home, 'small.gguf'), alias: 'small' } as const;
  const llama = { product: 'llama.cpp', path: '/bin/llama-server', version: '1' } as const;
  const ollama = { product: 'ollama', path: '/bin/ollama', version: '1' } as const;
  const open = await temporaryFolder(t);
  /** Starts it in a state folder of its own, or in this one. */
  const start = async (
    params: EngineStartParams,
    {
      last,
      running,
      signal = new AbortController().signal,
      state = '',
    }: {
      readonly last?: Parameters<typeof writeLast>[1];
      readonly running?: RunningEngine;
      readonly signal?: AbortSignal;
      readonly state?: string;
    } = {},
  ) => {
    const folder = state || (await temporaryFolder(t));
    if (last) await writeLast(folder, last);
    const said: WorkState[] = [];
    let stops = 0;
    const asked: (string | undefined)[] = [];
    const started = await startProcess(params, {
      ...{
        state: folder,
        home,
        programs: { engine: '/engine.cjs', supervisor: join(home, 'supervisor.cjs') },
      },
      ...{ keepAlive: () => 5, runtime: async () => '/bin/node', signal },
      report: (report) => void said.push(report),
      stop: async () => void (stops += 1),
      found: {
        programs: async () => [ollama, llama],
        models: async (path) => {
          asked.push(path);
          return { models };
        },
        running,
      },
    });
    t.teardown(() => started?.holder.close());
    const launch: Launch | undefined = JSON.parse(
      await readFile(join(folder, 'launch.json'), 'utf8').catch(() => 'null'),
    );
    if (launch) t.strictSame(await readLast(folder), { ...launch.asked, socket: launch.socket });
    return { folder, started, launch, said, stops, asked };
  };
  const message = "Starting Runner's own engine with small";

  await t.test('with all that it needs', async (t) => {
    const { folder, started, launch, said, asked } = await start({ model: 'SMALL', context: 9, threads: 2 });
    const { socket = '' } = launch ?? {};
    t.strictSame(launch, {
      ...{ asked: { ...small, context: 9, threads: 2 }, folder, socket },
      ...{ program: '/engine.cjs', library: home, runtime: '/bin/node', keepAliveSeconds: 5 },
    });
    t.match(socket, new RegExp(`^${folder}/engine-[0-9a-f]{8}\\.sock$`));
    t.match(started?.running, {
      pid: Number,
      url: 'http://127.0.0.1:1',
      product: 'runner-engine',
      model: 'small',
    });
    t.equal(started?.running.socket, socket);
    t.strictSame(said, [
      { message },
      { message, completed: 0, total: 5 },
      { message, completed: 3, total: 5 },
    ]);
    t.strictSame(asked, [undefined], 'by its name');
    t.strictSame((await start({ model: join(home, 'small.gguf') })).asked, [join(home, 'small.gguf')]);
  });

  for (const [name, params, last, want] of [
    ['the last one', {}, { ...small, context: 9, threads: 2 }, { ...small, context: 9, threads: 2 }],
    [
      'with another window',
      { context: 7 },
      { ...small, context: 9, threads: 2 },
      { ...small, context: 7, threads: 2 },
    ],
    ['another model', { model: 'small' }, { ...small, context: 9, threads: 2 }, small],
    [
      'a last one without a name',
      {},
      { product: 'runner-engine', model: small.model },
      { ...small, alias: 'small.gguf' },
    ],
    [
      'another product',
      { product: 'llama.cpp' },
      { ...small, context: 9 },
      { ...small, product: 'llama.cpp', context: 9 },
    ],
    ['Ollama', { product: 'ollama', model: 'small' }, undefined, { product: 'ollama' }],
    ['the last product', {}, { ...small, product: 'llama.cpp' }, { ...small, product: 'llama.cpp' }],
    ['the last product is no reason for a model', { model: 'small' }, { product: 'ollama' }, small],
  ] as const)
    await t.test(name, async (t) => {
      const { launch } = await start(params, last ? { last } : {});
      t.strictSame(launch?.asked, want);
      const programs = { 'runner-engine': '/engine.cjs', 'llama.cpp': llama.path, ollama: ollama.path };
      t.equal(launch?.program, programs[want.product]);
      if (want.product !== 'runner-engine')
        t.strictSame(Object.keys(launch ?? {}).sort(), ['asked', 'folder', 'program', 'socket']);
    });

  await t.test('what runs already is left, and anything else is stopped', async (t) => {
    const running = { pid, url: 'http://127.0.0.1:1', product: 'runner-engine' } as const;
    const last = { ...small, context: 9 };
    for (const [params, isLeft] of [
      [{}, true],
      [{ product: 'runner-engine' }, true],
      [{ product: 'llama.cpp' }, false],
      [{ model: 'small', context: 9 }, true],
      [{ context: 9 }, true],
      [{ model: 'small' }, false],
      [{ context: 8 }, false],
      [{ threads: 3 }, false],
    ] as const) {
      const { started, stops } = await start(params, { last, running });
      t.strictSame([started === undefined, stops], isLeft ? [true, 0] : [false, 1], JSON.stringify(params));
    }
    t.equal((await start({ threads: 3 }, { running: { ...running, product: 'llama.cpp' }, last })).stops, 1);
  });

  await t.test('what cannot be started says why', async (t) => {
    const failed = (why: string) => ({
      data: { kind: 'runner-failed' },
      message: `Runner's own engine could not be started. ${why}`,
    });
    await t.rejects(start({ model: 'damaged' }), failed('It is damaged.'));
    const forgetful = await temporaryFolder(t);
    await t.rejects(start({ model: 'gone' }, { state: forgetful }), {
      message: 'Its supervisor ended at once.',
    });
    t.equal(await readLast(forgetful), undefined);
    const leaving = new AbortController();
    const endless = start({ model: 'endless' }, { signal: leaving.signal, state: open });
    await poll(
      async () => readdir(open),
      (names) => names.includes('launch.json'),
    );
    leaving.abort(new Error('The user left.'));
    await t.rejects(endless, { message: 'The user left.' });
  });

  await t.test('its socket is a new one, whose path is not too long', async (t) => {
    const state = await temporaryFolder(t, {
      'engine-0123abcd.sock': '',
      'engine-0123abcd.sock.txt': '',
      'engine.json': '',
    });
    await start({ model: 'small' }, { state });
    const names = (await readdir(state)).filter((name) => !/^engine-(?!0123abcd)\w{8}\.sock$/.test(name));
    t.strictSame(names.sort(), ['engine-0123abcd.sock.txt', 'engine.json', 'engineLast.json', 'launch.json']);
    const base = await temporaryFolder(t);
    for (const [length, isInside] of [
      [100, true],
      [101, false],
    ] as const) {
      const long = join(base, 'x'.repeat(length - `${base}//engine-01234567.sock`.length));
      const { launch } = await start({ model: 'small' }, { state: long });
      t.equal(launch?.socket.startsWith(long), isInside, String(launch?.socket.length));
      if (launch && !isInside) t.teardown(() => rm(dirname(launch.socket), { recursive: true }));
    }
    const { TMPDIR: usual } = process.env;
    t.teardown(() => {
      if (usual === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = usual;
    });
    const short = await mkdtemp('/tmp/runner-');
    t.teardown(() => rm(short, { recursive: true }));
    const long = join(base, 'x'.repeat(100));
    for (const [length, isRefused] of [
      [65, false],
      [66, true],
    ] as const) {
      process.env['TMPDIR'] = join(short, 'x'.repeat(length - `${short}/`.length));
      await mkdir(process.env['TMPDIR']);
      const starting = start({ model: 'small' }, { state: long });
      if (isRefused)
        await t.rejects(starting, {
          message: / is too long for the path of a socket.* Set XDG_STATE_HOME or TMPDIR/,
        });
      else t.equal((await starting).launch?.socket.length, 100);
    }
  });
});

t.test('daemons find, hold, keep and stop what one of them has started', async (t) => {
  const folder = await temporaryFolder(t, {
    'supervisor.cjs': supervisorStandIn,
    'small.gguf': 'GGUF',
    'damaged.gguf': 'GGUF',
    'data/engine/node_modules/node-llama-cpp/package.json': '{"version":"1.2.3"}',
    'data/engine/runtimes.json': JSON.stringify({
      [`${process.execPath} ${process.version}`]: process.execPath,
    }),
  });
  const at = (name: string) => join(folder, name);
  const [state, data] = [at('state'), at('data')];
  let isKept = false;
  const daemon = () => {
    const programs = {
      engine: '/engine.cjs',
      supervisor: at('supervisor.cjs'),
      lock: resolve('daemon/engine/lock'),
    };
    const engine = createEngine({
      ...{ state, data, programs, platform, own: process.execPath, keepAlive: () => undefined },
      ...{ env: { HOME: folder, PATH: '/nonexistent' }, isKept: () => isKept },
    });
    t.teardown(() => engine.close());
    return engine;
  };
  const said: WorkState[] = [];
  const watcher = {
    report: (report: WorkState) => void said.push(report),
    signal: new AbortController().signal,
  };
  const heard = async () => (await readFile(join(state, 'heard'), 'utf8').catch(() => '')).trim().split('\n');
  const [one, other] = [daemon(), daemon()];
  const stopped = { state: 'stopped', message: 'Nothing that Runner started is running.', isInstalled: true };
  t.strictSame(await one.status(), stopped);
  t.strictSame([await one.find(), await one.stop()], [undefined, false]);
  const { ways, ...offers } = await one.offers();
  t.match(offers, { programs: [], library: { isThere: false }, sample: { isThere: false } });
  t.strictSame(ways, [], 'neither npm nor pip is there');

  const up = {
    ...{ state: 'running', message: "Runner's own engine runs at http://127.0.0.1:1 with small." },
    ...{ product: 'runner-engine', url: 'http://127.0.0.1:1', model: 'small', context: 9, isInstalled: true },
  };
  t.strictSame(await one.start({ model: at('small.gguf') }, watcher), up);
  const found = await other.find();
  t.match(found, { url: up.url, model: 'small' });
  t.strictSame(await one.find(), found);
  said.splice(0);
  t.strictSame(await other.start({}, watcher), up, 'it runs already');
  t.strictSame([said, (await one.find())?.pid], [[], found?.pid]);
  isKept = true;
  await one.keepAsSet();
  await one.keepAsSet();
  isKept = false;
  await one.keepAsSet();
  const wanted = ['{"keepRunning":true}', '{"keepRunning":false}'];
  t.strictSame(await poll(heard, (lines) => lines.length === 2), wanted, 'each change once');
  await one.start({ keep: true }, watcher);
  t.strictSame((await poll(heard, (lines) => lines.length === 3)).at(-1), '{"keep":true}');
  t.equal(await other.stop(), true);
  t.strictSame([await one.status(), await one.find()], [stopped, undefined]);

  await t.rejects(one.start({ model: at('damaged.gguf') }, watcher), {
    message: /could not be started\. It is damaged\.$/,
  });
  t.match(await readLast(state), { alias: 'small' }, 'the next start takes what did start');
  await writeLast(state, { product: 'llama.cpp', failure: 'It ended 3 times in a row.' });
  t.strictSame(await one.status(), {
    ...{
      state: 'down',
      message: 'What Runner started last is down. It ended 3 times in a row.',
      isInstalled: true,
    },
  });
  await one.start({ model: at('small.gguf') }, watcher);
  t.equal(await other.remove(), true);
  t.strictSame(await one.status(), { ...stopped, isInstalled: false });
  t.equal(await readLast(state), undefined, 'what was last is forgotten');
  await t.rejects(stat(data), { code: 'ENOENT' });
  t.equal(await other.remove(), false);
});

t.test('each program is started on loopback, with a key that no argument has', async (t) => {
  const folder = await temporaryFolder(t);
  const launch = { folder, socket: join(folder, 's'), program: '/bin/it', library: '/lib' };
  const model = { model: '/m.gguf', alias: 'm', context: 2048, threads: 2 };
  const engine = await commandOf({ ...launch, asked: { product: 'runner-engine', ...model } }, {});
  t.strictSame([engine.file, engine.args, engine.probe], [process.execPath, ['/bin/it'], undefined]);
  t.strictSame(JSON.parse(engine.input), { library: '/lib', ...model, key: engine.key });
  const llama = await commandOf({ ...launch, asked: { product: 'llama.cpp', ...model } }, {});
  const keyFile = llama.args[llama.args.indexOf('--api-key-file') + 1] ?? '';
  const { port, hostname } = new URL(llama.probe?.url ?? '');
  t.equal(hostname, '127.0.0.1');
  const where = ['--host', hostname, '--port', port, '--api-key-file', keyFile, '--offline', '--alias', 'm'];
  t.strictSame(llama.args, ['-m', '/m.gguf', '-c', '2048', '-t', '2', ...where]);
  t.equal(await readFile(keyFile, 'utf8'), `${llama.key}\n`);
  t.equal((await stat(keyFile)).mode & 0o777, 0o600);
  await llama.cleanUp?.();
  await t.rejects(stat(keyFile), { code: 'ENOENT' });
  t.not(llama.key, engine.key);
  const ollama = await commandOf(
    { ...launch, asked: { product: 'ollama' } },
    { OLLAMA_HOST: '0.0.0.0', A: 'b' },
  );
  t.strictSame([ollama.file, ollama.args, ollama.key], ['/bin/it', ['serve'], undefined]);
  t.match(ollama.env, { OLLAMA_HOST: /^127\.0\.0\.1:\d+$/, A: 'b' });
  t.strictSame(ollama.probe, { url: `http://${ollama.env['OLLAMA_HOST']}`, path: '/' });
  t.strictSame([llama.probe?.path, llama.input, ollama.input], ['/health', '', '']);

  const defaults = { system: 'Be brief.' };
  const own = { ...launch, runtime: '/bin/node', defaults, keepAliveSeconds: 5 };
  const other = await commandOf({ ...own, asked: { product: 'runner-engine' } }, { A: 'b' });
  t.strictSame([other.file, other.env], ['/bin/node', { A: 'b' }]);
  t.strictSame(JSON.parse(other.input), {
    ...{ library: '/lib', defaults, keepAliveSeconds: 5, key: other.key },
  });
  const open = await commandOf({ ...launch, asked: { product: 'llama.cpp', model: '/m.gguf' } }, { A: 'b' });
  const threads = String(Math.max(1, availableParallelism() - 1));
  t.strictSame(open.args.slice(0, 6), ['-m', '/m.gguf', '-c', '8192', '-t', threads]);
  t.strictSame([open.args.includes('--alias'), open.env], [false, { A: 'b' }]);
  const taken = createServer();
  const isTaken = new Promise<void>((resolve) => taken.on('error', () => resolve()));
  await Promise.race([isTaken, new Promise<void>((resolve) => taken.listen(11434, '127.0.0.1', resolve))]);
  t.teardown(() => taken.close());
  const beside = await commandOf({ ...launch, asked: { product: 'ollama' } }, {});
  t.match(
    beside.env['OLLAMA_HOST'],
    /^127\.0\.0\.1:(?!11434$)[1-9]\d+$/,
    'another port, if its own is taken',
  );
});

t.test('a process is ready once it answers, or has ended with its last words', async (t) => {
  const groups = createProcessGroups({ platform: process.platform, env: process.env });
  t.teardown(groups.close);
  const run = (script: string, probe?: { readonly url: string; readonly path: string }) => {
    const loading: number[] = [];
    const command = { file: '/bin/sh', args: ['-c', script], env: {}, input: 'given\n' };
    const started = startRun(probe ? { ...command, probe } : command, groups, (at) => loading.push(at));
    return { ...started, loading };
  };
  const ended = [
    { script: 'exit 3', want: 'exit code 3' },
    {
      script: "printf 'first\\n  \\033[31mlast words\\033[0m  \\n \\n' >&2; exit 4",
      want: 'exit code 4: last words',
    },
    { script: 'kill -KILL $$', want: 'SIGKILL' },
    // Its child holds the pipes.
    { script: "echo 'last words' >&2; sleep 600 & exit 5", want: 'exit code 5: last words' },
  ];
  for (const { script, want } of ended) {
    const { ready, ended: how } = run(script);
    await t.rejects(ready, { message: `It ended before it was ready, with ${want}` });
    t.equal(await how, want);
  }
  const missing = startRun(
    { file: '/no/such/program', args: [], env: {}, input: '' },
    groups,
    () => undefined,
  );
  await t.rejects(missing.ready, { message: /^It ended before it was ready, with spawn .* ENOENT$/ });
  const events = [
    'nonsense',
    '{"event":"loading"}',
    '{"event":"loading","percent":0}',
    '{"event":"loading","percent":50}',
    '{"event":"ready"}',
    '{"event":"ready","port":1234,"context":4096}',
  ];
  const reported = run(
    `read -r line; [ "$line" = given ] || exit 9; printf '%s\\n' ${events.map((one) => `'${one}'`).join(' ')}`,
  );
  t.strictSame(await reported.ready, { url: 'http://127.0.0.1:1234', context: 4_096 });
  t.strictSame(reported.loading, [0, 50]);
  const failed = run(`printf '%s\\n' '{"event":"failed","message":"It is damaged."}'; exit 1`);
  await t.rejects(failed.ready, CannotStartError);
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.writeHead(asked.length < 3 ? 503 : 200).end('x');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const probed = run('read -r line; exec sleep 60', { url, path: '/health' });
  t.strictSame(await probed.ready, { url });
  t.strictSame(asked, ['/health', '/health', '/health'], 'until it answers with 200');
});

t.test('what was started runs as long as somebody wants it', async (t) => {
  const folder = await temporaryFolder(t);
  /** What takes holders, and how often it was released. */
  const taking = async (name: string, first: Promise<void> = Promise.resolve()) => {
    const path = join(folder, name);
    const released = { times: 0 };
    const holders = await takeHolders(path, first, () => {
      released.times += 1;
    });
    t.teardown(() => holders.close());
    return { path, released, holders };
  };
  await t.rejects(hold(join(folder, 'none')), { code: 'ENOENT' });

  await t.test('each holder gets the newest state, and every later one', async (t) => {
    const { path, holders } = await taking('states');
    t.equal((await stat(path)).mode & 0o777, 0o600);
    const one = await hold(path);
    const percents: unknown[] = [];
    const oneReady = one.whenReady((percent) => percents.push(percent));
    await poll(
      async () => percents,
      (seen) => seen.length === 1,
    );
    holders.publish({ state: 'starting', percent: 40 });
    const ready = { state: 'ready', pid: 7, url: 'http://127.0.0.1:1', context: 9 } as const;
    holders.publish(ready);
    t.strictSame(await oneReady, ready);
    t.strictSame(percents, [undefined, 40]);
    t.strictSame(await one.whenReady(), ready, 'whoever asks later');
    const other = await hold(path);
    t.strictSame(await other.whenReady(), ready);
    holders.publish({ state: 'failed', message: 'It is damaged.' });
    const late = await hold(path);
    await t.rejects(late.whenReady(), { message: 'It is damaged.' });
    holders.publish({ state: 'starting' });
    const waiting = (await hold(path)).whenReady();
    holders.close();
    await t.rejects(waiting, { message: 'It was stopped.' });
    await Promise.all([one.closed, other.closed, late.closed]);
  });

  await t.test('it is released when the last one leaves, or somebody stops it', async (t) => {
    let begin: () => void = () => undefined;
    const { path, released } = await taking('released', new Promise<void>((resolve) => (begin = resolve)));
    const [one, other] = await Promise.all([hold(path), hold(path)]);
    one.close();
    other.close();
    await Promise.all([one.closed, other.closed]);
    const third = await hold(path);
    t.equal(released.times, 0, 'whoever started it still does');
    begin();
    await third.keep();
    const fourth = await hold(path);
    third.close();
    fourth.close();
    await Promise.all([third.closed, fourth.closed]);
    const stopping = await hold(path);
    t.equal(released.times, 0, 'it is kept');
    const stopped = stopping.stop();
    await poll(
      async () => released.times,
      (times) => times === 1,
    );
    stopping.close();
    await stopped;
  });

  await t.test('a setting keeps it, until it is taken back', async (t) => {
    let begin: () => void = () => undefined;
    const { path, released } = await taking('setting', new Promise<void>((resolve) => (begin = resolve)));
    const raw = connect(path);
    raw.on('error', () => undefined).resume();
    await once(raw, 'connect');
    raw.write('no JSON\n[]\n{"keep":1,"keepRunning":"no","stop":"yes"}\n');
    const one = await hold(path);
    begin();
    await one.keepRunning(true);
    one.close();
    raw.end();
    await Promise.all([one.closed, once(raw, 'close')]);
    const other = await hold(path);
    t.equal(released.times, 0);
    await other.keepRunning(false);
    other.close();
    await other.closed;
    await poll(
      async () => released.times,
      (times) => times === 1,
    );
  });
});

/** Ends after these texts were written to its standard output, by its number from 1. */
const endsWith = (...runs: readonly (readonly [string, string])[]) =>
  `read -r line; echo run >> "$FOLDER/runs"; printf '%s' "$line" > "$FOLDER/given"
case $(grep -c run "$FOLDER/runs") in
${runs.map(([said, then], index) => `${index + 1}) printf '%s\\n' ${said}; ${then};;`).join('\n')}
*) exit 99;;
esac
`;

/** Supervises a script in the place of the engine. */
async function supervised(t: Test, script: string, now = () => 0, more: Partial<Launch> = {}) {
  const folder = await temporaryFolder(t, { 'engine.sh': script });
  await chmod(join(folder, 'engine.sh'), 0o755);
  const groups = createProcessGroups({ platform, env: process.env });
  t.teardown(groups.close);
  const states: SupervisorState[] = [];
  const released = new AbortController();
  const launch: Launch = {
    ...{
      asked: { product: 'runner-engine', model: '/m.gguf', alias: 'm' },
      folder,
      socket: join(folder, 's'),
    },
    ...{ program: join(folder, 'engine.sh'), runtime: '/bin/sh', ...more },
  };
  const done = supervise(
    {
      ...{ launch, groups, now, env: { ...process.env, FOLDER: folder } },
      publish: (state) => void states.push(state),
    },
    released.signal,
  );
  const isReady = () =>
    poll(
      async () => states,
      (seen) => seen.some(({ state }) => state === 'ready'),
    );
  const file = async (name: string) => readFile(join(folder, name), 'utf8').catch(() => undefined);
  return { folder, launch, states, done, isReady, file, release: () => released.abort() };
}

const [loadingLine, readyLine] = [
  `'{"event":"loading","percent":10}'`,
  `'{"event":"ready","port":1,"context":4096}'`,
];
const starting = { state: 'starting' } as const;
const isUp = { ...{ state: 'ready', pid, url: 'http://127.0.0.1:1' }, context: 4_096 } as const;

t.test('a supervisor makes known what runs, until it is released', async (t) => {
  const { folder, launch, states, done, isReady, file, release } = await supervised(
    t,
    endsWith([`${loadingLine} ${readyLine}`, 'exec sleep 600']),
  );
  await isReady();
  t.strictSame(states, [starting, { ...starting, percent: 10 }, isUp]);
  const running = await readRunning(folder, platform);
  const { key } = JSON.parse((await file('given')) ?? '') as { readonly key: string };
  t.strictSame(running, {
    ...{
      pid,
      url: isUp.url,
      product: 'runner-engine',
      key,
      model: 'm',
      context: 4_096,
      socket: launch.socket,
    },
  });
  release();
  await done;
  t.strictSame([await readRunning(folder, platform), await file('engineLast.json')], [undefined, undefined]);
  t.equal(states.length, 3, 'a release is no failure');

  const never = await supervised(t, endsWith([loadingLine, 'exec sleep 600']));
  await poll(
    async () => never.states,
    (seen) => seen.length === 2,
  );
  never.release();
  await never.done;
  t.strictSame(never.states, [starting, { ...starting, percent: 10 }], 'it need not be ready for that');

  const standIn = `exec ${process.execPath} ${resolve('test/support/engineStandIn.cjs')} llama-server "$@"`;
  const asked = { product: 'llama.cpp', model: '/m.gguf' } as const;
  const llama = await supervised(t, `#!/bin/sh\n${standIn}\n`, undefined, { asked });
  await llama.isReady();
  const up = await readRunning(llama.folder, platform);
  t.strictSame(llama.states, [starting, { state: 'ready', pid, url: up?.url }]);
  t.match(up, { product: 'llama.cpp', key: /^\S{32}$/, model: undefined });
  t.strictSame((await readdir(llama.folder)).sort(), ['engine.json', 'engine.sh'], 'nobody can read its key');
  llama.release();
  await llama.done;
  await t.rejects(fetch(up?.url ?? ''), 'it has ended');
});

t.test('what ends is started again twice, and then it is down', async (t) => {
  const crash = [readyLine, 'exit 5'] as const;
  const minutes = 600_000;
  /** A clock that stands still but while something runs, so long each time. */
  const clock = (...lengths: readonly number[]) => {
    let reads = 0;
    return () => {
      reads += 1;
      return 1e12 + (reads % 2 === 1 ? 0 : (lengths[reads / 2 - 1] ?? 0));
    };
  };
  for (const { name, runs, now, ready, message } of [
    {
      name: 'at once',
      runs: [crash, crash, crash],
      ready: 3,
      message: 'It ended 3 times in a row, the last time with exit code 5.',
    },
    {
      name: 'after a while, but never well',
      runs: [crash, crash, crash],
      now: clock(minutes, minutes, minutes),
      ready: 3,
      message: 'It ended 3 times in a row, the last time with exit code 5.',
    },
    {
      name: 'well in between',
      runs: [crash, crash, crash, [readyLine, 'exit 6'] as const],
      now: clock(0, minutes + 1, 0, 0),
      ready: 4,
      message: 'It ended 3 times in a row, the last time with exit code 6.',
    },
    {
      name: 'before it was ready again',
      runs: [crash, ['', 'exit 2'] as const, ['', 'echo "no memory" >&2; exit 3'] as const],
      ready: 1,
      message: 'It ended 3 times in a row, the last time with exit code 3: no memory.',
    },
    {
      name: 'before it was ready for the first time',
      runs: [['', 'exit 3'] as const],
      ready: 0,
      message: 'It ended before it was ready, with exit code 3',
    },
    {
      name: 'and says why it would do so each time',
      runs: [crash, [`'{"event":"failed","message":"It is damaged."}'`, 'exit 1'] as const],
      ready: 1,
      message: 'It is damaged.',
    },
  ]) {
    const { folder, launch, states, done, file } = await supervised(t, endsWith(...runs), now);
    await done;
    t.equal((await file('runs'))?.length, 'run\n'.length * runs.length, name);
    t.equal(states.filter(({ state }) => state === 'ready').length, ready, name);
    t.strictSame(states.at(-1), { state: 'failed', message }, name);
    t.strictSame(JSON.parse((await file('engineLast.json')) ?? ''), { ...launch.asked, failure: message });
    t.equal(await readRunning(folder, platform), undefined);
  }
});
