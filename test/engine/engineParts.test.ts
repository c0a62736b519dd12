import { EventEmitter, once } from 'node:events';
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { mock } from 'node:test';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { chatForm, completionForm, infillForm } from '../../daemon/engine/process/answers.ts';
import { answerTask } from '../../daemon/engine/process/answerTask.ts';
import { ChatPrompts } from '../../daemon/engine/process/chatPrompt.ts';
import {
  type LoadedModel,
  NativeModel,
  type NativeModelOptions,
} from '../../daemon/engine/process/engineModel.ts';
import { AnswerText, generate, requireFit, type Tally } from '../../daemon/engine/process/generation.ts';
import { grammarState, mustCall } from '../../daemon/engine/process/grammars.ts';
import type {
  EvaluateOptions,
  NativeLibrary,
  NativeModelHandle,
  Sequence,
  Token,
} from '../../daemon/engine/process/library.ts';
import { factsOf, type ModelFacts } from '../../daemon/engine/process/modelFacts.ts';
import { PromptTokens } from '../../daemon/engine/process/promptTokens.ts';
import { ApiError, bodies, type Generating, parseBody } from '../../daemon/engine/process/requests.ts';
import { createRoutes } from '../../daemon/engine/process/routes.ts';
import { listen } from '../../daemon/engine/process/server.ts';
import { readCompletion, readConversation, readInfill } from '../../daemon/engine/process/tasks.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

/** Each byte is a token, as far as text is concerned. */
const bytes = { detokenize: (tokens: readonly Token[]) => Buffer.from(tokens).toString('utf8') };

function piecesOf(text: string, stops: readonly string[]) {
  const answer = new AnswerText(bytes, [], stops);
  const pieces: string[] = [];
  for (const byte of Buffer.from(text)) {
    pieces.push(answer.push(byte));
    if (answer.isStopped) break;
  }
  return { pieces: [...pieces, answer.end()], isStopped: answer.isStopped };
}

t.test(
  'an answer stops before a text at which it must stop, and withholds no more than its beginning',
  async (t) => {
    const cases = [
      { text: 'plain', stops: [], want: 'plain' },
      { text: 'one END two', stops: ['END'], want: 'one ' },
      { text: 'one EN', stops: ['END'], want: 'one EN' },
      { text: 'aab', stops: ['ab'], want: 'a' },
      { text: 'a\n\nb', stops: ['\n\n', 'b'], want: 'a' },
      { text: 'grüße 👋🏽 €', stops: [''], want: 'grüße 👋🏽 €' },
    ];
    for (const { text, stops, want } of cases) {
      const { pieces, isStopped } = piecesOf(text, stops);
      t.equal(pieces.join(''), want, text);
      t.equal(isStopped, want !== text);
      t.notMatch(pieces.join('|'), '\u{FFFD}', 'no half character is sent');
    }
    const few = fc.string({ unit: fc.constantFrom('a', 'b', 'ü'), maxLength: 20 });
    fc.assert(
      fc.property(
        few,
        fc.string({ unit: fc.constantFrom('a', 'b', 'ü'), minLength: 1, maxLength: 3 }),
        (text, stop) => {
          const at = text.indexOf(stop);
          return piecesOf(text, [stop]).pieces.join('') === (at < 0 ? text : text.slice(0, at));
        },
      ),
    );
  },
);

const controls = ['<|im_start|>', '<|im_end|>', '<s>', '[INST]', '<unk>'];
const firstControl = 0x11_0000;

/** A vocabulary of characters and control tokens. */
const tokenizer = {
  vocabularyType: 'bpe',
  tokens: { bos: firstControl + 2, shouldPrependBosToken: true },
  iterateAllTokens: () => [...controls.keys()].map((index) => firstControl + index),
  getTokenAttributes: (token: Token) => ({
    control: token < firstControl + 4,
    unknown: token === firstControl + 4,
  }),
  detokenize: (tokens: readonly Token[]) => tokens.map(textOf).join(''),
  tokenize(text: string, special: boolean): Token[] {
    const parts = special ? text.split(/(<\|im_start\|>|<\|im_end\|>|<s>|\[INST\]|<unk>)/) : [text];
    return parts.flatMap((part) => {
      const index = controls.indexOf(part);
      return special && index >= 0
        ? [firstControl + index]
        : [...part].map((unit) => unit.codePointAt(0) ?? 0);
    });
  },
};

function textOf(token: Token): string {
  return controls[token - firstControl] ?? String.fromCodePoint(token);
}

t.test('what people write never becomes a control token', async (t) => {
  const tokens = new PromptTokens(tokenizer);
  /** What templates do: they trim, cut at marks, write JSON, and in capitals. */
  const templates: Readonly<Record<string, (content: string) => string>> = {
    plain: (content) => `<|im_start|>user\n${content}<|im_end|>`,
    trimmed: (content) => `[INST]${content.trim()}[INST]`,
    twice: (content) => `<s>${content}${content.split('</think>').at(-1)}<|im_end|>`,
    json: (content) => `<s>${JSON.stringify({ [content]: [content] })}`,
    capitals: (content) => `<s>${content.toUpperCase()}`,
    ascii: (content) => `<s>${content.replace(/[^ -~]/g, '?')}`,
    completing: (content) => `<s>${content}start|>`,
  };
  const count = (list: readonly Token[]) => list.filter((token) => token >= firstControl).length;
  const part = fc.constantFrom(...controls, '<|im_', 'start|>', 'end|>', '<', '[', ' ', '\n', 'a', '"', 'ü');
  for (const [name, template] of Object.entries(templates))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const content = parts.join('');
        const { tokens: found, text } = tokens.write(() => template(tokens.protect(content)));
        const own = count(tokens.withBeginning(tokenizer.tokenize(template(''), true)));
        if (name !== 'capitals' && name !== 'ascii')
          t.equal(text, name === 'json' ? text : template(content));
        return count(found) === own;
      }),
    );
  const value = { name: '<s>', list: ['[INST]', 1, null], '<|im_end|>': { deep: '<unk>' } };
  const { tokens: found, text } = tokens.write(() => JSON.stringify(tokens.protectAll(value)));
  t.same(JSON.parse(text), value, 'nothing else is changed');
  t.equal(count(found), 1, 'only the beginning of the text');
});

t.test('a text without control tokens is tokenized in one piece', async (t) => {
  const seen: string[] = [];
  const tokens = new PromptTokens({
    ...tokenizer,
    tokenize: (text, special) => {
      seen.push(text);
      return tokenizer.tokenize(text, special);
    },
  });
  tokens.write(() => `<s>${tokens.protect('if (a < b) [x] = y')}<|im_end|>`);
  t.same(seen, ['<s>if (a < b) [x] = y<|im_end|>']);
});

