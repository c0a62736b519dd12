import { EventEmitter, once } from 'node:events';
import { truncateSync } from 'node:fs';
import { open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createExclusiveWork } from '../../daemon/base/exclusiveWork.ts';
import { identityOf, identityToName } from '../../daemon/base/processLocks.ts';
import { validate } from '../../daemon/base/validate.ts';
import { ConversationMemory, withHistory } from '../../daemon/sessions/conversationMemory.ts';
import {
  markOf,
  oneLine,
  type SessionState,
  stateAfter,
  stateToLine,
} from '../../daemon/sessions/records.ts';
import { recordTurns } from '../../daemon/sessions/recordTurns.ts';
import {
  createSessionSchema,
  forkSessionSchema,
  listSessionsSchema,
  readSessionSchema,
  updateSessionSchema,
} from '../../daemon/sessions/serveSessions.ts';
import { findLastTurn, readLines, readSession, readSummary } from '../../daemon/sessions/sessionFile.ts';
import { SessionFiles } from '../../daemon/sessions/sessionFiles.ts';
import { type FolderEntry, readFolder } from '../../daemon/sessions/sessionFolder.ts';
import { createSessionId, isSessionId, naming, unknownSession } from '../../daemon/sessions/sessionId.ts';
import { listPage } from '../../daemon/sessions/sessionList.ts';
import { createSessions } from '../../daemon/sessions/sessions.ts';
import { promptToAddition, replyToAddition } from '../../daemon/sessions/turnRecords.ts';
import type { ChatParams, ChatResult, Message } from '../../protocol/messages/chat.ts';
import { failsWith } from '../support/failsWith.ts';
import { spawnSleeper } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const never = new AbortController().signal;
const user = (content: string, more: Partial<Message> = {}): Message => ({ role: 'user', content, ...more });
const said = (content: string, more: Partial<Message> = {}): Message => ({
  role: 'assistant',
  content,
  ...more,
});
const call = (id: string) => ({ id, name: 'look', arguments: {} });
const resultOf = (id: string): Message => ({ role: 'tool', content: id, toolCallId: id, toolName: 'look' });
const day = '2026-11-22T00:00:00.000Z';
const begun = Date.parse(day);

t.test('what a request about a conversation may say', async (t) => {
  const long = (length: number) => 'x'.repeat(length);
  const folder = (length: number) => `/${long(length - 1)}`;
  for (const [schema, value, path] of [
    [createSessionSchema, {}, undefined],
    [createSessionSchema, { title: long(200), cwd: folder(4_096) }, undefined],
    [createSessionSchema, { title: long(201) }, 'title'],
    [createSessionSchema, { title: ' \n' }, 'title'],
    [createSessionSchema, { cwd: folder(4_097) }, 'cwd'],
    [createSessionSchema, { cwd: 'here' }, 'cwd'],
    [listSessionsSchema, { query: long(200), cwd: '/', limit: 1, cursor: '' }, undefined],
    [listSessionsSchema, { limit: 1_000 }, undefined],
    [listSessionsSchema, { query: long(201) }, 'query'],
    [listSessionsSchema, { limit: 0 }, 'limit'],
    [listSessionsSchema, { limit: 1_001 }, 'limit'],
    [listSessionsSchema, { limit: 1.5 }, 'limit'],
    [readSessionSchema, { id: 'x', open: true }, undefined],
    [readSessionSchema, { open: true }, 'id'],
    [forkSessionSchema, { id: 'x', turns: 1 }, undefined],
    [forkSessionSchema, { id: 'x', turns: 0 }, 'turns'],
    [updateSessionSchema, { id: 'x', title: 'T' }, undefined],
    [updateSessionSchema, { id: 'x' }, 'title'],
  ] as const) {
    const read = () => validate(schema as typeof createSessionSchema, value);
    if (path === undefined) t.strictSame(read(), value);
    else t.throws(read, failsWith({ path }), JSON.stringify(value).slice(0, 60));
  }
});

