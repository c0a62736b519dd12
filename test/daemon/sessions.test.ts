import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { mock } from 'node:test';
import * as fc from 'fast-check';
import type { Test } from 'tap';
import t from 'tap';
import { ExclusiveWork, identityOf, identityToName, ProcessLocks } from '../../daemon/base/processLocks.ts';
import { ConversationMemory, withHistory } from '../../daemon/sessions/conversationMemory.ts';
import { titleOf, tryRecord } from '../../daemon/sessions/records.ts';
import { AnswerSoFar } from '../../daemon/sessions/runningTurn.ts';
import { divideByAge, newestFirst } from '../../daemon/sessions/sessionFolder.ts';
import { messageToLine, toKept } from '../../daemon/sessions/turnRecords.ts';
import {
  type ChatDelta,
  type ChatParams,
  cancelChat,
  chatRequest,
  type Message,
} from '../../protocol/messages/chat.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import {
  closeSessionRequest,
  createSessionRequest,
  deleteSessionRequest,
  forkSessionRequest,
  listSessionsRequest,
  readSessionRequest,
  sessionsDidChange,
  undoTurnRequest,
  updateSessionRequest,
} from '../../protocol/messages/sessions.ts';
import type { DaemonClient } from '../support/daemonClient.ts';
import { type PairOptions, startPair } from '../support/daemonPair.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemonProcess.ts';
import { failsWith } from '../support/failsWith.ts';
import { type RunnerStandIn, startStandIn } from '../support/runnerStandIn.ts';
import { has, spawnSleeper, where } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const model = 'practice:latest';
const user = (content: string): Message => ({ role: 'user', content });

interface Place {
  readonly runner: RunnerStandIn;
  readonly state: string;
  /** Where the files are. */
  readonly folder: string;
}

async function place(t: Test): Promise<Place> {
  const runner = await startStandIn();
  t.teardown(() => runner.close());
  const state = await temporaryFolder(t);
  return { runner, state, folder: join(state, 'runner', 'sessions') };
}

/** A daemon in this process. */
async function start(
  t: Test,
  { runner, folder }: Place,
  options: InitializationOptions = {},
  pair: PairOptions = {},
) {
  const daemon = await startPair({ host: runner.url, ...options }, { sessionsFolder: folder, ...pair });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await daemon.close();
    isOpen = false;
  };
  t.teardown(close);
  return { daemon: { ...daemon, close }, ...asking(daemon) };
}

/** The built daemon in a process of its own. */
async function startProcess(t: Test, { runner, state }: Place) {
  const daemon = await startDaemonProcess({ host: runner.url }, { env: { XDG_STATE_HOME: state } });
  t.teardown(() => daemon.child.exitCode === null && daemon.child.signalCode === null && daemon.close());
  return { daemon, ...asking(daemon) };
}

function asking(daemon: DaemonClient) {
  return {
    create: async (params = {}) => (await daemon.request(createSessionRequest, params)).session,
    list: async (params = {}) => daemon.request(listSessionsRequest, params),
    read: (id: string) => daemon.request(readSessionRequest, { id }),
    chat: (session: string, messages: readonly Message[], options = {}) =>
      daemon.chat({ model, session, messages }, options),
  };
}

const files = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
const titles = ({ sessions }: { sessions: readonly { title: string }[] }) =>
  sessions.map(({ title }) => title);

t.test('the last turn is taken out of a conversation, and it goes on from there', async (t) => {
  const here = await place(t);
  const { daemon, create, read, chat, list } = await start(t, here);
  const { id } = await create({ cwd: '/projects/place' });
  const undo = async () => (await daemon.request(undoTurnRequest, { id })).session;
  t.match(await undo(), { turns: 0 }, 'without a turn, nothing changes');
  here.runner.say('one');
  const first = await chat(id, [user('First?')]);
  const history = [user('First?'), first.result.message];
  await daemon.request(updateSessionRequest, { id, title: 'Mine' });
  here.runner.say('two');
  await chat(id, [...history, user('Second?')]);
  const contents = async () => (await read(id)).messages.map(({ content }) => content);
  t.strictSame(await contents(), ['First?', 'one', 'Second?', 'two']);
  t.match(await undo(), { id, turns: 1, title: 'Mine' });
  t.strictSame(await contents(), ['First?', 'one']);
  here.runner.say('three');
  await chat(id, [...history, user('Second?')]);
  t.strictSame(await contents(), ['First?', 'one', 'Second?', 'three'], 'the same prompt is kept again');
  await undo();
  t.match(await undo(), { turns: 0, title: 'Mine' });
  t.strictSame(await contents(), []);
  here.runner.say('four');
  await chat(id, [user('Third?')]);
  t.strictSame(await contents(), ['Third?', 'four']);
  t.match((await list()).sessions, [{ id, turns: 1 }]);
  await t.rejects(
    daemon.request(undoTurnRequest, { id: '20261122-zzzz9999' }),
    failsWith({ data: { path: 'id' } }),
  );
});

t.test('a prompt is asked again, and its old answer stays until the new one is whole', async (t) => {
  const here = await place(t);
  const { daemon, create, read, list } = await start(t, here);
  const { id } = await create({ cwd: '/projects/place' });
  const ask = (messages: readonly Message[], replacesLastTurn = true, options = {}) =>
    daemon.chat({ model, session: id, messages, replacesLastTurn }, options);
  const contents = async () => (await read(id)).messages.map(({ content }) => content);
  here.runner.say('one');
  const first = await ask([user('First?')], false);
  const history = [user('First?'), first.result.message, user('Second?')];
  here.runner.say('two');
  await ask(history, false);
  await daemon.request(updateSessionRequest, { id, title: 'Mine' });
  here.runner.failWith(500, { error: 'no memory' });
  await t.rejects(ask(history));
  t.strictSame(await contents(), ['First?', 'one', 'Second?', 'two'], 'after a failure');
  here.runner.tokens(1_000_000, { perSecond: 200 });
  const cancelled = await ask(history, true, { cancelAt: () => true });
  t.equal(cancelled.result.finishReason, 'cancelled');
  t.strictSame(await contents(), ['First?', 'one', 'Second?', 'two'], 'after a cancel');
  here.runner.say('four');
  await ask(history);
  t.strictSame(await contents(), ['First?', 'one', 'Second?', 'four']);
  t.match((await list()).sessions, [{ id, title: 'Mine', turns: 2 }]);
  here.runner.say('five');
  await ask([...history, { role: 'assistant', content: 'four' }, user('Third?')], false);
  t.equal((await read(id)).messages.length, 6, 'and the conversation goes on');
});

t.test('a conversation is forked, whole or after some of its turns, and both go on alone', async (t) => {
  const here = await place(t);
  const { daemon, create, read, chat, list } = await start(t, here);
  const fork = (params: { id: string; turns?: number }) => daemon.request(forkSessionRequest, params);
  const { id } = await create({ cwd: '/projects/place' });
  const history: Message[] = [];
  for (const [prompt, answer] of [
    ['First?', 'one'],
    ['Second?', 'two'],
  ] as const) {
    here.runner.say(answer);
    history.push(user(prompt));
    history.push((await chat(id, history)).result.message);
  }
  await daemon.request(updateSessionRequest, { id, title: 'Mine' });
  const contents = async (of: string) => (await read(of)).messages.map(({ content }) => content);
  const whole = await fork({ id });
  t.match(whole.session, { title: 'Mine', cwd: resolve('/projects/place'), model, turns: 2 });
  t.not(whole.session.id, id);
  t.strictSame(whole, await read(whole.session.id), 'it is on the disk');
  t.strictSame(whole.messages, (await read(id)).messages, 'with the times and the models');
  const first = await fork({ id, turns: 1 });
  t.match(first.session, { title: 'Mine', turns: 1 });
  t.strictSame(await contents(first.session.id), ['First?', 'one']);
  t.match((await fork({ id, turns: 7 })).session, { turns: 2 });
  here.runner.say('three');
  await chat(first.session.id, [...first.messages, user('Third?')]);
  t.strictSame(await contents(first.session.id), ['First?', 'one', 'Third?', 'three']);
  t.strictSame(await contents(id), ['First?', 'one', 'Second?', 'two']);
  t.equal((await list()).sessions.length, 4);
  const empty = await fork({ id: (await create()).id });
  t.match(empty, { session: { turns: 0 }, messages: [] });
  const elsewhere = await start(t, here);
  const other = await elsewhere.daemon.request(forkSessionRequest, { id });
  t.match(other.session, { turns: 2 }, 'one that is open in another process, too');
  await t.rejects(fork({ id: '20261122-zzzz9999' }), failsWith({ data: { path: 'id' } }));
  await t.rejects(fork({ id, turns: 0 }), failsWith({ data: { path: 'turns' } }));
});

