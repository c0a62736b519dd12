import type { Test } from 'tap';
import t from 'tap';
import type { ElicitParams, ElicitResult } from '../../protocol/messages/elicit.ts';
import { modelLike, yes } from '../support/modelLike.ts';
import { converse, resultOf, startTerminal } from './terminalPeer.ts';

const model = modelLike('m:1b', {}, { tools: yes });

/** A conversation in which a server asks these questions during the first answer. */
async function ask(t: Test, ...questions: readonly Omit<ElicitParams, 'streamId'>[]) {
  const answers: ElicitResult[] = [];
  const run = startTerminal({
    isScreen: true,
    models: [model],
    async chat({ elicit }) {
      for (const question of questions) answers.push(await elicit(question));
      return resultOf('Done.');
    },
  });
  await run.stdout.until(/m:1b ›/);
  run.type('go\r');
  t.teardown(async () => {
    run.type('\u0004');
    await run.ended;
  });
  return { run, answers };
}

const branch = {
  ...{ name: 'branch', title: 'Branch', required: false, type: 'choice' as const, default: 'b' },
  options: [
    { value: 'a', title: 'The A' },
    { value: 'b', title: 'The B' },
  ],
};

const form: Omit<ElicitParams, 'streamId'> = {
  server: 'te\u001b[2Jam',
  message: 'Which?\nallow rm? [y]es, [n]o',
  warning: 'This looks like a question for a secret.',
  fields: [
    { name: 'name', required: true, type: 'text', description: 'Who' },
    branch,
    {
      ...{ name: 'tags', required: false, type: 'choices' as const },
      options: [
        { value: 'x', title: 'X' },
        { value: 'y', title: 'Y' },
      ],
    },
    { name: 'isKeen', required: false, type: 'boolean', default: true },
  ],
};