t.test('a body is read, or refused with its first mistake', async (t) => {
  const user = { role: 'user', content: 'hi' };
  const cases: readonly (readonly [keyof typeof bodies, unknown, RegExp])[] = [
    ['chat', {}, /"messages" is not valid/],
    ['chat', { messages: [] }, /there is no message/],
    ['chat', { messages: [{ role: '|>', content: 'x' }] }, /"messages\[0\]\.role"/],
    ['chat', { messages: [{ role: 'user', content: 1 }] }, /neither a text nor a list/],
    ['chat', { messages: [user], stream: 'yes' }, /"stream"/],
    ['chat', { messages: [user], stop: 5 }, /"stop" .*neither a text nor a list of texts/],
    ['chat', { messages: [user], tools: [{ type: 'function', function: {} }] }, /tools\[0\]\.function\.name/],
    ['chat', { messages: [user], tool_choice: 'sometimes' }, /"tool_choice"/],
    ['completion', { prompt: [1, true] }, /"prompt"/],
    ['infill', { input_prefix: '' }, /"input_suffix"/],
    ['tokenize', {}, /"content"/],
  ];
  for (const [name, body, message] of cases)
    t.throws(() => parseBody(bodies[name], JSON.stringify(body)), { status: 400, message });
  t.throws(() => parseBody(bodies.chat, '{'), { status: 400, message: 'The body is not JSON.' });
  t.throws(() => parseBody(bodies.chat, '['.repeat(100_000)), { status: 400, message: /nested too deep/ });
  const nulls = {
    messages: [{ ...user, tool_calls: null }],
    stop: null,
    seed: null,
    max_tokens: null,
    tools: null,
  };
  t.match(parseBody(bodies.chat, JSON.stringify(nulls)), { messages: [user] }, 'null counts as absent');
});

t.test('which tools must be called', async (t) => {
  const [a, b] = ['a', 'b'].map((name) => ({ type: 'function' as const, function: { name } }));
  if (!a || !b) throw new Error('There are two.');
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const chosen = (choice: unknown) =>
    mustCall({ messages, tools: [a, b], tool_choice: choice } as Parameters<typeof mustCall>[0]);
  t.same(chosen(undefined), []);
  t.same(chosen('auto'), []);
  t.same(chosen('none'), []);
  t.same(chosen('required'), [a, b]);
  t.same(chosen({ type: 'function', function: { name: 'b' } }), [b]);
});

/** A sequence that answers with the same letter for ever, and keeps what it evaluated. */
function sequenceOf(kept: readonly Token[] = []) {
  const batches: number[] = [];
  const asked: EvaluateOptions[] = [];
  let state = [...kept];
  const evaluated = (tokens: readonly Token[]) => {
    batches.push(tokens.length);
    state.push(...tokens);
  };
  const sequence: Sequence = {
    get nextTokenIndex() {
      return state.length;
    },
    get contextTokens() {
      return state;
    },
    needsCheckpoints: false,
    takeCheckpoint: async () => undefined,
    async adaptStateToTokens(tokens) {
      const different = state.findIndex((token, index) => token !== tokens[index]);
      if (different >= 0) state = state.slice(0, different);
    },
    evaluateWithoutGeneratingNewTokens: async (tokens) => evaluated(tokens),
    async *evaluate(tokens: readonly Token[], options: EvaluateOptions) {
      evaluated(tokens);
      asked.push(options);
      for (;;) yield 97;
    },
  };
  return { sequence, batches, asked };
}

t.test(
  'a prompt is read in batches, from where it differs, and an answer ends with the window',
  async (t) => {
    const prompt = Array.from({ length: 300 }, (_, index) => index % 90);
    const cases = [
      {
        body: {},
        window: 310,
        kept: [],
        want: { text: 'a'.repeat(10), cached: 0, batches: [64, 64, 64, 64, 44] },
      },
      {
        body: { max_tokens: 3 },
        window: 999,
        kept: [],
        want: { text: 'aaa', cached: 0, batches: [64, 64, 64, 64, 44] },
      },
      { body: { n_predict: 50 }, window: 302, kept: prompt, want: { text: 'aa', cached: 299, batches: [1] } },
      {
        body: { max_tokens: 1 },
        window: 999,
        kept: [...prompt.slice(0, 200), 1, 2],
        want: { text: 'a', cached: 200, batches: [64, 36] },
      },
      { body: { n_predict: 0 }, window: 999, kept: [], want: { text: '', cached: 0, batches: [] } },
    ];
    for (const { body, window, kept, want } of cases) {
      const { sequence, batches } = sequenceOf(kept);
      const signal = new AbortController().signal;
      const model = bytes as unknown as NativeModelHandle;
      const answer = generate(prompt, {
        model,
        sequence,
        window,
        body,
        stops: [],
        grammarState: undefined,
        signal,
      });
      let text = '';
      let next = await answer.next();
      for (; !next.done; next = await answer.next()) text += next.value;
      t.equal(text, want.text);
      t.same(batches, want.batches);
      const length = want.text.length;
      t.match(next.value, {
        promptTokens: 300,
        cachedTokens: want.cached,
        completionTokens: length,
        end: 'limit',
      });
    }
  },
);

t.test('what a request does not ask for is sampled as llama.cpp does', async (t) => {
  const sampled = async (body: Generating) => {
    const { sequence, asked } = sequenceOf();
    const prompt = Array.from({ length: 100 }, (_, index) => index);
    const model = bytes as unknown as NativeModelHandle;
    const signal = new AbortController().signal;
    const options = { model, sequence, window: 200, body, stops: [], grammarState: undefined, signal };
    await generate(prompt, options).next();
    const [{ repeatPenalty, ...rest } = {}] = asked;
    return { ...rest, ...repeatPenalty } as EvaluateOptions & { readonly punishTokens?: () => Token[] };
  };
  const usual = { temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05, yieldEogToken: false };
  const { seed, ...open } = await sampled({});
  t.same(open, usual, 'nothing that is said again is avoided');
  t.ok(Number.isInteger(seed) && Number(seed) >= 0, 'a seed of its own');
  t.not((await sampled({ seed: -1 })).seed, (await sampled({})).seed, 'each answer another one');
  const body = { temperature: 0, top_k: 0, top_p: 1, min_p: 0, seed: 0, ignore_eos: true };
  t.same(await sampled(body), { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0, yieldEogToken: true });
  const cases = [
    { body: { repeat_penalty: 1.5 }, want: { penalty: 1.5, presencePenalty: 0, frequencyPenalty: 0 } },
    { body: { presence_penalty: 0.5 }, want: { penalty: 1, presencePenalty: 0.5, frequencyPenalty: 0 } },
    { body: { frequency_penalty: 0.5 }, want: { penalty: 1, presencePenalty: 0, frequencyPenalty: 0.5 } },
    { body: { repeat_penalty: 2, repeat_last_n: 0 }, last: 0, want: { penalty: 2 } },
    { body: { repeat_penalty: 2, repeat_last_n: 3 }, last: 3, want: { penalty: 2 } },
    { body: { repeat_penalty: 2, repeat_last_n: -1 }, last: 100, want: { penalty: 2 } },
  ];
  for (const { body, last = 64, want } of cases) {
    const { punishTokens, ...found } = await sampled(body);
    t.match(found, want);
    const wanted = Array.from({ length: last }, (_, index) => 100 - last + index);
    t.same(punishTokens?.(), wanted, `the last ${last} tokens are looked at`);
  }
});