t.test('a conversation keeps the settings of its last turn', async (t) => {
  const here = await place(t);
  const { daemon, create, read, chat } = await start(t, here);
  const { id } = await create();
  const turn = async (content: string, first: readonly Message[], settings: object) => {
    here.runner.say('yes');
    const said = (await read(id)).messages.filter(({ role }) => role !== 'system');
    await daemon.chat({ model, session: id, messages: [...first, ...said, user(content)], ...settings });
    return (await read(id)).settings;
  };
  const lines = () =>
    readFileSync(join(here.folder, `${id}.jsonl`), 'utf8').match(/"type":"settings"/g) ?? [];
  const brief: Message = { role: 'system', content: 'Be brief.' };
  const options = { num_ctx: 8192, temperature: 0.2 };
  const more = { options, maxRounds: 3, hostedTools: [] };
  t.equal(await turn('One?', [], {}), undefined);
  t.strictSame(await turn('Two?', [brief], more), { system: 'Be brief.', ...more });
  t.strictSame((await read(id)).messages.map(({ content }) => content).slice(0, 2), ['Be brief.', 'One?']);
  t.strictSame(await turn('Three?', [brief], more), { system: 'Be brief.', ...more });
  t.equal(lines().length, 1, 'they are written when they change');
  const forked = await daemon.request(forkSessionRequest, { id });
  t.strictSame(forked, await read(forked.session.id));
  t.match(forked.settings, more);
  t.strictSame(await turn('Four?', [], {}), {}, 'they may be taken back');
  t.equal((await read(id)).messages[0]?.content, 'One?');
  await daemon.request(undoTurnRequest, { id });
  await chat(id, [user('Five?')]);
  const { session, messages } = await read(id);
  t.equal(session.turns, 4);
  t.equal(messages.at(-2)?.content, 'Five?');
});

/** What the runner was sent last, as `role: content`, with the number of its pictures. */
function sentLast({ runner }: Place): readonly string[] {
  const { messages } = runner.bodies('/api/chat').at(-1) as { readonly messages: readonly Message[] };
  return messages.map(
    ({ role, content, images }) => `${role}: ${content}${images ? ` +${images.length}` : ''}`,
  );
}

/** Chats that send only what is new. */
function adding({ daemon }: { readonly daemon: DaemonClient }, { runner }: Place) {
  return async (session: string, messages: readonly Message[], more: Partial<ChatParams> = {}) => {
    runner.say(`${runner.bodies('/api/chat').length}`);
    return (await daemon.chat({ model, session, history: 'kept', messages, ...more })).result;
  };
}

for (const [name, options, creation] of [
  ['on the disk', {}, {}],
  ['where nothing is kept', { keepSessions: false }, {}],
  ['that its client does not keep', {}, { kept: false }],
] as const)
  t.test(`a chat sends only its new messages to a conversation ${name}`, async (t) => {
    const here = await place(t);
    const modelCapabilities = { [model]: { vision: true } };
    const one = await start(t, here, { modelCapabilities, ...options });
    const ask = adding(one, here);
    const { id, kept = true } = await one.create(creation);
    t.equal(kept, name === 'on the disk');
    const large = Buffer.alloc(1024 * 1024 + 4, 7).toString('base64');
    const brief: Message = { role: 'system', content: 'Be brief.' };
    await ask(id, [brief, { ...user('First?'), images: [large], attachments: [{ path: 'a', text: 'A' }] }]);
    const first = sentLast(here);
    t.equal(first.at(-1), 'user: First? +1');
    await ask(id, [user('Second?')]);
    t.strictSame(sentLast(here), [...first, 'assistant: 0', 'user: Second?'], 'also what no file keeps');
    await ask(id, [], { replacesLastTurn: true });
    t.strictSame(sentLast(here), [...first, 'assistant: 0', 'user: Second?'], 'the last prompt again');
    await ask(id, [user('Other?')], { replacesLastTurn: true });
    t.strictSame(sentLast(here), [...first, 'assistant: 0', 'user: Other?'], 'another one in its place');
    const read = async (of: string) => (await one.read(of)).messages.map(({ content }) => content).slice(2);
    t.strictSame(await read(id), ['0', 'Other?', '3']);
    const { session: titled } = await one.daemon.request(updateSessionRequest, { id, title: 'Mine' });
    t.match(titled, { title: 'Mine', turns: 2 });
    const { session: fork } = await one.daemon.request(forkSessionRequest, { id, turns: 1 });
    t.match(fork, { turns: 1 });
    await ask(fork.id, [{ role: 'system', content: '' }, user('There?')]);
    t.notMatch(sentLast(here).join('\n'), 'Be brief.', 'an empty system message takes the kept one away');
    t.strictSame(sentLast(here).slice(1), [...first.slice(1), 'assistant: 0', 'user: There?']);
    const undone = await one.daemon.request(undoTurnRequest, { id });
    t.match(undone, { session: { turns: 1 }, prompt: user('Other?') });
    here.runner.failWith(500, { error: 'no memory' });
    await t.rejects(one.daemon.chat({ model, session: id, history: 'kept', messages: [user('Fails?')] }));
    here.runner.tokens(1_000_000, { perSecond: 200 });
    const cut = { model, session: id, history: 'kept', messages: [user('Count')] } as const;
    const { result } = await one.daemon.chat(cut, { cancelAt: ({ kind }) => kind === 'text' });
    await ask(id, [user('Third?')]);
    t.strictSame(
      sentLast(here),
      [...first, 'assistant: 0', 'user: Count', `assistant: ${result.message.content}`, 'user: Third?'],
      'what failed without an answer is no part of it',
    );
    t.equal((await one.list()).sessions.length, name === 'on the disk' ? 2 : 0);
    await one.daemon.request(closeSessionRequest, { id });
    await ask(id, [user('Fourth?')]);
    t.equal(sentLast(here).at(-3), name === 'on the disk' ? 'user: Third?' : undefined);
    await one.daemon.request(deleteSessionRequest, { id });
    await t.rejects(ask(id, [user('?')]), failsWith({ data: { path: 'session' } }));
  });

t.test('a chat that sends only its new messages waits for the answer before it', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create();
  const cut = new AbortController();
  const ask = (streamId: string, content: string, signal?: AbortSignal) =>
    one.daemon.request(
      chatRequest,
      { streamId, model, session: id, history: 'kept', messages: [user(content)] },
      signal,
    );
  here.runner.tokens(1_000_000, { perSecond: 200 });
  const [left, first] = [new AbortController(), ask('a', 'First?', cut.signal)];
  await poll(
    () => one.read(id),
    ({ messages }) => messages.length > 1,
  );
  const [second, third] = [ask('b', 'Second?', left.signal), ask('c', 'Third?')];
  left.abort();
  t.match(await second, { finishReason: 'cancelled', message: { content: '' } }, 'and can be cancelled then');
  here.runner.say('Now.');
  cut.abort();
  const { message } = await first;
  t.match(await third, { message: { content: 'Now.' } });
  t.strictSame(sentLast(here), ['user: First?', `assistant: ${message.content}`, 'user: Third?']);
});

