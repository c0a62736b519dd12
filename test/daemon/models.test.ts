import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { RunnerError } from '../../daemon/base/errors.ts';
import type { Log } from '../../daemon/base/log.ts';
import { ChatModelChoices, ChatModels } from '../../daemon/models/chatModel.ts';
import { parseParameters } from '../../daemon/models/model.ts';
import { ModelCapabilities, modelId } from '../../daemon/models/modelCapabilities.ts';
import { Models } from '../../daemon/models/models.ts';
import {
  checkFreeName,
  checkModelName,
  familyOf,
  isThinkingName,
  modelKey,
  parseModelName,
  THINKING_MODEL_PATTERN,
} from '../../daemon/models/name.ts';
import { ToolSupport } from '../../daemon/models/toolSupport.ts';
import { opensThinking, type Turns, turnsOf } from '../../daemon/runner/chatTemplate.ts';
import type { ListedModel, Runner } from '../../daemon/runner/runner.ts';
import { chatModelRequest, chooseChatModelRequest } from '../../protocol/messages/models.ts';
import { startDaemonWithRunner } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import { isModeOf } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const server = { name: 'default', url: 'http://127.0.0.1:11434' };

t.test('a model name follows the grammar', async (t) => {
  const cases = [
    { name: 'llama3.2', want: { model: 'llama3.2' } },
    { name: 'qwen3:8b', want: { model: 'qwen3', tag: '8b' } },
    { name: 'user/model:tag', want: { namespace: 'user', model: 'model', tag: 'tag' } },
    {
      name: 'hf.co/acme/Tiny-GGUF:Q4_K_M',
      want: { host: 'hf.co', namespace: 'acme', model: 'Tiny-GGUF', tag: 'Q4_K_M' },
    },
    {
      name: '127.0.0.1:40711/tiny/plain:latest',
      want: { host: '127.0.0.1:40711', namespace: 'tiny', model: 'plain', tag: 'latest' },
    },
    {
      name: 'http://127.0.0.1:40711/tiny/plain',
      want: { host: '127.0.0.1:40711', namespace: 'tiny', model: 'plain' },
    },
    { name: 'gpt-oss:120b-cloud', want: { model: 'gpt-oss', tag: '120b-cloud' } },
    { name: 'gpt-oss:120b:cloud', want: { model: 'gpt-oss', tag: '120b-cloud' } },
    { name: 'gpt-oss:20b:local', want: { model: 'gpt-oss', tag: '20b' } },
    { name: 'gpt-oss:cloud', want: { model: 'gpt-oss', tag: 'cloud' } },
  ];
  for (const { name, want } of cases) t.strictSame(parseModelName(name), want, name);
  const bad = [
    '',
    'a b',
    'a//b',
    'a/',
    ':x',
    'm:',
    '../x',
    'a/b/c/d',
    '-x',
    'm:a/b',
    'm@sha256:abc',
    'x\n',
    'm'.repeat(81),
    'ü',
  ];
  for (const name of bad)
    t.throws(() => parseModelName(name), failsWith({ kind: 'invalid-request' }), JSON.stringify(name));
});

t.test('where names are free, a name is any text on one line', async (t) => {
  const accepted = ['a b', ' a', 'Org/Model-7B@q4', 'ü', 'n'.repeat(1_000)];
  const refused = ['', ' ', '\t', 'a\nb', 'a\u0085', 'n'.repeat(1_001)];
  for (const name of accepted) t.doesNotThrow(() => checkFreeName(name), name.slice(0, 20));
  for (const name of refused)
    t.throws(
      () => checkFreeName(name),
      failsWith({
        kind: 'invalid-request',
        message: `"${name.slice(0, 100)}" is not a model name. Choose one of the installed models.`,
      }),
    );
  const ollama = { facts: { product: 'ollama', can: [] } } as unknown as Runner;
  const free = { facts: { product: 'other', can: [], hasFreeNames: true } } as unknown as Runner;
  t.doesNotThrow(() => checkModelName(free, 'a b'));
  t.throws(() => checkModelName(free, ' '));
  t.throws(() => checkModelName(ollama, 'a b'));
  t.doesNotThrow(() => checkModelName(ollama, 'a'));
  const longest = `${'h'.repeat(350)}/${'n'.repeat(80)}/${'m'.repeat(80)}:${'t'.repeat(80)}`;
  t.doesNotThrow(() => parseModelName(longest));
  for (const part of ['h', 'n', 'm', 't'])
    t.throws(() => parseModelName(longest.replace(part, part + part)), `one ${part} more`);
});

t.test('every spelling of a model has the same key', async (t) => {
  for (const same of [
    ['llama3.2', 'Llama3.2:latest', 'library/llama3.2', 'registry.ollama.ai/library/llama3.2:LATEST'],
    ['user/model', 'USER/model:latest'],
    ['hf.co/a/b', 'HF.co/a/b:latest'],
    ['A name, as it is free elsewhere', 'a name, as it IS free elsewhere'],
  ]) {
    t.equal(new Set(same.map(modelKey)).size, 1, same.join(' = '));
  }
  const others = ['m', 'm:1b', 'a/m', 'hf.co/a/m', 'hf.co/library/m', 'registry.ollama.ai/b/m', 'a m', 'a n'];
  t.equal(new Set(others.map(modelKey)).size, others.length, 'all of these are others');
});

