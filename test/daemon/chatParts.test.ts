import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { type ErrorDetails, RunnerError } from '../../daemon/base/errors.ts';
import type {
  AskApproval,
  AskElicitation,
  DaemonTool,
  DaemonToolOffer,
} from '../../daemon/chat/daemonTools.ts';
import { createLoopWatch } from '../../daemon/chat/loops.ts';
import { inStrictOrder, placeContext } from '../../daemon/chat/messageOrder.ts';
import { PromptFit } from '../../daemon/chat/promptFit.ts';
import { createRemovals, makeRoom, withoutRemoved } from '../../daemon/chat/removals.ts';
import { runCalls, standsForResult, type ToolRunOptions } from '../../daemon/chat/toolCalls.ts';
import { createToolLoop } from '../../daemon/chat/toolLoop.ts';
import { mendedArguments } from '../../daemon/chat/toolUtilities.ts';
import {
  createTokenEstimate,
  createWindows,
  type FindWindow,
  promptSizeOf,
} from '../../daemon/chat/turnWindow.ts';
import { ModelCapabilities } from '../../daemon/models/modelCapabilities.ts';
import type { Runner } from '../../daemon/runner/runner.ts';
import type {
  ChatDelta,
  ChatParams,
  ChatResult,
  FileDiff,
  FinishReason,
  Message,
  Notice,
  ToolCall,
  Usage,
} from '../../protocol/messages/chat.ts';
import type { ApproveToolParams, ApproveToolResult } from '../../protocol/messages/tools.ts';

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

/** What one round of the model is: what it writes, or how it fails. */
interface ScriptedRound {
  readonly content?: string;
  readonly thinking?: string;
  readonly calls?: readonly ToolCall[];
  /** Calls whose arguments cannot be read. */
  readonly unread?: readonly ToolCall[];
  readonly notices?: readonly Notice[];
  readonly finishReason?: FinishReason;
  readonly usage?: Usage;
  readonly isCut?: boolean;
  readonly fails?: Error;
}

interface TurnOptions {
  readonly params?: Partial<ChatParams>;
  readonly offer?: Partial<DaemonToolOffer> | Error;
  readonly takesTools?: boolean;
  /** Whether a server is entered. */
  readonly has?: boolean;
  readonly askApproval?: AskApproval;
  readonly signal?: AbortSignal;
  readonly onRound?: () => void;
  readonly findWindow?: FindWindow;
  /** The kind of delta that the client does not take. */
  readonly goneAt?: ChatDelta['kind'];
}

const call = (id: string, name = 'look', given: Record<string, unknown> = {}): ToolCall => ({
  id,
  name,
  arguments: given,
});
const described = (name: string) => ({ name, description: `Does ${name}`, inputSchema: { type: 'object' } });

function toolOf(name: string, more: Partial<DaemonTool> = {}): DaemonTool {
  return {
    ...described(name),
    ...{ server: 'files', ownName: `own-${name}` },
    problemWith: () => undefined,
    isApproved: async () => true,
    allow: async () => undefined,
    call: async (given) => ({ content: `${name} ${JSON.stringify(given)}`, isError: false }),
    ...more,
  };
}

/** A turn whose rounds are scripted, with all that is asked, sent and answered. */
async function turnOf(rounds: readonly ScriptedRound[], options: TurnOptions = {}) {
  const { params = {}, offer = {}, takesTools = true, has = true } = options;
  const { askApproval, onRound, signal = new AbortController().signal } = options;
  const asked: Partial<ChatParams>[] = [];
  const log: string[] = [];
  const deltas: unknown[] = [];
  let created = 0;
  const chat = createToolLoop({
    chat: async (_runner, { streamId, model: _, ...request }, send) => {
      const { content = '', thinking, calls = [], notices = [], fails, ...rest } = rounds[asked.length] ?? {};
      asked.push(request);
      let seq = 0;
      for (const notice of notices) await send({ streamId, seq: seq++, kind: 'notice', notice });
      if (content !== '') await send({ streamId, seq: seq++, kind: 'text', text: content });
      for (const toolCall of calls) await send({ streamId, seq: seq++, kind: 'toolCall', toolCall });
      onRound?.();
      if (fails) throw fails;
      return {
        message: {
          role: 'assistant',
          content,
          ...(thinking && { thinking }),
          ...(calls.length && { toolCalls: calls }),
        },
        ...{ finishReason: calls.length > 0 ? 'toolCalls' : 'stop', notices },
        usage: { promptTokens: 10 * asked.length, completionTokens: 3 },
        ...rest,
      };
    },
    tools: {
      has: () => has,
      offer: async (servers, clientTools) => {
        log.push(`offer ${servers} beside ${clientTools.map(({ name }) => name)}`);
        if (offer instanceof Error) throw offer;
        return { tools: [toolOf('look')], problems: [], ...offer };
      },
    },
    takesTools: async (_, model) => {
      log.push(`takes ${model} tools`);
      return takesTools;
    },
    askApproval: () => askApproval,
    ...(options.findWindow ? { findWindow: options.findWindow } : {}),
    createId: () => `new-${created++}`,
  });
  const request: ChatParams = {
    ...{ streamId: 's', model: 'm', messages: [{ role: 'user', content: 'hi' }], hostedTools: 'all' },
    ...params,
  };
  const send = async ({ streamId, seq, ...delta }: ChatDelta) => {
    if (delta.kind === options.goneAt) throw failure;
    if (streamId !== 's' || seq !== deltas.length) throw new Error(`It is number ${seq} of ${streamId}.`);
    deltas.push(delta);
  };
  const runner = { server, facts: {} } as Runner;
  const result = await chat(runner, request, send, signal).catch((error: unknown) => error);
  return { asked, log, deltas, result };
}

const answered = (id: string, content: string, toolName = 'look') => {
  return { role: 'tool', content, toolCallId: id, toolName };
};
const assistantWith = (content: string, ...toolCalls: readonly ToolCall[]) => {
  return { role: 'assistant', content, ...(toolCalls.length && { toolCalls }) };
};
const ofRound = (more: Partial<ChatParams> = {}, ...added: readonly object[]) => {
  return { messages: [{ role: 'user', content: 'hi' }, ...added], ...more };
};

