import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { ResponseError } from 'vscode-jsonrpc';
import { editText } from '../../client/terminal/cli/systemPrograms.ts';
import type { Session, SessionMessage } from '../../protocol/messages/sessions.ts';
import { modelLike } from '../support/modelLike.ts';
import { where } from '../support/systems.ts';
import { type Asked, resultOf, startTerminal, type TerminalOptions, type Turn } from './terminalPeer.ts';
import { TerminalScreen } from './terminalScreen.ts';

const at = '2026-11-22T05:00:00Z';
const kept = ['Rivers', 'Lakes', 'Long rivers', 'Sea\u001b[2J'].map(
  (title, index): Session => ({
    id: `20261122-aaaaaaa${index}`,
    title,
    cwd: index === 0 ? '/home/me/rivers' : '/projects/here',
    createdAt: at,
    updatedAt: at,
    turns: index + 1,
  }),
);
const said: readonly SessionMessage[] = [
  { role: 'user', content: 'Which?' },
  { role: 'assistant', content: 'The Rhine.' },
  { role: 'user', content: 'How long?' },
  { role: 'assistant', content: 'Very.' },
];

/** A terminal with a daemon that keeps conversations, and what it was asked about them. */
function start(options: TerminalOptions = {}) {
  const asked: [method: string, params: unknown][] = [];
  const turns: Turn['params'][] = [];
  const known = ({ id }: Asked['params']) => kept.find((session) => session.id === id);
  const answer = (method: string, result: (params: Asked['params']) => unknown) =>
    [
      `runner/sessions/${method}`,
      ({ params }: Asked) => {
        asked.push([method, params]);
        return result(params);
      },
    ] as const;
  const unknown = new ResponseError(-32602, 'There is none.', { path: 'id' });
  const run = startTerminal({
    isScreen: true,
    models: [modelLike('m:1b')],
    env: { HOME: '/home/me' },
    answers: Object.fromEntries([
      answer('create', () => ({ session: { ...kept[0], title: '', turns: 0 } })),
      answer('list', ({ query = '' }) => ({
        sessions: kept.filter(({ title }) => title.toLowerCase().includes(String(query).toLowerCase())),
      })),
      answer('read', (params) => (known(params) ? { session: known(params), messages: said } : unknown)),
      answer('fork', (params) =>
        known(params) ? { session: { ...known(params), id: '20261123-forked00' }, messages: said } : unknown,
      ),
    ]),
    chat: async ({ params }) => {
      turns.push(params);
      return resultOf(`ok ${turns.length}`);
    },
    ...options,
  });
  const leave = async (t: Test) => {
    t.equal(await run.quit(), 0);
  };
  return { ...run, asked, turns, leave };
}

const screenOf = (text: string) => new TerminalScreen().write(text).text();

/** What the choice shows, without the time, which is local. */
const shown = (text: string) =>
  screenOf(text)
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'TIME')
    .trimEnd();

t.test('--resume lets the user search and choose a conversation', async (t) => {
  const run = start({ args: ['chat', '--resume'] });
  await run.stderr.until(/Esc leaves\./);
  t.equal(
    shown(run.stderr.text()),
    [
      'Which conversation?',
      '› Rivers       1 turn   TIME  ~/rivers',
      '  Lakes        2 turns  TIME  /projects/here',
      '  Long rivers  3 turns  TIME  /projects/here',
      '  Sea␛[2J      4 turns  TIME  /projects/here',
      'Type to search; ↑ and ↓ choose, Enter opens, Esc leaves.',
    ].join('\n'),
  );
  run.type('riverx\u007f');
  await run.stderr.until(/› Rivers[^\n]*\n {2}Long rivers/);
  run.type('\u001b[B\u001b[B');
  await run.stderr.until(/› Long rivers[^›]*$/);
  t.equal(
    shown(run.stderr.text()),
    [
      'Which conversation? river',
      '  Rivers       1 turn   TIME  ~/rivers',
      '› Long rivers  3 turns  TIME  /projects/here',
      'Type to search; ↑ and ↓ choose, Enter opens, Esc leaves.',
    ].join('\n'),
  );
  await run.enter('', /Going on with "Long rivers", 3 turns.*Very\..*m:1b › $/s);
  t.equal(screenOf(run.stderr.text()).trim(), '', 'nothing is left of the choice');
  t.hasStrict(run.asked.at(-1), ['read', { id: '20261122-aaaaaaa2', open: true }]);
  await run.enter('And?', /20 tokens/);
  t.hasStrict(run.turns[0], { session: '20261122-aaaaaaa2', messages: [...said, { content: 'And?' }] });
  await run.leave(t);
});

