import { resolve } from 'node:path';
import * as fc from 'fast-check';
import t from 'tap';
import { CancellationTokenSource } from 'vscode-languageserver/node';
import { answerElicitation } from '../../daemon/tools/elicitation/elicitation.ts';
import { checkValue, fieldsOf } from '../../daemon/tools/elicitation/form.ts';
import { type ChatResult, chatRequest } from '../../protocol/messages/chat.ts';
import {
  type ElicitParams,
  type ElicitResult,
  type ElicitValue,
  elicitRequest,
} from '../../protocol/messages/elicit.ts';
import { approveToolRequest } from '../../protocol/messages/tools.ts';
import type { Teardown } from '../support/daemonWithRunner.ts';
import { answersOf, question, startWithTools } from '../support/toolDaemon.ts';

const offering = {
  command: process.execPath,
  args: [resolve('test', 'support', 'offeringServer.cjs')],
};

type Answer = (question: ElicitParams) => unknown;

/** A daemon whose client answers questions so; without `answer` it has not said that it can. */
async function start(t: Teardown, answer?: Answer, team = offering) {
  const asked: ElicitParams[] = [];
  const capabilities = {
    experimental: { runner: { approvesTools: true, ...(answer && { elicits: true }) } },
  };
  const { runner, daemon, ask } = await startWithTools(t, [], {
    mcpServers: { team },
    approvals: { team: 'always' },
    pair: {
      capabilities,
      answers: {
        [approveToolRequest.method]: () => ({ decision: 'deny' }),
        [elicitRequest.method]: (question) => {
          asked.push(question as ElicitParams);
          return answer?.(question as ElicitParams);
        },
      },
    },
  });
  const call = async (name: string, given: object = {}) => {
    runner.toolCalls([{ id: 'call_1', name, arguments: { ...given } }]);
    runner.say('Done.');
    const [content = ''] = answersOf((await ask()).result.messages);
    return content.startsWith('{') || content.startsWith('[') ? JSON.parse(content) : content;
  };
  return { asked, call, daemon, ask, runner };
}

t.test('a form becomes fields, and what is typed becomes what the server wants', async (t) => {
  const { asked, call } = await start(t, () => ({
    action: 'accept',
    content: { name: 'Ada', age: ' 36 ', branch: 'the next one', tags: 'a, c', extra: 'never sent' },
  }));
  t.strictSame(await call('ask', { what: 'review' }), {
    action: 'accept',
    content: { name: 'Ada', age: 36, isKeen: true, branch: 'next', tags: ['a', 'c'] },
  });
  t.equal(asked.length, 1);
  t.match(asked[0], {
    streamId: /./,
    server: 'team',
    message: 'Who reviews?\nallow rm? [y]es\u241b[2J',
    fields: [
      { name: 'name', title: 'Name', type: 'text', required: true },
      { name: 'age', type: 'integer', required: true },
      { name: 'isKeen', type: 'boolean', required: false, default: true },
      {
        name: 'branch',
        type: 'choice',
        options: [
          { value: 'main', title: 'The main one' },
          { value: 'next', title: 'The next one' },
        ],
      },
      { name: 'tags', type: 'choices' },
      { name: 'mail', type: 'text', format: 'email' },
    ],
  });
  t.notOk(asked[0]?.warning);
});

t.test('only what was wrong is asked again, a few times', async (t) => {
  const answers: readonly ElicitResult['content'][] = [
    { name: 'A', age: '17', mail: 'nobody' },
    { name: 'Ada', age: 'old', mail: 'ada@example.org' },
    { age: '36' },
  ];
  let count = 0;
  const { asked, call } = await start(t, () => ({ action: 'accept', content: answers[count++] ?? {} }));
  t.match(await call('ask', { what: 'review' }), {
    action: 'accept',
    content: { name: 'Ada', age: 36, mail: 'ada@example.org' },
  });
  t.strictSame(
    asked.map(({ fields, problem }) => [fields.map(({ name }) => name).join(), problem]),
    [
      ['name,age,isKeen,branch,tags,mail', undefined],
      [
        'name,age,mail',
        'Name must have at least 2 characters. age must be at least 18. mail must be an e-mail address.',
      ],
      ['age', 'age must be a number.'],
    ],
  );
  const before = asked.length;
  t.strictSame(await call('ask', { what: 'review' }), { action: 'cancel' }, 'it ends');
  t.equal(asked.length - before, 5);
});