t.test('the result of a client’s own tool is a new message', async (t) => {
  const here = await place(t);
  const one = await start(t, here, { modelCapabilities: { [model]: { tools: true } } });
  const ask = adding(one, here);
  const { id } = await one.create();
  const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }];
  const calls = ['x', 'y'].map((at) => ({ name: 'look', arguments: { at } }));
  here.runner.toolCalls(calls);
  const look = { model, session: id, history: 'kept', messages: [user('Look')], tools } as const;
  const [call] = (await one.daemon.chat(look)).result.message.toolCalls ?? [];
  await ask(id, [{ role: 'tool', content: 'a cat', toolCallId: call?.id ?? '', toolName: 'look' }]);
  t.match(here.runner.bodies('/api/chat').at(-1), {
    messages: [
      { content: 'Look' },
      { tool_calls: { length: 1, 0: { function: { arguments: { at: 'x' } } } } },
      { content: 'a cat' },
    ],
  });
  t.strictSame(
    (await one.read(id)).messages.map(({ role, content }) => `${role}: ${content}`),
    ['user: Look', 'assistant: ', 'tool: a cat', 'assistant: 1'],
  );
});

t.test('a chat that sends only its new messages says what is wrong', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create();
  const ask = (params: Partial<ChatParams>) => one.daemon.chat({ model, messages: [user('?')], ...params });
  await t.rejects(ask({ history: 'kept' }), failsWith({ data: { path: 'history' } }));
  await t.rejects(ask({ session: id, messages: [] }), failsWith({ data: { path: 'messages' } }));
  const nothing: Partial<ChatParams> = { session: id, history: 'kept', messages: [], replacesLastTurn: true };
  await t.rejects(ask(nothing), failsWith({ data: { path: 'messages' } }));
  here.runner.say('Yes.');
  await ask({ session: id });
  t.match((await ask({ session: id })).result.notices, [
    { code: 'history-missing', message: /"history": "kept"/ },
  ]);
  t.strictSame((await ask({ session: id, history: 'kept' })).result.notices, []);
  await t.rejects(
    ask({ session: id, history: 'kept', messages: [] }),
    failsWith({ data: { path: 'messages' } }),
  );
  t.equal(sentLast(here).length, 5);
  const two = await startProcess(t, here);
  await two.daemon.chat({ model, session: id, history: 'kept', messages: [user('From there')] });
  await ask({ session: id, history: 'kept' });
  t.strictSame(
    sentLast(here).filter((text) => text.startsWith('user')),
    ['user: ?', 'user: ?', 'user: ?', 'user: From there', 'user: ?'],
    'with what another process has added',
  );
});

t.test('a conversation that is not kept can be named, for as long as it is among the newest', async (t) => {
  const { daemon, create, read } = await start(t, await place(t), { keepSessions: false });
  const { id } = await create({ title: 'Mine' });
  let changes = 0;
  daemon.on(sessionsDidChange, () => void (changes += 1));
  t.match(await daemon.request(updateSessionRequest, { id, title: ' Other\nname ' }), {
    session: { id, title: 'Other name' },
  });
  t.match(await read(id), { session: { title: 'Other name', turns: 0 }, messages: [] });
  t.match(await daemon.request(undoTurnRequest, { id }), { session: { id, title: 'Other name' } });
  t.equal(changes, 1, 'nothing was there to undo');
  for (let count = 1; count < 1_000; count += 1) await create();
  t.match(await read(id), { session: { title: 'Other name' } });
  const next = await create();
  await t.rejects(read(id), failsWith({ message: /there is no such conversation/ }));
  t.match(await read(next.id), { messages: [] });
});

t.test('what is sent of a conversation has a size, and so has what is remembered of all', async (t) => {
  const most = 64 * 1024 * 1024;
  const long = (length: number) => 'x'.repeat(length);
  const attachments = [{ path: 'a', text: long(1_000) }];
  const kept = [{ ...user(long(most / 2 - 1_500)), images: [long(500)], attachments }];
  t.equal(withHistory(kept, [user(long(most / 2))], false).length, 2);
  t.throws(
    () => withHistory(kept, [user(long(most / 2 + 1))], false),
    failsWith({ kind: 'context-exceeded' }),
  );
  const dropped: string[] = [];
  const memory = new ConversationMemory((id) => void dropped.push(id));
  for (const id of ['1', '2', '1', '3', '4', '5']) memory.set(id, [user(long(most))]);
  t.strictSame(dropped, ['2'], 'the one that was used longest ago');
});

t.test('a conversation grows up to a size', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create({ title: 'Large' });
  await one.chat(id, [user('?')]);
  const path = join(here.folder, `${id}.jsonl`);
  const state = `${JSON.stringify({ type: 'state', title: 'Large', turns: 1 })}\n`;
  const room = 64 * 1024 * 1024 - statSync(path).size - state.length - 300;
  const line = `${JSON.stringify({ type: 'later', text: 'x'.repeat(1_000_000) })}\n`;
  const last = `${JSON.stringify({ type: 'later' }).padEnd((room % line.length) - 1)}\n`;
  appendFileSync(path, `${line.repeat(Math.floor(room / line.length))}${last}${state}`);
  t.match((await one.chat(id, [user('x'.repeat(400))])).result.notices, [
    { code: 'session-not-kept', message: /largest size \(64 MB\)/ },
  ]);
  t.match((await one.read(id)).session, { turns: 1 }, 'nothing was written');
});

t.test('a prompt that its client splits on purpose is sent whole, as one message', async (t) => {
  const here = await place(t);
  const { daemon, create } = await start(t, here);
  const { id: session } = await create();
  here.runner.say('Here.');
  const messages = [user('One.'), user('Two.')];
  await daemon.chat({ model, session, messages, context: 'leading' });
  const sent = here.runner.bodies('/api/chat').at(-1) as { messages: readonly Message[] };
  t.strictSame(
    sent.messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    ['One.\n\nTwo.'],
  );
});

t.test(
  'a conversation is begun, goes on in another process, and is read, listed, renamed, deleted',
  async (t) => {
    const here = await place(t);
    const first = await start(t, here);
    let changes = 0;
    first.daemon.on(sessionsDidChange, () => void (changes += 1));
    const { id, ...begun } = await first.create({ cwd: '/projects/place' });
    t.match(begun, {
      title: '',
      cwd: resolve('/projects/place'),
      turns: 0,
      createdAt: /Z$/,
      updatedAt: /Z$/,
    });
    const question = user('\n  What is blue?\nSay it.');
    here.runner.think('Hm.', 'The sky.');
    const { result } = await first.chat(id, [question]);
    const [session] = (await first.list()).sessions;
    t.match(session, { id, title: 'What is blue?', cwd: resolve('/projects/place'), model, turns: 1 });
    t.ok(changes >= 2, 'both were told');
    await first.daemon.close();

    const second = await start(t, here);
    const { session: known, messages } = await second.read(id);
    t.match(known, { id, title: 'What is blue?', turns: 1 });
    t.match(messages, [question, { role: 'assistant', content: 'The sky.', thinking: 'Hm.', model }]);
    here.runner.say('Of course.');
    await second.chat(id, [question, result.message, user('Sure?')]);
    await second.daemon.request(updateSessionRequest, { id, title: ' On\nblue ' });
    const later = await second.read(id);
    t.match(later.session, { title: 'On blue', turns: 2 });
    t.same(
      later.messages.map(({ content }) => content),
      [question.content, 'The sky.', 'Sure?', 'Of course.'],
      'the history was not written twice',
    );
    await second.daemon.request(deleteSessionRequest, { id });
    t.same((await second.list()).sessions, []);
    t.same(files(here.folder), []);
    for (const { method } of [readSessionRequest, deleteSessionRequest])
      await t.rejects(
        second.daemon.request({ method }, { id }),
        failsWith({ code: -32602, data: { path: 'id' } }),
      );
  },
);

