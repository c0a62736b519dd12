import { readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { identityOf, identityToName } from '../../daemon/base/processLocks.ts';
import { createSchemaCheck } from '../../daemon/base/schemaCheck.ts';
import { createKeptApprovals } from '../../daemon/tools/approvals.ts';
import { chatRequest } from '../../protocol/messages/chat.ts';
import { createSessionRequest } from '../../protocol/messages/sessions.ts';
import {
  listToolsRequest,
  type StdioToolServer,
  type ToolDecision,
  type ToolProgress,
  toolProgress,
  toolsDidChange,
} from '../../protocol/messages/tools.ts';
import { failsWith } from '../support/failsWith.ts';
import { has, spawnSleeper } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import {
  answersOf,
  echo,
  offeredTo,
  question,
  resultsOf,
  startWithTools,
  toolServerPath,
} from '../support/toolDaemon.ts';
import { poll } from '../support/waiting.ts';

t.test('a call of an MCP tool is run, and the model answers with its result', async (t) => {
  const { runner, recorded, ask } = await startWithTools(t, ['good']);
  runner.toolCalls([echo('hi')], { text: 'Let me see.' });
  runner.say('It says hi.');
  const { result, deltas } = await ask();
  t.equal(result.finishReason, 'stop');
  t.equal(result.message.content, 'It says hi.');
  t.strictSame(result.messages, [
    { role: 'assistant', content: 'Let me see.', toolCalls: [echo('hi')] },
    { role: 'tool', content: 'You said hi.', toolCallId: 'call_1', toolName: 'echo' },
    { role: 'assistant', content: 'It says hi.' },
  ]);
  t.strictSame(
    deltas.map(({ seq }) => seq),
    deltas.map((_, index) => index),
    'one numbering for the whole turn',
  );
  t.strictSame(resultsOf(deltas), [
    { id: 'call_1', name: 'echo', server: 'good', content: 'You said hi.', isError: false },
  ]);
  t.strictSame(
    deltas.map(({ kind }) => kind).filter((kind, index, all) => kind !== all[index - 1]),
    ['text', 'toolCall', 'toolResult', 'text'],
  );
  const bodies = runner.bodies('/api/chat') as { messages: unknown[] }[];
  t.match(bodies[1]?.messages.at(-1), { role: 'tool', content: 'You said hi.', tool_call_id: 'call_1' });
  t.strictSame(offeredTo(runner, 0), offeredTo(runner, 1));
  t.equal((await recorded('good')).filter(({ called }) => called).length, 1);
});

t.test('an unknown name is refused with its path, before anything is started', async (t) => {
  const { daemon, ask, recorded } = await startWithTools(t, ['good']);
  await t.rejects(
    ask({ hostedTools: ['good', 'nobody'] }),
    failsWith({ code: -32602, data: { path: 'hostedTools[1]' } }),
  );
  await t.rejects(
    daemon.request(listToolsRequest, { servers: ['nobody'] }),
    failsWith({
      code: -32602,
      data: { path: 'servers[0]' },
      message: /there is no tool server "nobody"; there are: good/,
    }),
  );
  t.strictSame(await recorded('good'), [], 'no server was started');
});

t.test('the list has every server in its order, with its state and the tools as they are', async (t) => {
  const { daemon } = await startWithTools(t, ['good', 'broken', 'ends'], {
    userConfig: {
      mcpServers: {
        off: { command: 'x', disabled: true },
        wrong: { args: [] },
        speaks: {
          command: process.execPath,
          args: [
            '-e',
            'console.error("first\\nno module for " + process.env.KEY.split("\\n")[1] + "\\n  "); process.exit(2)',
          ],
          env: { KEY: 'line-one\nplanted-secret-7f\tx\nline-three' },
        },
      },
    },
  });
  let changes = 0;
  daemon.on(toolsDidChange, () => (changes += 1));
  const { servers } = await daemon.request(listToolsRequest, {});
  t.strictSame(
    servers.map(({ name, state }) => [name, state]),
    [
      ['good', 'ready'],
      ['broken', 'ready'],
      ['ends', 'failed'],
      ['off', 'disabled'],
      ['wrong', 'failed'],
      ['speaks', 'failed'],
    ],
  );
  t.strictSame(servers[0]?.tools[0], {
    name: 'echo',
    title: 'Echo',
    description: 'The tool echo.',
    inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
    annotations: { readOnlyHint: true },
  });
  t.equal(servers[2]?.message, 'The tool server ends ended with code 4.');
  t.match(servers[5]?.message, /^The tool server speaks ended with code 2 and wrote: "no module for .+"\.$/);
  t.notMatch(JSON.stringify([servers, daemon.logs]), 'planted-secret');
  t.match(servers[4]?.message, /The entry of wrong is wrong\. It needs "command" or "url"\./);
  t.strictSame(
    servers[1]?.tools.map(({ name }) => name),
    ['twice', 'pattern', 'fine'],
  );
  const warnings = daemon.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);
  t.match(warnings, [
    /wrong is left out/,
    /"large" is left out: its schema has 40,\d{3} characters/,
    /A tool is left out: its description does not follow MCP/,
    /"twice" is left out: another one has the same name/,
    /"deep" is left out: its schema is nested too deeply/,
  ]);
  await daemon.request(listToolsRequest, { servers: ['wrong', 'ends'] });
  const said = daemon.logs.filter(({ message }) => message.includes('wrong is left out'));
  t.equal(said.length, 1, 'told once');
  t.ok(changes >= 2, 'two servers came');
});