t.test('the family is the prefix of the model part', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['llama3.2:3b', 'llama'],
    ['llama-guard3', 'llama'],
    ['qwen2.5vl:7b', 'qwen'],
    ['qwen2.5-coder:1.5b', 'qwen'],
    ['gpt-oss:20b', 'gpt-oss'],
    ['gpt-oss-safeguard:20b', 'gpt-oss'],
    ['open-orca-platypus2', 'open-orca'],
    ['r1:8b', 'r1'],
    ['r1-1776', 'r1'],
    ['deepseek-r1:8b', 'deepseek'],
    ['o1', 'o1'],
    ['phi4-reasoning', 'phi'],
    ['hf.co/acme/Tiny-GGUF:Q4', 'tiny'],
    ['127.0.0.1:40711/tiny/plain:latest', 'plain'],
    ['some user/strange', 'strange'],
    ['x-large', 'x-large'],
    ['3-mini', '3-mini'],
    ['r-1', 'r-1'],
    ['x--y', 'x--y'],
    ['x', 'x:latest'],
    ['x:7b', 'x:7b'],
    ['acme/x:7b', 'x:7b'],
    ['𝄞-large', '𝄞-large'],
  ];
  for (const [name, want] of cases) t.equal(familyOf(name), want, name);
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('x', '3', '-', '.', ':', '/', 'large', '𝄞') })),
      (name) => [...familyOf(name)].length > 1,
    ),
  );
});

t.test('only the names of thinking models suggest thinking', async (t) => {
  /** For each word of the pattern a name that no other word of it is in. */
  const words: readonly (readonly [word: string, name: string])[] = [
    ['think', 'some-thinker:7b'],
    ['reason', 'phi4-reasoning'],
    ['magistral', 'magistral'],
    ['cogito', 'cogito:8b'],
    ['kimi', 'kimi-k2'],
    ['qwq', 'qwq'],
    ['gpt-oss', 'gpt-oss:20b'],
    ['r1', 'deepseek-r1:8b'],
    ['qwen3', 'qwen3:4b'],
  ];
  for (const [word, name] of words) {
    t.ok(isThinkingName(name), name);
    const without = THINKING_MODEL_PATTERN.source.replace(word, 'no-such-word');
    t.notOk(new RegExp(without, 'i').test(name), `${name} is one by the word ${word} alone`);
  }
  const inPattern = THINKING_MODEL_PATTERN.source.match(/(?<!\?!-\?)\b[a-z][a-z0-9-]+/g) ?? [];
  t.strictSame(
    inPattern.filter((word) => word !== 'a-z0-9' && word !== 'coder'),
    words.map(([word]) => word),
    'the pattern has no other word',
  );
  for (const name of ['r1-1776', 'R1', 'hf.co/acme/DeepSeek-R1-GGUF:Q4', 'kimi-k2-thinking', 'qwen3-vl:8b'])
    t.ok(isThinkingName(name), name);
  for (const name of ['llama3.2', 'qwen2.5-coder', 'qwen3-coder', 'gemma3', 'mr1x', 'tinyllama'])
    t.notOk(isThinkingName(name), name);
});

t.test('a capability has its source, and is forgotten when the digest changes', async (t) => {
  const replaced: string[] = [];
  const knowledge = new ModelCapabilities();
  knowledge.onDidReplace((id) => replaced.push(id));
  const is = (name: 'tools' | 'thinking' | 'vision', value: boolean | 'unknown', from: string) =>
    t.strictSame(
      knowledge.capability(server, 'm', name),
      { value, from },
      `${name} is ${value} from ${from}`,
    );

  is('tools', 'unknown', 'server');
  knowledge.learnListed(server, [{ name: 'm:latest', digest: 'a', capabilities: ['completion', 'vision'] }]);
  is('vision', true, 'server');
  is('tools', 'unknown', 'server');
  t.equal(knowledge.visionByModelId.get(modelId(server, 'M')), true);
  knowledge.learnShown(server, 'm', { capabilities: ['completion'] });
  is('tools', false, 'server');
  is('vision', false, 'server');
  knowledge.observe(server, 'm', { capability: 'tools', value: true });
  is('tools', true, 'observed');

  knowledge.learnListed(server, [{ name: 'm:latest', digest: 'a', capabilities: ['completion'] }]);
  is('tools', true, 'observed');
  t.strictSame(replaced, []);
  knowledge.learnListed(server, [{ name: 'm:latest', digest: 'b' }]);
  is('tools', 'unknown', 'server');
  t.equal(knowledge.visionByModelId.size, 0);
  t.strictSame(replaced, [modelId(server, 'm')]);
  t.strictSame(knowledge.capability(server, 'deepseek-r1', 'thinking'), { value: true, from: 'name' });
  t.strictSame(knowledge.capability({ ...server, url: 'http://other' }, 'm', 'vision'), {
    value: 'unknown',
    from: 'server',
  });
});

