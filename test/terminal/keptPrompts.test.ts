import t, { type Test } from 'tap';
import type { ChatParams } from '../../protocol/messages/chat.ts';
import type { GetPromptParams, GetPromptResult, ListPromptsResult } from '../../protocol/messages/prompts.ts';
import { modelLike } from '../support/modelLike.ts';
import { resultOf, startTerminal, type TerminalOptions } from './terminalPeer.ts';

/** A conversation with a daemon that answers `runner/prompts/get` so. */
function converse(get: (params: GetPromptParams) => GetPromptResult, options: TerminalOptions = {}) {
  const asked: ChatParams[] = [];
  const got: GetPromptParams[] = [];
  const allowed: unknown[] = [];
  const looked: string[] = [];
  const run = startTerminal({
    isScreen: true,
    models: [modelLike('m:1b')],
    answers: {
      'runner/prompts/get': ({ params }) => {
        got.push(params as unknown as GetPromptParams);
        return get(params as unknown as GetPromptParams);
      },
      'runner/files/find': ({ params }) => {
        looked.push(JSON.stringify(params));
        return { mentions: [] };
      },
      'runner/prompts/allow': ({ params }) => {
        allowed.push(params);
        return {};
      },
    },
    chat: async ({ params }) => {
      asked.push(params);
      return resultOf('Done.');
    },
    ...options,
  });
  const leave = async (t: Test) => {
    run.type('\u0004');
    t.equal(await run.ended, 0);
  };
  return { ...run, asked, got, allowed, looked, leave };
}

t.test('a prompt is sent as it is, to its model and with its tools for this turn alone', async (t) => {
  const text = 'Look at @secret.md and https://example.org';
  const run = converse(({ name }) =>
    name === 'review'
      ? { kind: 'prompt', name, text, model: 'big:9b', tools: ['files'] }
      : { kind: 'none', near: [] },
  );
  await run.stdout.until(/m:1b ›/);
  run.type('/review of @a.ts\r');
  await run.stdout.until(
    /The prompt \/review goes to big:9b with the tools of files\.[\s\S]*20 tokens[\s\S]*m:1b ›/,
  );
  run.type('hello\r');
  await run.stdout.until(/(?:20 tokens[\s\S]*){2}m:1b ›/);
  t.hasStrict(
    run.got,
    [{ name: 'review', text: 'of @a.ts', cwd: '/projects/here' }],
    'what is no command is not looked up',
  );
  t.hasStrict(run.asked, [
    { model: 'big:9b', hostedTools: ['files'], messages: [{ role: 'user', content: text }] },
    { model: 'm:1b', messages: [{ content: text }, { content: 'Done.' }, { content: 'hello' }] },
  ]);
  t.notOk(run.asked[1]?.hostedTools);
  t.match(run.looked, [/of @a\.ts/], 'files are named by what was typed');
  t.notMatch(run.looked.join(), /secret/, 'and not by the text of the prompt');
  run.type('/undo\r');
  await run.stdout.until(/Took back[\s\S]*m:1b ›/);
  run.type('/retry\r');
  await run.stdout.until(/Asking again[\s\S]*20 tokens[\s\S]*m:1b ›/);
  t.hasStrict(run.asked[2], { model: 'big:9b', hostedTools: ['files'], messages: [{ content: text }] });
  run.type('/edit\r');
  await run.stdout.until(/› \/review of @a\.ts$/);
  run.type('\u0015');
  await run.leave(t);
});

t.test('commands come first, and what is neither stays what it was', async (t) => {
  const run = converse(() => ({ kind: 'none', near: [] }));
  await run.stdout.until(/m:1b ›/);
  run.type('/stats\r');
  await run.stdout.until(/There is no answer yet\./);
  t.strictSame(run.got, [], 'a command of the terminal is no prompt');
  run.type('/nope\r');
  await run.stdout.until(/There is no command \/nope\./);
  run.type('\u001b[200~/Users\nhave paths\u001b[201~\r');
  await run.pause();
  await run.stdout.until(/20 tokens[\s\S]*m:1b ›/);
  t.hasStrict(run.asked, [{ messages: [{ content: '/Users\nhave paths' }] }]);
  await run.leave(t);
});

