import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { RoundAnswer as ChatAnswer } from '../../daemon/chat/answer.ts';
import { LoopWatch } from '../../daemon/chat/answerText.ts';
import { inStrictOrder } from '../../daemon/chat/messageOrder.ts';
import { createRemovals, makeRoom, withoutRemoved } from '../../daemon/chat/removals.ts';
import { mendedArguments } from '../../daemon/chat/toolUtilities.ts';
import { createTokenEstimate, promptSizeOf } from '../../daemon/chat/turnWindow.ts';
import { createRedaction } from '../../protocol/base/redaction.ts';
import type { Attachment, ChatDelta, ChatParams, ChatResult, Message } from '../../protocol/messages/chat.ts';
import { errorCodes } from '../../protocol/messages/errors.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import {
  chatModelRequest,
  chooseChatModelRequest,
  deleteModelRequest,
  listModelsRequest,
  modelsDidChange,
  runningModelsRequest,
  showModelRequest,
} from '../../protocol/messages/models.ts';
import { createSessionRequest } from '../../protocol/messages/sessions.ts';
import type { RunnerOptions } from '../../protocol/messages/settings.ts';
import { type Status, statusDidChange, statusRequest } from '../../protocol/messages/status.ts';
import { type ToolRefusal, type ToolRefusals, toolsDidRefuse } from '../../protocol/messages/tools.ts';
import { type PairOptions, startPair } from '../support/daemonPair.ts';
import { startDaemonWithRunner, type Teardown } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import { portOf } from '../support/recordings.ts';
import type { Answer } from '../support/runner/answers.ts';
import type { StandInModel } from '../support/runner/standInModel.ts';
import { type RunnerStandIn, type StandInOptions, startStandIn } from '../support/runnerStandIn.ts';
import { has } from '../support/systems.ts';

const models: readonly StandInModel[] = [
  { name: 'plain:latest', capabilities: ['completion'] },
  { name: 'thinker:latest', capabilities: ['completion', 'thinking', 'tools'] },
  { name: 'seer:latest', capabilities: ['completion', 'vision', 'tools'] },
  { name: 'embedder:latest', capabilities: ['embedding'] },
  { name: 'kimi-k2:latest', capabilities: ['completion'] },
  { name: 'quiet:latest', capabilities: ['completion'] },
  { name: 'far:latest', remote: { host: 'https://far', model: 'f' } },
];

const tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const system = (content: string) => ({ role: 'system' as const, content });
const user = (content: string) => ({ role: 'user' as const, content });
const assistant = (content: string) => ({ role: 'assistant' as const, content });
const ask = (content: string) => [user(content)];

const setUp = (
  test: Teardown,
  options: InitializationOptions = {},
  { standIn, pair }: { standIn?: StandInOptions; pair?: PairOptions } = {},
) => startDaemonWithRunner(test, options, { standIn: { models, ...standIn }, ...(pair ? { pair } : {}) });

function joined(deltas: readonly ChatDelta[], kind: 'text' | 'thinking'): string {
  return deltas.map((delta) => (delta.kind === kind ? delta.text : '')).join('');
}

/** In small pieces, as tokens are. */
function inTokens(text: string): readonly string[] {
  return text.match(/[\s\S]{1,3}/g) ?? [];
}

function noticesOf({ notices }: ChatResult): string[] {
  return notices.map(({ code }) => code);
}

function lastBody(runner: RunnerStandIn): Record<string, unknown> {
  return runner.bodies('/api/chat').at(-1) as Record<string, unknown>;
}

t.test('every request of a chat is made by the one client for runners', async (t) => {
  const runner = await startStandIn({ models });
  t.teardown(() => runner.close());
  const secret = 'a-token-that-the-client-adds';
  const daemon = await startPair({ host: runner.url }, { secrets: [{ origin: runner.url, secret }] });
  t.teardown(daemon.close);
  runner.say('Yes.');
  await daemon.chat({
    model: 'seer',
    messages: [{ ...user('hi'), images: ['iVBORw0KGgo='] }],
    tools: [tool],
  });
  const paths = runner.requests.map(({ path }) => path);
  t.ok(paths.includes('/api/show') && paths.includes('/api/chat'), paths.join(' '));
  for (const { path, headers } of runner.requests)
    t.match(headers, { accept: 'application/json', authorization: `Bearer ${secret}` }, path);
});

t.test('an answer streams, and its result holds the whole', async (t) => {
  const { runner, daemon } = await setUp(t);
  // The window is learnt beside an answer, which does not wait for it long.
  runner.say('Before.');
  await daemon.chat({ model: 'plain', messages: ask('hi') });
  runner.say(['Hello ', 'a < b ', '日本', '語 and ', '𝄞.'], { thinking: ['Let me ', 'see.'] });
  const { result, deltas } = await daemon.chat({ model: 'plain', messages: ask('hi') });
  t.equal(result.finishReason, 'stop');
  t.strictSame(result.message, {
    role: 'assistant',
    content: 'Hello a < b 日本語 and 𝄞.',
    thinking: 'Let me see.',
  });
  t.equal(joined(deltas, 'text'), result.message.content);
  t.equal(joined(deltas, 'thinking'), 'Let me see.');
  t.strictSame(
    deltas.map(({ seq }) => seq),
    deltas.map((_, index) => index),
    'numbered from 0',
  );
  t.ok(result.usage.promptTokens > 0 && result.usage.completionTokens > 0);
  t.equal(result.usage.contextLength, 4096, 'the window that the runner allocated');
  t.strictSame(result.notices, []);
  t.match(lastBody(runner), {
    model: 'plain',
    stream: true,
    truncate: false,
    shift: false,
    messages: [{ role: 'user', content: 'hi' }],
  });
  t.notOk('think' in lastBody(runner) || 'tools' in lastBody(runner) || 'options' in lastBody(runner));
});

/** Text and thinking take turns, four characters each. */
function interleaved(secret: string): Pick<Extract<Answer, { kind: 'raw' }>, 'writes' | 'head' | 'end'> {
  const lines = [...(secret.match(/.{1,4}/g) ?? []), ' it ', 'is'].flatMap((piece) => [
    { message: { role: 'assistant', content: '', thinking: piece }, done: false },
    { message: { role: 'assistant', content: piece }, done: false },
  ]);
  const writes = [...lines, { done: true }].map((line) => `${JSON.stringify(line)}\n`);
  return { writes, head: { contentType: 'application/x-ndjson' }, end: 'complete' };
}

t.test('a token that a runner echoes in pieces is in no delta and no result, in whatever form', async (t) => {
  const secret = 'sk-VerySecretToken+1234/abcd=EFGH';
  const runner = await startStandIn({ models });
  const daemon = await startPair({ host: runner.url }, { secrets: [{ origin: runner.url, secret }] });
  t.teardown(() => daemon.close().finally(() => runner.close()));
  const base64 = (before: string) => Buffer.from(`${before}${secret}!`).toString('base64');
  const forms = {
    'as it is': secret,
    'in JSON': JSON.stringify({ [secret]: '"' }),
    'in base64': base64(''),
    'in base64, one byte later': base64('a'),
    'in base64, two bytes later': base64('ab'),
    'percent-encoded': encodeURIComponent(secret),
    'percent-encoded in lower case': encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  };
  for (const [form, text] of Object.entries(forms))
    for (const length of [1, 5]) {
      const piecesOf = (whole: string) => whole.match(new RegExp(`.{1,${length}}`, 'gs')) ?? [];
      const said = `The token is <${text}>, is it?`;
      for (const { model, thinking, format } of [
        { model: 'plain', thinking: '', format: 'separate' },
        { model: 'thinker', thinking: `Is it ${text}?`, format: 'separate' },
        { model: 'thinker', thinking: `Is it ${text}?`, format: 'quote' },
      ] as const) {
        const name = `${form}, ${length} at a time, ${model}, ${format}`;
        runner.say(piecesOf(said), { thinking: piecesOf(thinking) });
        const params = { model, messages: ask('hi'), thinkingFormat: format };
        const { result, deltas } = await daemon.chat(params);
        t.equal(joined(deltas, 'text'), result.message.content, name);
        t.equal(joined(deltas, 'thinking'), result.message.thinking ?? '', name);
        t.notMatch(JSON.stringify(result), text.slice(4, -4), name);
        t.match(result.message.content, /The token is <.*\*\*\*.*>, is it\?$/, name);
      }
    }
  runner.say(['sk-VerySec', 'ret or sk-', 'VerySecretToken+1']);
  const { result, deltas } = await daemon.chat({ model: 'plain', messages: ask('hi') });
  t.equal(result.message.content, 'sk-VerySecret or sk-VerySecretToken+1', 'what only begins so stays');
  t.equal(joined(deltas, 'text'), result.message.content);

  runner.say(['So: sk-'], { calls: [{ name: 'get_weather', arguments: { city: secret } }] });
  const called = await daemon.chat({ model: 'thinker', messages: ask('weather?'), tools: [tool] });
  t.match(called.deltas, [
    { kind: 'text', text: 'So: ' },
    { kind: 'text', text: 'sk-' },
    { kind: 'toolCall', toolCall: { arguments: { city: '***' } } },
  ]);
  t.match(called.result.message, { content: 'So: sk-', toolCalls: [{ arguments: { city: '***' } }] });

  runner.answer({ kind: 'raw', ...interleaved(secret) });
  const torn = await daemon.chat({ model: 'thinker', messages: ask('hi') });
  for (const kind of ['text', 'thinking'] as const) t.equal(joined(torn.deltas, kind), 'sk-V*** it is');
  t.match(torn.result.message, { content: 'sk-V*** it is', thinking: 'sk-V*** it is' });
});

t.test('a message goes to the runner whole', async (t) => {
  const { runner, daemon } = await setUp(t, { keepAlive: '300', contextLength: 8192 });
  runner.say('ok');
  await daemon.chat({
    model: 'seer',
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'u', images: ['AAAA'] },
      {
        role: 'assistant',
        content: 'a',
        thinking: 't',
        toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } }],
      },
      { role: 'tool', content: '11 C', toolCallId: 'call_1', toolName: 'get_weather' },
    ],
    tools: [tool],
    options: { temperature: 0 },
    format: 'json',
  });
  t.strictSame(lastBody(runner), {
    model: 'seer',
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'u', images: ['AAAA'] },
      {
        role: 'assistant',
        content: 'a',
        thinking: 't',
        tool_calls: [
          { id: 'call_1', function: { index: 0, name: 'get_weather', arguments: { city: 'Oslo' } } },
        ],
      },
      { role: 'tool', content: '11 C', tool_name: 'get_weather', tool_call_id: 'call_1' },
    ],
    truncate: false,
    shift: false,
    tools: [
      {
        type: 'function',
        function: { name: 'get_weather', description: tool.description, parameters: tool.inputSchema },
      },
    ],
    options: { num_ctx: 8192, temperature: 0 },
    keep_alive: 300,
    format: 'json',
    stream: true,
  });
});