t.test('each form of an answer has its text, its end and what it took', async (t) => {
  const tally = { promptTokens: 10, cachedTokens: 4, completionTokens: 6, promptTime: 500, answerTime: 250 };
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 6,
    total_tokens: 16,
    prompt_tokens_details: { cached_tokens: 4 },
  };
  const timings = {
    ...{ cache_n: 4, prompt_n: 6, prompt_ms: 500, prompt_per_second: 12 },
    ...{ predicted_n: 6, predicted_ms: 250, predicted_per_second: 24 },
  };
  const [stopped, cut] = [
    { ...tally, end: 'word' as const },
    { ...tally, end: 'limit' as const },
  ];
  const model = 'small';
  for (const includesUsage of [false, true]) {
    const form = chatForm({ model, includesUsage }, false);
    const chunk = { object: 'chat.completion.chunk', model };
    t.match(form.first, {
      ...chunk,
      id: /^chatcmpl-/,
      choices: [{ delta: { role: 'assistant' }, finish_reason: null }],
    });
    t.match(form.piece('a'), {
      ...chunk,
      choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }],
    });
    const ended = { ...chunk, choices: [{ delta: {}, finish_reason: 'length' }] };
    const last = form.last('a', cut);
    t.match(
      last,
      includesUsage ? [ended, { ...chunk, choices: [], usage, timings }] : [{ ...ended, timings }],
    );
    t.equal(last.length, includesUsage ? 2 : 1);
    t.match(form.whole('a', stopped), {
      ...{ object: 'chat.completion', created: Number, model, usage, timings },
      choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
    });
  }
  const calls = chatForm({ model, includesUsage: false }, true);
  t.equal(calls.piece('{'), undefined, 'a call is not shown in pieces');
  const cases = [
    { text: '{"name":"look","arguments":{"at":1}}', name: 'look', given: '{"at":1}' },
    { text: '{"name":"look"}', name: 'look', given: '{}' },
    { text: '{"name" : "look","argu', name: 'look', given: '{"name" : "look","argu' },
    { text: 'oh', name: '', given: 'oh' },
  ];
  for (const { text, name, given } of cases) {
    const call = { id: /^[0-9a-f]{32}$/, type: 'function', function: { name, arguments: given } };
    const [streamed, end] = calls.last(text, stopped);
    t.match(streamed, { choices: [{ delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason: null }] });
    t.match(end, { choices: [{ finish_reason: 'tool_calls' }] });
    const whole = { message: { role: 'assistant', content: null, tool_calls: [call] } };
    t.match(calls.whole(text, stopped), { choices: [{ ...whole, finish_reason: 'tool_calls' }] });
    t.match(calls.whole(text, cut), { choices: [{ ...whole, finish_reason: 'length' }] });
  }
  const completion = completionForm({ model, includesUsage: false });
  const part = { id: /^cmpl-/, object: 'text_completion', model };
  t.match(completion.piece('a'), { ...part, choices: [{ text: 'a', index: 0, finish_reason: null }] });
  t.match(completion.last('a', cut), [
    { ...part, choices: [{ text: '', finish_reason: 'length' }], usage, timings },
  ]);
  t.match(completion.whole('a', stopped), {
    ...part,
    choices: [{ text: 'a', finish_reason: 'stop' }],
    usage,
  });
  const infill = infillForm({ model, includesUsage: false });
  t.match(infill.piece('a'), { index: 0, content: 'a', stop: false });
  const figures = { tokens_predicted: 6, tokens_evaluated: 10, tokens_cached: 16, truncated: false, timings };
  t.match(infill.last('a', cut), [{ content: '', stop: true, stop_type: 'limit', model, ...figures }]);
  t.match(infill.whole('a', stopped), { index: 0, content: 'a', stop: true, stop_type: 'word', ...figures });
  t.same(
    [calls, completion, infill].map(({ isMarked }) => isMarked),
    [true, true, false],
  );
});

t.test('a gap is filled between its tokens, behind what else is there', async (t) => {
  const infill = { prefix: -1, suffix: -2, middle: -3 };
  const loadedWith = (infill: NativeModelHandle['tokens']['infill'], begins = false) => {
    const model = { ...tokenizer, tokens: { bos: -9, shouldPrependBosToken: begins, infill } };
    return { model, tokens: new PromptTokens(model) } as unknown as LoadedModel;
  };
  const codes = (text: string) => [...text].map((unit) => unit.codePointAt(0));
  const body = {
    ...{ input_prefix: 'a<s>', input_suffix: 'z', prompt: 'b' },
    input_extra: [{ filename: 'x', text: 'one' }, { text: 'two' }],
  };
  const { prompt, form } = await readInfill(JSON.stringify(body), loadedWith(infill), 'alias');
  t.same(prompt, [...codes('one\ntwo\n'), -1, ...codes('a<s>b'), -2, ...codes('z'), -3]);
  t.match(form.whole('', { end: 'eos' } as Tally), { model: 'alias', stop_type: 'eos' });
  const plain = JSON.stringify({ input_prefix: 'a', input_suffix: '' });
  t.same((await readInfill(plain, loadedWith(infill, true), 'm')).prompt, [-9, -1, 97, -2, -3]);
  for (const missing of ['prefix', 'suffix', 'middle'])
    await t.rejects(readInfill(plain, loadedWith({ ...infill, [missing]: null }), 'm'), {
      message: /^Infill is not supported/,
    });

  const complete = (prompt: unknown, begins = false) =>
    readCompletion(JSON.stringify({ prompt }), loadedWith(infill, begins), 'm');
  t.same((await complete(['a<s>', firstControl])).prompt, [97, firstControl + 2, firstControl]);
  t.same((await complete('', true)).prompt, [-9]);
  await t.rejects(complete(''), { message: /is empty/ });
  for (const token of [-1, firstControl + controls.length])
    await t.rejects(complete([token]), { message: /a token that the model does not know/ });
  t.same((await complete([firstControl + controls.length - 1, 0])).prompt.length, 2);
});

t.test('a cancelled answer ends after the batch that is being read', async (t) => {
  const { sequence, batches } = sequenceOf();
  const leaving = new AbortController();
  const evaluate = sequence.evaluateWithoutGeneratingNewTokens;
  const stopping: Sequence = Object.create(sequence, {
    evaluateWithoutGeneratingNewTokens: {
      value: async (tokens: readonly Token[]) => {
        await evaluate(tokens);
        leaving.abort(new Error('left'));
      },
    },
  });
  const prompt = Array.from({ length: 1_000 }, () => 1);
  const model = bytes as unknown as NativeModelHandle;
  const options = {
    model,
    sequence: stopping,
    window: 2_000,
    body: {},
    stops: [],
    grammarState: undefined,
    signal: leaving.signal,
  };
  await t.rejects(generate(prompt, options).next(), /left/);
  t.same(batches, [64]);
});

