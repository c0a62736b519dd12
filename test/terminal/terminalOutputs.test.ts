import t from 'tap';
import { ResponseError } from 'vscode-jsonrpc';
import type { ChatResult } from '../../protocol/messages/chat.ts';
import type { Model } from '../../protocol/messages/models.ts';
import { golden } from '../support/golden.ts';
import { modelLike, no, unknown, yes } from '../support/modelLike.ts';
import { where } from '../support/systems.ts';
import { type Asked, offline, startTerminal, type TerminalOptions, type Turn } from './terminalPeer.ts';

process.env['TZ'] = 'UTC';

const running = { expiresAt: '2026-11-21T13:05:00Z', size: 4.1e9, sizeVram: 2e9 };
const details = { parameterSize: '4.0B', quantization: 'Q4_K_M', family: 'qwen', format: 'gguf' };
const models: readonly Model[] = [
  modelLike(
    'qwen3:4b',
    {
      size: 2.5e9,
      details,
      modifiedAt: '2026-11-01T08:00:00Z',
      context: { allocated: 4096, maximum: 40_960 },
      running,
    },
    { tools: yes, thinking: yes },
  ),
  modelLike('seer:12b', { size: 8.1e9, context: { maximum: 131_072 } }, { vision: yes, tools: unknown }),
  modelLike('embedder', { size: 3e8 }, { completion: no, embedding: yes }),
  modelLike('far:120b-cloud', { remote: { host: 'https://ollama.com', model: 'far:120b' } }, { tools: yes }),
  modelLike('loading:1b', {
    size: 9e8,
    loading: { percent: 41.6 },
    context: { allocated: 2048, from: 'assumed' },
  }),
];
const shown = {
  model: models[0],
  parameters: { temperature: 0.6, stop: ['<|im_start|>', 'a "b"'] },
  system: 'Be brief.\nBe kind.',
  template: '{{ .Prompt }}\n',
  license: 'Apache License\nVersion 2.0',
};
const session = {
  ...{
    id: '20261120-aaaaaaaa',
    title: 'Rivers of Europe',
    turns: 12,
    cwd: '/home/me/notes',
    model: 'qwen3:4b',
  },
  ...{ createdAt: '2026-11-20T05:00:00Z', updatedAt: '2026-11-20T05:12:00Z' },
};
const untitled = {
  ...session,
  id: '20261119-bbbbbbbb',
  title: '',
  turns: 1,
  cwd: '/srv',
  updatedAt: 'no time',
};
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Which\nrivers?' },
  {
    ...{ role: 'assistant', content: '', model: 'qwen3:4b', thinking: 'Let me look.' },
    toolCalls: [{ id: 'c', name: 'look', arguments: { at: 'map', zoom: 2 } }],
  },
  { role: 'tool', content: 'The Rhine', toolName: 'look', toolCallId: 'c' },
  {
    role: 'assistant',
    content: '# Two\n\n- The **Rhine**\n- The `Danube`\n',
    model: 'qwen3:4b',
    partial: 'cancelled',
  },
];
const entry = { family: 'qwen', installed: false, url: 'https://x/library/qwen3' };
const entries = [
  {
    ...{ ...entry, name: 'qwen3', model: 'qwen3', description: 'Small and good.', installed: true },
    ...{ capabilities: ['tools', 'thinking'], sizes: ['4b', '8b'], pulls: '5M', updated: '2 weeks ago' },
  },
  { ...entry, name: 'far:120b', model: 'far:120b-cloud', sizes: ['120B'] },
];
const prompts = [
  {
    name: 'review',
    description: 'Reviews a file',
    from: 'user',
    arguments: [{ name: 'file', required: true }, { name: 'focus' }],
  },
  { name: 'git:show', description: 'Shows', from: 'server', server: 'git', arguments: [] },
  { name: 'seek', description: '', from: 'workspace', arguments: [], hiddenBy: 'prompt' },
  { name: 'model', description: 'm', from: 'user', arguments: [], hiddenBy: 'command' },
  {
    name: 'broken',
    description: '',
    from: 'user',
    arguments: [],
    path: '/home/me/broken.md',
    line: 3,
    problem: 'It is empty.',
  },
];
const servers = [
  {
    ...{ name: 'files', state: 'ready' },
    tools: [
      {
        name: 'read',
        title: 'Read',
        description: 'Reads a file.',
        inputSchema: {},
        annotations: { readOnlyHint: true },
      },
      { name: 'write', description: 'Writes a file.\nAll of it.', inputSchema: {} },
    ],
  },
  { name: 'off', state: 'disabled', tools: [] },
  { name: 'gone', state: 'failed', message: 'The tool server gone ended with code 4.', tools: [] },
  {
    name: 'web',
    state: 'failed',
    needsLogin: true,
    message: 'The tool server web wants a login.',
    tools: [],
  },
];
const fetchable = {
  isThere: false,
  bytes: 85e6,
  from: 'the registry',
  licenses: 'MIT (97)',
  packages: 117,
  folder: '/data',
};
const gguf = { name: 'smol', path: '/data/smol.gguf', size: 1.2e8, fits: true, source: 'sample' };
const answers = {
  'runner/models/list': () => ({ models }),
  'runner/models/show': ({ params }: Asked) => {
    const model = models.find(({ name }) => name === params['model']) ?? models[0];
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n');
    if (model === models[0]) return shown;
    return { model, parameters: {}, license: lines(models.indexOf(model as Model) + 8) };
  },
  'runner/models/library': () => ({ entries, fetchedAt: '2026-11-20T09:30:00Z' }),
  'runner/models/cloud': () => ({
    entries: entries.slice(1),
    fetchedAt: '2026-11-20T09:30:00Z',
    stale: true,
  }),
  'runner/models/pull': async ({ params, notify }: Asked) => {
    const report = (value: object) =>
      notify('$/progress', { token: params['workDoneToken'] as string, value });
    await report({ kind: 'begin', title: 'Pulling', cancellable: true, percentage: 0 });
    await report({ kind: 'report', message: 'Downloading', percentage: 40, completed: 4e8, total: 1e9 });
    await report({ kind: 'end' });
    return { model: params['model'] };
  },
  'runner/models/create': () => ({ model: 'mine' }),
  'runner/models/delete': () => ({}),
  'runner/models/run': () => ({ model: models[0] }),
  'runner/models/stop': () => ({}),
  'runner/sessions/list': ({ params }: Asked) => ({
    sessions: params['query'] === 'nothing' ? [] : [session, untitled],
  }),
  'runner/sessions/read': () => ({ session, messages }),
  'runner/sessions/delete': () => ({}),
  'runner/prompts/list': () => ({
    ...{ prompts, problems: ['A folder is too full.'] },
    folder: { path: '/home/me/.runner/prompts', state: 'refused', files: 2 },
  }),
  'runner/prompts/allow': () => ({
    folder: { path: '/home/me/.runner/prompts', state: 'allowed', files: 2 },
  }),
  'runner/tools/list': () => ({ servers }),
  'runner/engine/status': () => ({
    state: 'down',
    message: 'It went down.',
    isInstalled: true,
    sample: '/data/smol.gguf',
  }),
  'runner/engine/models': () => ({
    models: [gguf, { ...gguf, name: 'big', size: 9e10, fits: false, source: 'Ollama' }],
  }),
  'runner/engine/offers': () => ({
    ...{ programs: [{ product: 'llama.cpp', path: '/usr/bin/llama-server', version: '9937' }] },
    ...{ library: fetchable, sample: { ...fetchable, isThere: true }, ways: [] },
  }),
  'runner/engine/install': () => ({ folder: '/data' }),
  'runner/engine/start': () => ({ state: 'running', message: 'It runs.', isInstalled: true }),
  'runner/engine/stop': () => ({ wasRunning: true }),
  'runner/engine/remove': () => ({ wasThere: true }),
  'runner/settings/list': () => ({
    path: '/home/me/.config/runner/config.json',
    settings: [
      { name: 'host', value: 'http://box:11434', from: 'environment' },
      { name: 'approvals', value: { files: ['read'] }, from: 'file' },
      { name: 'contextLength', value: 8192, from: 'default' },
      { name: 'builtinTools', value: false, from: 'default' },
    ],
  }),
};

