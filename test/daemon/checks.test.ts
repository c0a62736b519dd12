import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { createKeptApprovals } from '../../daemon/tools/approvals.ts';
import { createBuiltinServer } from '../../daemon/tools/builtin/builtinServer.ts';
import { createCheckOutput } from '../../daemon/tools/builtin/checkRun.ts';
import { createProcessGroups } from '../../protocol/base/platform/processGroups.ts';
import { type AgentMode, type ChatParams, setModeRequest } from '../../protocol/messages/chat.ts';
import { trustDidChange } from '../../protocol/messages/initialize.ts';
import {
  type ApproveToolParams,
  allowCheckRequest,
  type Checks,
  listChecksRequest,
  suggestChecksRequest,
  type ToolCapabilities,
  type ToolDecision,
  type ToolProgress,
  toolProgress,
} from '../../protocol/messages/tools.ts';
import { has, where } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { answersOf, offeredTo, resultsOf, startWithTools, type ToolOptions } from '../support/toolDaemon.ts';
import { poll } from '../support/waiting.ts';

type Test = Parameters<typeof temporaryFolder>[0];

const node = (code: string, ...args: readonly string[]) => ({
  command: [process.execPath, '-e', code, ...args],
});

/** Checks in the folder `proj`, beside which other folders may be. */
async function checksIn(
  test: Test,
  checks: Checks[string],
  { files = {}, env = {}, ...more }: CheckOptions = {},
) {
  const top = await realpath(await temporaryFolder(test));
  const folder = join(top, 'proj');
  await mkdir(folder);
  await writeFiles(top, files);
  const groups = createProcessGroups({ platform: process.platform, env: process.env });
  test.teardown(() => groups.close());
  const kept = createKeptApprovals(join(top, 'own', 'approvals.json'));
  test.teardown(() => kept.close());
  const state = { checks: { [folder]: checks } as Checks, trusted: true };
  const server = createBuiltinServer({
    entry: { name: 'builtin', kind: 'builtin', folders: [folder] },
    env: { PATH: process.env['PATH'], ...env },
    platform: process.platform,
    now: Date.now,
    findPrivacy: async (path) => (path.endsWith('.env') ? 'secret' : undefined),
    openDocuments: () => [],
    showsDiffs: () => true,
    checks: {
      configuredChecks: () => [state.checks],
      isTrusted: () => state.trusted,
      toolTotal: () => 0,
      groups,
      kept,
      ...more,
    },
  });
  const never = new AbortController().signal;
  const tool = async () => (await server.state(never)).tools.find(({ name }) => name === 'run_check')?.calls;
  const offered = await tool();
  const prepare = async (given: Record<string, unknown>, characters = 32_000) => {
    const asMeant = offered?.asMeant(given) ?? {};
    const prepared = await offered?.prepare(asMeant, never, { characters, replaceable: 0 });
    if (!prepared) throw new Error('It prepares every call.');
    return prepared;
  };
  const run = async (given: Record<string, unknown>, characters?: number, signal = never) =>
    (await prepare(given, characters)).call(signal);
  return { top, folder, groups, state, tool, prepare, run };
}

interface CheckOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly toolTotal?: () => number;
}

/** Whether a process runs, and is no zombie. */
async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (status !== undefined) return !/\) [ZX] /.test(status);
  if (process.platform === 'linux') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const pidIn = async (path: string) =>
  Number(await poll(() => readFile(path, 'utf8').catch(() => ''), Boolean));
const hasEnded = (pid: number) =>
  poll(
    () => isRunning(pid),
    (runs) => !runs,
  );

