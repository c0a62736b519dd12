import t from 'tap';
import { type ErrorDetails, RunnerError } from '../../daemon/base/errors.ts';
import { inStrictOrder } from '../../daemon/chat/messageOrder.ts';
import { PromptFit } from '../../daemon/chat/promptFit.ts';
import { mendedArguments } from '../../daemon/chat/toolUtilities.ts';
import { ModelCapabilities } from '../../daemon/models/modelCapabilities.ts';
import type { Runner } from '../../daemon/runner/runner.ts';
import type { Message } from '../../protocol/messages/chat.ts';

const server = { name: 'one', url: 'http://127.0.0.1:1' };

/** What a runner says when it is asked; an error if it fails, and a promise if it takes its time. */
interface Says {
  /** The window of the loaded model; 0 if it is not loaded. */
  readonly running?: number | Error | Promise<number>;
  readonly shown?: number | Error | Promise<number>;
  readonly count?: number | Error;
  readonly hasFixedWindows?: true;
}

type FitOptions = Partial<ConstructorParameters<typeof PromptFit>[0]>;

interface Known {
  readonly allocated?: number;
  readonly maximum?: number;
  readonly isShown?: true;
}

/** A prompt of a model, with a log of what its runner is asked and of all notices. */
function fitOf(says: Says, options: FitOptions & { readonly known?: Known }) {
  const log: string[] = [];
  const { known = {}, ...rest } = options;
  const knowledge = new ModelCapabilities();
  const listed = { name: 'm', ...(known.maximum && { maximumContext: known.maximum }) };
  knowledge.learnListed(server, [listed]);
  if (known.allocated) knowledge.learnRunning(server, [{ name: 'm', allocatedContext: known.allocated }]);
  if (known.isShown) knowledge.learnShown(server, 'm', {});
  const saying = async <T>(
    what: string,
    said: number | Error | Promise<number> | undefined,
    as: (n: number) => T,
  ) => {
    log.push(what);
    const is = await said;
    if (is instanceof Error || is === undefined) throw is ?? new Error('It says nothing.');
    return as(is);
  };
  const runner = {
    server,
    facts: says.hasFixedWindows ? { hasFixedWindows: true } : {},
    running: () =>
      saying('running', says.running, (allocatedContext) =>
        allocatedContext === 0 ? [] : [{ name: 'm', allocatedContext }],
      ),
    show: () => saying('show', says.shown, (maximumContext) => ({ maximumContext })),
    ...('count' in says && { count: () => saying('count', says.count, (tokens) => tokens) }),
  } as unknown as Runner;
  const fit = new PromptFit({
    ...{ runner, model: 'm', knowledge, needed: 1_000, signal: new AbortController().signal },
    ...{ size: { characters: 100, inTools: 0, images: 0 }, request: { model: 'm', messages: [], tools: [] } },
    notice: (code, message) =>
      log.push(typeof message === 'string' ? `${code}: ${message}` : `${code}: ${message.message}`),
    ...rest,
  });
  return { fit, log, knowledge };
}

type FitCase<Want> = readonly [what: string, Says, Parameters<typeof fitOf>[1], want: Want];

/** The notice about a window that is nearly full; `next` is the one that is advised. */
function nearlyFull(percent: number, window: number, next?: number): string {
  const fills = `fills about ${percent} % of the context window of ${window} tokens`;
  return `context-nearly-full: The prompt ${fills}. Start a new chat${orSet(next)} before anything is refused.`;
}

function orSet(contextLength: number | undefined): string {
  return contextLength === undefined ? '' : ` or set a context length of ${contextLength}`;
}

function reduced(maximum: number, asked: number): string {
  const most = `m can have a context window of ${maximum} tokens at most`;
  return `context-reduced: ${most}, so it does not get ${asked}. Ask for ${maximum} or fewer.`;
}

const failure = new Error('broken');