async function answer({ params, send }: Turn): Promise<ChatResult | ResponseError<object>> {
  if (params.messages.at(-1)?.content === 'fail') {
    await send({ kind: 'text', text: 'Half' });
    const advice = { code: 'shorten-prompt', problem: 'The prompt is too long.', text: 'Shorten it.' };
    const data = { kind: 'context-exceeded', retryable: false, advice };
    return new ResponseError(-33006, 'The prompt is too long. Shorten it.', data);
  }
  await send({ kind: 'thinking', text: 'Let me think.\n' });
  const call = { id: 'c', name: 'look', arguments: { at: 'map' } };
  await send({ kind: 'toolCall', toolCall: call });
  await send({
    kind: 'toolResult',
    toolResult: { id: 'c', name: 'look', server: 'files', isError: false, content: 'A map.' },
  });
  await send({ kind: 'notice', notice: { code: 'model-loading', message: 'The model is loaded.' } as never });
  const text =
    'Two rivers:\n\n1. The **Rhine**\n2. The *Danube*\n\n```js\nconst a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n';
  await send({ kind: 'text', text });
  return {
    message: { role: 'assistant', content: text },
    finishReason: 'stop',
    usage: { promptTokens: 1_234, completionTokens: 56 },
    notices: [],
  };
}

