import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { mock } from 'node:test';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { ChatPrompts } from '../../daemon/engine/process/chatPrompt.ts';
import type {
  EvaluateOptions,
  NativeLibrary,
  NativeModelHandle,
  Token,
} from '../../daemon/engine/process/library.ts';
import { PromptTokens } from '../../daemon/engine/process/promptTokens.ts';
import { serveEngine } from '../../daemon/engine/process/server.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

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

/** Each byte is a token. */
const bytes = {
  tokenize: (text: string) => [...Buffer.from(text)],
  detokenize: (tokens: readonly Token[]) => Buffer.from(tokens).toString('utf8'),
};

const standIns = globalThis as { engineLibrary?: object };
const key = 'a-key-for-tests-alone';
const esm = '{"type":"module","main":"index.js"}';

/** A library that says what a test wants, and what it was asked. */
interface Script {
  /** What the model says; by default the same letter for ever. */
  says?: Iterable<Token> | AsyncIterable<Token> | undefined;
  /** Ends the load. */
  whenLoaded?: Promise<void>;
  /** Runs before each batch of a prompt. */
  whenRead?: () => unknown;
  /** Tokens that were evaluated before. */
  kept?: readonly Token[];
  needsCheckpoints?: boolean;
  model?: object;
  llama?: object | ((logger: (level: string, message: string) => void) => object);
  context?: object;
}

/** The folder of a library that does as the script says, with model files. */
async function libraryWith(t: Test, script: Script = {}) {
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
  /** What the library was asked for, and the sizes of the batches that it read. */
  const [asked, said, batches, sampled, grammars]: [
    unknown[],
    string[],
    number[],
    EvaluateOptions[],
    unknown[],
  ] = [[], [], [], [], []];
  let [state, checkpoints]: [Token[], number] = [[...(script.kept ?? [])], 0];
  const read = async (tokens: readonly Token[]) => {
    batches.push(tokens.length);
    state.push(...tokens);
    await script.whenRead?.();
  };
  const sequence = {
    get nextTokenIndex() {
      return state.length;
    },
    get contextTokens() {
      return state;
    },
    get needsCheckpoints() {
      return script.needsCheckpoints ?? false;
    },
    takeCheckpoint: async () => void (checkpoints += 1),
    async adaptStateToTokens(tokens: readonly Token[]) {
      const different = state.findIndex((token, index) => token !== tokens[index]);
      if (different >= 0) state = state.slice(0, different);
    },
    evaluateWithoutGeneratingNewTokens: read,
    async *evaluate(tokens: readonly Token[], options: EvaluateOptions) {
      batches.push(tokens.length);
      state.push(...tokens);
      sampled.push(options);
      if (script.says) yield* script.says;
      else for (;;) yield 97;
    },
  };
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
        ...script.context,
      };
    },
    dispose: async () => void said.push('model disposed'),
    ...script.model,
  };
  standIns.engineLibrary = {
    async getLlama({ logger, ...options }: { logger: (level: string, message: string) => void }) {
      asked.push(options);
      return {
        ...{ cpuMathCores: 5, llamaCppRelease: { release: 'b1' }, setRamCap: async () => undefined },
        async loadModel({ onLoadProgress, ...loading }: { onLoadProgress: (share: number) => void }) {
          asked.push(loading);
          await script.whenLoaded;
          for (const share of [0, 0.001, 0.5, 0.505, 0.4, 1]) onLoadProgress(share);
          return loadedModel;
        },
        async createGrammarForJsonSchema(schema: unknown) {
          grammars.push(schema);
          return { grammar: '' };
        },
        async createGrammar({ grammar }: { readonly grammar: string }) {
          if (grammar !== '') grammars.push(grammar.split('\n')[0]);
          return {};
        },
        ...(typeof script.llama === 'function' ? script.llama(logger) : script.llama),
      };
    },
  };
  t.teardown(() => delete standIns.engineLibrary);
  const path = (name: string) => join(folder, name);
  let port = 0;
  /** Starts an engine, and says what it reports. */
  const start = async (options: object = {}) => {
    const first = { library: folder, model: path('small.gguf'), alias: 'small', key, ...options };
    const server = await serveEngine(first, ({ event, ...about }: { event?: string; port?: number }) => {
      port = event === 'listening' ? (about.port ?? 0) : port;
      said.push([event, ...Object.values(about)].join(' ').replaceAll(String(port), 'PORT'));
    });
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    return server;
  };
  const send = (path: string, body?: unknown, headers: OutgoingHttpHeaders = {}) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = { authorization: `Bearer ${key}`, ...headers };
    for (const [name, value] of Object.entries(sent)) if (value === '') Reflect.deleteProperty(sent, name);
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: sent, agent: false });
    request.on('error', () => undefined);
    request.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
    return request;
  };
  const ask = async (path: string, body?: unknown, headers: OutgoingHttpHeaders = {}) => {
    const [response] = (await once(send(path, body, headers), 'response')) as [IncomingMessage];
    t.match(response.headers, { server: 'llama.cpp', 'content-type': 'application/json; charset=utf-8' });
    const value = JSON.parse(await textIn(response));
    return { status: response.statusCode ?? 0, value, headers: response.headers };
  };
  /** The events of a stream; its mark as it is. */
  const stream = async (path: string, body: object) => {
    const [response] = (await once(send(path, { ...body, stream: true }), 'response')) as [IncomingMessage];
    t.equal(response.headers['content-type'], 'text/event-stream');
    const events = (await textIn(response)).split('\n\n').slice(0, -1);
    // biome-ignore lint/suspicious/noExplicitAny: tests read deep into answers that they know.
    return events.map((event): any => (/^data: \{/.test(event) ? JSON.parse(event.slice(6)) : event));
  };
  return {
    ...{ asked, said, batches, sampled, grammars, path, start, send, ask, stream },
    script,
    /** What has been evaluated. */
    state: () => state,
    forget: (kept: readonly Token[] = []) => {
      state = [...kept];
      for (const list of [batches, sampled, grammars]) list.length = 0;
      checkpoints = 0;
    },
    checkpoints: () => checkpoints,
  };
}