t.test('a turn with tools of the daemon: its rounds, its deltas and its result', async (t) => {
  const look = described('look');
  const mine = described('mine');
  const first = call('a', 'look', { at: 1 });
  const text = (of: string) => ({ kind: 'text', text: of });
  const made = (toolCall: ToolCall) => ({ kind: 'toolCall', toolCall });
  const gave = (id: string, content: string, more: object = {}) => {
    return {
      kind: 'toolResult',
      toolResult: { id, name: 'look', server: 'files', content, isError: false, ...more },
    };
  };
  const rounds: readonly ScriptedRound[] = [
    { content: 'So. ', thinking: 'Hm.', calls: [first] },
    { content: 'Done.', usage: { promptTokens: 9, completionTokens: 5, contextLength: 4_096 } },
  ];
  const begun = { ...assistantWith('So. ', first), thinking: 'Hm.' };
  const result = answered('a', 'look {"at":1}');
  t.strictSame(await turnOf(rounds), {
    log: ['takes m tools', 'offer all beside '],
    asked: [ofRound({ tools: [look] }), ofRound({ tools: [look] }, begun, result)],
    deltas: [text('So. '), made(first), gave('a', 'look {"at":1}'), text('Done.')],
    result: {
      finishReason: 'stop',
      message: assistantWith('Done.'),
      messages: [begun, result, assistantWith('Done.')],
      usage: { promptTokens: 9, completionTokens: 8, contextLength: 4_096 },
      notices: [],
    },
  });

  const required = await turnOf(rounds, {
    params: { toolChoice: 'required', tools: [mine], hostedTools: ['files'], maxRounds: 5, think: true },
  });
  t.strictSame(
    [required.log, required.asked],
    [
      ['takes m tools', 'offer files beside mine'],
      [
        ofRound({ toolChoice: 'required', think: true, tools: [mine, look] }),
        ofRound({ think: true, tools: [mine, look] }, begun, result),
      ],
    ],
    'a call is required of the first round alone',
  );

  const without: readonly (readonly [
    what: string,
    TurnOptions,
    log: readonly string[],
    ChatParams['toolChoice']?,
  ])[] = [
    ['no server is entered', { has: false }, []],
    ['the client wants no tools', { params: { toolChoice: 'none' } }, [], 'none'],
    ['the model takes none', { takesTools: false }, ['takes m tools']],
    ['no server offers any', { offer: { tools: [] } }, ['takes m tools', 'offer all beside ']],
  ];
  for (const [what, options, log, toolChoice] of without) {
    const turn = await turnOf([{ content: 'Done.' }], options);
    t.strictSame([turn.log, turn.asked], [log, [ofRound(toolChoice && { toolChoice })]], what);
  }

  const client = [call('b', 'mine')];
  const mixed = await turnOf([{ calls: [first, ...client] }, { content: 'no more' }], {
    params: { tools: [mine] },
  });
  t.strictSame(mixed.deltas, [made(first), ...client.map(made), gave('a', 'look {"at":1}')]);
  t.match(mixed.result, {
    finishReason: 'toolCalls',
    message: assistantWith('', first, ...client),
    messages: [assistantWith('', first, ...client), result],
  });
  const own = await turnOf([{ calls: client }, { content: 'no more' }], { params: { tools: [mine] } });
  t.match(own.result, { finishReason: 'toolCalls', messages: [assistantWith('', ...client)] });
  t.strictSame(own.deltas, client.map(made), 'the client answers its own calls');

  const passed: unknown[] = [];
  const params = { streamId: 's', model: 'm', messages: [], maxRounds: 3 };
  const { signal } = new AbortController();
  const through = createToolLoop({
    chat: async (...given: unknown[]) => {
      passed.push(given);
      return { result: 'as it is' } as unknown as ChatResult;
    },
  } as unknown as Parameters<typeof createToolLoop>[0]);
  const send = async () => undefined;
  const runner = { server } as Runner;
  t.strictSame(await through(runner, params, send, signal), { result: 'as it is' });
  t.strictSame(passed, [[runner, params, send, signal]], 'without tools of the daemon, nothing is different');
});