t.test('tools of the same name on two servers get different names for the model', async (t) => {
  const { runner, daemon, ask } = await startWithTools(t, ['good', 'other']);
  runner.toolCalls([
    { id: 'a', name: 'good_echo', arguments: { word: 'one' } },
    { id: 'b', name: 'other_good_echo', arguments: {} },
    { id: 'c', name: 'a_b_c_d', arguments: {} },
  ]);
  runner.say('done');
  const client = { name: 'fail', description: '', inputSchema: { type: 'object' } };
  const { result } = await ask({ tools: [client] });
  const offered = offeredTo(runner);
  t.strictSame(offered.slice(0, 3), ['fail', 'good_echo', 'good_fail'], 'the client comes first');
  t.strictSame(offered.slice(-4), ['other_echo', 'a_b_c_d', 'other_good_echo', 'x'.repeat(64)]);
  t.equal(new Set(offered).size, offered.length);
  t.strictSame(answersOf(result.messages), ['You said one.', 'other: good_echo', 'other: a.b c/d']);
  const { servers } = await daemon.request(listToolsRequest, { servers: ['other'] });
  t.equal(servers[0]?.tools[1]?.name, 'a.b c/d', 'lists and approvals have the own name');
});

t.test('what a server gives back is read as a result, and as nothing else', async (t) => {
  const { runner, ask } = await startWithTools(t, ['good']);
  const names = ['fail', 'image', 'link', 'structured', 'odd', 'env', 'long'];
  runner.toolCalls(names.map((name) => ({ id: name, name, arguments: {} })));
  runner.say('done');
  const { result, deltas } = await ask({ model: 'seer', options: { num_ctx: 65_536 } });
  const results = new Map(resultsOf(deltas).map((one) => [one.name, one]));
  t.match(results.get('fail'), { content: 'It did not work.', isError: true });
  t.match(results.get('image'), { content: 'Look:\n[image, image/png]', isError: false, images: ['AAAA'] });
  t.notOk('images' in (results.get('link') ?? {}));
  t.equal(
    results.get('link')?.content,
    'a.txt: file:///a.txt\nthe text of b\n[audio is left out: models here read text and images]',
  );
  t.equal(results.get('structured')?.content, '{"degrees":11}');
  t.match(results.get('odd')?.content, /^<think>hm<\/think><tool_call>.*<\/tool_call>\u001b\[31m\ufffd$/);
  t.equal(results.get('odd')?.isError, false);
  const env = JSON.parse(results.get('env')?.content ?? '{}');
  // The test runner adds its own to each Node that it sees started.
  const inherited = Object.keys(env).filter((name) => !/^_TAPJS|^NODE_OPTIONS$/.test(name));
  if (has('sh')) t.strictSame(inherited.sort(), ['HOME', 'PATH'], 'nothing else is inherited');
  const long = results.get('long')?.content ?? '';
  t.ok(long.length > 11_000 && long.length < 13_000, 'a third of the window, for seven results');
  t.match(long, /^\[[\d,]+ characters are left out after the first part\.\]\n/);
  t.equal(long.indexOf('\ufffd'), -1);
  t.notMatch(long, /[\ud800-\udbff](?![\udc00-\udfff])/, 'no character is cut in half');
  t.strictSame(
    answersOf(result.messages),
    names.map((name) => results.get(name)?.content),
    'in the order of the calls',
  );
  t.equal(result.finishReason, 'stop', 'calls in a result are not run');
  const { messages } = runner.bodies('/api/chat').at(-1) as {
    messages: { role: string; images?: string[] }[];
  };
  t.strictSame(
    messages.filter(({ images }) => images).map(({ role, images }) => [role, images]),
    [['user', ['AAAA']]],
  );
});

t.test('a call that cannot be run is a result that says so, and nobody is asked', async (t) => {
  const { runner, ask, questions, recorded } = await startWithTools(t, ['broken', 'good'], {
    decide: () => 'once',
  });
  const calls = [
    { id: 'a', name: 'nothing_such', arguments: {} },
    { id: 'b', name: 'echo', arguments: { word: 5 } },
    { id: 'c', name: 'echo', arguments: {} },
    { id: 'd', name: 'echo', arguments: { word: 'x'.repeat(1_100_000) } },
    { id: 'e', name: 'pattern', arguments: { word: `${'a'.repeat(60)}!` } },
  ];
  runner.toolCalls(calls);
  runner.say('I see.');
  const { result, deltas } = await ask();
  t.equal(result.finishReason, 'stop');
  t.match(answersOf(result.messages), [
    /^There is no tool "nothing_such"\. The tools are: twice, pattern, fine, echo, fail,/,
    /^The arguments do not match the schema of the tool: \/word must be string\.$/,
    /^The arguments do not match the schema of the tool: they must have required properties word\.$/,
    /^The arguments have 1,100,\d{3} characters/,
    /^The arguments could not be checked against the schema of the tool in time/,
  ]);
  t.ok(resultsOf(deltas).every(({ isError }) => isError));
  t.strictSame(questions, []);
  t.strictSame(
    (await recorded('good')).filter(({ called }) => called),
    [],
  );
});

t.test('the user is asked before a call, and may deny it', async (t) => {
  const answers: ToolDecision[] = ['deny', 'once', 'session'];
  const { runner, ask, questions, recorded } = await startWithTools(t, ['good'], {
    decide: () => answers.shift() ?? ('perhaps' as ToolDecision),
  });
  const words = ['one', 'two', 'three', 'four'];
  runner.toolCalls(words.map((word, index) => echo(word, `id_${index}`)));
  runner.say('ok');
  const { result, deltas } = await ask();
  t.strictSame(answersOf(result.messages), [
    'The user did not allow the call of echo. Go on without it.',
    'You said two.',
    'You said three.',
    'You said four.',
  ]);
  t.strictSame(
    resultsOf(deltas)
      .map(({ isError }) => isError)
      .filter(Boolean),
    [true],
  );
  t.strictSame(
    questions.map(({ toolCall }) => toolCall.id),
    ['id_0', 'id_1', 'id_2'],
    'in the order of the calls, and "session" answers those that wait too',
  );
  t.match(questions[0], {
    streamId: /./,
    toolCall: echo('one', 'id_0'),
    server: 'good',
    title: 'Echo',
    description: 'The tool echo.',
    annotations: { readOnlyHint: true },
  });
  runner.toolCalls([echo('five'), { id: 'f', name: 'fail', arguments: {} }]);
  runner.say('ok');
  const second = await ask();
  t.equal(questions.length, 4, 'the session goes on, for this tool alone');
  t.match(
    answersOf(second.result.messages),
    ['You said five.', /did not allow/],
    'no known answer is a denial',
  );
  t.equal((await recorded('good')).filter(({ called }) => called === 'fail').length, 0);
});

t.test('where nobody can be asked, only what is approved runs', async (t) => {
  const { runner, ask, questions } = await startWithTools(t, ['good'], {
    approvals: { good: ['fail'], other: 'always' },
  });
  runner.toolCalls([echo('x'), { id: 'b', name: 'fail', arguments: {} }]);
  runner.say('ok');
  const { result, deltas } = await ask();
  t.match(answersOf(result.messages), [/nobody can be asked/, 'It did not work.']);
  t.strictSame(
    resultsOf(deltas)
      .map(({ unapprovedTool }) => unapprovedTool)
      .sort(),
    ['echo', undefined],
    'what may be approved is named as the server names it',
  );
  t.strictSame(questions, []);
});

t.test('"always" is kept until the tool changes', async (t) => {
  const userConfig = {};
  const { runner, ask, questions, home } = await startWithTools(t, ['changing'], {
    decide: () => 'always',
    userConfig,
  });
  const turn = async () => {
    runner.toolCalls([echo('x')]);
    runner.say('ok');
    await ask();
  };
  await turn();
  t.equal(questions.length, 1);
  const file = join(home, 'runner', 'approvals.json');
  if (has('modes')) t.equal((await stat(file)).mode & 0o777, 0o600);
  t.equal(JSON.parse(await readFile(file, 'utf8')).approved.length, 1);
  await turn();
  t.equal(questions.length, 2, 'another description is another tool');
  t.match(questions[1]?.description, 'The tool echo, version 2.');
});

t.test('"always" covers all that the question shows', async (t) => {
  for (const [kind, asked] of [
    ['retitled', 2],
    ['hinting', 2],
    ['reordered', 1],
  ] as const) {
    const { runner, ask, questions } = await startWithTools(t, [kind], { decide: () => 'always' });
    for (let turn = 0; turn < 2; turn += 1) {
      runner.toolCalls([echo('x')]);
      runner.say('ok');
      await ask();
    }
    t.equal(questions.length, asked, kind);
  }
});

t.test('a check gets the same time of the processor on a busy machine', async (t) => {
  const endless = { type: 'string', pattern: '^(a+)+$' };
  const text = `${'a'.repeat(40)}!`;
  const readsOfClock = (times: readonly number[]) => {
    let reads = 0;
    const check = createSchemaCheck({ limit: 5, cpuTime: () => times[reads++] ?? 0 });
    t.same(check(endless, text, 'it'), { kind: 'late' });
    const all = reads;
    t.match(check({ type: 'number' }, text, 'it'), { kind: 'wrong' }, 'what is quick is checked');
    return all;
  };
  // The first is that of the beginning.
  t.equal(readsOfClock([100, 105]), 2);
  t.equal(readsOfClock([100, 101, 104.9, 105]), 4);
  t.equal(readsOfClock(Array(20).fill(100)), 10, 'but not for ever');
});

t.test('"always" covers the folder where that decides which program is started', async (t) => {
  const home = await temporaryFolder(t);
  const [one, other] = await Promise.all(
    ['one', 'other'].map(async () =>
      realpath(await temporaryFolder(t, { 'server.cjs': `require(${JSON.stringify(toolServerPath)});` })),
    ),
  );
  const asked = async (folder: string | undefined, entry: StdioToolServer) => {
    const { runner, ask, questions } = await startWithTools(t, [], {
      decide: () => 'always',
      mcpServers: { mine: entry },
      pair: { env: { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: home } },
    });
    runner.toolCalls([echo('x')]);
    runner.say('ok');
    t.strictSame(answersOf((await ask()).result.messages), ['You said x.']);
    return questions.length;
  };
  const command = process.execPath;
  for (const { args, cwd, isPerFolder } of [
    { args: ['./server.cjs', 'good'], isPerFolder: true },
    { args: ['server.cjs', 'good'], isPerFolder: true },
    { args: ['server.cjs', 'good'], cwd: one, isPerFolder: false },
    { args: [toolServerPath, 'good'], isPerFolder: false },
  ]) {
    const entry = { command, args, ...(cwd === undefined ? {} : { cwd }) };
    const name = JSON.stringify({ args, cwd });
    t.equal(await asked(one, entry), 1, name);
    t.equal(await asked(one, entry), 0, `${name}: in the same folder`);
    t.equal(await asked(other, entry), isPerFolder ? 1 : 0, `${name}: in another folder`);
  }
});

t.test('an "always" of before holds in another daemon, for the same entry', async (t) => {
  const first = await startWithTools(t, ['good'], { decide: () => 'always' });
  first.runner.toolCalls([echo('x')]);
  first.runner.say('ok');
  await first.ask();
  const env = { PATH: process.env['PATH'], HOME: first.home, XDG_CONFIG_HOME: first.home };
  for (const { entry, answer } of [
    { entry: first.entry('good'), answer: 'You said y.' },
    { entry: { ...first.entry('good'), env: { MORE: '1' } }, answer: /nobody can be asked/ },
  ]) {
    const { runner, ask } = await startWithTools(t, [], {
      mcpServers: { good: entry },
      approvals: {},
      pair: { env },
    });
    runner.toolCalls([echo('y')]);
    runner.say('ok');
    t.match(answersOf((await ask()).result.messages), [answer]);
  }
});

t.test('an approval by name holds only for the server entry that the user approved', async (t) => {
  const given = await startWithTools(t, []);
  const mine = given.entry('good');
  const other = { ...mine, env: { MORE: '1' } };
  const approvals = { good: 'always' } as const;
  const servers = (entry: object) => ({ mcpServers: { good: entry } });
  const cases = [
    { name: "the user's for the user's own", user: { ...servers(mine), approvals }, runs: true },
    { name: "the user's for the editor's", user: { approvals }, editor: servers(mine), runs: true },
    {
      name: "the user's for a workspace's",
      user: { ...servers(mine), approvals },
      workspace: servers(other),
      runs: true,
    },
    {
      name: "the user's, with no entry of its own, for a workspace's",
      user: { approvals },
      editor: servers(mine),
      workspace: servers(other),
      runs: false,
    },
    { name: "the editor's for its own", editor: { ...servers(mine), approvals }, runs: true },
    { name: "the editor's for the user's own", user: servers(mine), editor: { approvals }, runs: true },
    {
      name: "the editor's for a workspace's",
      editor: { ...servers(mine), approvals },
      workspace: servers(other),
      runs: false,
    },
    {
      name: "the editor's for one of settings that are the user's",
      editor: { ...servers(mine), approvals, sendsUserSettings: true },
      workspace: servers(other),
      runs: true,
    },
  ];
  for (const { name, user = {}, editor = {}, workspace, runs } of cases)
    await t.test(name, async (t) => {
      const { runner, daemon, ask } = await startWithTools(t, [], {
        ...{ userConfig: user, mcpServers: {}, approvals: {} },
        ...editor,
      });
      if (workspace)
        await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
          settings: { runner: workspace },
        });
      runner.toolCalls([echo('x')]);
      runner.say('ok');
      t.match(answersOf((await ask()).result.messages), [runs ? 'You said x.' : /nobody can be asked/]);
    });
});