t.test('an id is the day and eight characters', async (t) => {
  t.equal(
    createSessionId(begun, () => 0),
    '20261122-aaaaaaaa',
  );
  t.equal(
    createSessionId(begun - 1, () => 0.999),
    '20261121-99999999',
  );
  for (const id of ['20261122-aaaaaaaa', '00000000-a0b1c2d3']) t.ok(isSessionId(id), id);
  for (const id of ['20261122-aaaaaaa', '20261122-aaaaaaaaa', '2026112-aaaaaaaa', '20261122-AAAAAAAA', ' '])
    t.notOk(isSessionId(id), id);
  const fails = (error: Error) => naming('session', Promise.reject(error));
  t.equal(await naming('session', Promise.resolve(7)), 7);
  await t.rejects(fails(unknownSession()), failsWith({ path: 'session', message: /no such conversation/ }));
  await t.rejects(fails(unknownSession('other')), failsWith({ path: 'other' }));
  await t.rejects(fails(new Error('lost')), { message: 'lost' });
});

t.test('the state of a conversation follows from what is added to it', async (t) => {
  const state = (more: Partial<SessionState> = {}): SessionState => {
    return { type: 'state', title: '', turns: 0, ...more };
  };
  const known = state({ title: 'Mine', turns: 2, model: 'm', answered: ['c0'], unanswered: ['mark'] });
  for (const [before, messages, want] of [
    [state(), [], state()],
    [known, [], known],
    [
      state(),
      [user(' \nHi\u0007 you\nthere')],
      { title: 'Hi  you', turns: 1, unanswered: [user(' \nHi\u0007 you\nthere')] },
    ],
    [
      state(),
      [user('see [a.ts](file:///w/a.ts) now')],
      { title: 'see a.ts now', turns: 1, unanswered: [user('see [a.ts](file:///w/a.ts) now')] },
    ],
    [state(), [user(''), user('Hi')], { title: 'Hi', turns: 2, unanswered: [user(''), user('Hi')] }],
    [state(), [said('No title'), user('')], { title: '', turns: 1, unanswered: [user('')] }],
    [known, [said('Yes.', { model: 'n' } as object)], { title: 'Mine', turns: 2, model: 'n' }],
    [
      known,
      [user('And?')],
      { title: 'Mine', turns: 3, model: 'm', answered: ['c0'], unanswered: ['mark', user('And?')] },
    ],
    [
      known,
      [resultOf('c1'), said(''), resultOf('c2'), resultOf('c3'), user('And?')],
      { title: 'Mine', turns: 3, model: 'm', answered: ['c2', 'c3'], unanswered: [user('And?')] },
    ],
    [
      known,
      [resultOf('c1')],
      { title: 'Mine', turns: 2, model: 'm', answered: ['c0', 'c1'], unanswered: ['mark'] },
    ],
  ] as const) {
    const unanswered = 'unanswered' in want ? want.unanswered : undefined;
    const marks = unanswered?.map((one) => (typeof one === 'string' ? one : markOf(one)));
    t.strictSame(
      stateAfter(before, messages),
      { type: 'state', ...want, ...(marks ? { unanswered: marks } : {}) },
      JSON.stringify(messages),
    );
  }
  t.match(markOf(user('Hi')), /^[\w-]{16}$/);
  const attachments = [{ path: '/a', text: 'A' }];
  const all = [
    ...[user('Hi'), user('Ho'), user('Hi', { images: ['A'] }), user('Hi', { attachments })],
    user('Hi', { attachments: [{ path: '/b', text: 'A' }] }),
    user('Hi', { attachments: [{ path: '/a', text: 'B' }] }),
    user('Hi', { attachments: [{ path: '/a', text: 'A', lines: '1-2' }] }),
  ];
  t.equal(new Set(all.map(markOf)).size, all.length, 'each has a mark of its own');
  t.equal(markOf(user('Hi', { attachments: [], images: [] })), markOf(user('Hi')));
  const marked = (length: number) => state({ answered: ['x'.repeat(length - 1)], unanswered: ['y'] });
  t.strictSame(JSON.parse(stateToLine(marked(4_096))), marked(4_096));
  t.strictSame(JSON.parse(stateToLine(marked(4_097))), state(), 'the line fits into the end of a file');
  t.equal(oneLine(' a\u0000\u001f\n\u007f\u009f\u2028b\u2029 '), 'a b');
});

