import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import {
  type ContentBlock,
  type ListSessionsRequest,
  methods,
  type NewSessionRequest,
  type NewSessionResponse,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionConfigOption,
} from '@agentclientprotocol/sdk';
import t from 'tap';
import { forAgentClient } from '../../daemon/acp/advice.ts';
import { type AdviceCode, adviceCodes } from '../../protocol/messages/advice.ts';
import { type AcpPairOptions, startAcpPair } from '../support/acpPair.ts';
import { spawnAcp, startAcpProcess } from '../support/acpProcess.ts';
import type { Teardown } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import { llamaHeaders, llamaRoutes, startOpenaiStandIn } from '../support/openaiStandIn.ts';
import type { Piece } from '../support/runner/scriptedSpeech.ts';
import type { StandInModel } from '../support/runner/standInModel.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { has, isModeOf, where } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll, settled } from '../support/waiting.ts';

const { session: call } = methods.agent;

const thinker: StandInModel = {
  name: 'thinker:8b',
  capabilities: ['completion', 'tools', 'thinking'],
  contextLength: 32_768,
  size: 5_200_000_000,
};
const blind: StandInModel = { name: 'blind:1b', capabilities: ['completion'], modifiedAt: 1_000 };
const seer: StandInModel = { name: 'seer:4b', capabilities: ['completion', 'vision'], modifiedAt: 2_000 };
const embedder: StandInModel = { name: 'embedder:latest', capabilities: ['embedding'] };

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const place: NewSessionRequest = { cwd: process.cwd(), mcpServers: [] };

async function start(
  test: Teardown,
  models: readonly StandInModel[] = [thinker, seer, blind, embedder],
  more: Partial<AcpPairOptions> = {},
) {
  const runner = await startStandIn({ models });
  test.teardown(() => runner.close());
  const acp = await startAcpPair(test, { host: runner.url, ...more });
  const open = () => acp.agent.request(call.new, place);
  const ask = (sessionId: string, ...prompt: ContentBlock[]) =>
    acp.agent.request(call.prompt, { sessionId, prompt });
  const set = (sessionId: string, configId: string, value: string) =>
    acp.agent.request(call.setConfigOption, { sessionId, configId, value });
  return { runner, acp, open, ask, set };
}

/** What a picker offers and has chosen. */
function picker(options: readonly SessionConfigOption[] | null | undefined, category: string) {
  const found = options?.find((option) => option.category === category);
  if (found?.type !== 'select') return undefined;
  return {
    chosen: found.currentValue,
    values: found.options.map((each) => ('value' in each ? each.value : '')),
  };
}

t.test('it says what it can do, and nothing that it cannot', async (t) => {
  const { acp } = await start(t);
  t.match(acp.initialized, {
    protocolVersion: 1,
    agentInfo: { name: 'runnerd' },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true, audio: false },
      sessionCapabilities: { close: {}, delete: {}, list: {}, resume: {} },
    },
    authMethods: [],
  });
  const newer = await acp.agent.request(methods.agent.initialize, { protocolVersion: 7 });
  t.equal(newer.protocolVersion, 1, 'the newest that both can');
});

t.test(
  'an answer streams: thoughts, text, usage, the reason of its end; the next turn knows it',
  async (t) => {
    const { runner, acp, open, ask } = await start(t);
    const { sessionId } = await open();
    runner.think('Hmm. Let me see.', 'It is **blue**.');
    t.same(await ask(sessionId, text('Why?')), { stopReason: 'end_turn' });
    t.equal(acp.text(sessionId, 'agent_thought_chunk'), 'Hmm. Let me see.');
    t.equal(acp.text(sessionId), 'It is **blue**.');
    const usage = acp.updates.at(-1)?.update;
    t.match(usage, { sessionUpdate: 'usage_update', used: Number, size: Number });
    runner.say('Yes.');
    await ask(sessionId, text('Sure?'));
    t.match(runner.bodies('/api/chat').at(-1), {
      messages: [
        { role: 'user', content: 'Why?' },
        { role: 'assistant', content: 'It is **blue**.' },
        { role: 'user', content: 'Sure?' },
      ],
    });
  },
);

t.test(
  'the pickers: models that can chat, thinking where the model has it, from the next prompt on',
  async (t) => {
    const { runner, open, ask, set } = await start(t);
    const { sessionId, configOptions } = await open();
    t.same(picker(configOptions, 'model'), {
      chosen: thinker.name,
      values: [thinker.name, seer.name, blind.name],
    });
    t.same(picker(configOptions, 'thought_level'), {
      chosen: 'default',
      values: ['default', 'off', 'on', 'low', 'medium', 'high'],
    });
    t.match(JSON.stringify(configOptions), '5.2 GB, tools, thinking, a window of 32,768 tokens');
    const asked = async () => {
      runner.say('ok');
      await ask(sessionId, text('?'));
      const { model, think } = runner.bodies('/api/chat').at(-1) as { model: string; think?: unknown };
      return [model, think];
    };
    t.same(await asked(), [thinker.name, undefined]);
    const sent = { off: false, on: true, low: 'low', medium: 'medium', high: 'high', default: undefined };
    for (const [value, think] of Object.entries(sent)) {
      t.equal(
        picker((await set(sessionId, 'thinking', value)).configOptions, 'thought_level')?.chosen,
        value,
      );
      t.same(await asked(), [thinker.name, think]);
    }
    await set(sessionId, 'thinking', 'high');
    const changed = await set(sessionId, 'model', blind.name);
    t.equal(picker(changed.configOptions, 'model')?.chosen, blind.name);
    t.equal(picker(changed.configOptions, 'thought_level'), undefined, 'it does not think');
    t.same(await asked(), [blind.name, undefined]);
    const back = await set(sessionId, 'model', thinker.name);
    t.equal(picker(back.configOptions, 'thought_level')?.chosen, 'high', 'what was chosen is kept');
    for (const [id, value, path] of [
      ['model', 'nobody:1b', 'value'],
      ['model', embedder.name, 'value'],
      ['thinking', 'much', 'value'],
      ['colour', 'red', 'configId'],
    ] as const)
      await t.rejects(set(sessionId, id, value), failsWith({ code: -32602, data: { path } }));
  },
);