t.test('"always" adds to what another process writes at the same time', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'approvals.json');
  const kept = createKeptApprovals(path);
  t.teardown(() => kept.close());
  // Another process that lives has marked the file as its own.
  const other = spawnSleeper();
  t.teardown(() => other.kill());
  const mark = join(folder, `approvals.${identityToName(await identityOf(other.pid ?? 0))}`);
  await writeFile(mark, '');
  const adding = Promise.all([kept.add('one'), kept.add('two')]);
  // Long enough for a writer that does not wait.
  for (let read = 0; read < 100; read += 1) t.notOk(await kept.has('one'));
  await writeFile(path, JSON.stringify({ approved: ['of another'] }));
  await rm(mark);
  await adding;
  t.strictSame(JSON.parse(await readFile(path, 'utf8')), { approved: ['of another', 'one', 'two'] });
  t.strictSame(await readdir(folder), ['approvals.json']);
});

t.test('calls of client tools end the turn, and calls of MCP tools beside them are answered', async (t) => {
  const { runner, ask } = await startWithTools(t, ['good']);
  runner.toolCalls([echo('x', 'a'), { id: 'b', name: 'mine', arguments: {} }]);
  const { result } = await ask({
    tools: [{ name: 'mine', description: '', inputSchema: { type: 'object' } }],
  });
  t.equal(result.finishReason, 'toolCalls');
  t.strictSame(
    result.messages?.map(({ role, toolCallId }) => [role, toolCallId]),
    [
      ['assistant', undefined],
      ['tool', 'a'],
    ],
  );
});