/** Lines of a file, each as JSON. */
const toLines = (...records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');
const header = (id: string, more: object = {}) => ({
  type: 'session',
  version: 1,
  id,
  createdAt: day,
  ...more,
});
const message = (from: Message) => ({ type: 'message', ...from });

t.test('what is added to a conversation for a prompt and for its answer', async (t) => {
  const state: SessionState = {
    type: 'state',
    title: 'Mine',
    turns: 1,
    answered: ['c1'],
    unanswered: [markOf(user('Once'))],
  };
  const options = { state, at: day, redact: <T extends object>(value: T) => value };
  const linesOf = ({ lines }: { readonly lines: string }) =>
    lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  const sent = [{ role: 'system' as const, content: 'Be brief.' }, user('Hi')];
  const first = promptToAddition(
    { model: 'm', messages: sent },
    { ...options, state: { type: 'state', title: '', turns: 0 } },
  );
  t.strictSame(
    linesOf(first),
    sent.map((one) => ({ ...message(one), at: day })),
  );
  t.strictSame(first.state, {
    ...{ type: 'state', title: 'Hi', turns: 1, model: 'm', unanswered: [markOf(user('Hi'))] },
  });
  const messages = [...sent, said('Yes.'), resultOf('c1'), resultOf('c2'), user('Once'), user('Now')];
  const next = promptToAddition({ model: 'm', messages }, options);
  t.strictSame(
    linesOf(next),
    [resultOf('c2'), user('Now')].map((one) => ({ ...message(one), at: day })),
  );
  t.strictSame(next.state, {
    ...{ ...state, turns: 2, model: 'm', answered: ['c1', 'c2'] },
    unanswered: [markOf(user('Once')), markOf(user('Now'))],
  });
  const answer = [said('', { toolCalls: [call('c3')] }), resultOf('c3'), said(''), said('Done.')];
  const reply = replyToAddition('m', { answer, partial: 'cancelled' }, options);
  t.strictSame(linesOf(reply), [
    { ...message(said('', { toolCalls: [call('c3')] })), at: day, model: 'm' },
    { ...message(resultOf('c3')), at: day },
    { ...message(said('Done.')), at: day, model: 'm', partial: 'cancelled' },
  ]);
  t.strictSame(reply.state, { type: 'state', title: 'Mine', turns: 1, model: 'm' });
  t.match(linesOf(replyToAddition('m', { answer: [said('Hm')] }, options)), [{ partial: undefined }]);
});

t.test('a file is read from its ends, and as far as it is whole', async (t) => {
  const id = '20261122-aaaaaaaa';
  const state = { type: 'state', title: 'T', turns: 1, model: 'm' };
  const turn = [message(user('Hi')), message(said('Yes.'))];
  const whole = toLines(header(id), ...turn, state);
  const derived = { type: 'state', title: 'Hi', turns: 1 };
  const long = 'x'.repeat(20_000);
  for (const [name, text, want] of [
    ['whole', whole, { header: header(id), state, end: whole.length }],
    ['of another id', toLines(header('20261122-bbbbbbbb'), state), undefined],
    ['no header', toLines(state), undefined],
    ['no line', JSON.stringify(header(id)), undefined],
    ['empty', '', undefined],
    ['a long header', toLines(header(id, { cwd: `/${long}` }), state), undefined],
    [
      'a header alone',
      toLines(header(id)),
      { state: { type: 'state', title: '', turns: 0 }, end: toLines(header(id)).length },
    ],
    [
      'a title alone',
      toLines(header(id), { type: 'state', title: 'T', turns: 0 }),
      { state: { type: 'state', title: 'T', turns: 0 } },
    ],
    ['no state', toLines(header(id), ...turn), { state: derived, end: toLines(header(id), ...turn).length }],
    [
      'cut',
      `${toLines(header(id), ...turn)}{"type":"st`,
      { state: derived, end: toLines(header(id), ...turn).length },
    ],
    [
      'a long state',
      toLines(header(id), ...turn, { ...state, title: long }),
      { state: { ...state, title: long } },
    ],
    [
      'a state and more',
      toLines(header(id), state, message(user('And?'))),
      { state: { title: 'T', turns: 2, model: 'm' } },
    ],
    ['damaged within', `${toLines(header(id))}{"type":\n${toLines(...turn)}`, { state: derived }],
  ] as const) {
    const folder = await temporaryFolder(t, { 'a.jsonl': text });
    const file = await open(join(folder, 'a.jsonl'));
    t.teardown(() => file.close());
    await utimes(join(folder, 'a.jsonl'), 7, 7);
    const summary = await readSummary(file, id);
    if (want === undefined) t.equal(summary, undefined, name);
    else t.match(summary, { header: { id }, updatedAt: 7_000, ...want }, name);
  }
  const folder = await temporaryFolder(t, {
    'turns.jsonl': `${toLines(header(id), ...turn, state, message(user('And?')), message(user('Now?')), message(said('Now.')))}{"cut`,
    'lines.txt': 'a\n\u00e9\n\nend',
    'none.jsonl': toLines(header(id), message(said('Hi')), state),
  });
  const opened = async (name: string) => {
    const file = await open(join(folder, name));
    t.teardown(() => file.close());
    return file;
  };
  const turns = await opened('turns.jsonl');
  const before = toLines(header(id), ...turn, state);
  t.strictSame(await findLastTurn(turns), { state, end: before.length });
  t.equal(await findLastTurn(await opened('none.jsonl')), undefined);
  const taken: object[] = [];
  const { end } = await readSession(turns, (one) => taken.push(one));
  t.strictSame(taken, [user('Hi'), said('Yes.'), user('And?'), user('Now?'), said('Now.')]);
  t.equal(end, (await stat(join(folder, 'turns.jsonl'))).size - '{"cut'.length);
  const lines = [];
  for await (const line of readLines(await opened('lines.txt'))) lines.push(line);
  t.strictSame(lines, [
    { text: 'a', end: 2, isEnded: true },
    { text: '\u00e9', end: 5, isEnded: true },
    { text: '', end: 6, isEnded: true },
    { text: 'end', end: 9, isEnded: false },
  ]);
});

/** A folder of conversations, with a clock that stands still. */
async function filesIn(t: Test) {
  const folder = join(await temporaryFolder(t), 'sessions');
  let now = begun;
  const files = new SessionFiles({
    ...{ folder, now: () => now },
    redact: <T extends object>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('secret', '***')),
  });
  const id = '20261122-aaaaaaaa';
  const session = { id, title: '', createdAt: day, updatedAt: day, turns: 0 };
  const text = () => readFile(join(folder, `${id}.jsonl`), 'utf8');
  return { folder, files, id, session, text, pass: (by: number) => void (now += by) };
}

