import t from 'tap';
import { isBlank } from '../../daemon/stream/characters.ts';
import { CodeTracker } from '../../daemon/stream/codeTracker.ts';
import { TagEnd } from '../../daemon/stream/elements.ts';
import { OpeningTable } from '../../daemon/stream/openingTable.ts';
import type { StreamParserOptions } from '../../daemon/stream/parser.ts';
import { profileForModel, type StreamProfile } from '../../daemon/stream/profile.ts';
import { coerceArguments, missingArguments, RequestTools } from '../../daemon/stream/requestTools.ts';
import {
  afterLeadingThinking,
  type StreamEvent,
  StreamParser,
  stripThinkingQuotes,
  ThinkingQuote,
  takeLeadingBlocks,
} from '../../daemon/stream/stream.ts';

const weather = {
  name: 'get_weather',
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer' },
      hot: { type: 'boolean' },
      tags: { type: 'array' },
      more: { type: ['object', 'null'] },
    },
    required: ['city'],
  },
};
const tools = [
  weather,
  { name: 'get', inputSchema: {} },
  {
    name: 'write file',
    inputSchema: { type: 'object', properties: { content: { type: 'string' }, path: { type: 'string' } } },
  },
];
const contextTags = ['context', 'selection', 'environment_info'];
/** What the chat sent, unless a case says otherwise. */
const sent = {
  blocks: [
    ...['c', 's', 'y', 'a<context>b</context>c', 'let a = 1;\n\tlet a = 1;', 'a</contexts>b'].flatMap(
      (content) => [`<context file="x">${content}</context>`, `<selection>${content}</selection>`],
    ),
    '<attachments>\n<context>\n\tlet a = 1;\n\tlet b = 2;\n</context>\n<selection>let b = 2;</selection></attachments>',
  ],
  results: ['11 C', 'It was 11 C.'],
};

/** What a reply says: its parts in order, without markup; warnings by their code. */
type Said =
  | string
  | { think: string }
  | { context: string }
  | { call: string; with: unknown }
  | { warn: string };

interface Case {
  readonly name: string;
  readonly input: string;
  readonly want: readonly Said[];
  readonly profile?: StreamProfile;
  readonly options?: Omit<StreamParserOptions, 'profile'>;
  readonly withoutTools?: true;
}

const call = (name: string, given: unknown): Said => ({ call: name, with: given });
const cologne = call('get_weather', { city: 'Köln' });
const json = '{"name": "get_weather", "arguments": {"city": "Köln"}}';

const startsInThinking = { startsInThinking: true };
const dropped = { dropContextTags: true };

/** What a model that thinks writes, and what is read of it; in all else it is like any other. */
const thinkingCases: readonly Omit<Case, 'profile'>[] = [
  {
    name: 'a mark of thinking after blanks on its line',
    input: 'Yes.\n  [THINK]hm[/THINK]\nNo.',
    want: ['Yes.\n  ', { think: 'hm' }, '\nNo.'],
  },
  {
    name: 'a mark of thinking in a line of the answer',
    input: 'Yes. [THINK]hm[/THINK]',
    want: ['Yes. [THINK]hm[/THINK]'],
  },
  {
    name: 'several blocks in a row, of several names, with attributes and in capitals',
    input: 'A\n<think>x</think>\n<THINKING a="b>c">y</THINKING> <reasoning>z</reasoning>\nB',
    want: ['A\n', { think: 'xyz' }, 'B'],
  },
  { name: 'half an open tag at the end', input: 'A\n<think', want: ['A\n<think'] },
  {
    name: 'a close tag that is quoted inside, and a fence inside',
    input: 'A\n<think>use `</think>`\n```\nx</think>\nB',
    want: ['A\n', { think: 'use `</think>`\n```\nx' }, 'B'],
  },
  {
    name: 'after a tool call',
    input: `A\n<tool_call>${json}</tool_call>\n<think>x</think>\nB`,
    want: ['A\n', cologne, '\n', { think: 'x' }, 'B'],
  },
  {
    name: 'in the line of a tool call',
    input: `A\n<tool_call>${json}</tool_call> <think>x</think> B`,
    want: ['A\n', cologne, ' <think>x</think> B'],
  },
  { name: 'nothing between the tags', input: 'A\n<think></think>\n<think/>\nB', want: ['A\nB'] },
];

/** Replies that are text to their last character. */
function unchanged(replies: Readonly<Record<string, string>>): Case[] {
  return Object.entries(replies).map(([what, input]) => ({ name: `${what} stays`, input, want: [input] }));
}