t.test('files are readable by the user alone, hold lines of JSON, and no token', async (t) => {
  const here = await place(t);
  mkdirSync(here.folder, { recursive: true });
  chmodSync(here.folder, 0o755);
  const secret = 'a-token-that-nobody-may-see';
  const one = await start(t, here, {}, { secrets: [{ origin: here.runner.url, secret }] });
  const { id } = await one.create();
  here.runner.say(`You said ${secret}.`);
  await one.chat(id, [user(`I say ${secret}`)]);
  const path = join(here.folder, `${id}.jsonl`);
  if (has('modes')) t.equal(statSync(path).mode & 0o777, 0o600);
  if (has('modes')) t.equal(statSync(here.folder).mode & 0o777, 0o700);
  await one.daemon.request(updateSessionRequest, { id, title: `Of ${secret}` });
  const text = readFileSync(path, 'utf8');
  t.notMatch(text, secret);
  t.match(text, 'You said ***.');
  const inBase64 = Buffer.from(`Token: ${secret}`).toString('base64');
  for (const echoed of [secret, inBase64]) {
    here.runner.say(echoed.match(/.{1,4}/g) ?? [], { thinking: echoed.match(/.{1,4}/g) ?? [] });
    await one.chat(id, [user('Once more')]);
  }
  t.notMatch(readFileSync(path, 'utf8'), inBase64.slice(12, -4), 'nor in pieces');
  t.notMatch(readFileSync(path, 'utf8'), secret);
  for (const line of text.trimEnd().split('\n')) t.type(JSON.parse(line), 'object');
  here.runner.say(['Again a-token-', 'that-nobody-may-see', '.', ' Now', ' wait.'], { perSecond: 4 });
  const chat = one.chat(id, [user('And?')]);
  await poll(
    async () => readFileSync(path, 'utf8'),
    (written) => written.includes('Again ***.'),
  );
  t.notMatch(readFileSync(path, 'utf8'), secret, 'nor while the answer comes');
  await chat;
});

t.test('partial answers are kept, and marked', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create();
  here.runner.tokens(1_000_000, { perSecond: 200 });
  await one.chat(id, [user('Count')], { cancelAt: () => true });
  here.runner.errorLine('out of memory', ['so ', 'far']);
  await t.rejects(one.chat(id, [user('Count'), { role: 'assistant', content: '1' }, user('And?')]));
  here.runner.failWith(500, { error: 'stopped' });
  await t.rejects(one.chat(id, [user('Nothing comes of this')]));
  const { messages, session } = await one.read(id);
  t.match(messages, [
    { content: 'Count' },
    { content: /^1 /, partial: 'cancelled' },
    { content: 'And?' },
    { content: 'so far', partial: 'failed' },
  ]);
  t.equal(messages.length, 4, 'a question without an answer is asked again by the user');
  t.equal(session.turns, 2);
});

/** The ways in which a daemon ends. Those that leave it time are `cancelled`. */
const endings: readonly {
  readonly name: string;
  readonly partial: 'cancelled' | 'failed';
  readonly end: (daemon: DaemonProcess) => unknown;
}[] = [
  { name: 'the end of its input', partial: 'cancelled', end: ({ child }) => child.stdin?.end() },
  {
    name: 'exit right behind shutdown',
    partial: 'cancelled',
    end({ connection }) {
      connection.sendRequest('shutdown').catch(() => undefined);
      return connection.sendNotification('exit');
    },
  },
  {
    name: 'the end of its input right behind shutdown',
    partial: 'cancelled',
    end({ connection, child }) {
      connection.sendRequest('shutdown').catch(() => undefined);
      child.stdin?.end();
    },
  },
  {
    name: 'exit alone',
    partial: 'cancelled',
    end: ({ connection }) => connection.sendNotification('exit'),
  },
  { name: 'SIGTERM', partial: 'failed', end: ({ child }) => child.kill('SIGTERM') },
  { name: 'SIGKILL', partial: 'failed', end: ({ child }) => child.kill('SIGKILL') },
];

for (const { name, partial, end } of endings)
  t.test(`${name} keeps what is under way as far as it had come, and a prompt alone`, async (t) => {
    const here = await place(t);
    const one = await startProcess(t, here);
    const [answered, waiting] = [await one.create(), await one.create()];
    const fileOf = ({ id }: { readonly id: string }) =>
      readFileSync(join(here.folder, `${id}.jsonl`), 'utf8');
    let came = '';
    const onDelta = (delta: ChatDelta) => {
      if (delta.kind === 'text') came += delta.text;
    };
    here.runner.tokens(1_000_000, { perSecond: 200 });
    one.chat(answered.id, [user('Count')], { onDelta }).catch(() => undefined);
    await here.runner.waitFor(({ path }) => path === '/api/chat');
    here.runner.hang();
    one.chat(waiting.id, [user('Wait')]).catch(() => undefined);
    await poll(
      async () => fileOf(waiting),
      (text) => text.includes('Wait'),
    );
    await poll(
      async () => fileOf(answered),
      (text) => text.includes('"content":"1 2'),
    );
    const before = partial === 'cancelled' ? came : '1 2';
    const closed = once(one.daemon.child, 'close');
    end(one.daemon);
    await closed;
    const two = await start(t, here);
    const { messages } = await two.read(answered.id);
    t.match(messages, [user('Count'), { role: 'assistant', partial, model }]);
    t.ok(messages[1]?.content.startsWith(before), 'nothing that was shown is lost');
    t.match(await two.read(waiting.id), {
      session: { title: 'Wait', turns: 1, model },
      messages: [user('Wait')],
    });
    t.same(titles(await two.list()).sort(), ['Count', 'Wait']);
    t.same(titles(await two.list({ query: 'wait' })), ['Wait']);
  });

t.test('a prompt that was never answered is kept once, and sent together with the next one', async (t) => {
  const here = await place(t);
  const sentFor = async (next: readonly Message[]) => {
    const one = await startProcess(t, here);
    const { id } = await one.create();
    here.runner.hang();
    const asked: Message = { ...user('Wait'), attachments: [{ path: '/a', text: 'A' }] };
    const requests = () => here.runner.bodies('/api/chat').filter((body) => body !== undefined).length;
    const before = requests();
    one.chat(id, [asked]).catch(() => undefined);
    await here.runner.waitFor(() => requests() > before);
    await one.daemon.close();
    const two = await start(t, here);
    const { messages } = await two.read(id);
    here.runner.say('Here.');
    await two.chat(id, [...messages, ...next]);
    await two.daemon.close();
    const sent = here.runner.bodies('/api/chat').at(-1) as { messages: readonly Message[] };
    const kept = await (await start(t, here)).read(id);
    return {
      sent: sent.messages.filter(({ role }) => role === 'user').map(({ content }) => content),
      kept: kept.messages.map(({ content }) => content),
      turns: kept.session.turns,
    };
  };
  t.same(
    await sentFor([user('Which?')]),
    { sent: ['Wait\n\nWhich?'], kept: ['Wait', 'Which?', 'Here.'], turns: 2 },
    'another prompt',
  );
  t.same(await sentFor([]), { sent: ['Wait'], kept: ['Wait', 'Here.'], turns: 1 }, 'it is tried again');
  t.same(
    await sentFor([{ ...user('Wait'), attachments: [{ path: '/a', text: 'A' }] }]),
    { sent: ['Wait'], kept: ['Wait', 'Here.'], turns: 1 },
    'it is typed again',
  );
});

