import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type McpServer,
  methods,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import type { Test } from 'tap';
import t from 'tap';
import { builtinServer } from '../../protocol/messages/tools.ts';
import { type AcpPairOptions, startAcpPair } from '../support/acpPair.ts';
import { failsWith } from '../support/failsWith.ts';
import { startMcpStandIn } from '../support/mcpStandIn.ts';
import type { StandInModel } from '../support/runner/standInModel.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { echo, offeredTo, toolServerPath } from '../support/toolDaemon.ts';
import { poll } from '../support/waiting.ts';

const { session: call } = methods.agent;

const able: StandInModel = {
  name: 'able:8b',
  capabilities: ['completion', 'tools'],
  contextLength: 131_072,
};
const seer: StandInModel = { name: 'seer:4b', capabilities: ['completion', 'tools', 'vision'] };
const plain: StandInModel = { name: 'plain:1b', capabilities: ['completion'] };

async function start(t: Test, more: Partial<AcpPairOptions> = {}) {
  const runner = await startStandIn({ models: [able, seer, plain] });
  t.teardown(() => runner.close());
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'runner'));
  const questions: RequestPermissionRequest[] = [];
  const decide = more.decide ?? (() => chosen('once'));
  const acp = await startAcpPair(t, {
    ...{ host: runner.url, state: folder, config: folder },
    ...more,
    decide(question) {
      questions.push(question);
      return decide(question);
    },
  });
  const record = (kind: string) => join(folder, `${kind}.jsonl`);
  const server = (name: string, kind = 'good', file = kind): McpServer => ({
    ...{ name, command: process.execPath, args: [toolServerPath, kind, record(file)] },
    env: [{ name: 'PLAIN', value: 'a-word-of-the-editor' }],
  });
  const open = (...mcpServers: McpServer[]) => acp.agent.request(call.new, { cwd: folder, mcpServers });
  const ask = (sessionId: string, text = 'go') =>
    acp.agent.request(call.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  const recorded = (file: string): readonly Record<string, unknown>[] => {
    try {
      return readFileSync(record(file), 'utf8')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    } catch {
      return [];
    }
  };
  return { runner, acp, questions, folder, server, open, ask, recorded };
}

async function eventually(is: () => boolean): Promise<void> {
  await poll(
    async () => is(),
    (value) => value,
  );
}

function chosen(optionId: string): RequestPermissionOutcome {
  return { outcome: 'selected', optionId };
}

type ToolUpdate = Extract<SessionUpdate, { sessionUpdate: 'tool_call' | 'tool_call_update' }>;

function toolUpdates(updates: readonly { readonly update: SessionUpdate }[]): readonly ToolUpdate[] {
  return updates.flatMap(({ update }) =>
    update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update' ? [update] : [],
  );
}

/** Without the reports of a call that is in progress already. */
const statusesOf = (updates: readonly { readonly update: SessionUpdate }[]) =>
  toolUpdates(updates)
    .map(({ status }) => status)
    .filter((status, index, all) => status !== all[index - 1]);