const cases: readonly Case[] = [
  ...thinkingCases.map((one) => ({
    ...one,
    name: `thinking model: ${one.name}`,
    profile: profileForModel('any', true),
  })),
  {
    name: 'code without a fence',
    input: 'if (a < b) { return 1; }\nfor (; i < n; i++)',
    want: ['if (a < b) { return 1; }\nfor (; i < n; i++)'],
  },
  {
    name: 'Unicode white space goes with them too',
    input: '\u00a0<think>\u3000a</think>\u00a0b',
    want: [{ think: 'a' }, 'b'],
  },
  {
    name: 'a second block after the answer, interleaved',
    input: '<think>a</think>b\n<think>c</think>d',
    want: [{ think: 'a' }, 'b\n', { think: 'c' }, 'd'],
    profile: profileForModel('qwen3-vl', false),
  },
  {
    name: 'thinking that ends in half a tag',
    input: '<think>abc</thi',
    want: [{ think: 'abc</thi' }, { warn: 'unclosed-thinking' }],
  },
  {
    name: 'a prefilled start that the model repeats',
    input: '<think>\nabc</think>\n\ndef',
    want: [{ think: 'abc' }, 'def'],
    options: startsInThinking,
  },
  {
    name: 'a nested close tag leaves nothing behind',
    input: '<think>a<think >b</think>\nc</think> d </think> e',
    want: [{ think: 'a<think >b' }, 'c d </think> e'],
  },
  {
    name: 'a quoted open tag inside does not nest',
    input: '<think>a `<think>` b</think>c </think> d',
    want: [{ think: 'a `<think>` b' }, 'c </think> d'],
  },
  {
    name: 'only a close tag, which ends the answer',
    input: 'abc </think>',
    want: ['abc ', { warn: 'stray-thinking-close' }],
  },
  {
    name: 'only a close tag in mid-line is a mention',
    input: 'the </think> tag',
    want: ['the </think> tag'],
  },
  { name: 'a tag that never ends', input: '<think a="', want: ['<think a="'] },
  {
    name: 'a context block in a fence is code',
    input: '```xml\n<context>foo</context>\n```',
    want: ['```xml\n<context>foo</context>\n```'],
  },
  {
    name: 'a short fence does not end a long one',
    input: '````\n```\n<context>a</context>\n````\n',
    want: ['````\n```\n<context>a</context>\n````\n'],
  },
  {
    name: 'indented code',
    input: 'a\n\n    <context>a</context>\n',
    want: ['a\n\n    <context>a</context>\n'],
  },
  {
    name: 'an unclosed context block is given back',
    input: '<context>let a',
    want: [{ warn: 'unclosed-context' }, '<context>let a'],
  },
  {
    name: 'a nested context block is one',
    input: '<context>a<context>b</context>c</context>d',
    want: [{ context: '<context>a<context>b</context>c</context>' }, 'd'],
  },
  ...unchanged({
    'a block that is a part of what was sent': '<context>let a = 1;</context>',
  }),
  {
    name: 'an echo has other white space than what was sent, and begins at its second place',
    input: 'x\n<context kind="file">\n  let a = 1;\r\n  let b = 2;\u00a0\n</context>\nb',
    want: ['x\n', { context: '<context kind="file">\n  let a = 1;\r\n  let b = 2;\u00a0\n</context>' }, 'b'],
  },
  {
    name: 'dropped tags around an echo, in a block, and without content',
    input: '<context>\n<selection>c</selection>\nx</context>\n<context/>\n<context></context>y',
    want: [{ context: '<selection>c</selection>' }, 'x\ny'],
    options: dropped,
  },
  {
    name: 'a call inside thinking is thinking',
    input: `<think><tool_call>${json}</tool_call></think>a`,
    want: [{ think: `<tool_call>${json}</tool_call>` }, 'a', { warn: 'call-in-thinking' }],
  },
  {
    name: 'no tools offered',
    input: `<tool_call>${json}</tool_call>`,
    want: [`<tool_call>${json}</tool_call>`],
    withoutTools: true,
  },
  {
    name: 'a tagged call in inline code',
    input: `\`<tool_call>${json}</tool_call>\``,
    want: [`\`<tool_call>${json}</tool_call>\``],
  },
  { name: 'a bare list', input: `[${json}, {"name":"get"}]`, want: [cologne, call('get', {})] },
  {
    name: 'Python calls',
    input: '[get_weather(city="Köln", days=2), get()]',
    want: [call('get_weather', { city: 'Köln', days: 2 }), call('get', {})],
  },
  {
    name: 'arguments as a string',
    input: '{"name":"get_weather","arguments":"{\\"city\\":\\"Köln\\"}"}',
    want: [cologne],
  },
  {
    name: 'arguments that are no object',
    input: '{"name":"get","arguments":[1]}',
    want: [{ warn: 'malformed-tool-call' }, '{"name":"get","arguments":[1]}'],
  },
  {
    name: 'braces, quotes and escapes inside strings',
    input: '{"name":"get","arguments":{"a":"}]\\"{\\\\ \\u007d"}}',
    want: [call('get', { a: '}]"{\\ }' })],
  },
  {
    name: 'paths that end in a backslash, before all that may follow',
    input: '{"name":"get","arguments":{"a":"C:\\dir\\","b":["C:\\new\\"],"c":"D:\\table\\"}}',
    want: [call('get', { a: 'C:\\dir\\', b: ['C:\\new\\'], c: 'D:\\table\\' })],
  },
  ...brokenElements().map(([name, elements, want]) => ({
    name: `a list of calls with ${name}`,
    input: `Look:\n<|START_ACTION|>[\n${elements.join(',\n')}\n]<|END_ACTION|>`,
    want: ['Look:\n', ...want] as const,
  })),
  {
    name: 'a list of calls with a broken one, without its end',
    input: `<|START_ACTION|>[${json}, {"name": "get", "arguments": {"a": }}`,
    want: [{ warn: 'malformed-tool-call' }, '{"name": "get", "arguments": {"a": }}', cologne],
  },
  {
    name: 'a list of calls in a fence, with a broken one, and text after it',
    input: `Action: \`\`\`json\n[${json}, {"name": "rm"}]\n\`\`\`\nDone.`,
    want: [{ warn: 'unknown-tool' }, '{"name": "rm"}', cologne, '\nDone.'],
  },
  { name: 'a tag that is no call', input: '<tool_call>me</tool_call>', want: ['<tool_call>me</tool_call>'] },
  {
    name: 'an XML call that ends before it has said anything',
    input: '<function=get_weather>',
    want: [{ warn: 'unclosed-tool-call' }, '<function=get_weather>'],
  },
  {
    name: 'a required argument is missing',
    input: '<function=get_weather></function>',
    want: [call('get_weather', {}), { warn: 'missing-argument' }],
  },
  {
    name: 'only a close tag, which ends a line',
    input: 'first this, then that.</think>\n\nanswer',
    want: ['first this, then that.', { warn: 'stray-thinking-close' }, '\n\nanswer'],
  },
  {
    name: 'a fence with CRLF',
    input: '```\r\n<context>x</context>\r\n```\r\n<context>y</context>\r\nend',
    want: ['```\r\n<context>x</context>\r\n```\r\n', { context: '<context>y</context>' }, 'end'],
  },
  {
    name: 'a fence deep in a list is code beyond its blank lines',
    input: `1. do\n\n     \`\`\`xml\n\n     <tool_call>${json}</tool_call>\n     \`\`\`\n`,
    want: [`1. do\n\n     \`\`\`xml\n\n     <tool_call>${json}</tool_call>\n     \`\`\`\n`],
  },
  {
    name: 'a line that begins with a tilde ends a list too',
    input: '- a\n\n~b\n\n    ```\n\n<context>c</context>\nend',
    want: ['- a\n\n~b\n\n    ```\n\n', { context: '<context>c</context>' }, 'end'],
  },
  {
    name: 'a context with the name of thinking, or with one that no element has',
    input: '<THINK>c</THINK><a b>c</a b>',
    want: [{ think: 'c' }, '<a b>c</a b>'],
    options: { contextTags: ['THINK', 'a b', '<'] },
  },
  { name: 'single quotes', input: "{'name': 'get'}", want: ["{'name': 'get'}"] },
  { name: 'comments', input: '{"name": "get" /* it */}', want: ['{"name": "get" /* it */}'] },
  { name: 'a link at the start', input: '[get it](http://x)', want: ['[get it](http://x)'] },
  {
    name: 'a brace too few',
    input: '<tool_call>{"name":"get","arguments":{"a":1}</tool_call>more',
    want: [call('get', { a: 1 }), 'more'],
  },
  {
    name: 'a call in two wrappers',
    input:
      '<function_calls>\n<invoke name="get_weather"><parameter name="city">Köln</parameter></invoke>\n</function_calls>',
    want: [cologne],
  },
  {
    name: 'a channel to a tool that was not offered',
    input: '<|channel|>commentary to=functions.rm<|message|>{}<|call|>',
    want: [{ warn: 'unknown-tool' }, '{}'],
  },
  {
    name: 'a call in a channel that cannot be read',
    input: '<|channel|>commentary to=get<|message|>[1<|call|>',
    want: [{ warn: 'malformed-tool-call' }, '<|channel|>commentary to=get<|message|>[1<|call|>'],
  },
  {
    name: 'a tag that only looks like an end',
    input: '<|channel|>final<|message|>a <|ending|> b<|end',
    want: ['a <|ending|> b<|end'],
  },
  {
    name: 'a message without a header',
    input: '<|channel|>analysis<|message|>hm<|end|>\nanswer',
    want: [{ think: 'hm' }, 'answer'],
  },
  {
    name: 'a header that never ends',
    input: `<|channel|>${'x'.repeat(300)}`,
    want: [`<|channel|>${'x'.repeat(300)}`],
  },
  { name: 'a header that is cut', input: '<|channel|>fin', want: ['<|channel|>fin'] },
];