t.test('a check runs in its folder, without a shell, secrets and input', async (t) => {
  const report = `
    let input = '';
    process.stdin.on('data', (data) => (input += data)).on('end', () =>
      console.log(JSON.stringify({ args: process.argv.slice(1), cwd: process.cwd(), env: process.env, input })));`;
  const { run, prepare, folder } = await checksIn(
    t,
    { report: { ...node(report, '$HOME', '`id`', '{path}', '; ls'), env: { OWN: 'mine', TERM: 'vt' } } },
    {
      files: { 'proj/a b.js': '', 'proj/-x': '', 'proj/@args': '', 'proj/src/a.js': '', 'proj/.env': '' },
      env: { OPENAI_API_KEY: 'planted', AWS_SECRET: 'planted', HOME: '/nowhere', LC_ALL: 'C' },
    },
  );
  const { content } = await run({ name: 'report', path: 'a b.js' });
  const [first, json = ''] = content.split('\n');
  t.match(first, /^exit code 0 after \d+\.\d s$/);
  const { args, cwd, env, input } = JSON.parse(json);
  t.strictSame(args, ['$HOME', '`id`', 'a b.js', '; ls']);
  t.equal(cwd, folder);
  t.equal(input, '');
  t.notMatch(json, /planted/);
  t.match(env, { CI: '1', NO_COLOR: '1', PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', OWN: 'mine', LC_ALL: 'C' });
  t.equal(env.TERM, 'vt', 'the user has the last word');
  const commandFor = async (path?: string) =>
    (await prepare({ name: 'report', ...(path === undefined ? {} : { path }) })).command?.slice(3);
  t.strictSame(await commandFor(), ['$HOME', '`id`', '; ls'], 'without a path it is left out');
  t.strictSame(await commandFor('-x'), ['$HOME', '`id`', './-x', '; ls']);
  t.strictSame(await commandFor('@args'), ['$HOME', '`id`', './@args', '; ls']);
  t.strictSame(await commandFor(join(folder, 'src')), ['$HOME', '`id`', 'src', '; ls']);
  t.strictSame(await commandFor('.'), ['$HOME', '`id`', '.', '; ls']);
  for (const [path, problem] of [
    ['../out', /outside of the workspace/],
    ['none.js', /There is no file or folder none\.js/],
    ['.env', /may hold a secret/],
    ['--version', /There is no file or folder --version/],
  ] as const)
    t.match((await prepare({ name: 'report', path })).problem, problem, path);
  const words = fc.string({ maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(words, async (path) => {
      const { problem, command } = await prepare({ name: 'report', path });
      if (problem !== undefined) return;
      const more = command?.slice(3).filter((word) => !['$HOME', '`id`', '; ls'].includes(word)) ?? [];
      if (more.length > 1 || more.some((word) => word.startsWith('-'))) throw new Error(String(command));
      for (const word of more) await stat(join(folder, word));
    }),
    { numRuns: 200 },
  );
});

t.test('only what the user has configured for the folder is offered and run', async (t) => {
  const checks = { test: node('console.log("ran")'), all: node('', '{path}') };
  const { tool, prepare, state, folder, run } = await checksIn(t, checks, {
    files: { 'proj/package.json': '{"scripts":{"test":"touch ran"}}', 'other/a.js': '' },
  });
  t.equal((await prepare({ name: 'lint' })).problem, 'There is no such check.');
  const before = await prepare({ name: 'test' });
  state.trusted = false;
  t.equal(await tool(), undefined, 'no check in a workspace that the user does not trust');
  t.match((await before.call(new AbortController().signal)).content, /changed or switched off/);
  state.trusted = true;
  state.checks = { [folder]: { test: node('console.log("other")') } };
  t.match((await prepare({ name: 'test' })).problem, /changed or switched off/, 'approvals are for what was');
  for (const other of [{}, { [`${folder}/src`]: checks }, { [join(folder, '..')]: checks }]) {
    state.checks = other;
    t.equal(await tool(), undefined);
  }
  state.checks = { [`${folder}/.`]: checks };
  t.ok(await tool());
  t.match((await run({ name: 'test', path: '.' })).content, /ran\n\[This check takes no path\./);
});

t.test('what models call a check', async (t) => {
  const { tool } = await checksIn(t, {
    test: { command: ['npm', 'test', '--', '{path}'] },
    lint: { command: ['npm', 'run', 'lint'] },
  });
  const calls = await tool();
  const call = (name: string, given: Record<string, unknown>) =>
    calls?.meantBy({ id: '1', name, arguments: given });
  t.strictSame(call('bash', { command: 'npm run lint' }), { name: 'lint' });
  t.strictSame(call('run_command', { cmd: ' npm test -- src/a.js' }), { name: 'test', path: 'src/a.js' });
  t.strictSame(call('terminal', { command: 'npm test' }), { name: 'test' });
  t.strictSame(call('shell', { command: ['bash', '-lc', 'npm test --'] }), { name: 'test' });
  t.equal(call('bash', { command: 'npm run lint && rm -rf .' }), undefined);
  t.equal(call('bash', { command: 'npm test -- a b' }), undefined);
  t.equal(call('npm', { command: 'npm run lint' }), undefined);
  t.strictSame(calls?.asMeant({ check: 'test', file: 'a.js' }), { name: 'test', path: 'a.js' });
  t.strictSame(calls?.asMeant({ command: 'npm run lint' }), { name: 'lint' });
  t.strictSame(calls?.asMeant({ name: 'lint', command: 'rm -rf .' }), { name: 'lint' });
});

t.test('a check that fails, that cannot start, and that writes nothing', async (t) => {
  const { run } = await checksIn(t, {
    fails: node('console.error("why"); process.exit(3)'),
    none: { command: ['no-such-program-here'] },
    silent: node(''),
    long: node('for (let at = 1; at <= 40; at += 1) console.log("line", at)'),
    dies: node('process.kill(process.pid, "SIGKILL")'),
  });
  const fails = await run({ name: 'fails' });
  t.match(fails.content, /^exit code 3 after \d+\.\d s\nwhy$/);
  t.equal(fails.isError, false, 'that it fails is what the model wants to know');
  t.match(await run({ name: 'none' }), {
    content: /cannot be started: its program does not exist/,
    isError: true,
  });
  t.match((await run({ name: 'silent' })).content, /^exit code 0 after \d+\.\d s$/);
  const long = await run({ name: 'long' });
  t.match(
    long.content,
    /^exit code 0 after .* s\n\[The last 10 of 40 lines:\]\nline 31\n(line \d+\n){8}line 40$/,
  );
  t.match(long.output, /^exit code 0 after .* s\nline 1\nline 2\n/, 'the user gets all of it');
  t.match(
    (await run({ name: 'dies' })).content,
    has('signals') ? /^ended by SIGKILL after/ : /^exit code 1 /,
  );
});

t.test('both streams are read in the order in which they were written', where('joining'), async (t) => {
  const { run } = await checksIn(t, {
    both: node(`
      const { writeSync } = require('node:fs');
      for (let at = 0; at < 2000; at += 1) writeSync(1 + (at % 2), at + '\\n');
      process.exit(1);`),
  });
  const { content } = await run({ name: 'both' });
  t.strictSame(
    content.split('\n').slice(1),
    Array.from({ length: 2_000 }, (_, at) => String(at)),
  );
});

t.test('an output of 100 MB is bounded, and its end is kept', async (t) => {
  const { run } = await checksIn(t, {
    flood: node(`
      const { writeSync } = require('node:fs');
      const lines = (from) => Array.from({ length: 10000 }, (_, at) => 'line ' + (from + at) + ' ' + 'x'.repeat(90)).join('\\n') + '\\n';
      for (let at = 0; at < 100; at += 1) { let text = Buffer.from(lines(at * 10000)); while (text.length > 0) text = text.subarray(writeSync(1, text)); }
      console.log('the cause'); process.exit(1);`),
  });
  const { content, output = '' } = await run({ name: 'flood' }, 3_000);
  t.ok(content.length <= 3_000);
  t.match(
    content,
    /^exit code 1 after .* s\n\[\d+,\d{3},\d{3} characters are left out after the first part\.\]\nline 0 /,
  );
  t.match(content, /the cause$/);
  t.ok(output.length < 260 * 1024 && output.length > 250 * 1024);
  t.match(output, /line 0 x+\n/);
  t.match(output, /\n\[\d+,\d{3},\d{3} characters are left out here\.\]\nline \d+ x/);
});

t.test('what a program draws is read as it stands at the end', async (t) => {
  const read = (...chunks: readonly string[]) => {
    const output = createCheckOutput();
    for (const chunk of chunks) output.push(Buffer.from(chunk));
    return output.end().text;
  };
  const cases: readonly [string, string, string][] = [
    ['colours', '\x1b[31mred\x1b[0m\n', 'red'],
    ['a title and a link', '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\\n', 'ab'],
    ['a bar', '10%\r50%\r100%\ndone\n', '100%\ndone'],
    ['a bar that ends in its return', '10%\r100%\r\ndone\n', '100%\ndone'],
    ['a line that was cleared', 'downloading\x1b[2K\x1b[1Gdone\n', 'done'],
    ['Windows line ends', 'a\r\nb\r\n', 'a\nb'],
    ['tabs', '\tat x\n', '\tat x'],
    [
      'repeats',
      'a\n'.repeat(2) + 'b\n'.repeat(5) + 'c\n',
      'a\na\nb\nb\n[3 more lines like the one before]\nc',
    ],
    ['repeats at the end', 'b\n'.repeat(5), 'b\nb\n[3 more lines like the one before]'],
    ['blank lines', 'a\n\n\n \nb', 'a\n\nb'],
    ['other controls', 'a\x00\x08b\x9b1mc\n', 'abc'],
    ['no line end', 'a', 'a'],
  ];
  for (const [name, given, want] of cases) t.equal(read(given), want, name);
  t.match(read(`${'x'.repeat(9_000)}\n`), /^x{2000}…$/);
  const bars = Array.from({ length: 5_000 }, (_, at) => `${at} of 5000\r`);
  t.equal(read(...bars, '\n'), '4999 of 5000');
  const lines = fc.array(fc.constantFrom('a', 'b', '', '\x1b[1m', 'é', '😀', '\r', '\n', '\t'), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(lines, fc.array(fc.nat(60)), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(''));
      const whole = createCheckOutput();
      whole.push(bytes);
      const split = createCheckOutput();
      let from = 0;
      for (const to of cuts.toSorted((a, b) => a - b)) {
        split.push(bytes.subarray(from, to));
        from = Math.max(from, to);
      }
      split.push(bytes.subarray(from));
      const text = whole.end().text;
      return text === split.end().text && !/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text);
    }),
  );
});

t.test('nothing of a check outlives it', async (t) => {
  const sleeper = (how: string) => `
    const { spawn } = require('node:child_process');
    const { writeFileSync } = require('node:fs');
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(how)}], { stdio: 'inherit' });
    writeFileSync('pid', String(child.pid));`;
  const stubborn = 'process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)';
  const lives = 'setInterval(() => {}, 1000)';
  const { run, folder, groups } = await checksIn(t, {
    leaves: node(`${sleeper(lives)} setTimeout(() => process.exit(1), 200)`),
    late: { ...node(sleeper(lives)), timeout: 1 },
    stubborn: { ...node(`${sleeper(stubborn)} ${stubborn}`), timeout: 3 },
    apart: node(`
      const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ['-e', ${JSON.stringify(lives)}], { stdio: 'inherit', detached: true });
      require('node:fs').writeFileSync('pid', String(child.pid));
      child.unref();`),
    waits: node(sleeper(lives)),
  });
  const pid = () => pidIn(join(folder, 'pid'));

  t.match((await run({ name: 'leaves' })).content, /^exit code 1 after/);
  await hasEnded(await pid());

  t.match(await run({ name: 'late' }), {
    content: /^The check took too long, and was ended after \d\.\d s/,
    isError: true,
  });
  await hasEnded(await pid());

  const { content } = await run({ name: 'stubborn' });
  t.match(content, /took too long.*\nup\nup$/s, 'what it has written is kept');
  await hasEnded(await pid());

  t.match(
    (await run({ name: 'apart' })).content,
    /^exit code 0/,
    'it does not wait for who holds the output',
  );
  process.kill(await pid(), 'SIGKILL');

  await writeFile(join(folder, 'pid'), '');
  const stop = new AbortController();
  const stopped = run({ name: 'waits' }, undefined, stop.signal);
  const running = await pid();
  stop.abort(new Error('stopped'));
  await t.rejects(stopped, /stopped/);
  await hasEnded(running);

  await writeFile(join(folder, 'pid'), '');
  const closed = run({ name: 'waits' });
  const left = await pid();
  await groups.close();
  t.match((await closed).content, has('signals') ? /^ended by SIGTERM/ : /^exit code 1 /);
  await hasEnded(left);
});

t.test('one check runs at a time, and the longest time of any call holds for it', async (t) => {
  const { run } = await checksIn(
    t,
    {
      slow: node(`
        const { existsSync, writeFileSync, rmSync } = require('node:fs');
        if (existsSync('busy')) process.exit(9);
        writeFileSync('busy', '');
        setTimeout(() => rmSync('busy'), 100);`),
      endless: node('setInterval(() => {}, 1000)'),
    },
    { toolTotal: () => 4_000 },
  );
  const all = await Promise.all([1, 2, 3].map(() => run({ name: 'slow' })));
  for (const { content } of all) t.match(content, /^exit code 0/);
  t.match((await run({ name: 'endless' })).content, /took too long/);
});

type Rounds = readonly (readonly [name: string, given: object])[][];

interface FolderOptions extends ToolOptions {
  readonly files?: Readonly<Record<string, string>>;
  /** What the client announces beside. */
  readonly client?: ToolCapabilities;
}

/** A daemon whose user has configured these checks for its project folder. */
async function daemonWithChecks(
  t: Test,
  checks: Checks[string],
  { files = {}, client, ...options }: FolderOptions = {},
) {
  const folder = await realpath(await temporaryFolder(t, files));
  const started = await startWithTools(t, [], {
    builtinTools: true,
    userConfig: { checks: { [folder]: checks } },
    ...options,
    pair: {
      capabilities: {
        experimental: {
          runner: { folder, showsDiffs: true, approvesTools: options.decide !== undefined, ...client },
        },
      },
      ...options.pair,
    },
  });
  const { runner, ask } = started;
  /** One turn whose model makes these calls, one round after another. */
  const turnIn = async (params: Partial<ChatParams>, ...rounds: Rounds) => {
    for (const [at, calls] of rounds.entries())
      runner.toolCalls(
        calls.map(([name, given], index) => ({ id: `c${at}_${index}`, name, arguments: { ...given } })),
      );
    runner.say('Done.');
    const { result, deltas } = await ask(params);
    return { result, answers: answersOf(result.messages), results: resultsOf(deltas) };
  };
  const turn = (...rounds: Rounds) => turnIn({}, ...rounds);
  return { ...started, folder, turn, turnIn };
}

t.test('each check is asked about, with its command', async (t) => {
  const decisions: ToolDecision[] = ['once', 'deny', 'session', 'always'];
  const checks = { test: node('console.log("tested")', '{path}'), lint: node('console.log("linted")') };
  const { turn, questions, runner, daemon } = await daemonWithChecks(t, checks, {
    decide: () => decisions.shift() ?? 'deny',
    files: { 'a.js': '' },
    // An approval of all tools is none of a check.
    approvals: { builtin: 'always' },
  });
  const first = await turn([['run_check', { name: 'test', path: 'a.js' }]]);
  t.ok(offeredTo(runner).includes('run_check'));
  t.match(first.answers, [/^exit code 0 after .*\ntested$/]);
  t.match(questions[0], {
    command: [process.execPath, '-e', 'console.log("tested")', 'a.js'],
    server: 'builtin',
  });
  t.equal(questions[0]?.decisions, undefined, 'all answers are possible');
  t.match((await turn([['run_check', { name: 'test' }]])).answers, [/did not allow/]);
  const session = [['run_check', { name: 'test' }]] as const;
  t.match((await turn([...session])).answers, [/tested/]);
  t.match((await turn([...session])).answers, [/tested/]);
  t.equal(questions.length, 3, 'allowed for the session');
  t.match((await turn([['run_check', { name: 'lint' }]])).answers, [/linted/]);
  t.equal(questions.length, 4, 'but not for another name');
  t.match((await turn([['run_check', { name: 'lint' }]])).answers, [/linted/]);
  t.equal(questions.length, 4);
  await daemon.connection.sendNotification(trustDidChange.method, { trusted: false });
  const untrusted = await turn([['run_check', { name: 'test' }]]);
  t.notOk(offeredTo(runner).includes('run_check'));
  t.match(untrusted.answers, [/There is no tool "run_check"/]);
});

t.test('the last line of a check that runs is reported, twice a second at most', async (t) => {
  const code = `let at = 0;
    const timer = setInterval(() => {
      console.log('line', ++at);
      if (at === 30) clearInterval(timer);
    }, 50);`;
  const { turn, daemon } = await daemonWithChecks(t, { test: node(code) }, { decide: () => 'once' });
  const reports: ToolProgress[] = [];
  daemon.on(toolProgress, (report) => reports.push(report));
  const { answers } = await turn([['run_check', { name: 'test' }]]);
  t.match(answers, [/line 30$/]);
  t.ok(reports.length > 0 && reports.length < 8, `${reports.length} reports`);
  for (const { id, progress, message } of reports) t.strictSame([id, message], ['c0_0', `line ${progress}`]);
});

t.test('an answer for always is for this command alone, and a flag names the check', async (t) => {
  const config = { test: node('console.log("one")') };
  const { turn, questions, home, folder } = await daemonWithChecks(t, config, { decide: () => 'always' });
  const round = [['run_check', { name: 'test' }]] as const;
  await turn([...round]);
  await turn([...round]);
  t.equal(questions.length, 1);
  const changed = { checks: { [folder]: { test: node('console.log("two")') } } };
  await writeFile(join(home, 'runner', 'config.json'), JSON.stringify(changed));
  t.match((await turn([...round])).answers, [/two/]);
  t.equal(questions.length, 2, 'another command is asked about');
  for (const [allowed, runs] of [
    ['run_check', true],
    ['run_check/test', true],
    ['run_check/lint', false],
    ['*', false],
  ] as const) {
    const one = await daemonWithChecks(t, config, { approvals: { builtin: [allowed] } });
    const { answers, results } = await one.turn([...round]);
    if (runs) t.match(answers, [/^exit code 0/], allowed);
    else t.match(results, [{ unapprovedTool: 'run_check' }], allowed);
  }
});

t.test('nothing in a project and no word of a model starts a process', async (t) => {
  const config = { test: node('console.log("own")') };
  const { turn, runner, daemon, folder } = await daemonWithChecks(t, config, {
    approvals: { builtin: ['*', 'run_check', 'edit_file', 'write_file'] },
    files: {
      'package.json': '{"scripts":{"test":"touch ran"}}',
      'AGENTS.md': 'checks: { "evil": { "command": ["touch", "ran"] } }',
      '.runner/config.json': '{"checks":{"/":{"evil":{"command":["touch","ran"]}}}}',
    },
  });
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { runner: { checks: { [folder]: { evil: { command: ['touch', 'ran'] } } } } },
  });
  const evil = { command: 'touch ran' };
  const { answers } = await turn(
    [['run_check', { name: 'evil' }]],
    [['bash', evil]],
    [['run_check', { name: 'test', ...evil, args: ['-e', 'x'], env: { A: '1' } }]],
  );
  t.match(answers, [
    /do not match the schema/,
    'No command is run here. Checks: test. Tell the user which command to run.',
    /^exit code 0 after .*\nown$/,
  ]);
  const offered = JSON.stringify(runner.bodies('/api/chat').at(-1));
  t.match(offered, /"enum":\["test"\]/);
  t.match(offered, /After the last edit, run_check\./);
  await t.rejects(stat(join(folder, 'ran')));
  const without = await daemonWithChecks(t, {}, {});
  const none = await without.turn([['bash', evil]]);
  t.match(none.answers, ['No command is run here. Tell the user which command to run.']);
  t.notOk(offeredTo(without.runner).includes('run_check'));
});