t.test('a question for a secret has a warning, and an address is only shown', async (t) => {
  const { asked, call, daemon } = await start(t, () => ({ action: 'accept' }));
  await call('ask', { what: 'secret' });
  t.match(asked[0]?.warning, /^This looks like a question for a secret.*goes to team\.$/);
  t.strictSame(await call('ask', { what: 'page' }), { action: 'accept' });
  t.match(asked.at(-1), {
    url: 'https://pay.example/now',
    host: 'pay.example',
    fields: [],
    message: 'Pay here',
  });
  const before = asked.length;
  for (const what of ['script', 'plain'])
    t.strictSame(await call('ask', { what }), { action: 'decline' }, what);
  t.equal(asked.length, before, 'nobody was asked');
  t.ok(
    daemon.logs.some(({ message }) =>
      /^The tool server team asked the user to open an address that is not https/.test(message),
    ),
  );
});

t.test('declining, a client that fails, and a server that does not stop asking', async (t) => {
  let answer: Answer = () => ({ action: 'decline' });
  const { asked, call, daemon } = await start(t, (question) => answer(question));
  t.strictSame(await call('ask', { what: 'agree' }), { action: 'decline' });
  for (const wrong of [{ action: 'perhaps' }, undefined, { action: 'accept', content: { a: {} } }]) {
    answer = () => wrong;
    t.strictSame(await call('ask', { what: 'agree' }), { action: 'cancel' });
  }
  answer = () => ({ action: 'accept' });
  asked.length = 0;
  t.strictSame(await call('ask_often'), [...Array(10).fill('accept'), 'decline', 'decline']);
  t.equal(asked.length, 10);
  t.ok(daemon.logs.some(({ message }) => /asked the user more than 10 times in one call/.test(message)));
});

t.test('a server knows whether it can ask', async (t) => {
  const { call } = await start(t);
  t.strictSame(await call('can_ask'), {});
  t.match(await call('ask', { what: 'agree' }), /does not support/);
  const other = await start(t, () => ({ action: 'accept' }));
  t.strictSame(await other.call('can_ask'), { elicitation: { form: {}, url: {} } });
});

t.test('a server of the newer revision asks by its answer, and the call is sent again', async (t) => {
  const args = [resolve('test', 'support', 'newerToolServer.cjs')];
  const { asked, call } = await start(t, () => ({ action: 'accept', content: { age: '36' } }), {
    command: process.execPath,
    args,
  });
  t.match(await call('ask'), { who: { action: 'accept', content: { age: 36 } } });
  t.match(asked, [{ server: 'team', message: 'How old?', fields: [{ name: 'age' }] }]);
});

t.test('a cancel of the turn withdraws the question', async (t) => {
  const source = new CancellationTokenSource();
  const { asked, daemon, runner } = await start(t, () => {
    source.cancel();
    // Nobody ever answers.
    return new Promise(() => undefined);
  });
  runner.toolCalls([{ id: 'call_1', name: 'ask', arguments: { what: 'agree' } }]);
  const params = { ...question, streamId: '1' };
  const result: ChatResult = await daemon.connection.sendRequest(chatRequest.method, params, source.token);
  t.equal(result.finishReason, 'cancelled');
  t.strictSame(answersOf(result.messages), ['The call was cancelled.']);
  t.equal(asked.length, 1);
});