t.test('missing arguments are asked for, and Ctrl-C at the question sends nothing', async (t) => {
  const missing = [{ name: 'file', description: 'Which\u001b[2J file', required: true }];
  const run = converse(({ name, values }) =>
    values?.['file'] === undefined
      ? { kind: 'missing', missing, values: { file: '', focus: 'errors' }, message: 'It needs a file.' }
      : { kind: 'prompt', name, text: `Review ${values['file']} for ${values['focus']}.` },
  );
  await run.stdout.until(/m:1b ›/);
  run.type('/review focus=errors\r');
  await run.stdout.until(/file \(Which␛\[2J file\): $/);
  run.type(' \r');
  await run.stdout.until(/(?:file \(Which[\s\S]*){2}: $/);
  run.type('src/a b.ts\r');
  await run.stdout.until(/20 tokens[\s\S]*m:1b ›/);
  t.hasStrict(run.asked[0]?.messages, [{ content: 'Review src/a b.ts for errors.' }]);
  run.type('/review\r');
  await run.stdout.until(/20 tokens[\s\S]*file \(Which[^›]*$/);
  run.type('\u0003');
  await run.stdout.until(/Nothing was sent\.[\s\S]*m:1b ›/);
  t.equal(run.asked.length, 1);
  await run.leave(t);
});

t.test('the prompts of a workspace are used after one question', async (t) => {
  const folder = { path: '/projects/\u001b[2Jhere/.runner/prompts', state: 'unasked', files: 2 } as const;
  let isAllowed = false;
  const get = ({ name }: GetPromptParams): GetPromptResult =>
    isAllowed
      ? { kind: 'prompt', name, text: 'Fix it.' }
      : { kind: 'unasked', folder, message: 'Not allowed yet.' };
  const run = converse(get, {
    answers: {
      'runner/prompts/get': ({ params }) => get(params as unknown as GetPromptParams),
      'runner/prompts/allow': ({ params }) => {
        isAllowed = params['allowed'] === true;
        return {};
      },
    },
  });
  await run.stdout.until(/m:1b ›/);
  run.type('/fix\r');
  await run.stdout.until(/␛\[2Jhere\/\.runner\/prompts has 2 prompts[\s\S]*\[y\/N\] $/);
  run.type('\r');
  await run.stdout.until(/They do not count\.[\s\S]*m:1b ›/);
  run.type('/fix\r');
  await run.stdout.until(/do not count[\s\S]*\[y\/N\] $/);
  run.type('\u0003');
  await run.stdout.until(/do not count[\s\S]*\[y\/N\] [\s\S]*m:1b ›/);
  t.notMatch(run.stdout.plain(), 'Not allowed yet', 'whoever leaves the question knows it');
  run.type('/fix\r');
  await run.stdout.until(/do not count[\s\S]*(?:\[y\/N\] [\s\S]*){2}$/);
  run.type('y\r');
  await run.stdout.until(/20 tokens[\s\S]*m:1b ›/);
  t.hasStrict(run.asked, [{ messages: [{ content: 'Fix it.' }] }]);
  await run.leave(t);
});

t.test('a prompt that cannot be used says why', async (t) => {
  const run = converse(() => ({ kind: 'unusable', message: 'The prompt /x cannot\u001b[2J be used.' }));
  await run.stdout.until(/m:1b ›/);
  run.type('/x\r');
  await run.stdout.until(/The prompt \/x cannot␛\[2J be used\.[\s\S]*m:1b ›/);
  t.strictSame(run.asked, []);
  await run.leave(t);
});

t.test('runner prompts lists them, with what is wrong', async (t) => {
  const listed: ListPromptsResult = {
    prompts: [
      {
        ...{ name: 'broken', description: '', from: 'user', arguments: [], line: 3 },
        ...{ path: '/home/me/.config/runner/prompts/bro\u001b[2Jken.md', problem: 'It is\u001b[2J empty.' },
      },
      { name: 'model', description: 'm', from: 'user', arguments: [], hiddenBy: 'command' },
      { name: 'review', description: 'Reviews', from: 'user', arguments: [{ name: 'file', required: true }] },
      { name: 'review', description: 'Other', from: 'workspace', arguments: [], hiddenBy: 'prompt' },
    ],
    folder: { path: '/projects/here/.runner/prompts', state: 'unasked', files: 1 },
    problems: ['A folder is too full.'],
  };
  const asked: unknown[] = [];
  const start = (args: readonly string[], result: ListPromptsResult = listed) =>
    startTerminal({
      args: ['prompts', ...args],
      env: { HOME: '/home/me' },
      answers: {
        'runner/prompts/list': ({ params }) => {
          asked.push(params);
          return result;
        },
        'runner/prompts/allow': ({ params }) => {
          asked.push(params);
          return result.folder ? { folder: result.folder } : {};
        },
      },
    });
  const run = start([]);
  t.equal(await run.ended, 1);
  t.hasStrict(asked, [{ cwd: '/projects/here' }]);
  t.hasStrict((asked[0] as { commands: string[] }).commands, ['model', 'think']);
  t.equal(
    run.stdout.text(),
    [
      'PROMPT        FROM       ABOUT',
      '/model        you        hidden: /model is a command',
      '/review FILE  you        Reviews',
      '/review       workspace  hidden: another prompt has this name',
      '~/.config/runner/prompts/bro␛[2Jken.md:3: It is␛[2J empty.',
      'A folder is too full.',
      '/projects/here/.runner/prompts has 1 prompt of this workspace. They count once you have typed "runner prompts allow".',
      '',
    ].join('\n'),
  );
  const json = start(['--json']);
  t.equal(await json.ended, 1);
  t.strictSame(json.stdout.events(), [
    ...listed.prompts,
    { folder: listed.folder },
    { problem: listed.problems[0] },
  ]);
  const none = start([], { prompts: [], problems: [] });
  t.equal(await none.ended, 0);
  t.match(none.stderr.text(), /no prompt yet.*~\/\.config\/runner\/prompts\/review\.md/s);
  asked.length = 0;
  const allow = start(['allow']);
  t.equal(await allow.ended, 0);
  t.match(allow.stdout.text(), /prompts count from now on/);
  t.hasStrict(asked, [{ cwd: '/projects/here', allowed: true }]);
  const refuse = start(['refuse'], { prompts: [], problems: [] });
  t.equal(await refuse.ended, 2);
  t.match(refuse.stderr.text(), /there is no\s+\.runner\/prompts here/);
  t.equal(await start(['delete']).ended, 2);
});

t.test('a script sends a prompt by its name, with what is piped', async (t) => {
  const piped = 'a diff';
  for (const [typed, found, want] of [
    ['/fix a.ts', { kind: 'prompt', name: 'fix', text: 'Fix a.ts.', tools: [] }, 'Fix a.ts.\n\na diff'],
    ['/etc x', { kind: 'none', near: [] }, '/etc x\n\na diff'],
    ['/fix', { kind: 'missing', missing: [], values: {}, message: 'It needs a value.' }, undefined],
  ] as const) {
    const { asked, ...run } = converse(() => found as GetPromptResult, {
      ...{ args: ['chat', typed], input: piped, isScreen: false },
    });
    t.equal(await run.ended, want === undefined ? 2 : 0, typed);
    t.equal(asked[0]?.messages[0]?.content, want, typed);
    t.strictSame(asked[0]?.hostedTools, found.kind === 'prompt' ? [] : undefined);
    if (want === undefined) t.match(run.stderr.text(), /^It needs a value\.$/m);
  }
});