t.test('a conversation is written whole, extended, retitled, and its last turn taken out', async (t) => {
  const { files, id, session, text, folder, pass } = await filesIn(t);
  const at = (later: number) => new Date(begun + later).toISOString();
  const first = [user('My secret'), said('Yes.', { model: 'm' } as object)];
  t.strictSame(await files.create({ ...session, cwd: '/secret', model: 'n' }, first), {
    ...{ ...session, cwd: '/secret', title: 'My secret', model: 'm', turns: 1, updatedAt: at(0) },
  });
  const kept = [
    header(id, { cwd: '/***' }),
    message(user('My ***')),
    { ...message(said('Yes.')), model: 'm' },
  ];
  const state = { type: 'state', title: 'My ***', turns: 1, model: 'm' };
  t.equal(await text(), toLines(...kept, state));
  t.strictSame(await readdir(folder), [`${id}.jsonl`]);
  await t.rejects(files.create(session), failsWith({ kind: 'not-supported', message: /\(EEXIST\)/ }));
  const found = { id, title: 'My ***', cwd: '/***', model: 'm', createdAt: day, turns: 1 };
  t.strictSame(await files.find(id), { ...found, updatedAt: at(0) });
  t.strictSame(await files.read(id), {
    session: { ...found, updatedAt: at(0) },
    messages: [user('My ***'), { ...said('Yes.'), model: 'm' }],
  });
  const before = { header: kept[0], state, end: toLines(...kept, state).length, updatedAt: begun };
  const lines = toLines(message(user('And?')), message(said('No.')));
  const added = await files.extend(id, (known) => {
    t.strictSame(known, state);
    return { lines, state: { ...known, turns: 2 } };
  });
  t.strictSame(added, {
    ...{ before, after: { state: { ...state, turns: 2 }, end: before.end + lines.length } },
  });
  t.equal((await files.find(id)).updatedAt, at(1), 'each change has a time of its own');
  await files.retitle(id, 'A secret');
  t.match(await files.find(id), { title: 'A ***', turns: 2, updatedAt: at(2) });
  pass(10_000);
  await files.undo(id);
  t.match(await files.find(id), { title: 'A ***', turns: 1, updatedAt: at(10_000) });
  t.equal(await text(), toLines(...kept, state, { ...state, title: 'A ***' }));
  await files.extend(id, (known) => ({ lines: '', state: known }), 1_000_000);
  await files.extend(id, (known) => ({ lines: '', state: known }), toLines(...kept).length);
  t.equal(await text(), toLines(...kept, { ...state, title: 'A ***' }), 'in the place of what was there');
  await files.undo(id);
  t.strictSame((await files.read(id)).messages, []);
  truncateSync(join(folder, `${id}.jsonl`), 64 * 1024 * 1024 + 1);
  await t.rejects(files.find(id), failsWith({ path: 'id' }), 'it is too large to be one');
  await files.delete(id);
  await t.rejects(files.find(id), failsWith({ path: 'id' }));
  await t.rejects(files.read(id), failsWith({ path: 'id' }));
  await t.rejects(files.retitle(id, 'x'), failsWith({ path: 'id' }));
  await t.rejects(files.undo(id), failsWith({ path: 'id' }));
  await t.rejects(files.delete(id), failsWith({ message: /\(ENOENT\)/ }));
  for (const wrong of ['../x', 'x']) await t.rejects(files.find(wrong), failsWith({ path: 'id' }));
});