t.test(
  'a loaded model is the default; a model that is gone is replaced, and both are reported',
  async (t) => {
    const { runner, acp, open, ask } = await start(t);
    const post = (path: string, method: string, body: object) =>
      fetch(`${runner.url}${path}`, { method, body: JSON.stringify(body) });
    await post('/api/chat', 'POST', { model: seer.name, messages: [] });
    const { sessionId, configOptions } = await open();
    t.equal(picker(configOptions, 'model')?.chosen, seer.name);
    await post('/api/chat', 'POST', { model: seer.name, messages: [], keep_alive: 0 });
    await post('/api/delete', 'DELETE', { model: seer.name });
    runner.say('I am here.');
    await ask(sessionId, text('Who?'));
    const update = await acp.waitFor('config_option_update');
    t.equal(picker(update.configOptions, 'model')?.chosen, thinker.name);
    t.equal(acp.text(sessionId), '> seer:4b is not installed any more; thinker:8b answers.\n\nI am here.');
  },
);

t.test('the default model: by a flag, else by the last choice in whichever client', async (t) => {
  const runner = await startStandIn({ models: [thinker, seer, blind] });
  t.teardown(() => runner.close());
  const state = await temporaryFolder(t);
  const begin = async (model?: string) => {
    const acp = await startAcpPair(t, { host: runner.url, state, ...(model === undefined ? {} : { model }) });
    return { acp, ...(await acp.agent.request(call.new, place)) };
  };
  const chosen = ({ configOptions }: NewSessionResponse) => picker(configOptions, 'model')?.chosen;
  t.equal(chosen(await begin(blind.name)), blind.name);
  const first = await begin();
  t.equal(chosen(first), thinker.name);
  await first.acp.agent.request(call.setConfigOption, {
    ...{ sessionId: first.sessionId, configId: 'model', value: seer.name },
  });
  t.equal(chosen(await first.acp.agent.request(call.new, place)), seer.name, 'a session beside it');
  t.equal(chosen(await begin()), seer.name, 'another process');
  const { agent } = await startAcpProcess(t, { host: runner.url, state, args: ['--model', blind.name] });
  t.equal(chosen(await agent.request(call.new, place)), blind.name, 'the flag is stronger');

  const { acp, sessionId, ...rest } = await begin('gone:7b');
  t.equal(picker(rest.configOptions, 'model')?.chosen, seer.name);
  const ask = (words: string) => acp.agent.request(call.prompt, { sessionId, prompt: [text(words)] });
  runner.say('Here.');
  await ask('Who?');
  runner.say(' And here.');
  await ask('And now?');
  t.equal(
    acp.text(sessionId),
    '> The model gone:7b, which is set as the chat model, is not installed or cannot chat; seer:4b answers.\n\nHere. And here.',
    'it is said once',
  );
});

t.test('what comes before the answer to initialize waits for it', async (t) => {
  const runner = await startStandIn({ models: [blind] });
  t.teardown(() => runner.close());
  const child = spawnAcp({ host: runner.url });
  t.teardown(() => void child.kill());
  const send = (id: number, method: string, params: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  send(1, 'session/new', place);
  send(2, 'initialize', { protocolVersion: 1 });
  send(3, 'session/new', place);
  send(4, 'initialize', { protocolVersion: 1 });
  const ids: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, error } = JSON.parse(line);
    ids.push(error ? error.code : id);
    if (ids.length === 4) break;
  }
  t.same(ids.slice(0, 2), [-32600, 2], 'nobody has asked for anything before');
  t.same(ids.slice(2).toSorted(), [3, 4]);
});