t.test('what the user says of a model overrides whatever else is known of it', async (t) => {
  const knowledge = new ModelCapabilities();
  const shown = { capabilities: ['completion', 'vision'] };
  knowledge.learnShown(server, 'm:8b', shown);
  knowledge.observe(server, 'm:8b', { capability: 'tools', value: false });
  t.notOk(knowledge.configure({}), 'that is no news');
  const said = (value: boolean) => ({ value, from: 'configured' });
  const told = { vision: { value: true, from: 'server' }, tools: { value: false, from: 'observed' } };
  for (const [name, model, want] of [
    ['m:8b', 'm:8b', { vision: said(false), tools: said(true) }],
    ['M', 'registry.ollama.ai/library/m:8b', { vision: said(false), tools: said(true) }],
    ['m:4b', 'm:8b', told],
    ['library/m', 'm', { vision: said(false), tools: said(true) }],
    ['m:latest', 'm:8b', told],
    ['Qwen/Q3 VL.gguf', 'qwen/q3 vl.gguf', { vision: said(false), tools: said(true) }],
  ] as const) {
    t.ok(knowledge.configure({ [name]: { vision: false, tools: true } }), name);
    const { capabilities } = knowledge.about(server, model);
    t.match(capabilities, want, `${name} says it of ${model}`);
    t.equal(knowledge.visionByModelId.get(modelId(server, model)), want.vision.value, name);
  }
  knowledge.configure({ m: { vision: false, thinking: false }, 'm:8b': { vision: true } });
  t.match(knowledge.about(server, 'm:8b').capabilities, { vision: said(true), thinking: said(false) });
  knowledge.noteThought(server, 'm:8b');
  t.notOk(knowledge.thinks(server, 'm:8b'), 'how its answers are read follows');
  knowledge.learnListed(server, [{ name: 'm:8b', digest: 'a' }]);
  knowledge.learnListed(server, [{ name: 'm:8b', digest: 'b' }]);
  t.match(knowledge.capability(server, 'm:8b', 'vision'), said(true), 'another digest has the same name');
  knowledge.configure({});
  t.match(knowledge.capability(server, 'm:8b', 'vision'), { value: 'unknown' });
  t.notOk(knowledge.visionByModelId.has(modelId(server, 'm:8b')));
});

t.test('a model thinks if the runner reports it, an answer showed it, or its name says so', async (t) => {
  const knowledge = new ModelCapabilities();
  const thinks = (name: string) => knowledge.thinks(server, name);
  t.notOk(thinks('m'));
  t.ok(thinks('kimi-k2'));
  knowledge.learnShown(server, 'kimi-k2', { capabilities: ['completion'] });
  knowledge.observe(server, 'kimi-k2', { capability: 'thinking', value: false });
  t.ok(thinks('kimi-k2'), 'also where the runner knows nothing of it, or refuses to ask for it');
  knowledge.learnShown(server, 'told', { capabilities: ['completion', 'thinking'] });
  t.ok(thinks('told'));
  knowledge.learnListed(server, [{ name: 'm:latest', digest: 'a' }]);
  knowledge.noteThought(server, 'm');
  t.ok(thinks('m:latest'));
  t.equal(
    knowledge.capability(server, 'm', 'thinking').value,
    'unknown',
    'it can be asked to only where reported',
  );
  knowledge.learnListed(server, [{ name: 'm:latest', digest: 'b' }]);
  t.notOk(thinks('m'), 'another digest is another model');
});

t.test('a client chooses the model that answers, and asks which one that is', async (t) => {
  const folder = await temporaryFolder(t);
  const names = ['new:1b', 'old:1b'];
  const standIn = { models: names.map((name) => ({ name })) };
  const { daemon } = await startDaemonWithRunner(
    t,
    {},
    { standIn, pair: { env: { XDG_STATE_HOME: folder } } },
  );
  const answering = async () => {
    const { model, ...rest } = await daemon.request(chatModelRequest, {});
    return [model?.name, rest];
  };
  const [before] = await answering();
  const other = names.find((name) => name !== before) ?? '';
  t.strictSame(await daemon.request(chooseChatModelRequest, { model: other.toUpperCase() }), {});
  t.strictSame(await answering(), [other, { from: 'choice' }]);
  await daemon.request(chooseChatModelRequest, { model: '' });
  t.strictSame((await answering())[0], before, 'the choice is forgotten');
});

