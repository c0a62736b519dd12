import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { truncateSync } from 'node:fs';
import { open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createExclusiveWork } from '../../daemon/base/exclusiveWork.ts';
import { identityOf, identityToName } from '../../daemon/base/processLocks.ts';
import { validate } from '../../daemon/base/validate.ts';
import {
  createSessionSchema,
  forkSessionSchema,
  listSessionsSchema,
  readSessionSchema,
  updateSessionSchema,
} from '../../daemon/sessions/params.ts';
import {
  markOf,
  oneLine,
  type SessionState,
  stateAfter,
  stateToLine,
} from '../../daemon/sessions/records.ts';
import { findLastTurn, readLines, readSession, readSummary } from '../../daemon/sessions/sessionFile.ts';
import { SessionFiles } from '../../daemon/sessions/sessionFiles.ts';
import { readFolder } from '../../daemon/sessions/sessionFolder.ts';
import { createSessionId, isSessionId, naming, unknownSession } from '../../daemon/sessions/sessionId.ts';
import type { Message } from '../../protocol/messages/chat.ts';
import { failsWith } from '../support/failsWith.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const user = (content: string, more: Partial<Message> = {}): Message => ({ role: 'user', content, ...more });
const said = (content: string, more: Partial<Message> = {}): Message => ({
  role: 'assistant',
  content,
  ...more,
});
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

  const other = spawn('sleep', ['600']);
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