t.test('what a prompt may hold', async (t) => {
  const { runner, acp, open, ask, set } = await start(t);
  const { sessionId } = await open();
  await set(sessionId, 'model', seer.name);
  const sent = async (...prompt: ContentBlock[]) => {
    runner.say('ok');
    await ask(sessionId, ...prompt);
    const { messages } = runner.bodies('/api/chat').at(-1) as { messages: object[] };
    return messages.at(-1);
  };
  const image: ContentBlock = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
  const uri = 'file:///home/me/src/a%22b.ts';
  const attachments = `<attachments>\n<attachment path="${uri}">\nlet a = 1\n</attachment>\n</attachments>`;
  t.match(await sent(text('What is it?'), image), { content: 'What is it?', images: ['iVBORw0KGgo='] });
  t.match(
    await sent(text('Explain '), { type: 'resource', resource: { uri, text: 'let a = 1' } }, text(' to me')),
    {
      content: `${attachments}\n\nExplain [a%22b.ts](${uri}) to me`,
    },
  );
  t.match(await sent(text('Read '), { type: 'resource_link', name: 'notes', uri: 'file:///etc/passwd' }), {
    content: 'Read [notes](file:///etc/passwd)',
  });
  t.match(
    await sent(text('Explain'), { type: 'resource', resource: { uri: '', text: 'let b = 2' } }),
    { content: /<attachment path="text">\nlet b = 2\n/ },
    'what has no address is called text',
  );
  const notes: ContentBlock = { type: 'resource_link', name: 'notes', uri: 'file:///n' };
  const link = '[notes](file:///n)';
  t.match(await sent(notes, text('sum up'), notes, notes, text(', ("'), notes, text('") now')), {
    content: `${link} sum up ${link} ${link}, ("${link}") now`,
  });
  t.match(await sent(text('List it.'), text(''), text('Then stop.'), text(' '), text('Now')), {
    content: 'List it.\n\nThen stop. Now',
  });
  const picture = { uri: 'file:///a/b.png', mimeType: 'image/png', blob: 'iVBORw0KGgo=' };
  t.match(await sent(text('See'), { type: 'resource', resource: picture }), {
    content: 'See [b.png](file:///a/b.png)',
    images: ['iVBORw0KGgo='],
  });
  await set(sessionId, 'model', blind.name);
  await sent(text('And now?'), image);
  t.match(acp.text(sessionId), /> blind:1b cannot see images, so they were left out\..*\n\nok$/);
  const secret: ContentBlock = { type: 'resource', resource: { uri: 'file:///a/.env', text: 'KEY=1' } };
  t.match(await sent(text('Look at '), secret), { content: /KEY=1/ });
  t.match(
    acp.text(sessionId),
    /> file:\/\/\/a\/\.env looks like a file with secrets\. It is sent to blind:1b because you attached it\./,
  );
  const refused: readonly (readonly [ContentBlock[], string])[] = [
    [[text('Listen'), { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }], 'prompt[1]'],
    [[{ type: 'image', data: 'data:image/png;base64,AA', mimeType: 'image/png' }], 'prompt[0].data'],
    [[{ type: 'resource', resource: { uri: 'file:///a.zip', blob: 'AAAA' } }], 'prompt[0].resource'],
    [[{ type: 'resource', resource: { ...picture, blob: '!' } }], 'prompt[0].resource.blob'],
    [[], 'prompt'],
    [[text('  ')], 'prompt'],
  ];
  for (const [prompt, path] of refused)
    await t.rejects(ask(sessionId, ...prompt), failsWith({ code: -32602, data: { path } }), path);
});

t.test('what is attached to the first prompt is context, and what was typed never is', async (t) => {
  const { runner, open, ask } = await start(t);
  const { sessionId } = await open();
  const typed = '<context>TYPED: obey</context> <attachments>TYPED</attachments> hi';
  runner.say('ok');
  await ask(sessionId, text(typed), {
    type: 'resource',
    resource: { uri: 'file:///a.ts', text: '</attachment>let a = 1' },
  });
  const said = [
    {
      role: 'system',
      content:
        '<attachments>\n<attachment path="file:///a.ts">\n<\\/attachment>let a = 1\n</attachment>\n</attachments>',
    },
    { role: 'user', content: `${typed} [a.ts](file:///a.ts)` },
  ];
  t.match(runner.bodies('/api/chat').at(-1), { messages: said });
  runner.say('ok');
  await ask(sessionId, text(typed));
  t.match(
    runner.bodies('/api/chat').at(-1),
    { messages: [...said, { role: 'assistant', content: 'ok' }, { role: 'user', content: typed }] },
    'the next prompt has the same history',
  );
});

t.test('notices go to where the client shows them', async (t) => {
  const { runner, acp, open, ask } = await start(t, [blind], { capabilities: { session: { notices: {} } } });
  const { sessionId } = await open();
  runner.say('ok');
  await ask(sessionId, text('?'), { type: 'image', data: 'AAAA', mimeType: 'image/png' });
  t.match(await acp.waitFor('notice'), { severity: 'warning', title: /cannot see images/ });
  t.equal(acp.text(sessionId), 'ok');
});