t.test('thinking that the model writes as tags is separated, whatever the runner reports', async (t) => {
  const { runner, daemon } = await setUp(t);
  runner.say(['<thi', 'nk>I pon', 'der</th', 'ink>\n\nThe `<think>` tag.']);
  const { result } = await daemon.chat({ model: 'plain', messages: ask('hi') });
  t.equal(result.message.content, 'The `<think>` tag.');
  t.equal(result.message.thinking, 'I ponder');
});

t.test('what was sent and comes back as context is not shown; what the model wrote stays', async (t) => {
  const { runner, daemon } = await setUp(t);
  const file = 'Two eggs.\n\tStir  them.';
  const prompt = { ...user('Write me a template.'), attachments: [{ path: 'recipe.md', text: file }] };
  const template = 'Here:\n\n<context>\n[document]\n</context>\n\nDone.';
  const answerTo = async (said: string, more: Partial<ChatParams> = {}) => {
    runner.say(inTokens(said));
    const { result, deltas } = await daemon.chat({ model: 'plain', messages: [prompt], ...more });
    t.equal(joined(deltas, 'text'), result.message.content);
    return result.message.content;
  };
  for (const name of ['context', 'attachment', 'attachments', 'selection', 'user_info', 'tool_response']) {
    const own = template.replaceAll('context', name);
    t.equal(await answerTo(own), own, `${name}: its own`);
  }
  const whole = '<attachment path="recipe.md">\nTwo eggs. Stir\nthem.</attachment>';
  t.equal(await answerTo(`${whole}\nSo: x`), 'So: x', 'an attachment');
  t.equal(await answerTo(`<attachments>\n${whole}\n</attachments>\nSo: x`), 'So: x', 'all attachments');
  for (const own of [
    '<attachment>Two eggs.</attachment>\nSo: x',
    '<context>Two eggs. Stir them.</context>\nSo: x',
    '<selection>a</selection>',
    '<context>Write me a template.</context>',
  ])
    t.equal(await answerTo(own), own, 'what nobody sent like that');
  t.equal(await answerTo(whole), whole, 'an answer that would be empty without its echo');
  const typed = [user('Repeat exactly: <context>hello</context>')];
  t.equal(await answerTo('<context>hello</context>!', { messages: typed }), '<context>hello</context>!');
  t.equal(await answerTo(template, { dropContextTags: true }), 'Here:\n\n[document]\n\nDone.');
  const blocks: Partial<ChatParams> = {
    context: 'leading',
    contextTags: ['mine'],
    messages: [user('<mine>Stir</mine> go')],
  };
  t.equal(await answerTo('<mine>Stir</mine> <mine>[x]</mine>', blocks), '<mine>[x]</mine>');
  const earlier = [user('hi'), assistant('I have said.'), user('again')];
  const said = '<context>I have said.</context>';
  t.equal(await answerTo(said, { messages: earlier }), said, 'an earlier answer was not sent by the user');
  const results: Message[] = [
    ...ask('warm?'),
    { role: 'assistant', content: '', toolCalls: [{ id: '1', name: 'get_weather', arguments: {} }] },
    { role: 'tool', content: '{"degrees": 11}', toolCallId: '1', toolName: 'get_weather' },
  ];
  const echoed = '<tool_response>\n{"degrees":11}\n</tool_response>\nIt is 11.';
  t.equal(await answerTo(echoed, { messages: results }), 'It is 11.', "a tool's result");
});

const opening =
  '{{ if .System }}{{ .System }}{{ end }}<｜User｜>{{ .Prompt }}<｜Assistant｜><think>\n{{ .Response }}';

t.test('marks of calls that no family has are named in the log, once for a model', async (t) => {
  const of = (name: string, template: string): StandInModel => ({
    name,
    capabilities: ['completion', 'tools'],
    template,
  });
  const odd = '{{ .Prompt }}{{ range .ToolCalls }}<|odd_tool_call|>{{ . }}<|end_odd_tool_call|>{{ end }}';
  const known = odd.replaceAll(/<\|(?:end_)?odd/g, '<|').replaceAll('<|_', '<|');
  const { runner, daemon } = await setUp(
    t,
    {},
    { standIn: { models: [of('odd:latest', odd), of('m:latest', known)] } },
  );
  for (const model of ['odd', 'm', 'odd']) {
    runner.say(['Hi.']);
    await daemon.chat({ model, messages: ask('hi') });
  }
  const named = daemon.logs.filter(({ message }) => message.includes('tool_call'));
  t.strictSame(
    named.map(({ level }) => level),
    ['warn'],
  );
  t.match(named[0]?.message, /^odd(?::latest)? .*<\|odd_tool_call\|>, <\|end_odd_tool_call\|>/);
});

t.test('thinking that the template opens, and that only ends in the text', async (t) => {
  const opened: StandInModel = {
    name: 'opened:latest',
    capabilities: ['completion', 'tools'],
    template: opening,
  };
  const { runner, daemon } = await setUp(t, {}, { standIn: { models: [...models, opened] } });
  const reply = 'I ponder.\n</think>\n\nAnswer.';
  const apart = ['I ponder.\n', 'Answer.'];
  const asText = [undefined, 'I ponder.\nAnswer.'];
  const turn = async (model: string, said = reply, more: Partial<ChatParams> = {}) => {
    runner.say(inTokens(said));
    const { result, deltas } = await daemon.chat({ model, messages: ask('hi'), ...more });
    t.equal(joined(deltas, 'text'), result.message.content);
    t.equal(joined(deltas, 'thinking'), result.message.thinking ?? '');
    return [result.message.thinking, result.message.content];
  };
  await t.test('the template says so', async (t) => {
    t.strictSame(await turn('opened'), apart);
    t.strictSame(await turn('opened', `<think>\n${reply}`), apart, 'the model opens it again');
    t.strictSame(await turn('opened', '</think>Answer.'), [undefined, 'Answer.'], 'it has not thought');
    t.strictSame(await turn('opened', 'Just this.'), ['Just this.', 'Just this.'], 'it has only answered');
    t.strictSame(await turn('opened'), apart, 'the template still opens it');
    t.strictSame(await turn('opened', 'Hm.</think>'), ['Hm.', ''], 'nothing follows');
    t.strictSame(await turn('opened', reply, { think: false }), asText, 'nobody wants thinking');
    t.strictSame(await turn('opened', '{"a": 1}', { format: 'json' }), [undefined, '{"a": 1}'], 'a format');
    const [, quoted] = await turn('opened', 'Just this.', { thinkingFormat: 'quote' });
    t.match(quoted, /<summary>Thinking<[\s\S]*> Just this\.\n[\s\S]*\n\nJust this\.$/, 'as a quote');
  });
  await t.test('an earlier answer says so', async (t) => {
    t.strictSame(await turn('plain', reply, { think: false }), asText);
    t.strictSame(await turn('plain'), asText, 'the first is text');
    t.strictSame(
      await turn('plain'),
      asText,
      'nothing else says that the model thinks, so one is not enough',
    );
    t.strictSame(await turn('plain'), apart, 'from then on it is thinking');
    t.strictSame(await turn('plain', 'Just this.'), ['Just this.', 'Just this.']);
    t.strictSame(await turn('plain', 'Just this.'), [undefined, 'Just this.'], 'that was a mistake');
    t.strictSame(await turn('quiet', '<think>a<think>b</think>c</think>d'), ['a<think>b', 'cd']);
    t.strictSame(
      await turn('quiet', 'Just this.'),
      [undefined, 'Just this.'],
      'a nested close is no such answer',
    );
  });
  await t.test('the runner separates the thinking all the same', async (t) => {
    runner.think('I ponder.', 'Answer.');
    const { result } = await daemon.chat({ model: 'opened', messages: ask('hi') });
    t.match(result.message, { thinking: 'I ponder.', content: 'Answer.' });
  });
  await t.test('what is cut off is no answer', async (t) => {
    runner.errorLine('broken', 'I ponder.');
    await t.rejects(
      daemon.chat({ model: 'opened', messages: ask('hi') }),
      failsWith({ data: { partial: { thinking: 'I ponder.', content: '' } } }),
    );
  });
  await t.test('a call in it is no answer', async (t) => {
    runner.say('Hm.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Köln"}}</tool_call>');
    const { result } = await daemon.chat({ model: 'opened', messages: ask('hi'), tools: [tool] });
    t.match(result.message, { content: '', toolCalls: [{ name: 'get_weather' }] });
  });
});

t.test(
  'a model that thinks may do so wherever a line begins; another one only before its answer',
  async (t) => {
    const { runner, daemon } = await setUp(t);
    const answer = ['A\n<thi', 'nk>x</think>', '\nB\n```\n<think>code</think>\n```\n<think>', 'to the end'];
    const code = 'B\n```\n<think>code</think>\n```\n';
    const asIs = { content: answer.join(''), thinking: undefined };
    const apart = { content: `A\n${code}`, thinking: 'xto the end' };
    const askFor = async (model: string, thinkingFormat: 'separate' | 'quote' = 'separate') => {
      runner.say(answer);
      const { result } = await daemon.chat({ model, messages: ask('hi'), thinkingFormat });
      return { content: result.message.content, thinking: result.message.thinking };
    };
    t.strictSame(await askFor('thinker'), apart, 'the runner reports that it thinks');
    t.strictSame(await askFor('kimi-k2'), apart, 'its name says so, and the runner does not');
    t.strictSame(await askFor('plain'), asIs, 'nothing says so');
    runner.say(['<think>hm</think>Yes.']);
    await daemon.chat({ model: 'plain', messages: ask('hi') });
    t.strictSame(await askFor('plain'), apart, 'it was seen to write thinking');
    t.strictSame(await askFor('quiet'), asIs, 'nothing says so');
    runner.say('Yes.', { thinking: ['hm'] });
    await daemon.chat({ model: 'quiet', messages: ask('hi') });
    t.strictSame(await askFor('quiet'), apart, 'the runner was seen to pass on its thinking');
    t.equal(
      (await askFor('thinker', 'quote')).content.replace(/\n+$/, ''),
      [
        'A\n> <details><summary>Thinking</summary>\n>\n> x\n>\n> </details>\n\n',
        code,
        '> <details><summary>Thinking</summary>\n>\n> to the end\n>\n> </details>',
      ].join(''),
      'as block quotes in their places',
    );
  },
);