t.test('a window is forgotten when its model is unloaded, which is reported', async (t) => {
  let loaded = 0;
  const knowledge = new ModelCapabilities();
  knowledge.onDidLoad(() => loaded++);
  knowledge.learnShown(server, 'm', {
    maximumContext: 131072,
    configuredContext: 8192,
    parameters: 'temperature    1\nnum_ctx     8192\n',
  });
  knowledge.learnRunning(server, [{ name: 'm:latest', allocatedContext: 4096 }]);
  t.strictSame(knowledge.context(server, 'm'), {
    allocated: 4096,
    configured: 8192,
    maximum: 131072,
    from: 'server',
  });
  knowledge.learnRunning({ ...server, url: 'http://other' }, []);
  t.equal(knowledge.context(server, 'm').allocated, 4096);
  knowledge.learnRunning(server, []);
  t.strictSame(knowledge.context(server, 'm'), { configured: 8192, maximum: 131072, from: 'server' });
  t.equal(loaded, 1, 'the first look at a server is no change');
  knowledge.learnRunning(server, [{ name: 'M' }]);
  t.equal(loaded, 2);
  knowledge.learnRunning(server, [{ name: 'n' }, { name: 'm' }]);
  t.equal(loaded, 3);
  knowledge.learnRunning(server, [{ name: 'm' }, { name: 'n' }]);
  t.equal(loaded, 3, 'another order is no change');
  for (const name of ['m', 'M:latest', 'new', 'new:latest']) knowledge.noteUsed(server, name);
  t.equal(loaded, 4, 'a model that answers is loaded, and that is said once');
  knowledge.learnRunning(server, [{ name: 'm' }, { name: 'n' }, { name: 'new' }]);
  knowledge.learnRunning(server, [{ name: 'm' }, { name: 'n' }]);
  knowledge.noteUsed(server, 'new');
  t.equal(loaded, 7, 'and again once it was unloaded');
});

t.test('only the newest models are kept of a runner that names other models each time', async (t) => {
  const knowledge = new ModelCapabilities();
  const server = { name: 'default', url: 'http://box' };
  const listed = (from: number) =>
    Array.from({ length: 10_000 }, (_, n) => ({ name: `m${from + n}`, capabilities: ['vision'] }));
  for (let from = 0; from < 50_000; from += 10_000) knowledge.learnListed(server, listed(from));
  t.equal(knowledge.visionByModelId.size, 20_000);
  t.equal(knowledge.capability(server, 'm49999', 'vision').value, true);
  t.equal(knowledge.capability(server, 'm0', 'vision').value, 'unknown');
});

t.test('tool support is learnt once, by the first request', async (t) => {
  const { knowledge, verdicts, replace } = toolKnowledge();
  const support = new ToolSupport(knowledge);
  const { signal } = new AbortController();
  const first = await support.admit(server, 'm', signal);
  t.ok(first.send);
  const order: string[] = [];
  const others = Promise.all(
    [1, 2].map(async () => {
      const { send } = await support.admit(server, 'M:latest', signal);
      order.push(`admitted ${send}`);
    }),
  );
  await new Promise(setImmediate);
  order.push('verdict');
  first.report('disabled');
  await others;
  t.strictSame(order, ['verdict', 'admitted false', 'admitted false']);
  t.strictSame(verdicts, [false]);
  replace(modelId(server, 'm'));
  t.ok((await support.admit(server, 'm', signal)).send, 'another digest is tested anew');
});

/** Notes what is learnt of tools. */
function toolKnowledge() {
  const verdicts: unknown[] = [];
  let replace = (_: string): void => undefined;
  const knowledge = {
    digest: () => undefined,
    observe: (...[, , { value }]: Parameters<ModelCapabilities['observe']>) => void verdicts.push(value),
    onDidReplace: (listener: typeof replace) => {
      replace = listener;
    },
  } as unknown as ModelCapabilities;
  return { knowledge, verdicts, replace: (id: string) => replace(id) };
}

t.test('a test that ends without a verdict passes to the next request', async (t) => {
  const { knowledge, verdicts: told } = toolKnowledge();
  const support = new ToolSupport(knowledge);
  const { signal } = new AbortController();
  const first = await support.admit(server, 'm', signal);
  const second = support.admit(server, 'm', signal);
  const abort = new AbortController();
  const third = support.admit(server, 'm', abort.signal);
  abort.abort();
  await t.rejects(third, { name: 'AbortError' });
  first.report('unknown');
  const { send, report } = await second;
  t.ok(send);
  first.report('unknown');
  const late = new AbortController();
  const fourth = support.admit(server, 'm', late.signal);
  late.abort();
  await t.rejects(fourth, { name: 'AbortError' }, 'a second report does not end the test of another');
  report('enabled');
  const later = await support.admit(server, 'm', signal);
  t.ok(later.send);
  for (const verdict of ['enabled', 'disabled', 'enabled', 'disabled'] as const) later.report(verdict);
  t.strictSame(told, [true, false], 'each verdict is told once, and a refusal is the last');
});