t.test('rounds are counted, and the last answer is asked for without tools', async (t) => {
  const { runner, ask } = await startWithTools(t, ['good']);
  for (let round = 0; round < 3; round += 1) runner.toolCalls([echo('again')], { text: `Round ${round}. ` });
  runner.say('That is all.');
  const { result, deltas } = await ask({ maxRounds: 3 });
  t.equal(result.finishReason, 'toolLimit');
  t.equal(result.message.content, 'That is all.');
  t.strictSame(offeredTo(runner), []);
  const ids = result.messages?.flatMap(({ toolCallId }) => toolCallId ?? []) ?? [];
  t.equal(new Set(ids).size, 3, 'a runner that says an id again gets another');
  t.strictSame(
    result.messages?.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)),
    ids,
  );
  const text = deltas.map((delta) => (delta.kind === 'text' ? delta.text : '')).join('');
  t.equal(text, 'Round 0. Round 1. Round 2. That is all.');
  t.equal(result.usage.completionTokens > 4, true);
});

t.test(
  'a model that calls a hundred times at once gets a hundred answers, and few calls are run',
  async (t) => {
    const { runner, ask, recorded } = await startWithTools(t, ['good']);
    runner.toolCalls(Array.from({ length: 100 }, () => echo('again', 'same')));
    runner.say('ok');
    const { result } = await ask();
    const answers = answersOf(result.messages);
    t.equal(answers.length, 100);
    t.equal(answers.filter((answer) => answer === 'You said again.').length, 32);
    t.match(answers.at(-1), /^Only the first 32 calls of an answer are run/);
    t.equal(new Set(result.messages?.map(({ toolCallId }) => toolCallId)).size, 101);
    t.equal((await recorded('good')).filter(({ called }) => called).length, 32);
  },
);