t.test('a prompt that fills the window is refused with both figures', async (t) => {
  t.doesNotThrow(() => requireFit(255, 256));
  try {
    requireFit(256, 256);
    t.fail('It fits.');
  } catch (error) {
    t.ok(error instanceof ApiError);
    t.match(error, {
      status: 400,
      body: { error: { type: 'exceed_context_size_error', n_prompt_tokens: 256, n_ctx: 256, code: 400 } },
    });
  }
});

/** What a client gets; it reads on only where a test lets it. */
function createResponse(isFull = false) {
  const sent: string[] = [];
  const response = Object.assign(new EventEmitter(), {
    writeHead: (status: number, headers: object) => void sent.push(`${status} ${JSON.stringify(headers)}`),
    flushHeaders: () => undefined,
    write: (text: string) => {
      sent.push(text);
      return !isFull;
    },
    end: (text = '') => void sent.push(`${text}END`),
  });
  return { sent, response };
}

/** Answers with a stream, as the sequence generates it. */
async function streamed(
  sequence: Sequence,
  { response }: ReturnType<typeof createResponse>,
  { isMarked = true, opened = '', signal = new AbortController().signal } = {},
) {
  const form = {
    first: { first: true },
    isMarked,
    piece: (text: string) => ({ piece: text }),
    last: (text: string) => [{ last: text }],
    whole: (text: string) => ({ whole: text }),
  };
  const loaded = { model: bytes, sequence, window: 99 } as unknown as LoadedModel;
  const task = { prompt: [1, 2], body: { stream: true, max_tokens: 3 }, form, opened };
  return answerTask(task as never, loaded, { response, signal } as never);
}

const head = '200 {"Content-Type":"text/event-stream"}';
const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

t.test('a stream has what the template opened, its pieces, and its end', async (t) => {
  const begin = [head, event({ first: true })];
  const pieces = ['a', 'a', 'a'].map((piece) => event({ piece }));
  for (const [given, want] of [
    [{}, [...begin, ...pieces, event({ last: 'aaa' }), 'data: [DONE]\n\nEND']],
    [{ isMarked: false }, [...begin, ...pieces, event({ last: 'aaa' }), 'END']],
    [
      { isMarked: false, opened: '<think>' },
      [...begin, event({ piece: '<think>' }), ...pieces, event({ last: '<think>aaa' }), 'END'],
    ],
  ] as const) {
    const client = createResponse();
    t.equal(await streamed(sequenceOf().sequence, client, given), undefined);
    t.strictSame(client.sent, want);
  }
});

t.test('an answer that fails in its middle says so in an event, and ends without a mark', async (t) => {
  const { sequence } = sequenceOf();
  const failing: Sequence = Object.create(sequence, {
    evaluate: {
      async *value() {
        yield 97;
        throw new Error('no memory');
      },
    },
  });
  const client = createResponse();
  await streamed(failing, client);
  t.strictSame(client.sent.slice(2), [
    event({ piece: 'a' }),
    event({ error: { code: 500, message: 'Error: no memory', type: 'server_error' } }),
    'END',
  ]);
});

t.test('an answer is generated no faster than its client reads, and not for one that has left', async (t) => {
  const client = createResponse(true);
  const leaving = new AbortController();
  let isFreed = false;
  const { sequence } = sequenceOf();
  const watched: Sequence = Object.create(sequence, {
    evaluate: {
      async *value() {
        try {
          for (;;) yield 97;
        } finally {
          isFreed = true;
        }
      },
    },
  });
  const answer = streamed(watched, client, { signal: leaving.signal });
  t.strictSame(client.sent, [head, event({ first: true })], 'nothing more before it has read that');
  client.response.emit('drain');
  await poll(
    async () => client.sent.length,
    (length) => length === 3,
  );
  t.equal(client.sent.at(-1), event({ piece: 'a' }));
  leaving.abort(new Error('left'));
  await t.rejects(answer);
  t.ok(isFreed, 'what it held is free');
  t.equal(client.sent.length, 3, 'nothing is sent to nobody');
});

/** Renders a conversation as the JSON of its messages. */
class JsonTemplate {
  render(values: { readonly messages: unknown }): string {
    return JSON.stringify(values.messages);
  }
}

t.test('a template gets roles and texts as it knows them', async (t) => {
  const model = { ...tokenizer, fileInfo: { metadata: { tokenizer: { chat_template: 'any' } } } };
  const library = { Template: JsonTemplate } as unknown as NativeLibrary;
  const prompts = new ChatPrompts(
    library,
    model as unknown as NativeModelHandle,
    new PromptTokens(tokenizer),
  );
  const messages = [
    { role: 'developer', content: 'Be brief.' },
    {
      ...{ role: 'user', name: 'Ada' },
      content: [{ type: 'text', text: 'one' }, { type: 'text' }, { type: 'text', text: 'two' }],
    },
    { role: 'assistant', content: null, name: null },
    { role: 'assistant' },
  ];
  t.same(JSON.parse(prompts.prompt({ messages } as never).text), [
    { role: 'system', content: 'Be brief.' },
    { name: 'Ada', role: 'user', content: 'one\n\ntwo' },
    { role: 'assistant', content: '' },
    { role: 'assistant', content: '' },
  ]);
});

interface Rendered {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | readonly { readonly text: string }[];
    readonly tool_calls?: readonly { readonly function: { readonly arguments: unknown } }[];
  }[];
}

/** The prompts of a model with such a template, in the place of a text in Jinja. */
function promptsOf(render: (values: Rendered) => string, source: unknown = 'any') {
  const made: unknown[] = [];
  class Template {
    constructor(given: unknown) {
      made.push(given);
      if (given === 'broken') throw new Error('Unknown tag');
    }
    render = render;
  }
  const tokens = { ...tokenizer.tokens, bosString: '<s>' };
  const model = { ...tokenizer, tokens, fileInfo: { metadata: { tokenizer: { chat_template: source } } } };
  const library = { Template } as unknown as NativeLibrary;
  const prompts = new ChatPrompts(
    library,
    model as unknown as NativeModelHandle,
    new PromptTokens(tokenizer),
  );
  return { prompts, made, prompt: (body: object) => prompts.prompt(body as never) };
}