const commands: readonly (readonly string[])[] = [
  ...[['models'], ['ps'], ['show', 'qwen3:4b'], ['library'], ['library', '--cloud'], ['pull', 'new:1b']],
  ...[
    ['cp', 'qwen3:4b', 'mine'],
    ['rm', 'qwen3:4b', '--yes'],
    ['run', 'qwen3:4b'],
    ['stop', 'qwen3:4b'],
  ],
  ...[
    ['sessions'],
    ['sessions', 'nothing'],
    ['sessions', 'show', session.id],
    ['sessions', 'rm', session.id],
  ],
  ...[
    ['sessions', 'big', 'rivers'],
    ['sessions', 'show', session.id, 'x'],
    ['sessions', 'show', session.id, '--markdown'],
    ['sessions', 'rm', '--all', '--yes'],
  ],
  ...[['prompts'], ['prompts', 'allow'], ['prompts', 'refuse'], ['tools'], ['config'], ['doctor']],
  ...[
    ['engine', 'status'],
    ['engine', 'models'],
    ['engine', 'install', '--yes'],
    ['engine', 'sample'],
  ],
  ...[
    ['engine', 'start'],
    ['engine', 'stop'],
    ['engine', 'remove', '--yes'],
  ],
  ...[
    ['chat', '-m', 'qwen3:4b', 'Which?'],
    ['chat', '-m', 'qwen3:4b', 'fail'],
    ['chat', '-m', 'gone', 'x'],
    ['chat', '--resume'],
  ],
  ...[
    ['show', 'seer:12b'],
    ['show', 'embedder'],
    ['show', 'far:120b-cloud'],
    ['show', 'loading:1b'],
  ],
  ...[
    ['nonsense'],
    ['models', 'x'],
    ['show'],
    ['pull'],
    ['--nonsense'],
    ['chat', '--think=x', 'hi'],
    ['--', '--json'],
    ['--json', 'nonsense'],
    ['rm', 'qwen3:4b'],
    ['run', 'far:120b-cloud', '--think'],
    ['cp', 'qwen3:4b', 'QWEN3:4b'],
    ['engine', 'start', '--yes'],
    ['engine', 'models', '--threads', '2'],
    ['engine', 'status', '--context', '2'],
    ['engine', 'nonsense'],
  ],
];