t.test('a call with arguments of 10 MB ends its answer, and the next one goes on', async (t) => {
  const { runner, ask, questions, recorded } = await startWithTools(t, ['good'], { decide: () => 'once' });
  runner.toolCalls([echo('x'.repeat(10_000_000))]);
  await t.rejects(ask(), failsWith({ message: /^The runner sent a line of more than \d+ MB/ }));
  runner.toolCalls([echo('short')]);
  runner.say('ok');
  const { result } = await ask();
  t.strictSame(answersOf(result.messages), ['You said short.']);
  t.equal(questions.length, 1, 'nobody is asked about what is too large');
  t.equal((await recorded('good')).filter(({ called }) => called).length, 1);
});

t.test('a model that takes no tools, and one that cannot write a call, still answer', async (t) => {
  const { runner, ask } = await startWithTools(t, ['good']);
  runner.say('<tool_call>{"name": "echo", "arguments": {"word": </tool_call> Sorry.');
  const broken = await ask();
  t.equal(broken.result.finishReason, 'stop');
  t.match(broken.result.message.content, /Sorry\./);
  t.strictSame(answersOf(broken.result.messages), []);
  runner.failWith(400, { error: 'registry.ollama.ai/library/able does not support tools' });
  runner.say('without');
  const refused = await ask();
  t.equal(refused.result.message.content, 'without');
  t.match(refused.result.notices, [{ code: 'tools-disabled' }]);
  t.strictSame(offeredTo(runner), []);
});