t.test('a list that is longer than the screen moves with the choice', async (t) => {
  const titled = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...kept[0], id: `2026-${index}`, title: `T${index}.` }));
  const windowOf = (text: string) =>
    screenOf(text)
      .split('\n')
      .flatMap((line) => /^(› | {2})T(\d+)\./.exec(line) ?? [])
      .filter((_, index) => index % 3 !== 0)
      .map((part) => part.replace('  ', ''))
      .join('')
      .replaceAll('› ', '›');
  const screens: readonly (readonly [rows: number, count: number, keys: string, shows: string])[] = [
    [24, 12, '', '›0123456789'],
    [24, 12, '\u001b[6~', '23456789›1011'],
    [24, 12, '\u000e'.repeat(9), '12345678›910'],
    [24, 12, `${'\u000e'.repeat(9)}\u0010`, '01234567›89'],
    [24, 12, '\u001b[6~\u001b[5~', '›0123456789'],
    [8, 12, '\u001b[B\u001b[B\u001b[B\u001b[A', '01›234'],
    [3, 12, '', '›0'],
  ];
  for (const [rows, count, keys, shows] of screens) {
    const answers = { 'runner/sessions/list': () => ({ sessions: titled(count) }) };
    const run = start({ args: ['chat', '--resume'], rows, answers });
    await run.stderr.until(/T0\.[\s\S]*Esc leaves\./);
    run.type(keys);
    await run.stderr.until({ test: () => windowOf(run.stderr.text()) === shows });
    run.type('\u0003');
    t.equal(await run.ended, 0);
  }
});

t.test('whoever leaves the choice continues nothing', async (t) => {
  for (const key of ['\u0003', '\u0004', '\u001b']) {
    const run = start({ args: ['chat', '--resume'] });
    await run.stderr.until(/Esc leaves\./);
    run.type(key);
    t.equal(await run.ended, 0);
    t.notMatch(run.asked.map(String), ['read']);
    t.equal(run.modes.at(-1), false, 'the keyboard is as it was');
  }
});

t.test('/resume changes to another conversation, and the line goes on', async (t) => {
  const run = start();
  await run.stdout.until(/m:1b › $/);
  run.type('/resume lake\r');
  await run.stderr.until(/› Lakes/);
  await run.enter('', /Going on with "Lakes".*m:1b › $/s);
  run.type('/resume\r');
  await run.stderr.until(/Esc leaves.*Esc leaves\./s);
  run.type('\u0003');
  await run.stdout.until(/\/resume\s+m:1b › $/);
  await run.enter('Still here?', /20 tokens/);
  t.hasStrict(run.turns, [{ session: '20261122-aaaaaaa1', messages: [...said, { content: 'Still here?' }] }]);
  await run.stdout.until(/m:1b › $/);
  await run.leave(t);
  const dumb = start({ env: { TERM: 'dumb' } });
  await dumb.stdout.until(/m:1b › $/);
  await dumb.enter('/resume', /cannot show a list to choose from\. "\/sessions" lists/);
  await dumb.leave(t);
});