/** Elements that are no calls at each place of a list. */
function brokenElements(): readonly (readonly [string, readonly string[], readonly Said[]])[] {
  const bad = '{"name": "get", "arguments": {"a": ["{", }, "b": "]"}}';
  const open = '{"name": "get", "arguments": {"a": 1}';
  const rm = '{"name": "rm", "arguments": {"then": [1, {"name": "get", "arguments": {}}]}}';
  const [malformed, unknown] = [{ warn: 'malformed-tool-call' }, { warn: 'unknown-tool' }];
  const now = call('get', {});
  const get = '{"name": "get", "arguments": {}}';
  return [
    ['a broken one first', [bad, json], [malformed, bad, cologne]],
    ['a broken one last', [json, bad], [malformed, bad, cologne]],
    ['a broken one in the middle', [json, bad, get], [malformed, bad, cologne, now]],
    ['one without its last brace', [open, json], [malformed, open, cologne]],
    [
      'two broken ones',
      [bad, open, json, rm],
      [malformed, `${bad},\n`, malformed, open, unknown, rm, cologne],
    ],
    ['a tool that was not offered, first', [rm, json], [unknown, rm, cologne]],
    ['a tool that was not offered, last', [json, rm], [unknown, rm, cologne]],
    ['an element that is no call', ['{"city": "Köln"}', json], [malformed, '{"city": "Köln"}', cologne]],
    ['broken ones only', [bad, rm], [malformed, `<|START_ACTION|>[\n${bad},\n${rm}\n]<|END_ACTION|>`]],
  ];
}

function say(events: readonly StreamEvent[]): Said[] {
  const said: Said[] = [];
  for (const event of events) {
    const last = said.at(-1);
    if (event.type === 'text' && typeof last === 'string') said[said.length - 1] = last + event.text;
    else if (event.type === 'text') said.push(event.text);
    else if (event.type === 'thinking' && typeof last === 'object' && 'think' in last)
      said[said.length - 1] = { think: last.think + event.text };
    else if (event.type === 'thinking') said.push({ think: event.text });
    else if (event.type === 'context') said.push({ context: event.text });
    else if (event.type === 'toolCall') said.push({ call: event.call.name, with: event.call.arguments });
    else if (event.type === 'warning') said.push({ warn: event.code });
  }
  return said;
}

function parse({ input, profile, options, withoutTools }: Case, size: number): StreamEvent[] {
  const parser = new StreamParser({
    contextTags,
    sent,
    ...options,
    tools: withoutTools ? [] : tools,
    ...(profile ? { profile } : {}),
  });
  const events: StreamEvent[] = [];
  for (let at = 0; at < input.length; at += size)
    events.push(...parser.push(input.slice(at, at + size)), ...parser.push(''));
  return [...events, ...parser.finish()];
}