t.test('thinking as a block quote, and back', async (t) => {
  const { runner, daemon } = await setUp(t);
  runner.think('I ponder.\nTwice.', 'The answer.');
  const { result, deltas } = await daemon.chat({
    model: 'thinker',
    messages: ask('hi'),
    thinkingFormat: 'quote',
  });
  t.match(
    result.message.content,
    /^> <details><summary>Thinking<\/summary>\n>\n> I ponder\.\n> Twice\.\n>\n> <\/details>\n\nThe answer\.$/,
  );
  t.equal(result.message.thinking, undefined);
  t.equal(joined(deltas, 'text'), result.message.content);
  for (const thinkingFormat of ['quote', 'separate'] as const) {
    runner.say('ok');
    const messages = [...ask('hi'), result.message, ...ask('more')];
    await daemon.chat({ model: 'thinker', messages, thinkingFormat });
    t.match(lastBody(runner), { messages: [{}, { content: 'The answer.' }, {}] }, thinkingFormat);
  }
  runner.say('ok');
  await daemon.chat({ model: 'thinker', messages: ask(result.message.content) });
  t.match(lastBody(runner), { messages: ask(result.message.content) }, 'what the user quotes stays');
});

t.test('think goes only to a model that has it', async (t) => {
  const { runner, daemon } = await setUp(t);
  for (const { model, think, sent, notices } of [
    { model: 'thinker', think: true, sent: true, notices: [] },
    { model: 'thinker', think: 'high', sent: 'high', notices: [] },
    { model: 'thinker', think: false, sent: false, notices: [] },
    { model: 'plain', think: true, sent: undefined, notices: ['thinking-unsupported'] },
    { model: 'plain', think: false, sent: undefined, notices: [] },
  ] as const) {
    runner.say('ok');
    const { result } = await daemon.chat({ model, messages: ask('hi'), think });
    t.equal(lastBody(runner)['think'], sent, `${model} ${think}`);
    t.strictSame(noticesOf(result), notices);
  }
  t.equal(runner.bodies('/api/show').length, 2, 'what a model can do is asked once');
  const levels = { code: 'thinking-unsupported', message: /has no levels of thinking, so it thinks/ };
  for (const isRefused of [true, false]) {
    if (isRefused) runner.failWith(400, { error: 'think value "low" is not supported for this model' });
    runner.say('on');
    const { result } = await daemon.chat({ model: 'thinker', messages: ask('hi'), think: 'low' });
    t.match(result, { message: { content: 'on' }, notices: isRefused ? [levels] : [] });
    t.equal(lastBody(runner)['think'], true, 'it is remembered');
  }
  const { model } = await daemon.request(showModelRequest, { model: 'thinker' });
  t.match(model, { capabilities: { thinking: { value: true } }, thinkingLevels: false });
  runner.failWith(400, { error: '"thinker" does not support thinking' });
  runner.say('without');
  const { result } = await daemon.chat({ model: 'thinker', messages: ask('hi'), think: true });
  t.equal(result.message.content, 'without', 'a runner that refuses after all is asked without');
  t.strictSame(noticesOf(result), ['thinking-unsupported']);
});

t.test('images are left out only where the model is known to be blind', async (t) => {
  const { runner, daemon } = await setUp(t);
  const messages = [{ role: 'user' as const, content: 'what is this?', images: ['AAAA'] }];
  runner.say('a cat');
  const seen = await daemon.chat({ model: 'seer', messages });
  t.match(lastBody(runner), { messages: [{ images: ['AAAA'] }] });
  t.strictSame(noticesOf(seen.result), []);
  runner.say('what?');
  const blind = await daemon.chat({ model: 'plain', messages });
  t.strictSame(lastBody(runner)['messages'], ask('what is this?'));
  t.strictSame(noticesOf(blind.result), ['images-dropped']);
  t.equal(blind.deltas[0]?.kind, 'notice', 'said before the answer');
});

t.test('the guard of images asks the map of vision, by the identifier of the model', async (t) => {
  const far = await startStandIn({
    models: [
      { name: 'seer:latest', capabilities: ['completion'] },
      { name: 'plain:latest', capabilities: ['completion', 'vision'] },
    ],
  });
  t.teardown(() => far.close());
  const { runner, daemon } = await setUp(t, { servers: [{ name: 'far', url: far.url }] });
  const messages = [{ role: 'user' as const, content: 'what is this?', images: ['AAAA'] }];
  for (const [server, model, isSent] of [
    ['default', 'seer', true],
    ['far', 'seer', false],
    ['default', 'plain', false],
    ['far', 'plain', true],
  ] as const) {
    const asked = server === 'far' ? far : runner;
    asked.say('ok');
    const { result } = await daemon.chat({ server, model, messages });
    t.equal(JSON.stringify(lastBody(asked)).includes('AAAA'), isSent, `${model} of ${server}`);
    t.strictSame(noticesOf(result), isSent ? [] : ['images-dropped']);
  }
});

t.test('tool calls come with ids, wherever the runner puts them', async (t) => {
  const { runner, daemon } = await setUp(t);
  runner.toolCalls([{ id: 'call_abc', name: 'get_weather', arguments: { city: 'Köln' } }]);
  const own = await daemon.chat({ model: 'thinker', messages: ask('weather?'), tools: [tool] });
  t.equal(own.result.finishReason, 'toolCalls');
  t.strictSame(own.result.message.toolCalls, [
    { id: 'call_abc', name: 'get_weather', arguments: { city: 'Köln' } },
  ]);
  runner.toolCalls(
    [
      { name: 'get_weather', arguments: { city: 'Oslo' } },
      { name: 'get_weather', arguments: { city: 'Rom' } },
    ],
    { callsInLastLine: true },
  );
  const last = await daemon.chat({ model: 'thinker', messages: ask('weather?'), tools: [tool] });
  t.strictSame(
    last.result.message.toolCalls?.map((call) => call.arguments),
    [{ city: 'Oslo' }, { city: 'Rom' }],
  );
  t.equal(new Set(last.result.message.toolCalls?.map(({ id }) => id)).size, 2);
  t.strictSame(
    last.deltas.flatMap((delta) => (delta.kind === 'toolCall' ? [delta.toolCall] : [])),
    last.result.message.toolCalls,
  );
});

t.test('a call that the runner passes on under another spelling is that of the offered tool', async (t) => {
  const { runner, daemon } = await setUp(t);
  for (const [written, want] of [
    ['functions.get_weather', 'get_weather'],
    ['get weather', 'get_weather'],
    ['get_weather<|channel|>commentary', 'get_weather'],
    ['assistant<|channel|>commentary to=functions.get_weather', 'get_weather'],
    ['functions.get_weather:0', 'get_weather'],
    ['default_api:get_weather', 'get_weather'],
    ['tool.get_weather', 'get_weather'],
    ['get_weather', 'get_weather'],
    ['look', 'look'],
  ] as const) {
    runner.toolCalls([{ name: written, arguments: { city: 'Oslo' } }]);
    const { result } = await daemon.chat({ model: 'thinker', messages: ask('hi'), tools: [tool] });
    t.equal(result.message.toolCalls?.[0]?.name, want, written);
  }
});

t.test('a tool call written as text is taken only when the tool was offered', async (t) => {
  const { runner, daemon } = await setUp(t);
  const written = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Köln"}}\n</tool_call>';
  runner.say(written);
  const offered = await daemon.chat({ model: 'thinker', messages: ask('weather?'), tools: [tool] });
  t.match(offered.result, {
    finishReason: 'toolCalls',
    message: { content: '', toolCalls: [{ name: 'get_weather', arguments: { city: 'Köln' } }] },
  });
  t.strictSame(noticesOf(offered.result), ['tool-call-recovered']);
  runner.say(written);
  const not = await daemon.chat({ model: 'thinker', messages: ask('weather?') });
  t.match(not.result, { finishReason: 'stop', message: { content: written } });
});

t.test('a call that ends the thinking of a reply without an answer is taken', async (t) => {
  const { runner, daemon } = await setUp(t);
  const thinking =
    'I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Köln"}}\n</tool_call>';
  const turn = { model: 'thinker', messages: ask('weather?'), tools: [tool] };
  runner.say(`<think>${thinking}</think>`);
  const inText = await daemon.chat(turn);
  t.match(inText.result.message, {
    thinking,
    toolCalls: [{ name: 'get_weather', arguments: { city: 'Köln' } }],
  });
  t.strictSame(noticesOf(inText.result), ['tool-call-recovered']);
  runner.say(`<think>${thinking}</think>It is warm.`);
  const answered = await daemon.chat(turn);
  t.match(answered.result, { finishReason: 'stop', message: { content: 'It is warm.' } });
});

t.test('a model that refuses tools is asked without, now and from then on', async (t) => {
  for (const status of [400, 500, 503]) {
    const { runner, daemon } = await setUp(t);
    const refusal = { error: 'registry.ollama.ai/library/plain:latest does not support tools' };
    runner.failWith(status, refusal);
    for (const text of ['one', 'two', 'three', 'four']) runner.say(text, { firstByteAfter: 20 });
    const chats = await Promise.all(
      [1, 2, 3].map(() => daemon.chat({ model: 'plain', messages: ask('hi'), tools: [tool] })),
    );
    t.strictSame(
      chats.map(({ result }) => noticesOf(result)),
      [['tools-disabled'], ['tools-disabled'], ['tools-disabled']],
    );
    t.equal(
      runner.bodies('/api/chat').filter((body) => 'tools' in (body as object)).length,
      1,
      'learnt once',
    );
    const later = await daemon.chat({ model: 'Plain:latest', messages: ask('hi'), tools: [tool] });
    t.strictSame(noticesOf(later.result), ['tools-disabled']);
    t.notOk('tools' in lastBody(runner));
    const { models: listed } = await daemon.request(listModelsRequest, {});
    t.strictSame(listed.find(({ name }) => name === 'plain:latest')?.capabilities.tools, {
      value: false,
      from: 'observed',
    });
  }
});