t.test(
  'before a prompt is sent, the runner is asked what is worth knowing, and the user warned',
  async (t) => {
    const at4096 = { allocated: 4_096 };
    const cases: readonly FitCase<readonly string[]>[] = [
      ['the window is not known', { running: 4_096, shown: 8_192 }, { needed: 9_000 }, []],
      ['the prompt is short', {}, { known: { allocated: 4_000 }, needed: 3_599 }, []],
      [
        'it takes nine tenths of the window',
        { shown: 32_768 },
        { known: { allocated: 4_000 }, needed: 3_600 },
        ['show', nearlyFull(90, 4_000, 8_192)],
      ],
      [
        'it takes all, and the runner does not say its maximum',
        { shown: failure },
        { known: at4096, needed: 4_096 },
        ['show', nearlyFull(100, 4_096, 8_192)],
      ],
      ['it takes more', { shown: 8_192 }, { known: at4096, needed: 4_097 }, ['show']],
      [
        'the model can have no larger one',
        { shown: 4_096 },
        { known: at4096, needed: 4_000 },
        ['show', nearlyFull(98, 4_096)],
      ],
      [
        'the runner was asked before',
        {},
        { known: { ...at4096, isShown: true }, needed: 4_000 },
        [nearlyFull(98, 4_096, 8_192)],
      ],
      [
        'its maximum is known',
        {},
        { known: { ...at4096, maximum: 6_000 }, needed: 4_000 },
        [nearlyFull(98, 4_096, 6_000)],
      ],
      [
        'the prompt and its margin pass a step',
        {},
        { known: { allocated: 6_530, maximum: 99_999 }, needed: 6_530 },
        [nearlyFull(100, 6_530, 12_288)],
      ],
      [
        'they do not',
        {},
        { known: { allocated: 6_516, maximum: 99_999 }, needed: 6_516 },
        [nearlyFull(100, 6_516, 8_192)],
      ],
      [
        'no request gets another window',
        { shown: 8_192, hasFixedWindows: true },
        { known: at4096, needed: 4_000 },
        ['show', nearlyFull(98, 4_096)],
      ],
      ['a window is asked for', { shown: 8_192 }, { asked: 4_096, needed: 100 }, ['show']],
      ['the largest one is', {}, { asked: 8_192, known: { maximum: 8_192 }, needed: 100 }, []],
      [
        'a larger one is',
        {},
        { asked: 8_193, known: { maximum: 8_192 }, needed: 8_000 },
        [reduced(8_192, 8_193), nearlyFull(98, 8_192)],
      ],
      [
        'a larger one is than the runner says',
        { shown: 8_192 },
        { asked: 9_000, needed: 100 },
        ['show', reduced(8_192, 9_000)],
      ],
      [
        'another one is than that of the settings',
        { shown: 8_192 },
        { asked: 4_096, configured: 2_048, needed: 4_000 },
        ['show', nearlyFull(98, 4_096, 8_192)],
      ],
      [
        'the settings have one',
        { shown: 8_192 },
        { configured: 2_048, needed: 2_000 },
        ['show', nearlyFull(98, 2_048, 4_096)],
      ],
      [
        'the settings have one that is too large',
        {},
        { configured: 9_000, known: { maximum: 2_048 }, needed: 2_000 },
        [nearlyFull(98, 2_048)],
      ],
      [
        'the settings have another one than is loaded',
        {},
        { configured: 8_192, known: { allocated: 2_048 }, needed: 2_000 },
        [],
      ],
      [
        'the runner counts',
        { count: 3_700, running: 4_096, shown: 8_192 },
        { needed: 1_639 },
        ['running', 'count', 'show', nearlyFull(90, 4_096, 8_192)],
      ],
      ['it would, but the prompt is short', { count: 3_700, running: 4_096 }, { needed: 1_638 }, ['running']],
      [
        'it counts, and does not say its window',
        { count: 3_700, running: failure },
        { needed: 1 },
        ['running', 'count'],
      ],
      [
        'it counts, and its window is known',
        { count: 3_700, shown: 8_192 },
        { known: { allocated: 4_000 }, needed: 1_600 },
        ['count', 'show', nearlyFull(93, 4_000, 8_192)],
      ],
      [
        'it cannot count',
        { count: failure, running: 4_096, shown: 8_192 },
        { needed: 3_900 },
        ['running', 'count', 'show', nearlyFull(95, 4_096, 8_192)],
      ],
    ];
    for (const [what, says, options, want] of cases) {
      const { fit, log } = fitOf(says, options);
      await fit.begin();
      t.strictSame(log, want, what);
    }
  },
);