t.test('a conversation is forked, and the other one stays', async (t) => {
  const run = start({ args: ['chat', '--session', '20261122-aaaaaaa1'] });
  const say = async (line: string, says: RegExp) => {
    await run.enter(line, new RegExp(`${says.source}[^›]*m:1b › $`, 's'));
  };
  await run.stdout.until(/m:1b › $/);
  await say('/fork 3', /There is no turn 3 yet\./);
  await say('/fork two', /Say "\/fork", or "\/fork 2"/);
  await say('/fork 1', /new conversation with 1 turn\. .*"\/sessions\s+20261122-aaaaaaa1"\s+goes back/);
  t.hasStrict(run.asked.at(-1), ['fork', { id: '20261122-aaaaaaa1', turns: 1 }]);
  await say('And?', /20 tokens/);
  t.hasStrict(run.turns[0], { session: '20261123-forked00' });
  t.strictSame(
    run.turns[0]?.messages.map(({ content }) => content),
    ['Which?', 'The Rhine.', 'And?'],
  );
  await say('/clear', /new conversation/);
  await say('/fork', /There is no turn yet\./);
  await run.leave(t);
  const flag = start({ args: ['chat', '--fork', 'aaaaaaa1', 'So?'], input: '' });
  t.equal(await flag.ended, 0, flag.stderr.text());
  t.hasStrict(flag.asked.at(-1), ['fork', { id: '20261122-aaaaaaa1' }]);
  t.hasStrict(flag.turns, [{ session: '20261123-forked00', messages: [...said, { content: 'So?' }] }]);
});

const state = mkdtempSync(join(tmpdir(), 'runner-keys-'));
t.teardown(() => rmSync(state, { recursive: true, force: true }));

t.test('Ctrl-R finds earlier prompts, also of other conversations', async (t) => {
  mkdirSync(join(state, 'runner'), { recursive: true });
  writeFileSync(join(state, 'runner', 'history'), 'Why Rivers\nwhich rivers\nwhich lakes\n');
  const run = start({ env: { XDG_STATE_HOME: state } });
  await run.stdout.until(/m:1b › $/);
  run.type('draft\u0012');
  await run.stdout.until(/search "": draft$/);
  run.type('whi');
  await run.stdout.until(/search "whi": which lakes$/);
  run.type('\u0012');
  await run.stdout.until(/search "whi": which rivers$/);
  run.type('\u0012');
  await run.stdout.until(/nothing older has "whi": which rivers$/);
  run.type('\u0007');
  await run.stdout.until(/m:1b › draft$/);
  run.type('\u0012lak\u001b');
  await run.stdout.until(/m:1b › which lakes$/);
  await run.enter('!', /20 tokens[^›]*› $/);
  run.type('\u0012riv');
  await run.stdout.until(/search "riv": which rivers$/);
  run.type('x');
  await run.stdout.until(/nothing older has "rivx": which rivers$/);
  run.type('\u007f');
  await run.stdout.until(/search "riv": which rivers$/);
  run.type('\u0003');
  await run.stdout.until(/m:1b › $/);
  run.type('\u0012Riv');
  await run.stdout.until(/search "Riv": Why Rivers$/);
  await run.enter('', /20 tokens.*20 tokens[^›]*› $/s);
  t.strictSame(
    run.turns.map(({ messages }) => messages.at(-1)?.content),
    ['which lakes!', 'Why Rivers'],
    'a large letter finds only a large one',
  );
  await run.leave(t);
});

t.test('Alt-Enter and Shift-Enter begin another line', async (t) => {
  const run = start();
  await run.stdout.until(/m:1b › $/);
  await run.enter('one\u001b\rtwo\u001b[13;2uthree', /20 tokens/);
  t.hasStrict(run.turns, [{ messages: [{ content: 'one\ntwo\nthree' }] }]);
  await run.stdout.until(/20 tokens[^›]*› $/);
  run.type('\u001b[A');
  await run.stdout.until(/one␤two␤three$/);
  run.type('\u0015');
  await run.leave(t);
});