async function textIn(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return text;
}

function failure(code: number, type: string, message: string, more: object = {}) {
  return { status: code, value: { error: { code, message, type, ...more } } };
}

t.test('an answer stops before a text at which it must stop, and sends no half character', async (t) => {
  const engine = await libraryWith(t, { model: bytes });
  await engine.start();
  const complete = async (text: string, stop: readonly string[]) => {
    engine.script.says = Buffer.from(text);
    const events = await engine.stream('/v1/completions', { prompt: 'x', stop });
    const pieces = events.slice(0, -2).map(({ choices }) => choices[0].text);
    t.equal(events.at(-1), 'data: [DONE]');
    return { pieces, finish: events.at(-2).choices[0].finish_reason };
  };
  for (const { text, stops, want } of [
    { text: 'plain', stops: [], want: 'plain' },
    { text: 'one END two', stops: ['END'], want: 'one ' },
    { text: 'one EN', stops: ['END'], want: 'one EN' },
    { text: 'aab', stops: ['ab'], want: 'a' },
    { text: 'xab', stops: ['ab', 'b'], want: 'x' },
    { text: 'a\n\nb', stops: ['\n\n', 'b'], want: 'a' },
    { text: 'grüße 👋🏽 €', stops: [''], want: 'grüße 👋🏽 €' },
  ]) {
    const { pieces, finish } = await complete(text, stops);
    t.equal(pieces.join(''), want, text);
    t.equal(finish, 'stop');
    t.notMatch(pieces.join('|'), '\u{FFFD}', 'no half character is sent');
  }
  t.strictSame((await complete('one EN two', ['END'])).pieces.slice(0, 4), [...'one ']);
  const unit = fc.constantFrom('a', 'b', 'ü');
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit, maxLength: 20 }),
      fc.string({ unit, minLength: 1, maxLength: 3 }),
      async (text, stop) => {
        const at = text.indexOf(stop);
        const { pieces } = await complete(text, [stop]);
        return pieces.join('') === (at < 0 ? text : text.slice(0, at));
      },
    ),
    { numRuns: 50 },
  );
});

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

