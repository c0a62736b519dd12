import fc from 'fast-check';
import t from 'tap';
import { Echoes } from '../../daemon/stream/echoes.ts';
import type { StreamParserOptions } from '../../daemon/stream/parser.ts';
import { defaultProfile, profileForModel } from '../../daemon/stream/profile.ts';
import {
  type StreamEvent,
  StreamParser,
  stripThinkingQuotes,
  ThinkingQuote,
  takeLeadingBlocks,
} from '../../daemon/stream/stream.ts';
import { anyText } from '../support/anyText.ts';

const tools = [
  { name: 'get', inputSchema: { type: 'object', properties: { a: { type: 'integer' } } } },
  {
    name: 'get_weather',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];
const contextTags = ['context', 'selection'];
const thinkingProfile = profileForModel('any', true);
const sent = {
  blocks: [
    '<context>a text</context><context>i < n <context>1.</context></context>',
    '<selection>w0z w1z</selection>',
  ],
  results: ['i < n 1. > <think>', 'w0z'],
};
const variants: Readonly<Record<string, StreamParserOptions>> = {
  default: {},
  'starts in thinking': { startsInThinking: true },
  interleaved: { profile: profileForModel('qwen3-vl', false) },
  'thinking model': { profile: thinkingProfile },
  'tags are dropped': { dropContextTags: true },
};

/** Pieces that mean something to the parser, so that random texts reach its corners. */
const fragment = fc.constantFrom(
  ...['<', '>', '</', '/>', 'think', '<think>', '</think>', '<thinking a="b>c">', '</thinking>'],
  ...['<context>', '</context>', '<context x=1>', '</selection>', '<selection>', '<context>a te'],
  ...['<selection', '<tool_call>', '</tool_call>', '<function=get>', '</function>'],
  ...['<parameter=a>', '</parameter>', '{"name":', '"get"', '"get_weather"'],
  ...[',"arguments":{', '"a":1', '}', '}}', '[', ']', '[TOOL_CALLS]', 'get(a=1)', '"', "'", '\\'],
  ...['`', '``', '```', '```json', '~~~', '\n', '\n\n', ' ', '\t'],
  ...['\r\n', '\u00a0', '\u3000', '𝄞', 'é', 'i < n', 'a', 'text ', '<arg_key>', '</arg_key>'],
  ...['<arg_value>', '<|channel|>', '<|start|>', '<|message|>', '<|end|>', '<|call|>', 'analysis'],
  ...['to=get', '<|python_tag|>', '    ', '- ', '1. ', '> ', '\\`'],
  ...['[THINK]', '[/THINK]', '<|channel>', 'thought', '<channel|>', '<|START_TEXT|>'],
  ...['<|END_TEXT|>', '<|im_end|>', '</s>', '<｜tool▁outputs▁begin｜>', '<｜tool▁outputs▁end｜>'],
  ...['[ARGS]', 'functools', 'Action:', '<|tool_call>call:get{a:<|"|>', '<|"|>}<tool_call|>'],
  ...['<invoke name="get">', '<parameter name="a">', '</invoke>', '<｜tool▁call▁begin｜>'],
  ...['<｜tool▁sep｜>', '<｜tool▁call▁end｜>', ']<]minimax[>[', '</arg_value>', '</tool_calls>'],
  ...['<tools>', 'get{', '(a=', ')', ',', '1', 'get\n', '</parameter>\n</function>'],
  ...['<parameter=city>', '{{', "{'name':'get','arguments':{}}", '{"name":"get","arguments":{}}'],
);
const text = fc.oneof(
  fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join('')),
  anyText({ maxLength: 60 }),
);

function parse(
  chunks: readonly string[],
  options: ConstructorParameters<typeof StreamParser>[0],
): StreamEvent[] {
  const parser = new StreamParser(options);
  return [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.finish('stop')];
}

/** Neighbours of one kind become one: how the text was cut is no part of what it says. */
function merge(events: readonly StreamEvent[]): StreamEvent[] {
  const merged: StreamEvent[] = [];
  for (const event of events) {
    const last = merged.at(-1);
    const joins =
      last?.type === event.type &&
      (event.type === 'text' || event.type === 'thinking' || event.type === 'markup');
    if (joins && 'text' in last && 'text' in event)
      merged[merged.length - 1] = { ...last, text: last.text + event.text } as StreamEvent;
    else merged.push(event);
  }
  return merged;
}