/** What a run writes, without what is of this machine. */
async function outcomeOf(options: TerminalOptions) {
  const run = startTerminal({
    env: { HOME: '/home/me' },
    models,
    answers,
    chat: answer as never,
    ...options,
  });
  const code = await run.ended;
  const known = (text: string) =>
    text.replaceAll(process.versions.node, 'NODE').replaceAll(/\d+(?:\.\d+)? tokens\/s/g, 'N tokens/s');
  return { code, out: known(run.stdout.text()), error: known(run.stderr.text()), started: run.started };
}

const online = { state: 'online', kind: 'ok', message: 'It answers.', product: 'ollama' } as const;

/** Something else answers at the address, and a runner at another one. */
const lost = {
  status: {
    ...offline,
    advice: { code: 'set-address', problem: 'No runner answers at X.', text: 'Say where it is.' },
  },
  env: { HOME: '/home/me', HTTP_PROXY: 'x', all_proxy: 'y' },
  answers: {
    ...answers,
    'runner/discover': () => ({
      runners: [{ url: 'http://127.0.0.1:8080', product: 'llama.cpp', models: 1 }],
    }),
  },
} as const;

for (const [look, options] of [
  ['in a script', { input: '' }],
  ['as JSON', { input: '' }],
  ['on a screen', { input: '', isScreen: true, columns: 60, status: { ...online, version: '0.9' } }],
  ['without a runner', { input: '', ...lost }],
  ['without the runner of the configuration', { input: '', ...lost, isHostNamed: true }],
] as const) {
  t.test(`what each command writes ${look} is as it was accepted`, where('slashes'), async (t) => {
    const outcomes: Record<string, unknown> = {};
    for (const words of look.startsWith('without') ? [['doctor'], ['chat', 'hi']] : commands) {
      const args = look === 'as JSON' ? [...words, '--json'] : words;
      const { started: _, ...outcome } = await outcomeOf({ ...options, args });
      outcomes[args.join(' ')] = outcome;
    }
    const { actual, accepted } = golden(`terminal/${look.replaceAll(' ', '-')}.json`, outcomes);
    t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
  });
}

/** What a daemon answers that has nothing, and does nothing. */
const nothing = {
  'runner/models/list': () => ({ models: [], stale: true }),
  'runner/models/chatModel': () => ({}),
  'runner/models/library': () => ({ entries: [], fetchedAt: 'no time', stale: true }),
  'runner/models/cloud': () => ({ entries: [], fetchedAt: '2026-11-20T09:30:00Z' }),
  'runner/sessions/list': () => ({ sessions: [] }),
  'runner/prompts/list': () => ({ prompts: [], problems: ['A folder is too full.'] }),
  'runner/prompts/allow': () => ({}),
  'runner/tools/list': () => ({ servers: [] }),
  'runner/tools/login': () => ({ url: 'https://login.example/?a=1', redirectUrl: 'http://127.0.0.1:5/back' }),
  'runner/tools/finishLogin': () => ({}),
  'runner/tools/logout': () => ({ wasLoggedIn: true, isRevoked: false }),
  'runner/settings/list': () => ({ path: '/etc/config.json', settings: [] }),
  'runner/engine/status': () => ({ state: 'stopped', message: 'It does not run.', isInstalled: false }),
  'runner/engine/models': () => ({ models: [], isCut: true }),
  'runner/engine/offers': () => ({
    ...{ programs: [], sample: fetchable, ways: [] },
    library: { ...fetchable, problem: 'There is none for this system.' },
  }),
  'runner/engine/stop': () => ({ wasRunning: false }),
  'runner/engine/remove': () => ({ wasThere: false }),
  'runner/engine/sample': () => ({ folder: '/data' }),
  'runner/sessions/read': () => new ResponseError(-32602, 'There is none.', { path: 'id' }),
  'runner/models/create': () => ({ model: 'n' }),
};