t.test('Ctrl-X Ctrl-E hands the prompt to an editor, and takes it back', async (t) => {
  const given: string[] = [];
  const run = start({
    editText: async (text) => {
      given.push(text);
      if (given.length === 2) throw new Error('The editor is gone.');
      return `${text}\n\u001bmore`;
    },
  });
  await run.stdout.until(/m:1b › $/);
  await run.enter('first\\', /… $/);
  run.type('second\u0018\u0005');
  await run.stdout.until(/m:1b › first␤second␤more$/);
  t.strictSame(given, ['first\nsecond']);
  t.match(run.modes.slice(-2), [false, true], 'the keyboard was free meanwhile');
  run.type('\u0018\u0005');
  await run.stdout.until(/The editor is gone\.\n[^›]*› first␤second␤more$/);
  await run.enter('', /20 tokens[^›]*› $/);
  t.hasStrict(run.turns, [{ messages: [{ content: 'first\nsecond\nmore' }] }]);
  await run.enter('a\u0018b', /20 tokens.*20 tokens/s);
  t.hasStrict(run.turns[1]?.messages.at(-1), { content: 'ab' }, 'Ctrl-X alone does nothing');
  await run.stdout.until(/20 tokens[^›]*› $/);
  await run.leave(t);
});

// Node binds the keys of a stream to the first that reads them: whether Tab is one of many.
t.test('the keys of a conversation are its own, also after a choice', async (t) => {
  const run = start({ args: ['chat', '--resume'] });
  await run.stderr.until(/Esc leaves\./);
  await run.enter('', /m:1b › $/);
  await run.enter('one\ttwo', /20 tokens/);
  t.hasStrict(run.turns[0]?.messages.at(-1), { content: 'one\ttwo' }, 'Tab is a character of a paste');
  await run.leave(t);
});

t.test('a text is changed in the editor of the user', where('sh'), async (t) => {
  const script = join(state, 'editor.sh');
  writeFileSync(script, 'printf "%s: " "$1" > "$2.new"; cat "$2" >> "$2.new"; mv "$2.new" "$2"\n');
  t.equal(
    await editText('a "text"', 'linux', { VISUAL: `sh ${script} seen`, EDITOR: 'false' }),
    'seen: a "text"',
  );
  await t.rejects(editText('a', 'linux', { EDITOR: 'false' }), /The editor "false" ended with an error/);
  const { PATH = '' } = process.env;
  t.teardown(() => {
    process.env['PATH'] = PATH;
  });
  process.env['PATH'] = `${state}:${PATH}`;
  const seen = join(state, 'seen');
  const program = (text: string) =>
    `#!/bin/sh\necho "$# $0" > ${seen}; ls -l "$1" | cut -c1-10 >> ${seen}; cat "$1" >> ${seen}; dirname "$1" >> ${seen}; printf '${text}' > "$1"\n`;
  writeFileSync(join(state, 'vi'), program('one\\r\\ntwo\\rthree \\n\\n'), { mode: 0o755 });
  const [windows, editor] = [join(state, 'System32', 'notepad.exe'), join(state, 'my editor')];
  mkdirSync(dirname(windows));
  for (const path of [windows, editor]) writeFileSync(path, program(''), { mode: 0o755 });
  const cases = [
    { platform: 'linux', env: {}, path: join(state, 'vi'), text: 'a\nb', becomes: 'one\ntwo\nthree' },
    { platform: 'win32', env: { SystemRoot: state }, path: windows, text: '', becomes: '' },
    { platform: 'win32', env: { EDITOR: editor }, path: editor, text: '', becomes: '' },
    { platform: 'win32', env: { EDITOR: `env "${editor}"` }, path: editor, text: '', becomes: '' },
  ] as const;
  for (const { platform, env, path, text, becomes } of cases) {
    t.equal(await editText(text, platform, env), becomes, path);
    const [first, mode, ...rest] = readFileSync(seen, 'utf8').split('\n');
    t.equal(first, `1 ${path}`);
    t.equal(mode, '-rw-------', 'only its owner reads it');
    t.equal(
      rest
        .slice(0, -2)
        .map((line) => `${line}\n`)
        .join(''),
      text === '' ? '' : `${text}\n`,
    );
    t.notOk(existsSync(rest.at(-2) ?? ''), 'nothing is left of it');
  }
});