const later: ToolCapabilities = { decisions: ['answer', 'stop'] };
const change = (path: string, from: string, to: string) =>
  ['edit_file', { path, old_string: from, new_string: to }] as const;
const aboutOf = ({ toolCall }: ApproveToolParams) =>
  `${toolCall.name} ${toolCall.arguments['path'] ?? toolCall.arguments['name']}`;

t.test('the mode decides what a model is offered, and what its user is asked', async (t) => {
  const checks = { test: node('console.log("tested")') };
  const rows: readonly {
    mode: AgentMode | undefined;
    asked: readonly string[];
    answers: readonly RegExp[];
  }[] = [
    {
      mode: 'read',
      asked: ['read_file a.txt'],
      answers: [/^a$/, /mode in which nothing is changed/, /mode in which nothing is changed/, /No command/],
    },
    {
      mode: undefined,
      asked: ['read_file a.txt', 'edit_file a.txt', 'run_check test'],
      answers: [/^a$/, /^Changed a/, /tested/, /^No command is run here/],
    },
    {
      mode: 'ask',
      asked: ['read_file a.txt', 'edit_file a.txt', 'run_check test'],
      answers: [/^a$/, /^Changed a/, /tested/, /^No command is run here/],
    },
    {
      mode: 'edit',
      asked: ['read_file a.txt', 'run_check test'],
      answers: [/^a$/, /^Changed a/, /tested/, /^No command is run here/],
    },
    { mode: 'auto', asked: [], answers: [/^a$/, /^Changed a/, /tested/, /^No command is run here/] },
  ];
  for (const { mode, asked, answers } of rows) {
    const name = String(mode);
    const { turnIn, questions, runner } = await daemonWithChecks(t, checks, {
      decide: ({ toolCall }) => (toolCall.name === 'read_file' ? 'session' : 'once'),
      files: { 'a.txt': 'a\n' },
    });
    const {
      result,
      answers: read,
      results,
    } = await turnIn(
      mode === undefined ? {} : { agent: { mode } },
      [['read_file', { path: 'a.txt' }]],
      [change('a.txt', 'a', 'b')],
      [['run_check', { name: 'test' }]],
      [['bash', { command: 'rm -rf /' }]],
    );
    t.strictSame(questions.map(aboutOf), asked, name);
    t.match(read, answers, name);
    const offered = offeredTo(runner);
    t.equal(offered.includes('edit_file') && offered.includes('run_check'), mode !== 'read', name);
    t.strictSame(
      results.map(({ diff }) => diff?.unified),
      [
        undefined,
        asked.includes('edit_file a.txt') || mode === 'read' ? undefined : '@@ -1,1 +1,1 @@\n-a\n+b\n',
        undefined,
        undefined,
      ],
      'what nobody was asked about is shown with its result',
    );
    t.match(result.agent, {
      rounds: 5,
      edits: mode === 'read' ? [] : [{ path: 'a.txt', added: 1, removed: 1 }],
      checks: mode === 'read' ? [] : [{ name: 'test', exitCode: 0, ms: Number }],
    });
  }
});