for (const one of cases) {
  t.test(one.name, async (t) => {
    for (const size of [one.input.length, 1, 2, 3, 5]) {
      const events = parse(one, size);
      t.strictSame(say(events), one.want, `${size} at a time`);
      t.equal(
        events.map((event) => ('text' in event ? event.text : '')).join(''),
        one.input,
        'nothing is lost',
      );
    }
  });
}

t.test('what nests deeper than any call needs is text', async (t) => {
  const around = (open: string, close: string, depth: number, inside: string) =>
    open.repeat(depth) + inside + close.repeat(depth);
  const given =
    (form: (value: string) => string, [open, close]: readonly [string, string]) =>
    (depth: number) =>
      form(around(open, close, depth, '1'));
  const [list, object] = [['[', ']'] as const, ['{"b":', '}'] as const];
  const json = (value: string) => `<tool_call>{"name":"get","arguments":{"a":${value}}}</tool_call>`;
  const byName = (value: string) => `<tool_call>{"get":{"a":${value}}}</tool_call>`;
  const python = (value: string) => `[get(a=${value})]`;
  const empty = '"name":"get","arguments":{}';
  const forms: readonly (readonly [name: string, most: number, replyOf: (depth: number) => string])[] = [
    ['lists', 63, given(json, list)],
    ['objects', 63, given(json, object)],
    ['objects of a call by its name', 63, given(byName, object)],
    ['lists of Python', 64, given(python, list)],
    ['objects of Python', 64, given(python, object)],
    ['braces', 5, (depth) => `<tool_call>${around('{', '}', depth, empty)}</tool_call>`],
    [
      'braces of arguments',
      64,
      (depth) => `<tool_call>{"name":"get","arguments":${around('{', '}', depth, '"a":1')}}</tool_call>`,
    ],
    ['wrappers', 4, (depth) => around('{"function":', '}', depth, `{${empty}}`)],
    ['lists of calls', 4, (depth) => around('{"tool_calls":[', ']}', depth, `{${empty}}`)],
  ];
  for (const [name, most, replyOf] of forms) {
    const isCall = (depth: number) => {
      const [first] = say(parse({ name, input: replyOf(depth), want: [] }, 7));
      return typeof first === 'object' && 'call' in first;
    };
    t.ok(isCall(most), name);
    t.notOk(isCall(most + 1), `${name}, one too many`);
  }
});

t.test('what is longer than any call needs is text', async (t) => {
  const inJson = (value: string) => `<tool_call>{"name":"get","arguments":{"a":${value}}}</tool_call>`;
  const byElements = (value: string) => `<function=get><parameter=a>${value}</parameter></function>`;
  const minimax = (value: string) => `<invoke name="get">]<]minimax[>[<a>${value}]<]minimax[>[</a></invoke>`;
  const [open, close] = [']<]minimax[>[<b>', ']<]minimax[>[</b>'];
  const of =
    (form: (text: string) => string, character = 'a') =>
    (length: number) =>
      form(character.repeat(length));
  const forms: readonly (readonly [name: string, most: number, replyOf: (length: number) => string])[] = [
    ['an id after a name', 64, of((id) => `<tool_call>get:${id}{"a":1}</tool_call>`)],
    ['an id after its mark', 256, of((id) => `[TOOL_CALLS]get[CALL_ID]${id}[ARGS]{"a":1}`)],
    ['an id in JSON', 256, of((id) => `<tool_call>{"id":"${id}","name":"get","arguments":{}}</tool_call>`)],
    ['a key of Python', 256, of((key) => `[get(${key}=1)]`)],
    ['a key', 256, of((key) => `<tool_call>{"name":"get","arguments":{${key}:1}}</tool_call>`)],
    ['a parameter', 256, of((key) => `<function=get><parameter=${key}>1</parameter></function>`)],
    ['an element', 254, of((key) => `<function=get><${key}>1</${key}></function>`)],
    ['a word', 65_536, of((word) => `<|tool_call>call:get{a:${word}}<tool_call|>`)],
    ['a number', 256, of(inJson, '1')],
    ['ticks', 40, of((ticks) => `${ticks}\n{"name":"get","arguments":{}}\n${ticks}`, '`')],
    ['the line of a fence', 36, of((blanks) => `\`\`\`json${blanks}\n{"name":"get"}\n\`\`\``, ' ')],
    [
      'the line of an inner fence',
      33,
      of((a) => `<tool_call>get\n\`\`\`json${a}\n{"a":1}\n\`\`\`</tool_call>`, ' '),
    ],
    ['a header', 228, of((a) => `<|channel|>commentary to=get${a}<|message|>{"a":1}<|call|>`, ' ')],
    ['a value after its close tag', 4_073, of((a) => byElements(`b</parameter>${a}`))],
    [
      'a value after that of a call',
      4_073,
      of((a) => `<tool_call>${byElements(`b</tool_call>${a}`)}</tool_call>`),
    ],
    ['a string after a close tag', 4_094, of((a) => inJson(`"</tool_call>${a}"`))],
    ['objects', 49_996, (count) => inJson(`[${Array(count).fill('{}')}]`)],
    ['calls', 25_000, of((calls) => `<tool_call>${calls}</tool_call>`, '{"name":"get","arguments":{}}')],
    ['elements in elements', 63, (depth) => minimax(`${open.repeat(depth)}x${close.repeat(depth)}`)],
    ['elements', 24_998, of(minimax, `${open}x${close}`)],
  ];
  const ofName: readonly ((name: string) => string)[] = [
    (name) => `<tool_call>${name}{}</tool_call>`,
    (name) => `<tool_call>{"name":"${name}","arguments":{}}</tool_call>`,
    (name) => `[${name}(a=1)]`,
    (name) => `<function=${name}></function>`,
    (name) => `<tool_call>function<｜tool▁sep｜>${name}\n{}</tool_call>`,
  ];
  const isCall = (text: string, name = 'get') => {
    const parser = new StreamParser({ tools: [{ name, inputSchema: {} }] });
    const events: StreamEvent[] = [];
    for (let at = 0; at < text.length; at += 997) events.push(...parser.push(text.slice(at, at + 997)));
    const types = new Set([...events, ...parser.finish()].map(({ type }) => type));
    return types.has('toolCall') && !types.has('text');
  };
  for (const [name, most, replyOf] of forms)
    t.strictSame(
      [most, most + 1].map((length) => isCall(replyOf(length))),
      [true, false],
      name,
    );
  for (const replyOf of ofName) {
    const names = [256, 257].map((length) => 'a'.repeat(length));
    t.strictSame(
      names.map((name) => isCall(replyOf(name), name)),
      [true, false],
      replyOf('…'),
    );
  }
});