t.test('a value is read, or said to be wrong', (t) => {
  const properties = {
    text: { type: 'string', minLength: 2, maxLength: 3 },
    plain: { type: 'string' },
    mail: { type: 'string', format: 'email' },
    date: { type: 'string', format: 'date' },
    time: { type: 'string', format: 'date-time' },
    uri: { type: 'string', format: 'uri' },
    number: { type: 'number', maximum: 2.5 },
    integer: { type: 'integer', minimum: -1 },
    boolean: { type: 'boolean' },
    choice: { type: 'string', oneOf: [{ const: 'a', title: 'The A' }] },
    choices: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, minItems: 1 },
    some: { type: 'array', items: { enum: ['a', 'b', 'c', 'd'] }, minItems: 2, maxItems: 3 },
    named: { type: 'string', enum: ['a', 'A', ' b'], enumNames: ['b', 'a'] },
    free: { type: 'array', items: { enum: ['a'] } },
    usual: { type: 'string', default: 'x' },
  } as const;
  const fields = fieldsOf({ type: 'object', properties, required: ['choice'] }) ?? [];
  const cases: readonly (readonly [
    name: keyof typeof properties,
    given: ElicitValue | undefined,
    want: unknown,
  ])[] = [
    ['text', 'abc', 'abc'],
    ['text', 'ab', 'ab'],
    ['text', 'a', /^text must have at least 2 characters\.$/],
    ['plain', 'x'.repeat(100_000), 'x'.repeat(100_000)],
    ['plain', 'x'.repeat(100_001), /at most 100000 characters/],
    ['plain', ' ', ' '],
    ['mail', 'ada@example', /must be an e-mail address/],
    ['date', '2026-02-99', /must be a date/],
    ['time', '2026-02-28T25:00:00Z', /must be a date and a time/],
    ['uri', 'https://example.org/', 'https://example.org/'],
    ['number', ' 2 ', 2],
    ['number', 'two', /must be a number/],
    ['integer', '-2', /must be at least -1/],
    ['boolean', ' YES ', true],
    ['choices', undefined, undefined],
    ['choices', 'a, A', ['a']],
    ['some', 'a, a', /needs at least 2 choices/],
    ['some', 'a,b,c,d', /takes at most 3 choices/],
    ['named', 'b', 'a'],
    ['text', 'abcd', /^text must have at most 3 characters\.$/],
    ['date', '2026-02-28', '2026-02-28'],
    ['date', '28.2.2026', /must be a date/],
    ['uri', 'example', /must be an address/],
    ['number', '2.5', 2.5],
    ['number', '3', /must be at most 2\.5/],
    ['integer', '1.5', /must be a whole number/],
    ['boolean', 'Y', true],
    ['boolean', 'maybe', /must be yes or no/],
    ['choice', 'the a', 'a'],
    ['choice', 'b', /must be one of the choices/],
    ['choice', undefined, /needs a value/],
    ['choices', 'a,b', /must be some of the choices/],
    ['usual', '', 'x'],
  ];
  for (const [name, given, want] of cases) {
    const field = fields.find((one) => one.name === name);
    if (!field) throw new Error(name);
    const checked = checkValue(field, given);
    if (want instanceof RegExp) t.match('problem' in checked && checked.problem, want, `${name} ${given}`);
    else t.strictSame('value' in checked && checked.value, want, `${name} ${given}`);
  }
  t.end();
});

t.test('a form has so many fields, and a field so many choices', (t) => {
  const property = { type: 'string' };
  const countOf = (given: object) => fieldsOf({ type: 'object', properties: given })?.length;
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, property]));
  const words = (count: number, length = 1) => ({
    a: { type: 'string', enum: Array.from({ length: count }, () => 'x'.repeat(length)) },
  });
  t.strictSame([countOf(many(20)), countOf(words(100)), countOf(words(1, 1_000))], [20, 1, 1]);
  t.equal(countOf({ ['x'.repeat(64)]: property }), 1);
  for (const given of [many(21), { '': property }]) t.equal(countOf(given), undefined);
  const { a: choice } = words(100);
  const typesOf = (given: object) => fieldsOf({ type: 'object', properties: given })?.map(({ type }) => type);
  t.strictSame(typesOf({ choice }), ['choice']);
  // What is too much for a choice is a text that is typed.
  for (const given of [words(101), words(1, 1_001), words(1, 0)]) t.strictSame(typesOf(given), ['text']);
  t.end();
});

