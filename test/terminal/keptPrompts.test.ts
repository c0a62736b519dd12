import t from 'tap';
import type { GetPromptParams, GetPromptResult, ListPromptsResult } from '../../protocol/messages/prompts.ts';
import { modelLike } from '../support/modelLike.ts';
import { converse, resultOf, runOnce, type TerminalOptions, type Turn } from './terminalPeer.ts';

/** A conversation with a daemon that answers `runner/prompts/get` so. */
async function begin(
  get: (params: GetPromptParams) => GetPromptResult,
  answers: TerminalOptions['answers'] = {},
) {
  const got: GetPromptParams[] = [];
  const looked: string[] = [];
  const run = await converse({
    answers: {
      'runner/prompts/get': ({ params }) => {
        got.push(params as unknown as GetPromptParams);
        return get(params as unknown as GetPromptParams);
      },
      'runner/files/find': ({ params }) => {
        looked.push(JSON.stringify(params));
        return { mentions: [] };
      },
      ...answers,
    },
  });
  return { ...run, got, looked };
}

t.test('a prompt is sent as it is, to its model and with its tools for this turn alone', async (t) => {
  const text = 'Look at @secret.md and https://example.org';
  const { say, turns, got, looked, ...run } = await begin(({ name }) =>
    name === 'review'
      ? { kind: 'prompt', name, text, model: 'big:9b', tools: ['files'] }
      : { kind: 'none', near: [] },
  );
  t.match(await say('/review of @a.ts'), /The prompt \/review goes to big:9b with the tools of files\./);
  await say('hello');
  const want = [{ name: 'review', text: 'of @a.ts', cwd: '/projects/here' }];
  t.hasStrict(got, want, 'what is no command is not looked up');
  t.hasStrict(turns, [
    { model: 'big:9b', hostedTools: ['files'], messages: [{ role: 'user', content: text }] },
    { model: 'm:1b', messages: [{ content: text }, { content: 'ok 1' }, { content: 'hello' }] },
  ]);
  t.notOk(turns[1]?.hostedTools);
  t.match(looked, [/of @a\.ts/], 'files are named by what was typed');
  t.notMatch(looked.join(), /secret/, 'and not by the text of the prompt');
  t.match(await say('/undo'), /Took back/);
  t.match(await say('/retry'), /Asking again/);
  t.hasStrict(turns[2], { model: 'big:9b', hostedTools: ['files'], messages: [{ content: text }] });
  await run.enter('/edit', /› \/review of @a\.ts$/);
  run.type('\u0015');
  await run.leave(t);
});

t.test('commands come first, and what is neither stays what it was', async (t) => {
  const { say, turns, got, ...run } = await begin(() => ({ kind: 'none', near: [] }));
  t.match(await say('/stats'), /There is no answer yet\./);
  t.strictSame(got, [], 'a command of the terminal is no prompt');
  t.match(await say('/nope'), /There is no command \/nope\./);
  run.type('\u001b[200~/Users\nhave paths\u001b[201~\r');
  await run.pause();
  await run.stdout.until(/20 tokens[\s\S]*m:1b ›/);
  t.hasStrict(turns, [{ messages: [{ content: '/Users\nhave paths' }] }]);
  await run.leave(t);
});