t.test('a title that is set during a turn stays, and so does what another turn adds', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create();
  const underWay = () =>
    poll(
      () => one.read(id),
      ({ messages }) => messages.length > 1,
    );
  here.runner.tokens(1_000_000, { perSecond: 200 });
  const cancel = new AbortController();
  const first = one.daemon.request(
    chatRequest,
    { streamId: 'first', model, session: id, messages: [user('Count')] },
    cancel.signal,
  );
  await underWay();
  await one.daemon.request(updateSessionRequest, { id, title: 'Numbers' });
  here.runner.say('Beside it.');
  const second = one.chat(id, [user('And?')]);
  await here.runner.waitFor(() => here.runner.bodies('/api/chat').length === 2);
  cancel.abort();
  await Promise.all([first, second]);
  const { session, messages } = await one.read(id);
  t.match(session, { title: 'Numbers', turns: 2 });
  t.match(messages, [
    { content: 'Count' },
    { partial: 'cancelled' },
    { content: 'And?' },
    { content: 'Beside it.' },
  ]);
});

t.test('deleting a conversation during its turn does not lose the answer', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create();
  const deletion = new EventEmitter();
  const deleted = once(deletion, 'done');
  here.runner.answer({
    kind: 'speech',
    async *pieces() {
      await deleted;
      yield { kind: 'text', text: 'An answer.' };
    },
  });
  const chat = one.chat(id, [user('Wait')]);
  await poll(
    () => one.read(id),
    ({ session }) => session.turns === 1,
  );
  await one.daemon.request(deleteSessionRequest, { id });
  deletion.emit('done');
  t.match((await chat).result, {
    message: { content: 'An answer.' },
    notices: [{ code: 'session-not-kept', message: /deleted in the meantime/ }],
  });
  t.same(files(here.folder), []);
});

t.test('a conversation without a turn is not listed', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create({ title: 'Nothing yet' });
  here.runner.failWith(500, { error: 'stopped' });
  await t.rejects(one.chat(id, [user('Why?')]));
  t.same(await one.list(), { sessions: [] });
  t.match(await one.read(id), { session: { title: 'Nothing yet', turns: 0 }, messages: [] });
  await one.chat(id, [user('Why?')]);
  t.match((await one.list()).sessions, [{ title: 'Nothing yet', turns: 1 }]);
});

t.test('the answer so far is built from its deltas, and can be sent as history', async (t) => {
  const answer = new AnswerSoFar();
  const call = { id: 'c1', name: 'look', arguments: { at: 'x' } };
  const result = { id: 'c1', name: 'look', server: 's', content: 'a cat', isError: false };
  for (const [seq, content] of [
    { kind: 'thinking', text: 'H' } as const,
    { kind: 'thinking', text: 'm.' } as const,
    { kind: 'notice', notice: { code: 'answer-lost', message: '' } } as const,
    { kind: 'text', text: 'I look.' } as const,
    { kind: 'toolCall', toolCall: call } as const,
    { kind: 'toolResult', toolResult: result } as const,
    { kind: 'text', text: 'And ' } as const,
    { kind: 'text', text: 'again.' } as const,
    { kind: 'toolCall', toolCall: { ...call, id: 'c2' } } as const,
  ].entries())
    answer.add({ streamId: 's', seq, ...content });
  t.same(answer.messages(), [
    { role: 'assistant', content: 'I look.', thinking: 'Hm.', toolCalls: [call] },
    { role: 'tool', content: 'a cat', toolCallId: 'c1', toolName: 'look' },
    { role: 'assistant', content: 'And again.', toolCalls: [{ ...call, id: 'c2' }] },
    { role: 'tool', content: 'The call was interrupted.', toolCallId: 'c2', toolName: 'look' },
  ]);
});

t.test('the results of a client’s own tools are kept once', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create();
  const call = { id: 'c1', name: 'look', arguments: { at: 'x' } };
  const calling: Message = { role: 'assistant', content: '', toolCalls: [call] };
  const result: Message = { role: 'tool', content: 'a cat', toolCallId: 'c1', toolName: 'look' };
  here.runner.say('First.');
  await one.chat(id, [user('Look'), calling, result]);
  here.runner.say('Again.');
  await one.chat(id, [user('Look'), calling, result, { role: 'assistant', content: 'First.' }, user('More')]);
  t.same(
    (await one.read(id)).messages.map(({ role, content }) => `${role}: ${content}`),
    ['user: Look', 'assistant: ', 'tool: a cat', 'assistant: First.', 'user: More', 'assistant: Again.'],
  );
});

t.test(
  'a conversation that is being answered in a process is refused to another one, until that is over',
  async (t) => {
    const here = await place(t);
    const [one, two, three] = await Promise.all([
      startProcess(t, here),
      startProcess(t, here),
      startProcess(t, here),
    ]);
    const { id } = await one.create();
    here.runner.tokens(1_000_000, { perSecond: 50 });
    const answered = one.chat(id, [user('?')]);
    await poll(
      async () => (await two.read(id).catch(() => undefined))?.messages.length,
      (length) => length === 2,
    );
    const busy = failsWith({
      code: -33007,
      message: /open in another program.*Close it/,
      data: { kind: 'busy' },
    });
    const asked = here.runner.bodies('/api/chat').length;
    await t.rejects(two.chat(id, [user('?')]), busy);
    t.equal(here.runner.bodies('/api/chat').length, asked, 'nothing was sent');
    await t.rejects(two.daemon.request(readSessionRequest, { id, open: true }), busy);
    await t.rejects(two.daemon.request(updateSessionRequest, { id, title: 'mine' }), busy);
    await t.rejects(two.daemon.request(deleteSessionRequest, { id }), busy);
    t.equal((await two.read(id)).messages.length, 2, 'it can be read');
    await one.daemon.connection.sendNotification(cancelChat.method, { streamId: 'stream-0' });
    t.match(await answered, { result: { finishReason: 'cancelled' } });
    const { messages } = await two.read(id);
    t.strictSame(
      (await two.chat(id, [...messages, user('Now?')])).result.notices,
      [],
      'the first one gives it up',
    );
    t.match((await one.chat(id, [user('And now?')])).result.notices, [{ code: 'history-missing' }]);
    const closed = once(one.daemon.child, 'close');
    one.daemon.child.kill('SIGKILL');
    await closed;
    await two.chat(id, [...messages, user('Then?')]);
    t.equal((await two.read(id)).session.turns, 4);
    t.strictSame(await two.daemon.request(closeSessionRequest, { id }), {});
    t.strictSame(readdirSync(join(here.folder, 'locks')), [], 'closed');
    const { id: other } = await two.create();
    const settled = await Promise.allSettled(
      [two, three].map(({ daemon }) => daemon.request(readSessionRequest, { id: other, open: true })),
    );
    t.ok(
      settled.some(({ status }) => status === 'fulfilled'),
      'of two that come at once',
    );
  },
);