t.test('tools are refused by what fails, in whatever words', async (t) => {
  for (const [status, error, lasts] of [
    [500, 'tools param requires --jinja flag', true],
    [501, 'Tool calls are not supported', true],
    [404, 'No endpoints found that support tool use', true],
    [500, 'Cannot use tools with this model: its template has none', true],
    [400, 'tools[0].function.parameters: no such keyword', false],
    [500, 'error parsing tool call: raw={', false],
  ] as const) {
    const { runner, daemon } = await setUp(t);
    runner.failWith(status, { error });
    for (const text of ['one', 'two']) runner.say(text);
    const turn = () => daemon.chat({ model: 'plain', messages: ask('hi'), tools: [tool] });
    const { result } = await turn();
    t.strictSame([result.message.content, noticesOf(result)], ['one', ['tools-disabled']], error);
    await turn();
    const withTools = runner.bodies('/api/chat').filter((body) => 'tools' in (body as object));
    t.equal(withTools.length, lasts ? 1 : 2, `${error}: for the session`);
  }
  const { runner, daemon } = await setUp(t);
  for (const error of ['tools: first', 'second']) runner.failWith(400, { error });
  const failed = daemon.chat({ model: 'plain', messages: ask('hi'), tools: [tool] });
  await t.rejects(failed, { message: /tools: first/ }, 'without the tools it fails as well');
  runner.failWith(400, { error: 'the disk is full' });
  const other = daemon.chat({ model: 'plain', messages: ask('hi'), tools: [tool] });
  await t.rejects(other, { message: /the disk is full/ });
});

t.test('what the user says of a model decides what is sent, also after a refusal', async (t) => {
  const able = { name: 'able:latest', capabilities: ['completion', 'vision', 'thinking', 'tools'] } as const;
  const { runner, daemon } = await setUp(t, { trusted: true }, { standIn: { models: [...models, able] } });
  const messages = [{ ...user('hi'), images: ['AAAA'] }];
  const sentIn = (body: unknown) =>
    ['"tools":', '"think":true', 'AAAA'].map((part) => JSON.stringify(body).includes(part));
  const turn = async (model: string) => {
    const before = runner.bodies('/api/chat').length;
    runner.say('ok');
    const { result } = await daemon.chat({ model, messages, tools: [tool], think: true });
    return [...runner.bodies('/api/chat').slice(before).map(sentIn), ...noticesOf(result)];
  };
  const say = async (modelCapabilities: RunnerOptions['modelCapabilities'] | null) => {
    const changed = new Promise((resolve) => daemon.on(modelsDidChange, resolve));
    await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
      settings: { runner: { modelCapabilities } },
    });
    await changed;
  };
  const refuse = (what: string) => runner.failWith(400, { error: `"able" does not support ${what}` });
  const [all, none] = [
    [true, true, true],
    [false, false, false],
  ];
  const without = ['thinking-unsupported', 'tools-disabled'];
  refuse('tools');
  refuse('thinking');
  await turn('able');
  t.strictSame(await turn('able'), [[false, false, true], ...without]);
  const yes = { tools: true, vision: true, thinking: true };
  await say({ able: yes, plain: yes, thinker: { tools: false, thinking: false }, seer: { vision: false } });
  t.strictSame(await turn('able'), [all]);
  t.strictSame((await turn('plain'))[0], all, 'whatever its server says');
  refuse('tools');
  t.strictSame(await turn('able'), [all, [false, true, true], 'tools-disabled'], 'it goes on without');
  refuse('thinking');
  t.strictSame(await turn('able'), [all, [true, false, true], 'thinking-unsupported']);
  t.strictSame(await turn('able'), [all], 'and the next prompt has them again');
  t.strictSame(await turn('thinker'), [none, 'images-dropped', ...without]);
  t.strictSame(await turn('seer'), [[true, false, false], 'images-dropped', 'thinking-unsupported']);
  const { model } = await daemon.request(showModelRequest, { model: 'thinker' });
  t.strictSame(model.capabilities.tools, { value: false, from: 'configured' });
  await say(null);
  t.strictSame(await turn('able'), [[false, false, true], ...without], 'the refusals count again');
});

t.test('what a model refused holds for the session of the editor, also in its next daemon', async (t) => {
  const digest = 'a'.repeat(64);
  const seer = { name: 'seer:latest', capabilities: ['completion', 'tools'] as const };
  const { runner, daemon } = await setUp(t);
  const told: ToolRefusals[] = [];
  daemon.on(toolsDidRefuse, (params) => told.push(params));
  await daemon.request(listModelsRequest, {});
  runner.failWith(400, { error: 'registry.ollama.ai/library/seer:latest does not support tools' });
  runner.say('without');
  await daemon.chat({ model: 'seer', messages: ask('hi'), tools: [tool] });
  t.match(told, [{ refusals: [{ url: runner.url, model: 'seer', digest: /^[0-9a-f]{64}$/ }] }]);
  t.equal(told.length, 1, 'told once');

  const askNext = async (refusals: readonly ToolRefusal[], list: boolean) => {
    const next = await startPair({ host: runner.url, refusedTools: refusals });
    const heard: ToolRefusals[] = [];
    next.on(toolsDidRefuse, (params) => heard.push(params));
    if (list) await next.request(listModelsRequest, {});
    const before = runner.bodies('/api/chat').length;
    runner.say('ok');
    const { result } = await next.chat({ model: 'seer', messages: ask('hi'), tools: [tool] });
    const { models: listed } = await next.request(listModelsRequest, {});
    await next.close();
    return {
      asked: runner.bodies('/api/chat').length - before,
      sent: 'tools' in lastBody(runner),
      notices: noticesOf(result),
      can: listed.find(({ name }) => name === seer.name)?.capabilities.tools,
      heard,
    };
  };
  const [refusals = []] = told.map((params) => params.refusals);
  const refused = {
    asked: 1,
    sent: false,
    notices: ['tools-disabled'],
    can: { value: false, from: 'observed' },
    heard: [],
  };
  t.match(await askNext(refusals, false), refused, 'the next daemon knows it at once');
  t.match(await askNext(refusals, true), refused, 'also once it knows the digest');
  const untested = { asked: 1, sent: true, notices: [] };
  t.match(await askNext([], false), untested, 'one that was told nothing tries');
  const other = await askNext([{ url: runner.url, model: 'seer', digest }], true);
  t.match(other, { ...untested, heard: [{ refusals: [] }] }, 'another digest is another model');
  t.match(await askNext([{ url: 'http://other', model: 'seer' }], false), untested, 'at another server too');
});

t.test('tool choice', async (t) => {
  const { runner, daemon } = await setUp(t);
  runner.say('ok');
  await daemon.chat({ model: 'thinker', messages: ask('hi'), tools: [tool], toolChoice: 'none' });
  t.notOk('tools' in lastBody(runner));
  runner.say('ok');
  const { result } = await daemon.chat({
    model: 'thinker',
    messages: ask('hi'),
    tools: [tool],
    toolChoice: 'required',
  });
  t.ok('tools' in lastBody(runner));
  t.strictSame(noticesOf(result), ['tool-choice-ignored']);
});

t.test('leading context becomes one system message, and the user stays the user', async (t) => {
  const { runner, daemon } = await setUp(t);
  const said = (lines: readonly string[]) =>
    lines.map((line) => {
      const [, role, content = ''] = /^(\w+): (.*)$/s.exec(line) ?? [];
      return { role, content } as Message;
    });
  type Case = readonly [name: string, given: readonly string[], want?: readonly string[]];
  // What is sent stays as it was given where nothing else is wanted.
  const cases: readonly Case[] = [
    ['no blocks', ['user: hi']],
    [
      'one block',
      ['user: <context a="x > y">c</context>\n\nhi'],
      ['system: <context a="x > y">c</context>', 'user: hi'],
    ],
    [
      'the newest of each name',
      ['user: <context>old</context><selection>s</selection>', 'user: <context>new</context>hi'],
      ['system: <selection>s</selection>\n<context>new</context>', 'user: hi'],
    ],
    [
      'after a system message',
      ['system: be kind', 'user: <context>c</context>hi'],
      ['system: be kind\n\n<context>c</context>', 'user: hi'],
    ],
    ['not after an answer', ['user: hi', 'assistant: yes', 'user: <context>c</context>more']],
    ['not in the middle', ['user: see <context>c</context>']],
    ['not an unknown element', ['user: <instructions>obey</instructions>hi']],
    [
      'nested',
      ['user: <context>a<context>b</context>c</context>hi'],
      ['system: <context>a<context>b</context>c</context>', 'user: hi'],
    ],
    ['unclosed', ['user: <context>a hi']],
    [
      'the newest of each name within one message',
      [
        'user: <vscode_context type="a" path="1">ONE</vscode_context>\n<context>c</context>\n<vscode_context type="a" path="2">TWO</vscode_context>\nhi',
      ],
      ['system: <context>c</context>\n<vscode_context type="a" path="2">TWO</vscode_context>', 'user: hi'],
    ],
    [
      'blocks that were typed or pasted, which the editor puts into an element of the words',
      ['user: <context>c</context>\n<userRequest>\n<context>TYPED: obey</context> hi\n</userRequest>'],
      [
        'system: <context>c</context>',
        'user: <userRequest>\n<context>TYPED: obey</context> hi\n</userRequest>',
      ],
    ],
    [
      'a block behind the first word',
      ['user: <context>c</context> hi <context>TYPED</context>'],
      ['system: <context>c</context>', 'user: hi <context>TYPED</context>'],
    ],
    [
      'a block that is quoted',
      ['user: <context>c</context>\n> <context>QUOTED</context>\nhi'],
      ['system: <context>c</context>', 'user: > <context>QUOTED</context>\nhi'],
    ],
    [
      'several in an older question',
      ['user: <context>old</context><context>older</context> one', 'user: <context>new</context>two'],
      ['system: <context>new</context>', 'user: one\n\ntwo'],
    ],
    ...[
      'vscode_context',
      'codebase_context',
      'attachments',
      'editorContext',
      'reminderInstructions',
      'mine',
    ].map((tag): Case => {
      const block = `<${tag} type="file" path="a.ts">c</${tag}>`;
      return [`the element ${tag}`, [`user: ${block} hi`], [`system: ${block}`, 'user: hi']];
    }),
  ];
  for (const [name, given, want = given] of cases) {
    runner.say('ok');
    await daemon.chat({ model: 'plain', messages: said(given), context: 'leading', contextTags: ['mine'] });
    t.strictSame(lastBody(runner)['messages'], said(want), name);
  }
  runner.say('ok');
  const untouched = [user('<context>c</context>hi')];
  await daemon.chat({ model: 'plain', messages: untouched });
  t.strictSame(lastBody(runner)['messages'], untouched, 'without being asked');
});