t.test('a cancel reaches the server, and every call has its answer', async (t) => {
  const { runner, ask, recorded } = await startWithTools(t, ['good']);
  runner.toolCalls([{ id: 'a', name: 'slow', arguments: {} }, echo('x', 'b')]);
  const { result, deltas } = await ask({}, { cancelAt: ({ kind }) => kind === 'toolResult' });
  t.equal(result.finishReason, 'cancelled');
  t.strictSame(answersOf(result.messages), ['The call was cancelled.', 'You said x.']);
  t.match(resultsOf(deltas), [{ id: 'b' }, { id: 'a', isError: true }]);
  const called = (await poll(
    () => recorded('good'),
    (lines) => lines.some(({ method }) => method === 'notifications/cancelled'),
  )) as { id?: number; method?: string; params?: { name?: string; requestId?: number } }[];
  const slow = called.find(({ params }) => params?.name === 'slow');
  t.equal(called.find(({ method }) => method === 'notifications/cancelled')?.params?.requestId, slow?.id);
});

t.test('a cancel takes a question back, and nothing is run', async (t) => {
  const stop = new AbortController();
  const never = new Promise<ToolDecision>(() => undefined);
  const { runner, daemon, recorded } = await startWithTools(t, ['good'], {
    decide: () => {
      stop.abort();
      return never;
    },
  });
  runner.toolCalls([echo('x')]);
  const result = await daemon.request(chatRequest, { ...question, streamId: 's' }, stop.signal);
  t.equal(result.finishReason, 'cancelled');
  t.strictSame(answersOf(result.messages), ['The call was cancelled.']);
  t.strictSame(
    (await recorded('good')).filter(({ called }) => called),
    [],
  );
});