t.test('missing arguments are asked for, and Ctrl-C at the question sends nothing', async (t) => {
  const missing = [{ name: 'file', description: 'Which\u001b[2J file', required: true }];
  const { say, turns, ...run } = await begin(({ name, values }) =>
    values?.['file'] === undefined
      ? { kind: 'missing', missing, values: { file: '', focus: 'errors' }, message: 'It needs a file.' }
      : { kind: 'prompt', name, text: `Review ${values['file']} for ${values['focus']}.` },
  );
  for (const entry of ['/review focus=errors', ' ']) t.match(await say(entry), /file \(Which␛\[2J file\): $/);
  await say('src/a b.ts');
  t.hasStrict(turns[0]?.messages, [{ content: 'Review src/a b.ts for errors.' }]);
  await say('/review');
  run.type('\u0003');
  await run.stdout.until(/Nothing was sent\.[\s\S]*m:1b › $/);
  t.equal(turns.length, 1);
  await run.leave(t);
});

t.test('the prompts of a workspace are used after one question', async (t) => {
  const folder = { path: '/projects/\u001b[2Jhere/.runner/prompts', state: 'unasked', files: 2 } as const;
  let isAllowed = false;
  const get = ({ name }: GetPromptParams): GetPromptResult =>
    isAllowed
      ? { kind: 'prompt', name, text: 'Fix it.' }
      : { kind: 'unasked', folder, message: 'Not allowed yet.' };
  const { say, turns, ...run } = await begin(get, {
    'runner/prompts/allow': ({ params }) => {
      isAllowed = params['allowed'] === true;
      return {};
    },
  });
  t.match(await say('/fix'), /␛\[2Jhere\/\.runner\/prompts has 2 prompts.*\[y\/N\] $/);
  t.match(await say(''), /They do not count\./);
  t.match(await say('/fix'), /\[y\/N\] $/);
  run.type('\u0003');
  await run.stdout.until(/do not count[\s\S]*\[y\/N\] [\s\S]*m:1b › $/);
  t.notMatch(run.stdout.plain(), 'Not allowed yet', 'whoever leaves the question knows it');
  t.match(await say('/fix'), /\[y\/N\] $/);
  await say('y');
  t.hasStrict(turns, [{ messages: [{ content: 'Fix it.' }] }]);
  await run.leave(t);
});

t.test('a prompt that cannot be used says why', async (t) => {
  const message = 'The prompt /x cannot\u001b[2J be used.';
  const { say, turns, leave } = await begin(() => ({ kind: 'unusable', message }));
  t.match(await say('/x'), /The prompt \/x cannot␛\[2J be used\./);
  t.strictSame(turns, []);
  await leave(t);
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
    runOnce({
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
  const { code, out } = await start([]);
  t.hasStrict(asked, [{ cwd: '/projects/here' }]);
  t.hasStrict((asked[0] as { commands: string[] }).commands, ['model', 'think']);
  t.equal(code, 1);
  t.equal(
    out,
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
  const none = { prompts: [], problems: [] };
  t.match(await start([], none), {
    code: 0,
    error: /no prompt yet.*~\/\.config\/runner\/prompts\/review\.md/s,
  });
  asked.length = 0;
  t.match(await start(['allow']), { code: 0, out: /prompts count from now on/ });
  t.hasStrict(asked, [{ cwd: '/projects/here', allowed: true }]);
  t.match(await start(['refuse'], none), { code: 2, error: /there is no\s+\.runner\/prompts here/ });
  t.equal((await start(['delete'])).code, 2);
});

t.test('a script sends a prompt by its name, with what is piped', async (t) => {
  const piped = 'a diff';
  for (const [typed, found, want] of [
    ['/fix a.ts', { kind: 'prompt', name: 'fix', text: 'Fix a.ts.', tools: [] }, 'Fix a.ts.\n\na diff'],
    ['/etc x', { kind: 'none', near: [] }, '/etc x\n\na diff'],
    ['/fix', { kind: 'missing', missing: [], values: {}, message: 'It needs a value.' }, undefined],
  ] as const) {
    const asked: Turn['params'][] = [];
    const run = await runOnce({
      ...{ args: ['chat', typed], input: piped, models: [modelLike('m:1b')] },
      answers: { 'runner/prompts/get': () => found, 'runner/files/find': () => ({ mentions: [] }) },
      chat: async ({ params }) => {
        asked.push(params);
        return resultOf('Done.');
      },
    });
    t.equal(run.code, want === undefined ? 2 : 0, typed);
    t.equal(asked[0]?.messages[0]?.content, want, typed);
    t.strictSame(asked[0]?.hostedTools, found.kind === 'prompt' ? [] : undefined);
    if (want === undefined) t.match(run.error, /^It needs a value\.$/m);
  }
});