t.test('a body is refused with its first mistake', async (t) => {
  const { start, ask } = await libraryWith(t);
  await start();
  const user = { role: 'user', content: 'hi' };
  const chat = '/v1/chat/completions';
  const cases: readonly (readonly [path: string, body: unknown, message: RegExp])[] = [
    [chat, {}, /"messages" is not valid/],
    [chat, { messages: [] }, /there is no message/],
    [chat, { messages: [{ role: '|>', content: 'x' }] }, /"messages\[0\]\.role"/],
    [chat, { messages: [{ role: 'user', content: 1 }] }, /neither a text nor a list/],
    [chat, { messages: [user], stream: 'yes' }, /"stream"/],
    [chat, { messages: [user], stop: 5 }, /"stop" .*neither a text nor a list of texts/],
    [chat, { messages: [user], tools: [{ type: 'function', function: {} }] }, /tools\[0\]\.function\.name/],
    [chat, { messages: [user], tool_choice: 'sometimes' }, /"tool_choice"/],
    [
      chat,
      { messages: [user], response_format: { type: 'json_schema' } },
      /"response_format\.json_schema" is missing/,
    ],
    ['/v1/completions', { prompt: [1, true] }, /"prompt"/],
    ['/v1/completions', { prompt: [-1] }, /a token that the model does not know/],
    ['/v1/completions', { prompt: [firstControl + controls.length] }, /a token that the model does not know/],
    ['/infill', { input_prefix: '' }, /"input_suffix"/],
    ['/tokenize', {}, /"content"/],
    ['/tokenize', '{', /^The body is not JSON\.$/],
    [chat, '['.repeat(100_000), /nested too deep/],
  ];
  for (const [path, body, message] of cases) {
    const error = { type: 'invalid_request_error', message };
    t.match(await ask(path, body), { status: 400, value: { error } }, message.source);
  }
  const nulls = { stop: null, seed: null, max_tokens: 1, tools: null };
  const { status } = await ask(chat, { messages: [{ ...user, tool_calls: null }], ...nulls });
  t.equal(status, 200, 'null counts as absent');
});

t.test(
  'a prompt is read in batches, from where it differs, and an answer ends with the window',
  async (t) => {
    const engine = await libraryWith(t);
    await engine.start();
    const { ask, batches, forget, checkpoints, script } = engine;
    const prompt = Array.from({ length: 300 }, (_, index) => index % 90);
    const ones = (length: number) => Array.from({ length }, () => 1);
    const cases: readonly {
      body: object;
      prompt?: readonly Token[];
      kept?: readonly Token[];
      slides?: boolean;
      want: { text: number; cached?: number; batches?: readonly number[]; checkpoints?: number };
    }[] = [
      // The beginning is put before it.
      { body: {}, want: { text: 299, batches: [64, 64, 64, 64, 45] } },
      { body: { max_tokens: 3 }, want: { text: 3, batches: [64, 64, 64, 64, 45] } },
      { body: { n_predict: 2 }, kept: prompt, want: { text: 2, cached: 300, batches: [1] } },
      {
        body: { max_tokens: 1 },
        kept: [...prompt.slice(0, 199), 7, 7],
        want: { text: 1, cached: 200, batches: [64, 37] },
      },
      { body: { n_predict: 0 }, want: { text: 0, batches: [] } },
      { body: { max_tokens: 1 }, prompt: ones(199), slides: true, want: { text: 1, checkpoints: 1 } },
      { body: { max_tokens: 1 }, prompt: ones(199), want: { text: 1, checkpoints: 0 } },
    ];
    const bos = firstControl + 2;
    for (const { body, prompt: given = prompt, kept, slides = false, want } of cases) {
      forget(kept && [bos, ...kept]);
      script.needsCheckpoints = slides;
      const { choices, usage } = (await ask('/v1/completions', { prompt: given, ...body })).value;
      t.match(choices, [{ text: 'a'.repeat(want.text), finish_reason: 'length' }]);
      t.match(usage, { prompt_tokens: given.length + 1, completion_tokens: want.text });
      if (want.batches) t.strictSame(batches, want.batches);
      if (want.batches) t.equal(usage.prompt_tokens_details.cached_tokens, want.cached ?? 0);
      if (want.checkpoints !== undefined) t.equal(checkpoints(), want.checkpoints, JSON.stringify(want));
    }
  },
);

