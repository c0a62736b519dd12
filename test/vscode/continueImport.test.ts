import * as fc from 'fast-check';
import t from 'tap';
import { parseContinueConfig } from '../../client/vscode/imports/continueConfig.ts';
import { type ImportStep, planImport, toRow } from '../../client/vscode/imports/continuePlan.ts';

const key = 'sk-local-12345678';

const yaml = `name: Mine
version: 1.0.0
schema: v1
models:
  - name: Chat
    provider: ollama
    model: qwen3:8b
    apiBase: http://localhost:11434/
    defaultCompletionOptions:
      contextLength: 16384
  - name: Complete
    provider: ollama
    model: qwen2.5-coder:1.5b
    roles: [autocomplete]
    autocompleteOptions:
      debounceDelay: 250
      disableInFiles: ["*.md"]
  - name: Embed
    provider: ollama
    model: nomic-embed-text
    roles: [embed]
  - name: Box
    provider: openai
    model: llama
    apiBase: https://box.example:8443/v1
    apiKey: ${key}
  - name: Claude
    provider: anthropic
    model: claude
    apiKey: sk-cloud-12345678
  - name: Cloud
    provider: openai
    model: gpt
    apiKey: sk-cloud-12345678
  - uses: ollama/llama3.1-8b
  - name: Kept elsewhere
    provider: vllm
    model: AUTODETECT
    apiKey: \${{ secrets.VLLM }}
mcpServers:
  - name: files
    command: npx
rules:
  - Be brief
`;

/** What the user sees. */
const shown = (steps: readonly ImportStep[], now = {}) =>
  steps.map((step) => {
    const { label, description, picked } = toRow(step, now);
    return `${picked ? 'x' : ' '} ${label}: ${description}`;
  });

/** What a configuration with these models would set. */
const planOf = (models: readonly object[], now: Parameters<typeof planImport>[1] = {}) =>
  planImport(parseContinueConfig(JSON.stringify({ models }), 'yaml'), now);

t.test('a config.yaml: what it sets, and what is left out', async (t) => {
  const { steps, leftOut } = planImport(parseContinueConfig(yaml, 'yaml'), {});
  t.strictSame(shown(steps), [
    'x runner.chatModel: qwen3:8b',
    'x runner.completionModel: qwen2.5-coder:1.5b',
    'x runner.contextLength: 16384',
    'x runner.exclude: *.md',
    '  runner.servers: openai: https://box.example:8443, not on this machine',
    'x runner.servers: vllm: http://127.0.0.1:8000',
    '  Token for https://box.example:8443: kept in the secret storage, sent only there',
  ]);
  t.strictSame(leftOut, [
    'Claude (anthropic)',
    'Cloud (openai)',
    "ollama/llama3.1-8b (a block of Continue's hub)",
    'the key of Kept elsewhere (it is kept elsewhere: "Runner: Set an Access Token")',
    'MCP servers (the editor has its own: "MCP: Add Server")',
    'rules',
    'models that embed (@runner searches by words)',
  ]);
  t.strictSame(
    steps.filter(({ kind }) => kind === 'key'),
    [{ kind: 'key', origin: 'https://box.example:8443', key }],
    'a key goes to the origin of its address alone',
  );
  t.notMatch(JSON.stringify([shown(steps), leftOut]), /sk-/, 'no key is shown');
});