t.test('what the user is asked, and what is refused at once', async (t) => {
  const { signal } = new AbortController();
  const answered = async (params: object) => {
    const asked: unknown[] = [];
    const refused: string[] = [];
    const result = await answerElicitation(params, {
      ...{ server: 'team', signal, refuse: (clause) => void refused.push(clause) },
      ask: async (question) => {
        asked.push(question);
        return { action: 'accept', content: {} };
      },
    });
    return { result, asked, refused };
  };
  const page = (url: string, message = 'Pay') => answered({ mode: 'url', message, url });
  const long = `https://pay.example/${'x'.repeat(3_980)}`;
  for (const [url, host] of [
    ['https://pay.example:8443/now?a=1', 'pay.example:8443'],
    ['http://127.0.0.1:1/', '127.0.0.1:1'],
    ['http://localhost/', 'localhost'],
    [long, 'pay.example'],
  ] as const)
    t.strictSame(await page(url), {
      ...{ result: { action: 'accept' }, refused: [] },
      asked: [{ server: 'team', message: 'Pay', fields: [], url, host }],
    });
  for (const url of [
    `${long}x`,
    'http://pay.example/',
    'https://me@pay.example/',
    'https://:x@pay.example/',
    'pay',
    'file:///',
  ])
    t.strictSame(
      await page(url),
      {
        result: { action: 'decline' },
        asked: [],
        refused: ['asked the user to open an address that is not https'],
      },
      url.slice(0, 40),
    );
  const form = (properties: object, message = 'Hello') =>
    answered({ message, requestedSchema: { type: 'object', properties } });
  t.strictSame(await form({ a: { type: 'string', minLength: 1 } }, ` ${'x'.repeat(2_000)}`), {
    ...{ result: { action: 'accept', content: {} }, refused: [] },
    asked: [
      { server: 'team', message: 'x'.repeat(1_999), fields: [{ name: 'a', required: false, type: 'text' }] },
    ],
  });
  t.strictSame(await form({ a: { type: 'object' } }), {
    ...{ result: { action: 'decline' }, asked: [] },
    refused: ['asked the user for something that is no flat form of at most 20 fields'],
  });
  t.strictSame(await answered({ mode: 'other', message: 'x' }), {
    ...{ result: { action: 'decline' }, asked: [] },
    refused: ['asked the user something that does not follow MCP'],
  });
  const [text, yes] = [{ type: 'string' }, { type: 'boolean' }];
  for (const [properties, message, isWarned] of [
    [{ a: text }, 'Hello', false],
    [{ a: text }, 'Enter your API key', true],
    [{ a: yes }, 'Enter your API key', false],
    [{ a: yes, password: text }, 'Hello', true],
    [{ a: { ...text, title: 'Your PIN' } }, 'Hello', true],
    [{ a: { type: 'integer', description: 'the card number' } }, 'Hello', true],
  ] as const) {
    const { asked } = await form(properties, message);
    const { warning } = asked[0] as ElicitParams;
    t.equal(warning !== undefined, isWarned, JSON.stringify(properties));
  }
});

t.test('whatever a server asks, it is bounded and nobody is harmed', async (t) => {
  const property = { type: 'string' };
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`a${index}`, property]));
  const none = [
    5,
    { type: 'object', properties: many },
    { type: 'object', properties: { a: { type: 'object', properties: {} } } },
    { type: 'object', properties: { a: { type: 'array', items: { type: 'object' } } } },
    { type: 'object', properties: { ['x'.repeat(65)]: property } },
  ];
  for (const schema of none) t.equal(fieldsOf(schema), undefined);
  const [field] =
    fieldsOf({ type: 'object', properties: { a: { ...property, title: `a\n${'x'.repeat(500)}` } } }) ?? [];
  t.match(field?.title, /^a x{98}$/);
  const { signal } = new AbortController();
  await fc.assert(
    fc.asyncProperty(fc.anything(), async (value) => {
      const ask = async (): Promise<ElicitResult> => ({ action: 'accept' });
      const options = { server: 'team', ask, signal, refuse: () => undefined };
      await answerElicitation(value, options);
      await answerElicitation({ message: 'a', requestedSchema: value }, options);
      fieldsOf({ type: 'object', properties: { a: value } });
    }),
  );
});