t.test('what a request does not ask for is sampled as llama.cpp does', async (t) => {
  const { start, ask, forget, sampled: seen } = await libraryWith(t);
  await start({ defaults: {} });
  const prompt = Array.from({ length: 100 }, (_, index) => index);
  const sampled = async (body: object) => {
    forget();
    await ask('/v1/completions', { prompt, max_tokens: 1, ...body });
    const [{ repeatPenalty, ...rest } = {}] = seen;
    return { ...rest, ...repeatPenalty } as EvaluateOptions & { readonly punishTokens?: () => Token[] };
  };
  const usual = { temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05, yieldEogToken: false };
  const { seed, ...open } = await sampled({});
  t.same(open, usual, 'nothing that is said again is avoided');
  t.ok(Number.isInteger(seed) && Number(seed) >= 0, 'a seed of its own');
  const { seed: other = -1 } = await sampled({ seed: -1 });
  t.ok(other >= 0 && other !== seed, 'each answer another one');
  const body = { temperature: 0, top_k: 0, top_p: 1, min_p: 0, seed: 0, ignore_eos: true };
  t.same(await sampled(body), { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0, yieldEogToken: true });
  for (const { body, last = 64, want } of [
    { body: { repeat_penalty: 1.5 }, want: { penalty: 1.5, presencePenalty: 0, frequencyPenalty: 0 } },
    { body: { presence_penalty: 0.5 }, want: { penalty: 1, presencePenalty: 0.5, frequencyPenalty: 0 } },
    { body: { frequency_penalty: 0.5 }, want: { penalty: 1, presencePenalty: 0, frequencyPenalty: 0.5 } },
    { body: { repeat_penalty: 2, repeat_last_n: 0 }, last: 0, want: { penalty: 2 } },
    { body: { repeat_penalty: 2, repeat_last_n: 3 }, last: 3, want: { penalty: 2 } },
    { body: { repeat_penalty: 2, repeat_last_n: -1 }, last: 101, want: { penalty: 2 } },
  ]) {
    const { punishTokens, ...found } = await sampled(body);
    t.match(found, want);
    t.equal(punishTokens?.().length, last, `the last ${last} tokens are looked at`);
  }
});

t.test('an answer is held to the format or the call that is asked for', async (t) => {
  const { start, ask, stream, forget, grammars, sampled, script } = await libraryWith(t);
  await start();
  const messages = [{ role: 'user', content: 'hi' }];
  const parameters = { type: 'object', properties: { at: { type: 'integer' } } };
  const tools = [
    { type: 'function', function: { name: 'look' } },
    { type: 'function', function: { name: 'see', parameters } },
  ];
  const call = (name: string, given: object) => ({
    type: 'object',
    properties: { name: { const: name }, arguments: given },
  });
  const [look, see] = [call('look', { type: 'object' }), call('see', parameters)];
  const schema = { type: 'object' };
  const cases: readonly (readonly [body: object, want: unknown])[] = [
    [{}, undefined],
    [{ response_format: { type: 'text', schema } }, undefined],
    [{ response_format: { type: 'json_object' } }, 'root ::= object'],
    [{ response_format: { type: 'json_object', schema } }, schema],
    [{ response_format: { type: 'json_schema', schema } }, schema],
    [
      { response_format: { type: 'json_schema', json_schema: { schema: { type: 'array' } }, schema } },
      { type: 'array' },
    ],
    [{ tools }, undefined],
    [{ tools, tool_choice: 'auto' }, undefined],
    [{ tools, tool_choice: 'none' }, undefined],
    [{ tools, tool_choice: 'required' }, { oneOf: [look, see] }],
    [{ tools, tool_choice: { type: 'function', function: { name: 'see' } } }, { oneOf: [see] }],
  ];
  for (const [body, want] of cases) {
    forget();
    await ask('/v1/chat/completions', { messages, max_tokens: 1, ...body });
    t.strictSame(grammars, want === undefined ? [] : [want], JSON.stringify(body));
    t.equal('grammarEvaluationState' in (sampled[0] ?? {}), want !== undefined);
  }
  const must = { messages, tools, tool_choice: 'required' };
  for (const [text, name, given, end = 'tool_calls'] of [
    ['{"name":"look","arguments":{"at":1}}', 'look', '{"at":1}'],
    ['{"name":"look"}', 'look', '{}'],
    ['{"name" : "look","argu', 'look', '{"name" : "look","argu'],
    ['oh', '', 'oh'],
    ['oh and more', '', 'oh and', 'length'],
  ] as const) {
    script.says = Buffer.from(text);
    const body = { ...must, ...(end === 'length' ? { max_tokens: 6 } : {}) };
    const made = { id: /^[0-9a-f]{32}$/, type: 'function', function: { name, arguments: given } };
    t.match((await ask('/v1/chat/completions', body)).value.choices, [
      { message: { role: 'assistant', content: null, tool_calls: [made] }, finish_reason: end },
    ]);
    const events = await stream('/v1/chat/completions', body);
    t.equal(events.length, 4, 'a call is not shown in pieces');
    t.match(events[1].choices, [{ delta: { tool_calls: [{ index: 0, ...made }] }, finish_reason: null }]);
    t.match(events[2].choices, [{ finish_reason: end }]);
  }
});