t.test('what is attached is context, and what was typed is never searched for any', async (t) => {
  const { runner, daemon } = await setUp(t);
  const eggs = { path: 'recipe.md', text: 'Two eggs.' };
  const sum = { path: 'a "b" <c>\n.lua', lines: '1-2', language: 'lua', text: 'return a' };
  const block = (...inside: readonly string[]) => `<attachments>\n${inside.join('\n')}\n</attachments>`;
  const eggsBlock = '<attachment path="recipe.md">\nTwo eggs.\n</attachment>';
  const typed = '<attachments>TYPED: obey</attachments> hi';
  const cases: readonly {
    readonly name: string;
    readonly given: readonly Message[];
    readonly want: readonly Message[];
    readonly context?: 'leading';
  }[] = [
    { name: 'nothing attached', given: [{ ...user('hi'), attachments: [] }], want: [user('hi')] },
    {
      name: 'two of one message',
      given: [{ ...user('hi'), attachments: [eggs, sum] }],
      want: [
        system(
          block(
            eggsBlock,
            '<attachment path="a &quot;b&quot; &lt;c&gt; .lua" language="lua" lines="1-2">\nreturn a\n</attachment>',
          ),
        ),
        user('hi'),
      ],
    },
    {
      name: 'a file that holds the end of a block',
      given: [{ ...user('hi'), attachments: [{ path: 'x', text: 'a</attachment>\n</ATTACHMENTS>b' }] }],
      want: [
        system(block('<attachment path="x">\na<\\/attachment>\n<\\/ATTACHMENTS>b\n</attachment>')),
        user('hi'),
      ],
    },
    {
      name: 'a block that was typed behind them',
      given: [{ ...user(typed), attachments: [eggs] }],
      want: [system(block(eggsBlock)), user(typed)],
    },
    { name: 'a block that was typed alone', given: [user(typed)], want: [user(typed)] },
    {
      name: 'blocks of every name, pasted',
      given: [{ ...user('<context>P</context><selection>P</selection> hi'), attachments: [eggs] }],
      want: [system(block(eggsBlock)), user('<context>P</context><selection>P</selection> hi')],
    },
    {
      name: 'a quoted block',
      given: [{ ...user('> <attachments>Q</attachments>\nhi'), attachments: [eggs] }],
      want: [system(block(eggsBlock)), user('> <attachments>Q</attachments>\nhi')],
    },
    {
      name: 'the newest of several questions without an answer, and after a system message',
      given: [
        system('be kind'),
        { ...user('one'), attachments: [sum] },
        { ...user(typed), attachments: [eggs] },
        user('three'),
      ],
      want: [system(`be kind\n\n${block(eggsBlock)}`), user(`one\n\n${typed}\n\nthree`)],
    },
    {
      name: 'in history: a typed block stays where it is, and later attachments stand before their words',
      given: [
        { ...user(typed), attachments: [eggs] },
        assistant('Two.'),
        { ...user(typed), attachments: [eggs] },
        assistant('Still two.'),
        user(typed),
      ],
      want: [
        system(block(eggsBlock)),
        user(typed),
        assistant('Two.'),
        user(`${block(eggsBlock)}\n\n${typed}`),
        assistant('Still two.'),
        user(typed),
      ],
    },
    {
      name: 'attached without a word',
      given: [{ ...user(''), attachments: [eggs] }],
      want: [system(block(eggsBlock)), user('')],
    },
    {
      name: 'beside text in which an editor has joined its blocks',
      given: [{ ...user(`<context>c</context>${typed}`), attachments: [eggs] }],
      want: [system(`${block(eggsBlock)}\n<context>c</context>`), user(typed)],
      context: 'leading',
    },
  ];
  for (const { name, given, want, context } of cases) {
    runner.say('ok');
    await daemon.chat({ model: 'plain', messages: given, ...(context ? { context } : {}) });
    t.strictSame(lastBody(runner)['messages'], want, name);
  }
  await t.rejects(
    daemon.chat({ model: 'plain', messages: [{ ...assistant('a'), attachments: [eggs] }] }),
    failsWith({ code: -32602, data: { path: 'messages[0].attachments' } }),
  );
});

t.test(
  'a prompt that does not fit is refused with its figures, and one that nearly fills it is warned of',
  async (t) => {
    const { runner, daemon } = await setUp(t);
    await t.rejects(
      daemon.chat({ model: 'plain', messages: ask('word '.repeat(20_000)) }),
      failsWith({
        code: -33006,
        message:
          /^The prompt needs about \d{5} tokens and the context window holds 4096, the most that the model can have\. Shorten it or start a new chat\.$/,
        data: { kind: 'context-exceeded', retryable: false, allocated: 4096, maximum: 4096 },
      }),
    );
    const wordy = { ...tool, description: 'word '.repeat(20_000) };
    await t.rejects(
      daemon.chat({ model: 'thinker', messages: ask('weather?'), tools: [wordy] }),
      /Most of it describes the tools: offer fewer tools/,
    );
    runner.say('ok');
    const { result, deltas } = await daemon.chat({ model: 'plain', messages: ask('word '.repeat(3_100)) });
    t.strictSame(noticesOf(result), ['context-nearly-full']);
    t.equal(deltas[0]?.kind, 'notice', 'before the answer');
    runner.say('ok');
    // An image may cost less than it is estimated at.
    const seen = await daemon.chat({
      model: 'seer',
      messages: [{ role: 'user', content: 'hi', images: Array.from({ length: 8 }, () => 'AAAA') }],
    });
    t.match(seen.result.notices, [
      { message: /^The prompt needs about \d{4} tokens, and the context window holds 4096: / },
    ]);
    runner.say('ok');
    t.strictSame(noticesOf((await daemon.chat({ model: 'plain', messages: ask('hi') })).result), []);
  },
);

t.test('advice names a window that fits, or says that the model can have none', async (t) => {
  const { runner, daemon } = await setUp(
    t,
    {},
    { standIn: { models: [{ name: 'wide:latest', contextLength: 16_384, capabilities: ['completion'] }] } },
  );
  const refused = async (words: number) => {
    const error: unknown = await daemon
      .chat({ model: 'wide', messages: ask('word '.repeat(words)) })
      .catch((reason) => reason);
    return error instanceof Error ? error : new Error('It was not refused.');
  };
  t.match((await refused(4_000)).message, /holds 4096\. Shorten it, .*, or set a context length of 8192\.$/);
  t.match((await refused(9_000)).message, /set a context length of 16384\.$/, "not beyond the model's own");
  const tooLong = await refused(40_000);
  t.match(
    tooLong.message,
    /holds 4096; the model can have 16384 at most\. Shorten it or start a new chat\.$/,
  );
  t.match(tooLong, { data: { advice: { code: 'shorten-prompt', contextLength: 0 }, maximum: 16_384 } });

  const fillWindow = async (content: string, options?: ChatParams['options']) => {
    runner.say('ok');
    const { result } = await daemon.chat({
      model: 'wide',
      messages: ask(content),
      ...(options && { options }),
    });
    return result.notices;
  };
  t.match(await fillWindow('word '.repeat(3_100)), [
    { message: /of 4096 tokens\. Start a new chat or set a context length of 8192 before/ },
  ]);
  const askedFor = await fillWindow('hi', { num_ctx: 99_999_999 });
  t.match(askedFor, [
    { code: 'context-reduced', message: /^wide can have a context window of 16384 tokens/ },
  ]);
});

t.test('a prompt that is refused for its length is reported by its error alone', async (t) => {
  const { runner, daemon } = await setUp(t);
  runner.say('ok');
  await daemon.chat({ model: 'plain', messages: ask('hi') });
  const deltas: ChatDelta[] = [];
  const tooLong = { model: 'plain', messages: ask('word '.repeat(20_000)) };
  await t.rejects(daemon.chat(tooLong, { onDelta: (delta) => deltas.push(delta) }), /Shorten it/);
  t.strictSame(deltas, [], 'no notice says the same');
});

t.test(
  'a notice about a lasting state is sent once in a conversation, until the state changes',
  async (t) => {
    const { runner, daemon } = await setUp(t);
    const long = 'word '.repeat(3_100);
    const turn = async (messages: readonly Message[], params: Partial<ChatParams> = {}) => {
      runner.say('ok');
      const { result, deltas } = await daemon.chat({ model: 'plain', messages, ...params });
      const sent = deltas.flatMap((delta) => (delta.kind === 'notice' ? [delta.notice.code] : []));
      t.strictSame(sent, noticesOf(result), 'the deltas and the result agree');
      t.strictSame(
        deltas.map(({ seq }) => seq),
        deltas.map((_, index) => index),
        'the numbering has no gap',
      );
      return sent;
    };
    const begun = [user(long), assistant('ok')];
    const cases: readonly (readonly [what: string, messages: readonly Message[], want: readonly string[]])[] =
      [
        ['at first', ask(long), ['context-nearly-full']],
        ['in the next turn', [...begun, user('on')], []],
        ['in another conversation that begins alike', ask(long), ['context-nearly-full']],
        ['there again', [...begun, user('on')], []],
        ['after the state has ended', [user(long.slice(0, 99)), assistant('ok'), user('a')], []],
      ];
    for (const [what, messages, want] of cases) t.strictSame(await turn(messages), want, what);

    const thinking = { think: true, session: (await daemon.request(createSessionRequest, {})).session.id };
    t.strictSame(await turn(ask('hi'), thinking), ['thinking-unsupported']);
    t.strictSame(await turn([...ask('hi'), assistant('ok'), user('b')], thinking), []);
    const { think: _, ...without } = thinking;
    t.strictSame(await turn([...ask('hi'), assistant('ok'), user('c')], without), []);
    t.strictSame(
      await turn([...ask('hi'), assistant('ok'), user('d')], thinking),
      ['thinking-unsupported'],
      'it had ended',
    );
    runner.failWith(500, { error: 'broken' });
    await t.rejects(daemon.chat({ model: 'plain', messages: ask('hi'), ...without }), /broken/);
    t.strictSame(
      await turn(ask('e'), { ...thinking, history: 'kept' }),
      [],
      'a turn that fails shows nothing of it',
    );
  },
);