t.test('a conversation grows up to a size, which is reached exactly', async (t) => {
  const { files, id, session } = await filesIn(t);
  await files.create(session);
  const most = 64 * 1024 * 1024;
  const filling = (more: number) =>
    files.extend(
      id,
      (known) => {
        const last = stateToLine(known).length;
        return { lines: 'x'.repeat(most - 4_096 - last + more), state: known };
      },
      4_096,
    );
  await t.rejects(filling(4_096), failsWith({ kind: 'not-supported', message: /largest size \(64 MB\)/ }));
  t.match(await files.find(id), { turns: 0 }, 'nothing was written');
});

t.test('old conversations go, except those that are open or are none', async (t) => {
  const { files, session, folder } = await filesIn(t);
  const ids = ['20261122-aaaaaaa1', '20261122-aaaaaaa2', '20261122-aaaaaaa3', '20261122-aaaaaaa4'];
  for (const id of ids) await files.create({ ...session, id });
  const days = (count: number) => new Date(begun - count * 24 * 3_600_000);
  for (const [index, id] of ids.entries())
    await utimes(join(folder, `${id}.jsonl`), days(index * 2), days(index * 2));
  truncateSync(join(folder, `${ids[3]}.jsonl`), 5);
  await utimes(join(folder, `${ids[3]}.jsonl`), days(6), days(6));
  const kept = await files.prune(3, async (id) => id === ids[2]);
  t.strictSame(
    kept.map(({ id }) => id),
    ids.slice(0, 2),
  );
  t.strictSame(
    (await readdir(folder)).sort(),
    ids.map((id) => `${id}.jsonl`),
  );
  await files.prune(3, async () => false);
  t.strictSame(
    (await readdir(folder)).sort(),
    [ids[0], ids[1], ids[3]].map((id) => `${id}.jsonl`),
  );
});