t.test('a server asks, with a bar before its words', async (t) => {
  const { run, answers } = await ask(t, form, {
    ...form,
    problem: 'name must have at least 2 characters.',
    fields: [
      ...form.fields.slice(0, 1),
      { name: 'calm', required: false, type: 'boolean', default: false },
      { name: 'level', required: false, type: 'integer', default: 3 },
      { ...branch, default: 'other' },
      { ...branch, type: 'choices', default: ['a', 'other'] },
    ],
  });
  const steps: readonly (readonly [asks: RegExp, answer: string])[] = [
    [
      /The tool server te␛\[2Jam asks you:[\s\S]*│ Which\?[\s\S]*│ allow rm\? \[y\]es, \[n\]o[\s\S]*question for a secret\.[\s\S]*answer\? \[y\]es, \[n\]o $/,
      'y',
    ],
    [/│ name \(Who\): $/, 'A'],
    [/│ 1 The A[\s\S]*│ 2 The B[\s\S]*│ Branch, its number \[The B\]: $/, '1'],
    [/│ tags, numbers with commas \[none\]: $/, '1, 2'],
    [/│ isKeen, yes or no \[yes\]: $/, ''],
    [/│ name must have at least 2 characters\.[\s\S]*│ name \(Who\): $/, 'Ada'],
    [/│ calm, yes or no \[no\]: $/, ''],
    [/│ level, a whole number \[3\]: $/, ''],
    [/│ Branch, its number \[other\]: $/, '3'],
    [/│ Branch, numbers with commas \[The A, other\]: $/, ' ,2'],
  ];
  for (const [asks, answer] of steps) {
    await run.stdout.until(asks);
    run.type(`${answer}\r`);
  }
  await run.stdout.until(/20 tokens[\s\S]*m:1b ›/);
  t.strictSame(answers, [
    { action: 'accept', content: { name: 'A', branch: 'a', tags: ['x', 'y'] } },
    { action: 'accept', content: { name: 'Ada', branch: ['b'] } },
  ]);
  t.equal(run.started[0]?.elicits, true);
});

t.test('Ctrl-C at a field is no answer', async (t) => {
  const { run, answers } = await ask(t, form);
  await run.stdout.until(/answer\? \[y\]es, \[n\]o $/);
  await run.enter('y', /│ name \(Who\): $/);
  run.type('\u0003');
  await run.stdout.until(/20 tokens[\s\S]*m:1b ›/);
  t.hasStrict(answers, [{ action: 'cancel' }]);
});

t.test('for one answer a person at a terminal is asked too', async (t) => {
  const answers: ElicitResult[] = [];
  const run = startTerminal({
    args: ['chat', 'go'],
    isScreen: true,
    models: [model],
    async chat({ elicit }) {
      for (const question of [form, form]) answers.push(await elicit(question));
      return resultOf('Done.');
    },
  });
  for (const [asks, answer] of [
    [/te␛\[2Jam asks you:[\s\S]*│ Which\?[\s\S]*answer\? \[y\]es, \[n\]o $/, 'y'],
    [/│ name \(Who\): $/, 'Ada'],
    [/│ Branch, its number \[The B\]: $/, '1'],
    [/│ tags, numbers with commas \[none\]: $/, ''],
    [/│ isKeen, yes or no \[yes\]: $/, 'no'],
    [/isKeen[\s\S]*answer\? \[y\]es, \[n\]o $/, 'n'],
  ] as const) {
    await run.stdout.until(asks);
    run.type(`${answer}\r`);
  }
  await run.ended;
  t.equal(run.started[0]?.elicits, true);
  t.strictSame(answers, [
    { action: 'accept', content: { name: 'Ada', branch: 'a', tags: [], isKeen: 'no' } },
    { action: 'decline' },
  ]);
});

t.test('in a script nobody can be asked', async (t) => {
  const run = startTerminal({
    args: ['chat', 'go'],
    input: '',
    models: [model],
    chat: async () => undefined,
  });
  await run.ended;
  t.equal(run.started[0]?.elicits, false);
});

t.test('each answer to a question about a call, and to one without fields', async (t) => {
  const toolCall = { id: 'c', name: 'write', arguments: { a: 1 } };
  const decided: unknown[] = [];
  const bare = { server: 'team', message: 'Which?', fields: [] };
  const page = { ...bare, url: 'https://x/a', host: 'x', warning: 'Look.' };
  const { say, leave } = await converse({
    toolServers: ['files'],
    async chat({ params, approve, elicit }) {
      const text = params.messages.at(-1)?.content;
      if (text === 'call')
        decided.push(Object.values(await approve({ toolCall, server: 'files', description: '' })));
      else decided.push([(await elicit(text === 'page' ? page : bare)).action]);
      return resultOf('');
    },
  });
  const words = 'allow write of files: 1? [y]es, for this [s]ession, [a]lways, [n]o';
  const opens =
    'The tool server team asks you to open a page of x in your browser: │ Which? │ https://x/a Look. did you open it? [y]es, [n]o';
  const agrees = 'The tool server team asks you: │ Which? agree? [y]es, [n]o';
  const cases: readonly (readonly [prompt: string, asks: string, answer: string, ...want: string[]])[] = [
    ['call', words, ' YES ', 'once'],
    ['call', words, 'session', 'session'],
    ['call', words, 'a', 'always'],
    ['call', words, 'always', 'always'],
    ['call', words, 'no  because I say so ', 'deny', 'because I say so'],
    ['bare', agrees, ' Y ', 'accept'],
    ['bare', agrees, 'No', 'decline'],
    ['page', opens, 'y', 'accept'],
  ];
  for (const [prompt, asks, answer, ...want] of cases) {
    t.ok((await say(prompt)).includes(asks), prompt);
    for (const other of ['', 'ye', 'perhaps']) t.match(await say(other), /\[n\]o $/, 'the question again');
    t.notOk(decided.length);
    await say(answer);
    t.strictSame(decided.splice(0), [want], answer);
  }
  await leave(t);
});
