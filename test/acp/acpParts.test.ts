import { readdirSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk';
import t from 'tap';
import {
  createAskApproval,
  createAskElicitation,
  editorFilesOf,
  elicitModesOf,
} from '../../daemon/acp/client.ts';
import { createKeptConversations, replay } from '../../daemon/acp/keptConversations.ts';
import { createModelOptions } from '../../daemon/acp/modelOptions.ts';
import { isThinkingChoice, pickersOf, thinkOf } from '../../daemon/acp/pickers.ts';
import { promptToMessage } from '../../daemon/acp/promptMessage.ts';
import { createAskAboutFolder, createSessionPrompts } from '../../daemon/acp/sessionPrompts.ts';
import { createSessions } from '../../daemon/acp/sessions.ts';
import { createSessionTools } from '../../daemon/acp/sessionTools.ts';
import {
  askedCall,
  endedCall,
  fencedText,
  imageBlock,
  progressedCall,
  startedCall,
  toolCallOf,
} from '../../daemon/acp/toolCallUpdates.ts';
import { createUpdateSender } from '../../daemon/acp/updateSender.ts';
import { RunnerError } from '../../daemon/base/errors.ts';
import type { WrittenLog } from '../../daemon/base/log.ts';
import type { Prompts } from '../../daemon/prompts/prompts.ts';
import { createLazySessions } from '../../daemon/sessions/recordTurns.ts';
import type { ElicitField, ElicitParams } from '../../protocol/messages/elicit.ts';
import type { CapabilityName, Model } from '../../protocol/messages/models.ts';
import type { Prompt } from '../../protocol/messages/prompts.ts';
import type { SessionMessage } from '../../protocol/messages/sessions.ts';
import { failsWith } from '../support/failsWith.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const never = new AbortController().signal;
const text = (words: string): ContentBlock => ({ type: 'text', text: words });

type Known = Partial<Record<CapabilityName, Model['capabilities']['tools']>>;

function modelOf(name: string, more: Partial<Omit<Model, 'capabilities'>> = {}, known: Known = {}): Model {
  const no = { value: false, from: 'server' } as const;
  const capabilities = { completion: no, tools: no, vision: no, thinking: no, insert: no, embedding: no };
  return {
    ...{ name, server: 'default', family: 'f', context: {} },
    ...more,
    capabilities: { ...capabilities, ...known },
  };
}

const yes = { value: true, from: 'server' } as const;

t.test('the pickers of a session, with what each model says of itself', async (t) => {
  const thinker = modelOf('thinker', {}, { thinking: yes });
  const plain = modelOf('plain');
  const pickers = (models: readonly Model[], model: string | undefined) =>
    pickersOf(models, { model, thinking: 'low' });
  t.strictSame(pickers([], 'plain'), []);
  const choice = (name: string) => ({ value: name, name });
  const modelPicker = { id: 'model', name: 'Model', category: 'model', type: 'select' };
  t.strictSame(pickers([plain, thinker], 'plain'), [
    { ...modelPicker, currentValue: 'plain', options: [choice('plain'), choiceOf(thinker, 'thinking')] },
  ]);
  t.strictSame(pickers([plain], 'gone'), [
    {
      ...{ ...modelPicker, currentValue: '' },
      options: [
        { value: '', name: 'None yet', description: 'All of them run elsewhere: choose the one to send to.' },
        choice('plain'),
      ],
    },
  ]);
  t.strictSame(pickers([thinker], 'thinker')[1], {
    ...{ id: 'thinking', name: 'Thinking', category: 'thought_level', type: 'select' },
    ...{ description: 'How much the model thinks before it answers.', currentValue: 'low' },
    options: ['default', 'off', 'on', 'low', 'medium', 'high'].map((value) => {
      return { value, name: value.replace(/^./, (first) => first.toUpperCase()) };
    }),
  });
  for (const [thinking, isThere] of [
    [{ value: true, from: 'observed' }, true],
    [{ value: true, from: 'name' }, false],
    [{ value: 'unknown', from: 'server' }, false],
  ] as const)
    t.equal(pickers([modelOf('m', {}, { thinking })], 'm').length, isThere ? 2 : 1, thinking.from);

  function choiceOf(model: Model, description: string) {
    return { ...choice(model.name), description };
  }
  const unsure = { value: 'unknown', from: 'server' } as const;
  const remote = { host: 'https://ollama.com', model: 'x' };
  const window = { allocated: 4_096, configured: 8_192, maximum: 131_072 };
  for (const [product, model, want] of [
    ['ollama', modelOf('m'), undefined],
    ['ollama', modelOf('m', { size: 5_200_000_000 }), '5.2 GB'],
    ['ollama', modelOf('m', { size: 5_200_000_000, remote }), 'at https://ollama.com'],
    ['other', modelOf('m', {}, { completion: yes, insert: yes, embedding: yes }), undefined],
    [undefined, modelOf('m', {}, { vision: yes, tools: yes, thinking: unsure }), 'tools, vision'],
    [
      undefined,
      modelOf('m', {}, { tools: { value: true, from: 'configured' }, vision: yes }),
      'tools (configured), vision',
    ],
    ['ollama', modelOf('m', { context: window }), 'a window of 8,192 tokens'],
    [undefined, modelOf('m', { context: window }), 'a window of 8,192 tokens'],
    ['lmstudio', modelOf('m', { context: window }), 'a window of 4,096 tokens, LM Studio'],
    ['other', modelOf('m', { context: window }), 'a window of 4,096 tokens'],
    ['vllm', modelOf('m', { context: { maximum: 512 } }), 'a window of 512 tokens, vLLM'],
    [
      'ollama',
      modelOf('m', { context: { maximum: 512, from: 'assumed' } }),
      'a window of 512 tokens (assumed)',
    ],
    [
      'llama.cpp',
      modelOf('m', { size: 1_000_000, context: { allocated: 512, from: 'observed' } }),
      '1.0 MB, a window of 512 tokens (observed), llama.cpp',
    ],
    ['ollama', modelOf('m', { context: { maximum: 512, from: 'configured' } }), 'a window of 512 tokens'],
  ] as const) {
    const [picker] = pickersOf([model], { model: 'm', thinking: 'default' }, () => product);
    const options = picker?.type === 'select' ? picker.options : [];
    t.strictSame(options, [want === undefined ? choice('m') : { ...choice('m'), description: want }]);
  }
});

t.test('what each choice of the thinking picker sends', async (t) => {
  const thinker = modelOf('thinker', {}, { thinking: yes });
  const sent = {
    default: undefined,
    off: false,
    on: true,
    low: 'low',
    medium: 'medium',
    high: 'high',
  } as const;
  for (const [choice, think] of Object.entries(sent) as [keyof typeof sent, unknown][]) {
    t.equal(thinkOf(choice, thinker), think, choice);
    t.equal(thinkOf(choice, undefined), think, `${choice}, for a model that is not listed`);
    t.equal(thinkOf(choice, modelOf('plain')), undefined, `${choice}, for a model that does not think`);
    t.ok(isThinkingChoice(choice));
  }
  for (const none of ['much', '', 'toString', true, undefined]) t.notOk(isThinkingChoice(none), String(none));
});

t.test('a prompt is a message: what was typed, what is attached, and pictures', async (t) => {
  const link = (name: string): ContentBlock => ({ type: 'resource_link', name, uri: `file:///${name}` });
  const file = (uri: string, words = 'x'): ContentBlock => {
    return { type: 'resource', resource: { uri, text: words } };
  };
  const blob = (uri: string, mimeType?: string, data = 'AAAA'): ContentBlock => {
    return { type: 'resource', resource: { uri, blob: data, ...(mimeType ? { mimeType } : {}) } };
  };
  const image: ContentBlock = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
  const a = '[a](file:///a)';
  for (const [prompt, want] of [
    [[text(' Hi \n')], { content: 'Hi' }],
    [[text('one'), text('two')], { content: 'one\n\ntwo' }],
    [[text('one '), text('two')], { content: 'one two' }],
    [[text('one'), text('\ntwo')], { content: 'one\ntwo' }],
    [[text('one'), text(''), text('two')], { content: 'one\n\ntwo' }],
    [[text('see'), link('a'), text('now')], { content: `see ${a} now` }],
    [[text('('), link('a'), text(')')], { content: `(${a})` }],
    [[text('2'), link('a'), link('a'), text('.')], { content: `2 ${a} ${a}.` }],
    [[link('a'), text('[')], { content: `${a} [` }],
    [[text('see'), image, text('now')], { content: 'seenow', images: ['iVBORw0KGgo='] }],
    [[image], { content: '', images: ['iVBORw0KGgo='] }],
    [
      [file('file:///b/c.ts', 'let a')],
      {
        content: '[c.ts](file:///b/c.ts)',
        attachments: [{ path: 'file:///b/c.ts', text: 'let a', uris: ['file:///b/c.ts'] }],
      },
    ],
    [[file('')], { content: '[]()', attachments: [{ path: 'text', text: 'x' }] }],
    [
      [file('file:///d/')],
      { content: '[d](file:///d/)', attachments: [{ path: 'file:///d/', text: 'x', uris: ['file:///d/'] }] },
    ],
    [[file('///')], { content: '[///](///)', attachments: [{ path: '///', text: 'x', uris: ['///'] }] }],
    [[blob('file:///p.png', 'image/png')], { content: '[p.png](file:///p.png)', images: ['AAAA'] }],
  ] as const)
    t.strictSame(promptToMessage(prompt), { role: 'user', ...want }, JSON.stringify(prompt));
  for (const [prompt, path, message] of [
    [[], 'prompt', /it is empty/],
    [[text(' \n'), text('')], 'prompt', /it is empty/],
    [[text('a'), { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }], 'prompt[1]', /cannot be heard/],
    [[{ ...image, data: '' }], 'prompt[0].data', /not base64/],
    [[{ ...image, data: 'data:image/png;base64,AA' }], 'prompt[0].data', /not base64/],
    [[blob('file:///a/p.png', 'image/png', '!')], 'prompt[0].resource.blob', /not base64/],
    [[blob('file:///a/b.zip', 'application/zip')], 'prompt[0].resource', /b\.zip is neither text nor/],
    [[blob('file:///a/b')], 'prompt[0].resource', /b is neither text nor/],
  ] as const)
    t.throws(() => promptToMessage(prompt as readonly ContentBlock[]), failsWith({ path, message }), path);
});

t.test('a text stands in a fence that is longer than any in it, and a picture has its kind', async (t) => {
  for (const [words, fence] of [
    ['', '```'],
    ['a `` b', '```'],
    ['a ``` b', '````'],
    ['``` and `````', '``````'],
  ] as const)
    t.strictSame(fencedText(words), text(`${fence}\n${words}\n${fence}`));
  for (const [data, mimeType] of [
    ['/9j/4AAQ', 'image/jpeg'],
    ['R0lGODlh', 'image/gif'],
    ['UklGRiQA', 'image/webp'],
    ['iVBORw0K', 'image/png'],
    ['A/9j/', 'image/png'],
  ] as const)
    t.strictSame(imageBlock(data), { type: 'image', data, mimeType });
});

const call = { id: 'call_1', name: 'look', arguments: { at: 'x' } };

t.test('a call is shown from its beginning to its end', async (t) => {
  const shown = { toolCallId: 'call_1', name: 'look', rawInput: { at: 'x' } };
  const tool = { name: 'look', ownName: 'look', server: 'web', annotations: { readOnlyHint: true } };
  t.strictSame(toolCallOf(call, tool as never), {
    ...{ sessionUpdate: 'tool_call', title: 'look (web) at=x', status: 'pending', kind: 'read' },
    ...shown,
  });
  t.strictSame(toolCallOf(call, undefined, 'failed'), {
    ...{ sessionUpdate: 'tool_call', title: 'look at=x', status: 'failed', kind: 'other' },
    ...shown,
  });
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'call_1' };
  t.strictSame(startedCall(call), { ...update, status: 'in_progress' });
  const content = (...blocks: readonly ContentBlock[]) =>
    blocks.map((block) => ({ type: 'content', content: block }));
  for (const [progress, words] of [
    [{ progress: 0 }, '0'],
    [{ progress: 1, total: 2 }, '1 of 2'],
    [{ progress: 1, message: '' }, '1: '],
    [{ progress: 1, total: 0, message: 'Look' }, '1 of 0: Look'],
  ] as const)
    t.strictSame(progressedCall({ streamId: 's', id: 'call_1', ...progress }), {
      ...{ ...update, status: 'in_progress' },
      content: content(fencedText(words)),
    });
  const diff = { path: '/a', name: 'a', before: 'one', after: 'two', unified: '' };
  const toDiff = { type: 'diff', path: '/a', oldText: 'one', newText: 'two' };
  const picture = imageBlock('AAAA');
  const mark = '[image, image/png]';
  for (const [ended, want] of [
    [{ content: 'ok', isError: false }, content(fencedText('ok'))],
    [{ content: 'no', isError: true }, content(fencedText('no'))],
    [{ content: 'ok', isError: false, diff }, [toDiff]],
    [{ content: 'no', isError: true, diff }, content(fencedText('no'))],
    [{ content: mark, isError: false, images: ['AAAA'] }, content(picture)],
    [{ content: `${mark}\n${mark}`, isError: false, images: ['AAAA', 'AAAA'] }, content(picture, picture)],
    [
      { content: `See:\n${mark}`, isError: false, images: ['AAAA'] },
      content(fencedText(`See:\n${mark}`), picture),
    ],
    [{ content: `${mark} `, isError: false, images: ['AAAA'] }, content(fencedText(`${mark} `), picture)],
    [{ content: mark, isError: false }, content(fencedText(mark))],
  ] as const)
    t.strictSame(endedCall({ id: 'call_1', ...ended }), {
      ...{ ...update, status: ended.isError ? 'failed' : 'completed', content: want },
      rawOutput: { content: ended.content, isError: ended.isError },
    });
  const asked = { server: 'web', description: '', title: 'Look', annotations: { readOnlyHint: false } };
  const question = { ...shown, title: 'Look (web) at=x', status: 'pending', kind: 'edit' };
  t.strictSame(askedCall(call, asked), {
    ...question,
    content: content(fencedText('{\n  "at": "x"\n}')),
  });
  for (const [length, want] of [
    [7_980, `{\n  "at": "${'x'.repeat(7_980)}"\n}`],
    [7_986, `{\n  "at": "${'x'.repeat(7_986)}"\n}`],
    [7_987, `{\n  "at": "${'x'.repeat(7_987)}"\n…`],
  ] as const)
    t.strictSame(
      askedCall({ ...call, arguments: { at: 'x'.repeat(length) } }, asked).content,
      content(fencedText(want)),
      `${length} characters`,
    );
  for (const [annotations, kind] of [
    [undefined, 'other'],
    [{}, 'other'],
    [{ readOnlyHint: false, openWorldHint: true }, 'edit'],
    [{ readOnlyHint: true, openWorldHint: false }, 'read'],
    [{ readOnlyHint: true, openWorldHint: true }, 'fetch'],
  ] as const)
    t.equal(
      askedCall(call, { server: 'web', description: '', ...(annotations && { annotations }) }).kind,
      kind,
    );
  for (const [given, title] of [
    [{ long: 'abcdef', b: 1 }, 'look (web) b=1, long=abcdef'],
    [{ a: 'one\n  two\u202e', c: undefined, d: [1], e: null }, 'look (web) c=, d=[1], e=null, a=one two'],
    [{}, 'look (web)'],
    [{ a: 'x'.repeat(147) }, `look (web) a=${'x'.repeat(147)}`],
    [{ a: 'x'.repeat(148) }, `look (web) a=${'x'.repeat(146)}…`],
    [{ ['k'.repeat(64)]: 1 }, `look (web) ${'k'.repeat(64)}=1`],
    [{ ['k'.repeat(65)]: 1 }, `look (web) ${'k'.repeat(63)}…=1`],
    [
      Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at}`, 'x'])),
      `look (web) ${[...'0123456789'].map((at) => `k${at}=x`).join(', ')}, ${Array.from({ length: 10 }, (_, at) => `k1${at}=x`).join(', ')}`,
    ],
  ] as const)
    t.equal(askedCall({ ...call, arguments: given }, { server: 'web', description: '' }).title, title);
  t.equal(
    askedCall({ ...call, arguments: {} }, { ...asked, title: 'T'.repeat(65) }).title,
    `${'T'.repeat(63)}… (web)`,
    'no name pushes the server out',
  );
  t.strictSame(askedCall(call, { ...asked, diff: { path: '/a', name: 'a', after: '', unified: '' } }), {
    ...question,
    content: [{ type: 'diff', path: '/a', oldText: null, newText: '' }],
    locations: [{ path: '/a' }],
  });
});

t.test('tools of busy sessions run; of eight and more, the longest idle end first', async (t) => {
  const ended: string[] = [];
  const closes: (() => void)[] = [];
  const tools = createSessionTools(
    ({ cwd }) =>
      ({
        askable: async (which: string) => [`${cwd} ${which}`],
        close() {
          ended.push(cwd);
          return new Promise<void>((resolve) => closes.push(resolve));
        },
      }) as never,
  );
  const given = (cwd: string) => ({
    ...{ cwd, servers: {}, files: () => undefined, elicitModes: () => [] },
  });
  const use = (id: string) => tools.run(id, async () => undefined);
  const ids = Array.from({ length: 8 }, (_, at) => `${at}`);
  for (const id of ids) tools.set(id, given(id));
  t.strictSame(await tools.used('0'), [], 'it has not begun');

  let finish: () => void = () => undefined;
  const busy = tools.run('0', () => new Promise<void>((resolve) => (finish = resolve)));
  for (const id of ids.slice(1)) await use(id);
  t.strictSame(ended, [], 'eight run');
  t.strictSame(await tools.used('0'), ['0 known']);
  await use('1');
  await use('8');
  t.strictSame(ended, ['2'], 'the one that was idle longest');
  finish();
  await busy;
  await t.rejects(
    tools.run('9', async () => {
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.strictSame(ended, ['2', '0']);
  tools.set('3', given('3 anew'));
  tools.remove('4');
  tools.remove('none');
  t.strictSame(ended.splice(0), ['2', '0', '3', '4']);
  await use('3');
  let isClosed = false;
  const closed = tools.close().then(() => {
    isClosed = true;
  });
  t.strictSame(ended.toSorted(), ['/', '/', '1', '3 anew', '5', '6', '7']);
  for (const close of closes.splice(1)) close();
  await nextTurn();
  t.notOk(isClosed, 'one has not ended yet');
  closes[0]?.();
  await closed;
  t.ok(isClosed);
});

t.test('a chosen model is asked for only where it is not known', async (t) => {
  let installed = [modelOf('a', {}, { completion: yes })];
  let failure: Error | undefined;
  const listed: unknown[] = [];
  const chosen: string[] = [];
  const sessions = createSessions(() => undefined);
  const core = {
    servers: { runner: async () => ({ facts: {} }), server: () => 'server' },
    places: {
      async list(options: unknown) {
        listed.push(options);
        if (failure) throw failure;
        return { models: [...installed, modelOf('blind')] };
      },
    },
    chatModels: {
      findAnywhere: async () => ({ model: installed[0], missing: 'gone' }),
      choose: async ({ model }: { model: string }) => void chosen.push(model),
    },
  };
  const options = createModelOptions(core as never, sessions);
  const session = sessions.open({ id: 's', cwd: '/' });
  await options.list(never);
  t.strictSame(
    options.models.map(({ name }) => name),
    ['a'],
    'only those that can chat',
  );
  options.pickers(session);
  t.strictSame([session.model, session.missingModel], ['a', 'gone']);
  const choose = (value: unknown, configId = 'model') =>
    options.choose(session, { sessionId: 's', configId, value } as never, never);
  listed.length = 0;
  await choose('a');
  t.strictSame([listed, session.missingModel], [[], undefined]);
  installed = [...installed, modelOf('b', {}, { completion: yes })];
  await choose('b');
  t.strictSame([listed.splice(0), session.model], [[{ refresh: true }], 'b'], 'it may be new');
  await t.rejects(choose('blind'), failsWith({ message: /"value" is not valid: there is no model "blind"/ }));
  failure = new RunnerError('server-unreachable', 'Nothing answers.');
  await t.rejects(choose('c'), failsWith({ message: /there is no model "c"/ }));
  failure = new Error('stopped');
  await t.rejects(choose('c'), { message: 'stopped' });
  await t.rejects(choose('x', 'other'), failsWith({ message: /there is no option "other"/ }));
  t.strictSame([chosen, session.model], [['a', 'b'], 'b']);
  const sent: string[] = [];
  await options.updateSessions(async (id) => void sent.push(id));
  await options.updateSessions(async (id) => void sent.push(id));
  t.strictSame(sent, ['s'], 'once for each change');
});

t.test('a user is asked with the answers that there can be, and any other answer is a denial', async (t) => {
  const asked: unknown[] = [];
  const shown: unknown[] = [];
  let outcome: object = { outcome: 'cancelled' };
  const ask = createAskApproval('s1', {
    async askPermission(question) {
      asked.push(question);
      return { outcome } as never;
    },
    onDidShow: (...what) => void shown.push(what),
  });
  const params = { streamId: 's', toolCall: call, server: 'web', description: '' };
  const answer = async (optionId: string) => {
    outcome = { outcome: 'selected', optionId };
    return (await ask(params, never)).decision;
  };
  t.equal((await ask(params, never)).decision, 'deny');
  for (const decision of ['once', 'always', 'deny'] as const) t.equal(await answer(decision), decision);
  for (const other of ['session', '', 'allow_once']) t.equal(await answer(other), 'deny', other);
  const options = [
    { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
    { optionId: 'always', kind: 'allow_always', name: 'Always allow' },
    { optionId: 'deny', kind: 'reject_once', name: 'Deny' },
  ];
  const tool = { server: 'web', description: '' };
  t.strictSame(asked[0], { sessionId: 's1', toolCall: askedCall(call, tool), options });
  t.strictSame(shown, []);
  const diff = { path: '/a', name: 'a', after: 'x', unified: '' };
  await ask({ ...params, diff, decisions: ['once', 'deny'] }, never);
  t.strictSame(asked.at(-1), {
    ...{ sessionId: 's1', toolCall: askedCall(call, { ...tool, diff }) },
    options: [options[0], options[2]],
  });
  t.strictSame(shown, [['call_1', diff]]);
});

t.test('an editor reads and writes files as far as it has said so', async (t) => {
  const asked: unknown[] = [];
  const client = {
    async readTextFile(file: object) {
      asked.push(file);
      return { content: 'read' };
    },
    writeTextFile: async (file: object) => void asked.push(file),
  };
  const both = editorFilesOf('s1', client, { readTextFile: true, writeTextFile: true });
  t.equal(await both.read?.('/a'), 'read');
  t.equal(await both.write?.('/b', 'new'), undefined);
  t.strictSame(asked, [
    { sessionId: 's1', path: '/a' },
    { sessionId: 's1', path: '/b', content: 'new' },
  ]);
  const able = (capabilities: Parameters<typeof editorFilesOf>[2]) =>
    Object.keys(editorFilesOf('s1', client, capabilities));
  t.strictSame(able({ readTextFile: true }), ['read']);
  t.strictSame(able({ writeTextFile: true, readTextFile: false }), ['write']);
  t.strictSame(able({}), []);
  t.strictSame(able(undefined), []);
});

t.test('a question of a tool server is a form or an address of the editor', async (t) => {
  const asked: object[] = [];
  let response: object = { action: 'cancel' };
  const ask = createAskElicitation('s1', {
    createId: () => 'new id',
    async elicit(question, signal) {
      t.equal(signal, never);
      asked.push(question);
      return response as never;
    },
  });
  const question = (more: Partial<ElicitParams>): ElicitParams => {
    return { streamId: 's', server: 'te\nam', message: 'Who?\nYou?', fields: [], ...more };
  };
  const field = (name: string, more: Partial<ElicitField>): ElicitField => {
    return { name, type: 'text', required: false, ...more };
  };
  const option = { value: 'a', title: 'A' };
  const named = [{ const: 'a', title: 'A' }];
  const fields: readonly (readonly [ElicitField, object])[] = [
    [field('plain', {}), { type: 'string' }],
    [
      field('mail', {
        required: true,
        title: 'Mail',
        description: 'Yours',
        format: 'email',
        default: 'a@b.c',
      }),
      { title: 'Mail', description: 'Yours', default: 'a@b.c', type: 'string', format: 'email' },
    ],
    [field('number', { type: 'number', default: 1.5 }), { type: 'number', default: 1.5 }],
    [field('whole', { type: 'integer', default: 2, required: true }), { type: 'integer', default: 2 }],
    [field('no whole', { type: 'integer', default: 2.5 }), { type: 'integer' }],
    [field('is it', { type: 'boolean', default: false }), { type: 'boolean', default: false }],
    [field('one', { type: 'choice', options: [option] }), { type: 'string', oneOf: named }],
    [field('some', { type: 'choices', options: [option] }), { type: 'array', items: { anyOf: named } }],
    [field('none', { type: 'choices' }), { type: 'array', items: { anyOf: [] } }],
  ];
  t.strictSame(await ask(question({ fields: fields.map(([given]) => given) }), never, 'call_1'), {
    action: 'cancel',
  });
  const plain = { sessionId: 's1', toolCallId: 'call_1' };
  const intro = 'The tool server te am asks you:';
  t.strictSame(asked.pop(), {
    ...{ ...plain, message: `${intro}\n\n> Who?\n> You?`, mode: 'form' },
    requestedSchema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(([{ name }, property]) => [name, property])),
      required: ['mail', 'whole'],
    },
  });
  response = { action: 'accept', content: { plain: 'x', some: ['a'] } };
  const warned = question({ problem: 'It is wrong.', warning: 'Mind it.' });
  t.strictSame(await ask(warned, never, 'call_1'), response);
  t.match(asked.pop(), { message: `It is wrong.\n\n${intro}\n\n> Who?\n> You?\n\nMind it.` });
  response = { action: 'decline', content: null };
  const page = question({ url: 'https://a.example/b', host: 'a.\texample' });
  t.strictSame(await ask(page, never, 'call_1'), { action: 'decline' });
  t.strictSame(asked.pop(), {
    ...{ ...plain, mode: 'url', elicitationId: 'new id', url: 'https://a.example/b' },
    message: 'The tool server te am asks you to open a page of a. example in your browser:\n\n> Who?\n> You?',
  });
  for (const [capabilities, modes] of [
    [undefined, []],
    [{}, []],
    [{ elicitation: {} }, []],
    [{ elicitation: { form: {} } }, ['form']],
    [{ elicitation: { url: {}, form: null } }, ['url']],
    [{ elicitation: { url: {}, form: {} } }, ['form', 'url']],
  ] as const)
    t.strictSame(elicitModesOf(capabilities), modes);
});

t.test('an answer is sent as it arrives, until it is cancelled', async (t) => {
  const sent: SessionUpdate[] = [];
  const leaving = new AbortController();
  const updates = createUpdateSender({
    update: async (update) => void sent.push(update),
    ...{ cwd: '/', takesNotices: true, signal: leaving.signal },
  });
  const chunk = (kind: string, words: string) => ({ sessionUpdate: kind, content: text(words) });
  const delta = (more: object) => updates.delta({ streamId: 's', seq: 0, ...more } as never);
  const diff = { path: '/a', name: 'a', before: 'x', after: 'y', unified: '' };
  const result = { id: 'call_1', name: 'look', server: 'web', content: 'ok', isError: false };
  const usage = { promptTokens: 10, completionTokens: 5 };
  const model = (context: Model['context']) => modelOf('m', { context });
  const all: readonly (readonly [work: () => unknown, wanted: readonly object[]])[] = [
    [() => delta({ kind: 'text', text: 'Hi' }), [chunk('agent_message_chunk', 'Hi')]],
    [() => delta({ kind: 'thinking', text: 'Hm' }), [chunk('agent_thought_chunk', 'Hm')]],
    [() => delta({ kind: 'toolCall', toolCall: call }), []],
    [() => updates.call(call, undefined), [toolCallOf(call, undefined)]],
    [() => updates.progress({ streamId: 's', id: 'call_1', progress: 1 }), []],
    [() => updates.started(call), [startedCall(call)]],
    [
      () => updates.progress({ streamId: 's', id: 'call_1', progress: 1 }),
      [progressedCall({ streamId: 's', id: 'call_1', progress: 1 })],
    ],
    [() => delta({ kind: 'toolResult', toolResult: result }), [endedCall(result)]],
    [() => updates.progress({ streamId: 's', id: 'call_1', progress: 2 }), []],
    [() => updates.shown('call_1', diff), []],
    [() => delta({ kind: 'toolResult', toolResult: result }), [endedCall({ ...result, diff })]],
    [
      () => delta({ kind: 'notice', notice: { code: 'answer-lost', message: 'It is lost.' } }),
      [{ sessionUpdate: 'notice', severity: 'warning', title: 'It is lost.' }],
    ],
    [() => delta({ kind: 'notice', notice: { code: 'session-not-kept', message: 'It is not kept.' } }), []],
    [() => updates.usage(usage, undefined), []],
    [() => updates.usage(usage, model({})), []],
    [
      () => updates.usage(usage, model({ maximum: 9 })),
      [{ sessionUpdate: 'usage_update', used: 15, size: 9 }],
    ],
    [
      () => updates.usage(usage, model({ maximum: 9, configured: 8 })),
      [{ sessionUpdate: 'usage_update', used: 15, size: 8 }],
    ],
    [
      () => updates.usage({ ...usage, contextLength: 7 }, model({ configured: 8 })),
      [{ sessionUpdate: 'usage_update', used: 15, size: 7 }],
    ],
  ];
  for (const [work, wanted] of all) {
    await work();
    t.strictSame(sent.splice(0), wanted, String(work));
  }
  leaving.abort();
  for (const [work] of all) await work();
  t.strictSame(sent, [], 'then there is silence');
});

const day = '2026-11-22T00:00:00Z';
const keptSession = { id: 's1', title: '', model: 'm', createdAt: day, updatedAt: day, turns: 1 };

t.test('a conversation is said again as it was', async (t) => {
  const interrupted = { id: 'call_2', name: 'wait', arguments: {} };
  const messages: readonly SessionMessage[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'See', images: ['/9j/'], at: '2026-11-22T00:00:00Z' },
    { role: 'assistant', content: '', thinking: 'Hm.', model: 'm', toolCalls: [call, interrupted] },
    { role: 'tool', content: 'ok', toolCallId: 'call_1', toolName: 'look', images: ['AAAA'] },
    { role: 'tool', content: 'The call was interrupted.', toolCallId: 'call_2', toolName: 'wait' },
    { role: 'tool', content: 'lost' },
    { role: 'assistant', content: 'Done.', model: 'm', partial: 'failed' },
  ];
  const sent: unknown[] = [];
  const found = { session: keptSession, messages };
  await replay(found, { update: async (id, update) => void sent.push([id, update]), signal: never });
  const chunk = (kind: string, content: ContentBlock) => ({ sessionUpdate: kind, content });
  t.strictSame(
    sent,
    [
      chunk('user_message_chunk', text('See')),
      chunk('user_message_chunk', imageBlock('/9j/')),
      chunk('agent_thought_chunk', text('Hm.')),
      toolCallOf(call, undefined, 'completed'),
      toolCallOf(interrupted, undefined, 'failed'),
      endedCall({ id: 'call_1', content: 'ok', isError: false, images: ['AAAA'] }),
      endedCall({ id: 'call_2', content: 'The call was interrupted.', isError: true }),
      chunk('agent_message_chunk', text('Done.')),
    ].map((update) => ['s1', update]),
  );
  const left: unknown[] = [];
  const leaving = new AbortController();
  const update = async () => {
    left.push('sent');
    leaving.abort(new Error('The client has left.'));
  };
  await t.rejects(replay(found, { update, signal: leaving.signal }), { message: 'The client has left.' });
  t.equal(left.length, 1, 'nothing is said to nobody');
});

const nothing = () => undefined;
const silent: WrittenLog = {
  ...{ debug: nothing, info: nothing, warn: nothing, error: nothing, onDidWrite: nothing },
};

/** Conversations on the disk, each with one turn. Those further behind are newer. */
async function keptConversations(
  test: { teardown(work: () => unknown): void },
  kept: readonly { readonly id: string; readonly title: string; readonly cwd?: string }[],
) {
  const day = '2026-11-22T00:00:00.000Z';
  const linesOf = ({ id, title, cwd }: (typeof kept)[number]) => [
    { type: 'session', version: 1, id, createdAt: day, ...(cwd === undefined ? {} : { cwd }) },
    { type: 'message', role: 'user', content: `Hi ${title}` },
    { type: 'message', role: 'assistant', content: 'Yes.', model: 'm' },
    { type: 'state', title, turns: 1, model: 'm' },
  ];
  const files = kept.map((one) => [
    `${one.id}.jsonl`,
    linesOf(one)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  ]);
  const folder = await temporaryFolder(test, Object.fromEntries(files));
  const begun = Date.parse(day);
  for (const [index, { id }] of kept.entries()) {
    const at = new Date(begun + index * 1_000);
    utimesSync(join(folder, `${id}.jsonl`), at, at);
  }
  const logged: string[] = [];
  const sessions = createLazySessions({
    folder,
    settings: () => ({ keepSessions: true, sessionDays: 10_000 }),
    userSettings: async () => ({}),
    redact: (value) => value,
    secretsAreRead: async () => undefined,
    now: () => begun + 3_600_000,
    random: () => 0.5,
    closed: never,
  });
  test.teardown(() => sessions.close());
  const log = { ...silent, debug: (line: string) => void logged.push(line) };
  return { folder, logged, sessions, kept: createKeptConversations({ sessions, log }) };
}

t.test('kept conversations are listed by pages, continued, described and deleted', async (t) => {
  const ids = Array.from({ length: 52 }, (_, at) => `20261122-aaaaaa${String(at).padStart(2, '0')}`);
  const { kept, sessions } = await keptConversations(
    t,
    ids.map((id, at) => ({
      ...{ id, title: at === 50 ? '' : `t${at}` },
      ...(at === 49 ? {} : { cwd: at === 0 ? '/first' : '/work' }),
    })),
  );
  const updatedAt = (at: number) => new Date(Date.parse('2026-11-22T00:00:00Z') + at * 1_000).toISOString();
  const listed = (at: number, title: string | null = `t${at}`) => {
    return { sessionId: ids[at], cwd: at === 0 ? '/first' : '/work', title, updatedAt: updatedAt(at) };
  };
  const first = await kept.list({}, never);
  t.strictSame(first, {
    // One has no folder, so the protocol cannot show it.
    sessions: [listed(51), listed(50, null), ...Array.from({ length: 47 }, (_, back) => listed(48 - back))],
    nextCursor: first.nextCursor,
  });
  t.type(first.nextCursor, 'string');
  t.strictSame(await kept.list({ cursor: first.nextCursor ?? '' }, never), {
    sessions: [listed(1), listed(0)],
  });
  t.strictSame(await kept.list({ cwd: '/first', cursor: null }, never), { sessions: [listed(0)] });
  await t.rejects(kept.list({ cursor: 'x' }, never), failsWith({ path: 'cursor' }));
  t.strictSame(await kept.infoOf(ids[0] ?? ''), {
    ...{ sessionUpdate: 'session_info_update', title: 't0', updatedAt: updatedAt(0) },
  });
  t.equal(await kept.infoOf(ids[50] ?? ''), undefined, 'it has no title');
  t.equal(await kept.infoOf('20261122-unknown0'), undefined);
  t.match(await kept.resume(ids[0] ?? ''), {
    session: { id: ids[0], title: 't0', model: 'm' },
    messages: [
      { role: 'user', content: 'Hi t0' },
      { role: 'assistant', content: 'Yes.', model: 'm' },
    ],
  });
  const begun = await kept.begin('/new');
  t.match(begun, /^20261122-[a-z0-9]{8}$/);
  t.match(await (await sessions.get()).find(begun), { cwd: resolve('/new'), turns: 0 });
  await kept.delete(ids[0] ?? '');
  await t.rejects(kept.resume(ids[0] ?? ''), failsWith({ path: 'sessionId' }));
  await t.rejects(kept.delete(ids[0] ?? ''), failsWith({ path: 'sessionId' }));
});

t.test('a conversation that is let go of can be taken at once, and belongs to its new holder', async (t) => {
  const id = '20261122-aaaaaaaa';
  const { kept, folder, logged } = await keptConversations(t, [{ id, title: 'One', cwd: '/work' }]);
  await kept.resume(id);
  const marks = () => readdirSync(join(folder, 'locks')).length;
  kept.release(id);
  await kept.resume(id);
  t.equal(marks(), 1);
  kept.release(id);
  kept.release(id);
  await poll(
    async () => marks(),
    (left) => left === 0,
  );
  t.strictSame(logged, []);
});

t.test('the folder of a workspace is asked about as a call', async (t) => {
  for (const [files, outcome, allowed, title] of [
    [1, { outcome: 'selected', optionId: 'allow' }, true, 'Use the prompt of this workspace, in /w'],
    [2, { outcome: 'selected', optionId: 'refuse' }, false, 'Use the 2 prompts of this workspace, in /w'],
    [2, { outcome: 'selected', optionId: 'other' }, undefined, 'Use the 2 prompts of this workspace, in /w'],
    [2, { outcome: 'cancelled' }, undefined, 'Use the 2 prompts of this workspace, in /w'],
  ] as const) {
    const seen: unknown[] = [];
    const ask = createAskAboutFolder({
      ...{ sessionId: 's1', createId: () => 'call_1' },
      client: {
        update: async (...update) => void seen.push(update),
        async askPermission(question) {
          seen.push(question);
          return { outcome };
        },
      },
    });
    t.equal(await ask({ path: '/w', state: 'unasked', files }), allowed);
    const shown = { toolCallId: 'call_1', title, kind: 'read' };
    t.strictSame(seen, [
      ['s1', { sessionUpdate: 'tool_call', ...shown, status: 'pending', locations: [{ path: '/w' }] }],
      {
        ...{ sessionId: 's1', toolCall: { ...shown, locations: [{ path: '/w' }] } },
        options: [
          { optionId: 'allow', kind: 'allow_always', name: 'Use them from now on' },
          { optionId: 'refuse', kind: 'reject_always', name: 'Never use them' },
        ],
      },
      [
        's1',
        {
          ...{ sessionUpdate: 'tool_call_update', toolCallId: 'call_1' },
          status: allowed ? 'completed' : 'failed',
        },
      ],
    ]);
  }
});

t.test('the prompts of a session are its commands, and are sent again only where they differ', async (t) => {
  const prompt = (name: string, more: Partial<Prompt> = {}): Prompt => {
    return { name, description: '', from: 'user', arguments: [], ...more };
  };
  let listed: readonly Prompt[] = [];
  const asked: unknown[] = [];
  const logged: string[] = [];
  let isBroken = false;
  const used = [{ name: 'team', server: {} }];
  const prompts = {
    async list(params: object, { root, isLazy, signal, servers, requireTools }: never) {
      const place = { root, isLazy, signal, servers: await (servers as () => unknown)() };
      asked.push([params, place, await (requireTools as (names: readonly string[]) => unknown)([])]);
      if (isBroken) throw new Error('no disk');
      return { prompts: listed };
    },
  } as unknown as Prompts;
  const session = createSessionPrompts({
    prompts: async () => prompts,
    log: { ...silent, debug: (line) => void logged.push(line) },
    usedServers: async (id) => (id === 's1' ? used : []),
    closed: never,
  });
  const sent: unknown[] = [];
  const announce = (id = 's1') => session.announce(id, async (update) => void sent.push(update));
  await announce();
  t.strictSame([asked, sent], [[], []], 'nobody has opened it');
  session.set('s1', '/work');
  await announce();
  t.strictSame(asked, [[{}, { root: '/work', isLazy: true, signal: never, servers: used }, undefined]]);
  t.strictSame(sent, [], 'there are none');
  listed = [
    prompt('own'),
    prompt('of-the-workspace', { from: 'workspace' }),
    prompt('git:review', {
      ...{ from: 'server', description: 'Reviews' },
      arguments: [{ name: 'branch', required: true }, { name: 'focus' }],
    }),
    prompt('team:plain', { from: 'server' }),
    prompt('broken', { problem: 'It is empty.' }),
    prompt('second', { hiddenBy: 'prompt' }),
  ];
  const commands = [
    { name: 'own', description: 'A prompt of yours' },
    { name: 'of-the-workspace', description: 'A prompt of the workspace' },
    { name: 'git:review', description: 'Reviews', input: { hint: 'branch [focus]' } },
    { name: 'team:plain', description: 'A prompt of a tool server' },
  ];
  await announce();
  await announce();
  t.strictSame(sent.splice(0), [{ sessionUpdate: 'available_commands_update', availableCommands: commands }]);
  isBroken = true;
  await announce();
  t.strictSame(logged, ['The prompts were not announced: Error: no disk']);
  isBroken = false;
  listed = [];
  const late = announce();
  session.set('s1', '/elsewhere');
  await late;
  t.strictSame(sent, [], 'what was opened again meanwhile has its own');
  session.remove('s1');
  await announce();
  t.strictSame(sent, []);
});

t.test('a message that calls a prompt is what the prompt says', async (t) => {
  const asked: unknown[] = [];
  const folder = { path: '/w', state: 'unasked', files: 1 } as const;
  let answers: object[] = [];
  const prompts = {
    async get(params: object, { root }: { readonly root: string }) {
      asked.push([params, root]);
      return answers.shift();
    },
    allow: async (params: object) => void asked.push(params),
  } as unknown as Prompts;
  const session = createSessionPrompts({
    ...{ prompts: async () => prompts, log: silent, usedServers: async () => [], closed: never },
  });
  session.set('s1', '/work');
  let allowed: boolean | undefined;
  const find = (content: string, more: object = {}) => {
    const message = { role: 'user' as const, content, ...more };
    const asking = async (found: unknown) => {
      asked.push(found);
      return allowed;
    };
    const call = { requireTools: async () => undefined, servers: async () => [], signal: never };
    return session.find(message, { sessionId: 's1', askAboutFolder: asking, ...call });
  };
  for (const plain of ['hi', ' /review', '/', '/ x', '/a/b c', 'see /review']) {
    t.strictSame(await find(plain), { kind: 'message', message: { role: 'user', content: plain } }, plain);
  }
  t.strictSame(asked.splice(0), [], 'nothing is looked for');
  answers = [{ kind: 'none', near: [] }];
  const unknown = { role: 'user', content: '/nothing of this name' };
  t.strictSame(await find('/nothing of this name'), { kind: 'message', message: unknown });
  t.strictSame(asked.splice(0), [[{ name: 'nothing', text: 'of this name' }, '/work']]);
  answers = [{ kind: 'missing', message: 'It needs a value.' }];
  t.strictSame(await find('/review'), { kind: 'said', message: 'It needs a value.' });
  t.strictSame(asked.splice(0), [[{ name: 'review', text: '' }, '/work']]);
  const found = { kind: 'prompt', name: 'review', text: 'Review it.', model: 'm' };
  answers = [found];
  t.strictSame(await find('/review\n two \nlines', { images: ['A'] }), {
    ...{ kind: 'message', prompt: found },
    message: { role: 'user', content: 'Review it.', images: ['A'] },
  });
  t.strictSame(asked.splice(0), [[{ name: 'review', text: 'two \nlines' }, '/work']]);
  answers = [{ ...found, images: ['B'] }];
  t.match(await find('/review', { images: ['A'] }), { message: { images: ['A', 'B'] } });
  answers = [found];
  t.strictSame((await find('/review')) as object, {
    ...{ kind: 'message', message: { role: 'user', content: 'Review it.' }, prompt: found },
  });
  asked.splice(0);
  const unasked = { kind: 'unasked', folder, message: 'You have not allowed it.' };
  for (const answer of [true, false]) {
    allowed = answer;
    answers = [unasked, found];
    t.match(await find('/review'), { message: { content: 'Review it.' } });
    const wanted = [{ name: 'review', text: '' }, '/work'];
    t.strictSame(asked.splice(0), [wanted, folder, { allowed }, wanted]);
  }
  allowed = undefined;
  answers = [unasked];
  t.strictSame(await find('/review'), { kind: 'said', message: 'You have not allowed it.' });
  t.strictSame(asked.splice(1), [folder], 'no answer is not kept');
});

t.test('of 65 sessions, the one that rested longest is closed', async (t) => {
  const sessions = createSessions(() => undefined);
  sessions.open({ id: 's1', cwd: '/' });
  t.strictSame(sessions.open({ id: 's2', cwd: '/', title: 'T' }), {
    ...{ model: undefined, missingModel: undefined, knowsOfUnusedTools: false, thinking: 'default' },
    ...{
      mode: undefined,
      turn: undefined,
      sentPickers: '[]',
      title: 'T',
      isClosed: false,
      id: 's2',
      cwd: '/',
    },
  });
  for (let count = 3; count <= 64; count += 1) sessions.open({ id: `s${count}`, cwd: '/' });
  sessions.get('s1').turn = { abort: () => undefined };
  t.equal(sessions.all().length, 64);
  sessions.open({ id: 's65', cwd: '/' });
  t.throws(() => sessions.get('s2'), failsWith({ path: 'sessionId' }), 'the one that rested longest');
  t.equal(sessions.all().length, 64);
  t.ok(sessions.get('s1'), 'not one that is busy');
});

t.test('each update is waited for, so that a client that does not read holds the answer back', async (t) => {
  type Update = (...given: unknown[]) => Promise<void>;
  const sender = (update: Update) =>
    createUpdateSender({ cwd: '/', update, takesNotices: true, signal: never });
  const delta = (more: object) => (update: Update) =>
    sender(update).delta({ streamId: 's', seq: 0, ...more } as never);
  const toolResult = { id: 'call_1', name: 'look', server: 'web', content: 'ok', isError: false };
  const started = async (update: Update) => {
    let isFirst = true;
    const updates = sender((...given) => {
      if (!isFirst) return update(...given);
      isFirst = false;
      return Promise.resolve();
    });
    await updates.started(call);
    return updates.progress({ streamId: 's', id: 'call_1', progress: 1 });
  };
  const prompts = {
    list: async () => ({ prompts: [{ name: 'a', description: 'A', from: 'user', arguments: [] }] }),
  };
  const announce = (update: Update) => {
    const session = createSessionPrompts({
      ...{ prompts: async () => prompts as never, log: silent, usedServers: async () => [], closed: never },
    });
    session.set('s1', '/work');
    return session.announce('s1', update);
  };
  let questions = 0;
  const ask = (update: Update) =>
    createAskAboutFolder({
      ...{ sessionId: 's1', createId: () => 'call_1' },
      client: {
        update,
        async askPermission() {
          questions += 1;
          return { outcome: { outcome: 'cancelled' } };
        },
      },
    })({ path: '/w', state: 'unasked', files: 1 });
  const works: readonly ((update: Update) => Promise<unknown>)[] = [
    delta({ kind: 'text', text: 'Hi' }),
    delta({ kind: 'thinking', text: 'Hm' }),
    delta({ kind: 'toolResult', toolResult }),
    delta({ kind: 'notice', notice: { code: 'answer-lost', message: 'It is lost.' } }),
    (update) => sender(update).usage({ promptTokens: 1, completionTokens: 1, contextLength: 9 }, undefined),
    started,
    (update) => {
      const messages = [{ role: 'user' as const, content: 'Hi' }];
      return replay({ session: keptSession, messages }, { update, signal: never });
    },
    announce,
    ask,
    async (write) =>
      editorFilesOf('s1', { readTextFile: never as never, writeTextFile: write }, both).write?.('/a', ''),
  ];
  const both = { readTextFile: true, writeTextFile: true };
  for (const [index, work] of works.entries()) {
    const readers: (() => void)[] = [];
    let isOver = false;
    const working = work(() => new Promise((resolve) => void readers.push(resolve))).then(() => {
      isOver = true;
    });
    const wanted = work === ask ? 2 : 1;
    for (let read = 1; read <= wanted; read += 1) {
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      t.strictSame([readers.length, isOver], [read, false], `${index}`);
      if (work === ask) t.equal(questions, read - 1, 'the call is shown before the question');
      readers[read - 1]?.();
    }
    await working;
  }
});