t.test(
  'a mark counts while its process lives, or where nobody can know, as long as it is fresh',
  where('sh'),
  async (t) => {
    const sleeper = spawnSleeper();
    const gone = spawn(process.execPath, ['-e', '']);
    t.teardown(() => sleeper.kill());
    await once(gone, 'close');
    const here = await identityOf(process.pid);
    const there = await identityOf(sleeper.pid ?? 0);
    const dead = { ...here, pid: gone.pid ?? 0 };
    t.match(here, { pid: process.pid, start: /^[1-9]\d*$/, boot: /^[\da-f]{8}$/, place: /^[\da-f]{8}$/ });
    const stat = readFileSync(`/proc/${process.pid}/stat`, 'utf8');
    t.equal(here.start, stat.split(') ').at(-1)?.split(' ')[19], 'proc_pid_stat(5), field 22');
    t.not(there.start, here.start);
    t.strictSame({ ...there, pid: here.pid, start: here.start }, here, 'of the same boot and place');
    // A system that does not say when a process has started.
    const [plain, plainThere] = [here, there].map((one) => ({ ...one, start: '0' })) as [
      typeof here,
      typeof here,
    ];
    const elsewhere = { ...dead, place: 'ffffffff' };
    const [fresh, old] = [20, 100];
    for (const { name, own = here, other, age, counts } of [
      { name: 'it lives', other: there, age: old, counts: true },
      {
        name: 'it is another process of its number',
        other: { ...there, start: '1' },
        age: fresh,
        counts: false,
      },
      { name: 'it has ended', other: dead, age: fresh, counts: false },
      {
        name: 'before the machine was started anew',
        other: { ...there, boot: '0badb007' },
        age: fresh,
        counts: false,
      },
      { name: 'on another machine, and fresh', other: elsewhere, age: fresh, counts: true },
      { name: 'on another machine, and old', other: elsewhere, age: old, counts: false },
      { name: 'its number lives, and it is fresh', own: plain, other: plainThere, age: fresh, counts: true },
      { name: 'its number lives, and it is old', own: plain, other: plainThere, age: old, counts: false },
      {
        name: 'its number does not live',
        own: plain,
        other: { ...dead, start: '0' },
        age: fresh,
        counts: false,
      },
    ]) {
      const folder = await temporaryFolder(t);
      const locks = new ProcessLocks(folder, undefined, async () => own);
      t.teardown(() => locks.close());
      const mark = `mine.${identityToName(other)}`;
      // What is no mark, or one of something else.
      const others = ['notes', 'mine.1-2-3', `other.${identityToName(there)}`, `mine.${identityToName(own)}`];
      const then = new Date(Date.now() - age * 1_000);
      for (const file of [mark, ...others]) {
        writeFileSync(join(folder, file), '');
        utimesSync(join(folder, file), then, then);
      }
      t.equal(await locks.isOpen('mine'), counts, name);
      t.strictSame(readdirSync(folder).sort(), [...others, ...(counts ? [mark] : [])].sort(), name);
      t.equal(await locks.take('mine'), undefined, `${name}: our own mark is ours, and others step back`);
      await locks.release('mine');
      const wanted = counts ? other.pid : undefined;
      t.strictSame(await Promise.all([locks.take('mine'), locks.take('mine')]), [wanted, wanted], name);
      t.equal(locks.has('mine'), !counts, name);
      t.equal(await locks.isOpen('mine'), true, name);
      const held = counts ? mark : `mine.${identityToName(own)}`;
      t.strictSame(readdirSync(folder).sort(), [...others.slice(0, 3), held].sort(), name);
    }
  },
);

t.test('a mark is renewed while it is held, and goes with its holder', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const folder = join(await temporaryFolder(t), 'locks');
  const locks = new ProcessLocks(folder);
  t.equal(await locks.isOpen('one'), false);
  const taken = await Promise.all([locks.take('one'), locks.take('one'), locks.take('two')]);
  t.strictSame(taken, [undefined, undefined, undefined]);
  t.equal(await locks.take('one'), undefined, 'once more');
  const own = identityToName(await identityOf(process.pid));
  t.strictSame(readdirSync(folder).sort(), [`one.${own}`, `two.${own}`]);
  if (has('modes')) t.equal(statSync(folder).mode & 0o777, 0o700);
  if (has('modes')) t.equal(statSync(join(folder, `one.${own}`)).mode & 0o777, 0o600);
  const dates = () => readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs);
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), 1, 1);
  mock.timers.tick(19_999);
  mock.timers.tick(1);
  await poll(
    async () => dates(),
    (all) => all.every((date) => date > 1_000),
  );
  const dead = `three.${own.replace(/^\d+-\d+/, '1-1')}`;
  writeFileSync(join(folder, dead), '');
  await locks.sweep();
  t.strictSame(
    readdirSync(folder).length,
    2,
    'a mark of a process that is gone is removed, whatever it is of',
  );
  await locks.release('one');
  t.strictSame([locks.has('one'), locks.has('two')], [false, true]);
  t.strictSame(readdirSync(folder), [`two.${own}`]);
  await locks.close();
  t.strictSame(readdirSync(folder), []);
});

t.test('work on the same thing is done by one after another, here and in other processes', async (t) => {
  const folder = await temporaryFolder(t);
  const workIn = (longest: number) => new ExclusiveWork(folder, longest, () => new Error('It is busy.'));
  const works = workIn(60_000);
  const done: string[] = [];
  const [opening, leaving] = [new EventEmitter(), new AbortController()];
  const opened = once(opening, 'open');
  const first = works.run('one', async () => {
    await opened;
    done.push('first');
  });
  const second = works.run('one', async () => void done.push('second'));
  const third = works.run('one', async () => void done.push('third'), leaving.signal);
  await works.run('two', async () => void done.push('another'));
  leaving.abort(new Error('left'));
  await t.rejects(third, { message: 'left' });
  opening.emit('open');
  await Promise.all([first, second]);
  t.strictSame(done, ['another', 'first', 'second'], 'who does not wait any more has nothing done');
  t.strictSame(readdirSync(folder), [], 'nothing is held');
  const other = spawnSleeper();
  t.teardown(() => other.kill());
  writeFileSync(join(folder, `one.${identityToName(await identityOf(other.pid ?? 0))}`), '');
  await t.rejects(
    workIn(0).run('one', async () => undefined),
    { message: 'It is busy.' },
  );
  const waiting = new AbortController();
  const late = works.run('one', async () => void done.push('late'), waiting.signal);
  waiting.abort(new Error('left'));
  await t.rejects(late, { message: 'left' });
  await works.close();
  t.equal(done.length, 3);
});

t.test('a process that has ended, and that nobody has asked for its end, is gone', where('sh'), async (t) => {
  // It ends while the program that has started it never asks.
  const parent = spawn('sh', ['-c', 'exec 3<&0; cat <&3 & echo $!; exec sleep 600']);
  t.teardown(() => parent.kill());
  const [pid] = await once(parent.stdout, 'data');
  t.not((await identityOf(Number(pid))).start, '0');
  parent.stdin.end();
  const { start } = await poll(
    () => identityOf(Number(pid)),
    ({ start }) => start === '0',
  );
  t.equal(start, '0');
});

t.test('a truncated file is read as far as it is whole, and continued from there', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create();
  const said: Message[] = [];
  for (const words of ['one', 'two']) {
    said.push(user(words));
    here.runner.say(words.toUpperCase());
    said.push((await one.chat(id, said)).result.message);
  }
  await one.daemon.close();
  const path = join(here.folder, `${id}.jsonl`);
  const whole = readFileSync(path);
  const lines = whole.toString().split('\n');
  const until = (count: number) => Buffer.byteLength(`${lines.slice(0, count).join('\n')}\n`);
  const two = await start(t, here);
  for (const { name, size, contents } of [
    { name: 'in the last line', size: whole.length - 3, contents: ['one', 'ONE', 'two', 'TWO'] },
    { name: 'in an answer', size: until(6) + 20, contents: ['one', 'ONE', 'two'] },
    { name: 'in the first prompt', size: until(2) + 9, contents: [] },
  ]) {
    writeFileSync(path, whole);
    truncateSync(path, size);
    t.same(
      (await two.read(id)).messages.map(({ content }) => content),
      contents,
      name,
    );
    t.equal((await two.list()).sessions.length, Math.min(contents.length, 1), `${name}: it is listed`);
  }
  truncateSync(path, until(6) + 20);
  here.runner.say('Here.');
  await two.chat(id, [user('one'), { role: 'assistant', content: 'ONE' }, user('three')]);
  t.match((await two.read(id)).messages.at(-1), { content: 'Here.' });
  for (const line of readFileSync(path, 'utf8').trimEnd().split('\n'))
    t.ok(JSON.parse(line), 'every line is whole');
  appendFileSync(path, '{"type":"message","role":"user","content":"dam\n');
  here.runner.say('Still here.');
  await two.chat(id, [user('one'), { role: 'assistant', content: 'ONE' }, user('four')]);
  t.match((await two.read(id)).messages.at(-1), { content: 'Still here.' }, 'a damaged line is skipped');
  appendFileSync(path, Buffer.alloc(64));
  t.match((await two.list()).sessions, [{ id }], 'a disk that lost its power leaves zeros');
});

