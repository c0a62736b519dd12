import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { Message } from '../../protocol/messages/chat.ts';
import { failsWith } from '../support/failsWith.ts';
import { writeFiles } from '../support/temporaryFolder.ts';
import {
  answersOf,
  echo,
  offeredTo,
  question,
  resultsOf,
  startInFolder,
  type ToolOptions,
} from '../support/toolDaemon.ts';

interface Sent {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly object[];
  }[];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly { readonly function: object }[];
}

/** A turn of an agent in a folder with these files, where everything may run. */
async function begin(
  t: Test,
  files: Readonly<Record<string, string>> = {},
  { kinds = ['good'], ...more }: ToolOptions & { readonly kinds?: readonly string[] } = {},
) {
  const approvals = Object.fromEntries([...kinds, 'builtin'].map((kind) => [kind, 'always' as const]));
  const started = await startInFolder(t, files, { kinds, ...(more.decide ? {} : { approvals }), ...more });
  return { ...started, sent: () => started.runner.bodies('/api/chat') as readonly Sent[] };
}

const read = (path: string, id = path) => ({ id, name: 'read_file', arguments: { path } });

t.test('old results are removed in one go, stay removed, and no prompt leaves its room', async (t) => {
  for (const window of [8_192, 16_384, 32_768])
    await t.test(`${window}`, async (t) => {
      const names = Array.from({ length: 40 }, (_, at) => `f${at}.txt`);
      const files = Object.fromEntries(names.map((name) => [name, `${name} ${'word '.repeat(1_000)}\n`]));
      const { runner, ask, sent } = await begin(t, files);
      for (const name of names) {
        const made = read(name);
        runner.toolCalls([{ ...made, arguments: { ...made.arguments, text: 'y'.repeat(60) } }]);
      }
      runner.say('Done.');
      const { result } = await ask({ options: { num_ctx: window } });
      t.equal(result.finishReason, 'toolLimit');
      t.equal(sent().length, 41);
      t.equal(result.agent?.rounds, 41);
      const reserve = Math.max(1_024, window / 8);
      const sizeOf = ({ messages, tools = [] }: Sent) =>
        [...messages.map(({ tool_calls: calls }) => calls), ...tools.map((tool) => tool.function)]
          .map((part) => JSON.stringify(part ?? '').length)
          .reduce((sum, length) => sum + length, messages.map(({ content }) => content).join('').length);
      const largest = Math.max(...sent().map(sizeOf)) / 3.8;
      // The stand-in has other tokens, by which the estimate is corrected.
      t.ok(largest <= (window - reserve) * 1.06, `${largest} of ${window}`);
      const gone = new Set<string>();
      let batches = 0;
      for (const [round, { messages }] of sent().entries()) {
        const all = messages.map(({ tool_call_id: id = '', content }) => [id, content] as const);
        const there = new Set(all.map(([id]) => id));
        const removed = all.flatMap(([id, text]) =>
          /^\[removed to save room; call read_file/.test(text) ? [id] : [],
        );
        t.ok(
          [...gone].every((id) => removed.includes(id) || !there.has(id)),
          `round ${round}: what was removed stays so`,
        );
        if (removed.some((id) => !gone.has(id))) batches += 1;
        for (const id of removed) gone.add(id);
      }
      t.ok(gone.size > 20 && batches < gone.size, `${gone.size} in ${batches} goes`);
      t.match(sent().at(-1)?.messages.at(-1)?.content, /^f39\.txt word/, 'the newest stays');
      t.notMatch(JSON.stringify(sent()), /"text":"y{0,59}"/, 'calls are never shortened');
      t.ok(
        sent().every(({ messages }) => messages.some(({ content }) => content === 'go')),
        'and the prompt',
      );
      t.equal(result.notices.filter(({ code }) => code === 'results-removed').length, 1);
    });
});

t.test('old prompts and answers become a note, and the newest prompt stays', async (t) => {
  const { runner, ask, sent } = await begin(t);
  const history = Array.from({ length: 8 }, (_, at): readonly Message[] => [
    { role: 'user', content: `prompt ${at} ${'p'.repeat(4_000)}` },
    { role: 'assistant', content: 'So.' },
  ]).flat();
  runner.toolCalls([echo('x')]);
  runner.say('So.');
  await ask({ messages: [...history, { role: 'user', content: 'now' }], options: { num_ctx: 8_192 } });
  const whole = sent()
    .at(-1)
    ?.messages.map(({ content }) => content)
    .join('\n');
  t.match(whole, /\[Removed to save room: the user asked "prompt 0 p+/);
  t.match(whole, /prompt 7 p{4000}/, 'the newest stay');
  t.match(whole, /\nnow\n/);
});

t.test('a prompt that nothing can make shorter ends the turn with its figures', async (t) => {
  const { runner, ask } = await begin(t);
  runner.toolCalls([echo('x'.repeat(20_000))]);
  await t.rejects(
    ask({ options: { num_ctx: 4_096 } }),
    failsWith({
      message: /holds 4096, although everything old was removed/,
      data: { kind: 'context-exceeded', messages: { length: 2 } },
    }),
  );
});

t.test('the window of an agent is asked for, unless somebody has chosen one', async (t) => {
  for (const { name, model = {}, loaded, num_ctx, more = {}, want } of [
    { name: 'nobody has', want: [16_384, 'window-asked'] },
    {
      name: 'another for agents',
      more: { agentContext: 24_576 },
      want: [24_576, 'window-asked'],
    },
    { name: 'a smaller maximum', model: { contextLength: 8_192 }, want: [8_192, 'window-asked'] },
    { name: 'a small window is loaded', loaded: 4_096, want: [16_384, 'window-asked'] },
    { name: 'a large one is loaded', loaded: 32_768, want: [32_768, undefined] },
    { name: 'the user asks', num_ctx: 8_000, want: [8_000, undefined] },
    { name: 'the configuration says', more: { contextLength: 12_000 }, want: [12_000, undefined] },
    {
      name: 'the Modelfile says',
      model: { parameters: { num_ctx: 5_000 } },
      want: [undefined, 'window-small'],
    },
  ] as readonly {
    readonly name: string;
    readonly model?: object;
    readonly loaded?: number;
    readonly num_ctx?: number;
    readonly more?: ToolOptions;
    readonly want: readonly [asked: number | undefined, notice: string | undefined];
  }[])
    await t.test(name, async (t) => {
      const { runner, ask, sent } = await begin(
        t,
        {},
        {
          kinds: [],
          ...more,
          models: [
            {
              ...{ name: 'own:latest', capabilities: ['completion', 'tools'], contextLength: 65_536 },
              ...{ system: 'Speak like a pirate.', ...model },
            },
          ],
        },
      );
      if (loaded !== undefined)
        await fetch(`${runner.url}/api/chat`, {
          method: 'POST',
          body: JSON.stringify({ model: 'own', messages: [], options: { num_ctx: loaded } }),
        });
      runner.say('So.');
      const messages: readonly Message[] = [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'go' },
      ];
      const options = num_ctx === undefined ? {} : { options: { num_ctx } };
      const { result } = await ask({ model: 'own', messages, ...options });
      t.equal(sent().at(-1)?.options?.['num_ctx'], want[0]);
      t.strictSame(
        result.notices.map(({ code }) => code),
        want[1] ? [want[1]] : [],
      );
      const [system] = sent().at(-1)?.messages ?? [];
      t.match(
        system?.content,
        /^You work on .*Speak like a pirate\..*Be short\.$/s,
        'ours, the model’s, the user’s',
      );
    });
  const tiny = await begin(t, {}, { contextLength: 2_048 });
  await t.rejects(
    tiny.ask(),
    failsWith({
      data: { kind: 'context-exceeded' },
      message: /3072 tokens at least.* Set a context length of 16384\./,
    }),
  );
  t.equal(tiny.sent().length, 0);
});

t.test('rules take their share of the window and no more, whatever they are', async (t) => {
  const { runner, ask, folder, home, sent } = await begin(t);
  const part = (system: string, first: string) => system.split(first)[1]?.split('\n</rules>')[0] ?? '';
  const line = fc.stringMatching(/^[a-z .]{0,60}$/);
  const text = fc.array(line, { maxLength: 300 }).map((lines) => lines.join('\n').trim());
  await fc.assert(
    fc.asyncProperty(text, text, fc.integer({ min: 6_144, max: 60_000 }), async (own, of, window) => {
      await writeFile(join(folder, 'AGENTS.md'), of);
      await writeFiles(home, { 'runner/AGENTS.md': own });
      runner.say('So.');
      const { result } = await ask({ options: { num_ctx: window } });
      const [system] = sent().at(-1)?.messages ?? [];
      const room = Math.min(2_048, Math.floor(window / 16)) * 3.8;
      const shown = ['<rules of="project" file="AGENTS.md">\n', '<rules of="user">\n'].map((first) =>
        part(system?.content ?? '', first),
      );
      const whole = [of, own];
      t.ok(shown.join('').length <= room);
      t.strictSame(
        result.notices.map(({ code }) => code),
        shown.join('') === whole.join('') ? [] : ['rules-cut'],
      );
      if (whole.join('').length <= room) t.strictSame(shown, whole, 'what fits is whole');
      for (const [at, each] of shown.entries()) {
        const kept = each.replace(/\n?\[The rest.*\]$/, '');
        t.ok(whole[at]?.startsWith(kept));
        if (each !== whole[at]) t.ok(kept.length > room / 4 - 100, 'as much as there is room for');
      }
    }),
    { numRuns: 30 },
  );
});

t.test('tools that take too much of the window are named, and then left out', async (t) => {
  const { runner, ask } = await begin(t, {}, { kinds: ['good', 'many'] });
  runner.say('So.');
  const some = await ask({ options: { num_ctx: 16_384 } });
  t.match(some.result.notices, [{ code: 'tools-too-large', message: /\(many \d+, builtin \d+, good \d+\)/ }]);
  t.equal(offeredTo(runner).length, 128);
  runner.say('So.');
  const most = await ask({ options: { num_ctx: 4_096 } });
  t.match(most.result.notices, [{ code: 'window-small' }, { message: /left out of this turn/ }]);
  t.ok(offeredTo(runner).every((name) => !/^tool_/.test(name)));
});

t.test('calls that go round in circles end the turn', async (t) => {
  const long = 'x'.repeat(200);
  const calls = (of: (at: number) => { readonly name: string; readonly arguments: object }) =>
    Array.from({ length: 9 }, (_, at) => [{ id: `c${at}`, ...of(at) }]);
  const cases: readonly {
    readonly name: string;
    readonly rounds: readonly (readonly { readonly name: string; readonly arguments: object }[])[];
    readonly want: readonly [rounds: number, reason: string];
  }[] = [
    { name: 'the same call', rounds: calls(() => echo(long)), want: [5, 'toolLoop'] },
    { name: 'the same call with other results', rounds: calls(() => read('a.txt')), want: [10, 'stop'] },
    { name: 'two calls in turn', rounds: calls((at) => echo(`${at % 2}${long}`)), want: [7, 'toolLoop'] },
    { name: 'three calls in turn', rounds: calls((at) => echo(`${at % 3}${long}`)), want: [10, 'stop'] },
    { name: 'failures', rounds: calls((at) => ({ name: 'fail', arguments: { at } })), want: [7, 'toolLoop'] },
    {
      name: 'unknown tools',
      rounds: calls((at) => ({ name: 'none', arguments: { at } })),
      want: [4, 'toolLoop'],
    },
    {
      name: 'failures with a success between',
      rounds: calls((at) => (at % 4 === 3 ? echo(`${at}`) : { name: 'fail', arguments: { at } })),
      want: [10, 'stop'],
    },
    {
      name: 'the same call six times in one answer',
      rounds: [calls(() => echo(long)).flat()],
      want: [2, 'stop'],
    },
  ];
  for (const { name, rounds, want } of cases)
    await t.test(name, async (t) => {
      let file = '';
      let times = 0;
      const { runner, ask, folder, sent } = await begin(
        t,
        { 'a.txt': 'a' },
        { onRequest: () => file !== '' && writeFileSync(file, `${long}${(times += 1)}`) },
      );
      file = join(folder, 'a.txt');
      for (const round of rounds) runner.toolCalls(round as never);
      runner.say('So.');
      const { result, deltas } = await ask();
      t.strictSame([sent().length, result.finishReason], want);
      if (want[1] === 'toolLoop') t.strictSame(offeredTo(runner), [], 'the last answer has no tools');
      if (name !== 'the same call') return;
      const contents = resultsOf(deltas).map(({ content }) => content);
      t.equal(contents[1], 'Same call as before, same result; it stands above.');
      const answers =
        sent()
          .at(-1)
          ?.messages.filter(({ role }) => role === 'tool') ?? [];
      t.equal(answers.at(-1)?.content, 'Do something else, or answer.');
    });
});

t.test('a call that the limit of tokens has cut is not run', async (t) => {
  const { runner, ask, sent } = await begin(t);
  /** The limit ends the answer behind the arguments of its last call. */
  const cut = (...words: readonly string[]) => {
    const texts = words.map(
      (word) => `<tool_call>\n${JSON.stringify({ name: 'echo', arguments: { word } })}\n`,
    );
    runner.rawLines([
      { message: { role: 'assistant', content: texts.join('</tool_call>\n') }, done: false },
      { message: { role: 'assistant', content: '' }, done: true, done_reason: 'length', eval_count: 2_048 },
    ]);
  };
  cut('one', 'two');
  runner.toolCalls([echo('three')]);
  cut('four');
  runner.say('So.');
  const { result } = await ask();
  t.equal(result.finishReason, 'stop');
  t.strictSame(answersOf(result.messages), [
    'You said one.',
    'The call was cut after 2,048 tokens. Make a smaller edit.',
    'You said three.',
    'The call was cut after 2,048 tokens. Make a smaller edit.',
  ]);
  cut('five');
  cut('six');
  const before = sent().length;
  t.equal((await ask()).result.finishReason, 'length', 'twice in a row');
  t.equal(sent().length, before + 2);
});

t.test(
  'a tool is found under the names that models have for it, and the right one is said once',
  async (t) => {
    const { runner, ask, questions } = await begin(
      t,
      { 'a.txt': 'a\n', 'b.txt': 'b\n' },
      { decide: () => 'once' },
    );
    runner.toolCalls([{ name: 'cat', arguments: { file: 'a.txt' } }]);
    runner.toolCalls([{ name: 'cat', arguments: { path: 'b.txt' } }]);
    runner.toolCalls([{ name: 'bash', arguments: { command: 'date' } }]);
    runner.say('So.');
    const { result } = await ask();
    t.match(answersOf(result.messages), [
      '[The tool is called read_file.]\na',
      'b',
      /^No command is run here\./,
    ]);
    t.match(questions, [{ toolCall: { name: 'read_file', arguments: { path: 'a.txt' } } }, {}]);
    t.match(result.messages?.[0]?.toolCalls, [{ name: 'cat' }], 'its own call stays as it is');
  },
);

t.test('every call of a turn has an id of its own', async (t) => {
  const { runner, ask } = await begin(t);
  const history: readonly Message[] = [
    ...question.messages,
    { role: 'assistant', content: '', toolCalls: [echo('x', 'old')] },
    { role: 'user', content: 'and?' },
  ];
  runner.toolCalls([echo('a', 'fresh'), echo('b', 'old'), echo('c', 'fresh')]);
  runner.toolCalls([echo('d', 'fresh')]);
  runner.say('Done.');
  const { result, deltas } = await ask({ messages: history });
  const made = deltas.flatMap((delta) => (delta.kind === 'toolCall' ? [delta.toolCall.id] : []));
  t.equal(new Set([...made, 'old']).size, 5);
  t.strictSame(
    result.messages?.flatMap(({ toolCallId = [] }) => toolCallId),
    made,
  );
});