t.test(
  'what goes by itself carries no private text, and what the user named is sent with a notice',
  async (t) => {
    const { runner, daemon } = await setUp(t, { exclude: ['**/inner/**'] });
    const folder = t.testdir({
      '.env': 'KEY=sk-1',
      'plain.txt': t.fixture('symlink', '.env'),
      inner: { 'a.ts': '' },
    });
    const at = (path: string) => pathToFileURL(join(folder, path)).href;
    const file = (path: string, uris: readonly string[] | undefined, automatic = false): Attachment => ({
      ...{ path, text: `inside of ${path}` },
      ...(uris && { uris }),
      ...(automatic && { automatic }),
    });
    const asked = (...attachments: readonly Attachment[]) => [
      { role: 'user' as const, content: 'hi', attachments },
    ];
    const ask = async (messages: readonly Message[]) => {
      runner.say('ok');
      const { result, deltas } = await daemon.chat({ model: 'plain', messages });
      const sent = JSON.stringify(lastBody(runner)['messages']);
      return { sent, notices: result.notices, first: deltas[0]?.kind };
    };

    const automatic: readonly (readonly [path: string, uris: readonly string[] | undefined])[] = [
      ['.env', [at('.env')]],
      ...(has('links') ? [['plain.txt', [at('plain.txt')]] as const] : []),
      ['renamed.txt', [at('renamed.txt'), at('.env')]],
      ['inner/a.ts', [at('inner/a.ts')]],
      ['deep/.env.local', undefined],
      ['deep/id_rsa', []],
      ['a.ts', ['no address']],
      ['old.ts', [`git:${join(folder, '.env')}?%7B%22ref%22%3A%22~%22%7D`]],
      ['a.ts', [`file:///${'a'.repeat(5_000)}`]],
    ];
    for (const [path, uris] of automatic) {
      const { sent, notices } = await ask(asked(file(path, uris, true)));
      t.match(sent, `path=\\"${path}\\"`, `${path}: its name is sent`);
      t.notMatch(sent, 'inside of', `${path}: its text is not`);
      t.strictSame(
        notices.map(({ code }) => code),
        ['private-files-left-out'],
      );
    }
    const ordinary = await ask(asked(file('b.ts', [at('b.ts')], true)));
    t.match([ordinary.sent, ordinary.notices], [/inside of b\.ts/, []]);

    const named = asked(file('.env', [at('.env')]), file('inner/a.ts', [at('inner/a.ts')]));
    const sent = await ask(named);
    t.match(sent.sent, /inside of \.env.*inside of inner/);
    t.equal(sent.first, 'notice', 'before the answer');
    t.strictSame(sent.notices, [
      {
        code: 'private-files-sent',
        message:
          '.env looks like a file with secrets. It is sent to plain because you attached it. inner/a.ts is excluded. It is sent to plain because you attached it.',
      },
    ]);
    const answered = [...named, { role: 'assistant' as const, content: 'ok' }];
    const later = await ask([...answered, ...asked(file('.env', [at('.env')]))]);
    t.strictSame(later.notices, [], 'once in a conversation');
    const both = await ask(asked(file('.env', [at('.env')]), file('.env', [at('.env')], true)));
    t.strictSame(
      both.notices.map(({ code }) => code),
      ['private-files-sent'],
      'what the user attached is sent, whatever else is left out',
    );
    const elsewhere = await daemon.chat({ model: 'far', messages: named });
    t.match(elsewhere.result.notices, [{ message: /It is sent to far, which runs elsewhere, because/ }]);
    const many = ['a.pem', 'b.pem', 'c.pem', 'd.pem', 'e.pem', 'f.pem', 'g.pem'];
    t.match((await ask(asked(...many.map((path) => file(path, undefined, true))))).notices, [
      {
        message:
          'a.pem, b.pem, c.pem, d.pem, e.pem and 2 more look like files with secrets. Only their names are sent.',
      },
    ]);
  },
);

t.test('an answer that does not hold its format is a result with a notice', async (t) => {
  const { runner, daemon } = await setUp(t);
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const endless = { type: 'string', pattern: '^(a+)+$' };
  const cases: readonly [format: NonNullable<ChatParams['format']>, text: string, says?: RegExp][] = [
    ['json', '{"a": [1]}'],
    ['json', 'null\n'],
    ['json', '```json\n{}\n```', /is not JSON.*does not hold answers to a format/],
    ['json', '', /is not JSON/],
    ['json', '['.repeat(600), /is not JSON/],
    [schema, '{"name": "Rhine"}'],
    [schema, '{"name": 1}', /does not match the schema: \/name must be string\.$/],
    [schema, '[]', /does not match the schema: it must be object\.$/],
    [schema, '{}', /does not match the schema: it must have required properties name\.$/],
    [endless, JSON.stringify(`${'a'.repeat(40)}!`), /could not be checked against the schema in time/],
    [{ type: 'string', pattern: '(' }, '"a"', /the schema cannot be read/],
  ];
  for (const [format, text, says] of cases) {
    runner.say(text);
    const { result, deltas } = await daemon.chat({ model: 'plain', messages: ask('go'), format });
    t.match(result, { finishReason: 'stop', message: { content: text } });
    t.match(result.notices, says ? [{ code: 'format-not-held', message: says }] : [], text.slice(0, 40));
    t.equal(result.notices.length, says ? 1 : 0);
    t.equal(deltas.filter(({ kind }) => kind === 'notice').length, result.notices.length);
  }
  runner.say('free');
  t.strictSame((await daemon.chat({ model: 'plain', messages: ask('go') })).result.notices, []);
});

t.test('what is no schema is refused before anything is sent', async (t) => {
  const { runner, daemon } = await setUp(t);
  const cases: readonly [format: NonNullable<ChatParams['format']>, problem: RegExp][] = [
    [{}, /none of the keywords/],
    [{ name: 'Rhine' }, /none of the keywords/],
    [{ type: 'strng' }, /"format" is not valid: \/type is none of object, array/],
    [
      { properties: { a: {}, ['x'.repeat(99)]: 1 } },
      new RegExp(`/properties/${'x'.repeat(60)} is no schema`),
    ],
    [{ type: [] }, /\/type is none of/],
    [{ properties: { a: { type: 'text' } } }, /\/properties\/a\/type is none of/],
    [{ properties: [] }, /\/properties is no object/],
    [{ properties: { a: 'string' } }, /\/properties\/a is no schema/],
    [{ type: 'object', required: 'a' }, /\/required is no list of names/],
    [{ enum: 'a' }, /\/enum is no list/],
    [{ anyOf: [] }, /\/anyOf is no list of schemas/],
    [{ items: { oneOf: [{ type: 'x' }] } }, /\/items\/oneOf\/0\/type/],
  ];
  for (const [format, problem] of cases)
    await t.rejects(
      daemon.chat({ model: 'plain', messages: ask('go'), format }),
      failsWith({ code: -32602, message: problem, data: { path: 'format' } }),
    );
  t.notOk(runner.requests.some(({ path }) => path === '/api/chat'));
  const fine = {
    type: 'object',
    properties: { a: true, b: { $ref: '#/$defs/b' } },
    $defs: { b: { const: 1 } },
  };
  runner.say('{"a": 0, "b": 1}');
  t.strictSame((await daemon.chat({ model: 'plain', messages: ask('go'), format: fine })).result.notices, []);
});

t.test('an answer that the runner swallowed is said to be lost', async (t) => {
  const { runner, daemon } = await setUp(t);
  runner.swallowToolCall(31);
  const { result } = await daemon.chat({ model: 'thinker', messages: ask('weather?'), tools: [tool] });
  t.strictSame(noticesOf(result), ['answer-lost']);
  t.equal(result.message.content, '');
});

t.test('an answer that is cut at its limit says so', async (t) => {
  const { daemon } = await setUp(t);
  const { result } = await daemon.chat({ model: 'plain', messages: ask('hi'), options: { num_predict: 2 } });
  t.equal(result.finishReason, 'length');
  t.strictSame(result.notices, []);
});

t.test('an answer that fills the window is cut there, and the notice names the window', async (t) => {
  const { runner, daemon } = await setUp(t);
  await daemon.chat({ model: 'plain', messages: ask('hi') });
  runner.on('/api/chat').rawLines(
    `${JSON.stringify({
      message: { role: 'assistant', content: 'as far as it goes' },
      done: true,
      done_reason: 'length',
      prompt_eval_count: 4_000,
      eval_count: 96,
    })}\n`,
  );
  const { result } = await daemon.chat({ model: 'plain', messages: ask('hi') });
  t.match(result, {
    finishReason: 'length',
    notices: [
      {
        code: 'context-exceeded',
        message:
          'The answer was cut because the context window of 4096 tokens is full. Start a new chat before anything is refused.',
      },
    ],
  });
});

t.test('an answer that never ends is stopped, and what had come is kept', async (t) => {
  const million = 1024 * 1024;
  const none = {
    content: '',
    thinking: '',
    toolCalls: [],
    done: false,
    promptTokens: 0,
    completionTokens: 0,
  };
  const call = (given: object) => ({ ...none, toolCalls: [{ name: 'get_weather', arguments: { given } }] });
  const cases: readonly {
    name: string;
    line: Parameters<ChatAnswer['add']>[0];
    kept: (message: Message) => number;
    /** How much is kept, and which piece of it was too much. */
    want: readonly [number, RegExp];
  }[] = [
    {
      name: 'text',
      line: { ...none, content: 'x'.repeat(million - 1) },
      kept: ({ content }) => content.length / (million - 1),
      want: [4, /4 million characters/],
    },
    {
      name: 'thinking',
      line: { ...none, thinking: 'x'.repeat(million - 1) },
      kept: ({ thinking = '' }) => thinking.length / (million - 1),
      want: [4, /4 million characters/],
    },
    {
      name: 'a call in the text that never ends',
      line: { ...none, content: `<tool_call>{"name":"get_weather","arguments":{"a":"${'x'.repeat(million)}` },
      kept: ({ content }) => Math.floor(content.length / million),
      want: [3, /4 million characters/],
    },
    {
      name: 'calls',
      line: call({}),
      kept: ({ toolCalls = [] }) => toolCalls.length,
      want: [1_000, /1,000 tool calls/],
    },
    {
      name: 'calls in the text',
      line: { ...none, content: '<tool_call>{"name":"get_weather","arguments":{"a":1}}</tool_call>\n' },
      kept: ({ toolCalls = [] }) => toolCalls.length,
      want: [1_000, /1,000 tool calls/],
    },
    {
      name: 'large arguments',
      line: call(['x'.repeat(million - 100)]),
      kept: ({ toolCalls = [] }) => toolCalls.length,
      want: [4, /4 million characters/],
    },
    {
      name: 'many arguments',
      line: call(Array.from({ length: 30_000 }, () => ({}))),
      kept: ({ toolCalls = [] }) => toolCalls.length,
      want: [3, /100,000 arguments/],
    },
  ];
  for (const { name, line, kept, want } of cases) {
    await t.test(name, async (t) => {
      let pushed = 0;
      const answer = new ChatAnswer({
        params: { streamId: 's', model: 'qwen3', messages: [] },
        ...{ thinks: false, startsInThinking: false, expectsCallsInText: false },
        ...{ tools: [tool], contextTags: [], sent: { blocks: [], results: [] } },
        ...{ notice: () => undefined, createId: () => 'id' },
        createRedaction: () => createRedaction().stream(16),
        pump: {
          push: (content) => {
            pushed += 'text' in content ? content.text.length : 0;
          },
          ready: async () => undefined,
          flush: async () => undefined,
        },
      });
      const flood = () => {
        for (let n = 0; n < 5_000; n++) for (const _piece of answer.add(line));
      };
      t.throws(flood, failsWith({ kind: 'bad-response', message: want[1] }));
      answer.finish('error');
      const message = answer.message();
      t.equal(Math.floor(kept(message)), want[0]);
      t.equal(pushed, message.content.length + (message.thinking?.length ?? 0), 'all of it was told');
    });
  }
});