function cut(whole: string, sizes: readonly number[]): string[] {
  const chunks: string[] = [];
  for (let at = 0, n = 0; at < whole.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    chunks.push(whole.slice(at, at + size));
    at += size;
  }
  return chunks;
}

/** Words that nothing else says, between the pieces. */
const worded = fc
  .array(fc.tuple(fragment, fc.boolean()), { maxLength: 24 })
  .map((parts) => parts.map(([part, has], index) => (has ? `${part}w${index}z` : part)).join(''));
/** Whole calls, now and then with a word where none should be. */
const planted = fc
  .tuple(
    fc.constantFrom(
      '<tool_call>@{"name":"get",@"arguments":@{"a":"@"@}@}@</tool_call>@',
      '@{"name":"get","arguments":{"a":"@"@}@,@"id":1}@',
      '<tool_call>get@\n<arg_key>a</arg_key>@<arg_value>@</arg_value>@\n</tool_call>@',
      '@<function=get>@<parameter=a>@</parameter>@</function>@',
      '[TOOL_CALLS]@get@[ARGS]@{"a":"@"@}@',
      '<|tool_call>@call:get@{a:<|"|>@<|"|>@}@<tool_call|>@',
      '<function_calls>@get(a="@"@)@</function_calls>@',
      '<｜tool▁call▁begin｜>@function@<｜tool▁sep｜>@get@\n```json\n@{"a":"@"}@\n```@<｜tool▁call▁end｜>@',
      '<function name="get">@<param name="a">@<![CDATA[@]]@</param>@]]>@</param>@</function>@',
      '<invoke name="get"@>@<parameter name="a"@>@</parameter>@</invoke>@',
      '<|channel|>@commentary@ to=functions.get@ <|constrain|>json@<|message|>@{"a":"@"}@<|call|>@',
      '<|channel|>commentary to=functions.get<|message|>{"a":"@<|call|>@<|start|>@<|channel|>final<|message|>@"@<|end|>@',
      ']<]minimax[>[<tool_call>@]<]minimax[>[<invoke name="get">@]<]minimax[>[<a>@]<]minimax[>[</a>@]<]minimax[>[</invoke>@]<]minimax[>[</tool_call>@',
    ),
    fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }),
  )
  .map(([form, has]) => {
    let index = 0;
    return form.replace(/@/g, () => (has[index++ % has.length] ? `w${index}z` : ''));
  });

// These have found real defects. Each run of the tests has other replies.
t.test('any cut gives the same events, and nothing is lost', async (t) => {
  for (const [name, variant] of Object.entries(variants)) {
    const options = { tools, contextTags, sent, ...variant };
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          planted,
          fc.tuple(planted, worded, planted).map((parts) => parts.join('')),
        ),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
        (whole, sizes) => {
          const want = merge(parse([whole], options));
          const joined = want.map((event) => ('text' in event ? event.text : '')).join('');
          if (joined !== whole) throw new Error(`lost: ${JSON.stringify(joined)}`);
          for (const chunks of [cut(whole, [1]), cut(whole, sizes)]) {
            const got = merge(parse(chunks, options));
            if (JSON.stringify(got) !== JSON.stringify(want)) {
              throw new Error(`${JSON.stringify(chunks)}\n${JSON.stringify(got)}\n${JSON.stringify(want)}`);
            }
          }
        },
      ),
      { numRuns: 200 },
    );
    t.pass(name);
  }
});

t.test('a passage is an echo while something that was sent begins with it, white space aside', async (t) => {
  const few = fc.array(fc.constantFrom('a', 'b', 'ab', 'aab', ' ', '\n\u00a0'), { maxLength: 12 });
  const written = few.map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(written, { maxLength: 3 }), written, (parts, passage) => {
      const texts = parts.map((one) => `a${one}`);
      const bare = texts.map((one) => one.replace(/\s/g, ''));
      const blocks = texts.map((one) => `<x>${one}</x>`);
      for (const search of [
        new Echoes({ blocks: [], results: texts }).search(),
        new Echoes({ blocks, results: [] }).search('x'),
      ]) {
        let content = '';
        for (const character of passage) {
          content += character.trim();
          const begins = bare.some((one) => one.startsWith(content));
          if (search.add(character) !== begins) throw new Error(`${begins}: ${content}`);
          if (!begins) break;
          const isWhole = content !== '' && bare.includes(content);
          if (search.isWhole !== isWhole) throw new Error(`${isWhole}: ${content}`);
        }
      }
    }),
    { numRuns: 500 },
  );
  t.pass();
});