t.test('a stream that ends for another reason gives back the same', async (t) => {
  for (const reason of ['cancelled', 'error', 'length']) {
    const parser = new StreamParser({ tools, contextTags });
    const events = [...parser.push('<tool_c'), ...parser.finish(reason)];
    t.strictSame(say(events), ['<tool_c'], reason);
  }
  for (const { reason, said } of [
    { reason: 'stop', said: 'The reply ended while' },
    { reason: 'length', said: 'The reply ended (length) while' },
  ]) {
    const parser = new StreamParser({ tools, contextTags });
    const warnings = [...parser.push('<think>So'), ...parser.finish(reason)].flatMap((event) =>
      event.type === 'warning' ? event.message : [],
    );
    t.match(warnings, [said], reason);
  }
});

t.test('thinking becomes a block quote, in every alternation', async (t) => {
  const quote = new ThinkingQuote();
  const parts = [
    quote.thinking('a\n'),
    quote.thinking('\nb\n'),
    quote.text('text'),
    quote.thinking('c'),
    quote.text('\nend'),
    quote.finish(),
  ];
  const head = '> <details><summary>Thinking</summary>\n>\n> ';
  const tail = '\n>\n> </details>\n\n';
  t.equal(parts.join(''), `${head}a\n> \n> b${tail}text\n\n${head}c${tail}\nend`);
  t.equal(stripThinkingQuotes(`${head}a${tail}b`), 'b');
  t.equal(stripThinkingQuotes(`${head}a${tail.trimEnd()}`), '', 'also without its last blank line');
  const start = performance.now();
  stripThinkingQuotes(head.repeat(20_000));
  t.ok(performance.now() - start < 1000, 'in linear time, also where no quote closes');
  for (const kept of ['> a quote\n\nb', `x ${head}a${tail}`, `${head}a\nno quote${tail}`, head])
    t.equal(stripThinkingQuotes(kept), kept, JSON.stringify(kept));
  for (const [text, want] of [
    [`x\n${head}a${tail}b`, 'x\nb'],
    [`x\n\n${head}a\n> b${tail}y\n${head}c${tail}z`, 'x\n\ny\nz'],
    [`${head}a${tail}${head}b${tail}c`, 'c'],
    [`x\n${head}a${tail.trimEnd()}`, 'x\n'],
    [`x ${head}a${tail}\n${head}b${tail}c`, `x ${head}a${tail}\nc`],
    [`${head}a\nno${tail}\n${head}b${tail}c`, `${head}a\nno${tail}\nc`],
    [`${head}${head}a${tail}b`, 'b'],
    [`${head}a${tail.trimEnd()}b`, `${head}a${tail.trimEnd()}b`],
    [`${head}a${tail.trimEnd()}\n`, `${head}a${tail.trimEnd()}\n`],
    [`${head}\n${tail}`, `${head}\n${tail}`],
  ] as const)
    t.equal(stripThinkingQuotes(text), want, JSON.stringify(text));
  const quoted = (pieces: readonly (string | { readonly think: string })[]) => {
    const one = new ThinkingQuote();
    const written = pieces.map((piece) =>
      typeof piece === 'string' ? one.text(piece) : one.thinking(piece.think),
    );
    return [...written, one.finish()];
  };
  for (const [pieces, want] of [
    [[], ['']],
    [
      ['a', '', 'b'],
      ['a', '', 'b', ''],
    ],
    [
      [{ think: '' }, 'a'],
      ['', 'a', ''],
    ],
    [
      [{ think: '\n\r\n' }, { think: '\n' }, 'a'],
      ['', '', 'a', ''],
    ],
    [
      [{ think: 'a\r\nb\r\n' }, { think: '\rc' }],
      [`${head}a\n> b`, '\n> \rc', tail],
    ],
    [
      [{ think: '\n' }, { think: 'a' }, 'b\n', { think: 'c' }],
      ['', `${head}\n> a`, `${tail}b\n`, `${head}c`, tail],
    ],
    [
      [{ think: 'a\n' }, 'b', { think: 'c' }, { think: 'd' }],
      [`${head}a`, `${tail}b`, `\n\n${head}c`, 'd', tail],
    ],
  ] as const)
    t.strictSame(quoted(pieces), want, JSON.stringify(pieces));
});

t.test('what is left of a text without the thinking at its beginning', async (t) => {
  for (const [text, want] of [
    ['', ''],
    ['a', 'a'],
    ['  a', '  a'],
    ['\n\t a', '\n\t a'],
    ['<think>a</think>', ''],
    ['<think>a', ''],
    ['<think>a</think>b', 'b'],
    ['<think>a</think> \t b\n c', ' \t b\n c'],
    ['<think>a</think>\n\n\t b', '\t b'],
    ['[THINK]a[/THINK]\n  b <think>c</think>', '  b <think>c</think>'],
    ['<think>a</think>\n<think>b</think>\n c', ' c'],
    ['<tool_call>a</tool_call>', '<tool_call>a</tool_call>'],
    ['<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b', 'b'],
  ] as const)
    t.equal(afterLeadingThinking(text), want, JSON.stringify(text));
});