t.test('a list has pages, and finds words in titles and messages', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  for (const [index, words] of ['Alpha rivers', 'Beta', 'Gamma', 'Delta', 'user'].entries()) {
    const { id } = await one.create({
      cwd: index < 2 ? '/a' : '/b',
      ...(index === 3 ? { title: 'Set "Ä"' } : {}),
    });
    here.runner.say(index === 2 ? 'About Rivers\nand \\"seas".' : 'Yes.');
    await one.chat(id, [user(words)]);
  }
  const all = ['user', 'Set "Ä"', 'Gamma', 'Beta', 'Alpha rivers'];
  t.same(titles(await one.list()), all);
  t.equal((await one.list()).nextCursor, undefined);
  const pages: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await one.list({ limit: 2, ...(cursor ? { cursor } : {}) });
    pages.push(...titles(page));
    cursor = page.nextCursor;
  } while (cursor);
  t.same(pages, all);
  for (const [query, found] of [
    ['RIVERS', ['Gamma', 'Alpha rivers']],
    ['rivers seas', ['Gamma']],
    ['seas"', ['Gamma']],
    ['ä', ['Set "Ä"']],
    ['delta', ['Set "Ä"']],
    ['user', ['user']],
    ['role', []],
    ['turns', []],
    ['content alpha', []],
    ['  ', all],
  ] as const)
    t.same(titles(await one.list({ query })), found, query);
  t.same(titles(await one.list({ cwd: '/a' })), ['Beta', 'Alpha rivers']);
  t.same(titles(await one.list({ cwd: '/a', query: 'yes', limit: 1 })), ['Beta']);
  const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  t.same((await one.list({ query: 'x'.repeat(200), limit: 1_000 })).sessions, []);
  for (const [params, path] of [
    [{ cursor: 'x' }, 'cursor'],
    [{ cursor: cursorOf([1.5, 'x']) }, 'cursor'],
    [{ cursor: cursorOf([1, 'x'.repeat(33)]) }, 'cursor'],
    [{ query: 'x'.repeat(201) }, 'query'],
    [{ cwd: 'src' }, 'cwd'],
    [{ cwd: `/${'x'.repeat(4_096)}` }, 'cwd'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 1_001 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
  ] as const)
    await t.rejects(one.list(params), failsWith({ code: -32602, data: { path } }), path);
});

t.test(
  'a page has fifty conversations, and words are found wherever they stand in a long message',
  async (t) => {
    const here = await place(t);
    const one = await start(t, here);
    await one.create();
    const write = (id: string, words: string) => {
      const lines = [
        { type: 'session', version: 1, id, createdAt: new Date().toISOString() },
        { type: 'message', role: 'user', content: words },
      ];
      writeFileSync(
        join(here.folder, `${id}.jsonl`),
        lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      );
    };
    for (let at = 10; at < 62; at += 1) write(`20261122-aaaaaa${at}`, `Number ${at}`);
    const first = await one.list();
    t.equal(first.sessions.length, 50);
    t.equal((await one.list({ cursor: first.nextCursor })).sessions.length, 2);
    const piece = 512 * 1024;
    // Each stands where one piece of a line that is searched may end and the next one begin.
    for (const before of [piece - 45, piece - 40, piece, 2 * piece - 60]) {
      write('20261122-aaaaaa10', `${'x'.repeat(before)} Needle ${'y'.repeat(100)}`);
      t.same(
        (await one.list({ query: 'NEEDLE' })).sessions.map(({ id }) => id),
        ['20261122-aaaaaa10'],
        `${before}`,
      );
    }
  },
);

t.test('ids are checked before they become part of a path', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create();
  writeFileSync(join(here.folder, '..', 'x.jsonl'), readFileSync(join(here.folder, `${id}.jsonl`)));
  for (const wrong of [
    '../x',
    '',
    'x',
    `${id}/`,
    `./${id}`,
    id.toUpperCase(),
    '20261122-aaaaaaaa',
    'con',
    '../'.repeat(999),
  ]) {
    await t.rejects(one.read(wrong), failsWith({ code: -32602, data: { path: 'id' } }), wrong.slice(0, 20));
    await t.rejects(one.chat(wrong, [user('?')]), failsWith({ code: -32602, data: { path: 'session' } }));
  }
  t.match(await one.daemon.request(updateSessionRequest, { id, title: 'x'.repeat(200) }), {});
  for (const title of [' ', 'x'.repeat(201)])
    await t.rejects(
      one.daemon.request(updateSessionRequest, { id, title }),
      failsWith({ code: -32602, data: { path: 'title' } }),
    );
  await t.rejects(one.create({ cwd: 'here' }), failsWith({ code: -32602, data: { path: 'cwd' } }));
});

t.test('hostile files in the folder are skipped, and not deleted', where('sh'), async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create({ title: 'Mine' });
  await one.chat(id, [user('?')]);
  const at = (name: string) => join(here.folder, `20261122-${name}.jsonl`);
  const own = join(here.folder, `${id}.jsonl`);
  writeFileSync(join(here.state, 'secret'), 'none of its business');
  symlinkSync(own, at('linked00'));
  symlinkSync(join(here.state, 'secret'), at('linked01'));
  linkSync(own, at('hardlink'));
  writeFileSync(at('copied00'), readFileSync(own));
  mkdirSync(at('afolder0'));
  writeFileSync(at('empty000'), '');
  writeFileSync(at('huge0000'), '');
  truncateSync(at('huge0000'), 1_000_000_000);
  writeFileSync(at('nojson00'), 'x'.repeat(100_000));
  writeFileSync(at('deep0000'), `${'['.repeat(5000)}\n`);
  const header = { type: 'session', version: 1, createdAt: '2026-11-22T00:00:00Z' };
  writeFileSync(at('longline'), `${JSON.stringify({ ...header, id: '20261122-longline' })}\n`);
  truncateSync(at('longline'), 40_000_000);
  // The system's clock for files is coarser than the daemon's.
  const later = new Date(Date.now() + 1_000);
  utimesSync(at('longline'), later, later);
  writeFileSync(join(here.folder, 'notes.txt'), 'mine too');
  await once(spawn('mkfifo', [at('fifo0000')]), 'close');
  const before = readdirSync(here.folder);
  t.same(titles(await one.list()), ['Mine'], 'a line without an end is where a file was cut');
  t.same(titles(await one.list({ query: 'business' })), []);
  for (const name of ['linked00', 'linked01', 'hardlink', 'copied00', 'afolder0', 'fifo0000', 'huge0000'])
    await t.rejects(one.read(`20261122-${name}`), failsWith({ code: -32602, data: { path: 'id' } }), name);
  t.same(readdirSync(here.folder), before);
});

t.test('the oldest conversations are deleted by age and for lack of room', async (t) => {
  const here = await place(t);
  const one = await start(t, here, { sessionDays: 10 });
  const aged = async (title: string, days: number, bytes = 0) => {
    const { id } = await one.create({ title });
    const path = join(here.folder, `${id}.jsonl`);
    appendFileSync(path, `${JSON.stringify({ type: 'state', title, turns: 1 })}\n`);
    if (bytes > 0) truncateSync(path, bytes);
    const then = new Date(Date.now() - days * 24 * 60 * 60 * 1000);
    utimesSync(path, then, then);
    return id;
  };
  const open = await aged('open', 12);
  const other = await startProcess(t, here);
  await other.daemon.request(readSessionRequest, { id: open, open: true });
  await aged('too old', 11);
  for (const [index, title] of ['d', 'c', 'b', 'a'].entries()) await aged(title, 9 - index, 60 * 1024 * 1024);
  await aged('new', 0);
  t.same(titles(await one.list()), ['new', 'a', 'b', 'c']);
  t.equal(files(here.folder).length, 5, 'and what is open stays');
});