t.test('a refusal of a prompt gets its figures, and the window that would hold it', async (t) => {
  const isFixed = { hasFixedWindows: true } as const;
  const cases: readonly (readonly [
    what: string,
    Says,
    Parameters<typeof fitOf>[1],
    given: ErrorDetails,
    want: readonly [message: string, details: ErrorDetails],
  ])[] = [
    [
      'nothing is known',
      { running: failure, shown: failure },
      { needed: 5_000 },
      {},
      [
        'The prompt needs about 5000 tokens and the context window is smaller. Shorten it, start a new chat, or set a context length of 8192.',
        { needed: 5_000 },
      ],
    ],
    [
      'nothing is known, and the prompt is short',
      { running: failure, shown: failure },
      { needed: 1 },
      {},
      [
        'The prompt needs about 1 tokens and the context window is smaller. Shorten it, start a new chat, or set a context length of 4096.',
        { needed: 1 },
      ],
    ],
    [
      'the runner knows',
      { running: 4_096, shown: 16_384 },
      { needed: 100 },
      {},
      [
        'The prompt needs about 4097 tokens and the context window holds 4096. Shorten it, start a new chat, or set a context length of 8192.',
        { needed: 4_097, allocated: 4_096, maximum: 16_384 },
      ],
    ],
    [
      'the refusal has counted',
      { running: 2_048, shown: 16_384 },
      { needed: 9_000 },
      { needed: 100, allocated: 4_096 },
      [
        'The prompt needs 100 tokens and the context window holds 4096. Shorten it, start a new chat, or set a context length of 8192.',
        { needed: 100, allocated: 4_096, maximum: 16_384 },
      ],
    ],
    [
      'the model can have a larger one that does not hold it either',
      { running: 4_096, shown: 8_192 },
      {},
      { needed: 8_192 },
      [
        'The prompt needs 8192 tokens and the context window holds 4096; the model can have 8192 at most. Shorten it or start a new chat.',
        { needed: 8_192, allocated: 4_096, maximum: 8_192 },
      ],
    ],
    [
      'the model can have no larger one',
      { running: 8_192, shown: 8_192 },
      { size: { characters: 3, inTools: 2, images: 0 } },
      { needed: 8_193 },
      [
        'The prompt needs 8193 tokens and the context window holds 8192, the most that the model can have. Most of it describes the tools: offer fewer tools.',
        { needed: 8_193, allocated: 8_192, maximum: 8_192 },
      ],
    ],
    [
      'only the maximum is known',
      { running: failure, shown: 2_048 },
      { needed: 2_048 },
      {},
      [
        'The prompt needs about 2048 tokens and the context window is smaller; the model can have 2048 at most. Shorten it or start a new chat.',
        { needed: 2_048, maximum: 2_048 },
      ],
    ],
    [
      'no request gets another window',
      { ...isFixed, running: 4_096, shown: 16_384 },
      { needed: 5_000 },
      {},
      [
        'The prompt needs about 5000 tokens and the context window holds 4096, as the server was started. Shorten it or start a new chat.',
        { needed: 5_000, allocated: 4_096, maximum: 16_384 },
      ],
    ],
  ];
  for (const [what, says, options, given, [message, details]] of cases) {
    const { fit, log } = fitOf(says, options);
    const cause = new RunnerError('context-exceeded', 'too long', { details: given });
    const error = await fit.withFigures(cause);
    if (!(error instanceof RunnerError)) throw new Error('It is no error.');
    const { advice, ...figures } = error.details;
    t.strictSame(
      [error.kind, error.message, figures, error.cause],
      ['context-exceeded', message, details, cause],
      what,
    );
    t.equal(`${advice?.problem} ${advice?.text}`, message, what);
    t.strictSame(log, ['running', 'show'], what);
  }
  const { fit, log } = fitOf({}, {});
  for (const error of [failure, new RunnerError('busy', 'busy')])
    t.equal(await fit.withFigures(error), error, 'any other error stays as it is');
  t.strictSame(log, []);
});