t.test('a tool may have the name of a key that wraps calls', async (t) => {
  const tools = ['function', 'get'].map((name) => ({ name, inputSchema: {} }));
  const cases: readonly (readonly [text: string, want: string])[] = [
    ['{"function":{"name":"get","arguments":{}}}', 'get'],
    ['{"type":"function","function":{"name":"get","arguments":{}}}', 'get'],
    ['{"name":"function","arguments":{}}', 'function'],
  ];
  for (const [text, want] of cases) {
    const parser = new StreamParser({ tools });
    const events = [...parser.push(`<tool_call>${text}</tool_call>`), ...parser.finish()];
    t.match(events, [{ type: 'toolCall', call: { name: want } }], text);
    t.equal(events.length, 1, text);
  }
});

t.test('a call with more parts than any call needs is text', async (t) => {
  const read = (text: string) => {
    const parser = new StreamParser({ tools: [{ name: 'get', inputSchema: {} }] });
    const events = [...parser.push(text), ...parser.finish()];
    return {
      calls: events.filter(({ type }) => type === 'toolCall').length,
      text: events.map((event) => (event.type === 'text' ? event.text : '')).join(''),
    };
  };
  const inTag = (inside: string) => `<tool_call>${inside}</tool_call>`;
  const get = '{"name":"get"}';
  const deep = `${']<]minimax[>[<b>'.repeat(100)}x${']<]minimax[>[</b>'.repeat(100)}`;
  const cases: Readonly<Record<string, string>> = {
    objects: inTag(`{"name":"get","arguments":{"a":[${'{},'.repeat(60_000)}{}]}}`),
    keys: inTag(`{"name":"get","arguments":{${Array.from({ length: 60_000 }, (_, n) => `"${n}":1`)}}}`),
    'lists of calls in lists of calls': inTag(
      `${'{"tool_calls":['.repeat(5_000)}${get}${']}'.repeat(5_000)}`,
    ),
    'one call in an object, others in a list': inTag(`{"function_call":${get},"tool_calls":[${get}]}`),
    'elements in elements': `<invoke name="get">]<]minimax[>[<a>${deep}]<]minimax[>[</a></invoke>`,
  };
  for (const [name, text] of Object.entries(cases)) t.strictSame(read(text), { calls: 0, text }, name);
  t.equal(read(inTag('{"name":"get","arguments":{"a":[{},{}]}}')).calls, 1);
});

t.test('a thinking quote of nothing but line breaks is written in linear time', async (t) => {
  const quote = new ThinkingQuote();
  const parts = Array.from({ length: 300_000 }, () => quote.thinking('\n'));
  t.equal(parts.join(''), '', 'they wait for what follows them');
  const shown = quote.thinking('a');
  t.equal(shown.length, '> <details><summary>Thinking</summary>\n>\n> '.length + 300_000 * 3 + 1);
  t.equal(quote.thinking(`${'\n'.repeat(300_000)}b`).length, 300_000 * 3 + 1);
});

t.test('leading blocks', async (t) => {
  const names = new Set(['context', 'selection']);
  const take = (text: string) => {
    const { blocks, rest } = takeLeadingBlocks(text, names);
    return [blocks.map((block) => block.name), rest];
  };
  t.strictSame(take('<context>a</context>\n <selection a=">">b</selection>\n\nhi <context>c</context>'), [
    ['context', 'selection'],
    'hi <context>c</context>',
  ]);
  t.strictSame(take('<context/>hi'), [['context'], 'hi']);
  t.strictSame(take('<contexts>a</contexts>hi'), [[], '<contexts>a</contexts>hi']);
  t.strictSame(take('<context>a'), [[], '<context>a']);
  t.strictSame(take('  plain'), [[], '  plain']);
  const long = 'a'.repeat(128);
  const whole = (text: string) =>
    takeLeadingBlocks(text, new Set(['context', 'selection', long, `${long}a`]));
  for (const [blocks, rest] of [
    [[], ''],
    [[], '<'],
    [[], '<context'],
    [[], '<context a<b>c</context>d'],
    [[], '<context a=">">b</contexts>c'],
    [[], '<other/>a'],
    [[], `<${long}a>b</${long}a>c`],
    [[['context', '<context/>']], ''],
    [[['context', '<context>a<context>b</context>c</context>']], 'd'],
    [[['context', '<context a="/>">b</context >']], 'c'],
    [
      [
        ['context', '<context a="b"/>'],
        ['context', '<context>c</context>'],
      ],
      'd',
    ],
    [
      [
        ['selection', '<selection\na>b</selection>'],
        ['context', '<context>\n</context>'],
      ],
      'c <selection/>',
    ],
    [[[long, `<${long}>b</${long}>`]], 'c'],
  ] as const) {
    const text = [...blocks.map(([, block]) => block), rest].join('');
    t.strictSame(whole(text), { blocks: blocks.map(([name, text]) => ({ name, text })), rest }, text);
  }
  t.strictSame(whole(' \n<context/>\n\t<selection/> a'), {
    blocks: [
      { name: 'context', text: '<context/>' },
      { name: 'selection', text: '<selection/>' },
    ],
    rest: 'a',
  });
});

t.test('blanks are those of Unicode', async (t) => {
  const wrong = Array.from({ length: 0x10000 }, (_, code) => code).filter(
    (code) => isBlank(code) !== /[\s\u0085]/.test(String.fromCharCode(code)),
  );
  t.strictSame(wrong, []);
});