t.test(
  'what decides what runs is asked about in every mode, and so is a file that loses its half',
  async (t) => {
    const paths = [
      ...['package.json', 'web/package-lock.json', 'Cargo.lock', 'Makefile', 'GNUmakefile', 'vite.config.ts'],
      ...['pyproject.toml', 'setup.py', 'tests/conftest.py', 'Cargo.toml', 'build.rs', 'CMakeLists.txt'],
      ...['Dockerfile', '.github/workflows/ci.yml', '.husky/pre-commit', 'AGENTS.md', 'docs/Claude.md'],
    ];
    const long = Array.from({ length: 24 }, (_, at) => `line ${at}\n`).join('');
    const files = {
      ...Object.fromEntries(paths.map((path) => [path, 'a\n'])),
      'b.txt': 'a\n',
      'long.txt': long,
    };
    const { turnIn, questions } = await daemonWithChecks(
      t,
      {},
      { decide: () => 'deny', files, client: later },
    );
    const { answers } = await turnIn(
      { agent: { mode: 'auto' } },
      [...paths, 'b.txt'].map((path) => change(path, 'a', 'b')),
      [['read_file', { path: 'long.txt' }]],
      [['write_file', { path: 'long.txt', content: 'gone\n' }]],
    );
    t.strictSame(questions.map(({ diff }) => diff?.name).sort(), [...paths, 'long.txt'].sort());
    t.equal(answers.filter((answer) => answer.startsWith('The user did not allow')).length, paths.length + 1);
    t.equal(answers.filter((answer) => answer.startsWith('Changed')).length, 1);
    const script = await daemonWithChecks(t, {}, { files, approvals: { builtin: ['edit_file'] } });
    const unasked = await script.turnIn({ agent: { mode: 'edit' } }, [change('package.json', 'a', 'b')]);
    t.match(unasked.answers, [/asked about this change in every mode, and nobody can be asked/]);
    t.equal(unasked.results[0]?.unapprovedTool, undefined, 'no flag would allow it');
  },
);

