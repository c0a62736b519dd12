import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { runnerdPath } from '../support/daemonProcess.ts';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'runner-models-')));
t.teardown(() => rmSync(home, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly events: () => readonly Record<string, unknown>[];
}

/** The built terminal in a process of its own, against one runner. */
function terminalFor(url: string) {
  return async (...args: string[]): Promise<Ended> => {
    const child = spawn(process.execPath, [join('dist', 'terminal.cjs'), ...args], {
      env: { PATH: process.env['PATH'], HOME: home, OLLAMA_HOST: url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const [code] = await once(child, 'close');
    const events = () =>
      stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    return { code, stdout, stderr, events };
  };
}

async function startPractice(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [runnerdPath, '--practice'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = await once(createInterface({ input: child.stdout }), 'line');
  return { url, child };
}

t.test('the life of a model in the terminal, from pull to delete', async (t) => {
  const { url, child } = await startPractice();
  t.teardown(async () => {
    child.kill();
    await once(child, 'close');
  });
  const runner = terminalFor(url);
  const pulled = await runner('pull', 'practice-guest', '--json');
  t.equal(pulled.code, 0, pulled.stderr);
  t.strictSame(pulled.events().at(-1), { event: 'done', model: 'practice-guest' });
  t.ok(pulled.events().filter(({ event }) => event === 'progress').length > 3);
  const again = await runner('pull', 'practice-guest');
  t.match(again, { code: 0, stdout: '' });

  await theLifeOf('practice-guest', runner, t);
  const listed = await runner('models', '--json');
  t.notMatch(listed.stdout, /practice-guest|made-here/);
  t.match(await runner('pull', 'no-such-model'), {
    code: 1,
    stdout: '',
    stderr: /does not know no-such-model/,
  });
  t.match(await runner('rm', 'no-such-model', '--yes'), { code: 1, stdout: '' });
});

const realHost = process.env['RUNNER_TEST_HOST'] ?? '';
t.test(
  'the same on the real runner that RUNNER_TEST_HOST names, but for the pull',
  { skip: realHost === '' ? 'RUNNER_TEST_HOST names none' : false },
  async (t) => {
    const runner = terminalFor(realHost);
    const models = (await runner('models', '--json')).events();
    const base = models.find(
      (model) => (model['capabilities'] as { completion: { value: unknown } }).completion.value === true,
    );
    if (!base) throw new Error('The runner has no model that can chat.');
    writeFileSync(join(home, 'Copy'), `FROM ${base['name']}\n`);
    t.match(await runner('create', 'runner-test-copy', '-f', join(home, 'Copy')), { code: 0 });
    await theLifeOf('runner-test-copy', runner, t);
    t.match(await runner('pull', 'no-such-model.invalid/a/b:c'), { code: 1, stdout: '' });
  },
);

/** Create from it, list, show, run, stop until it is gone, delete both. */
async function theLifeOf(base: string, runner: ReturnType<typeof terminalFor>, t: Test): Promise<void> {
  mkdirSync(join(home, 'made'), { recursive: true });
  const modelfile = join(home, 'made', 'Modelfile');
  writeFileSync(
    modelfile,
    `FROM ${base}\nSYSTEM Be brief.\nPARAMETER num_ctx 1024\nPARAMETER temperature warm\n`,
  );
  t.match(await runner('create', 'made-here', '-f', modelfile), {
    code: 1,
    stdout: '',
    stderr: /Modelfile:4:23: temperature needs a number\.\nPARAMETER temperature warm\n {22}\^~~~\n/,
  });
  writeFileSync(modelfile, `FROM ${base}\nSYSTEM Be brief.\nPARAMETER num_ctx 1024\nPARAMETER stop <END>\n`);
  const created = await runner('create', 'made-here', '-f', modelfile, '--json');
  t.strictSame(created.events().at(-1), { event: 'done', model: 'made-here' }, created.stderr);
  t.match(await runner('models'), { code: 0, stdout: /made-here:latest/ });
  t.match((await runner('show', 'made-here', '--json')).events()[0], {
    system: 'Be brief.',
    parameters: { num_ctx: 1024, stop: '<END>' },
    model: { name: 'made-here:latest' },
  });
  const loaded = await runner('run', 'made-here', '--json', '--keep-alive', '10m');
  t.match(
    loaded.events().at(-1),
    { event: 'done', model: { context: { allocated: 1024 }, running: Object } },
    loaded.stderr,
  );
  t.match(await runner('rm', 'made-here', '--yes'), { code: 1, stdout: '', stderr: /is loaded/ });
  t.match(await runner('rm', 'made-here'), { code: 2, stdout: '', stderr: /--yes/ });
  t.match(await runner('stop', 'made-here'), { code: 0 });
  const [row] = (await runner('models', '--json')).events().filter(({ name }) => name === 'made-here:latest');
  t.equal(row?.['running'], undefined, 'gone from memory when stop has ended');
  for (const model of ['made-here', base]) t.match(await runner('rm', model, '--yes'), { code: 0 });
  t.match(await runner('show', 'made-here'), { code: 1, stdout: '' });
}