t.test('a tag ends at its own mark, and is no longer than 4,096 characters', async (t) => {
  const read = (text: string, size = text.length) => {
    const end = new TagEnd();
    for (let at = 0; at < text.length; at += size) {
      const found = end.read(text.slice(0, at + size), at);
      if (found !== -1) return [found, end.failed ? 'failed' : end.selfClosing ? 'alone' : 'open'];
    }
    return [-1, end.failed, end.selfClosing];
  };
  const cases: readonly (readonly [text: string, want: readonly unknown[]])[] = [
    ['>x', [1, 'open']],
    ['/>x', [2, 'alone']],
    ['/ >x', [3, 'open']],
    [' a="/">x', [7, 'open']],
    [' a="1>2<3"/>x', [12, 'alone']],
    [` a='">'>x`, [8, 'open']],
    [` a="'>">x`, [8, 'open']],
    [' a<', [2, 'failed']],
    [' a="<>', [-1, false, false]],
    [`${'a'.repeat(4_095)}>`, [4_096, 'open']],
    [`${'a'.repeat(4_096)}>`, [4_096, 'failed']],
  ];
  for (const [text, want] of cases)
    for (const size of [1, 3, text.length])
      t.strictSame(read(text, size), want, `${text.slice(0, 20)}, ${size} at a time`);
});

t.test('whether Markdown is inside of code', async (t) => {
  const inside = (text: string) => {
    const tracker = new CodeTracker();
    tracker.track(text);
    tracker.settle();
    return tracker.inside || tracker.isCodeLine;
  };
  const cases = [
    { text: '\tx', want: true },
    { text: '   x', want: false },
    { text: '    x', want: true },
    ...['- ', '* ', '+ ', '1. ', '1) ', '0. ', '9. ', '19. '].flatMap((marker) => [
      { text: `${marker}x\n${' '.repeat(marker.length + 3)}x`, want: false },
      { text: `${marker}x\n${' '.repeat(marker.length + 4)}x`, want: true },
      { text: `${marker}\`\`\`\nx`, want: true },
    ]),
    ...[', ', '/ ', '1- ', '1( ', '1* ', '/. ', ':. ', '-- ', '1.. ', '1 . '].map((marker) => ({
      ...{ text: `${marker}x\n    x`, want: true },
    })),
    { text: 'a `b', want: true },
    { text: 'a `b` c', want: false },
    { text: 'a ``b` c', want: true },
    { text: 'a ``b` c`` d', want: false },
    { text: 'a \\`b', want: false },
    { text: 'a \\\\`b', want: true },
    { text: '```a` b', want: true },
    { text: '```a``` b', want: false },
    { text: '```a```\nb', want: false },
    { text: '~~~a```\nb', want: true },
    { text: '```\na\n```\nb', want: false },
    { text: '```\na\n``` c\nb', want: true },
    { text: '```\na\n~~~\nb', want: true },
    { text: '````\na\n```\nb', want: true },
    { text: '``\n\nb', want: false },
    { text: '   ```\nb', want: true },
  ];
  for (const { text, want } of cases) t.equal(inside(text), want, JSON.stringify(text));
});

t.test('a tool is found in another spelling, if that is of one tool only', async (t) => {
  const tools = new RequestTools(
    ['getTime', 'read-file', 'Save', 'save', 'a.b', 'a_b'].map((name) => ({ name })),
  );
  for (const [written, want] of [
    ['getTime', 'getTime'],
    ['gettime', 'getTime'],
    ['functions.getTime', 'getTime'],
    ['function:getTime', 'getTime'],
    ["'getTime'", 'getTime'],
    ['getTime2', undefined],
    ['GETTIME', 'getTime'],
    ['"read_file"', 'read-file'],
    ['save', 'save'],
    ['SAVE', undefined],
    ['a-b', undefined],
    ['', undefined],
  ] as const)
    t.equal(tools.find(written)?.name, want, written);
});

t.test('an incomplete name may become that of a tool', async (t) => {
  const tools = new RequestTools([{ name: 'read-file' }, { name: 'a'.repeat(300) }]);
  for (const [begun, want] of [
    ['r', true],
    ['READ_', true],
    ['read_file', true],
    ['read_files', false],
    ['write', false],
    ['func', true],
    ['functions', true],
    ['functions.', true],
    ['function:', true],
    ['functions.re', true],
    ['functions.w', false],
    ['a'.repeat(256), true],
    ['a'.repeat(257), false],
  ] as const)
    t.equal(tools.mayBecome(begun), want, begun);
});