t.test('a user answers an edit for the whole answer, with a reason, or by an end', async (t) => {
  const files = { 'a.txt': 'a\n', 'b.txt': 'a\n', 'package.json': 'a\n' };
  const edits = ['a.txt', 'b.txt', 'package.json'].map((path) => change(path, 'a', 'b'));
  const rows = [
    {
      answer: 'answer' as const,
      asked: ['a.txt', 'package.json'],
      answers: [/^Changed a/, /^Changed b/, /did not allow/],
      reason: 'stop',
    },
    {
      answer: { decision: 'deny' as const, reason: ' use "util.js" ' },
      asked: ['a.txt', 'b.txt', 'package.json'],
      answers: [
        'The user did not allow it: "use \\"util.js\\"".',
        'The user did not allow it: "use \\"util.js\\"".',
        'The user did not allow it: "use \\"util.js\\"".',
      ],
      reason: 'stop',
    },
    {
      answer: { decision: 'stop' as const, reason: 'x'.repeat(1_500) },
      asked: ['a.txt'],
      answers: [
        `The user did not allow it: "${'x'.repeat(1_000)}".`,
        'The call was not run.',
        'The call was not run.',
      ],
      reason: 'cancelled',
    },
  ];
  for (const { answer, asked, answers: want, reason } of rows) {
    const { turn, questions } = await daemonWithChecks(t, {}, { decide: () => answer, files, client: later });
    const { answers, result } = await turn(edits);
    t.strictSame(
      questions.map(({ diff }) => diff?.name),
      asked,
    );
    t.strictSame(questions[0]?.decisions, ['once', 'answer', 'deny', 'stop']);
    t.match(answers, want);
    t.equal(result.finishReason, reason);
  }
  const next = await daemonWithChecks(t, {}, { decide: () => 'answer', files, client: later });
  await next.turn([change('a.txt', 'a', 'b')]);
  await next.turn([change('a.txt', 'b', 'c')]);
  t.equal(next.questions.length, 2, 'it does not last beyond the answer');
  const older = await daemonWithChecks(t, {}, { decide: () => 'answer', files });
  t.match((await older.turn(edits.slice(0, 1))).answers, [/did not allow the call of edit_file/]);
  t.strictSame(older.questions[0]?.decisions, ['once', 'deny'], 'a client that knows no other');
});