t.test('what a template can do is found out, and it gets a conversation in that way', async (t) => {
  const contentOf = (content: Rendered['messages'][number]['content']) =>
    typeof content === 'string' ? content : '';
  const lines = ({ messages }: Rendered, more: (message: Rendered['messages'][number]) => string) =>
    messages.map((message) => `${message.role}: ${contentOf(message.content)}${more(message)}`).join('\n');
  const all = (values: Rendered) => JSON.stringify(values);
  const textArguments = (values: Rendered) =>
    lines(values, ({ tool_calls: calls = [] }) =>
      calls.map(({ function: { arguments: given } }) => (typeof given === 'string' ? given : '?')).join(),
    );
  const noSystem = (values: Rendered) => {
    if (values.messages.some(({ role }) => role === 'system')) throw new Error('No system messages.');
    return lines(values, () => '');
  };
  const onlyParts = ({ messages }: Rendered) =>
    messages
      .map(
        ({ role, content }) =>
          `${role}: ${typeof content === 'string' ? '' : content.map(({ text }) => text)}`,
      )
      .join('\n');
  const none = { tools: false, calls: false, system: true, objectArguments: false, onlyParts: false };
  const given = [
    { role: 'developer', content: 'Be brief.' },
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'hi', name: 'Ada' },
    {
      role: 'assistant',
      content: '<think>hm <s></think>ok',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
        { type: 'function', function: { name: 'see', arguments: { at: 2 } } },
        { id: 'c', type: 'function', function: { name: 'odd', arguments: 'no JSON' } },
      ],
    },
    { role: 'tool', content: 'here', tool_call_id: 'a' },
    { role: 'tool', content: 'there', tool_call_id: 'c', name: 'own' },
    { role: 'tool', content: 'where', tool_call_id: 'unknown', tool_calls: [] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'and' },
        { type: 'text', text: 'now?' },
      ],
    },
  ];
  const answered = 'assistant: <think>hm <s></think>ok';
  const results = ['tool: here', 'tool: there', 'tool: where', 'user: and\nnow?'];
  for (const [name, render, abilities, want] of [
    [
      'calls as text',
      textArguments,
      { ...none, calls: true },
      [
        ...['system: Be brief.', 'system: Be kind.', 'user: hi'],
        ...[`${answered}{"at":1},{"at":2},no JSON`, ...results],
      ],
    ],
    [
      'no system messages',
      noSystem,
      { ...none, system: false },
      [...['user: Be brief.\nBe kind.\n\nhi', answered, ...results]],
    ],
    [
      'lists of parts',
      onlyParts,
      { ...none, onlyParts: true },
      [...['system: Be brief.', 'system: Be kind.', 'user: hi', answered, ...results]],
    ],
    ['nothing', () => 'always the same', { ...none, system: false }, ['always the same']],
  ] as const) {
    const { prompts, prompt } = promptsOf(render);
    t.strictSame(prompts.abilities, abilities, name);
    t.equal(prompt({ messages: given }).text, want.join('\n'), name);
  }
  const led = [
    { role: 'user', content: 'hi' },
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'one' },
    { role: 'user', content: 'two' },
    { role: 'system', content: 'to nobody' },
  ];
  t.equal(
    promptsOf(noSystem).prompt({ messages: led }).text,
    'user: hi\nuser: Be brief.\n\none\nuser: two',
    'only what the user says next has it',
  );
  const { prompts, prompt } = promptsOf(all);
  const everything = { ...none, tools: true, calls: true, objectArguments: true };
  t.strictSame(prompts.abilities, everything);
  t.strictSame(promptsOf((values) => all(values).toUpperCase()).prompts.abilities, everything);
  const tools = [{ type: 'function', function: { name: 'look', description: 'Looks <s>.' } }];
  const marks = { bos_token: '<s>', eos_token: '', add_generation_prompt: true };
  const call = (id: string, name: string, args: unknown) => ({
    ...{ id, type: 'function', function: { name, arguments: args } },
  });
  const body = { messages: given, tools, reasoning_effort: 'low', chat_template_kwargs: { enable: false } };
  const written = prompt(body);
  t.strictSame(JSON.parse(written.text), {
    ...{ ...marks, tools, reasoning_effort: 'low', enable: false },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'hi', name: 'Ada' },
      {
        role: 'assistant',
        content: '<think>hm <s></think>ok',
        tool_calls: [call('a', 'look', { at: 1 }), call('', 'see', { at: 2 }), call('c', 'odd', 'no JSON')],
      },
      { role: 'tool', content: 'here', tool_call_id: 'a', name: 'look' },
      { role: 'tool', content: 'there', tool_call_id: 'c', name: 'own' },
      { role: 'tool', content: 'where', tool_call_id: 'unknown', name: '' },
      { role: 'user', content: 'and\nnow?' },
    ],
  });
  const controlsIn = (found: readonly Token[]) => found.filter((token) => token >= firstControl).length;
  t.equal(controlsIn(written.tokens), 2, 'that of the template, and the beginning');
  const [user] = [{ role: 'user', content: 'hi' }];
  for (const more of [{}, { tools: [] }, { tools, tool_choice: 'none' }])
    t.strictSame(JSON.parse(prompt({ messages: [user], ...more }).text), {
      ...marks,
      messages: [user],
      tools: null,
    });

  for (const [end, opened] of [
    ['<think>', '<think>'],
    ['<Thinking>\n', '<Thinking>\n'],
    ['<thought>', '<thought>'],
    ['<reasoning> ', '<reasoning> '],
    ['<think></think>', ''],
    ['<tool>', ''],
  ] as const)
    t.equal(promptsOf(() => end).prompt({ messages: [user] }).opened, opened, end);
  for (const source of [null, ' ', 5, 'broken']) {
    const { prompts: usual, made } = promptsOf(all, source);
    t.match(usual.source, /^\{% for message in messages %\}/, String(source));
    t.strictSame([usual.stops, made.at(-1)], [['<|im_end|>'], usual.source]);
  }
  t.strictSame([prompts.source, prompts.stops], ['any', []]);
  const refusing = promptsOf(() => {
    throw new Error('Roles must alternate');
  });
  t.throws(() => refusing.prompt({ messages: [user] }), {
    ...{ status: 400, message: /refuses this conversation\. Jinja Exception: Roles must alternate$/ },
  });
  const image = { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'image_url' }] };
  t.throws(() => prompt({ messages: [image] }), { status: 500, message: /^image input is not supported/ });
});

t.test('what a conversation leaves open', async (t) => {
  const user = { role: 'user', content: 'hi' };
  const read = (defaults: object, more: object, messages: readonly object[] = [user]) => {
    const {
      messages: found,
      temperature,
      top_p,
    } = readConversation(JSON.stringify({ messages, ...more }), {
      defaults,
    });
    return [found, temperature, top_p];
  };
  const defaults = { system: 'Be brief.', temperature: 0.2, top_p: 0.9 };
  const [system, other] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: 'Be kind.' },
  ];
  t.strictSame(read({}, {}), [[user], undefined, undefined]);
  t.strictSame(read(defaults, {}), [[system, user], 0.2, 0.9]);
  t.strictSame(read(defaults, { temperature: 0, top_p: 1 }), [[system, user], 0, 1]);
  t.strictSame(read(defaults, {}, [user, other]), [[user, other], 0.2, 0.9], 'it has its own');
  const limits = { repeat_penalty: 1.1, max_tokens: 9 };
  const limited = (more: object) =>
    readConversation(JSON.stringify({ messages: [user], ...more }), { defaults: limits });
  t.match(limited({}), limits);
  t.match(limited({ repeat_penalty: 1, n_predict: 5 }), { repeat_penalty: 1, max_tokens: 5 });
  t.strictSame(read(defaults, {}, [{ ...other, role: 'system' }])[0], [{ ...other, role: 'system' }]);
});