t.test(
  'what each command writes where there is nothing is as it was accepted',
  where('slashes'),
  async (t) => {
    const outcomes: Record<string, unknown> = {};
    const words = [
      ...[['models'], ['ps'], ['library'], ['library', 'x', 'y'], ['library', '--cloud'], ['sessions']],
      ...[['sessions', 'rm', '--all', '--yes'], ['sessions', 'rm', '--all'], ['rm', 'm'], ['prompts']],
      ...[['prompts', 'allow'], ['prompts', 'x'], ['tools'], ['config'], ['doctor'], ['engine', 'status']],
      ...[
        ['engine', 'models'],
        ['engine', 'install'],
        ['engine', 'sample'],
        ['engine', 'sample', '--yes'],
      ],
      ...[
        ['engine', 'stop'],
        ['engine', 'remove', '--yes'],
        ['engine', 'stop', 'x'],
        ['engine', 'stop', '--yes'],
      ],
      ...[['chat', 'hi'], ['chat', '--continue', 'hi'], ['chat', '--session', 'no', 'hi'], ['chat']],
      ...[
        ['mcp', 'logout', 'web'],
        ['mcp', 'login', 'https://web.example/mcp'],
        ['cp', 'm', 'n'],
      ],
    ];
    const status = { ...online, can: ['load'] } as const;
    for (const args of words.flatMap((some) => [some, [...some, '--json']])) {
      const options = { args, input: '', models: [], answers: nothing, status };
      const { started, ...outcome } = await outcomeOf(options);
      const [first] = started;
      outcomes[args.join(' ')] = { ...outcome, mcpServers: first?.options.mcpServers };
    }
    const { actual, accepted } = golden('terminal/where-there-is-nothing.json', outcomes);
    t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
  },
);

const longAnswer = [
  '# Rivers of *Europe*',
  '',
  'The **Rhine** flows to the ~~Baltic~~ North Sea, and [the Danube](https://example.org/danube) to the Black Sea.',
  '',
  '> Both begin in the Alps, or *near* them.',
  '',
  '1. one',
  '   - two `code`',
  '2. three',
  '',
  '| River | Length |',
  '|:--|--:|',
  '| Rhine | 1233 |',
  '| **Danube** | 2850 |',
  '',
  '---',
  '',
  '```text',
  'left  alone **here**',
  '```',
].join('\n');

/** What is typed into one conversation, and the answer to a question, if one comes. */
const talk: readonly (string | readonly [entry: string, answer: string])[] = [
  ...['/help', '/stats', '/retry', '/undo', '/edit', '/copy', '/save a.md', '/fork', '/title', '/sessions'],
  ...[
    '/model',
    '/model 2',
    '/model none',
    '/model qwen3',
    '/think',
    '/think low',
    '/think lots',
    '/think auto',
  ],
  ...['/system', '/system Be brief.', '/system', '/system off', '/set', '/set temperature 0.2', '/set'],
  ...[
    '/set temperature',
    '/set temperature off',
    '/set tempreature 1',
    '/context',
    '/context 8k',
    '/context x',
  ],
  ...[
    '/file',
    '/image',
    '/file gone.md',
    '/image gone.png',
    '/tools',
    '/tools web on',
    '/tools web',
    '/tools x on',
  ],
  ...[
    '/modle',
    '/nonsense',
    '/',
    '//slash',
    'What are rivers?',
    '/stats',
    '/title Rivers',
    '/title',
    '/fork 2',
  ],
  ...['/fork', '/sessions', '/copy', '/copy 1', '/copy x', '/save gone/a.md', '/retry', 'fail', '/undo'],
  ...['/review a.md', '/review', 'see @a.md', '/stats', '/clear', '/stats', '/context auto', '/resume'],
  ...([['see @.env', 'n']] as const),
];