t.test('an answer that is cut by a cancel has its calls answered too', async (t) => {
  const { runner, ask } = await startWithTools(t, ['good']);
  runner.toolCalls([echo('x')], { text: 'one two' });
  const { result } = await ask({}, { cancelAt: ({ kind }) => kind === 'toolCall' });
  t.equal(result.finishReason, 'cancelled');
  const calls = result.messages?.flatMap(({ toolCalls = [] }) => toolCalls) ?? [];
  t.equal(answersOf(result.messages).length, calls.length);
  t.equal(calls.length, 1);
});

t.test('what the turn had added goes with an error', async (t) => {
  const { runner, ask } = await startWithTools(t, ['good']);
  runner.toolCalls([echo('x')]);
  runner.errorLine('out of memory', 'so far');
  await t.rejects(
    ask(),
    failsWith({
      data: {
        kind: 'runner-failed',
        partial: { role: 'assistant', content: 'so far' },
        messages: [
          { role: 'assistant', toolCalls: [{ id: 'call_1' }] },
          { role: 'tool', content: 'You said x.' },
          { role: 'assistant', content: 'so far' },
        ],
      },
    }),
  );
});

t.test('the progress of a call is published while it runs', async (t) => {
  const { runner, ask, daemon } = await startWithTools(t, ['good']);
  const reports: ToolProgress[] = [];
  daemon.on(toolProgress, (report) => reports.push(report));
  runner.toolCalls([{ id: 'p', name: 'progress', arguments: {} }]);
  runner.say('ok');
  t.strictSame(answersOf((await ask()).result.messages), ['done']);
  t.ok(reports.length > 0);
  const [first] = reports;
  t.match(first, { id: 'p', streamId: /^stream-/, total: 8, message: /^Step \d of 8$/ });
  const steps = reports.map(({ progress }) => progress);
  t.strictSame(steps, [...steps].sort(), 'in order');
  t.equal(steps.at(-1), 7);
});