t.test('an answer is held to the format that is asked for', async (t) => {
  const grammarFor = async (body: object) => {
    const asked: unknown[] = [];
    const loaded = {
      library: { LlamaGrammarEvaluationState: class {} },
      llama: {
        async createGrammarForJsonSchema(schema: unknown) {
          asked.push(schema);
          return { grammar: '' };
        },
        createGrammar: async ({ grammar }: { readonly grammar: string }) => {
          asked.push(grammar.split('\n')[0]);
          return {};
        },
      },
    } as unknown as LoadedModel;
    const state = await grammarState(loaded, { messages: [], ...body } as never);
    return state === undefined ? undefined : asked[0];
  };
  const schema = { type: 'object' };
  for (const [format, want] of [
    [undefined, undefined],
    [{ type: 'text' }, undefined],
    [{ type: 'text', schema }, undefined],
    [{ type: 'json_object' }, 'root ::= object'],
    [{ type: 'json_object', schema }, schema],
    [{ type: 'json_schema', schema }, schema],
    [{ type: 'json_schema', json_schema: { schema: { type: 'array' } }, schema }, { type: 'array' }],
  ] as const)
    t.strictSame(await grammarFor({ response_format: format }), want, JSON.stringify(format));
  await t.rejects(grammarFor({ response_format: { type: 'json_schema' } }), {
    ...{ status: 400, message: /"response_format\.json_schema" is missing/ },
  });
});

t.test('a call that must come is held to the parameters of its tool', async (t) => {
  const asked: unknown[] = [];
  const loaded = {
    library: { LlamaGrammarEvaluationState: class {} },
    llama: {
      async createGrammarForJsonSchema(schema: unknown) {
        asked.push(schema);
        return { grammar: '' };
      },
      createGrammar: async () => ({}),
    },
  } as unknown as LoadedModel;
  const parameters = { type: 'object', properties: { at: { type: 'integer' } } };
  const tools = [
    { type: 'function', function: { name: 'a' } },
    { type: 'function', function: { name: 'b', parameters } },
  ];
  await grammarState(loaded, { messages: [], tools, tool_choice: 'required' } as never);
  const call = (name: string, given: object) => ({
    type: 'object',
    properties: { name: { const: name }, arguments: given },
  });
  t.strictSame(asked, [{ oneOf: [call('a', { type: 'object' }), call('b', parameters)] }]);
  t.equal(await grammarState(loaded, { messages: [], tools } as never), undefined);
});

t.test('a model whose memory slides keeps where the prompt ended', async (t) => {
  for (const [needsCheckpoints, kept, length, want] of [
    [true, [], 200, 1],
    [false, [], 200, 0],
    [true, [], 64, 0],
    [true, [], 65, 1],
    [true, Array.from({ length: 199 }, () => 1), 200, 0],
  ] as const) {
    let taken = 0;
    const { sequence } = sequenceOf(kept);
    const sliding: Sequence = Object.create(sequence, {
      needsCheckpoints: { value: needsCheckpoints },
      takeCheckpoint: { value: async () => void (taken += 1) },
    });
    const prompt = Array.from({ length }, () => 1);
    const signal = new AbortController().signal;
    const options = { sequence: sliding, window: 999, body: {}, stops: [], grammarState: undefined, signal };
    await generate(prompt, { ...options, model: bytes as unknown as NativeModelHandle }).next();
    t.equal(taken, want, `${length} tokens, ${kept.length} of them kept`);
  }
});

const standIns = globalThis as { engineLibrary?: object };

/** A folder with a library that does what the test says, and with weights that it loads. */
async function libraryWith(
  t: Test,
  { llama = {}, model = {}, context = {}, sequence = sequenceOf().sequence, said = [] as string[] } = {},
) {
  const esm = '{"type":"module","main":"index.js"}';
  const folder = await temporaryFolder(t, {
    'node_modules/node-llama-cpp/package.json': esm,
    'node_modules/node-llama-cpp/dist/index.js':
      'export const getLlama = (options) => globalThis.engineLibrary.getLlama(options);\nexport class LlamaGrammarEvaluationState {}\n',
    'node_modules/@huggingface/jinja/package.json': esm,
    'node_modules/@huggingface/jinja/index.js':
      'export class Template { render({ messages }) { return messages.map(({ role, content }) => role + ": " + content + "\\n").join(""); } }\n',
    'small.gguf': 'GGUF and so on',
    'page.gguf': '<html>',
    'short.gguf': 'GG',
  });
  const asked: unknown[] = [];
  const loadedModel = {
    ...tokenizer,
    tokens: {
      ...{ bos: firstControl + 2, bosString: '<s>', eosString: '</s>', shouldPrependBosToken: true },
      infill: { prefix: null, suffix: null, middle: null },
    },
    fileInfo: {
      metadata: { tokenizer: { chat_template: 'any' } },
      fullTensorInfo: [{ dimensions: [2, 3n] }, { dimensions: [4] }],
    },
    typeDescription: 'llama 256M Q4_1 mixed',
    ...{ trainContextSize: 1_000, embeddingVectorSize: 64, size: 12_345 },
    async createContext(options: object) {
      asked.push(options);
      return {
        contextSize: 600,
        getSequence(shift: { contextShift: { strategy: () => never } }) {
          t.throws(shift.contextShift.strategy, { message: 'The context window is full.' });
          return sequence;
        },
        dispose: async () => void said.push('context disposed'),
        ...context,
      };
    },
    dispose: async () => void said.push('model disposed'),
    ...model,
  };
  standIns.engineLibrary = {
    async getLlama({ logger, ...options }: { logger: (level: string, message: string) => void }) {
      asked.push(options);
      return {
        ...{ cpuMathCores: 5, llamaCppRelease: { release: 'b1' }, setRamCap: async () => undefined },
        async loadModel({ onLoadProgress, ...loading }: { onLoadProgress: (share: number) => void }) {
          asked.push(loading);
          for (const share of [0, 0.001, 0.5, 0.505, 0.4, 1]) onLoadProgress(share);
          return loadedModel;
        },
        ...(typeof llama === 'function' ? llama(logger) : llama),
      };
    },
  };
  t.teardown(() => delete standIns.engineLibrary);
  const listener = {
    loading: (percent: number) => void said.push(`${percent} %`),
    ready: ({ window }: LoadedModel) => void said.push(`a window of ${window}`),
    unloaded: () => void said.push('unloaded'),
  };
  const path = (name: string) => join(folder, name);
  const engine = (options: Partial<NativeModelOptions> = {}, more: object = {}) =>
    new NativeModel({ library: folder, model: path('small.gguf'), ...options }, { ...listener, ...more });
  return { asked, said, engine, path };
}

