import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { type ErrorDetails, RunnerError } from '../../daemon/base/errors.ts';
import { PromptFit } from '../../daemon/chat/promptFit.ts';
import { ModelCapabilities } from '../../daemon/models/modelCapabilities.ts';
import type { Runner } from '../../daemon/runner/runner.ts';

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

t.test('once a prompt is accepted, its user learns what the window has come to', async (t) => {
  const leftOut = (needed: number, window: number, advice: string) =>
    `context-nearly-full: The prompt needs about ${needed} tokens, and the context window holds ${window}: the runner may have left out a part of it. ${advice}`;
  const shorten = 'Shorten it, start a new chat, or set a context length of 8192.';
  const fewer = 'Most of it describes the tools: offer fewer tools or set a context length of 8192.';
  const tooLong = { known: { allocated: 4_096, maximum: 8_192 }, needed: 4_097 };
  const cases: readonly FitCase<readonly string[]>[] = [
    ['any window holds the prompt', { running: 2_048 }, { needed: 1_843 }, ['running']],
    [
      'it may not fit into the smallest one',
      { running: 2_048, shown: 8_192 },
      { needed: 1_844 },
      ['running', 'show', nearlyFull(90, 2_048, 4_096)],
    ],
    ['it fits into that of the runner', { running: 4_096, shown: 8_192 }, { needed: 1_844 }, ['running']],
    ['the runner does not say', { running: failure }, { needed: 9_000 }, ['running']],
    [
      'the window is known',
      { running: 16_384 },
      { known: { allocated: 4_096 }, needed: 4_000 },
      ['running', nearlyFull(98, 4_096, 8_192)],
    ],
    ['it is large', { running: 16_384 }, { known: { allocated: 8_192 }, needed: 4_000 }, ['running']],
    ['the prompt is longer', { running: 4_096 }, tooLong, ['running', leftOut(4_097, 4_096, shorten)]],
    [
      'one half of it describes tools',
      { running: 4_096 },
      { ...tooLong, size: { characters: 100, inTools: 50, images: 0 } },
      ['running', leftOut(4_097, 4_096, shorten)],
    ],
    [
      'most of it describes tools',
      { running: 4_096 },
      { ...tooLong, size: { characters: 100, inTools: 51, images: 0 } },
      ['running', leftOut(4_097, 4_096, fewer)],
    ],
    ['the user has cancelled', { running: 4_096 }, { ...tooLong, signal: AbortSignal.abort() }, ['running']],
  ];
  for (const [what, says, options, want] of cases) {
    const { fit, log } = fitOf(says, options);
    await fit.learn();
    t.strictSame(log, want, what);
  }
});

t.test('the runner is asked once, and its word counts more than what was asked for', async (t) => {
  const { fit, log } = fitOf({ running: 4_096, shown: 8_192 }, { asked: 8_192, needed: 4_000 });
  await fit.begin();
  t.strictSame(log, ['show'], 'the window that is asked for holds the prompt');
  await fit.learn();
  await fit.learn();
  // Nobody waits for it, because the window is known as far as it was asked for.
  await nextTurn();
  t.strictSame(log, ['show', 'running']);
  t.equal(await fit.allocated(4_000), 4_096);
  fit.noticeCut(4_095);
  t.match(log.slice(2), [/^context-exceeded: .* window of 4096 tokens is full\./]);

  const silent = fitOf({ running: failure, shown: failure }, { asked: 8_192, needed: 4_000 });
  await silent.fit.begin();
  await silent.fit.begin();
  t.equal(await silent.fit.allocated(4_000), 8_192, 'what was asked for, as far as anybody knows');
  t.strictSame(silent.log, ['show']);

  const unknown = fitOf({ running: 2_048 }, { needed: 10 });
  t.equal(await unknown.fit.allocated(10), 2_048);
  t.strictSame(unknown.log, ['running'], 'who reports the use of an answer wants to know its window');
  const failing = fitOf({ running: failure }, { needed: 10 });
  t.equal(await failing.fit.allocated(10), undefined);

  const unloaded = fitOf({ running: 0 }, { asked: 8_192, known: { allocated: 2_048 } });
  await unloaded.fit.learn();
  await nextTurn();
  t.equal(await unloaded.fit.allocated(10), 8_192, 'it is not loaded any more, and will be as it was asked');
});

