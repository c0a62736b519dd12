import t from 'tap';
import { ResponseError } from 'vscode-jsonrpc';
import type { ChatResult } from '../../protocol/messages/chat.ts';
import type { Model } from '../../protocol/messages/models.ts';
import type { Session, SessionMessage } from '../../protocol/messages/sessions.ts';
import { type Asked, startTerminal, type TerminalOptions, type Turn } from './terminalPeer.ts';
import { TerminalScreen } from './terminalScreen.ts';

const yes = { value: true, from: 'server' } as const;
const no = { value: false, from: 'server' } as const;
const capabilities = { completion: yes, tools: no, vision: no, thinking: no, insert: no, embedding: no };
const model: Model = { name: 'm:1b', server: 'default', family: 'm', capabilities, context: {} };

function resultOf(content: string): ChatResult {
  const usage = { promptTokens: 3, completionTokens: 20 };
  return { finishReason: 'stop', message: { role: 'assistant', content }, usage, notices: [] };
}

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
    models: [model],
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
  const leave = async () => {
    run.type('\u0004');
    t.equal(await run.ended, 0);
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
  run.type('\r');
  await run.stdout.until(/Going on with "Long rivers", 3 turns.*Very\..*m:1b › $/s);
  t.equal(screenOf(run.stderr.text()).trim(), '', 'nothing is left of the choice');
  t.match(run.asked.at(-1), ['read', { id: '20261122-aaaaaaa2', open: true }]);
  run.type('And?\r');
  await run.stdout.until(/20 tokens/);
  t.match(run.turns[0], { session: '20261122-aaaaaaa2', messages: [...said, { content: 'And?' }] });
  await run.leave();
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

t.test('Enter before the search has ended takes the first that it finds', async (t) => {
  const run = start({ args: ['chat', '--resume'] });
  await run.stderr.until(/Esc leaves\./);
  run.type('lak\r');
  await run.stdout.until(/Going on with "Lakes".*m:1b › $/s);
  t.match(run.asked.at(-1), ['read', { id: '20261122-aaaaaaa1' }]);
  await run.leave();
});

t.test('without a terminal, --resume lists and says how to name one', async (t) => {
  const run = start({ args: ['chat', '--resume'], input: '', isScreen: false });
  t.equal(await run.ended, 2);
  t.match(run.stdout.text(), /^ID .*\n20261122-aaaaaaa0 /);
  t.match(run.stderr.text(), /"--resume" lets you choose at a terminal\. .* --session ID/);
  const json = start({ args: ['chat', 'go', '--resume', '--json'] });
  t.equal(await json.ended, 2);
  t.match(json.stdout.events(), [kept[0], kept[1], kept[2], kept[3], { event: 'error', kind: 'usage' }]);
  const none = start({
    ...{ args: ['chat', '--resume'], input: '', isScreen: false },
    answers: { 'runner/sessions/list': () => ({ sessions: [] }) },
  });
  t.equal(await none.ended, 2);
  t.equal(none.stderr.text(), 'No conversation is kept yet.\n');
});

t.test('/resume changes to another conversation, and the line goes on', async (t) => {
  const run = start();
  await run.stdout.until(/m:1b › $/);
  run.type('/resume lake\r');
  await run.stderr.until(/› Lakes/);
  run.type('\r');
  await run.stdout.until(/Going on with "Lakes".*m:1b › $/s);
  run.type('/resume\r');
  await run.stderr.until(/Esc leaves.*Esc leaves\./s);
  run.type('\u0003');
  await run.stdout.until(/\/resume\s+m:1b › $/);
  run.type('Still here?\r');
  await run.stdout.until(/20 tokens/);
  t.match(run.turns, [{ session: '20261122-aaaaaaa1', messages: [...said, { content: 'Still here?' }] }]);
  await run.stdout.until(/m:1b › $/);
  await run.leave();
  const dumb = start({ env: { TERM: 'dumb' } });
  await dumb.stdout.until(/m:1b › $/);
  dumb.type('/resume\r');
  await dumb.stdout.until(/cannot show a list to choose from\. "\/sessions" lists/);
  await dumb.leave();
});

t.test('a conversation is forked, and the other one stays', async (t) => {
  const run = start({ args: ['chat', '--session', '20261122-aaaaaaa1'] });
  const say = async (line: string, says: RegExp) => {
    run.type(`${line}\r`);
    await run.stdout.until(new RegExp(`${says.source}[^›]*m:1b › $`, 's'));
  };
  await run.stdout.until(/m:1b › $/);
  await say('/fork 3', /There is no turn 3 yet\./);
  await say('/fork two', /Say "\/fork", or "\/fork 2"/);
  await say('/fork 1', /new conversation with 1 turn\. .*"\/sessions\s+20261122-aaaaaaa1"\s+goes back/);
  t.match(run.asked.at(-1), ['fork', { id: '20261122-aaaaaaa1', turns: 1 }]);
  await say('And?', /20 tokens/);
  t.match(run.turns[0], { session: '20261123-forked00' });
  t.strictSame(
    run.turns[0]?.messages.map(({ content }) => content),
    ['Which?', 'The Rhine.', 'And?'],
  );
  await say('/clear', /new conversation/);
  await say('/fork', /There is no turn yet\./);
  await run.leave();
  const flag = start({ args: ['chat', '--fork', 'aaaaaaa1', 'So?'], input: '' });
  t.equal(await flag.ended, 0, flag.stderr.text());
  t.match(flag.asked.at(-1), ['fork', { id: '20261122-aaaaaaa1' }]);
  t.match(flag.turns, [{ session: '20261123-forked00', messages: [...said, { content: 'So?' }] }]);
});