t.test('a model is loaded once for all that use it, as it was asked for', async (t) => {
  const { asked, said, engine, path } = await libraryWith(t);
  const model = engine();
  t.equal(model.state, 'unloaded');
  const uses = [model.use(({ window }) => window), model.use(async ({ defaults }) => defaults)];
  t.equal(model.state, 'loading');
  t.strictSame(await Promise.all(uses), [600, {}]);
  t.equal(model.state, 'loaded');
  await t.rejects(
    model.use(() => Promise.reject(new Error('lost'))),
    { message: 'lost' },
  );
  t.equal(model.state, 'loaded', 'a request that fails is not the fault of the model');
  t.strictSame(said, ['0 %', '50 %', '100 %', 'a window of 600']);
  const small = path('small.gguf');
  t.strictSame(asked.splice(0), [
    {
      ...{ gpu: false, build: 'never', skipDownload: true, progressLogs: false },
      ...{ maxThreads: 0, logLevel: 'error' },
    },
    { modelPath: small, gpuLayers: 0 },
    { contextSize: { max: 1_000 }, batchSize: 64, threads: 4 },
  ]);
  const defaults = { system: 'Be brief.' };
  t.equal(await engine({ context: 300, threads: 2, defaults }).use((loaded) => loaded.defaults), defaults);
  t.strictSame(asked.at(-1), { contextSize: { max: 300 }, batchSize: 64, threads: 2 });
  const one = await libraryWith(t, { llama: { cpuMathCores: 1 }, model: { trainContextSize: 500 } });
  t.equal(await one.engine().use(({ window }) => window), 500, 'never more than it was trained for');
  t.strictSame(one.asked.at(-1), { contextSize: { max: 500 }, batchSize: 64, threads: 1 });
  const large = await libraryWith(t, {
    model: { trainContextSize: 100_000 },
    context: { contextSize: 8_192 },
  });
  t.equal(await large.engine().use(({ window }) => window), 8_192);
  t.match(large.asked.at(-1), { contextSize: { max: 8_192 } });
});

t.test('an idle model leaves the memory after its time, and the next use loads it again', async (t) => {
  const { said, engine } = await libraryWith(t);
  const seconds = (keepAliveSeconds?: number) => engine({ keepAliveSeconds });
  const once = seconds(5);
  await once.use(() => undefined);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  await once.use(() => undefined);
  said.splice(0);
  mock.timers.tick(4_999);
  await once.use(() => mock.timers.tick(5_000));
  mock.timers.tick(4_999);
  t.equal(once.state, 'loaded', 'it is used, and was used just now');
  mock.timers.tick(1);
  t.equal(once.state, 'unloaded');
  await once.use(() => undefined);
  t.strictSame(said.splice(0), [
    ...['context disposed', 'model disposed', 'unloaded'],
    ...['0 %', '50 %', '100 %', 'a window of 600'],
  ]);
  for (const [keepAlive, left] of [
    [0, 'unloaded'],
    [2_000_000, 'unloaded'],
    [2_000_001, 'loaded'],
    [-1, 'loaded'],
    [undefined, 'loaded'],
  ] as const) {
    const model = seconds(keepAlive);
    await model.use(() => undefined);
    mock.timers.tick(2_000_001_000);
    t.equal(model.state, left, String(keepAlive));
  }
});

t.test('a model that cannot be loaded says why, and may be loaded later', async (t) => {
  class InsufficientMemoryError extends Error {}
  let failure: Error | undefined = new Error('boom.\nand more');
  let complaints: string[] = [];
  const llama = (logger: (level: string, message: string) => void) => ({
    async loadModel() {
      for (const complaint of complaints) logger('error', complaint);
      throw failure ?? new Error('none');
    },
  });
  const { said, engine, path } = await libraryWith(t, { llama });
  const around = (why: string) =>
    `The model cannot be loaded: ${why}. The file may be damaged, or of a kind that this engine does not know: get it again, or choose another one.`;
  const model = engine();
  for (const [error, said, message] of [
    [new Error('boom.\nand more'), [], around('boom')],
    [new TypeError('undefined is no function'), [], around('its header cannot be read')],
    [new TypeError('x'), ['llama_model_load: error loading model: it is cut.', 'x'], around('it is cut')],
    [new Error('x'), [' gguf_init: no magic '], around('no magic')],
    [
      new InsufficientMemoryError('x'),
      ['y'],
      'There is not enough free memory for this model. Close other programs, or choose a smaller model.',
    ],
  ] as const) {
    [failure, complaints] = [error, [...said]];
    await t.rejects(
      model.use(() => undefined),
      { name: 'LoadError', message },
    );
    t.equal(model.state, 'unloaded');
  }
  for (const [file, message] of [
    ['none.gguf', /none\.gguf cannot be read: .*ENOENT.*\. Choose another model file\.$/],
    ['node_modules', /node_modules cannot be read: it is not a regular file\. Choose another model file\.$/],
    ['page.gguf', /page\.gguf is not a model in the GGUF format\. Choose a \.gguf file\.$/],
    ['short.gguf', /short\.gguf is not a model in the GGUF format/],
  ] as const)
    await t.rejects(
      engine({ model: path(file) }).use(() => undefined),
      { name: 'LoadError', message },
    );
  await t.rejects(
    engine({ library: path('none') }).use(() => undefined),
    {
      name: 'LoadError',
      message:
        /^The engine's library cannot be loaded on this machine: .*\. Install the engine again, or use another runner\.$/,
    },
  );
  t.strictSame(said, [], 'nobody was told that it is ready');
  const refusing = await libraryWith(t, {
    model: { createContext: () => Promise.reject(new Error('no room')) },
  });
  const other = refusing.engine();
  await t.rejects(
    other.use(() => undefined),
    { message: around('no room') },
  );
  t.strictSame(refusing.said.splice(0), ['0 %', '50 %', '100 %', 'model disposed'], 'what it held is free');
  await libraryWith(t);
  const later = engine();
  t.equal(await later.use(({ window }) => window), 600);
});