t.test('parameters are read from text', async (t) => {
  t.strictSame(
    parseParameters(
      'stop      "<END>"\nstop      "a\\nb"\ntemperature   0.7\nuse_mmap true\nlow_vram false\nnum_ctx 4096\nodd  word\nhalf "a\n\nbroken',
    ),
    {
      stop: ['<END>', 'a\nb'],
      temperature: 0.7,
      use_mmap: true,
      low_vram: false,
      num_ctx: 4096,
      odd: 'word',
      half: 'a',
    },
  );
  // Nothing is read twice: the time would grow with the square of it.
  const many = 100_000;
  t.equal((parseParameters('stop a\n'.repeat(many))['stop'] as unknown[]).length, many, 'many of a name');
  const wide = `stop ${'a '.repeat(many)}${' '.repeat(many)}`;
  t.equal(parseParameters(wide)['stop'], wide.slice(5).trim(), 'many words and blanks');
});

const silent = () => undefined;
const quiet: Log = { debug: silent, info: silent, warn: silent, error: silent };

/** A runner of these models, and what it was asked. */
function runnerWith(listed: readonly ListedModel[]) {
  const state = {
    asked: [] as string[],
    running: [] as readonly ListedModel[],
    failure: undefined as unknown,
    noRunning: undefined as unknown,
    noShow: undefined as unknown,
    turns: {} as Readonly<Record<string, Turns>>,
    atOnce: 0,
    most: 0,
  };
  const answer = async <T>(what: string, value: T, failure = state.failure): Promise<T> => {
    state.asked.push(what);
    state.most = Math.max(state.most, ++state.atOnce);
    await new Promise(setImmediate);
    state.atOnce--;
    if (failure) throw failure;
    return value;
  };
  const client = {
    server,
    facts: { product: 'ollama', can: [] },
    list: () => answer('list', { models: listed, leftOut: 0 }),
    running: () => answer('running', state.running, state.failure ?? state.noRunning),
    show: (model: string) =>
      answer(
        `show ${model}`,
        {
          system: model,
          parameters: 'num_ctx 1',
          configuredContext: 1,
          turns: state.turns[model] ?? 'written',
        },
        state.failure ?? state.noShow,
      ),
  } as unknown as Runner;
  const take = () => state.asked.splice(0).sort();
  return { client, state, take };
}

const failure = (kind: 'server-unreachable' | 'not-supported' | 'unauthorized') =>
  new RunnerError(kind, kind);

t.test('a list is requested again after two seconds, on demand, and after a change', async (t) => {
  let time = 10_000;
  const runner = runnerWith([
    { name: 'a:latest', capabilities: ['completion'] },
    { name: 'b:latest', capabilities: ['embedding'] },
  ]);
  const { client, state, take } = runner;
  const models = new Models(new ModelCapabilities(), () => time);
  const { signal } = new AbortController();
  const list = async (refresh = false) => {
    const { models: found, ...rest } = await models.list(client, { refresh }, signal);
    return [found.map(({ name, running }) => (running ? `${name} runs` : name)), rest];
  };
  const names = ['a:latest', 'b:latest'];
  state.running = [{ name: 'B' }];
  t.strictSame(await list(), [['a:latest', 'b:latest runs'], {}]);
  t.strictSame(take(), ['list', 'running'], 'both tell what they can do');
  time += 1_999;
  await list();
  t.strictSame(take(), []);
  time += 1;
  await list();
  t.strictSame(take(), ['list', 'running']);
  await list(true);
  t.strictSame(take(), ['list', 'running']);
  models.forgetList(client);
  await list();
  t.strictSame(take(), ['list', 'running']);

  state.failure = failure('server-unreachable');
  t.strictSame(await list(true), [names, { stale: true }], 'an old list, and nothing runs');
  state.failure = failure('unauthorized');
  await t.rejects(list(true), failsWith({ kind: 'unauthorized' }));
  t.strictSame(await models.names(client, signal), names, 'a fresh one is there');
  models.forgetList(client);
  t.strictSame(await models.names(client, signal), []);
  state.failure = new Error('a fault of ours');
  await t.rejects(models.names(client, signal), { message: 'a fault of ours' });
  const unknown = new Models(new ModelCapabilities(), () => time);
  unknown.forgetList(client);
  state.failure = failure('server-unreachable');
  await t.rejects(
    unknown.list(client, { refresh: false }, signal),
    failsWith({ kind: 'server-unreachable' }),
  );
  const gone = AbortSignal.abort();
  await t.rejects(models.list(client, { refresh: true }, gone), 'who has left takes no old list');
  await t.rejects(unknown.names(client, gone));

  state.failure = undefined;
  state.noRunning = failure('unauthorized');
  await t.rejects(list(true), failsWith({ kind: 'unauthorized' }));
});