t.test('a file that is larger than a conversation can be is none', async (t) => {
  const { files, session, folder } = await filesIn(t);
  await files.create(session);
  const sizes = async () => (await readFolder(folder)).map(({ size }) => size);
  for (const [size, want] of [
    [64 * 1024 * 1024, [64 * 1024 * 1024]],
    [64 * 1024 * 1024 + 1, []],
  ] as const) {
    truncateSync(join(folder, `${session.id}.jsonl`), size);
    t.strictSame(await sizes(), want);
  }
});

t.test('a page of conversations is as long as it may be, and names the next one', async (t) => {
  const { files, session, folder } = await filesIn(t);
  const ids = Array.from({ length: 60 }, (_, at) => `20261122-aaaaaa${at + 10}`);
  for (const [at, id] of ids.entries()) {
    const cwd = at % 2 === 0 ? '/even' : '/odd';
    // Each stands where one piece of a line that is searched ends and the next one begins.
    const needles = `${'x'.repeat(512 * 1024 - 40)} Needle ${'x'.repeat(512 * 1024 - 108)} ${'z'.repeat(200)} `;
    const words = at === 59 ? needles : `Number ${at}`;
    const attachments = [{ path: `/path${at}`, text: `text${at}` }];
    await files.create(
      { ...session, id, cwd },
      at === 58 ? [] : [user(words, { attachments }), said('Yes.')],
    );
  }
  const entries = await readFolder(folder);
  const listed = async (params: object, given: readonly FolderEntry[] = entries) => {
    const { sessions, nextCursor } = await listPage(given, params, never);
    return { ids: sessions.map(({ id }) => ids.indexOf(id)), nextCursor };
  };
  const down = (from: number, to: number) =>
    Array.from({ length: from - to + 1 }, (_, at) => from - at).filter((at) => at !== 58);
  const first = await listed({});
  t.strictSame(first.ids, down(59, 9), 'fifty, without the one that has no turn');
  t.strictSame(await listed({ cursor: first.nextCursor }), { ids: down(8, 0), nextCursor: undefined });
  t.strictSame((await listed({ limit: 59 })).nextCursor, undefined, 'nothing is on the next page');
  t.type((await listed({ limit: 58 })).nextCursor, 'string');
  const even = await listed({ cwd: '/even', limit: 2 });
  t.strictSame(even.ids, [56, 54]);
  t.strictSame((await listed({ cwd: '/even', limit: 2, cursor: even.nextCursor })).ids, [52, 50]);
  for (const [query, want] of [
    ['NEEDLE', [59]],
    [`yes ${'z'.repeat(200)}`, [59]],
    ['number 57', [57]],
    ['text57 /path57 yes', [57]],
    ['57 56', []],
    ['number 57 57 ', [57]],
    ['assistant', []],
  ] as const)
    t.strictSame((await listed({ query })).ids, want, query);
  // One list reads no more than 256 MB of messages.
  const large = entries.map((entry) => ({ ...entry, size: 128 * 1024 * 1024 }));
  const searched = await listed({ query: 'number 57' }, large);
  t.strictSame(searched.ids, [57]);
  t.strictSame((await listed({ cursor: searched.nextCursor })).ids[0], 56);
  const none = await listed({ query: 'nothing' }, large);
  t.strictSame(none.ids, []);
  t.strictSame((await listed({ query: 'number', cursor: none.nextCursor }, large)).ids[0], 56);
  const wrong = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const cursor of ['x', wrong([1]), wrong([1.5, 'x']), wrong([1, 'x'.repeat(33)]), wrong(['1', 'x'])])
    await t.rejects(listed({ cursor }), failsWith({ path: 'cursor' }), cursor);
  await t.rejects(listPage(entries, {}, AbortSignal.abort(new Error('left'))), { message: 'left' });
});