t.test("of the client's days and the user's own, the fewer count", async (t) => {
  for (const [client, own, isKept] of [
    [10, 10, true],
    [10, 5, false],
    [5, 10, false],
    [5, undefined, false],
    [10, undefined, true],
  ] as const) {
    const here = await place(t);
    const home = await temporaryFolder(t, {
      'runner/config.json': JSON.stringify(own === undefined ? {} : { sessionDays: own }),
    });
    const one = await start(t, here, { sessionDays: client }, { env: { XDG_CONFIG_HOME: home } });
    const { id } = await one.create({ title: 'Old' });
    const path = join(here.folder, `${id}.jsonl`);
    appendFileSync(path, `${JSON.stringify({ type: 'state', title: 'Old', turns: 1 })}\n`);
    const then = new Date(Date.now() - 7 * 24 * 60 * 60 * 1000);
    utimesSync(path, then, then);
    t.same(titles(await one.list()), isKept ? ['Old'] : [], `${client} and ${own}`);
  }
});

t.test('conversations stay up to an age, a size and a count, of which each is reached exactly', async (t) => {
  const day = 24 * 60 * 60 * 1000;
  const now = 100 * day;
  const half = 100 * 1024 * 1024;
  const kept = (files: readonly { readonly size: number; readonly age: number }[]) => {
    const entries = files.map(({ size, age }) => ({ id: 'x', path: '', size, updatedAt: now - age }));
    const { kept, expired } = divideByAge(entries, { days: 3, now });
    t.same([...kept, ...expired], entries, 'none is lost');
    return kept.length;
  };
  t.equal(kept([{ size: 1, age: 3 * day }]), 1);
  t.equal(kept([{ size: 1, age: 3 * day + 1 }]), 0);
  t.equal(
    kept([
      { size: half, age: 0 },
      { size: half, age: 1 },
      { size: 1, age: 2 },
    ]),
    2,
  );
  t.equal(kept(Array.from({ length: 10_001 }, () => ({ size: 1, age: 0 }))), 10_000);
  const entries = [
    { id: 'a', updatedAt: 1 },
    { id: 'c', updatedAt: 1 },
    { id: 'b', updatedAt: 1 },
    { id: 'a', updatedAt: 2 },
  ];
  const sorted = entries.toSorted(newestFirst).map(({ id, updatedAt }) => `${id}${updatedAt}`);
  t.same(sorted, ['a2', 'c1', 'b1', 'a1'], 'of one time in an order of their own');
});

t.test('large images are replaced by a note, and small ones are kept', async (t) => {
  const here = await place(t);
  const one = await start(t, here);
  const { id } = await one.create();
  const small = Buffer.alloc(1024 * 1024, 1).toString('base64');
  const large = Buffer.alloc(1024 * 1024 + 1, 1).toString('base64');
  await one.chat(id, [{ role: 'user', content: 'See', images: [small, large] }]);
  const [message] = (await one.read(id)).messages;
  t.equal(message?.content, 'See\n\n[An image of 1.0 MB was here. It is not kept.]');
  t.same(message?.images, [small]);
  t.equal((await one.read(id)).session.title, 'See');
});

t.test('a message that is too long for a line is kept as far as there is room', async (t) => {
  const long = 'x'.repeat(17 * 1024 * 1024);
  const call = (id: string, length: number) => ({
    id,
    name: 'write',
    arguments: { text: 'a'.repeat(length) },
  });
  const calls = Array.from({ length: 130 }, (_, index) => call(`c${index}`, index === 0 ? 20_000 : 3));
  const { toolCalls, content } = toKept({ role: 'assistant', content: long, toolCalls: calls });
  t.equal(toolCalls?.length, 128);
  t.same(toolCalls?.[0], { ...calls[0], arguments: {} }, 'long arguments are left out');
  t.same(toolCalls?.[1], calls[1], 'and short ones stay');
  t.equal(content.length, 1024 * 1024 + '\n\n[The rest of this message was too long to be kept.]'.length);
  const attached = toKept({
    role: 'user',
    content: 'Read this',
    attachments: [{ path: '/a', text: long }],
  });
  t.same(attached, {
    role: 'user',
    content: 'Read this\n\n[What was attached was too large to be kept.]',
  });
  const most = 16 * 1024 * 1024;
  const around = messageToLine(user('')).length;
  const whole = messageToLine(user('x'.repeat(most - around)));
  t.equal(whole.length, most);
  t.match(JSON.parse(messageToLine(user('x'.repeat(most - around + 1)))).content, /was too long to be kept/);
});

t.test('nothing is written or listed if conversations are not kept', async (t) => {
  const here = await place(t);
  const keeping = await start(t, here);
  const { id: kept } = await keeping.create({ title: 'Kept' });
  await keeping.chat(kept, [user('?')]);
  const before = readdirSync(here.folder);
  const one = await start(t, here, { keepSessions: false });
  const { id } = await one.create({ title: 'Not kept' });
  t.match((await one.chat(id, [user('?')])).result, { finishReason: 'stop', notices: [] });
  t.same(await one.list(), { sessions: [] });
  t.same(readdirSync(here.folder), before);
  await one.daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { runner: { keepSessions: true } },
  });
  await one.chat(id, [user('And now?')]);
  t.same(titles(await one.list()), ['Not kept', 'Kept']);
});

t.test('a folder that cannot be written does not lose the answer', async (t) => {
  const here = await place(t);
  writeFileSync(join(here.state, 'runner'), 'a file stands in the way');
  const one = await start(t, here);
  await t.rejects(
    one.create(),
    failsWith({ code: -33005, message: /cannot be kept in the state folder \(\w+\)\. Make it writable/ }),
  );
  t.same(await one.list(), { sessions: [] });
  const two = await start(t, await place(t));
  const { id } = await two.create();
  const { id: full } = await two.create();
  await two.daemon.request(deleteSessionRequest, { id: full });
  await t.rejects(two.chat(full, [user('?')]), failsWith({ code: -32602 }));
  t.ok(id);
});

t.test('a title is the first line with words, at most 60 characters, without half characters', async (t) => {
  for (const { name, input, want } of [
    { name: 'short', input: 'Hi', want: 'Hi' },
    { name: 'lines', input: '\n\n a\tb \nc', want: 'a b' },
    { name: 'long', input: 'x'.repeat(61), want: 'x'.repeat(60) },
    { name: 'a pair at the edge', input: `${'x'.repeat(59)}😀`, want: 'x'.repeat(59) },
    { name: 'nothing', input: ' \n ', want: undefined },
    { name: 'controls', input: 'a\u001b[2Jb\u0000', want: 'a [2Jb' },
  ])
    t.equal(titleOf([{ role: 'system', content: 'no' }, user(input), user('later')]), want ?? 'later', name);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const title = titleOf([user(text)]) ?? '';
      return title.length <= 60 && !/[\n\r\u0000]/.test(title) && Buffer.from(title).toString() === title;
    }),
  );
});

t.test('no line makes the reader fail', async (t) => {
  fc.assert(fc.property(fc.string(), (line) => void tryRecord(line)));
  fc.assert(fc.property(fc.json(), (line) => void tryRecord(line)));
  for (const line of ['{"type":"message","role":"user"}', '{"type":"later"}', '[]', '{', '', 'null', '7'])
    t.equal(tryRecord(line), undefined, line);
  t.equal(tryRecord('['.repeat(9999)), undefined);
});
