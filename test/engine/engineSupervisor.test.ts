import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import t from 'tap';
import { createEngine } from '../../daemon/engine/engine.ts';
import { type RunningEngine, readLast, writeLast } from '../../daemon/engine/engineFile.ts';
import { type StartContext, startProcess } from '../../daemon/engine/starting.ts';
import { commandOf, type Launch } from '../../daemon/engine/supervisor/launch.ts';
import type { WorkState } from '../../daemon/rpc/workDoneProgress.ts';
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
const _starting = { state: 'starting' } as const;