t.test('arguments that are no JSON are mended, or are none', (t) => {
  const properties = { city: { type: 'string' }, n: { type: 'integer' } };
  const tool = { name: 'get_weather', inputSchema: { type: 'object', properties } };
  const oslo = { city: 'Oslo' };
  const cases: readonly (readonly [text: string, want: object | undefined])[] = [
    ['{"city":"Oslo",}', oslo],
    ['```json\n{"city":"Oslo"}\n```', oslo],
    ['{"city":"Oslo"}</tool_call>', oslo],
    [JSON.stringify('{"city":"Oslo"}'), oslo],
    ['{"city":"Os\nlo"}', { city: 'Os\nlo' }],
    ["{'city': 'Oslo', 'n': None}", { ...oslo, n: null }],
    ['<parameter=city>\nOslo\n</parameter>\n<parameter=n>3</parameter>', { ...oslo, n: 3 }],
    ['{"city":"Oslo"', oslo],
    ['{"city":"Osl', undefined],
    ['["Oslo"]', undefined],
    ['Oslo', undefined],
    ['{}{"city":"Oslo"}', undefined],
    [`{"city":${'['.repeat(600)}`, undefined],
  ];
  for (const [text, want] of cases) t.strictSame(mendedArguments(text, tool), want, text.slice(0, 40));
  t.equal(mendedArguments('{"city":"Oslo",}', undefined), undefined, 'of no tool');
  t.end();
});

t.test('a conversation is sent in the order that strict templates take', (t) => {
  const of =
    (role: Message['role']) =>
    (content: string, more: object = {}): Message => ({ ...{ role, content }, ...more });
  const [system, user, answer, result] = [of('system'), of('user'), of('assistant'), of('tool')];
  const calls = { toolCalls: [{ id: '1', name: 'look', arguments: {} }] };
  const interrupted = answer('The answer was interrupted.');
  const shown = (...images: readonly string[]) => [
    answer('The tools returned pictures.'),
    user('The pictures in the results of the tools:', { images }),
  ];
  const cases: readonly (readonly [what: string, given: readonly Message[], want: readonly Message[]])[] = [
    ['nothing', [], []],
    ['rules alone', [system('a'), system('b')], [system('a\n\nb')]],
    [
      'two rules, two questions',
      [system('a'), system('b'), user('c'), user('d')],
      [system('a\n\nb'), user('c\n\nd')],
    ],
    [
      'rules in the middle go to the next question, not between a call and its result',
      [user('a'), answer('', calls), system('b'), system('c'), result('d'), answer('e'), user('f')],
      [user('a'), answer('', calls), result('d'), answer('e'), user('b\n\nc\n\nf')],
    ],
    ['rules at the end', [user('a'), answer('b'), system('c')], [user('a'), answer('b'), user('c')]],
    ['rules after a question', [user('a'), system('b')], [user('a\n\nb')]],
    [
      'a question that is asked again',
      [user('a', { images: ['A'] }), user('a', { images: ['A'] })],
      [user('a', { images: ['A'] })],
    ],
    [
      'two answers, with their thoughts and calls',
      [user('a'), answer('', { thinking: 't' }), answer('b', { thinking: 'u', ...calls }), answer('c')],
      [user('a'), answer('b', { thinking: 't\n\nu', ...calls }), answer('c')],
    ],
    [
      'pictures of two questions',
      [user('a', { images: ['A'] }), user('', { images: ['B'] })],
      [user('a', { images: ['A', 'B'] })],
    ],
    [
      'pictures of tools come after the last result of their round',
      [
        answer('', calls),
        result('x', { images: ['A'] }),
        result('y'),
        answer('z'),
        result('v', { images: ['B'] }),
      ],
      [answer('', calls), result('x'), result('y'), ...shown('A'), answer('z'), result('v'), ...shown('B')],
    ],
    [
      'and before the question that follows',
      [result('x', { images: ['A', 'B'] }), user('c', { images: ['C'] })],
      [
        result('x'),
        answer('The tools returned pictures.'),
        user('The pictures in the results of the tools:\n\nc', { images: ['A', 'B', 'C'] }),
      ],
    ],
    [
      'a round that was interrupted',
      [user('a'), result('c'), user('d'), answer('e', calls), user('f')],
      [user('a'), result('c'), interrupted, user('d'), answer('e', calls), interrupted, user('f')],
    ],
    [
      'empty answers, also behind a round',
      [user('a'), answer(' '), user('b'), result('c'), answer('', { toolCalls: [] }), user('d')],
      [user('a\n\nb'), result('c'), interrupted, user('d')],
    ],
    ['results without pictures', [result('x', { images: [] }), result('y')], [result('x'), result('y')]],
  ];
  for (const [what, given, want] of cases) t.strictSame(inStrictOrder(given), want, what);
  t.end();
});