t.test('the older config.json', async (t) => {
  const config = {
    models: [{ title: 'Local', provider: 'lmstudio', model: 'qwen3', contextLength: 8192 }],
    tabAutocompleteModel: { title: 'Tab', provider: 'ollama', model: 'starcoder2:3b' },
    embeddingsProvider: { provider: 'transformers.js' },
    tabAutocompleteOptions: { disable: false },
  };
  const { steps, leftOut } = planImport(parseContinueConfig(JSON.stringify(config), 'json'), {});
  t.strictSame(shown(steps), [
    'x runner.host: http://127.0.0.1:1234',
    'x runner.chatModel: qwen3',
    'x runner.contextLength: 8192',
    'x runner.servers: ollama: http://127.0.0.1:11434',
  ]);
  t.match(leftOut, [
    'a model without a name (transformers.js)',
    /^starcoder2:3b for completion \(it is at http:\/\/127\.0\.0\.1:11434/,
  ]);
});

t.test('the runner at hand is the one whose model chats, on this machine if there is one', async (t) => {
  const at = (url: string, more: object = {}) => ({ provider: 'openai', model: 'm', apiBase: url, ...more });
  const several = [1, 2, 3].map((port) => at(`http://127.0.0.1:${port}`));
  t.strictSame(
    shown(planOf(several, { servers: [{ name: 'openai', url: 'x:1' }] }).steps),
    [
      'x runner.host: http://127.0.0.1:1',
      'x runner.chatModel: m',
      ...[2, 3].map((port) => `x runner.servers: openai-${port}: http://127.0.0.1:${port}`),
    ],
    'each further one has a name of its own',
  );
  const [far, near] = ['https://far.example', 'http://127.0.0.1:8000'];
  const completing = { roles: ['autocomplete'] };
  const host = (...models: readonly object[]) =>
    planOf(models).steps.flatMap((step) =>
      step.kind === 'setting' && step.name === 'host' ? [step.value] : [],
    );
  t.strictSame(host(at(far), at(near)), [near], 'this machine first');
  t.strictSame(host(at(far, completing), at('https://chat.example')), ['https://chat.example']);
  t.strictSame(host(at(far, { roles: ['embed'] }), at(near, completing)), [near]);
  t.strictSame(host(at(far, { roles: ['embed'] })), [far], 'whatever the only one is for');
  const every = [at(far), { ...at(near, completing), model: 'AUTODETECT' }];
  t.notMatch(JSON.stringify(planOf(every)), /AUTODETECT/, 'every model is no model');
  t.match(planOf([at(` ${near} `)]).steps[0], { value: near }, 'blanks around a value mean nothing');
});

t.test('each entry is a model, or a clause that says why it is none', async (t) => {
  const named = { provider: 'openai', model: 'm', apiBase: 'http://box' };
  const read = { name: 'm', provider: 'openai', url: 'http://box', roles: ['chat'] };
  const kept = '(it is kept elsewhere: "Runner: Set an Access Token")';
  const cases: readonly (readonly [entry: object, model: object | undefined, leftOut?: string])[] = [
    [
      { provider: 'LMStudio', model: 'm' },
      { ...read, provider: 'lmstudio', url: 'http://127.0.0.1:1234' },
    ],
    [named, read],
    [
      { ...named, roles: ['edit', {}, ' apply '] },
      { ...read, roles: ['edit', 'apply'] },
    ],
    [
      { ...named, contextLength: 5, defaultCompletionOptions: { contextLength: 7 } },
      { ...read, contextLength: 7 },
    ],
    ...[0, -1, 1.5, 100_000_000, 'many'].map((contextLength) => [{ ...named, contextLength }, read] as const),
    [
      { ...named, apiKey: '12345678' },
      { ...read, key: '12345678' },
    ],
    ...['1234567', '1234 5678', 'schlüssel', 7].map((apiKey) => [{ ...named, apiKey }, read] as const),
    [{ ...named, apiKey: '{{ secrets.K }}' }, read, `the key of m ${kept}`],
    [{ ...named, name: 'Mine', title: 'Ours', apiKey: `$\{KEY_OF_MINE}` }, read, `the key of Mine ${kept}`],
    [{ ...named, model: 'x'.repeat(301) }, undefined, 'a model without a name (no model is named)'],
    [{ ...named, apiBase: 'ftp://box' }, undefined, 'm (its apiBase is no address)'],
    [{ provider: 'anthropic', name: 'Claude', model: 'm' }, undefined, 'Claude (anthropic)'],
    [{ ...named, uses: 'me/mine' }, undefined, "me/mine (a block of Continue's hub)"],
  ];
  for (const [entry, model, ...leftOut] of cases)
    t.strictSame(
      parseContinueConfig(JSON.stringify({ models: [entry, 'no entry'] }), 'yaml'),
      { models: model ? [model] : [], excluded: [], isCompletionOff: false, leftOut },
      JSON.stringify(entry),
    );
});

t.test('what else a configuration has is taken within bounds, or named', async (t) => {
  const globs = Array.from({ length: 51 }, (_, at) => `*.${at}`);
  const whole = {
    models: Array.from({ length: 100 }, () => ({ provider: 'x', model: 'm' })),
    tabAutocompleteOptions: { disable: 'true', disableInFiles: [...globs, '*.0'] },
    ...{ mcpServers: [{}], rules: ['a'], prompts: ['b'], docs: { c: 1 } },
  };
  t.strictSame(parseContinueConfig(JSON.stringify(whole), 'yaml'), {
    models: [],
    excluded: globs.slice(0, 50),
    isCompletionOff: true,
    leftOut: [
      'm (x)',
      'MCP servers (the editor has its own: "MCP: Add Server")',
      'rules',
      'prompts (keep them as files: "Runner: Use a Prompt")',
      'documentation sites',
    ],
  });
  const bare = { models: 'none', mcpServers: [], rules: {}, prompts: null, tabAutocompleteOptions: 'no' };
  const nothing = { models: [], excluded: [], isCompletionOff: false, leftOut: [] };
  t.strictSame(parseContinueConfig(JSON.stringify(bare), 'yaml'), nothing);
});

t.test('an address is that of a known server, in whatever form it is written', async (t) => {
  const planned = (apiBase: string, now: Parameters<typeof planImport>[1], more: readonly object[] = []) =>
    shown(
      planOf([{ provider: 'openai', model: 'm', apiBase }, ...more], { chatModel: 'm', ...now }).steps,
      now,
    );
  t.strictSame(planned('http://localhost:11434', {}), [], 'the usual one');
  t.strictSame(planned('http://[::1]:11434/', { host: '' }), []);
  t.strictSame(planned('http://far', { host: 'http://near' }), [
    '  runner.host: http://far, not on this machine, now http://near',
  ]);
  const [local, other] = [
    { provider: 'vllm', model: 'n', apiBase: 'http://localhost:1' },
    { provider: 'vllm', model: 'o', apiBase: 'http://127.0.0.1:1' },
  ];
  const here = 'http://127.0.0.1:11434';
  t.strictSame(
    planned(here, {}, [local, other]),
    ['x runner.servers: vllm: http://localhost:1'],
    'each place once',
  );
  t.strictSame(planned(here, { servers: [{ name: 'a', url: 'localhost:1' }] }, [local]), []);
  const keyed = { ...local, apiKey: 'first-key' };
  t.strictSame(
    planOf([keyed, { ...other, apiKey: 'a-key-of-1' }, { ...keyed, apiKey: 'second-key' }]).steps.filter(
      ({ kind }) => kind === 'key',
    ),
    [
      { kind: 'key', origin: 'http://localhost:1', key: 'first-key' },
      { kind: 'key', origin: 'http://127.0.0.1:1', key: 'a-key-of-1' },
    ],
    'the first key of an origin counts',
  );
});

t.test('what is set already is not offered, and what changes says what it is now', async (t) => {
  const config = parseContinueConfig(yaml, 'yaml');
  const now = {
    host: 'localhost',
    servers: [
      { name: 'openai', url: 'https://box.example:8443/v1' },
      { name: 'vllm', url: 'http://gpu.example:1' },
    ],
    chatModel: 'other:1b',
    completionModel: 'qwen2.5-coder:1.5b',
    contextLength: 16_384,
    exclude: ['**/private/**', '*.md'],
  };
  const { steps } = planImport(config, now);
  t.strictSame(shown(steps, now), [
    'x runner.chatModel: qwen3:8b, now other:1b',
    'x runner.servers: vllm-2: http://127.0.0.1:8000',
    '  Token for https://box.example:8443: kept in the secret storage, sent only there',
  ]);
  const off = parseContinueConfig(yaml.replace('debounceDelay: 250', 'disable: true'), 'yaml');
  const { steps: without, leftOut } = planImport(off, {});
  t.notOk(without.some((step) => step.kind === 'setting' && step.name === 'completionModel'));
  t.ok(leftOut.includes('completion (Continue has it switched off)'));
});

t.test('a hostile file is an error with a sentence, or is read within bounds', async (t) => {
  const cases: readonly [text: string, kind: 'yaml' | 'json', says: RegExp][] = [
    ['models: [', 'yaml', /is not valid YAML/],
    ['- a\n- b\n', 'yaml', /must be a list of "key: value" lines/],
    [`a: ${'[x, '.repeat(5_000)}`, 'yaml', /too long|levels/],
    [`a: &a [1]\nb: [${'*a, '.repeat(50)}]`, 'yaml', /aliases/],
    ['{ "models": [ }', 'json', /is not valid JSON/],
    ['[]', 'json', /is not valid JSON/],
  ];
  for (const [text, kind, says] of cases) t.throws(() => parseContinueConfig(text, kind), { message: says });
  const model = { provider: 'ollama', model: 'm\u0000', apiBase: 'file:///etc/passwd' };
  const many = Array.from({ length: 500 }, (_, at) => ({ ...model, model: `m${at}` }));
  const read = parseContinueConfig(JSON.stringify({ models: [model, ...many] }), 'json');
  t.strictSame(read.models, [], 'no address but http and https');
  t.ok(read.leftOut.includes('every model after the first 100'));
  const value = fc.jsonValue({ maxDepth: 4 });
  const entry = fc.record(
    {
      provider: fc.oneof(value, fc.constantFrom('ollama', 'openai', 'vllm')),
      model: fc.oneof(value, fc.string()),
      apiBase: fc.oneof(value, fc.constantFrom('http://h', 'https://h:1/v1', '::', 'localhost')),
      apiKey: fc.oneof(value, fc.string()),
      roles: fc.oneof(value, fc.constant(['chat', 'autocomplete'])),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(entry, value)), value, (models, rest) => {
      const text = JSON.stringify({
        models,
        tabAutocompleteModel: rest,
        tabAutocompleteOptions: rest,
        rules: rest,
      });
      const { steps } = planImport(parseContinueConfig(text, 'json'), {});
      for (const step of steps) {
        const row = toRow(step, {});
        if (step.kind === 'key') t.notOk(`${row.label} ${row.description}`.includes(step.key));
      }
    }),
  );
});