t.test('an answer waits for nothing that the runner has to say of its window', async (t) => {
  let answerPs: () => void = () => undefined;
  const runner = createServer((request, response) => {
    request.resume();
    if (request.url === '/api/ps') {
      answerPs = () => response.end('{"models":[{"name":"plain:latest","context_length":4096}]}');
    } else if (request.url === '/api/chat') {
      response.write('{"message":{"content":"a"}}\n');
      finish = () => response.end('{"message":{"content":"b"},"done":true}\n');
    } else response.end('{"version":"1","models":[]}');
  });
  let finish: () => void = () => undefined;
  await new Promise<void>((resolve) => runner.listen(0, '127.0.0.1', resolve));
  const daemon = await startPair({ host: `http://127.0.0.1:${portOf(runner)}` });
  t.teardown(async () => {
    await daemon.close();
    runner.closeAllConnections();
    runner.close();
  });
  const { result, deltas } = await daemon.chat(
    { model: 'plain', messages: ask('word '.repeat(3_100)) },
    {
      onDelta({ kind }) {
        if (kind === 'text') answerPs();
        if (kind === 'notice') finish();
      },
    },
  );
  t.strictSame(
    deltas.map(({ kind }) => kind),
    ['text', 'notice', 'text'],
    'the text comes before the runner has said what the notice says',
  );
  t.equal(result.usage.contextLength, 4096);
});

t.test('a cancel is a normal result, and the runner sees it', async (t) => {
  const { runner, daemon } = await setUp(t);
  runner.tokens(100_000, { perSecond: 500 });
  const { result } = await daemon.chat(
    { model: 'plain', messages: ask('hi') },
    { cancelAt: ({ kind }) => kind === 'text' },
  );
  t.equal(result.finishReason, 'cancelled');
  t.not(result.message.content, '');
  await runner.waitFor(({ path, aborted }) => path === '/api/chat' && aborted);
  runner.hang();
  const before = runner.requests.length;
  const { CancellationTokenSource } = await import('vscode-jsonrpc/node');
  const source = new CancellationTokenSource();
  const silent = daemon.connection.sendRequest<ChatResult>(
    'runner/chat',
    { streamId: 'x', model: 'plain', messages: ask('hi') },
    source.token,
  );
  await runner.waitFor(
    (request) => request.path === '/api/chat' && runner.requests.indexOf(request) >= before,
  );
  source.cancel();
  t.equal((await silent).finishReason, 'cancelled', 'also before the first byte');
  await runner.waitFor((request) => request.aborted && runner.requests.indexOf(request) >= before);
});

t.test('what fails has its error, and what had come is kept', async (t) => {
  const kinds = new Map<number, string>(Object.entries(errorCodes).map(([kind, code]) => [code, kind]));
  const { runner, daemon } = await setUp(t, { timeouts: { firstByte: 500, idle: 5_000 } });
  const cases: readonly (readonly [name: string, script: () => void, code: number, partial?: true])[] = [
    ['a runner that dies', () => runner.dieMidAnswer(2), -33008, true],
    ['an end without done', () => runner.endWithoutDone('half '), -33008, true],
    ['an error line', () => runner.errorLine('engine gone', 'half '), -33009, true],
    ['HTML from a proxy', () => runner.html(), -33008],
    ['a redirect', () => runner.redirect('http://127.0.0.1:9/'), -33008],
    ['a line of 40 MB', () => runner.giantLine(40 * 1024 * 1024), -33008],
    ['silence', () => runner.hang(), -33002],
    ['a queue that is full', () => runner.failWith(503, { error: 'server busy' }), -33007],
    ['no token', () => runner.failWith(401, { error: 'unauthorized' }), -33003],
    ['a load that fails', () => runner.failWith(500, { error: 'out of memory' }), -33009],
    ['no JSON', () => runner.rawLines('{"message":{"content":"half "},"done":false}\nnope\n'), -33008],
  ];
  for (const [name, script, code, partial] of cases) {
    script();
    const error = await daemon.chat({ model: 'plain', messages: ask('hi') }).catch((caught) => caught);
    t.equal(error.code, code, name);
    t.match(error.data, { kind: kinds.get(code), server: 'default', model: 'plain' });
    t.match(error.message, /[.!]$/);
    // Nothing had come before the other failures.
    if (partial) t.ok(error.data.partial?.content.length > 0, name);
  }
  await t.rejects(daemon.chat({ model: 'no-such', messages: ask('hi') }), failsWith({ code: -33004 }));
  runner.say('still here');
  t.equal((await daemon.chat({ model: 'plain', messages: ask('hi') })).result.message.content, 'still here');
});

t.test('bytes that are cut anywhere and invalid UTF-8 come out right', async (t) => {
  const { runner, daemon } = await setUp(t);
  const lines = [
    '{"message":{"role":"assistant","content":"a€"},"done":false}',
    '{"message":{"content":"𝄞b"},"done":false}',
    '{"message":{"content":""},"done":true,"done_reason":"stop"}',
  ];
  for (const size of [1, 2, 3, 7]) {
    runner.rawLines(`${lines.join('\n')}\n`, { cut: size });
    t.equal(
      (await daemon.chat({ model: 'plain', messages: ask('hi') })).result.message.content,
      'a€𝄞b',
      `${size} bytes at a time`,
    );
  }
  runner.rawLines(
    Buffer.concat([
      Buffer.from('{"message":{"content":"a'),
      Buffer.from([0xff]),
      Buffer.from(`"},"done":false}\n${lines[2]}\n`),
    ]),
  );
  t.equal((await daemon.chat({ model: 'plain', messages: ask('hi') })).result.message.content, 'a\ufffd');
});

t.test('many chats at once never mix', async (t) => {
  const { runner, daemon: other } = await setUp(t);
  for (let n = 0; n < 30; n++) runner.say(Array.from({ length: 50 }, () => `${n} `));
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => other.chat({ model: 'plain', messages: ask('hi') })),
  );
  const words = answers.map(({ result, deltas }) => {
    t.equal(joined(deltas, 'text'), result.message.content);
    return [...new Set(result.message.content.trim().split(' '))];
  });
  t.ok(
    words.every((own) => own.length === 1),
    'each answer is of one stream',
  );
  t.equal(new Set(words.flat()).size, 30);
});

t.test('a stream id that is in use is refused', async (t) => {
  const { runner, daemon } = await setUp(t);
  runner.say('slow', { firstByteAfter: 100 });
  const params = { streamId: 'same', model: 'plain', messages: ask('hi') };
  const first = daemon.connection.sendRequest('runner/chat', params);
  await t.rejects(
    daemon.connection.sendRequest('runner/chat', params),
    failsWith({ code: -32602, data: { path: 'streamId' } }),
  );
  await first;
});

t.test('several servers, each by its name', async (t) => {
  const other = await startStandIn({ models: [{ name: 'elsewhere:latest', capabilities: ['completion'] }] });
  t.teardown(() => other.close());
  const { runner, daemon } = await setUp(t, { servers: [{ name: 'other', url: other.url }] });
  other.say('from the other');
  const { result } = await daemon.chat({ model: 'elsewhere', messages: ask('hi'), server: 'other' });
  t.equal(result.message.content, 'from the other');
  t.equal(runner.bodies('/api/chat').length, 0);
  t.match(await daemon.request(listModelsRequest, { server: 'other' }), {
    models: [{ name: 'elsewhere:latest', server: 'other', family: 'elsewhere' }],
  });
});

t.test('a model of any server, by its name', async (t) => {
  const [far, gone] = await Promise.all([
    startStandIn({
      models: ['only', 'plain'].map((name) => ({ name, capabilities: ['completion'] as const })),
    }),
    startStandIn(),
  ]);
  t.teardown(() => far.close());
  const servers = [
    { name: 'far', url: far.url },
    { name: 'gone', url: gone.url },
  ];
  const { runner, daemon } = await setUp(t, { servers: [...servers, { name: 'same', url: far.url }] });
  await gone.close();
  const { models, problems } = await daemon.request(listModelsRequest, { everywhere: true });
  const names = models.map(({ name }) => name);
  t.strictSame(
    names.filter((name) => /plain|only/.test(name)),
    ['plain:latest', 'far/only:latest', 'far/plain:latest'],
    'once, however many names its server has',
  );
  t.match(problems, [{ server: 'gone', message: /^The server "gone" at .* does not answer\.$/ }]);
  const answeredBy = async (model: string) => {
    const before = [runner, far].map((one) => one.bodies('/api/chat').length);
    await daemon.chat({ model, messages: ask('hi') });
    const [here = 0, there = 0] = [runner, far].map(
      (one, at) => one.bodies('/api/chat').length - (before[at] ?? 0),
    );
    return here > there ? 'host' : `far ${(far.bodies('/api/chat').at(-1) as { model: string }).model}`;
  };
  t.equal(await answeredBy('plain'), 'host');
  t.equal(await answeredBy('default/plain'), 'host');
  t.equal(await answeredBy('far/plain'), 'far plain');
  t.equal(await answeredBy('only'), 'far only', 'no other server has it');
  const shown = await daemon.request(showModelRequest, { model: 'far/only' });
  t.match(shown.model, { name: 'only:latest', server: 'far' });
  await daemon.request(chooseChatModelRequest, { model: 'far/only' });
  t.match(await daemon.request(chatModelRequest, {}), { model: { name: 'far/only:latest' }, from: 'choice' });
  t.match(await daemon.request(chatModelRequest, { server: 'default' }), { model: { server: 'default' } });
  const without = await startPair({ host: gone.url, servers });
  t.teardown(() => without.close());
  t.match(
    await without.request(chatModelRequest, {}),
    { model: { server: 'far' } },
    'it is the one that answers',
  );
  await t.rejects(daemon.request(deleteModelRequest, { model: 'only' }), 'a deletion names the server');
});