t.test('models that another program installs or removes are noticed with the next list', async (t) => {
  let listed: readonly ListedModel[] = [{ name: 'a:latest', digest: '1' }];
  const client = { server, running: async () => [], list: async () => ({ models: listed, leftOut: 0 }) };
  const models = new Models(new ModelCapabilities(), () => 0);
  const other = { ...server, url: 'http://other' };
  let changes = 0;
  models.onDidFindChange(() => changes++);
  const changesAfter = async (now: readonly ListedModel[], { server: asked } = client) => {
    changes = 0;
    listed = now.map((model) => ({ capabilities: ['completion'], ...model }));
    const asking = { ...client, server: asked } as unknown as Runner;
    await models.list(asking, { refresh: true }, new AbortController().signal);
    return changes;
  };
  const [a, b] = [
    { name: 'a:latest', digest: '1' },
    { name: 'b:latest', digest: '2' },
  ];
  t.equal(await changesAfter([a]), 0, 'the first list');
  t.equal(await changesAfter([a, b]), 1, 'installed');
  t.equal(await changesAfter([b, a]), 0, 'in another order');
  t.equal(await changesAfter([a, { ...b, digest: '3' }]), 1, 'updated');
  t.equal(await changesAfter([a]), 1, 'removed');
  t.equal(await changesAfter([b], { ...client, server: other }), 0, 'the first list of another server');
  models.forgetList(client as unknown as Runner);
  t.equal(await changesAfter([a, b]), 0, 'a change that the daemon made was reported when it was made');
});

t.test('a server that lists no capabilities is asked about each model, once', async (t) => {
  const many = Array.from({ length: 70 }, (_, n) => ({ name: `m${n}:latest`, digest: `${n}` }));
  const { client, state, take } = runnerWith([{ name: 'told:latest', capabilities: [] }, ...many]);
  const models = new Models(new ModelCapabilities(), Date.now);
  const { signal } = new AbortController();
  await models.list(client, { refresh: true }, signal);
  const asked = take().filter((what) => what.startsWith('show'));
  t.equal(asked.length, 64, 'no more than that at a time');
  t.notOk(asked.includes('show told:latest'));
  t.equal(state.most, 4, 'and four at once');
  await models.list(client, { refresh: true }, signal);
  t.equal(take().filter((what) => what.startsWith('show')).length, 6, 'the others');
  await models.list(client, { refresh: true }, signal);
  t.strictSame(take(), ['list', 'running']);

  const afresh = async (failure: unknown) => {
    state.noShow = failure;
    await new Models(new ModelCapabilities(), Date.now).list(client, { refresh: true }, signal);
    return take().filter((what) => what.startsWith('show')).length;
  };
  t.equal(await afresh(failure('not-supported')), 64, 'one that cannot be shown says nothing of the others');
  t.equal(
    await afresh(failure('server-unreachable')),
    4,
    'a runner that is down is not asked about the rest',
  );
  await t.rejects(afresh(new Error('a fault of ours')), { message: 'a fault of ours' });
});

t.test('which model answers if nobody names one', async (t) => {
  const chats = { capabilities: ['completion'] };
  const installed: readonly ListedModel[] = [
    { name: 'embeds:1b', capabilities: ['embedding'], modifiedAt: '2026-01-09T00:00:00Z' },
    { name: 'cloud:480b', ...chats, remoteHost: 'https://far', modifiedAt: '2026-01-08T00:00:00Z' },
    { name: 'bare:1b', ...chats, modifiedAt: '2026-01-08T00:00:00Z' },
    { name: 'base:1b', ...chats, modifiedAt: '2026-01-07T00:00:00Z' },
    { name: 'coder:1b', ...chats, modifiedAt: '2026-01-06T00:00:00Z' },
    { name: 'new:8b', ...chats, modifiedAt: '2026-01-05T00:00:00Z' },
    { name: 'old:8b', ...chats, modifiedAt: '2026-01-04T00:00:00Z' },
  ];
  const completionModel = 'coder:1b';
  const cases: readonly {
    name: string;
    settings?: { chatModel?: string; completionModel?: string };
    chosen?: string;
    running?: readonly string[];
    only?: readonly string[];
    want: object;
  }[] = [
    { name: 'the newest', want: { model: 'coder:1b', from: 'newest' } },
    {
      name: 'not the one that completes',
      settings: { completionModel },
      want: { model: 'new:8b', from: 'newest' },
    },
    {
      name: 'one that is loaded',
      settings: { completionModel },
      running: ['coder:1b', 'old:8b'],
      want: { model: 'old:8b', from: 'loaded' },
    },
    {
      name: 'the last choice',
      chosen: 'OLD:8b',
      running: ['new:8b'],
      want: { model: 'old:8b', from: 'choice' },
    },
    { name: 'a choice that is gone', chosen: 'gone:1b', want: { model: 'coder:1b', from: 'newest' } },
    { name: 'no choice that runs elsewhere', chosen: 'cloud:480b', want: { from: 'newest' } },
    {
      name: 'a base model that was chosen',
      chosen: 'base:1b',
      want: { model: 'base:1b', from: 'choice' },
    },
    {
      name: 'the setting before the choice',
      settings: { chatModel: 'new:8b' },
      chosen: 'old:8b',
      want: { model: 'new:8b', from: 'setting' },
    },
    {
      name: 'a setting that names what is not there',
      settings: { chatModel: 'gone:1b' },
      chosen: 'old:8b',
      want: { model: 'old:8b', from: 'choice', missing: 'gone:1b' },
    },
    {
      name: 'the one that completes, where no other can chat',
      settings: { completionModel },
      only: ['embeds:1b', 'base:1b', 'coder:1b'],
      want: { model: 'coder:1b', from: 'newest' },
    },
    { name: 'none', only: ['embeds:1b', 'base:1b', 'cloud:480b'], want: { model: undefined } },
    {
      name: 'one without a template, where no other can chat',
      only: ['embeds:1b', 'base:1b', 'bare:1b', 'cloud:480b'],
      want: { model: 'bare:1b', from: 'newest' },
    },
    {
      name: 'one with a template before a loaded one without',
      only: ['bare:1b', 'old:8b'],
      running: ['bare:1b'],
      want: { model: 'old:8b', from: 'newest' },
    },
  ];
  for (const { name, settings = {}, chosen, running = [], only, want } of cases)
    t.test(name, async (t) => {
      const { client, state } = runnerWith(installed.filter((model) => only?.includes(model.name) ?? true));
      state.running = running.map((loaded) => ({ name: loaded }));
      state.turns = { 'base:1b': 'none', 'bare:1b': 'unknown' };
      const knowledge = new ModelCapabilities();
      const choices = new ChatModelChoices(undefined, quiet);
      const models = new Models(knowledge, Date.now);
      const chat = new ChatModels({
        models,
        servers: { server: () => server } as never,
        places: { read: (named: object) => ({ ...named, server }) } as never,
        settings: () => settings,
        choices,
        isRemote: (server, model) => knowledge.isRemote(server, model),
      });
      const { signal } = new AbortController();
      await models.list(client, { refresh: true }, signal);
      if (chosen !== undefined) {
        await chat.choose({ server: server.name, model: chosen });
        const isKept = (await choices.last(server.url)) !== undefined;
        t.equal(isKept, !knowledge.isRemote(server, chosen), 'what runs elsewhere is not kept');
      }
      const { model, ...rest } = await chat.find(client, signal);
      t.match({ ...rest, model: model?.name }, want);
    });
});