t.test('a call that cannot be read is answered, and the model goes on', async (t) => {
  const refusal =
    'The arguments of this call are no JSON, so it was not run. Call it again, with one JSON object.';
  const round = { calls: [call('a')], unread: [call('a'), call('c', 'mine')] };
  const tools = [described('mine')];
  const { result, asked, deltas } = await turnOf([round, { content: 'So.' }], { params: { tools } });
  t.match(result, { finishReason: 'stop', message: { content: 'So.' } });
  t.notOk('unread' in Object(result));
  const answers = [answered('a', 'look {}'), answered('new-0', refusal)];
  t.strictSame(asked[1]?.messages?.slice(1), [assistantWith('', call('a'), call('new-0')), ...answers]);
  t.match(deltas.filter((one) => Object(one).kind === 'toolCall').length, 2);
  const alone = await turnOf([{ unread: [call('a', 'gone')] }, { content: 'So.' }]);
  t.match(alone.asked[1]?.messages?.at(-1), answered('a', refusal, 'gone'));
  const client = await turnOf([{ unread: [call('a', 'mine')] }], { params: { tools } });
  t.strictSame(Object.keys(Object(client.result)).includes('unread'), false);
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

t.test('the rounds of a turn are counted, and the last one has no tools', async (t) => {
  const endless = Array.from({ length: 200 }, (_, at) => ({ calls: [call(`c${at}`, 'look', { at })] }));
  const roundsOf = async (maxRounds?: number) => {
    const { asked, result } = await turnOf(endless, maxRounds === undefined ? {} : { params: { maxRounds } });
    const withTools = asked.filter(({ tools }) => tools !== undefined).length;
    return [
      asked.length,
      withTools,
      asked.at(-1)?.tools,
      result instanceof Error || (result as ChatResult).finishReason,
    ];
  };
  t.strictSame(await roundsOf(1), [2, 1, undefined, 'toolLimit']);
  t.strictSame(await roundsOf(), [41, 40, undefined, 'toolLimit']);
  t.strictSame(await roundsOf(201), [201, 200, undefined, 'toolLimit']);

  const refused = 'No more tools can be called in this turn. Answer with what is known.';
  const { result, deltas } = await turnOf(endless, { params: { maxRounds: 1 } });
  t.match(result, {
    message: assistantWith('', call('c1', 'look', { at: 1 })),
    messages: [
      assistantWith('', call('c0', 'look', { at: 0 })),
      answered('c0', 'look {"at":0}'),
      assistantWith('', call('c1', 'look', { at: 1 })),
      answered('c1', refused),
    ],
  });
  t.strictSame(deltas.at(-1), {
    kind: 'toolResult',
    toolResult: { id: 'c1', name: 'look', server: '', content: refused, isError: true },
  });
  const cut = await turnOf([...endless.slice(0, 1), { content: 'as', finishReason: 'cancelled' }], {
    params: { maxRounds: 1 },
  });
  t.match(cut.result, { finishReason: 'cancelled' }, 'also without tools');
  const stopped = await turnOf([{ content: 'as', finishReason: 'length' }]);
  t.match(stopped.result, { finishReason: 'length' });
});

/** A window of so many tokens, which the configuration has. */
const windowOf = (contextLength: number) =>
  createWindows({
    knowledge: new ModelCapabilities(),
    estimate: createTokenEstimate(),
    defaults: () => ({ contextLength, agentContext: 16_384 }),
  });

t.test('results are as long as the window allows, one and all of a round', async (t) => {
  const long = toolOf('look', {
    call: async () => ({ content: `begin${'x'.repeat(50_000)}end`, isError: false }),
  });
  for (const [window, calls, most] of [
    [8_192, 1, 8_192 / 5],
    [8_192, 3, 8_192 / 3],
    [32_768, 1, 32_768 / 5],
    [200_000, 1, 32_000 / 3.8 + 1],
  ] as const) {
    const round = { calls: Array.from({ length: calls }, (_, at) => call(`c${at}`, 'look', { at })) };
    const { asked } = await turnOf([round], { offer: { tools: [long] }, findWindow: windowOf(window) });
    const results = asked[1]?.messages?.filter(({ role }) => role === 'tool') ?? [];
    const size = results.reduce((sum, { content }) => sum + content.length, 0) / 3.8;
    t.ok(size <= most && size > most * 0.95, `${calls} in ${window}: ${size} of ${most}`);
    for (const { content } of results)
      t.match(content, /^\[[\d,]+ characters are left out after the first part\.\]\nbegin[\s\S]*end$/);
  }
});

t.test('old results are removed in one go, stay removed, and no prompt leaves its room', async (t) => {
  for (const window of [4_096, 8_192, 16_384]) {
    const rounds = Array.from({ length: 40 }, (_, at) => ({
      calls: [call(`c${at}`, 'look', { path: `src/${at}.ts`, text: 'y'.repeat(60) })],
      thinking: 'hm '.repeat(40),
    }));
    const looked = toolOf('look', {
      call: async ({ path }) => ({ content: `${path} ${'x'.repeat(5_000)}`, isError: false }),
    });
    const { asked, deltas, result } = await turnOf([...rounds, { content: 'Done.' }], {
      offer: { tools: [looked] },
      findWindow: windowOf(window),
    });
    t.match(result, { finishReason: 'toolLimit' });
    t.equal(asked.length, 41);
    const reserve = Math.max(1_024, window / 8);
    const sizes = asked.map(({ messages = [], tools = [] }) =>
      Math.ceil(promptSizeOf(messages, tools).characters / 3.8),
    );
    t.ok(Math.max(...sizes) <= window - reserve, `${Math.max(...sizes)} of ${window}`);
    const removed = asked.map(({ messages = [] }) =>
      messages.flatMap(({ content, toolCallId = '' }) =>
        /^\[removed to save room; call look/.test(content) ? [toolCallId] : [],
      ),
    );
    const gone = new Set<string>();
    let batches = 0;
    for (const [at, ids] of removed.entries()) {
      const sent = new Set(asked[at]?.messages?.map(({ toolCallId }) => toolCallId));
      t.ok(
        [...gone].every((id) => ids.includes(id) || !sent.has(id)),
        `round ${at}: what was removed stays so`,
      );
      if (ids.some((id) => !gone.has(id))) batches += 1;
      for (const id of ids) gone.add(id);
    }
    t.ok(gone.size > 20, `${gone.size} in ${batches} goes`);
    // In a small window, hardly more than the newest rounds has room.
    if (window > 4_096) t.ok(batches < gone.size);
    for (const { messages = [] } of asked)
      for (const { toolCalls = [] } of messages)
        for (const made of toolCalls)
          t.equal(String(made.arguments['text']).length, 60, 'calls are never shortened');
    const newest = asked.at(-1)?.messages?.at(-1)?.content ?? '';
    t.match(newest, /src\/39\.ts x/, 'the newest stays');
    t.equal(asked.at(-1)?.messages?.[0]?.content.startsWith('hi'), true, 'and the prompt');
    const notices = deltas.filter((delta) => Object(delta).notice?.code === 'results-removed');
    t.equal(notices.length, 1);
  }
});

t.test('what was removed in a turn is removed from the next one too', async (t) => {
  const findWindow = windowOf(8_192);
  const big = toolOf('look', {
    call: async ({ at }) => ({ content: `${at}${'x'.repeat(5_500)}`, isError: false }),
  });
  const turn = (messages: readonly Message[], rounds: readonly ScriptedRound[]) =>
    turnOf(rounds, { offer: { tools: [big] }, findWindow, params: { messages, session: 's1' } });
  const prompt = (content: string): Message => ({ role: 'user', content });
  const calls = Array.from({ length: 8 }, (_, at) => ({ calls: [call(`c${at}`, 'look', { at })] }));
  const first = await turn([prompt('one')], [...calls, { content: 'So.' }]);
  const { messages = [] } = first.result as ChatResult;
  t.equal(messages.filter(({ content }) => content.length > 2_000).length, 8, 'the record has everything');
  const marks = (sent: readonly Message[] = []) =>
    sent.filter(({ content }) => content.startsWith('[removed')).length;
  const second = await turn([prompt('one'), ...messages, prompt('two')], [{ content: 'Yes.' }]);
  t.ok(marks(second.asked[0]?.messages) >= marks(first.asked.at(-1)?.messages));
  t.ok(marks(first.asked.at(-1)?.messages) > 3);

  const said = (at: number) => [
    prompt(`prompt ${at} ${'p'.repeat(4_000)}`),
    { role: 'assistant', content: 'So.' } as const,
  ];
  const history = Array.from({ length: 8 }, (_, at) => said(at)).flat();
  const sent = (
    await turn([...history, prompt('now')], [{ calls: [call('z', 'look', { at: 1 })] }, { content: 'So.' }])
  ).asked;
  const whole =
    sent
      .at(-1)
      ?.messages?.map(({ content }) => content)
      .join('\n') ?? '';
  t.match(whole, /^\[Removed to save room: the user asked "prompt 0 p+/);
  t.match(whole, /prompt 7 p{4000}/, 'the newest stay');
  const shorter = (await turn([prompt('another')], [{ content: 'So.' }])).asked[0]?.messages;
  t.strictSame(shorter, [prompt('another')], 'a conversation that became shorter keeps its prompt');
});

t.test('whatever a conversation is, making room for it keeps its order and its newest prompt', async () => {
  const text = fc.integer({ min: 0, max: 3_000 }).map((length) => 'x'.repeat(length));
  const round = fc.record({ calls: fc.integer({ min: 1, max: 3 }), result: text, thinking: fc.option(text) });
  const turns = fc.array(
    fc.record({ prompt: text, rounds: fc.array(round, { maxLength: 6 }), answer: text }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(turns, fc.integer({ min: 500, max: 6_000 }), (all, high) => {
      let made = 0;
      const messages = all.flatMap(({ prompt, rounds, answer }): Message[] => [
        { role: 'user', content: prompt },
        ...rounds.flatMap(({ calls, result, thinking }): Message[] => {
          const toolCalls = Array.from({ length: calls }, () =>
            call(`c${made++}`, 'look', { path: 'src/a.ts' }),
          );
          const results = toolCalls.map(({ id }) => answered(id, result) as Message);
          return [
            { role: 'assistant', content: '', toolCalls, ...(thinking ? { thinking } : {}) },
            ...results,
          ];
        }),
        { role: 'assistant', content: answer },
      ]);
      const sizeOf = (sent: readonly Message[]) => promptSizeOf(sent, []).characters / 4;
      const removals = createRemovals();
      const room = { sizeOf, tokensOf: (characters: number) => characters / 4, high, low: high / 2 };
      makeRoom(messages, removals, room);
      const kept = withoutRemoved(messages, removals);
      // Every result has its call, and every call its results.
      const called = kept.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
      const given = kept.flatMap(({ toolCallId }) => toolCallId ?? []);
      const isPaired = JSON.stringify(called) === JSON.stringify(given);
      const newest = all.at(-1)?.prompt ?? '';
      const hasPrompt = kept.some(({ role, content }) => role === 'user' && content.startsWith(newest));
      const again = withoutRemoved(messages, removals);
      return isPaired && hasPrompt && JSON.stringify(again) === JSON.stringify(kept);
    }),
    { numRuns: 300 },
  );
});

t.test('a prompt that nothing can make shorter ends the turn with its figures', async (t) => {
  const rounds = [{ calls: [call('a', 'look', { text: 'x'.repeat(20_000) })] }];
  const { result } = await turnOf(rounds, { findWindow: windowOf(4_096) });
  t.match(result, { kind: 'context-exceeded', message: /holds 4096, although everything old was removed/ });
  t.equal((result as RunnerError).details.messages?.length, 2, 'what the turn has added goes with it');
});

t.test('the window of an agent is asked for, unless somebody has chosen one', async (t) => {
  const instructions = 'You work.';
  interface Case {
    readonly name: string;
    readonly maximum?: number;
    readonly allocated?: number;
    readonly modelfile?: number;
    readonly configured?: number;
    readonly agentContext?: number;
    readonly options?: Record<string, unknown>;
    readonly isFixed?: true;
    readonly want: readonly [asked: unknown, notice: string | undefined];
  }
  const cases: readonly Case[] = [
    { name: 'nobody has', want: [16_384, 'window-asked'] },
    { name: 'the user has another for agents', agentContext: 24_576, want: [24_576, 'window-asked'] },
    { name: 'a smaller maximum', maximum: 8_192, want: [8_192, 'window-asked'] },
    { name: 'a small window is loaded', allocated: 4_096, maximum: 32_768, want: [16_384, 'window-asked'] },
    { name: 'a large one is loaded', allocated: 32_768, maximum: 65_536, want: [32_768, undefined] },
    { name: 'the user asks', options: { num_ctx: 8_000 }, want: [8_000, undefined] },
    { name: 'the configuration says', configured: 12_000, want: [undefined, undefined] },
    { name: 'the Modelfile says', modelfile: 5_000, want: [undefined, 'window-small'] },
    { name: 'a fixed one', isFixed: true, allocated: 4_096, want: [undefined, 'window-small'] },
    { name: 'a fixed one that nobody knows', isFixed: true, want: [undefined, undefined] },
  ];
  const capabilities = (of: Case) => {
    const knowledge = new ModelCapabilities();
    const { maximum, allocated, modelfile } = of;
    const shown = {
      ...(maximum && { maximumContext: maximum }),
      ...(modelfile && { configuredContext: modelfile }),
    };
    knowledge.learnShown(server, 'm', { ...shown, system: 'Speak like a pirate.' });
    if (allocated) knowledge.learnRunning(server, [{ name: 'm', allocatedContext: allocated } as never]);
    return knowledge;
  };
  for (const each of cases) {
    const { name, configured, agentContext = 16_384, options, isFixed, allocated, want } = each;
    const findWindow: FindWindow = (runner, ...rest) => {
      const listed = allocated === undefined ? [] : [{ name: 'm', allocatedContext: allocated }];
      const facts = isFixed ? { hasFixedWindows: true } : {};
      return createWindows({
        knowledge: capabilities(each),
        estimate: createTokenEstimate(),
        defaults: () => ({ agentContext, ...(configured !== undefined && { contextLength: configured }) }),
      })({ ...runner, facts, running: async () => listed } as unknown as Runner, ...rest);
    };
    const messages: readonly Message[] = [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'hi' },
    ];
    const { asked, result } = await turnOf([{ content: 'So.' }], {
      offer: { instructions },
      findWindow,
      params: { messages, ...(options ? { options } : {}) },
    });
    t.equal(asked[0]?.options?.['num_ctx'], want[0], name);
    t.strictSame(
      (result as ChatResult).notices.map(({ code }) => code),
      want[1] ? [want[1]] : [],
      name,
    );
    const system = asked[0]?.messages?.filter(({ role }) => role === 'system').map(({ content }) => content);
    t.strictSame(
      system,
      [instructions, 'Speak like a pirate.', 'Be short.'],
      'ours, the model’s, the user’s',
    );
  }
  const tiny = await turnOf([{ content: 'So.' }], { offer: { instructions }, findWindow: windowOf(2_048) });
  t.match(tiny.result, {
    kind: 'context-exceeded',
    message: /3072 tokens at least.* Set a context length of 16384\./,
  });
  t.equal(tiny.asked.length, 0);
  const without = await turnOf([{ content: 'So.' }], { findWindow: windowOf(2_048) });
  t.match(without.result, { finishReason: 'stop' }, 'other tools work in any window');
  t.equal(without.asked[0]?.options, undefined);
});

t.test('rules take their share of the window and no more, whatever they are', async (t) => {
  const fence = '<rules of="project" file="A">\n';
  const part = (system: string, begin: string) => system.split(begin)[1]?.split('\n</rules>')[0] ?? '';
  const line = fc.stringMatching(/^[a-z .]{0,60}$/);
  const text = fc.array(line, { maxLength: 300 }).map((lines) => lines.join('\n').trim());
  await fc.assert(
    fc.asyncProperty(text, text, fc.integer({ min: 6_144, max: 60_000 }), async (own, of, window) => {
      const files = [
        { of: 'project', name: 'A', text: of },
        { of: 'user', name: '/u', text: own },
      ] as const;
      const offer = { instructions: 'You work.', rules: { files, notices: [] } };
      const { asked, result } = await turnOf([{ content: 'So.' }], { offer, findWindow: windowOf(window) });
      const system = asked[0]?.messages?.at(1)?.content ?? '';
      const room = Math.min(2_048, Math.floor(window / 16)) * 3.8;
      const shown = [part(system, fence), part(system, '<rules of="user">\n')];
      const codes = (result as ChatResult).notices.map(({ code }) => code);
      const whole = [of, own];
      t.ok(shown.join('').length <= room);
      t.strictSame(codes, shown.join('') === whole.join('') ? [] : ['rules-cut']);
      if (whole.join('').length <= room) t.strictSame(shown, whole, 'what fits is whole');
      for (const [at, each] of shown.entries()) {
        const kept = each.replace(/\n?\[The rest.*\]$/, '');
        t.ok(whole[at]?.startsWith(kept));
        if (each !== whole[at]) t.ok(kept.length > room / 4 - 100, 'as much as there is room for');
      }
    }),
    { numRuns: 60 },
  );
  const words = 'word '.repeat(5_000);
  const rules = { files: [{ of: 'project', name: 'A', text: words }], notices: [] } as const;
  const turn = { offer: { instructions: 'You work.', rules }, params: { session: 's' } };
  let counted = 3.8;
  const knowing = createWindows({
    knowledge: new ModelCapabilities(),
    estimate: { ...createTokenEstimate(), characters: (_, tokens) => tokens * counted },
    defaults: () => ({ contextLength: 8_192, agentContext: 16_384 }),
  });
  const before = await turnOf([{ content: 'So.' }], { ...turn, findWindow: knowing });
  counted = 3;
  const after = await turnOf([{ content: 'So.' }], { ...turn, findWindow: knowing });
  t.strictSame(after.asked[0]?.messages, before.asked[0]?.messages, 'the server has read them already');
  counted = 2;
  const other = await turnOf([{ content: 'So.' }], { ...turn, params: {}, findWindow: knowing });
  t.ok(String(other.asked[0]?.messages?.at(1)?.content).length < 512 * 2 + 200);
});

t.test('tools that take too much of the window are named, and then left out', async (t) => {
  const wide = (name: string, length: number) =>
    toolOf(name, { description: 'd'.repeat(length), server: name });
  const ours = toolOf('look', { server: 'builtin' });
  const offer = { tools: [ours, wide('files', 6_000), wide('git', 3_000)], instructions: 'You work.' };
  const some = await turnOf([{ content: 'So.' }], { offer, findWindow: windowOf(8_192) });
  t.match((some.result as ChatResult).notices, [
    { code: 'tools-too-large', message: /\(files 1\d+, git \d+, builtin \d+\)/ },
  ]);
  t.equal(some.asked[0]?.tools?.length, 3);
  const most = await turnOf([{ content: 'So.' }], { offer, findWindow: windowOf(4_096) });
  t.match((most.result as ChatResult).notices, [
    { code: 'window-small' },
    { message: /left out of this turn/ },
  ]);
  t.strictSame(
    most.asked[0]?.tools?.map(({ name }) => name),
    ['look'],
  );
});

t.test('calls that go round in circles end the turn', async (t) => {
  const long = 'x'.repeat(200);
  const same = (id: string, given: Record<string, unknown> = {}) => ({ calls: [call(id, 'look', given)] });
  const looked = (content: (given: Record<string, unknown>, times: number) => string, isError = false) => {
    let times = 0;
    return toolOf('look', { call: async (given) => ({ content: content(given, times++), isError }) });
  };
  const repeat = (length: number, round: (at: number) => ScriptedRound) =>
    Array.from({ length }, (_, at) => round(at));
  const unknown = (at: number) => ({ calls: [call(`u${at}`, 'nothing_such', { at })] });
  const cases: readonly {
    readonly name: string;
    readonly rounds: readonly ScriptedRound[];
    readonly tool: DaemonTool;
    readonly want: readonly [rounds: number, reason: FinishReason];
    readonly last?: RegExp;
  }[] = [
    {
      name: 'the same call',
      rounds: repeat(9, (at) => same(`c${at}`)),
      tool: looked(() => long),
      want: [5, 'toolLoop'],
      last: /^Do something else, or answer\.$/,
    },
    {
      name: 'the same call with other results',
      rounds: repeat(9, (at) => same(`c${at}`)),
      tool: looked((_, times) => `${long}${times}`),
      want: [10, 'stop'],
    },
    {
      name: 'two calls in turn',
      rounds: repeat(9, (at) => same(`c${at}`, { at: at % 2 })),
      tool: looked(({ at }) => `${at}${long}`),
      want: [7, 'toolLoop'],
    },
    {
      name: 'three calls in turn',
      rounds: repeat(9, (at) => same(`c${at}`, { at: at % 3 })),
      tool: looked(({ at }) => `${at}${long}`),
      want: [10, 'stop'],
    },
    {
      name: 'failures',
      rounds: repeat(9, (at) => same(`c${at}`, { at })),
      tool: looked(({ at }) => `No ${at}.`, true),
      want: [7, 'toolLoop'],
    },
    { name: 'unknown tools', rounds: repeat(9, unknown), tool: looked(() => ''), want: [4, 'toolLoop'] },
    {
      name: 'failures with a success between',
      rounds: repeat(9, (at) =>
        at % 4 === 3 ? { calls: [call(`w${at}`, 'work', { at })] } : same(`c${at}`, { at }),
      ),
      tool: looked(({ at }) => `No ${at}.`, true),
      want: [10, 'stop'],
    },
    {
      name: 'the same call twice in one answer',
      rounds: [
        { calls: repeat(6, (at) => ({ calls: [call(`c${at}`)] })).flatMap(({ calls = [] }) => calls) },
      ],
      tool: looked(() => long),
      want: [2, 'stop'],
    },
  ];
  for (const { name, rounds, tool, want, last } of cases) {
    const offer = { tools: [tool, toolOf('work')] };
    const { asked, result } = await turnOf([...rounds, { content: 'So.' }], { offer });
    t.strictSame([asked.length, (result as ChatResult).finishReason], want, name);
    if (want[1] === 'toolLoop') t.equal(asked.at(-1)?.tools, undefined, 'the last answer has no tools');
    const results = asked.at(-1)?.messages?.filter(({ role }) => role === 'tool') ?? [];
    if (last) t.match(results.at(-1)?.content, last);
    if (last) t.equal(results[1]?.content, 'Same call as before, same result; it stands above.');
  }
  const twice = await turnOf([same('a'), same('b'), { content: 'So.' }], {
    offer: { tools: [looked(() => long)] },
  });
  t.match(
    twice.deltas.filter((delta) => Object(delta).kind === 'toolResult'),
    [{}, { toolResult: { content: /^Same call/ } }],
  );
});

t.test('a call that the limit of tokens has cut is not run', async (t) => {
  const calls = [call('a', 'look', { at: 1 }), call('b', 'look', { at: 2 })];
  const usage = { promptTokens: 9, completionTokens: 2_048 };
  const cut = { calls, isCut: true, usage };
  const once = await turnOf([cut, { content: 'So.' }]);
  t.match(once.asked[1]?.messages?.slice(-2), [
    answered('a', 'look {"at":1}'),
    answered('b', 'The call was cut after 2,048 tokens. Make a smaller edit.'),
  ]);
  const again = { ...cut, calls: [call('c', 'look', { at: 3 })] };
  const twice = await turnOf([cut, again, { content: 'never' }]);
  t.match(twice.result, { finishReason: 'length' });
  t.equal(twice.asked.length, 2);
  const between = await turnOf([cut, { calls: [call('d')] }, again, { content: 'So.' }]);
  t.match(between.result, { finishReason: 'stop' });
});

t.test(
  'a tool is found under the names that models have for it, and the right one is said once',
  async (t) => {
    const look = toolOf('look', {
      otherNames: ['peek', 'glance'],
      asMeant: ({ where, ...given }) => ({ ...given, ...(where === undefined ? {} : { path: where }) }),
    });
    const questions: ApproveToolParams[] = [];
    const offer = { tools: [{ ...look, isApproved: async () => false }, toolOf('glance')] };
    const rounds = [
      { calls: [call('a', 'peek', { where: 'x' })] },
      { calls: [call('b', 'peek', { path: 'y' }), call('c', 'glance')] },
      { content: 'So.' },
    ];
    const askApproval: AskApproval = async (question) => {
      questions.push(question);
      return { decision: 'once' };
    };
    const { asked } = await turnOf(rounds, { offer, askApproval });
    t.strictSame(
      asked[2]?.messages?.filter(({ role }) => role === 'tool').map(({ content }) => content),
      ['[The tool is called look.]\nlook {"path":"x"}', 'look {"path":"y"}', 'glance {}'],
    );
    t.match(questions, [{ toolCall: { id: 'a', name: 'look', arguments: { path: 'x' } } }, {}]);
    t.match(
      asked[1]?.messages?.[1],
      { toolCalls: [call('a', 'peek', { where: 'x' })] },
      'its own call stays as it is',
    );
    const advised = await turnOf([{ calls: [call('a', 'bash')] }, { content: 'So.' }], {
      offer: { adviceOn: (name) => (name === 'bash' ? 'No command is run here.' : undefined) },
    });
    t.match(advised.asked[1]?.messages?.at(-1), answered('a', 'No command is run here.', 'bash'));
  },
);

t.test('a call that is asked anyway is asked although its tool is allowed', async (t) => {
  const ran: string[] = [];
  const tool = toolOf('look', {
    prepare: async ({ at }) => ({
      isAskedAnyway: at === 2,
      end: () => undefined,
      call: async () => {
        ran.push(String(at));
        return { content: `It ran ${at}.`, isError: false };
      },
    }),
  });
  const rounds = [
    { calls: [call('a', 'look', { at: 1 }), call('b', 'look', { at: 2 })] },
    { content: 'So.' },
  ];
  let questions = 0;
  const askApproval = async (): Promise<ApproveToolResult> => {
    questions += 1;
    return { decision: 'deny' };
  };
  await turnOf(rounds, { offer: { tools: [tool] }, askApproval });
  t.strictSame([questions, ran], [1, ['1']]);
  const { result } = await turnOf(rounds, { offer: { tools: [tool] } });
  t.match((result as ChatResult).messages?.at(2), {
    content: /is asked about this change in every mode, and nobody can be asked/,
  });
});

t.test('a text that repeats itself without end is noticed, and tables are not', (t) => {
  const sentence = 'The quick brown fox jumps over the lazy dog near the river bank. ';
  const isLooping = (text: string) => {
    const watch = createLoopWatch();
    for (let at = 0; at < text.length; at += 7) watch.add(text.slice(at, at + 7));
    return watch.isLooping;
  };
  const prose = Array.from(
    { length: 400 },
    (_, at) => `Line ${at} of a longer text that goes on and on.\n`,
  ).join('');
  t.equal(isLooping(prose + sentence.repeat(14)), true);
  t.equal(isLooping(sentence.repeat(9) + prose), false, 'nine times');
  t.equal(isLooping(prose), false);
  t.equal(isLooping(`${'-'.repeat(2_000)}\n${'0, '.repeat(1_000)}`), false, 'rows of short pieces');
  t.equal(isLooping('ha '.repeat(4_000)), true);
  t.end();
});

t.test('each notice of a turn is sent once, whichever round it comes from', async (t) => {
  const disabled = {
    code: 'tools-disabled',
    message: 'm does not support tools, so they were left out. Choose a model with tools to use them.',
  } as const;
  const [dropped, loading] = [
    { code: 'images-dropped', message: 'x' },
    { code: 'model-loading', message: 'y' },
  ] as const;
  const problems = [
    { message: 'one', advice: { code: 'log-in', problem: 'p', text: 't' } },
    { message: 'two' },
  ] as const;
  const notice = (of: Notice) => ({ kind: 'notice', notice: of });
  const blind = await turnOf([{ content: 'Done.', notices: [dropped, disabled] }], { takesTools: false });
  t.strictSame(blind.deltas, [notice(disabled), notice(dropped), { kind: 'text', text: 'Done.' }]);
  t.match(blind.result, { notices: [disabled, dropped] });
  const rounds = [{ calls: [call('a')], notices: [dropped] }, { notices: [dropped, loading] }];
  const { deltas, result } = await turnOf(rounds, { offer: { problems } });
  const all = [...problems.map((of) => ({ code: 'tools-unavailable', ...of }) as const), dropped, loading];
  t.strictSame(
    deltas.filter((delta) => 'notice' in (delta as object)),
    all.map(notice),
  );
  t.strictSame((result as ChatResult).notices, all);
});

t.test('every call of a turn has an id of its own', async (t) => {
  const history: readonly Message[] = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: '', toolCalls: [call('old'), call('new-0')] },
    { role: 'user', content: 'and?' },
  ];
  const rounds = [
    { calls: [call('fresh'), call('old'), call('fresh'), call('')] },
    { calls: [call('fresh')] },
    { content: 'Done.' },
  ];
  const { deltas, result } = await turnOf(rounds, { params: { messages: history } });
  const { messages = [] } = result as ChatResult;
  const made = deltas.flatMap((delta) =>
    'toolCall' in (delta as object) ? (delta as { toolCall: ToolCall }).toolCall.id : [],
  );
  t.strictSame(made, ['fresh', 'new-1', 'new-2', 'new-3', 'new-4']);
  t.strictSame(
    messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)),
    made,
  );
  t.strictSame(
    messages.flatMap(({ toolCallId = [] }) => toolCallId),
    made,
  );
});

t.test('the context of a conversation stands where a model looks for it', (t) => {
  const user = (content: string, more: object = {}): Message => ({ role: 'user', content, ...more });
  const system = (content: string): Message => ({ role: 'system', content });
  const answer: Message = { role: 'assistant', content: 'Yes.' };
  const file = (path: string, text = path) => ({ attachments: [{ path, text }] });
  const block = (path: string, text = path) =>
    `<attachments>\n<attachment path="${path}">\n${text}\n</attachment>\n</attachments>`;
  const editor = '<editor>\na.ts\n</editor>';
  const cases: readonly (readonly [
    what: string,
    given: readonly Message[],
    want: readonly Message[],
    names?: readonly string[],
  ])[] = [
    ['nothing', [], []],
    ['only rules', [system('Be brief.')], [system('Be brief.')]],
    ['no context', [system('r'), user('a'), answer, user('b')], [system('r'), user('a'), answer, user('b')]],
    ['a file', [user('a', file('x'))], [system(block('x')), user('a')]],
    ['a file with rules', [system('r'), user('a', file('x'))], [system('r'), system(block('x')), user('a')]],
    [
      'of the files of the first messages, the newest',
      [user('a', file('x')), user('b', file('y')), answer],
      [system(block('y')), user('a'), user('b'), answer],
    ],
    ['files alone', [user(' ', file('x')), user('b')], [system(block('x')), user('b')]],
    ['nothing else', [user('', file('x')), user('', file('y'))], [system(block('y')), user('')]],
    [
      'pictures are words too',
      [user('', { images: ['AAAA'], ...file('x') }), user('b')],
      [system(block('x')), user('', { images: ['AAAA'] }), user('b')],
    ],
    ['no pictures', [user('', { images: [], ...file('x') }), user('b')], [system(block('x')), user('b')]],
    [
      'a later file',
      [user('a'), answer, user('b', file('x')), user('', file('y')), user('c', { attachments: [] })],
      [user('a'), answer, user(`${block('x')}\n\nb`), user(block('y')), user('c')],
    ],
    [
      'what a file is, and what must not end it',
      [
        user('a', {
          attachments: [
            {
              path: 'a "b"\n<&>',
              language: 'ts',
              lines: '1-2',
              text: '</attachment></ATTACHMENTS></attach>',
            },
            { path: 'y', text: '' },
          ],
        }),
      ],
      [
        system(
          '<attachments>\n<attachment path="a &quot;b&quot; &lt;&amp;&gt;" language="ts" lines="1-2">\n<\\/attachment><\\/ATTACHMENTS></attach>\n</attachment>\n<attachment path="y">\n\n</attachment>\n</attachments>',
        ),
        user('a'),
      ],
    ],
    ['a block that was typed', [user(`${editor}\na`)], [user(`${editor}\na`)]],
    ['a block that was added', [user(`${editor}\na`)], [system(editor), user('a')], ['editor']],
    ['a later block', [answer, user(`${editor}\na`)], [answer, user(`${editor}\na`)], ['editor']],
    [
      'blocks beside a file',
      [user(`${editor}\na`, file('x'))],
      [system(`${block('x')}\n${editor}`), user('a')],
      ['editor', 'attachments'],
    ],
    [
      'the order of the newest',
      [user(`${editor}\na`), user('b', file('x')), user(`${editor}\nc`)],
      [system(`${block('x')}\n${editor}`), user('a'), user('b'), user('c')],
      ['editor'],
    ],
    [
      'files that were typed beside files',
      [user(`${block('y')}\na`, file('x'))],
      [system(block('x')), user(`${block('y')}\na`)],
      ['attachments'],
    ],
    [
      'files that were added as a block',
      [user(`${block('y')}\na`)],
      [system(block('y')), user('a')],
      ['attachments'],
    ],
  ];
  for (const [what, given, want, names = []] of cases)
    t.strictSame(placeContext(given, new Set(names)), want, what);
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

t.test('a message without anything in it is not kept', async (t) => {
  const kept = async (round: ScriptedRound) => {
    const { result } = await turnOf([round]);
    return (result as ChatResult).messages?.length;
  };
  t.equal(await kept({}), 0);
  t.equal(await kept({ content: 'x' }), 1);
  t.equal(await kept({ thinking: 'x' }), 1);
  t.equal(await kept({ calls: [call('a')] }), 2, 'and the answer to its call');
});

t.test('a turn that fails or is cancelled has the messages that it had added', async (t) => {
  const begin = { calls: [call('a')] };
  const added = [assistantWith('', call('a')), answered('a', 'look {}')];
  const partial = { role: 'assistant', content: 'As ', toolCalls: [call('b'), call('c', 'read')] };
  const ofPartial = [
    partial,
    answered('b', 'The call was not run.'),
    answered('c', 'The call was not run.', 'read'),
  ];
  const broken = (details: ErrorDetails = {}) => new RunnerError('runner-failed', 'broken', { details });
  const detailsOf = async (...rounds: readonly ScriptedRound[]) => {
    const { result } = await turnOf(rounds);
    return result instanceof RunnerError ? result.details : result;
  };
  t.strictSame(await detailsOf({ fails: broken() }), {}, 'nothing had come');
  t.strictSame(await detailsOf(begin, { fails: broken() }), { messages: added });
  t.strictSame(await detailsOf({ fails: broken({ partial }) }), { partial, messages: ofPartial });
  t.strictSame(await detailsOf(begin, { fails: broken({ partial }) }), {
    partial,
    messages: [...added, ...ofPartial],
  });
  const other = new Error('other');
  t.equal(await detailsOf(begin, { fails: other }), other);
  t.equal((await turnOf([], { offer: other })).result, other);

  const notice = { code: 'images-dropped', message: 'x' } as const;
  const withNotice = { ...begin, content: 'So.', notices: [notice] };
  const problems = [{ message: 'It does not start.' }];
  const gone: readonly (readonly [ChatDelta['kind'], ScriptedRound, TurnOptions?])[] = [
    ['notice', withNotice],
    ['notice', begin, { takesTools: false }],
    ['notice', begin, { offer: { problems } }],
    ['text', withNotice],
    ['toolCall', begin],
    ['toolResult', begin],
  ];
  for (const [goneAt, round, options] of gone)
    t.equal(
      (await turnOf([round], { goneAt, ...options })).result,
      failure,
      `a client is gone at its ${goneAt}`,
    );

  const nothing = {
    ...{ finishReason: 'cancelled', message: assistantWith(''), messages: [], notices: [] },
    usage: { promptTokens: 0, completionTokens: 0 },
  };
  const early = await turnOf([], { offer: other, signal: AbortSignal.abort() });
  t.strictSame([early.result, early.asked, early.deltas], [nothing, [], []]);
  const caller = new AbortController();
  const late = await turnOf([begin, { content: 'no more' }], {
    signal: caller.signal,
    onRound: () => caller.abort(),
  });
  t.match(late.result, {
    finishReason: 'cancelled',
    message: assistantWith('', call('a')),
    messages: [assistantWith('', call('a')), answered('a', 'The call was cancelled.')],
  });
  t.equal(late.asked.length, 1);
  const quiet = await turnOf([{ content: 'So', finishReason: 'cancelled' }, { content: 'no more' }]);
  t.match(quiet.result, { finishReason: 'cancelled', messages: [assistantWith('So')] });
  const cut = await turnOf([{ ...begin, finishReason: 'cancelled' }, { content: 'no more' }]);
  t.match(cut.result, { finishReason: 'cancelled', messages: added });
});

/** Runs calls with a log of all that happens. */
async function runAll(calls: readonly ToolCall[], options: Partial<ToolRunOptions> = {}) {
  const log: string[] = [];
  const answers = await runCalls(calls, {
    ...{ tools: [], streamId: 's', signal: new AbortController().signal },
    onResult: async ({ id, ...result }) => void log.push(`${id}: ${JSON.stringify(result)}`),
    onDidAllow: async ({ id }) => void log.push(`${id} is allowed`),
    ...options,
  });
  return { answers, log };
}

const failedCall = (content: string, more: object = { server: 'files' }) =>
  JSON.stringify({ name: 'look', ...more, content, isError: true });

t.test('a call that cannot run has an answer that says why', async (t) => {
  const named = (count: number) => Array.from({ length: count }, (_, at) => toolOf(`t${at}`));
  const first20 = named(20)
    .map(({ name }) => name)
    .join(', ');
  const unknown = `There is no tool "${'x'.repeat(64)}".`;
  const problems: readonly (readonly [what: string, Partial<ToolRunOptions>, want: string])[] = [
    ['no tools', {}, `${unknown} There are no tools now.`],
    ['one', { tools: named(1) }, `${unknown} The tools are: t0.`],
    ['twenty', { tools: named(20) }, `${unknown} The tools are: ${first20}.`],
    ['more', { tools: named(21) }, `${unknown} The tools are: ${first20} and more.`],
  ];
  for (const [what, options, content] of problems) {
    const name = 'x'.repeat(65);
    const { answers, log } = await runAll([call('a', name)], options);
    t.strictSame(answers, [answered('a', content, name)], what);
    t.strictSame(log, [`a: ${JSON.stringify({ name, server: '', content, isError: true })}`], what);
  }
  const cases: readonly (readonly [content: string, Partial<DaemonTool>, Partial<ToolRunOptions>?])[] = [
    [
      'Its argument is wrong.',
      { problemWith: ({ at }) => (at === 1 ? 'Its argument is wrong.' : undefined) },
    ],
    [
      'The call failed: broken',
      {
        call: async () => {
          throw failure;
        },
      },
    ],
    [
      'The call failed: broken',
      {
        isApproved: async () => {
          throw failure;
        },
      },
    ],
    [
      'The call failed: broken',
      {
        prepare: async () => {
          throw failure;
        },
      },
    ],
    [
      'The call failed: broken',
      {},
      {
        onDidAllow: async () => {
          throw failure;
        },
      },
    ],
    [
      'It is not there.',
      {
        prepare: async () => ({
          problem: 'It is not there.',
          call: async () => ({ content: '', isError: false }),
          end: () => undefined,
        }),
      },
    ],
    ['The call was cancelled.', {}, { signal: AbortSignal.abort() }],
    ['The call was cancelled.', { problemWith: () => 'wrong' }, { signal: AbortSignal.abort() }],
  ];
  for (const [content, more, options] of cases) {
    const { answers, log } = await runAll([call('a', 'look', { at: 1 })], {
      tools: [toolOf('look', more)],
      ...options,
    });
    t.strictSame(answers, [answered('a', content)], content);
    t.strictSame(log.slice(-1), [`a: ${failedCall(content)}`], content);
    t.equal(standsForResult(content), content === 'The call was cancelled.', content);
  }
  const many = await runAll(
    Array.from({ length: 33 }, (_, at) => call(`${at}`)),
    { tools: [toolOf('look')] },
  );
  t.strictSame(many.answers.slice(31), [
    answered('31', 'look {}'),
    answered('32', 'Only the first 32 calls of an answer are run. Call fewer tools at once.'),
  ]);
});

t.test('a call runs once it is approved, or as its user answers', async (t) => {
  const asked: unknown[] = [];
  const log: string[] = [];
  const about = { title: 'Look', annotations: { readOnlyHint: true } };
  const toolWith = (more: Partial<DaemonTool> = {}) =>
    toolOf('look', {
      ...about,
      isApproved: async () => false,
      async allow(decision) {
        await nextTurn();
        log.push(`allowed: ${decision}`);
      },
      ...more,
    });
  const answer = async (decision: unknown, more: Partial<DaemonTool> = {}) => {
    asked.length = log.length = 0;
    const askApproval = async (question: unknown) => {
      asked.push(question);
      if (decision instanceof Error) throw decision;
      return { decision } as ApproveToolResult;
    };
    const ran = await runAll([call('a')], { tools: [toolWith(more)], askApproval });
    return [...log, ...ran.log];
  };
  const ran = `a: ${JSON.stringify({ name: 'look', server: 'files', content: 'look {}', isError: false })}`;
  const denied = `a: ${failedCall('The user did not allow the call of look. Go on without it.')}`;
  t.strictSame(await answer('once'), ['a is allowed', ran]);
  const question = {
    streamId: 's',
    toolCall: call('a'),
    server: 'files',
    description: 'Does look',
    ...about,
  };
  t.strictSame(asked, [question]);
  t.strictSame(await answer('session'), ['allowed: session', 'a is allowed', ran]);
  t.strictSame(await answer('always'), ['allowed: always', 'a is allowed', ran]);
  t.strictSame(await answer('deny'), [denied]);
  t.strictSame(await answer(failure), [denied]);
  t.strictSame(await answer('always', { decisions: ['once', 'deny'] }), [denied], 'nobody offered that');
  t.strictSame(asked, [{ ...question, decisions: ['once', 'deny'] }]);
  t.strictSame(await answer('once', { decisions: ['once', 'deny'] }), ['a is allowed', ran]);
  t.ok(standsForResult('The user did not allow the call of look. Go on without it.'));
  t.notOk(standsForResult('The user did not allow the call'));

  const diff: FileDiff = { path: '/a', name: 'a', after: 'y', unified: '+y' };
  const prepared = (more: object = {}) => ({
    prepare: async (given: unknown) => {
      log.push(`prepared ${JSON.stringify(given)}`);
      return {
        ...{ diff, end: () => log.push('ended') },
        call: async () => ({ content: 'as prepared', isError: false, images: ['AAAA'] }),
        ...more,
      };
    },
  });
  const withImage = {
    name: 'look',
    server: 'files',
    content: 'as prepared',
    isError: false,
    images: ['AAAA'],
  };
  t.strictSame(await answer('once', prepared()), [
    ...['prepared {}', 'ended', 'a is allowed', `a: ${JSON.stringify(withImage)}`],
  ]);
  t.strictSame(asked, [{ ...question, diff }]);
  t.strictSame(await answer('deny', prepared()), ['prepared {}', 'ended', denied]);
  t.strictSame(await answer('once', prepared({ problem: 'It is not there.' })), [
    'prepared {}',
    `a: ${failedCall('It is not there.')}`,
  ]);
  t.strictSame(asked, [], 'nobody is asked about what cannot run');
  const images = await runAll([call('a')], { tools: [toolOf('look', prepared())] });
  t.strictSame(images.answers, [{ ...answered('a', 'as prepared'), images: ['AAAA'] }]);

  const unasked = await runAll([call('a')], { tools: [toolWith()] });
  const content =
    'The tool look is not allowed here, and nobody can be asked. Go on without it, and say that the user may allow it.';
  t.strictSame(unasked.log, [
    `a: ${JSON.stringify({ name: 'look', server: 'files', content, isError: true, unapprovedTool: 'own-look' })}`,
  ]);
});

t.test('one question is open at a time, and its answer may settle the next', async (t) => {
  const asked: string[] = [];
  let isAllowed = false;
  let open = 0;
  const askApproval: AskApproval = async ({ toolCall }) => {
    asked.push(toolCall.id);
    t.equal(++open, 1, 'only one is open');
    await nextTurn();
    open--;
    return { decision: toolCall.id === 'a' ? 'once' : 'session' };
  };
  const tool = toolOf('look', {
    isApproved: async () => isAllowed,
    allow: async () => {
      isAllowed = true;
    },
  });
  const { answers } = await runAll(
    ['a', 'b', 'c'].map((id) => call(id)),
    { tools: [tool], askApproval },
  );
  t.strictSame(asked, ['a', 'b']);
  t.strictSame(
    answers,
    ['a', 'b', 'c'].map((id) => answered(id, 'look {}')),
  );

  const caller = new AbortController();
  let checks = 0;
  const unapproved = async () => {
    checks += 1;
    return false;
  };
  const stopped = await runAll([call('a'), call('b')], {
    tools: [toolOf('look', { isApproved: unapproved })],
    signal: caller.signal,
    askApproval: async ({ toolCall }) => {
      asked.push(`${toolCall.id} again`);
      caller.abort();
      return { decision: 'once' };
    },
  });
  t.strictSame(asked.slice(2), ['a again']);
  t.strictSame(
    stopped.answers,
    ['a', 'b'].map((id) => answered(id, 'The call was cancelled.')),
  );
  t.equal(checks, 3, 'nothing is looked up for the second one any more');

  const sudden = new AbortController();
  const looked: unknown[] = [];
  const ended = await runAll([call('a')], {
    tools: [
      toolOf('look', {
        async isApproved() {
          // The second look is right before the question.
          if (looked.push('up') === 2) sudden.abort();
          return false;
        },
        async prepare() {
          looked.push('into');
          return undefined;
        },
      }),
    ],
    signal: sudden.signal,
    askApproval,
  });
  t.strictSame(looked, ['up', 'up']);
  t.strictSame(ended.answers, [answered('a', 'The call was cancelled.')]);
});

t.test('a call reports its progress as fast as its client takes it, and may ask', async (t) => {
  const sent: unknown[] = [];
  let take: () => void = () => undefined;
  const progress = (n: number) => ({ progress: n });
  const tool = toolOf('look', {
    async call(_, signal, { onProgress, elicit } = {}) {
      onProgress?.(progress(1));
      onProgress?.(progress(2));
      onProgress?.(progress(3));
      t.strictSame(sent, [{ streamId: 's', id: 'a', progress: 1 }], 'the others wait');
      take();
      await nextTurn();
      take();
      await nextTurn();
      onProgress?.(progress(4));
      const said = await elicit?.(
        { server: 'files', message: 'Which?' } as Parameters<typeof elicit>[0],
        signal,
      );
      return { content: JSON.stringify(said ?? 'nobody is asked'), isError: false };
    },
  });
  const onProgress = (one: unknown) => {
    sent.push(one);
    return new Promise<void>((resolve) => (take = resolve));
  };
  const askElicitation: AskElicitation = async (question, _, id) => {
    return { action: 'accept', content: { question: JSON.stringify(question), id } };
  };
  const { answers } = await runAll([call('a')], { tools: [tool], onProgress, askElicitation });
  t.strictSame(
    sent,
    [1, 3, 4].map((n) => ({ streamId: 's', id: 'a', progress: n })),
    'of those that wait, the newest',
  );
  const asked = JSON.stringify({ streamId: 's', server: 'files', message: 'Which?' });
  t.match(answers, [
    { content: JSON.stringify({ action: 'accept', content: { question: asked, id: 'a' } }) },
  ]);
  const gone = {
    tools: [
      toolOf('look', {
        call: async (_, __, { onProgress: report, elicit } = {}) => {
          report?.(progress(1));
          await nextTurn();
          return { content: `${elicit}`, isError: false };
        },
      }),
    ],
  };
  t.match((await runAll([call('a')], gone)).answers, [{ content: 'undefined' }], 'nobody listens');
  const failing = {
    ...gone,
    onProgress: async () => {
      throw failure;
    },
  };
  t.match((await runAll([call('a')], failing)).answers, [{ content: 'undefined' }], 'the client is gone');
});