t.test('a gap is filled between its tokens, behind what else is there', async (t) => {
  const codes = (text: string) => [...text].map((unit) => unit.codePointAt(0));
  const all = { prefix: 1, suffix: 2, middle: 3 };
  for (const begins of [false, true]) {
    const tokens = { bos: 9, bosString: '', eosString: '', shouldPrependBosToken: begins, infill: all };
    const { start, ask, forget, state } = await libraryWith(t, { model: { tokens } });
    await start();
    const read = async (path: string, body: object) => {
      forget();
      const { status, value } = await ask(path, { ...body, n_predict: 1 });
      return status === 200 ? state() : value.error.message;
    };
    const beginning = begins ? [9] : [];
    const body = {
      ...{ input_prefix: 'a<s>', input_suffix: 'z', prompt: 'b' },
      input_extra: [{ filename: 'x', text: 'one' }, { text: 'two' }],
    };
    const gap = [1, ...codes('a<s>b'), 2, ...codes('z'), 3];
    t.strictSame(await read('/infill', body), [...beginning, ...codes('one\ntwo\n'), ...gap]);
    const plain = { input_prefix: 'a', input_suffix: '' };
    t.strictSame(await read('/infill', plain), [...beginning, 1, 97, 2, 3]);
    const mixed = { prompt: ['a<s>', firstControl] };
    t.strictSame(await read('/v1/completions', mixed), [...beginning, 97, firstControl + 2, firstControl]);
    t.match(await read('/v1/completions', { prompt: '' }), begins ? [9] : /is empty/);
  }
  for (const missing of ['prefix', 'suffix', 'middle']) {
    const infill = { ...all, [missing]: null };
    const tokens = { bos: 9, bosString: '', eosString: '', shouldPrependBosToken: false, infill };
    const { start, ask } = await libraryWith(t, { model: { tokens } });
    await start();
    const message = 'Infill is not supported by this model: it lacks the tokens for it.';
    const refused = failure(501, 'not_supported_error', message);
    t.match(await ask('/infill', { input_prefix: 'a', input_suffix: '' }), refused, missing);
  }
});

t.test('an answer that is cancelled ends after the batch that is being read', async (t) => {
  let go: () => void = () => undefined;
  const whenGone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const engine = await libraryWith(t, { whenRead: () => whenGone });
  const server = await engine.start();
  const connected = once(server, 'connection');
  const leaving = engine.send('/v1/completions', { prompt: Array.from({ length: 500 }, () => 1) });
  const [socket] = await connected;
  await poll(
    async () => engine.batches.length,
    (length) => length === 1,
  );
  const closed = once(socket, 'close');
  leaving.destroy();
  await closed;
  go();
  t.match((await engine.ask('/v1/completions', { prompt: 'c', max_tokens: 1 })).value, { usage: {} });
  t.strictSame(engine.batches, [64, 1]);
});