t.test('time limits end a call that says nothing, and not one that makes progress', async (t) => {
  const { runner, ask } = await startWithTools(t, ['good'], { timeouts: { tool: 400, toolTotal: 20_000 } });
  runner.toolCalls(['slow', 'progress'].map((name) => ({ id: name, name, arguments: {} })));
  runner.say('ok');
  const { result } = await ask();
  t.strictSame(answersOf(result.messages), ['The tool server good said nothing for 0.4 seconds.', 'done']);
  const limited = await startWithTools(t, ['good'], { timeouts: { toolTotal: 300 } });
  limited.runner.toolCalls([{ id: 'p', name: 'progress', arguments: {} }]);
  limited.runner.say('ok');
  t.strictSame(answersOf((await limited.ask()).result.messages), [
    'The tool server good did not finish the call within 0.3 seconds.',
  ]);
});

t.test(
  'a server that ends is reported, and starts again at the next use, after longer and longer pauses',
  async (t) => {
    let now = 1_000_000;
    const { runner, daemon, ask, recorded } = await startWithTools(t, ['good'], { pair: { now: () => now } });
    const crash = { id: 'c', name: 'crash', arguments: {} };
    runner.toolCalls([crash]);
    runner.toolCalls([echo('still there?')]);
    runner.toolCalls([crash]);
    runner.toolCalls([echo('and now?')]);
    runner.say('ok');
    const { result } = await ask();
    t.strictSame(answersOf(result.messages), [
      'The tool server good ended with code 3.',
      'You said still there?.',
      'The tool server good ended with code 3.',
      'The tool server good ended with code 3. It is started again in a second at the earliest.',
    ]);
    t.equal(daemon.logs.filter(({ message }) => message.includes('good ended with code 3')).length, 2);
    now += 1_000;
    runner.toolCalls([echo('hello')]);
    runner.say('ok');
    t.strictSame(answersOf((await ask()).result.messages), ['You said hello.']);
    t.equal((await recorded('good')).filter(({ pid }) => pid).length, 3);
  },
);

t.test('a server that does not start is left out of the turn, with a notice', async (t) => {
  const { runner, ask } = await startWithTools(t, ['good', 'ends'], {
    userConfig: { mcpServers: { nobody: { command: 'there-is-no-such-program' } } },
  });
  runner.toolCalls([echo('x')]);
  runner.say('ok');
  const { result, deltas } = await ask();
  t.strictSame(answersOf(result.messages), ['You said x.']);
  t.match(result.notices, [
    { code: 'tools-unavailable', message: 'The tool server ends ended with code 4.' },
    {
      code: 'tools-unavailable',
      message:
        'The tool server nobody cannot be started: its command, or the folder in which it should start, does not exist.',
    },
  ]);
  t.equal(deltas[0]?.kind, 'notice');
});

t.test('a server that keeps failing is reported once in a conversation, until that changes', async (t) => {
  let now = 1_000_000;
  const { runner, ask, daemon } = await startWithTools(t, ['good', 'ends'], { pair: { now: () => now } });
  const { session } = await daemon.request(createSessionRequest, {});
  const reported = async () => {
    runner.say('ok');
    const { result } = await ask({ session: session.id, history: 'kept' });
    return result.notices.map(({ message }) => message);
  };
  t.match(await reported(), [/ends ended with code 4/]);
  t.strictSame(await reported(), []);
  t.strictSame(await reported(), [], 'the time of the next attempt is no news');
  now += 100_000;
  t.strictSame(await reported(), []);
});

t.test('no server is started for a model that has no tools', async (t) => {
  const { runner, ask, recorded } = await startWithTools(t, ['good'], {
    models: [{ name: 'plain:latest', capabilities: ['completion'] }],
  });
  runner.say('ok');
  const { result } = await ask({ model: 'plain' });
  t.match(result.notices, [{ code: 'tools-disabled', message: /^plain does not support tools/ }]);
  t.strictSame(await recorded('good'), []);
  t.strictSame(offeredTo(runner), []);
  runner.say('ok');
  const unasked = await ask({ model: 'plain', hostedTools: [] });
  t.strictSame(unasked.result.notices, [], 'nothing was wanted');
});