t.test('what a conversation shows is as it was accepted', where('slashes'), async (t) => {
  const file = { path: 'a.md', bytes: 1_234, tokens: 321, attachment: { path: 'a.md', text: 'x', uris: [] } };
  const mention = (word: string, more: object) => ({ word, files: [], notes: [], ...more });
  const sent: unknown[] = [];
  const run = startTerminal({
    ...{ isScreen: true, columns: 72, env: { HOME: '/home/me' }, models, toolServers: ['web'] },
    status: { ...online, can: ['pull'] },
    copyText: async (text) => text.length > 10,
    answers: {
      ...answers,
      'runner/models/choose': () => ({}),
      'runner/sessions/create': ({ params }) => ({ session: { ...session, title: params['title'] ?? '' } }),
      'runner/sessions/update': ({ params }) => ({ session: { ...session, title: params['title'] } }),
      'runner/sessions/undo': () => ({ session: { ...session, turns: 1 } }),
      'runner/sessions/fork': () => ({ session: { ...session, id: '20261121-cccccccc' } }),
      'runner/prompts/get': ({ params }) => {
        if (params['name'] !== 'review') return { kind: 'none', near: [] };
        return params['text'] === 'a.md'
          ? { kind: 'prompt', name: 'review', text: 'Review a.md.', model: 'qwen3:4b', tools: [] }
          : { kind: 'unusable', message: 'It needs a file.' };
      },
      'runner/files/find': ({ params }) => ({
        mentions: [
          String(params['text']).includes('.env')
            ? mention('@.env', { files: [{ ...file, path: '.env', privacy: 'excluded' }] })
            : mention('@a.md', { files: [file], notes: ['It was cut.'] }),
        ],
      }),
    },
    async chat(turn) {
      const { streamId: _, messages, ...params } = turn.params;
      const content = messages.length === 1 ? longAnswer : 'Yes.\n';
      sent.push({ ...params, before: messages.length - 1, message: messages.at(-1) });
      if (messages.at(-1)?.content === 'fail') return answer(turn as never) as never;
      await turn.send({ kind: 'thinking', text: 'Let me *think* about it.' });
      await turn.send({ kind: 'text', text: content });
      return {
        message: { role: 'assistant', content },
        ...{ finishReason: 'stop', notices: [] },
        usage: { promptTokens: 1_234, completionTokens: 56, contextLength: 4_096 },
      };
    },
  });
  const endsWith = (start: number, pattern: RegExp) =>
    run.stdout.until({ test: (text) => pattern.test(text.slice(start)) });
  await endsWith(0, /› $/);
  const shown: Record<string, string> = { '': run.stdout.text() };
  for (const [index, line] of talk.entries()) {
    const [entry, reply] = typeof line === 'string' ? [line] : line;
    const [plainly, before] = [run.stdout.plain().length, run.stdout.text().length];
    run.type(`${entry}\r`);
    if (entry === '/resume') {
      await run.stderr.until(/Esc leaves\./);
      run.type('\u0003');
    }
    if (reply !== undefined) {
      await endsWith(plainly, /\[n\]o $/);
      run.type(`${reply}\r`);
    }
    await endsWith(plainly, /› $/);
    shown[`${index} ${entry}`] = run.stdout.text().slice(before);
  }
  run.type('\u0004');
  t.equal(await run.ended, 0);
  const { actual, accepted } = golden('terminal/a-conversation.json', { shown, sent });
  t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
});

t.test('the help of each command is as it was accepted', async (t) => {
  const outcomes: Record<string, unknown> = {};
  const { out } = await outcomeOf({ args: ['__complete', '--', ''], input: '' });
  for (const word of ['', '__complete', ...(out.match(/^\w+/gm) ?? [])]) {
    const { started: _, ...outcome } = await outcomeOf({ args: [word, '--help'].filter(Boolean), input: '' });
    outcomes[word] = outcome;
  }
  const { actual, accepted } = golden('terminal/help.json', outcomes);
  t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
});