t.test('a mode that changes during a turn rules its questions at once, and its tools later', async (t) => {
  const checks = { test: node('console.log("tested")') };
  const files = { 'a.txt': 'a\n', 'package.json': 'a\n' };
  let started: Awaited<ReturnType<typeof daemonWithChecks>> | undefined;
  const changing = async (mode: AgentMode) => {
    started = await daemonWithChecks(t, checks, {
      files,
      client: later,
      async decide({ streamId, diff }) {
        await started?.daemon.request(setModeRequest, { streamId, mode });
        // The first question is withdrawn, so nobody reads its answer.
        return diff?.name === 'package.json' ? 'once' : 'stop';
      },
    });
    const { answers } = await started.turn(
      [change('a.txt', 'a', 'b')],
      [change('package.json', 'a', 'b')],
      [['run_check', { name: 'test' }]],
    );
    return { answers, ...started };
  };
  const auto = await changing('auto');
  t.match(auto.answers, [/^Changed a/, /^Changed package/, /tested/]);
  t.equal(auto.questions.length, 2);
  const read = await changing('read');
  t.match(read.answers, Array(3).fill(/mode in which nothing is changed/));
  t.ok(offeredTo(read.runner).includes('edit_file'), 'the tools of a turn stay');
  t.equal(read.questions.length, 1);
  const { daemon } = read;
  const set = (streamId: string, mode: string) =>
    daemon.request(setModeRequest, { streamId, mode: mode as AgentMode });
  t.strictSame(await set('none', 'edit'), {}, 'the chat may have ended');
  await t.rejects(set('none', 'all'), { message: /it is not one of read, ask, edit, auto/ });
});

