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
  const [far, near] = ['https://far.example', 'http://127.0.0.1:8000'];
  const completing = { roles: ['autocomplete'] };
  const host = (...models: readonly object[]) => {
    const { steps } = planImport(parseContinueConfig(JSON.stringify({ models }), 'yaml'), {});
    return steps.flatMap((step) => (step.kind === 'setting' && step.name === 'host' ? [step.value] : []));
  };
  t.strictSame(host(at(far), at(near)), [near], 'this machine first');
  t.strictSame(host(at(far, completing), at('https://chat.example')), ['https://chat.example']);
  t.strictSame(host(at(far, { roles: ['embed'] }), at(near, completing)), [near]);
  t.strictSame(host(at(far, { roles: ['embed'] })), [far], 'whatever the only one is for');
  const every = { models: [at(far), { ...at(near, completing), model: 'AUTODETECT' }] };
  t.notMatch(
    JSON.stringify(planImport(parseContinueConfig(JSON.stringify(every), 'yaml'), {})),
    /AUTODETECT/,
    'every model is no model',
  );
  const keyed = (apiKey: string) =>
    planImport(parseContinueConfig(JSON.stringify({ models: [at(far, { apiKey })] }), 'yaml'), {}).steps.some(
      ({ kind }) => kind === 'key',
    );
  t.strictSame(['none', 'long-enough', `$\{{ secrets.KEY_OF_MINE }}`, '{{secrets.KEY}}'].map(keyed), [
    ...[false, true, false, false],
  ]);
  const named = planImport(parseContinueConfig(JSON.stringify({ models: [at(` ${near} `)] }), 'yaml'), {});
  t.match(named.steps[0], { value: near }, 'blanks around a value mean nothing');
  t.match(
    shown(planImport(parseContinueConfig(yaml, 'yaml'), { exclude: ['a', 'b'] }).steps, {
      exclude: ['a', 'b'],
    }).join('\n'),
    /runner\.exclude: a, b, \*\.md/,
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