t.test('a template says whether a model has turns', async (t) => {
  const bare = '{{ .Prompt }}';
  const hole = '{{ if .Suffix }}<PRE>{{ .Prompt }}<SUF>{{ .Suffix }}<MID>{{ else }}{{ .Prompt }}{{ end }}';
  const cases: readonly { name: string; show: object; want: Turns }[] = [
    { name: 'the prompt alone', show: { template: bare }, want: 'unknown' },
    { name: 'a hole', show: { template: hole }, want: 'none' },
    { name: 'turns', show: { template: '{{ range .Messages }}{{ .Content }}{{ end }}' }, want: 'written' },
    { name: 'marks around the prompt', show: { template: '[INST] {{ .Prompt }} [/INST]' }, want: 'written' },
    { name: 'nothing said', show: {}, want: 'written' },
    {
      name: 'a renderer of the runner',
      show: { template: bare, modelfile: 'FROM x\nRENDERER qwen3-coder\n' },
      want: 'written',
    },
    { name: 'tools', show: { template: bare, capabilities: ['completion', 'tools'] }, want: 'written' },
    {
      name: 'the longest that is read',
      show: { template: `${hole}${' '.repeat(2_000 - hole.length)}` },
      want: 'none',
    },
    {
      name: 'a longer one',
      show: { template: `${hole}${' '.repeat(2_001 - hole.length)}` },
      want: 'written',
    },
    { name: 'another host', show: { template: bare, remote_host: 'https://far' }, want: 'written' },
  ];
  for (const { name, show, want } of cases) t.equal(turnsOf({ ...show }), want, name);
});

