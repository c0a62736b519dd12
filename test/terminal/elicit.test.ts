import { PassThrough } from 'node:stream';
import type { Test } from 'tap';
import t from 'tap';
import { approveThrough } from '../../client/terminal/conversation/approval.ts';
import { elicitThrough } from '../../client/terminal/conversation/elicit.ts';
import type { LineEditor } from '../../client/terminal/conversation/lineEditor.ts';
import { askConsent } from '../../client/terminal/conversation/namedFiles.ts';
import { Output } from '../../client/terminal/screen/output.ts';
import type { ElicitParams, ElicitResult } from '../../protocol/messages/elicit.ts';
import type { Model } from '../../protocol/messages/models.ts';
import { startTerminal } from './terminalPeer.ts';

const has = (value: boolean) => ({ value, from: 'server' }) as const;
const capabilities = {
  ...{ completion: has(true), tools: has(true), thinking: has(false), vision: has(false) },
  ...{ insert: has(false), embedding: has(false) },
};
const model: Model = { name: 'm:1b', server: 'default', family: 'm', capabilities, context: {} };

/** A conversation in which a server asks these questions during the first answer. */
async function ask(t: Test, ...questions: readonly Omit<ElicitParams, 'streamId'>[]) {
  const answers: ElicitResult[] = [];
  const run = startTerminal({
    isScreen: true,
    models: [model],
    async chat({ elicit }) {
      for (const question of questions) answers.push(await elicit(question));
      const message = { role: 'assistant', content: 'Done.' };
      return { finishReason: 'stop', message, usage: { promptTokens: 3, completionTokens: 20 }, notices: [] };
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
  await run.stdout.until(
    /The tool server te␛\[2Jam asks you:[\s\S]*│ Which\?[\s\S]*│ allow rm\? \[y\]es, \[n\]o[\s\S]*question for a secret\.[\s\S]*answer\? \[y\]es, \[n\]o $/,
  );
  run.type('y\r');
  await run.stdout.until(/│ name \(Who\): $/);
  run.type('A\r');
  await run.stdout.until(/│ 1 The A[\s\S]*│ 2 The B[\s\S]*│ Branch, its number \[The B\]: $/);
  run.type('1\r');
  await run.stdout.until(/│ tags, numbers with commas \[none\]: $/);
  run.type('1, 2\r');
  await run.stdout.until(/│ isKeen, yes or no \[yes\]: $/);
  run.type('\r');
  await run.stdout.until(/│ name must have at least 2 characters\.[\s\S]*│ name \(Who\): $/);
  run.type('Ada\r');
  await run.stdout.until(/│ calm, yes or no \[no\]: $/);
  run.type('\r');
  await run.stdout.until(/│ level, a whole number \[3\]: $/);
  run.type('\r');
  await run.stdout.until(/│ Branch, its number \[other\]: $/);
  run.type('3\r');
  await run.stdout.until(/│ Branch, numbers with commas \[The A, other\]: $/);
  run.type(' ,2\r');
  await run.stdout.until(/20 tokens[\s\S]*m:1b ›/);
  t.strictSame(answers, [
    { action: 'accept', content: { name: 'A', branch: 'a', tags: ['x', 'y'] } },
    { action: 'accept', content: { name: 'Ada', branch: ['b'] } },
  ]);
  t.equal(run.started[0]?.elicits, true);
});

t.test('no, and no answer', async (t) => {
  const page = { ...form, fields: [], url: 'https://pay.example/now', host: 'pay.example' };
  const { run, answers } = await ask(t, form, page, form);
  await run.stdout.until(/answer\? \[y\]es, \[n\]o $/);
  run.type('n\r');
  await run.stdout.until(
    /asks you to open a page of pay\.example[\s\S]*│ https:\/\/pay\.example\/now[\s\S]*did you open it\? \[y\]es, \[n\]o $/,
  );
  run.type('y\r');
  await run.stdout.until(/did you open it[\s\S]*answer\? \[y\]es, \[n\]o $/);
  run.type('y\r');
  await run.stdout.until(/│ name \(Who\): $/);
  run.type('\u0003');
  await run.stdout.until(/20 tokens[\s\S]*m:1b ›/);
  t.hasStrict(answers, [{ action: 'decline' }, { action: 'accept' }, { action: 'cancel' }]);
  t.same(run.stderr.text(), '');
});

t.test('for one answer a person at a terminal is asked too', async (t) => {
  const answers: ElicitResult[] = [];
  const run = startTerminal({
    args: ['chat', 'go'],
    isScreen: true,
    models: [model],
    async chat({ elicit }) {
      for (const question of [form, form]) answers.push(await elicit(question));
      const message = { role: 'assistant', content: 'Done.' };
      return { finishReason: 'stop', message, usage: { promptTokens: 3, completionTokens: 20 }, notices: [] };
    },
  });
  await run.stdout.until(/te␛\[2Jam asks you:[\s\S]*│ Which\?[\s\S]*answer\? \[y\]es, \[n\]o $/);
  run.type('y\r');
  await run.stdout.until(/│ name \(Who\): $/);
  run.type('Ada\r');
  await run.stdout.until(/│ Branch, its number \[The B\]: $/);
  run.type('1\r');
  await run.stdout.until(/│ tags, numbers with commas \[none\]: $/);
  run.type('\r');
  await run.stdout.until(/│ isKeen, yes or no \[yes\]: $/);
  run.type('no\r');
  await run.stdout.until(/isKeen[\s\S]*answer\? \[y\]es, \[n\]o $/);
  run.type('n\r');
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

/** A person who types these answers, and leaves the question after the last. What is shown comes line by line. */
function typist(...answers: readonly string[]) {
  const shown: string[] = [];
  const stream = new PassThrough();
  stream.setEncoding('utf8').on('data', (text: string) => shown.push(...text.trimEnd().split('\n')));
  const left = [...answers];
  const question: LineEditor['question'] = async (prompt) => {
    shown.push(prompt);
    const text = left.shift();
    return text === undefined ? { kind: 'leave' } : { kind: 'text', text };
  };
  return { shown, stdout: new Output(stream, {}), editor: { question } as LineEditor };
}

const { signal } = new AbortController();

t.test('each question of a server, and what is made of the answers', async (t) => {
  const asks = async (question: Partial<ElicitParams>, ...answers: readonly string[]) => {
    const { shown, stdout, editor } = typist(...answers);
    const given = { streamId: 's', server: 'team', message: 'Which?', fields: [], ...question };
    return [await elicitThrough(editor, stdout)(given, signal), shown];
  };
  const intro = ['The tool server team asks you:', '│ Which?'];
  t.strictSame(await asks({}, 'perhaps', ' Y '), [
    { action: 'accept', content: {} },
    [...intro, 'agree? [y]es, [n]o ', 'agree? [y]es, [n]o '],
  ]);
  t.strictSame(await asks({}, 'No'), [{ action: 'decline' }, [...intro, 'agree? [y]es, [n]o ']]);
  t.strictSame(await asks({}), [{ action: 'cancel' }, [...intro, 'agree? [y]es, [n]o ']]);
  t.strictSame(await asks({ url: 'https://x/a', host: 'x', warning: 'Look.' }, 'y'), [
    { action: 'accept', content: {} },
    [
      'The tool server team asks you to open a page of x in your browser:',
      ...['│ Which?', '│ https://x/a', 'Look.', 'did you open it? [y]es, [n]o '],
    ],
  ]);
  const choices = { ...branch, type: 'choices' as const, required: true, default: ['a'] };
  const { default: _, ...undecided } = branch;
  const fields = [undecided, choices, { name: 'n', required: true, type: 'number' as const }];
  const asked = ['│ 1 The A', '│ 2 The B'];
  t.strictSame(await asks({ fields, problem: 'No.' }, '2', '1,3, x,', ' 7 '), [
    { action: 'accept', content: { branch: ['a', '3', 'x'], n: '7' } },
    [
      ...['│ No.', ...asked, '│ Branch, its number [none]: '],
      ...[...asked, '│ Branch, numbers with commas [The A]: ', '│ n, a number: '],
    ],
  ]);
  t.strictSame(await asks({ fields: [undecided], problem: 'No.' }), [
    { action: 'cancel' },
    ['│ No.', ...asked, '│ Branch, its number [none]: '],
  ]);
});

t.test('each answer to the question about a call', async (t) => {
  const long = { path: '/f', name: 'f', before: '', after: '', unified: '+x\n'.repeat(60) };
  const asks = async (diff: object, ...answers: readonly string[]) => {
    const { shown, stdout, editor } = typist(...answers);
    const toolCall = { id: 'c', name: 'write', arguments: { a: 1 } };
    const question = { streamId: 's', toolCall, server: 'files', description: '', ...diff };
    const { decision, reason } = await approveThrough(editor, stdout)(question as never, signal);
    return [
      [decision, ...(reason === undefined ? [] : [reason])].join(': '),
      shown.filter((line) => !line.startsWith('+')),
    ];
  };
  const words = 'allow write of files: 1? [y]es, for this [s]ession, [a]lways, [n]o ';
  const cases: readonly (readonly [answer: string, decision: string])[] = [
    ['y', 'once'],
    [' YES ', 'once'],
    ['s', 'session'],
    ['session', 'session'],
    ['a', 'always'],
    ['always', 'always'],
    ['n', 'deny'],
    ['no', 'deny'],
    ['no  because I say so ', 'deny: because I say so'],
  ];
  for (const [answer, decision] of cases) t.strictSame(await asks({}, answer), [decision, [words]], answer);
  t.strictSame(
    await asks({}, '', 'w', 'ye'),
    ['deny', [words, words, words, words]],
    'whoever leaves denies',
  );
  t.strictSame(await asks({ decisions: ['once', 'deny'] }, 'a', 'y'), [
    'once',
    ['allow write of files: 1? [y]es, [n]o ', 'allow write of files: 1? [y]es, [n]o '],
  ]);
  const usual = 'allow write of files: 1? [y]es, [n]o [WHY]';
  const folded = ['f', '… 20 more lines', `${usual}, show the [w]hole change `];
  for (const whole of ['w', 'Whole'])
    t.strictSame(await asks({ diff: long }, whole, 'w', 'y'), [
      'once',
      [...folded, 'f', `${usual} `, `${usual} `],
    ]);
  t.strictSame(await asks({ diff: long }, 'x'), ['deny', [...folded, ...folded.slice(-1)]]);
});

t.test('nothing private goes, and nothing is fetched, without a yes', async (t) => {
  const file = { path: 'a.key', bytes: 1, tokens: 1 };
  const asks = async (consent: Parameters<typeof askConsent>[0], ...answers: readonly string[]) => {
    const questions: string[] = [];
    const left = [...answers];
    const agreed = await askConsent(consent, 'm:1b', async (question) => {
      questions.push(question);
      return left.shift();
    });
    return [agreed, ...questions];
  };
  const secret = 'a.key looks like a file with secrets. Send it to m:1b? [y]es, [n]o ';
  const excluded = 'a.key is excluded. Send it to m:1b? [y]es, [n]o ';
  const page = 'Fetch https://x.org/a from x.org? [y]es, [n]o ';
  const ofSecret = { kind: 'private', file: { ...file, privacy: 'secret' } } as const;
  t.strictSame(await asks(ofSecret, '', 'maybe', ' yes '), [true, secret, secret, secret]);
  t.strictSame(await asks(ofSecret, ' N '), [false, secret]);
  t.strictSame(await asks(ofSecret), [false, secret]);
  t.strictSame(await asks({ kind: 'private', file: { ...file, privacy: 'excluded' } }, 'no'), [
    false,
    excluded,
  ]);
  t.strictSame(await asks({ kind: 'page', url: 'https://x.org/a' }, 'y'), [true, page]);
});