t.test('a call is shown, asked about, run and answered; a loaded session shows it again', async (t) => {
  const { runner, acp, questions, folder, server, open, ask, recorded } = await start(t);
  t.same(acp.initialized.agentCapabilities?.mcpCapabilities, { http: true });
  const { sessionId } = await open(server('good'));
  t.same(recorded('good'), [], 'nothing is started before a prompt');
  runner.toolCalls([echo('hi ```\u202e')], { text: 'Let me see. ' });
  runner.say('It says hi.');
  t.same(await ask(sessionId), { stopReason: 'end_turn' });
  t.equal(acp.text(sessionId), 'Let me see. It says hi.');
  const said = 'You said hi ```\u202e.';
  const shown = {
    ...{ toolCallId: 'call_1', title: 'Echo (good) word=hi ```', name: 'echo', kind: 'read' },
    rawInput: { word: 'hi ```\u202e' },
  };
  t.match(toolUpdates(acp.updates), [
    { sessionUpdate: 'tool_call', status: 'pending', ...shown },
    { sessionUpdate: 'tool_call_update', toolCallId: 'call_1', status: 'in_progress' },
    {
      ...{ sessionUpdate: 'tool_call_update', toolCallId: 'call_1', status: 'in_progress' },
      content: [{ type: 'content', content: { type: 'text', text: '```\n1 of 2: Listening\n```' } }],
    },
    {
      ...{ sessionUpdate: 'tool_call_update', toolCallId: 'call_1', status: 'completed' },
      content: [{ type: 'content', content: { type: 'text', text: `\`\`\`\`\n${said}\n\`\`\`\`` } }],
      rawOutput: { content: said, isError: false },
    },
  ]);
  t.match(questions, [{ sessionId, toolCall: { ...shown, status: 'pending' } }]);
  t.same(
    questions[0]?.options.map(({ kind }) => kind),
    ['allow_once', 'allow_always', 'reject_once'],
  );
  t.equal(recorded('good').find(({ pid }) => pid)?.['cwd'], folder, 'it starts in the folder of the session');
  runner.say('Again.');
  await ask(sessionId);
  t.match(runner.bodies('/api/chat').at(-1), {
    messages: [
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name: 'echo' } }] },
      { role: 'tool', content: said },
      { role: 'assistant', content: 'It says hi.' },
      { role: 'user' },
    ],
  });
  await acp.agent.request(call.close, { sessionId });
  const before = acp.updates.length;
  await acp.agent.request(call.load, { sessionId, cwd: folder, mcpServers: [] });
  t.match(toolUpdates(acp.updates.slice(before)), [
    { sessionUpdate: 'tool_call', toolCallId: 'call_1', title: 'echo word=hi ```', status: 'completed' },
    { sessionUpdate: 'tool_call_update', status: 'completed', rawOutput: { content: said } },
  ]);
  runner.say('Without.');
  await ask(sessionId);
  t.same(offeredTo(runner), [], 'the servers are those that it was loaded with');
});