t.test('words become values of the types that a schema names', async (t) => {
  const nested = (times: number): object =>
    times === 0 ? { type: 'integer' } : { anyOf: [nested(times - 1)] };
  const cases: readonly [schema: unknown, word: unknown, want: unknown][] = [
    [{ type: 'integer' }, ' 5 ', 5],
    [{ type: 'integer' }, '+5', 5],
    [{ type: 'integer' }, '5.5', '5.5'],
    [{ type: 'number' }, '5.5', 5.5],
    [{ type: 'number' }, '', ''],
    [{ type: 'number' }, 'Infinity', 'Infinity'],
    [{ type: 'boolean' }, 'True', true],
    [{ type: 'boolean' }, 'yes', 'yes'],
    [{ type: ['string', 'null'] }, 'None', null],
    [{ type: 'string' }, 'null', 'null'],
    [{ type: ['boolean', 'integer', 'string'] }, '5', 5],
    [{ type: 'array' }, '[1, "a"]', [1, 'a']],
    [{ type: 'array' }, '{"a": 1}', '{"a": 1}'],
    [{ type: 'object' }, '{"a": 1}', { a: 1 }],
    [{ type: 'object' }, '[1]', '[1]'],
    [{ oneOf: [{ type: 'null' }, { type: 'integer' }] }, '5', 5],
    [{ anyOf: [true, { type: 'integer' }] }, '5', 5],
    [nested(8), '5', 5],
    [nested(9), '5', '5'],
    [undefined, '5', '5'],
    [true, ['5'], ['5']],
    [{ items: { type: 'integer' } }, ['5', 'a', 6], [5, 'a', 6]],
    [{ properties: { a: { type: 'integer' } } }, { a: '5', b: '5' }, { a: 5, b: '5' }],
    [{ additionalProperties: { type: 'integer' } }, { b: '5' }, { b: 5 }],
    [{ type: 'integer' }, 5, 5],
    [{ type: 'integer' }, null, null],
  ];
  for (const [schema, word, want] of cases) {
    const about = JSON.stringify([schema, word]);
    const properties = { a: schema };
    t.strictSame(coerceArguments({ a: word }, new Set(['a']), { properties }), { a: want }, about);
    t.strictSame(coerceArguments({ a: word }, new Set(), { properties }), { a: word }, 'it is no word');
  }
  const given = { a: '5', toString: '5' };
  const both = new Set(['a', 'toString']);
  for (const schema of [undefined, {}, { properties: [] }, { properties: {} }])
    t.strictSame(coerceArguments(given, both, schema), given);
  for (const [schema, want] of [
    [{ required: ['a', 'b', 5, 'toString'] }, ['b']],
    [{ required: 'b' }, []],
    [undefined, []],
  ] as const)
    t.strictSame(missingArguments(given, schema), want);
});

t.test('where a tag with a meaning begins', async (t) => {
  const context = { kind: 'context', literal: '<c', name: 'c', dropsTag: false } as const;
  const thinking = { kind: 'thinking', literal: '<t', name: 't' } as const;
  const word = {
    kind: 'call',
    literal: '<word>',
    tag: { open: '<word>', close: '', onlyBefore: 'value' },
  } as const;
  const bare = {
    kind: 'call',
    literal: 'call:',
    tag: { open: 'call:', close: '', onlyBefore: 'toolName' },
  } as const;
  const end = { kind: 'end', literal: '<|end|>' } as const;
  const capital = { kind: 'thinkingClose', literal: '</az', name: 'az' } as const;
  const short = { kind: 'thinking', literal: '<za', name: 'za' } as const;
  const wide = { kind: 'thinkingMark', literal: '◁a', marks: { open: '◁a', close: 'b' } } as const;
  const table = new OpeningTable([context, thinking, word, bare, end, capital, short, wide]);
  t.equal(table.longest, 8);
  t.strictSame(
    ['◁', 'c', '<', 'C', 'z'].map((character) => table.begins[character.charCodeAt(0)]),
    [undefined, 2, 0, 0, 0],
  );
  t.strictSame(
    [...'ctTwzZ/|xC@[{`'].filter((character) => table.mayFollow(character.charCodeAt(0))),
    [...'ctTwzZ/|'],
  );
  const cases: readonly [text: string, inLine: object | string, atStart?: object | string][] = [
    ['<', 'more'],
    ['<c', 'more'],
    ...['<c>', '<c/', '<c ', '<c\t', '<c\r', '<c\n'].map((text): [string, object] => [text, context]),
    ['<cc', 'none'],
    ['<C>', 'none'],
    ...['<t>', '<T>', '<t ', '<T/'].map((text): [string, object] => [text, thinking]),
    ['<T', 'more'],
    ['<tt', 'none'],
    ['<w', 'none', 'more'],
    ['<wor', 'none', 'more'],
    ['<word>', 'none', word],
    ['<wordy', 'none'],
    ['c', 'none', 'more'],
    ['call:', 'none', bare],
    ['calls', 'none'],
    ['<|', 'more'],
    ['<|end|>', end],
    ['<|ende', 'none'],
    ...['</az>', '</AZ>', '</aZ>', '</Az '].map((text): [string, object] => [text, capital]),
    ...['<za>', '<ZA>', '<zA/', '<Za\n'].map((text): [string, object] => [text, short]),
    ...['</a`>', '</a{>', '</a:', '</@z>', '</[z>', '<zb', '<ya'].map((text): [string, string] => [
      text,
      'none',
    ]),
    ['◁', 'more'],
    ['◁a', wide],
    ['◁b', 'none'],
    ['<x', 'none'],
    ['x', 'none'],
  ];
  for (const [text, inLine, atStart = inLine] of cases) {
    t.equal(table.match(text, 0, false), inLine, `${JSON.stringify(text)} in a line`);
    t.equal(table.match(`> ${text}`, 2, true), atStart, `${JSON.stringify(text)} at its start`);
  }
});

t.test(
  'a schema in place of the arguments is no call, unless the tool takes what it does not name',
  async (t) => {
    const own = { a: { type: 'string' } };
    const given = { properties: { a: 1 } };
    for (const [inputSchema, want] of [
      [{ properties: own }, false],
      [{ properties: own, additionalProperties: false }, false],
      [{ properties: own, additionalProperties: true }, true],
      [{ properties: own, anyOf: [] }, true],
      [{ properties: { properties: { type: 'object' } } }, true],
      [{}, true],
    ] as const) {
      const parser = new StreamParser({ tools: [{ name: 'find', inputSchema }] });
      const text = JSON.stringify({ name: 'find', arguments: given });
      const events = [...parser.push(`<tool_call>${text}</tool_call>`), ...parser.finish()];
      const calls = events.filter(({ type }) => type === 'toolCall');
      t.equal(calls.length, want ? 1 : 0, JSON.stringify(inputSchema));
    }
  },
);