t.test('an open thinking tag at the end of a template', async (t) => {
  const qwq =
    '{{- range $i, $_ := .Messages }}{{- $last := eq (len (slice $.Messages $i)) 1 -}}\n{{- if eq .Role "user" }}<|im_start|>user\n{{ .Content }}<|im_end|>\n{{ else if eq .Role "assistant" }}<|im_start|>assistant\n{{ .Content }}{{ if not $last }}<|im_end|>\n{{ end }}{{ end }}{{- if and (ne .Role "assistant") $last }}<|im_start|>assistant\n<think>\n{{ end }}\n{{- end -}} ';
  const perRole =
    '{{ range .Messages }}{{ if eq .Role "user" }}<|u|>{{ .Content }}<|a|><think>{{ else }}{{ .Content }}<|e|>{{ end }}{{ end }}';
  const switched =
    '<|a|>{{ if and .IsThinkSet (not .Think) }}<think>\n\n</think>\n\n{{ else }}<think>\n{{ end }}';
  const jinja = (end: string) => `{% for m in messages %}{{ m.content }}{% endfor %}${end}`;
  const generation = "{% if add_generation_prompt %}{{ '<｜Assistant｜><think>\\n' }}{% endif %}";
  const inFile = (end: string) => ({
    template: '{{ .Prompt }}',
    model_info: { 'tokenizer.chat_template': jinja(end) },
  });
  const cases = [
    { name: 'before the answer', show: { template: '<|u|>{{ .Prompt }}<|a|><think>\n{{ .Response }}<|e|>' } },
    { name: 'at the very end', show: { template: '{{ .Prompt }}{{/* open */}}<Thinking> \n' } },
    { name: 'after the last message', show: { template: qwq } },
    { name: 'after a message of the user', show: { template: perRole } },
    { name: 'unless thinking is switched off', show: { template: switched } },
    {
      name: 'only if thinking is asked for',
      show: { template: '<|a|>{{ if .Think }}<think>{{ end }}' },
      want: false,
    },
    { name: 'what is written afterwards', show: { template: '<think>{{ .Prompt }}' }, want: false },
    { name: 'a block that is not closed', show: { template: '<think>{{ .Prompt' }, want: false },
    ...[51, 52].map((depth) => ({
      name: `${depth} blocks`,
      show: { template: `${'{{ if .Prompt }}'.repeat(depth)}<think>` },
      want: depth === 51,
    })),
    ...['{{ if not .Think }}', '{{ if (not .Think) }}', '{{ if not (eq .Role "assistant") }}'].map(
      (start) => ({
        name: start,
        show: { template: `${start}<think>{{ end }}` },
      }),
    ),
    ...['.Tools', '.Suffix', '.ToolCalls', '.Images', 'ne .Role "user"', 'not .System'].map((condition) => ({
      name: condition,
      show: { template: `{{ if ${condition} }}<think>{{ end }}` },
      want: false,
    })),
    ...['.System', 'eq .Role "user"', 'or (eq .Role "user") (eq .Role "system")'].map((condition) => ({
      name: condition,
      show: { template: `{{ if ${condition} }}<think>{{ end }}` },
    })),
    { name: 'a closed tag', show: { template: '{{ .Prompt }}<|a|><think>\n\n</think>\n\n' }, want: false },
    {
      name: 'only for history',
      show: { template: '{{ .Prompt }}{{ if eq .Role "assistant" }}<think>{{ end }}' },
      want: false,
    },
    { name: 'more after it', show: { template: '{{ .Prompt }}<think>{{ .Think }}' }, want: false },
    { name: 'a runner that separates it', show: { template: qwq, capabilities: ['thinking'] }, want: false },
    { name: 'a renderer', show: { template: qwq, modelfile: 'FROM x\nRENDERER qwen3\n' }, want: false },
    { name: "in the model's file", show: inFile(generation) },
    {
      name: "in the model's file, on one branch",
      show: inFile(
        "{% if enable_thinking is false %}{{ '<think>\\n\\n</think>' }}{% else %}{{ '<think>\\n' }}{% endif %}",
      ),
    },
    {
      name: "in the model's file, on a condition",
      show: inFile("{% if enable_thinking %}{{ '<think>\\n' }}{% endif %}"),
      want: false,
    },
    {
      name: "in the model's file, which is not used",
      show: { ...inFile(generation), template: '[INST]{{ .Prompt }}[/INST]' },
      want: false,
    },
    { name: 'nothing said', show: {}, want: false },
    {
      name: 'a broken template',
      show: { template: '{{ if }}{{ else }}{{ end }}{{ end }}}}{{ <think>' },
      want: false,
    },
  ];
  for (const { name, show, want = true } of cases) t.equal(opensThinking({ ...show }), want, name);
  const start = performance.now();
  for (const part of ['{{ if a }}', '{{ end }}', '{{', '{% if %}', '%}', ' ', '{{ not ', '(not '])
    opensThinking({ template: `${part.repeat(500_000 / part.length)}{{ .Messages }}` });
  t.ok(performance.now() - start < 5_000, 'in linear time');
});

t.test('the last choice is kept for every daemon, and a broken file counts as none', async (t) => {
  const folder = t.testdir({ broken: '{', other: '{"chosen":[{"url":1}]}', directory: {} });
  const path = join(folder, 'state', 'chatModel.json');
  const [here, there] = [new ChatModelChoices(path, quiet), new ChatModelChoices(path, quiet)];
  t.equal(await here.last('http://one'), undefined);
  await here.keep('http://one', 'a:1b');
  await there.keep('http://two', 'b:1b');
  t.equal(await there.last('http://one'), 'a:1b');
  t.equal(await here.last('http://two'), 'b:1b');
  t.ok(isModeOf(path, 0o600));
  for (let count = 0; count < 40; count++) await here.keep(`http://${count}`, 'c:1b');
  t.equal(await here.last('http://one'), undefined, 'it made room');
  t.equal(await here.last('http://39'), 'c:1b');
  for (const name of ['broken', 'other'])
    t.equal(await new ChatModelChoices(join(folder, name), quiet).last('http://one'), undefined, name);
  const warned: string[] = [];
  const unwritable = new ChatModelChoices(join(folder, 'directory'), {
    ...quiet,
    warn: (text) => void warned.push(text),
  });
  await unwritable.keep('http://one', 'a:1b');
  t.equal(await unwritable.last('http://one'), 'a:1b', 'for its own life');
  t.match(warned, [/^The choice of a:1b could not be saved for the next time/]);
});