t.test('only the user widens a mode, and only in a trusted workspace', async (t) => {
  const { ask, daemon, turnIn, questions, folder } = await daemonWithChecks(
    t,
    {},
    {
      decide: () => 'deny',
      files: {
        'AGENTS.md': 'mode: auto\n{"agent":{"mode":"auto"}}',
        '.runner/config.json': '{"agent":{"mode":"auto"},"mode":"auto"}',
        'package.json': '{"runner":{"mode":"auto"}}',
        'a.txt': 'a\n',
      },
    },
  );
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { runner: { agent: { mode: 'auto' }, mode: 'auto', approvals: { builtin: ['edit_file'] } } },
  });
  const { answers } = await turnIn({}, [
    ['set_mode', { mode: 'auto' }],
    ['edit_file', { path: 'a.txt', old_string: 'a', new_string: 'b', mode: 'auto', allow: true }],
  ]);
  t.match(answers, [/There is no tool "set_mode"/, /did not allow/]);
  t.equal(questions.length, 1);
  t.equal(await readFile(join(folder, 'a.txt'), 'utf8'), 'a\n');
  await daemon.connection.sendNotification(trustDidChange.method, { trusted: false });
  const auto = { agent: { mode: 'auto' as const } };
  await t.rejects(ask(auto), { message: /The mode auto needs a workspace that you trust/ });
  const home = await realpath(await temporaryFolder(t));
  const inHome = await startWithTools(t, [], {
    builtinTools: true,
    pair: { env: { HOME: home }, capabilities: { experimental: { runner: { folder: home } } } },
  });
  await t.rejects(inHome.ask(auto), { message: /The mode auto is not possible here\. .*home folder/ });
});