t.test('a stream that fails in its middle says so in an event, and ends without a mark', async (t) => {
  async function* failing() {
    yield 97;
    throw new Error('no memory');
  }
  const { start, stream } = await libraryWith(t, { says: failing() });
  await start();
  const events = await stream('/v1/completions', { prompt: 'x' });
  t.match(events, [
    { choices: [{ text: 'a' }] },
    { error: { code: 500, message: 'Error: no memory', type: 'server_error' } },
  ]);
  t.equal(events.length, 2);
});

t.test('an answer is generated no faster than its client reads, and not for one that has left', async (t) => {
  let [made, isFreed] = [0, false];
  async function* endless() {
    try {
      for (;;) {
        made += 1;
        yield 97;
      }
    } finally {
      isFreed = true;
    }
  }
  const { start, send } = await libraryWith(t, {
    says: endless(),
    context: { contextSize: 1e9 },
    model: { trainContextSize: 1e9 },
  });
  await start();
  const request = send('/v1/completions', { prompt: 'x', stream: true });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.pause();
  let before = -1;
  await poll(
    async () => made,
    (now) => {
      const isStill = now === before;
      before = now;
      return isStill;
    },
  );
  request.destroy();
  await poll(
    async () => isFreed,
    (is) => is,
  );
  t.ok(made < 200_000, `${made} tokens`);
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

  for (const [end, opened] of [
    ['<think>', '<think>'],
    ['<Thinking>\n', '<Thinking>\n'],
    ['<thought>', '<thought>'],
    ['<reasoning> ', '<reasoning> '],
    ['<think></think>', ''],
    ['<tool>', ''],
  ] as const)
    t.equal(promptsOf(() => end).prompt({ messages: [user] }).opened, opened, end);
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
  const own = { role: 'system', content: 'Own.' };
  const defaults = { system: 'Be brief.', temperature: 0.2, top_p: 0.9, repeat_penalty: 1.5, max_tokens: 9 };
  for (const [given, messages, body, want, sampled, length] of [
    [{}, [user], { max_tokens: 2 }, 'user: hi\n', { temperature: 0.8, topP: 0.95 }, 2],
    [defaults, [user], {}, 'system: Be brief.\nuser: hi\n', { temperature: 0.2, topP: 0.9 }, 9],
    [
      defaults,
      [user, own],
      { temperature: 0, top_p: 1, repeat_penalty: 1, n_predict: 5 },
      'user: hi\nsystem: Own.\n',
      { temperature: 0, topP: 1, repeatPenalty: undefined },
      5,
    ],
    [defaults, [{ ...own, role: 'developer' }], {}, 'system: Own.\n', { repeatPenalty: { penalty: 1.5 } }, 9],
  ] as const) {
    const { start, ask, sampled: seen } = await libraryWith(t);
    await start({ defaults: given });
    t.equal((await ask('/apply-template', { messages })).value.prompt, want);
    const { value } = await ask('/v1/chat/completions', { messages, ...body });
    t.equal(value.choices[0].message.content.length, length);
    t.match(seen[0], sampled);
  }
});

t.test('a model is loaded once, as it was asked for', async (t) => {
  const { asked, said, start, path } = await libraryWith(t);
  await start();
  t.strictSame(said, ['listening PORT', 'loading 0', 'loading 50', 'loading 100', 'ready PORT 600 1000']);
  const library = { gpu: false, build: 'never', skipDownload: true, progressLogs: false };
  t.strictSame(asked.splice(0), [
    { ...library, maxThreads: 0, logLevel: 'error' },
    { modelPath: path('small.gguf'), gpuLayers: 0 },
    { contextSize: { max: 1_000 }, batchSize: 64, threads: 4 },
  ]);
  await start({ context: 300, threads: 2 });
  t.strictSame(asked.at(-1), { contextSize: { max: 300 }, batchSize: 64, threads: 2 });
  for (const wrong of [{ key: 'short' }, { context: 0 }, { threads: 0.5 }])
    await t.rejects(start(wrong), { message: new RegExp(Object.keys(wrong)[0] ?? '') });
});