t.test('what a title and a question show of a call is cut, and says so', async (t) => {
  const { runner, acp, questions, server, open, ask } = await start(t);
  const { sessionId } = await open(server('good'));
  const long = (length: number) => 'x'.repeat(length);
  const cases: readonly { name: string; called?: string; given?: Record<string, unknown>; want: string }[] = [
    { name: 'a name of 64', called: long(64), want: long(64) },
    { name: 'and of 65', called: long(65), want: `${long(63)}…` },
    { name: 'an argument of 64', given: { [long(64)]: 1 }, want: `a ${long(64)}=1` },
    { name: 'and of 65', given: { [long(65)]: 1 }, want: `a ${long(63)}…=1` },
    { name: 'short ones are first', given: { b: long(9), c: true }, want: `a c=true, b=${long(9)}` },
    { name: 'one line', given: { b: 'x\n\ty\u2066 \u001b[31mz' }, want: 'a b=x y z' },
    { name: '160 in all', given: { b: long(156) }, want: `a b=${long(156)}` },
    { name: 'and 161', given: { b: long(157) }, want: `a b=${long(155)}…` },
    {
      name: 'twenty arguments are enough',
      given: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at + 10}`, 0])),
      want: `a ${Array.from({ length: 20 }, (_, at) => `k${at + 10}=0`).join(', ')}`,
    },
  ];
  runner.toolCalls(cases.map(({ called = 'a', given = {} }) => ({ name: called, arguments: given })));
  runner.say('So.');
  await ask(sessionId);
  const titles = toolUpdates(acp.updates).flatMap((update) =>
    update.sessionUpdate === 'tool_call' ? [update.title] : [],
  );
  for (const [index, { name, want }] of cases.entries()) t.equal(titles[index], want, name);

  const around = JSON.stringify({ word: '' }, undefined, 2).length;
  for (const [length, isCut] of [
    [8_000, false],
    [8_001, true],
  ] as const) {
    runner.toolCalls([echo(long(length - around))]);
    runner.say('So.');
    await ask(sessionId);
    t.equal(JSON.stringify(questions.at(-1)?.toolCall.content).includes('…'), isCut, `${length}`);
  }
});

t.test('a long call shows what its server reports, until its result', async (t) => {
  const { runner, acp, server, open, ask } = await start(t);
  const { sessionId } = await open(server('good'));
  runner.toolCalls([{ name: 'progress', arguments: {} }]);
  runner.say('ok');
  await ask(sessionId);
  const [, , first, ...more] = toolUpdates(acp.updates);
  const step = { type: 'text', text: /^```\n\d of 8: Step \d of 8\n```$/ };
  t.match(first, { status: 'in_progress', content: [{ type: 'content', content: step }] });
  t.match(more.at(-1), { status: 'completed', content: [{ content: { text: '```\ndone\n```' } }] });
});

t.test('images of a result are images, in a loaded session too', async (t) => {
  const { runner, acp, folder, server, open, ask } = await start(t);
  const { sessionId } = await open(server('good'));
  runner.toolCalls([{ name: 'image', arguments: {} }]);
  runner.say('A dot.');
  await ask(sessionId);
  const image = { type: 'content', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } };
  const words = {
    type: 'content',
    content: { type: 'text', text: '```\nLook:\n[image, image/png]\n```' },
  };
  t.strictSame(toolUpdates(acp.updates).at(-1)?.content, [words, image]);
  const other = await startAcpPair(t, { host: runner.url, state: folder, config: folder });
  await acp.hangUp();
  await other.agent.request(call.load, { sessionId, cwd: folder, mcpServers: [] });
  t.strictSame(toolUpdates(other.updates).at(-1)?.content, [words, image]);
});

t.test('what is allowed, denied, cancelled, unknown, wrong or failing', async (t) => {
  const outcomes: RequestPermissionOutcome[] = [];
  const { runner, acp, questions, server, open, ask, recorded } = await start(t, {
    decide: () => outcomes.shift() ?? { outcome: 'cancelled' },
  });
  const { sessionId } = await open(server('good'));
  const cases = [
    { name: 'a denial', outcome: chosen('deny'), want: [['pending', 'failed'], /did not allow/] },
    {
      name: 'a question that was cancelled',
      outcome: { outcome: 'cancelled' } as const,
      want: [['pending', 'failed'], /did not allow/],
    },
    { name: 'no option of ours', outcome: chosen('yes'), want: [['pending', 'failed'], /did not allow/] },
    {
      name: 'always',
      outcome: chosen('always'),
      want: [['pending', 'in_progress', 'completed'], /You said/],
    },
    { name: 'asked no more', want: [['pending', 'in_progress', 'completed'], /You said/] },
    {
      name: 'a tool that there is not',
      calls: [{ id: 'c', name: 'nope', arguments: {} }],
      want: [['pending', 'failed'], /There is no tool/],
    },
    {
      name: 'wrong arguments',
      calls: [{ id: 'c', name: 'echo', arguments: { word: 5 } }],
      want: [['pending', 'failed'], /word/],
    },
    {
      name: 'a tool that fails',
      outcome: chosen('once'),
      calls: [{ id: 'c', name: 'fail', arguments: {} }],
      want: [['pending', 'in_progress', 'failed'], /did not work/],
    },
  ] as const;
  for (const { name, want, ...given } of cases)
    await t.test(name, async (t) => {
      const { calls = [echo('x')], outcome } = { calls: undefined, outcome: undefined, ...given };
      const [before, asked] = [acp.updates.length, questions.length];
      if (outcome) outcomes.push(outcome);
      runner.toolCalls(calls);
      runner.say('So.');
      t.same(await ask(sessionId), { stopReason: 'end_turn' });
      t.same(statusesOf(acp.updates.slice(before)), want[0]);
      t.match(toolUpdates(acp.updates).at(-1), { rawOutput: { content: want[1] } });
      t.equal(questions.length - asked, outcome ? 1 : 0, 'how often the user is asked');
    });
  for (let round = 0; round < 41; round += 1) runner.toolCalls([echo(`more ${round}`)]);
  t.same(await ask(sessionId), { stopReason: 'max_turn_requests' }, 'the rounds are used up');
  t.equal(recorded('good').filter(({ called }) => called === 'echo').length, 42);
  runner.on('/api/chat', 5).toolCalls([echo('the same')]);
  t.same(await ask(sessionId), { stopReason: 'max_turn_requests' });
  t.match(JSON.stringify(acp.updates), /the same calls again and again/);
});

t.test('a question names the server and the short arguments, whatever the tool calls itself', async (t) => {
  const { runner, questions, server, open, ask } = await start(t);
  const { sessionId } = await open(server('evil', 'posing'));
  const given = { content: 'y'.repeat(500), path: '/home/ada/.ssh/id_ed25519' };
  runner.toolCalls([{ id: 'p', name: 'send', arguments: given }]);
  runner.say('So.');
  await ask(sessionId);
  t.match(
    questions.map(({ toolCall }) => toolCall.title),
    [
      /^Read Text File \(files\) path=notes\.md x+… \(evil\) path=\/home\/ada\/\.ssh\/id_ed25519, content=y+…$/,
    ],
  );
});

t.test('a cancel reaches the question, the tool server and the runner', async (t) => {
  let answer: (outcome: RequestPermissionOutcome) => void = () => undefined;
  let asked: () => void = () => undefined;
  const { runner, acp, folder, server, open, ask, recorded } = await start(t, {
    decide: ({ toolCall }) =>
      toolCall.name === 'slow'
        ? chosen('once')
        : new Promise((resolve) => {
            answer = resolve;
            asked();
          }),
  });
  const { sessionId } = await open(server('good'));
  const cancelled = { stopReason: 'cancelled' };
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  runner.toolCalls([echo('x')]);
  const waiting = ask(sessionId);
  await isAsked;
  await acp.agent.notify(call.cancel, { sessionId });
  t.same(await waiting, cancelled, 'the question');
  answer({ outcome: 'cancelled' });
  runner.toolCalls([{ id: 's', name: 'slow', arguments: {} }]);
  const running = ask(sessionId);
  await eventually(() => recorded('good').some(({ called }) => called === 'slow'));
  await acp.agent.notify(call.cancel, { sessionId });
  t.same(await running, cancelled, 'the call');
  await eventually(() => recorded('good').some(({ method }) => method === 'notifications/cancelled'));
  const rounds = runner.bodies('/api/chat').length;
  runner.hang();
  const streaming = ask(sessionId);
  await eventually(() => runner.bodies('/api/chat').length > rounds);
  await acp.agent.notify(call.cancel, { sessionId });
  t.same(await streaming, cancelled, 'the runner');
  await acp.agent.request(call.close, { sessionId });
  const before = acp.updates.length;
  await acp.agent.request(call.load, { sessionId, cwd: folder, mcpServers: [] });
  const replayed = toolUpdates(acp.updates.slice(before)).map(({ status }) => status);
  t.same(replayed, ['failed', 'failed', 'failed', 'failed'], 'also when the conversation is loaded');
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

t.test('the servers of eight sessions run; those of the longest idle session end first', async (t) => {
  const { runner, server, open, ask, recorded } = await start(t);
  const names = Array.from({ length: 10 }, (_, at) => `s${at}`);
  const sessions: string[] = [];
  for (const name of names) sessions.push((await open(server('good', 'good', name))).sessionId);
  const use = async (index: number) => {
    runner.say('Yes.');
    await ask(sessions[index] ?? '');
  };
  const ended = () =>
    names.filter((name) => {
      const { pid } = recorded(name).find(({ pid }) => pid) ?? {};
      return typeof pid === 'number' && isGone(pid);
    });
  for (let index = 0; index < 8; index += 1) await use(index);
  await use(0);
  t.same(ended(), [], 'there is room for eight');
  for (const [index, want] of [
    [8, ['s1']],
    [9, ['s1', 's2']],
  ] as const) {
    await use(index);
    await eventually(() => ended().length === want.length);
    t.same(ended(), want, 'not one that was used again');
  }
});

t.test('servers are of one session alone, and end with it', async (t) => {
  const { runner, acp, questions, folder, server, open, ask, recorded } = await start(t);
  const config = join(folder, 'runner', 'config.json');
  mkdirSync(join(folder, 'runner'), { recursive: true });
  const own = { command: process.execPath, args: [toolServerPath, 'shuffled', join(folder, 'own.jsonl')] };
  writeFileSync(config, JSON.stringify({ mcpServers: { own }, approvals: { own: 'always' } }));
  const one = await open(server('My Files!', 'good', 'one'), server('My Files!', 'other', 'two'));
  const two = await open(server('My Files!', 'good', 'three'));
  const none = await open();
  const talk = async (sessionId: string) => {
    runner.say('Yes.');
    await ask(sessionId);
    return offeredTo(runner);
  };
  const offered = await talk(one.sessionId);
  for (const name of ['My_Files__echo', 'My_Files__2_echo', 'a'])
    t.ok(offered.includes(name), `${name} of ${offered.join(', ')}`);
  t.ok((await talk(two.sessionId)).includes('echo'), 'the same name in another session is another server');
  const posing = await open(server(builtinServer, 'good', 'four'));
  runner.toolCalls([echo('x')]);
  await talk(posing.sessionId);
  t.equal(questions.at(-1)?.toolCall.title, `Echo (${builtinServer}_2) word=x`, 'that of Runner is its own');
  t.same((await talk(none.sessionId)).toSorted(), ['a', 'b'], "the user's own alone");
  const pids = (file: string) => recorded(file).flatMap(({ pid }) => (typeof pid === 'number' ? [pid] : []));
  await acp.agent.request(call.close, { sessionId: one.sessionId });
  for (const file of ['one', 'two']) await eventually(() => pids(file).every(isGone));
  t.notOk(pids('three').some(isGone), 'that of the other session runs on');
  await acp.hangUp();
  for (const file of ['three', 'own']) await eventually(() => pids(file).every(isGone));
  t.notMatch(acp.log.join(''), /a-word-of-the-editor/);
});

t.test('a session that is closed and resumed while its turn ends keeps its servers', async (t) => {
  const { runner, acp, folder, server, open, ask } = await start(t);
  const { sessionId } = await open(server('good'));
  runner.say('Yes.');
  await ask(sessionId);
  runner.tokens(1_000_000, { perSecond: 200 });
  const turn = ask(sessionId);
  await runner.waitFor(() => runner.bodies('/api/chat').length === 2);
  const closing = acp.agent.request(call.close, { sessionId });
  await acp.agent.request(call.resume, { sessionId, cwd: folder, mcpServers: [server('next', 'shuffled')] });
  await closing;
  t.match(await turn, { stopReason: 'cancelled' });
  runner.say('Yes.');
  await ask(sessionId);
  t.same(offeredTo(runner).toSorted(), ['a', 'b']);
});

t.test('over HTTP with headers; servers with other transports; models without tools', async (t) => {
  const { runner, acp, server, open, ask } = await start(t);
  const remote = await startMcpStandIn('a-token-of-the-editor');
  t.teardown(() => remote.close());
  const headers = [{ name: 'Authorization', value: 'Bearer a-token-of-the-editor' }];
  const { sessionId } = await open({ type: 'http', name: 'far', url: `${remote.url}/mcp`, headers });
  runner.toolCalls([{ id: 'h', name: 'search_docs', arguments: { query: 'x' } }]);
  runner.say('Done.');
  await ask(sessionId);
  t.match(toolUpdates(acp.updates).at(-1), {
    ...{ status: 'completed', rawOutput: { content: 'Nothing was found.' } },
  });
  await t.rejects(
    open({ type: 'sse', name: 'old', url: remote.url, headers: [] }),
    failsWith({ code: -32602, data: { path: 'mcpServers[0].type' }, message: /"sse" is not supported/ }),
  );
  await t.rejects(
    open(...Array.from({ length: 65 }, () => server('x'))),
    failsWith({ code: -32602, data: { path: 'mcpServers' } }),
  );
  const broken = await open(server('good'), server('ends', 'ends'));
  for (const words of ['One.', ' Two.']) {
    runner.say(words);
    await ask(broken.sessionId);
  }
  t.match(acp.text(broken.sessionId), /^> The tool server ends .*\n\nOne\. Two\.$/, 'it is said once');
  t.ok(offeredTo(runner).includes('echo'), 'the others are there');
  await acp.agent.request(call.setConfigOption, {
    ...{ sessionId: broken.sessionId, configId: 'model', value: plain.name },
  });
  for (const words of ['Three.', ' Four.']) {
    runner.say(words);
    await ask(broken.sessionId);
  }
  t.match(acp.text(broken.sessionId), /> plain:1b cannot use tools[^>]*Three\. Four\.$/, 'once, too');
  t.same(offeredTo(runner), []);
});

/** A session whose user has switched the built-in tools on, in a folder with these files. */
async function startInFolder(
  t: Test,
  files: Readonly<Record<string, string>>,
  more: Partial<AcpPairOptions> = {},
) {
  const top = await realpath(await temporaryFolder(t, { 'runner/config.json': '{"builtinTools": true}' }));
  const folder = join(top, 'work');
  await writeFiles(folder, files);
  const started = await start(t, { config: top, ...more });
  const { sessionId } = await started.acp.agent.request(call.new, { cwd: folder, mcpServers: [] });
  const edit = async (path: string, old: string, wanted: string) => {
    const edits = [{ old, new: wanted }];
    started.runner.toolCalls([{ id: `edit-${path}-${old}`, name: 'edit_file', arguments: { path, edits } }]);
    started.runner.say('Done.');
    await started.ask(sessionId);
    return toolUpdates(started.acp.updates).at(-1);
  };
  const at = (name: string) => join(folder, name);
  return { ...started, edit, at, sessionId, onDisk: (name: string) => readFileSync(at(name), 'utf8') };
}

t.test('an edit is a difference of the protocol, allowed once or denied', async (t) => {
  const answers = ['deny', 'always', 'once'];
  const { acp, ask, edit, at, onDisk, questions, runner, sessionId } = await startInFolder(
    t,
    { 'a.txt': 'one\r\ntwo\r\n' },
    { decide: () => chosen(answers.shift() ?? 'once') },
  );
  t.match(await edit('a.txt', 'one', '1'), { status: 'failed', rawOutput: { content: /did not allow/ } });
  t.match(toolUpdates(acp.updates)[0], { locations: [{ path: at('a.txt') }] }, 'an editor follows it');
  t.same(offeredTo(runner), ['list_files', 'search_files', 'read_file', 'edit_file', 'write_file']);
  const diff = { type: 'diff', path: at('a.txt'), oldText: 'one\r\ntwo\r\n', newText: '1\r\ntwo\r\n' };
  t.match(questions[0], {
    toolCall: {
      ...{ kind: 'edit', title: 'Edit a.txt' },
      ...{ content: [diff], locations: [{ path: at('a.txt') }] },
    },
    options: [
      { kind: 'allow_once' },
      { kind: 'allow_always', name: 'Allow all edits of this answer' },
      { kind: 'reject_once' },
    ],
  });
  t.equal(questions[0]?.options.length, 3);
  t.match(await edit('a.txt', 'one', '1'), { status: 'failed' }, 'an answer that was not offered');
  t.equal(onDisk('a.txt'), 'one\r\ntwo\r\n');
  t.match(
    await edit('a.txt', 'one', '1'),
    { status: 'completed', content: [diff] },
    'it stays on the screen',
  );
  t.equal(onDisk('a.txt'), '1\r\ntwo\r\n');
  for (const [name, given, title, kind] of [
    ['search_files', { query: 'two', path: 'a.txt' }, 'Search "two" in a.txt', 'search'],
    ['list_files', {}, 'List the project folder', 'read'],
    ['read_file', { path: 'a.txt', start_line: 2, end_line: 2 }, 'Read a.txt (lines 2-2)', 'read'],
  ] as const) {
    runner.toolCalls([{ id: title, name, arguments: given }]);
    runner.say('So.');
    await ask(sessionId);
    t.match(
      toolUpdates(acp.updates).find((update) => update.toolCallId === title),
      { title, kind },
    );
  }
  t.match(await edit('new.txt', '', 'new\n'), { content: [{ oldText: null, newText: 'new\n' }] });
  t.equal(onDisk('new.txt'), 'new\n');
});

t.test('a session has modes, and commands for what was done in it', async (t) => {
  const state = await temporaryFolder(t);
  const { acp, ask, at, edit, onDisk, questions, runner, sessionId } = await startInFolder(
    t,
    { 'a.txt': 'one\n', 'package.json': '{ "scripts": { "test": "node a.js" } }\n' },
    { state, mode: 'edit', decide: ({ options }) => chosen(options[0]?.optionId ?? '') },
  );
  const updates = (kind: string) =>
    acp.updates.flatMap(({ update }) => (update.sessionUpdate === kind ? [update] : []));
  const say = async (text: string) => {
    const before = acp.text(sessionId).length;
    await ask(sessionId, text);
    return acp.text(sessionId).slice(before);
  };
  await acp.waitFor('available_commands_update');
  t.match(updates('available_commands_update').at(-1), {
    availableCommands: [{ name: 'mode' }, { name: 'check' }, { name: 'undo' }, { name: 'redo' }],
  });
  const diff = { type: 'diff', path: at('a.txt'), oldText: 'one\n', newText: '1\n' };
  t.match(await edit('a.txt', 'one', '1'), { status: 'completed', content: [diff] });
  t.equal(questions.length, 0);
  t.equal(onDisk('a.txt'), '1\n');
  t.match(await say('/undo'), /forgotten the last prompt and its answer\.\nTook back the edits of a\.txt\./);
  t.equal(onDisk('a.txt'), 'one\n');
  t.match(await say('/redo'), /Brought back the edits of a\.txt\./);
  t.equal(onDisk('a.txt'), '1\n');
  t.match(await say('/undo'), /There is no prompt yet/);
  t.match(await edit('package.json', 'node a.js', 'node b.js'), { status: 'completed' });
  t.equal(questions.length, 1, 'some files are asked about in every mode');

  t.match(await say('/check'), /- test: `npm run test`, suggested by package\.json; "\/check test" takes it/);
  t.match(await say('/check test'), /The check test counts from the next prompt on/);
  t.match(questions.at(-1)?.toolCall.title, /Let models run npm run test here, until package\.json changes/);

  t.match(await say('/mode'), /The mode is Edit: edits without a question/);
  t.match(await say('/mode all'), /There is no mode "all"\. There are: read, ask, edit, auto\./);
  t.match(await say('/mode read'), /The mode is Read/);
  t.match(updates('current_mode_update').at(-1), { currentModeId: 'read' });
  const isOption = (mode: string) => ({
    configOptions: [{ id: 'model' }, { id: 'mode', category: 'mode', currentValue: mode }],
  });
  t.match(updates('config_option_update').at(-1), isOption('read'));
  runner.say('So.');
  await ask(sessionId);
  t.same(offeredTo(runner), ['list_files', 'search_files', 'read_file']);
  await acp.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'ask' });
  t.match(updates('config_option_update').at(-1), isOption('ask'));
  await t.rejects(acp.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'all' }), {
    code: -32602,
  });
  const chosenNow = await acp.agent.request(methods.agent.session.setConfigOption, {
    ...{ sessionId, configId: 'mode', value: 'auto' },
  });
  t.match(chosenNow, isOption('auto'));
  t.match(updates('current_mode_update').at(-1), { currentModeId: 'auto' });
  const before = questions.length;
  runner.toolCalls([{ id: 'c', name: 'read_file', arguments: { path: 'a.txt' } }]);
  runner.say('So.');
  await ask(sessionId);
  t.equal(questions.length, before);

  await acp.agent.request(methods.agent.session.close, { sessionId });
  const again = await acp.agent.request(methods.agent.session.resume, {
    sessionId,
    cwd: at('.'),
    mcpServers: [],
  });
  t.equal(again.modes?.currentModeId, 'ask', 'a conversation begins again in the mode ask');
  t.match(again.modes?.availableModes, [{ id: 'read' }, { id: 'ask' }, { id: 'edit' }, { id: 'auto' }]);
});

t.test('a check is asked with its command, and the editor gets all of what it writes', async (t) => {
  const code = 'for (let at = 0; at < 40; at += 1) console.log("line", at)';
  const { acp, ask, at, questions, runner, sessionId } = await startInFolder(
    t,
    { 'a.txt': '' },
    { decide: () => chosen('once') },
  );
  const checks = { [at('.')]: { test: { command: [process.execPath, '-e', code, '{path}'] } } };
  writeFileSync(at('../runner/config.json'), JSON.stringify({ builtinTools: true, checks }));
  runner.toolCalls([{ id: 'c', name: 'run_check', arguments: { name: 'test', path: 'a.txt' } }]);
  runner.say('So.');
  await ask(sessionId);
  t.match(questions[0], {
    toolCall: { kind: 'execute', title: 'Run check test for a.txt' },
    options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }],
  });
  t.match(JSON.stringify(questions[0]?.toolCall.content), /console\.log.* a\.txt/);
  t.match(toolUpdates(acp.updates).at(-1), {
    status: 'completed',
    content: [{ content: { text: /exit code 0 after .*\nline 0\nline 1\n/ } }],
    rawOutput: { content: /The last 10 of 40 lines/ },
  });
});

t.test("the editor's own file system is used, so that nothing unsaved is lost", async (t) => {
  const files = new Map<string, string>();
  const { edit, at, onDisk, questions } = await startInFolder(
    t,
    { 'a.txt': 'one\r\ntwo\r\n', 'b.txt': 'b\n', 'c.txt': 'c\n' },
    { capabilities: { fs: { readTextFile: true, writeTextFile: true } }, files },
  );
  files.set(at('a.txt'), 'one\ntwo\n');
  t.match(await edit('a.txt', 'one\ntwo', 'one\n2'), { status: 'completed' });
  t.equal(files.get(at('a.txt')), 'one\r\n2\r\n', 'saved before: with the line ends of the disk');
  t.equal(onDisk('a.txt'), 'one\r\ntwo\r\n', 'the editor writes');
  files.set(at('b.txt'), 'b\nunsaved\n');
  t.match(await edit('b.txt', 'unsaved', 'edited'), { status: 'completed' });
  t.match(questions.at(-1)?.toolCall.content, [{ oldText: 'b\nunsaved\n', newText: 'b\nedited\n' }]);
  t.equal(files.get(at('b.txt')), 'b\nedited\n');
  t.match(await edit('c.txt', 'c', 'd'), {
    rawOutput: { content: /^The editor refused c\.txt: Resource not found/ },
  });
  await edit('../d.txt', '', 'x');
  await edit('new.txt', '', 'x');
  t.same([...files.keys()], ['a.txt', 'b.txt', 'new.txt'].map(at));
});

t.test('what changes in the editor while the user is asked is not overwritten', async (t) => {
  const files = new Map<string, string>();
  let meanwhile: () => void = () => undefined;
  const { edit, at, onDisk } = await startInFolder(
    t,
    { 'a.txt': 'one\n' },
    {
      ...{ capabilities: { fs: { readTextFile: true } }, files },
      decide() {
        meanwhile();
        return chosen('once');
      },
    },
  );
  files.set(at('a.txt'), 'one\n');
  meanwhile = () => void files.set(at('a.txt'), 'one and more\n');
  t.match(await edit('a.txt', 'one', '1'), { rawOutput: { content: /has changed since the edit was made/ } });
  meanwhile = () => undefined;
  t.match(await edit('a.txt', 'more', '1'), { rawOutput: { content: /unsaved changes in the editor/ } });
  files.set(at('a.txt'), 'one\n');
  t.match(await edit('a.txt', 'one', '1'), { status: 'completed' }, 'an editor that only reads');
  t.equal(onDisk('a.txt'), '1\n');
});

t.test('prompts of the tool servers of a session are commands once the servers run', async (t) => {
  const { runner, acp, open, ask } = await start(t);
  const offering: McpServer = {
    ...{ name: 'team', command: process.execPath },
    ...{ args: [resolve('test', 'support', 'offeringServer.cjs')], env: [] },
  };
  const { sessionId } = await open(offering);
  const commands = () =>
    acp.updates.flatMap(({ update }) =>
      update.sessionUpdate === 'available_commands_update' ? [update.availableCommands] : [],
    );
  runner.say('Done.');
  await ask(sessionId, '/team:review main');
  const body = runner.bodies('/api/chat').at(-1) as { messages: { content: string }[] };
  t.equal(body.messages.at(-1)?.content, 'Review main. @notes.md {{x}}', 'a call starts the server');
  await eventually(() => commands().length > 0);
  t.match(
    commands()
      .at(-1)
      ?.find(({ name }) => name === 'team:review'),
    { description: 'Reviews a branch', input: { hint: 'branch [focus]' } },
  );
  await ask(sessionId, '/team:review');
  t.match(acp.text(sessionId), /needs a value for "branch"/);
});