t.test(
  'a check runs after the edits of its round, and repeats count only without edits between',
  async (t) => {
    const { turn } = await daemonWithChecks(
      t,
      {
        test: node(
          'console.log(require("node:fs").readFileSync("a.js", "utf8"), process.hrtime()[1], "of a report that is longer than what stands for it"); process.exit(1)',
        ),
      },
      {
        approvals: { builtin: ['*', 'run_check', 'edit_file', 'write_file'] },
        files: { 'a.js': 'value 0\n' },
      },
    );
    const check = ['run_check', { name: 'test' }] as const;
    const edit = (from: string, to: string) =>
      ['edit_file', { path: 'a.js', old_string: from, new_string: to }] as const;
    const { answers, result } = await turn(
      [check, edit('value 0', 'value 1')],
      [edit('value 1', 'value 2')],
      [check],
      [edit('value 2', 'value 1')],
      [check],
      [edit('value 1', 'value 2')],
      [check],
    );
    t.equal(result.finishReason, 'stop', 'the same check after each edit is no loop');
    t.match(answers[0], /value 1/, 'it waits for the edit beside it');
    t.notMatch(answers.join('\n'), /Same call as before/);
    const stuck = await turn([check], [check], [check], [check], [check]);
    t.match(stuck.answers[1], /Same call as before, same result/);
    t.equal(stuck.result.finishReason, 'toolLoop');
  },
);

t.test(
  'a suggestion of the project counts once the user has taken it, and until its file changes',
  async (t) => {
    const manifest = (test: string) =>
      JSON.stringify({ scripts: { test, lint: 'eslint .', postinstall: 'x' } });
    const { daemon, folder, home, turn, questions } = await daemonWithChecks(
      t,
      { lint: node('console.log("own lint")') },
      {
        decide: () => 'once',
        files: {
          'package.json': manifest('node -e "console.log(1 + 1)"'),
          Makefile: 'test: all\n\ttrue\ncheck:\n\ttrue\nlint := no\n',
          'pyproject.toml': '[tool.ruff]\n',
          'Cargo.toml': '',
          'go.mod': 'module x\n',
        },
      },
    );
    const suggest = () => daemon.request(suggestChecksRequest, {});
    const { suggestions } = await suggest();
    t.strictSame(
      suggestions.map(({ name, command, file }) => [name, command.join(' '), file]),
      [
        ['test', 'npm run test', 'package.json'],
        ['check', 'make check', 'Makefile'],
        ['vet', 'go vet ./...', 'go.mod'],
      ],
      'a name that is taken is not suggested',
    );
    const [test] = suggestions;
    t.ok(test);
    const round = [['run_check', { name: 'test' }]] as const;
    t.match((await turn([...round])).answers, [/do not match the schema/], 'a suggestion is no check');
    const { name = '', hash = '' } = test ?? {};
    for (const wrong of [{ hash: 'x' }, { name: 'lint' }, { folder: home }])
      await t.rejects(daemon.request(allowCheckRequest, { folder, name, hash, ...wrong }));
    await daemon.request(allowCheckRequest, { folder, name, hash });
    const { checks } = await daemon.request(listChecksRequest, {});
    t.strictSame(
      checks.map((one) => one.name),
      ['test', 'lint'],
    );
    t.match((await turn([...round])).answers, [/^exit code 0 after [\s\S]*\n2$/]);
    t.match(questions.at(-1), { command: ['npm', 'run', 'test'] });
    await writeFile(join(folder, 'package.json'), manifest('touch ran'));
    t.match((await turn([...round])).answers, [/do not match the schema/], 'another script is another check');
    t.match((await suggest()).suggestions[0], { name: 'test' });
    const { mode } = await stat(join(home, 'runner', 'approvals.json'));
    if (process.platform !== 'win32') t.equal(mode & 0o077, 0);
  },
);

t.test('what the configuration has wrong is named, and nothing of it runs', async (t) => {
  const wrong: readonly [string, unknown, RegExp][] = [
    ['a text', { '/p': { test: { command: 'npm test' } } }, /it is no list of words/],
    ['no words', { '/p': { test: { command: [] } } }, /it is empty/],
    ['a relative folder', { proj: { test: { command: ['a'] } } }, /not an absolute path/],
    ['a name', { '/p': { 'a b': { command: ['a'] } } }, /a name has up to 32 letters/],
    ['a path within a word', { '/p': { test: { command: ['a', '--in={path}'] } } }, /is a word of its own/],
    ['a path for a program', { '/p': { test: { command: ['{path}'] } } }, /its first word is no program/],
    ['a time', { '/p': { test: { command: ['a'], timeout: 0 } } }, /timeout/],
    ['NUL', { '/p': { test: { command: ['a\0'] } } }, /no NUL/],
  ];
  for (const [name, checks, problem] of wrong) {
    const { runner, ask, daemon } = await startWithTools(t, [], {
      builtinTools: true,
      userConfig: { checks },
      pair: { capabilities: { experimental: { runner: { folder: await temporaryFolder(t) } } } },
    });
    runner.say('ok');
    await ask();
    t.notOk(offeredTo(runner).includes('run_check'), name);
    await poll(async () => daemon.logs.some(({ message }) => problem.test(message)), Boolean);
  }
});