t.test('an answer that was cut has filled the window, or had a limit of its own', (t) => {
  const cut = (tokens: number, options: Parameters<typeof fitOf>[1]) => {
    const { fit, log } = fitOf({}, options);
    fit.noticeCut(tokens);
    return log;
  };
  const full = (window: number, next?: number) =>
    `context-exceeded: The answer was cut because the context window of ${window} tokens is full. Start a new chat${orSet(next)} before anything is refused.`;
  t.strictSame(cut(9_999, {}), []);
  t.strictSame(cut(4_094, { known: { allocated: 4_096 } }), []);
  t.strictSame(cut(4_095, { known: { allocated: 4_096 } }), [full(4_096, 8_192)], 'an engine keeps one free');
  t.strictSame(cut(8_192, { known: { allocated: 8_192, maximum: 8_192 } }), [full(8_192)]);
  t.end();
});

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

t.test('the window that a refusal names is known from then on where no request changes it', async (t) => {
  const observed = async (says: Says, details: ErrorDetails, accepted?: number) => {
    const { fit, knowledge } = fitOf({ running: failure, shown: failure, ...says }, {});
    await fit.withFigures(new RunnerError('context-exceeded', 'too long', { details }));
    if (accepted !== undefined) await fit.allocated(accepted);
    return knowledge.context(server, 'm').allocated;
  };
  t.equal(await observed({ hasFixedWindows: true }, { allocated: 4_096 }), 4_096);
  t.equal(await observed({ hasFixedWindows: true }, {}), undefined, 'it names none');
  t.equal(await observed({}, { allocated: 4_096 }), undefined, 'the next request may get another one');
  t.equal(await observed({ hasFixedWindows: true }, { allocated: 4_096 }, 4_096), 4_096);
  t.equal(await observed({ hasFixedWindows: true }, { allocated: 4_096 }, 4_097), undefined, 'it has grown');
});

t.test('nothing waits long for a runner that says nothing, and what comes late still counts', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let say: (tokens: number) => void = () => undefined;
  const later = () => new Promise<number>((resolve) => (say = resolve));
  const never = new Promise<number>(() => undefined);
  /** Whether it has ended after so many ms, and not before. */
  const takes = async (work: Promise<unknown>, milliseconds: number) => {
    let isOver = false;
    void work.then(() => (isOver = true));
    await nextTurn();
    mock.timers.tick(milliseconds - 1);
    await nextTurn();
    if (isOver) return 'less';
    mock.timers.tick(1);
    await nextTurn();
    return isOver;
  };
  const maximum = fitOf({ shown: later(), running: 4_096 }, { known: { allocated: 4_096 }, needed: 4_000 });
  t.equal(await takes(maximum.fit.begin(), 500), true, 'before the answer');
  t.strictSame(maximum.log, ['show', nearlyFull(98, 4_096, 8_192)], 'as far as it is known');
  say(6_000);
  await nextTurn();
  await maximum.fit.learn();
  t.strictSame(maximum.log.slice(2), ['running', nearlyFull(98, 4_096, 6_000)]);

  const window = fitOf({ running: later() }, { needed: 4_000 });
  t.equal(await takes(window.fit.learn(), 500), true, 'beside the answer');
  t.strictSame(window.log, ['running']);
  t.equal(await takes(window.fit.allocated(4_000), 200), true, 'after it');
  say(4_096);
  await nextTurn();
  t.equal(await window.fit.allocated(4_000), 4_096);

  const both = fitOf({ running: 2_048, shown: never }, { needed: 2_000 });
  t.equal(await takes(both.fit.learn(), 500), true, 'the maximum, too');
  t.strictSame(both.log, ['running', 'show', nearlyFull(98, 2_048, 4_096)]);

  const refused = fitOf({ running: never, shown: never }, { needed: 4_000 });
  const error = new RunnerError('context-exceeded', 'too long');
  t.equal(await takes(refused.fit.withFigures(error), 1_000), true, 'after a refusal');
  const counted = fitOf({ running: never, count: 10 }, { needed: 4_000 });
  t.equal(await takes(counted.fit.begin(), 500), true, 'before it is counted');
  t.strictSame(counted.log, ['running', 'count']);
});