t.test('an idle model leaves the memory after its time, and the next use loads it again', async (t) => {
  const { said, start, ask } = await libraryWith(t);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const state = async () => (await ask('/v1/models')).value.data[0].status.value;
  const use = () => ask('/tokenize', { content: 'a' });
  await start({ keepAliveSeconds: 5 });
  said.splice(0);
  mock.timers.tick(4_999);
  await use();
  mock.timers.tick(4_999);
  t.equal(await state(), 'loaded', 'it was used just now');
  mock.timers.tick(1);
  t.equal(await state(), 'unloaded');
  t.strictSame(said.splice(0), ['context disposed', 'model disposed', 'unloaded']);
  await use();
  t.equal(await state(), 'loaded');
  t.match(said.splice(0), ['loading 0', 'loading 50', 'loading 100', /^ready PORT/]);
  for (const [keepAliveSeconds, left] of [
    [0, 'unloaded'],
    [2_000_000, 'unloaded'],
    [2_000_001, 'loaded'],
    [-1, 'loaded'],
    [undefined, 'loaded'],
  ] as const) {
    await start(keepAliveSeconds === undefined ? {} : { keepAliveSeconds });
    mock.timers.tick(2_000_001_000);
    t.equal(await state(), left, String(keepAliveSeconds));
  }
});

t.test('a model that cannot be loaded says why', async (t) => {
  class InsufficientMemoryError extends Error {}
  const around = (why: string) =>
    `The model cannot be loaded: ${why}. The file may be damaged, or of a kind that this engine does not know: get it again, or choose another one.`;
  for (const [error, complaints, message] of [
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
    const llama = (logger: (level: string, message: string) => void) => ({
      async loadModel() {
        for (const complaint of complaints) logger('error', complaint);
        throw error;
      },
    });
    const { start, said } = await libraryWith(t, { llama });
    await t.rejects(start(), { name: 'LoadError', message });
    t.strictSame(said, ['listening PORT'], 'nobody was told that it is ready');
  }
  const { start, path } = await libraryWith(t);
  for (const [options, message] of [
    [{ model: path('none.gguf') }, /none\.gguf cannot be read: .*ENOENT.*\. Choose another model file\.$/],
    [
      { model: path('node_modules') },
      /node_modules cannot be read: it is not a regular file\. Choose another/,
    ],
    [{ model: path('page.gguf') }, /page\.gguf is not a model in the GGUF format\. Choose a \.gguf file\.$/],
    [{ model: path('short.gguf') }, /short\.gguf is not a model in the GGUF format/],
    [
      { library: path('none') },
      /^The engine's library cannot be loaded on this machine: .*\. Install the engine again, or use another runner\.$/,
    ],
  ] as const)
    await t.rejects(start(options), { name: 'LoadError', message });
  const refusing = await libraryWith(t, {
    model: { createContext: () => Promise.reject(new Error('no room')) },
  });
  await t.rejects(refusing.start(), { message: around('no room') });
  t.equal(refusing.said.at(-1), 'model disposed', 'what it held is free');
});

t.test('the engine answers as the server of llama.cpp does', async (t) => {
  let whenOpen: Promise<unknown> = Promise.resolve();
  let begun = 0;
  let load: () => void = () => undefined;
  const mayLoad = new Promise<void>((resolve) => {
    load = resolve;
  });
  const engine = await libraryWith(t, {
    says: {
      async *[Symbol.asyncIterator]() {
        begun += 1;
        await whenOpen;
        for (;;) yield 97;
      },
    },
    whenLoaded: mayLoad,
  });
  const { ask, send, said } = engine;
  const starting = engine.start();
  await poll(
    async () => said,
    (events) => events.length > 0,
  );
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
  load();
  const server = await starting;
  const { port, address } = server.address() as AddressInfo;
  t.equal(address, '127.0.0.1');
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
  const leaving = send('/v1/completions', { prompt: 'b' });
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