t.test('only what was sent is removed', async (t) => {
  const bare = (one: string) => one.replace(/\s/g, '');
  const elements = fc.array(
    fc.oneof(
      fragment,
      fc.constantFrom(
        '<context>a text</context>',
        '<selection>w0z w1z</selection>\n',
        '<context>w1z</context>',
      ),
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(elements, fc.boolean(), (parts, dropContextTags) => {
      for (const event of parse([parts.join('')], { contextTags, sent, dropContextTags })) {
        if (event.type !== 'context') continue;
        const [, content = ''] = /^<[^>]*>([\s\S]*)<[^<]*>$/.exec(event.text) ?? [];
        if (
          bare(content) === '' ||
          ![...sent.blocks, ...sent.results].some((one) => bare(one).includes(bare(content)))
        )
          throw new Error(event.text);
      }
    }),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('no word is dropped: each is text, a thought, an echo, or in a call', async (t) => {
  fc.assert(
    fc.property(
      fc.oneof(
        worded,
        planted,
        fc.tuple(planted, worded).map((two) => two.join('')),
      ),
      (whole) => {
        const told = parse([whole], { tools, contextTags, sent }).map((event) => {
          if (event.type === 'toolCall') return JSON.stringify(event.call);
          // The attributes of a thinking tag are told to nobody.
          const isTag = event.type === 'markup' && /^\s*<\/?think/.test(event.text);
          // The warning of a call in channels names the tool that was not offered.
          if (event.type === 'warning') return event.code === 'unknown-tool' ? event.message : '';
          return event.type === 'markup' && !isTag ? '' : event.text;
        });
        for (const [word] of whole.matchAll(/w\d+z/g)) {
          if (!told.some((one) => one.includes(word))) throw new Error(`lost ${word}`);
        }
      },
    ),
    { numRuns: 500, examples: [['to=getw0z<|message|>']] },
  );
  t.pass();
});

t.test('two parsers share nothing', async (t) => {
  fc.assert(
    fc.property(text, text, (one, two) => {
      const [first, second] = [
        new StreamParser({ tools, contextTags, sent }),
        new StreamParser({ tools, contextTags, sent }),
      ];
      const events: [StreamEvent[], StreamEvent[]] = [[], []];
      for (let at = 0; at < Math.max(one.length, two.length); at += 3) {
        events[0].push(...first.push(one.slice(at, at + 3)));
        events[1].push(...second.push(two.slice(at, at + 3)));
      }
      events[0].push(...first.finish());
      events[1].push(...second.finish());
      const alone = [one, two].map((whole) =>
        JSON.stringify(merge(parse([whole], { tools, contextTags, sent }))),
      );
      if (JSON.stringify(events.map((all) => JSON.stringify(merge(all)))) !== JSON.stringify(alone))
        throw new Error('mixed');
    }),
    { numRuns: 200 },
  );
  t.pass();
});

t.test('the work is linear, also for hostile input', async (t) => {
  const inputs: Readonly<Record<string, (length: number) => string>> = {
    prose: (n) => 'Some words and `code` here.\n'.repeat(n / 28),
    'open angles': (n) => '<'.repeat(n),
    'tags that are none': (n) => '<thin'.repeat(n / 5),
    'an unterminated tag': (n) => `<think ${'a="b" '.repeat(n / 6)}`,
    'unterminated thinking': (n) => `<think>${'</thin '.repeat(n / 7)}`,
    'an unterminated context block': (n) => `<context>${'<context>'.repeat(n / 9)}`,
    'closed context blocks': (n) => '<context>a</context>\n'.repeat(n / 21),
    'context blocks in context blocks': (n) => '<context>a '.repeat(n / 11),
    'context blocks that begin like what was sent': (n) => '<context>a text a<x </context>'.repeat(n / 30),
    'a context block of open tags': (n) => `<context>${'<context>'.repeat(n / 9)}</context>`,
    'close tags in a context block': (n) => `<context>${'</context '.repeat(n / 10)}`,
    'a context block of white space': (n) => `<context>${' '.repeat(n)}x</context>`,
    braces: (n) => '{'.repeat(n),
    'a call that never ends': (n) => `{"name":"get","arguments":{"a":"${'x\\"'.repeat(n / 3)}`,
    'nested lists': (n) => `{"name":"get","arguments":${'['.repeat(n)}`,
    'tool tags': (n) => '<tool_call>{"name":"get"}</tool_call>'.repeat(n / 37),
    'broken tool tags': (n) => '<tool_call>{"nam'.repeat(n / 16),
    'close tags inside a value': (n) => `<function=get><parameter=a>${'</parameter>'.repeat(n / 12)}`,
    'thinking in many lines': (n) => 'a\n<think>b</think>\n'.repeat(n / 19),
    'thinking in lines that are indented': (n) => 'a\n  <think>b</think>  \n'.repeat(n / 23),
    'thinking in a line that never closes': (n) => `a\n<think>${'</thin\n'.repeat(n / 7)}`,
    'thinking tags in lines that are none': (n) => '\n<thin'.repeat(n / 6),
    mentions: (n) => `x${'<think>'.repeat(n / 7)}`,
    'close tags that nothing opened': (n) => `x\n${'</think>\n'.repeat(n / 9)}`,
    'argument pairs': (n) => `<tool_call>get\n${'<arg_key>'.repeat(n / 9)}</tool_call>`,
    'list markers': (n) => '- 1. '.repeat(n / 5),
    ticks: (n) => '`'.repeat(n),
    'tick runs': (n) => '` `` ``` '.repeat(n / 9),
    channels: (n) => '<|channel|>final<|message|>a<|end|>'.repeat(n / 35),
    'tags in the arguments of a call in a channel': (n) =>
      `<|channel|>commentary to=get<|message|>{${'<|constrain|>'.repeat(n / 13)}`,
    'tags in the strings of a call in a channel': (n) =>
      `<|channel|>commentary to=get<|message|>{"a":"${'}<|constrain|>'.repeat(n / 14)}`,
    'calls in channels whose strings never end': (n) =>
      '<|channel|>commentary to=get<|message|>{"a":"x}<|call|>'.repeat(n / 54),
    'long strings that never end': (n) =>
      `<|channel|>commentary to=get<|message|>{"a":"${'x'.repeat(n / 20)}}`.repeat(20),
    'mentions of calls in a line': (n) => `(${'x <function=get></function> '.repeat(n / 28)}`,
    'sections in a value': (n) => `<invoke name="get"><parameter name="a">${'<![CDATA[]]>'.repeat(n / 12)}`,
    'a section that never ends': (n) =>
      `<function name="get"><param name="a"><![CDATA[${']]</param>'.repeat(n / 10)}`,
    'blank lines': (n) => '\n'.repeat(n),
    brackets: (n) => '['.repeat(n),
    'prefixes that are none': (n) => ']<]minimax'.repeat(n / 10),
    'marks in marks': (n) => '<tool_call>'.repeat(n / 11),
    'mentions of a tag': (n) => '<tool_call>x '.repeat(n / 13),
    'names in tags': (n) => '<tool_call>get '.repeat(n / 15),
    'parameters that never close': (n) => '<function=get><parameter=a>1</function>x'.repeat(n / 40),
    'values in doubt': (n) => '<function=get><parameter=a>1</parameter>x'.repeat(n / 41),
    'a value in doubt': (n) => `<function=get><parameter=a>${'</function>x'.repeat(n / 12)}`,
    'calls in a value': (n) => `<function=get><parameter=a>${'<function=get>'.repeat(n / 14)}`,
    'quotes in a string': (n) => `<tool_call>{"name":"get","arguments":{"a":"${'" x'.repeat(n / 3)}`,
    'close tags in a string': (n) =>
      `<tool_call>{"name":"get","arguments":{"a":"${'</tool_call>'.repeat(n / 12)}`,
    'many strings after a close tag': (n) =>
      `<tool_call>{"name":"get","arguments":{"a":[${'"</tool_call>",'.repeat(n / 15)}`,
    'many arguments': (n) =>
      `<tool_call>get\n${'<arg_key>a</arg_key><arg_value>1</arg_value>'.repeat(n / 44)}`,
    'elements in a value': (n) => `<invoke name="get"><a>${']<]minimax[>[<a>'.repeat(n / 16)}`,
    'nested objects': (n) => '{"function":'.repeat(n / 12),
    'objects at the beginnings of lines': (n) => 'x\n{"name":"get"}\n'.repeat(n / 17),
    'doubled braces': (n) => `<tool_call>${'{{'.repeat(n / 2)}`,
    'names of tools': (n) => `get_${'weather'.repeat(n / 7)}`,
    'thinking with tags': (n) => `<think>${'<tool_call>{"name":"get"}</tool_call>'.repeat(n / 37)}`,
    'thinking with brackets': (n) => `[THINK]${'[/THIN'.repeat(n / 6)}`,
    'end tokens': (n) => 'x<|im_end|> '.repeat(n / 12),
    'fences in a tag': (n) => `<tool_call>${'```json\n'.repeat(n / 8)}`,
  };
  for (const [name, make] of Object.entries(inputs)) {
    const steps = (length: number, sizes: readonly number[]) => {
      const profile = name.startsWith('thinking') ? thinkingProfile : defaultProfile;
      const blocks = [...sent.blocks, '<context>'.repeat(length / 100)];
      const parser = new StreamParser({ tools, contextTags, profile, sent: { ...sent, blocks } });
      for (const chunk of cut(make(length), sizes)) parser.push(chunk);
      parser.finish();
      return parser.steps;
    };
    for (const sizes of [[1, 3, 50], [50_000]]) {
      const [small, large] = [steps(25_000, sizes), steps(50_000, sizes)];
      t.ok(large / small <= 2.2, `${name}: ${small} -> ${large} steps`);
      t.ok(large <= 50_000 * 40, `${name}: ${large} steps for 50,000 characters`);
    }
  }
});

t.test('prose streams at once', async (t) => {
  const parser = new StreamParser({ tools, contextTags, sent });
  for (const chunk of ['Hello ', 'there, ', 'a < b ', 'and `x', '` and\n', 'more']) {
    t.strictSame(parser.push(chunk), [{ type: 'text', text: chunk }]);
  }
  t.strictSame(parser.finish(), []);
});

t.test('thinking quotes come out as they went in', async (t) => {
  const part = fc.record({
    isThinking: fc.boolean(),
    text: fc.oneof(fc.string(), fc.constantFrom('a\n\nb', '> q', '\n', 'x\r\ny', '</details>')),
  });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const quote = new ThinkingQuote();
      const whole =
        parts
          .map(({ isThinking, text: own }) => (isThinking ? quote.thinking(own) : quote.text(own)))
          .join('') + quote.finish();
      const own = parts.filter(({ isThinking }) => !isThinking).map((one) => one.text);
      const stripped = stripThinkingQuotes(whole);
      // A quote that begins in mid-line is set off by a blank line, which stays.
      if (stripped.replaceAll('\n\n', '') !== own.join('').replaceAll('\n\n', ''))
        throw new Error(JSON.stringify([whole, stripped]));
    }),
    { numRuns: 200 },
  );
  t.pass();
});

t.test('leading blocks: what is taken and what is left are the whole', async (t) => {
  const block = fc
    .tuple(fc.constantFrom('context', 'selection', 'other'), fc.constantFrom('a', '', '<context>b</context>'))
    .map(([name, inside]) => `<${name}>${inside}</${name}>\n`);
  const begun = fc
    .tuple(fc.array(block, { maxLength: 4 }), text)
    .map(([before, after]) => before.join('') + after);
  fc.assert(
    fc.property(fc.oneof(text, begun), (whole) => {
      const { blocks, rest } = takeLeadingBlocks(whole, new Set(contextTags));
      const taken = blocks.map((block) => block.text).join('');
      if (whole.replace(/\s/g, '') !== (taken + rest).replace(/\s/g, ''))
        throw new Error(JSON.stringify({ blocks, rest }));
      if (blocks.length === 0 && rest !== whole) throw new Error('changed');
    }),
    { numRuns: 200 },
  );
  t.pass();
});