t.test('what is sent of a conversation, with all of its texts within a limit', (t) => {
  const most = 64 * 1024 * 1024;
  const long = (length: number) => 'x'.repeat(length);
  for (const [taken, more] of [
    [0, {}],
    [1_000, { attachments: [{ path: 'a', text: long(1_000) }] }],
    [1_000, { images: [long(500), long(500)] }],
    ['{}{}'.length, { toolCalls: [call('c1'), call('c2')] }],
  ] as const) {
    const kept = [
      { ...user(long(most / 2 - taken - 'c1c2'.length)), ...more },
      resultOf('c1'),
      resultOf('c2'),
    ];
    const sent = (length: number) => withHistory(kept, [user(long(length))], false);
    t.equal(sent(most / 2).length, 4);
    t.throws(() => sent(most / 2 + 1), failsWith({ kind: 'context-exceeded' }));
  }
  const open = said('See', { toolCalls: [call('c1'), call('c2')] });
  t.strictSame(
    withHistory([user('Look'), open], [resultOf('c2')], false),
    [user('Look'), said('See', { toolCalls: [call('c2')] }), resultOf('c2')],
    'a call that nothing answers is left out',
  );
  const kept = [user('a'), said('b'), user('c'), user('d'), said('e')];
  t.strictSame(withHistory(kept, [user('f')], true), [user('a'), said('b'), user('f')]);
  t.strictSame(withHistory(kept, [], true), kept.slice(0, 4), 'prompts without an answer stay with the next');
  t.strictSame(withHistory([], [], true), []);
  const dropped: string[] = [];
  const memory = new ConversationMemory((id) => void dropped.push(id));
  for (const id of ['1', '2', '1', '3', '4', '5']) memory.set(id, [user(long(most))]);
  t.strictSame(dropped, ['2'], 'the one that was used longest ago');
  memory.forget('1');
  memory.set('6', [user(long(most))]);
  t.strictSame(dropped, ['2']);
  t.end();
});

t.test('a chat is kept with its prompt, its answer and how it ended', async (t) => {
  const folder = await temporaryFolder(t);
  let changes = 0;
  const store = createSessions({
    folder,
    settings: () => ({ keepSessions: true, sessionDays: 10 }),
    redact: (value) => value,
    secretsAreRead: async () => undefined,
    onDidChange: () => void (changes += 1),
    ...{ now: () => begun, random: Math.random, closed: never },
  });
  t.teardown(() => store.close());
  let isSilent = false;
  let answer: () => Promise<ChatResult> = async () => Promise.reject(new Error('none'));
  const warned: string[] = [];
  const nothing = () => undefined;
  const log = {
    debug: nothing,
    info: nothing,
    error: nothing,
    warn: (line: string) => void warned.push(line),
  };
  const chat = recordTurns(
    async (_, params, send) => {
      if (!isSilent) await send({ streamId: params.streamId, seq: 4, kind: 'text', text: 'Ye' });
      return answer();
    },
    { sessions: { get: async () => store }, places: { nameOf: (_, model) => model }, log },
  );
  const seen: object[] = [];
  const ask = (params: Partial<ChatParams>) =>
    chat(
      {} as never,
      { streamId: 's', model: 'm', messages: [], ...params },
      async (delta) => void seen.push(delta),
      never,
    );
  const result = (more: Partial<ChatResult> = {}): ChatResult => {
    const usage = { promptTokens: 1, completionTokens: 1 };
    return { message: said('Yes.'), finishReason: 'stop', usage, notices: [], ...more } as ChatResult;
  };
  answer = async () => result();
  const { id } = store.begin({ cwd: '/work' });
  changes = 0;
  t.strictSame(await ask({ session: id, messages: [user('Hi')] }), result());
  t.ok(changes >= 2, 'both the prompt and the answer');
  const kept = async () =>
    (await store.read(id)).messages.map(({ at, model, ...rest }) => ({
      ...rest,
      ...(model ? { model } : {}),
    }));
  const own = { ...said('Yes.'), model: 'm' };
  t.strictSame(await kept(), [user('Hi'), own]);
  const history = [user('Hi'), said('Yes.')];
  answer = async () =>
    result({ messages: [said('', { toolCalls: [call('c1')] }), resultOf('c1'), said('Done.')] });
  await ask({ session: id, messages: [...history, user('Look')] });
  t.strictSame((await kept()).slice(2), [
    ...[user('Look'), { ...said('', { toolCalls: [call('c1')] }), model: 'm' }, resultOf('c1')],
    { ...said('Done.'), model: 'm' },
  ]);
  await store.undo(id);
  answer = async () => result({ finishReason: 'cancelled', message: said('Ye') });
  await ask({ session: id, messages: [...history, user('Again')] });
  t.strictSame((await kept()).slice(2), [user('Again'), { ...said('Ye'), model: 'm', partial: 'cancelled' }]);
  await store.undo(id);
  answer = async () => Promise.reject(new Error('lost'));
  await t.rejects(ask({ session: id, messages: [...history, user('Fail')] }), { message: 'lost' });
  t.strictSame((await kept()).slice(2), [user('Fail'), { ...said('Ye'), model: 'm', partial: 'failed' }]);
  await store.undo(id);
  seen.splice(0);
  answer = async () => {
    await store.delete(id);
    return result({ notices: [{ code: 'answer-lost', message: 'It is lost.' }] });
  };
  const notice = {
    code: 'session-not-kept',
    message: 'This turn was not kept, because the conversation was deleted in the meantime.',
  };
  t.match(await ask({ session: id, messages: [...history, user('Gone')] }), {
    notices: [{ code: 'answer-lost' }, notice],
  });
  t.strictSame(seen.at(-1), { streamId: 's', seq: 5, kind: 'notice', notice }, 'behind the last piece');
  await t.rejects(ask({ session: id, messages: [] }), failsWith({ path: 'session' }));
  isSilent = true;
  const { id: other } = store.begin({});
  answer = async () => {
    await store.delete(other);
    return result();
  };
  await ask({ session: other, messages: [user('Gone, too')] });
  t.strictSame(seen.at(-1), { streamId: 's', seq: 0, kind: 'notice', notice });
});