t.test('the engine answers as the server of llama.cpp does', async (t) => {
  const { sequence } = sequenceOf();
  let whenOpen: Promise<unknown> = Promise.resolve();
  let begun = 0;
  const gated: Sequence = Object.create(sequence, {
    evaluate: {
      async *value() {
        begun += 1;
        await whenOpen;
        for (;;) yield 97;
      },
    },
  });
  const { engine } = await libraryWith(t, { sequence: gated });
  let facts: ModelFacts | undefined;
  const model = engine({}, { ready: (loaded: LoadedModel) => void (facts ??= factsOf(loaded, 'small')) });
  const key = 'a-key-for-tests-alone';
  const broken = async () => Promise.reject(new Error('no luck'));
  const server = await listen({
    key,
    isReady: () => facts !== undefined,
    routes: new Map([...createRoutes(model, 'small', () => facts), ['GET /broken', broken]]),
  });
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port, address } = server.address() as AddressInfo;
  t.equal(address, '127.0.0.1');
  const ask = async (path: string, body?: unknown, headers: OutgoingHttpHeaders = {}) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = { authorization: `Bearer ${key}`, ...headers };
    for (const [name, value] of Object.entries(sent)) if (value === '') Reflect.deleteProperty(sent, name);
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: sent, agent: false });
    request.on('error', () => undefined);
    request.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
    const [response] = await once(request, 'response');
    t.match(response.headers, { server: 'llama.cpp', 'content-type': 'application/json; charset=utf-8' });
    let text = '';
    for await (const piece of response.setEncoding('utf8')) text += piece;
    return { status: response.statusCode as number, value: JSON.parse(text), headers: response.headers };
  };
  const failure = (code: number, type: string, message: string, more: object = {}) => ({
    status: code,
    value: { error: { code, message, type, ...more } },
  });
  const same = async (asked: ReturnType<typeof ask>, want: { status?: number; value: object }) => {
    const { status, value } = await asked;
    t.strictSame({ status, value }, { status: 200, ...want });
  };
  const only = 'Only programs of this machine may ask, at its own address.';
  const [refused, unknown] = [
    failure(403, 'permission_error', only),
    failure(401, 'authentication_error', 'Invalid API Key'),
  ];
  const loading = failure(503, 'unavailable_error', 'Loading model');
  await same(ask('/health'), loading);
  await same(ask('/nowhere'), loading);
  await same(ask('/v1/models', undefined, { authorization: 'Bearer wrong' }), unknown);
  await model.use(() => undefined);
  for (const [headers, want] of [
    [{ authorization: '' }, unknown],
    [{ authorization: `Bearer ${key}x` }, unknown],
    [{ authorization: key }, unknown],
    [{ host: 'evil.example' }, refused],
    [{ host: `127.0.0.1:${port + 1}` }, refused],
    [{ host: '127.0.0.1' }, refused],
    [{ host: `localhost:${port}` }, undefined],
    [{ origin: `http://127.0.0.1:${port}` }, refused],
    [{ origin: 'null' }, refused],
  ] as const)
    if (want) await same(ask('/v1/models', undefined, headers), want);
    else t.equal((await ask('/v1/models', undefined, headers)).status, 200);
  await same(ask('/health', undefined, { authorization: '' }), { value: { status: 'ok' } });
  await same(ask('/health', undefined, { host: 'evil.example' }), refused);
  await same(ask('/nowhere'), failure(404, 'not_found_error', 'File Not Found'));
  await same(ask('/health', {}), failure(404, 'not_found_error', 'File Not Found'));
  await same(ask('/broken'), failure(500, 'server_error', 'no luck'));

  const { created, ...entry } = (await ask('/v1/models')).value.data[0];
  t.ok(Math.abs(Date.now() / 1_000 - created) < 3_600 && Number.isInteger(created), 'in seconds');
  t.strictSame(entry, {
    ...{ id: 'small', aliases: ['small'], object: 'model', owned_by: 'llamacpp' },
    meta: { n_ctx: 600, n_ctx_train: 1_000, n_embd: 64, n_params: 10, size: 12_345, ftype: 'Q4_1 mixed' },
    status: { value: 'loaded' },
  });
  const own = { name: 'small', model: 'small', capabilities: ['completion'] };
  await same(ask('/models'), { value: { models: [own], object: 'list', data: [{ created, ...entry }] } });
  await same(ask('/props'), {
    value: {
      ...{ default_generation_settings: { n_ctx: 600 }, total_slots: 1, model_alias: 'small' },
      ...{ modalities: { vision: false, audio: false }, chat_template: 'any' },
      chat_template_caps: {
        ...{ supports_tools: false, supports_tool_calls: false, supports_system_role: true },
        ...{ supports_object_arguments: false, supports_string_content: true },
      },
      ...{ bos_token: '<s>', eos_token: '</s>', parses_tool_calls: false, build_info: 'b1' },
    },
  });
  await same(ask('/slots?fail_on_no_slot=1'), { value: [{ id: 0, n_ctx: 600, is_processing: false }] });
  const messages = [{ role: 'user', content: 'hi <s>' }];
  await same(ask('/apply-template', { messages }), { value: { prompt: 'user: hi <s>\n' } });
  await same(ask('/v1/chat/completions/input_tokens', { messages }), { value: { input_tokens: 14 } });
  for (const [body, tokens] of [
    [{ content: 'a<s>' }, [97, firstControl + 2]],
    [{ content: '<s>', parse_special: false }, [60, 115, 62]],
    [{ content: 'a', add_special: true }, [firstControl + 2, 97]],
  ] as const)
    await same(ask('/tokenize', body), { value: { tokens } });
  const whole = (await ask('/v1/chat/completions', { messages, max_tokens: 3 })).value;
  t.match(whole, {
    ...{ object: 'chat.completion', model: 'small' },
    choices: [{ message: { role: 'assistant', content: 'aaa' }, finish_reason: 'length' }],
    usage: { prompt_tokens: 14, completion_tokens: 3, total_tokens: 17 },
  });
  t.match((await ask('/v1/completions', { prompt: 'ab', max_tokens: 1 })).value, {
    ...{ object: 'text_completion', model: 'small', choices: [{ text: 'a', finish_reason: 'length' }] },
    usage: { prompt_tokens: 3 },
  });
  await same(
    ask('/infill', { input_prefix: 'a', input_suffix: 'b' }),
    failure(
      ...([501, 'not_supported_error'] as const),
      'Infill is not supported by this model: it lacks the tokens for it.',
    ),
  );
  const long = { prompt: 'x'.repeat(599) };
  await same(
    ask('/v1/completions', long),
    failure(
      ...([400, 'exceed_context_size_error'] as const),
      'request (600 tokens) exceeds the available context size (600 tokens), try increasing it',
      { n_prompt_tokens: 600, n_ctx: 600 },
    ),
  );
  await same(ask('/tokenize', '{'), failure(400, 'invalid_request_error', 'The body is not JSON.'));
  const most = 16 * 1024 * 1024;
  await same(
    ask('/tokenize', 'x'.repeat(most)),
    failure(400, 'invalid_request_error', 'The body is not JSON.'),
  );
  await same(
    ask('/tokenize', 'x'.repeat(most + 1)),
    failure(
      ...([413, 'invalid_request_error'] as const),
      'The body is too large. It has more than 16,777,216 bytes.',
    ),
  );
  t.equal((await ask('/health', 'x'.repeat(most))).headers.connection, 'close', 'a body that nobody reads');

  let open: () => void = () => undefined;
  whenOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  begun = 0;
  const answer = ask('/v1/completions', { prompt: 'a', max_tokens: 1 });
  const busy = await poll(
    () => ask('/slots'),
    ({ value }) => value[0].is_processing,
  );
  t.strictSame(busy.value, [{ id: 0, n_ctx: 600, is_processing: true }]);
  await same(ask('/slots?fail_on_no_slot=1'), failure(503, 'unavailable_error', 'no slot available'));
  const connected = once(server, 'connection');
  const sent = { host: '127.0.0.1', port, path: '/v1/completions', method: 'POST', agent: false };
  const leaving = httpRequest({ ...sent, headers: { authorization: `Bearer ${key}` } });
  leaving.on('error', () => undefined);
  leaving.end('{"prompt":"b"}');
  const [socket] = await connected;
  // It has arrived when a later request is answered.
  t.equal((await ask('/slots')).status, 200);
  const closed = once(socket, 'close');
  leaving.destroy();
  await closed;
  open();
  t.equal((await answer).status, 200);
  t.match((await ask('/v1/completions', { prompt: 'c', max_tokens: 1 })).value, { usage: {} });
  t.equal(begun, 2, 'nothing is generated for who has left');
  await same(ask('/slots'), { value: [{ id: 0, n_ctx: 600, is_processing: false }] });
});