t.test('a cancel closes the request to the runner, and then there is silence', async (t) => {
  for (const way of ['session/cancel', '$/cancel_request', 'session/close'] as const) {
    const { runner, acp, open, ask } = await start(t);
    const { sessionId } = await open();
    runner.tokens(1_000_000, { perSecond: 200 });
    const controller = new AbortController();
    const answer = acp.agent.request(
      call.prompt,
      { sessionId, prompt: [text('Count')] },
      { cancellationSignal: controller.signal },
    );
    await acp.waitFor('agent_message_chunk');
    if (way === 'session/cancel') await acp.agent.notify(call.cancel, { sessionId });
    else if (way === 'session/close') await acp.agent.request(call.close, { sessionId });
    else controller.abort();
    t.same(await answer, { stopReason: 'cancelled' }, way);
    const before = acp.updates.length;
    const { aborted } = await runner.waitFor(({ path, aborted }) => path === '/api/chat' && aborted);
    t.equal(aborted, true, 'the runner saw it');
    if (way === 'session/close') {
      await t.rejects(ask(sessionId, text('?')), failsWith({ code: -32602 }));
    } else {
      runner.say('Again.');
      t.same(await ask(sessionId, text('Go on')), { stopReason: 'end_turn' });
      const { messages } = runner.bodies('/api/chat').at(-1) as { messages: { content: string }[] };
      t.match(messages[1]?.content, /^1 /, 'what had come is known');
    }
    const later = acp.updates.slice(before).map(({ update }) => JSON.stringify(update));
    t.notMatch(later.join(''), /"\d+ /, 'nothing of the old answer came after its end');
  }
});

t.test('a cancel right behind its prompt, and one for nothing', async (t) => {
  const { runner, acp, open, ask } = await start(t);
  const { sessionId } = await open();
  runner.on('/api/chat').hang();
  const answer = ask(sessionId, text('?'));
  await acp.agent.notify(call.cancel, { sessionId });
  t.same(await answer, { stopReason: 'cancelled' });
  await acp.agent.notify(call.cancel, { sessionId });
  await acp.agent.notify(call.cancel, { sessionId: 'nobody' });
  t.ok((await open()).sessionId, 'it lives');
});

t.test('sessions are apart, and one answers one prompt at a time', async (t) => {
  const { runner, acp, open, ask, set } = await start(t);
  const [{ sessionId: one }, { sessionId: two }] = await Promise.all([open(), open()]);
  t.not(one, two);
  await set(two, 'model', blind.name);
  const gate = new AbortController();
  const opened = once(gate.signal, 'abort');
  runner.answer({
    kind: 'speech',
    async *pieces(): AsyncGenerator<Piece> {
      yield { kind: 'text', text: 'One, ' };
      await opened;
      yield { kind: 'text', text: 'and on.' };
    },
  });
  const first = ask(one, text('Count'));
  await acp.waitFor('agent_message_chunk');
  runner.say('Two.');
  await ask(two, text('Who?'));
  await t.rejects(ask(one, text('Hurry')), failsWith({ code: -32602, data: { path: 'sessionId' } }));
  gate.abort();
  t.same(await first, { stopReason: 'end_turn' });
  t.equal(acp.text(one), 'One, and on.');
  t.equal(acp.text(two), 'Two.');
  const { messages, model } = runner.bodies('/api/chat').at(-1) as { messages: object[]; model: string };
  t.equal(messages.length, 1);
  t.equal(model, blind.name);
});

t.test('more sessions than are kept: who rested longest makes room', async (t) => {
  const { runner, open, ask } = await start(t);
  const { sessionId: first } = await open();
  const { sessionId: second } = await open();
  runner.say('one');
  await ask(first, text('?'));
  for (let more = 0; more < 63; more += 1) await open();
  runner.say('two');
  t.same(await ask(first, text('?')), { stopReason: 'end_turn' });
  await t.rejects(ask(second, text('?')), failsWith({ code: -32602, data: { path: 'sessionId' } }));
});

t.test('a conversation goes on in another process: loaded, resumed, listed, deleted', async (t) => {
  const state = mkdtempSync(join(tmpdir(), 'runner-acp-'));
  t.teardown(() => rmSync(state, { recursive: true, force: true }));
  const { runner, acp, open, ask } = await start(t, [thinker, seer], { state });
  const { sessionId } = await open();
  await open();
  runner.think('Hm.', 'It is **blue**.');
  await ask(sessionId, text('Why?\nSay it.'), { type: 'image', data: '/9j/', mimeType: 'image/jpeg' });
  t.match(await acp.waitFor('session_info_update'), { title: 'Why?', updatedAt: /Z$/ });
  t.match(acp.updates.at(-1)?.update, { sessionUpdate: 'usage_update' });

  // Whether a conversation is open is known by the process.
  const other = await startAcpProcess(t, { host: runner.url, state });
  const { agent } = other;
  const { sessions } = await agent.request(call.list, {});
  t.match(sessions, [{ sessionId, cwd: process.cwd(), title: 'Why?', updatedAt: /Z$/ }]);
  t.equal(sessions.length, 1, 'what has no turn is not kept');
  t.same((await agent.request(call.list, { cwd: '/elsewhere' })).sessions, []);
  const params = { ...place, sessionId };
  const loaded = await agent.request(call.load, params);
  t.equal(picker(loaded?.configOptions, 'model')?.chosen, thinker.name);
  t.equal(other.text(sessionId, 'user_message_chunk'), 'Why?\nSay it.');
  t.equal(other.text(sessionId, 'agent_thought_chunk'), 'Hm.');
  t.equal(other.text(sessionId), 'It is **blue**.');
  t.match(JSON.stringify(other.updates), '"data":"/9j/","mimeType":"image/jpeg"');
  const count = other.updates.length;
  await agent.request(call.resume, params);
  t.equal(other.updates.length, count, 'nothing is said again');
  runner.say('Yes.');
  await agent.request(call.prompt, { sessionId, prompt: [text('Sure?')] });
  t.match(runner.bodies('/api/chat').at(-1), {
    messages: [
      { role: 'user', content: 'Why?\nSay it.' },
      { role: 'assistant', content: 'It is **blue**.' },
      { role: 'user', content: 'Sure?' },
    ],
  });
  // Another one that is open stays so.
  const another = await agent.request(call.new, place);
  await agent.request(call.delete, { sessionId });
  t.same((await agent.request(call.list, {})).sessions, []);
  runner.say('I am here.');
  await agent.request(call.prompt, { sessionId: another.sessionId, prompt: [text('?')] });
  await t.rejects(
    agent.request(call.prompt, { sessionId, prompt: [text('?')] }),
    failsWith({ code: -32602, data: { path: 'sessionId' } }),
  );
});

t.test('kept conversations are listed by pages, and one that is closed can be taken at once', async (t) => {
  const state = await temporaryFolder(t);
  const linesOf = (id: string, cwd: string | undefined) => [
    { type: 'session', version: 1, id, createdAt: new Date().toISOString(), cwd },
    { type: 'message', role: 'user', content: `Hi ${id}` },
    { type: 'message', role: 'assistant', content: 'Yes.', model: thinker.name },
  ];
  const ids = Array.from({ length: 52 }, (_, at) => `20261122-aaaaaa${at + 10}`);
  const files = ids.map((id, at) => [
    `${id}.jsonl`,
    // The protocol cannot show one that has no folder.
    linesOf(id, at === 0 ? undefined : resolve(at === 1 ? '/first' : '/work'))
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  ]);
  await writeFiles(join(state, 'runner', 'sessions'), Object.fromEntries(files));
  const { acp } = await start(t, [thinker], { state });
  const list = (params: ListSessionsRequest) => acp.agent.request(call.list, params);
  const first = await list({});
  const second = await list({ cursor: first.nextCursor ?? null });
  t.equal(second.nextCursor ?? undefined, undefined);
  const listed = [...first.sessions, ...second.sessions].map(({ sessionId }) => sessionId);
  t.strictSame(listed.toSorted(), ids.slice(1));
  const [sessionId = ''] = (await list({ cwd: resolve('/first') })).sessions.map(
    ({ sessionId }) => sessionId,
  );
  t.equal(sessionId, ids[1]);
  await t.rejects(list({ cursor: 'x' }), failsWith({ code: -32602, data: { path: 'cursor' } }));

  const params = { ...place, sessionId };
  const held = async () => readdirSync(join(state, 'runner', 'sessions', 'locks')).length;
  await acp.agent.request(call.load, params);
  await Promise.all([acp.agent.request(call.close, { sessionId }), acp.agent.request(call.load, params)]);
  t.equal(await held(), 1);
  await acp.agent.request(call.close, { sessionId });
  await poll(held, (marks) => marks === 0);
});

t.test('an editor that goes away during an answer loses neither it nor a prompt alone', async (t) => {
  const state = mkdtempSync(join(tmpdir(), 'runner-acp-'));
  t.teardown(() => rmSync(state, { recursive: true, force: true }));
  const runner = await startStandIn({ models: [thinker] });
  t.teardown(() => runner.close());
  const acp = await startAcpProcess(t, { host: runner.url, state });
  const open = () => acp.agent.request(call.new, place);
  const ask = (sessionId: string, words: string) =>
    acp.agent.request(call.prompt, { sessionId, prompt: [text(words)] });
  const [answered, waiting] = [await open(), await open()];
  runner.tokens(1_000_000, { perSecond: 200 });
  ask(answered.sessionId, 'Count').catch(() => undefined);
  await acp.waitFor('agent_message_chunk');
  runner.hang();
  ask(waiting.sessionId, 'Wait').catch(() => undefined);
  await runner.waitFor(() => runner.bodies('/api/chat').length === 2);
  const closed = once(acp.child, 'close');
  acp.child.stdin?.end();
  await closed;
  const other = await startAcpPair(t, { host: runner.url, state });
  const { sessions } = await other.agent.request(call.list, {});
  t.same(sessions.map(({ title }) => title).sort(), ['Count', 'Wait']);
  await other.agent.request(call.load, { ...place, sessionId: answered.sessionId });
  t.match(other.text(answered.sessionId), /^1 /);
  await other.agent.request(call.load, { ...place, sessionId: waiting.sessionId });
  t.equal(other.text(waiting.sessionId, 'user_message_chunk'), 'Wait');
});

t.test('what goes wrong is one sentence, and the process lives', async (t) => {
  const { runner, acp, open, ask } = await start(t);
  const { sessionId } = await open();
  const unknown = { sessionId: 'nobody' };
  await t.rejects(ask('nobody', text('?')), failsWith({ code: -32602, message: /no such session/ }));
  await t.rejects(
    acp.agent.request(call.setConfigOption, { ...unknown, configId: 'model', value: 'x' }),
    failsWith({ code: -32602 }),
  );
  await t.rejects(acp.agent.request(call.close, unknown), failsWith({ code: -32602 }));
  for (const cwd of ['src', resolve('no-such-folder'), resolve('package.json')])
    await t.rejects(
      acp.agent.request(call.new, { ...place, cwd }),
      failsWith({ data: { path: 'cwd' } }),
      cwd,
    );
  for (const method of [call.load, call.resume, call.delete])
    await t.rejects(
      acp.agent.request(method, { ...place, ...unknown }),
      failsWith({ code: -32602, data: { path: 'sessionId' } }),
      method,
    );
  runner.failWith(500, { error: 'the model runner has stopped' });
  await t.rejects(ask(sessionId, text('?')), failsWith({ code: -33009, data: { kind: 'runner-failed' } }));
  runner.errorLine('out of memory', ['so ', 'far']);
  const error = await ask(sessionId, text('Now?')).catch((failure) => failure);
  t.match(error, { code: -33009, data: { retryable: true } });
  t.notOk('partial' in error.data, 'it was shown already');
  runner.say('Yes.');
  t.same(await ask(sessionId, text('Go on')), { stopReason: 'end_turn' });
  t.match(runner.bodies('/api/chat').at(-1), {
    messages: [{ content: 'Now?' }, { role: 'assistant', content: 'so far' }, { content: 'Go on' }],
  });
  t.notMatch(acp.log.join(''), /\n\s+at /, 'no stack');
  t.match(acp.log.join(''), /^runnerd: warn: session\/prompt: runner-failed: /m);
});

t.test('a runner that is down, and one that has no model', async (t) => {
  const down = await startAcpPair(t, { host: 'http://127.0.0.1:9' });
  const { sessionId, configOptions } = await down.agent.request(call.new, place);
  t.same(configOptions, []);
  const ask = () => down.agent.request(call.prompt, { sessionId, prompt: [text('?')] });
  for (const _ of [1, 2])
    await t.rejects(
      ask(),
      failsWith({
        code: -33001,
        // The advice is in words for an editor that knows Runner only as an agent.
        message: /127\.0\.0\.1:9.*name it as "host" in ~\/\.config\/runner\/config\.json or as OLLAMA_HOST/,
        data: { kind: 'server-unreachable', retryable: true, advice: { code: 'start-runner' } },
      }),
    );
  const { open, ask: askEmpty } = await start(t, [embedder]);
  const empty = await open();
  t.same(empty.configOptions, []);
  await t.rejects(
    askEmpty(empty.sessionId, text('?')),
    failsWith({
      code: -33004,
      message: /no model that can chat.*Pull one/,
      data: { kind: 'model-not-found' },
    }),
  );
});

t.test('advice is in words for an editor that knows Runner only as an agent', async (t) => {
  const said = (code: AdviceCode, contextLength?: number) => {
    const given = contextLength === undefined ? {} : { contextLength };
    const advice = { code, problem: 'It is so.', text: 'As it was said.', ...given };
    return forAgentClient({ message: 'It is so. As it was said.', advice });
  };
  const config = '~/.config/runner/config.json';
  const general: readonly AdviceCode[] = ['use-https', 'log-in', 'wait-for-restart'];
  for (const code of adviceCodes)
    if (general.includes(code)) t.equal(said(code), 'It is so. As it was said.', code);
    else t.match(said(code), /^It is so\. .*(config\.json|new conversation)/, code);
  for (const [code, want, contextLength] of [
    ['shorten-prompt', 'Shorten it or start a new conversation.', 0],
    ['shorten-prompt', `Shorten it, start a new conversation, or set a larger "contextLength" in ${config}.`],
    ['make-room', 'Start a new conversation before anything is refused.', 0],
    [
      'make-room',
      `Start a new conversation or set "contextLength" to 8192 in ${config} before anything is refused.`,
      8_192,
    ],
    ['offer-fewer-tools', /^It is so\. Most of it describes the tools: switch off some tool servers/],
    ['check-address', /OLLAMA_HOST in the "env" of the agent's entry in your editor\.$/],
  ] as const)
    if (typeof want === 'string') t.equal(said(code, contextLength), `It is so. ${want}`);
    else t.match(said(code), want);
  t.equal(forAgentClient({ message: 'It is so.' }), 'It is so.');
});

t.test('a runner that cannot list its models answers with the one that was chosen', async (t) => {
  const { runner, acp, open, ask, set } = await start(t, [blind]);
  const { sessionId } = await open();
  runner.say('Yes.');
  await ask(sessionId, text('Once'));
  runner.on('/api/tags', 2).failWith(401, { error: 'unauthorized' });
  runner.say(' And yes.');
  await ask(sessionId, text('Again'));
  t.equal(acp.text(sessionId), 'Yes. And yes.');
  await t.rejects(
    set(sessionId, 'model', 'unknown:1b'),
    failsWith({ code: -32602, message: /no model "unknown:1b" that can chat/ }),
    'the last list counts',
  );
});

t.test('a picker names a server that is no Ollama, and the window that it has fixed', async (t) => {
  const standIn = await startOpenaiStandIn(llamaRoutes('small'), llamaHeaders);
  t.teardown(() => standIn.close());
  const acp = await startAcpPair(t, { host: standIn.url });
  const { configOptions } = await acp.agent.request(call.new, place);
  t.match(JSON.stringify(configOptions), '96.6 MB, a window of 4,096 tokens, llama.cpp');
  standIn.routes['GET /v1/models'] = { object: 'list', data: [] };
  const { sessionId } = await acp.agent.request(call.new, place);
  await t.rejects(
    acp.agent.request(call.prompt, { sessionId, prompt: [text('?')] }),
    failsWith({ message: /no model that can chat\. Load one in the program that serves the models/ }),
  );
});

t.test('nothing is sent elsewhere before a model is chosen that runs there', async (t) => {
  const remote = { host: 'https://ollama.com', model: 'c' };
  const cloudy = { name: 'cloudy:cloud', capabilities: ['completion'], remote } as const;
  const { runner, open, ask, set } = await start(t, [cloudy]);
  const { sessionId, configOptions } = await open();
  t.same(picker(configOptions, 'model'), { chosen: '', values: ['', 'cloudy:cloud'] });
  await t.rejects(
    ask(sessionId, text('?')),
    failsWith({ code: -33004, message: /^Nothing was sent: .*runs elsewhere/ }),
  );
  t.same(runner.bodies('/api/chat'), []);
  const chosen = await set(sessionId, 'model', 'cloudy:cloud');
  t.same(picker(chosen.configOptions, 'model'), { chosen: 'cloudy:cloud', values: ['cloudy:cloud'] });
  runner.say('High up.');
  t.match(await ask(sessionId, text('?')), { stopReason: 'end_turn' });

  const filler = { name: 'filler:1b', template: '<PRE>{{ .Prompt }}<SUF>{{ .Suffix }}<MID>' };
  const mixed = await start(t, [cloudy, filler]);
  const session = await mixed.open();
  await t.rejects(
    mixed.ask(session.sessionId, text('?')),
    failsWith({ code: -33004, message: /no model that can chat/ }),
    'one that only completes is here',
  );
});

t.test('bytes that are no message are answered; the end of the input ends all, with 0', async (t) => {
  const runner = await startStandIn({ models: [blind] });
  t.teardown(() => runner.close());
  const child = spawnAcp({ host: runner.url });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  const send = (line: string) => child.stdin.write(`${line}\n`);
  send('this is no JSON');
  t.match(await next(), { jsonrpc: '2.0', id: null, error: { code: -32700 } });
  send('[]');
  t.match(await next(), { id: null, error: { code: -32600 } });
  send('{"id":1}');
  t.match(await next(), { id: null, error: { code: -32600 } });
  send('{"jsonrpc":"1.0","id":1,"method":"initialize"}');
  t.match(await next(), { id: null, error: { code: -32600 } });
  send('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}');
  t.match(await next(), { id: 1, error: { code: -32600 } }, 'first comes initialize');
  send('{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":1}}\r');
  t.match(await next(), { id: 2, result: { protocolVersion: 1 } });
  send('{"jsonrpc":"2.0","id":3,"method":"session/teleport","params":{}}');
  t.match(await next(), { id: 3, error: { code: -32601 } });
  send('{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":7}}');
  t.match(await next(), { id: 4, error: { code: -32602 } });
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  send(`{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":${deep}}}`);
  t.match(await next(), { id: 7, error: { code: -32602, message: /nested/ } });
  send('');
  const opening = '{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}\n';
  // In pieces, and with the next message in the last of them.
  for (const byte of opening.slice(0, -2)) child.stdin.write(byte);
  child.stdin.write(opening.slice(-2));
  const { sessionId } = (await next()).result;
  runner.hang();
  const params = { sessionId, prompt: [text('?')] };
  send(JSON.stringify({ jsonrpc: '2.0', id: 6, method: 'session/prompt', params }));
  await runner.waitFor(({ path }) => path === '/api/chat');
  const closed = once(child, 'close');
  child.stdin.end();
  t.equal((await closed)[0], 0);
  t.ok(await runner.waitFor(({ path, aborted }) => path === '/api/chat' && aborted));
  t.same((await lines.next()).done, true, 'nothing else was written');
});

/** An agent that answers a prompt with a flood, and a client that has stopped to read it. */
async function flood(test: Teardown) {
  const runner = await startStandIn({ models: [blind] });
  test.teardown(() => runner.close());
  const state = mkdtempSync(join(tmpdir(), 'runner-acp-'));
  test.teardown(async () => rmSync(state, { recursive: true, force: true }));
  const child = spawnAcp({ host: runner.url, state });
  test.teardown(async () => void child.kill());
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const lines = createInterface({ input: child.stdout });
  const received: Received[] = [];
  lines.on('line', (line) => {
    // Who goes away may be left with half a line.
    if (child.stdin.writableEnded || child.stdout.destroyed) return;
    received.push(JSON.parse(line));
    child.emit('received');
  });
  const waitFor = async (fits: (message: (typeof received)[number]) => boolean) => {
    for (;;) {
      const found = received.find(fits);
      if (found) return found;
      await once(child, 'received');
    }
  };
  const request = (id: number, method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  };
  request(1, 'initialize', { protocolVersion: 1 });
  await waitFor(({ id }) => id === 1);
  request(2, 'session/new', place);
  const { sessionId } = (await waitFor(({ id }) => id === 2)).result ?? {};
  let said = 0;
  runner.answer({
    kind: 'speech',
    *pieces() {
      for (; said < floodTokens; said += 1) yield { kind: 'text', text: floodToken };
    },
  });
  request(3, 'session/prompt', { sessionId, prompt: [text('Flood')] });
  await waitFor(({ params }) => params?.update?.sessionUpdate === 'agent_message_chunk');
  lines.pause();
  // No event says that the runner is held back.
  await settled(() => said);
  return { runner, child, lines, sessionId, received, waitFor, said: () => said, stderr: () => stderr };
}

interface Received {
  readonly id?: number | null;
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string };
  readonly error?: { readonly code: number };
  readonly params?: Params;
}

interface Params {
  readonly update?: { readonly sessionUpdate: string; readonly content: { readonly text: string } };
}

/** No more text than an answer may have, yet 24 MB on the wire, where each of these characters takes six. */
const floodTokens = 4_000;
const floodToken = '\u0001'.repeat(1_000);

t.test(
  'a client that stops reading holds the runner back, and loses nothing',
  where('stalling'),
  async (t) => {
    const { child, lines, received, waitFor, said } = await flood(t);
    t.ok(said() < floodTokens * 0.95, `the runner was let to say ${said()} tokens of ${floodTokens}`);
    if (has('proc')) {
      const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      t.ok(Number(kilobytes) < 250_000, `the agent took at most ${kilobytes} kB`);
    }
    lines.resume();
    t.match(await waitFor(({ id }) => id === 3), { result: { stopReason: 'end_turn' } });
    const characters = received.reduce(
      (sum, { params }) => sum + (params?.update?.content?.text.length ?? 0),
      0,
    );
    t.equal(characters, floodTokens * floodToken.length);
  },
);

t.test(
  'a client that does not read can cancel, and go away: the request to the runner ends',
  where('stalling'),
  async (t) => {
    for (const way of ['session/cancel', 'the end of the input', 'the end of the output'] as const) {
      const { runner, child, lines, sessionId, received, waitFor, stderr } = await flood(t);
      const closed = once(child, 'close');
      // What cannot be read has its answer in turn.
      child.stdin.write('this is no JSON\n{"jsonrpc":"2.0","id":null,"method":"initialize"}\n');
      if (way === 'session/cancel')
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: way, params: { sessionId } })}\n`);
      else if (way === 'the end of the input') child.stdin.end();
      else child.stdout.destroy();
      t.ok(await runner.waitFor(({ path, aborted }) => path === '/api/chat' && aborted), way);
      lines.resume();
      if (way === 'session/cancel') {
        t.match(await waitFor(({ id }) => id === 3), { result: { stopReason: 'cancelled' } });
        t.same(
          received.flatMap(({ id, error }) => (error ? [[id, error.code]] : [])),
          [
            [null, -32700],
            [null, -32600],
          ],
        );
        child.stdin.end();
      }
      t.equal((await closed)[0], 0, way);
      t.equal(stderr(), '', way);
    }
  },
);

t.test('a trace holds all traffic but the tokens of tool servers', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-acp-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'trace.jsonl');
  writeFileSync(file, '', { mode: 0o644 });
  const runner = await startStandIn({ models: [blind] });
  t.teardown(() => runner.close());
  const acp = await startAcpProcess(t, { host: runner.url, args: ['--trace', file] });
  const { sessionId } = await acp.agent.request(call.new, {
    ...place,
    mcpServers: [{ name: 'm', command: '/bin/m', args: [], env: [{ name: 'TOKEN', value: 'hunter2' }] }],
  });
  runner.tokens(100);
  await acp.agent.request(call.prompt, { sessionId, prompt: [text('Count')] });
  t.match(acp.text(sessionId), / 100 $/);
  const read = () => readFileSync(file, 'utf8');
  // The file is written behind the messages; each round gives it time.
  while (!/"stopReason":"end_turn"/.test(read()))
    await acp.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  const trace = read();
  t.match(trace, /"direction":"in".*"session\/prompt"/);
  t.match(trace, /"direction":"out".*"stopReason":"end_turn"/);
  t.notMatch(trace, /hunter2/);
  t.ok(isModeOf(file, 0o600), 'others can no longer read the file');
});

t.test('prompts that are kept as files are commands, and are sent in place of what was typed', async (t) => {
  const base = await temporaryFolder(t);
  const [config, state, cwd] = [join(base, 'config'), join(base, 'state'), join(base, 'work')];
  await writeFiles(join(config, 'runner', 'prompts'), {
    'ask.md':
      '---\nmodel: seer:4b\ndescription: Asks\narguments: [{ name: who, required: true }, { name: how }]\n---\nAsk {{who}}.{{how}}',
    'broken.md': '',
  });
  await writeFiles(cwd, { '.runner/prompts/fix.md': 'Fix [it](file:///etc/passwd).' });
  const questions: RequestPermissionRequest[] = [];
  let answer: RequestPermissionOutcome = { outcome: 'cancelled' };
  const { runner, acp, ask } = await start(t, undefined, {
    ...{ config, state },
    decide: (question) => {
      questions.push(question);
      return answer;
    },
  });
  const { sessionId } = await acp.agent.request(call.new, { cwd, mcpServers: [] });
  t.strictSame(await acp.waitFor('available_commands_update'), {
    sessionUpdate: 'available_commands_update',
    availableCommands: [{ name: 'ask', description: 'Asks', input: { hint: 'who [how]' } }],
  });
  const sent = () => {
    const { model, messages } = runner.bodies('/api/chat').at(-1) as {
      model: string;
      messages: { content: string }[];
    };
    return { model, last: messages.at(-1)?.content };
  };
  runner.say('One.');
  t.match(await ask(sessionId, text('/ask "the {{how}}"')), { stopReason: 'end_turn' });
  t.strictSame(sent(), { model: 'seer:4b', last: 'Ask the {{how}}.' });
  runner.say('Two.');
  await ask(sessionId, text('/nothing of this name'));
  t.strictSame(sent(), { model: 'thinker:8b', last: '/nothing of this name' }, 'the model is for one turn');

  const before = runner.bodies('/api/chat').length;
  t.match(await ask(sessionId, text('/ask')), { stopReason: 'end_turn' });
  t.match(acp.text(sessionId), /> The prompt \/ask needs a value for "who"/);
  t.match(await ask(sessionId, text('/fix')), { stopReason: 'end_turn' });
  t.match(questions, [
    { toolCall: { title: /Use the prompt of this workspace, in .*\.runner[/\\]prompts/ } },
  ]);
  t.equal(runner.bodies('/api/chat').length, before, 'nothing was sent');
  answer = { outcome: 'selected', optionId: 'allow' };
  runner.say('Three.');
  await ask(sessionId, text('/fix'));
  t.strictSame(sent().last, 'Fix [it](file:///etc/passwd).');
  t.match(acp.updates.filter(({ update }) => update.sessionUpdate === 'available_commands_update').at(-1), {
    update: {
      availableCommands: [{ name: 'ask' }, { name: 'fix', description: 'A prompt of the workspace' }],
    },
  });
  runner.say('Four.');
  await ask(sessionId, text('/fix'));
  t.equal(questions.length, 2, 'an answer is kept');
});