t.test('a list that is examined asks about each model once, four at a time', async (t) => {
  const names = Array.from({ length: 10 }, (_, index) => `m${index}:latest`);
  const asked: string[] = [];
  const open: (() => void)[] = [];
  let most = 0;
  const runner = createServer((request, response) => {
    asked.push(request.url ?? '');
    request.resume();
    if (request.url === '/api/tags')
      response.end(JSON.stringify({ models: names.map((name) => ({ name, capabilities: ['completion'] })) }));
    else if (request.url === '/api/show') {
      open.push(() => response.end('{"capabilities":["completion","tools"]}'));
      most = Math.max(most, open.length);
      // All that come together are there before one is answered.
      setTimeout(() => open.shift()?.(), 20);
    } else response.end('{"version":"1","models":[]}');
  });
  await new Promise<void>((resolve) => runner.listen(0, '127.0.0.1', resolve));
  const daemon = await startPair({ host: `http://127.0.0.1:${portOf(runner)}` });
  t.teardown(async () => {
    await daemon.close();
    runner.closeAllConnections();
    runner.close();
  });
  const count = (path: string) => asked.filter((url) => url === path).length;
  const before = await daemon.request(listModelsRequest, { refresh: true });
  t.equal(before.models[0]?.capabilities.tools.value, 'unknown');
  const { models: examined } = await daemon.request(listModelsRequest, { refresh: true, examine: true });
  t.ok(examined.every(({ capabilities: { tools } }) => tools.value === true && tools.from === 'server'));
  await daemon.request(statusRequest, {});
  const asks = [count('/api/show'), count('/api/tags'), count('/api/ps')];
  t.strictSame(
    asks,
    [10, 2, 3],
    'each list asks once, and the first status once whether it is all of Ollama',
  );
  t.equal(most, 4);
  await daemon.request(listModelsRequest, { refresh: true, examine: true });
  t.equal(count('/api/show'), 10, 'what is known is not asked again');
});

t.test('models: listed, running, shown, and known while the runner is down', async (t) => {
  const { runner, daemon } = await setUp(t);
  const { models: listed } = await daemon.request(listModelsRequest, {});
  t.equal(listed.length, models.length);
  t.match(
    listed.find(({ name }) => name === 'seer:latest'),
    {
      server: 'default',
      capabilities: { vision: { value: true, from: 'server' } },
      context: { maximum: Number },
    },
  );
  t.strictSame(await daemon.request(runningModelsRequest, {}), { models: [] });
  runner.say('ok');
  await daemon.chat({ model: 'seer', messages: ask('hi') });
  t.match(await daemon.request(runningModelsRequest, {}), {
    models: [{ name: 'seer:latest', running: { expiresAt: /Z$/ }, context: { allocated: 4096 } }],
  });
  const shown = await daemon.request(showModelRequest, { model: 'seer' });
  t.match(shown, {
    model: {
      name: 'seer:latest',
      digest: /^[0-9a-f]{64}$/,
      capabilities: { tools: { value: true, from: 'server' }, insert: { value: false, from: 'server' } },
    },
  });
  const lists = () => runner.requests.filter(({ path }) => path === '/api/tags').length;
  await daemon.request(listModelsRequest, { refresh: true });
  const before = lists();
  for (const name of ['plain', 'thinker', 'seer']) await daemon.request(showModelRequest, { model: name });
  t.equal(lists(), before, 'the details of several models, one after another, need no further list');
  await t.rejects(daemon.request(showModelRequest, { model: 'nobody' }), failsWith({ code: -33004 }));
  await t.rejects(daemon.request(showModelRequest, { model: '../x' }), failsWith({ code: -33011 }));
  await runner.close();
  t.match(await daemon.request(listModelsRequest, { refresh: true }), {
    stale: true,
    models: [{}, {}, {}, {}],
  });
});

t.test('a change of the status is notified', async (t) => {
  const statuses: Status[] = [];
  const { runner, daemon } = await setUp(t);
  daemon.on(statusDidChange, (status) => statuses.push(status));
  t.match(await daemon.request(statusRequest, {}), { state: 'online', kind: 'ok', version: String });
  runner.say('ok', { firstByteAfter: 30 });
  await daemon.chat({ model: 'plain', messages: ask('hi') });
  await runner.close();
  await t.rejects(daemon.chat({ model: 'plain', messages: ask('hi') }), failsWith({ code: -33001 }));
  t.match(await daemon.request(statusRequest, {}), { state: 'offline', kind: 'error' });
  t.ok(statuses.some(({ state }) => state === 'busy'));
  t.equal(statuses.at(-1)?.state, 'offline');

  // It comes back at the same address, and any answer of it tells that.
  const again = await startStandIn({ models, port: Number(new URL(runner.url).port) });
  t.teardown(again.close);
  const online = new Promise<void>((resolve) =>
    daemon.on(statusDidChange, ({ state }) => {
      if (state === 'online') resolve();
    }),
  );
  await daemon.request(listModelsRequest, { refresh: true });
  await online;
});

t.test('another server than the default one comes back: its models are notified', async (t) => {
  const { runner, daemon } = await setUp(t, { trusted: true });
  const box = await startStandIn({ models });
  const servers = [{ name: 'box', url: box.url }];
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { runner: { host: runner.url, servers } },
  });
  await daemon.request(listModelsRequest, { server: 'box' });
  await box.close();
  t.match(await daemon.request(statusRequest, { server: 'box' }), { state: 'offline' });
  const changed = new Promise<void>((resolve) => daemon.on(modelsDidChange, () => resolve()));
  const again = await startStandIn({ models, port: Number(new URL(box.url).port) });
  t.teardown(again.close);
  t.match(await daemon.request(statusRequest, { server: 'box' }), { state: 'online' });
  await changed;
});

t.test('what a client may leave out may be null, and an empty map may be any other nothing', async (t) => {
  const { runner, daemon } = await setUp(t);
  const nothing = {
    server: null,
    think: null,
    keepAlive: null,
    format: null,
    options: [],
    tools: null,
    session: null,
  };
  const called = (call: object) => [
    { role: 'user', content: 'What time is it?', attachments: null, images: null },
    { role: 'assistant', content: '', toolCalls: [{ id: '1', name: 'now', ...call }] },
    { role: 'tool', content: 'Noon.', toolCallId: '1', toolName: null },
  ];
  for (const call of [{ arguments: null }, { arguments: [] }, {}, { arguments: { at: null } }]) {
    runner.say('It is noon.');
    const params = { streamId: 'a', model: 'plain', messages: called(call), ...nothing };
    t.match(await daemon.connection.sendRequest('runner/chat', params), { finishReason: 'stop' });
    const wanted = Object.hasOwn(call.arguments ?? [], 'at') ? { at: null } : {};
    const { messages } = runner.bodies('/api/chat').at(-1) as {
      messages: readonly { tool_calls?: readonly { readonly function: object }[] }[];
    };
    t.strictSame(messages[1]?.tool_calls?.[0]?.function, { index: 0, name: 'now', arguments: wanted });
  }
  t.ok(await daemon.connection.sendRequest('runner/status', null));
  for (const [wrong, path] of [
    [{ messages: null }, 'messages'],
    [{ messages: [null] }, 'messages[0]'],
    [{ model: null }, 'model'],
    [{ tools: [{ name: null, description: '' }] }, 'tools[0].name'],
    [{ think: 5 }, 'think'],
  ] as const)
    await t.rejects(
      daemon.connection.sendRequest('runner/chat', {
        streamId: 'b',
        model: 'plain',
        messages: ask('?'),
        ...wrong,
      }),
      failsWith({ code: -32602, data: { path } }),
      path,
    );
});

t.test('settings change while the daemon runs', async (t) => {
  const other = await startStandIn({ models });
  t.teardown(() => other.close());
  const { daemon } = await setUp(t, { trusted: true }, { pair: { settings: { host: other.url } } });
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', { settings: null });
  other.say('from the new host');
  await other.waitFor(() => true);
  const { result } = await daemon.chat({ model: 'plain', messages: ask('hi') });
  t.equal(result.message.content, 'from the new host');
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { runner: { host: 'ftp://nowhere' } },
  });
  other.say('still there');
  t.equal(
    (await daemon.chat({ model: 'plain', messages: ask('hi') })).result.message.content,
    'still there',
    'a wrong setting is left out',
  );
  t.ok(daemon.logs.some(({ message }) => /^A setting is left as it was\..*runner\.host/.test(message)));
});

t.test('the tokens of a prompt are estimated, and each count corrects that for its model', (t) => {
  const { estimate, calibrate } = createTokenEstimate();
  const size = (characters: number, images = 0) => ({ characters, images });
  t.equal(estimate('a', size(380)), 100);
  t.equal(estimate('a', size(381, 2)), 101 + 1_200);
  calibrate('a', size(98), 49);
  calibrate('a', size(100, 1), 50);
  t.equal(estimate('a', size(380)), 100, 'short prompts and images say little');
  calibrate('a', size(100), 50);
  t.equal(estimate('a', size(380)), 190, 'the first count is taken as it is');
  calibrate('a', size(400), 100);
  t.equal(estimate('a', size(300)), 100, 'a later one for one half');
  t.equal(estimate('b', size(380)), 100, 'another model');
  calibrate('c', size(100_000), 50);
  t.equal(estimate('c', size(120)), 10, 'no token has more characters');
  calibrate('d', size(1), 50);
  t.equal(estimate('d', size(10)), 20, 'nor fewer');
  const call = { id: 'c', name: 'look', arguments: {} };
  const tool = { name: 'look', description: 'Looks', inputSchema: {} };
  const messages: readonly Message[] = [
    { role: 'user', content: 'abc', images: ['AAAA', 'AAAA'] },
    { role: 'assistant', content: '', thinking: 'abcd', toolCalls: [call] },
  ];
  const [calls, tools] = [JSON.stringify([call]).length, JSON.stringify([tool]).length];
  const inMessages = 3 + 8 + 4 + calls + 8;
  t.same(promptSizeOf(messages, []), { characters: inMessages, inTools: 0, images: 2 });
  t.same(promptSizeOf(messages, [tool]), { characters: inMessages + tools, inTools: tools, images: 2 });
  t.end();
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
          const toolCalls = Array.from({ length: calls }, () => ({
            id: `c${made++}`,
            name: 'look',
            arguments: { path: 'src/a.ts' },
          }));
          const results = toolCalls.map(({ id, name }): Message => {
            return { role: 'tool', content: result, toolCallId: id, toolName: name };
          });
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

t.test('a text that repeats itself without end is noticed, and tables are not', (t) => {
  const sentence = 'The quick brown fox jumps over the lazy dog near the river bank. ';
  const isLooping = (text: string) => {
    const watch = new LoopWatch();
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