t.test('work on the same thing is done by one after another, here and in other processes', async (t) => {
  const folder = await temporaryFolder(t);
  const workIn = (longest: number) =>
    createExclusiveWork({ folder, longest, busy: () => new Error('It is busy.') });
  const works = workIn(60_000);
  t.teardown(() => works.close());
  const done: string[] = [];
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const hasBegun = new EventEmitter();
  const beginning = once(hasBegun, 'begun');
  const first = works.run('one', async () => {
    done.push('first');
    hasBegun.emit('begun');
    await opened;
    done.push('first ends');
    return 7;
  });
  const second = works.run('one', async () => void done.push('second'));
  const leaving = new AbortController();
  const third = works.run('one', async () => void done.push('third'), leaving.signal);
  await beginning;
  await works.run('two', async () => void done.push('another'));
  t.same(done, ['first', 'another']);
  leaving.abort(new Error('left'));
  await t.rejects(third, { message: 'left' });
  open();
  t.equal(await first, 7);
  await second;
  await t.rejects(
    works.run('one', async () => Promise.reject(new Error('lost'))),
    { message: 'lost' },
  );
  t.strictSame(done.slice(2), ['first ends', 'second'], 'who does not wait any more has nothing done');
  t.strictSame(await readdir(folder), [], 'nothing is held');

  const other = spawnSleeper();
  t.teardown(() => other.kill());
  const mark = join(folder, `one.${identityToName(await identityOf(other.pid ?? 0))}`);
  await writeFile(mark, '');
  const impatient = workIn(0);
  await t.rejects(
    impatient.run('one', async () => void done.push('busy')),
    { message: 'It is busy.' },
  );
  const waiting = new AbortController();
  const late = works.run('one', async () => void done.push('late'), waiting.signal);
  waiting.abort(new Error('left'));
  await t.rejects(late, { message: 'left' });
  await works.close();
  await rm(mark);
  const begun = new AbortController();
  const running = workIn(0);
  const aborted = running.run(
    'one',
    async () => {
      begun.abort(new Error('left'));
      await Promise.resolve();
      done.push('to its end');
    },
    begun.signal,
  );
  await t.rejects(aborted, { message: 'left' });
  await running.close();
  t.strictSame(done.slice(4), ['to its end'], 'what has begun goes on, and is waited for');
});
