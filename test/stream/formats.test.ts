import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { families } from '../../daemon/stream/families.ts';
import { profileForModel } from '../../daemon/stream/profile.ts';
import { type StreamEvent, StreamParser, unknownMarks } from '../../daemon/stream/stream.ts';
import { type FamilyForm, familyForms, type Wanted } from './familyForms.ts';
import { formatCases, type Part } from './formatCases.ts';
import { formatTools } from './formatTools.ts';
import { serverReplies, serverTools } from './serverReplies.ts';

/**
 * What models write: each family's form in each situation, and replies that are broken in the ways that were met.
 * A row is read whole, a character at a time and in small pieces, with the same result, and nothing of it is lost.
 */
interface Row {
  readonly family: string;
  readonly name: string;
  readonly reply: string;
  readonly want: readonly Part[];
  readonly model?: string;
}

const cologne: Wanted = { name: 'get_weather', with: { city: 'Köln' } };
const now: Wanted = { name: 'get_time', with: {} };
const odd: Wanted = {
  name: 'write_file',
  with: { path: 'ä/日本 𝄞.md', content: 'say "hi", {x: [1]}\nand \\ it\'s < 3 & more' },
};
const typed: Wanted = {
  name: 'get_weather',
  with: { city: 'Köln', days: -2, hot: true, ratio: 0.5, tags: ['a', 'b'], more: { deep: { n: '1' } } },
};
const renamed: Wanted = { name: 'get_current_time', with: {} };
const renamedWant: Wanted = { name: 'get-current-time', with: {} };
const unknown: Wanted = { name: 'remove_all', with: { path: '/' } };

/** Each form in each situation; nothing may follow a bare call, and nothing but blanks may stand before it. */
function rowsOf({ family, write, bare, close, unknownText }: FamilyForm): Row[] {
  const one = write([cologne]);
  const rows: [string, string, Part[], boolean][] = [
    ['a call', one, [cologne], true],
    ['a call after blanks, and blanks after it', `\n\n${one}\n`, [cologne], true],
    ['two calls', write([cologne, now]), [cologne, now], true],
    ['after thinking', `<think>hm</think>\n\n${one}`, [{ think: 'hm' }, cologne], true],
    ['odd characters', write([odd]), [odd], true],
    ['types', write([typed]), [typed], true],
    ['no arguments', write([now]), [now], true],
    ['a renamed tool', write([renamed]), [renamedWant], true],
    ['a tool that was not offered', write([unknown]), [unknownText ?? write([unknown])], true],
    ['a call after text', `I look.\n\n${one}`, ['I look.\n\n', cologne], !bare],
    ['a call and an end token', `${one}<|im_end|>`, [cologne], family !== 'gpt-oss'],
    ['a call, and text after it', `${one}\nDone.`, [cologne, '\nDone.'], !bare],
    ['in a fence', `So:\n\`\`\`\`\n${one}\n\`\`\`\`\nYes.`, [`So:\n\`\`\`\`\n${one}\n\`\`\`\`\nYes.`], true],
    [
      'in ticks',
      `So \`\`\`\`${one.replaceAll('\n', ' ')}\`\`\`\` is it.`,
      [`So \`\`\`\`${one.replaceAll('\n', ' ')}\`\`\`\` is it.`],
      true,
    ],
    [
      'quoted',
      `So:\n> ${one.replaceAll('\n', '\n> ')}\nYes.`,
      [`So:\n> ${one.replaceAll('\n', '\n> ')}\nYes.`],
      true,
    ],
    ['in quotes', `It wrote "${one}" there.`, [`It wrote "${one}" there.`], true],
    [
      'indented code',
      `So:\n\n    ${one.replaceAll('\n', '\n    ')}\n\nYes.`,
      [`So:\n\n    ${one.replaceAll('\n', '\n    ')}\n\nYes.`],
      true,
    ],
    [
      'cut in its arguments',
      one.slice(0, one.indexOf('Köln') + 2),
      [one.slice(0, one.indexOf('Köln') + 2)],
      true,
    ],
    [
      'without its close tag',
      one.slice(0, one.length - (close ?? '').length),
      [cologne],
      close !== undefined,
    ],
  ];
  return rows
    .filter(([, , , applies]) => applies)
    .map(([name, reply, want]) => ({ family, name, reply, want }));
}

const rows: readonly Row[] = [
  ...familyForms.flatMap(rowsOf),
  ...formatCases.map(({ about, ...row }) => ({ want: [row.reply], ...row, name: about })),
];

function parse({ reply, model }: Row, size: number): StreamEvent[] {
  const parser = new StreamParser({
    tools: formatTools,
    contextTags: ['context'],
    sent: { blocks: ['<context>It was 11 °C.</context>'], results: ['It was 11 °C.', '11 °C'] },
    ...(model === undefined ? {} : { profile: profileForModel(model, false) }),
  });
  const events: StreamEvent[] = [];
  for (let at = 0; at < reply.length; at += size) events.push(...parser.push(reply.slice(at, at + size)));
  return [...events, ...parser.finish()];
}

function parts(events: readonly StreamEvent[]): Part[] {
  const said: Part[] = [];
  for (const event of events) {
    const last = said.at(-1);
    if (event.type === 'text' && typeof last === 'string') said[said.length - 1] = last + event.text;
    else if (event.type === 'text') said.push(event.text);
    else if (event.type === 'thinking' && typeof last === 'object' && 'think' in last)
      said[said.length - 1] = { think: last.think + event.text };
    else if (event.type === 'thinking') said.push({ think: event.text });
    else if (event.type === 'toolCall') said.push({ name: event.call.name, with: event.call.arguments });
  }
  return said;
}

/** What is read of a reply in another way than it is wanted, or not at all, however it is cut. */
function faultsOf(row: Row): readonly object[] {
  return [row.reply.length, 1, 2, 7].flatMap((size) => {
    const events = parse(row, size);
    const joined = events.map((event) => ('text' in event ? event.text : '')).join('');
    const got = parts(events);
    if (joined === row.reply && isDeepStrictEqual(got, row.want)) return [];
    return [{ name: row.name, size, got, want: row.want, joined, reply: row.reply }];
  });
}

for (const family of new Set(rows.map((row) => row.family))) {
  t.test(family, async (t) => {
    const own = rows.filter((row) => row.family === family);
    t.strictSame(own.flatMap(faultsOf), [], `${own.length} replies`);
  });
}

t.test('what cannot be a call any more is let go at once', async (t) => {
  const cases = [
    '{"name": "Ann", ',
    '{"name": "get_weather", "age": ',
    '{"id": 7, "title": ',
    '{"type": "object", ',
    '{"arguments": [1',
    '{"input": "words',
    '[{"name": "Ann", ',
    '```json\n{"name": "Ann", ',
    '```ts\n',
    'get_weather tells ',
    '<tool_call> is ',
    `<function=get_weather>\n<parameter=city>\nKöln\n</function>\n${'word '.repeat(1000)}`,
    `<tool_call>{"name": "get_weather", "arguments": {"city": "Köln}}</tool_call>\n${'word '.repeat(1000)}`,
  ];
  for (const begun of cases) {
    const parser = new StreamParser({ tools: formatTools });
    const told = [...begun].flatMap((character) => parser.push(character));
    t.match(parts(told).join(''), begun.trimEnd().slice(0, 60), begun.slice(0, 60));
  }
});

t.test('each row of the families says whose it is, and where its form is documented', async (t) => {
  const names = families.flatMap(({ family }) => family.split(', '));
  t.strictSame(names, [...new Set(names)], 'each family has one row');
  for (const { family, source } of families)
    t.ok(/\w/.test(family) && /\w/.test(source), `${family}: ${source}`);
});

t.test('each mark of each family is in a reply that the tables read', async (t) => {
  const isCall = (part: Part) => typeof part === 'object' && 'name' in part;
  const isThinking = (part: Part) => typeof part === 'object' && 'think' in part;
  const isAny = () => true;
  const served = Object.values(serverReplies)
    .flat()
    .map(({ reply }) => reply)
    .join('\n');
  for (const { family, calls = [], elements = [], thinkingTags = [], thinking = [], ...more } of families) {
    const { answer = [], results = [], ends = [] } = more;
    const marks: readonly (readonly [mark: string, fits: (part: Part) => boolean])[] = [
      ...[
        ...calls.map(({ open }) => open),
        ...elements.map(({ call, parameters: [first] }) => call || (first?.open ?? '')),
      ].map((mark) => [mark, isCall] as const),
      ...[...thinkingTags.map((name) => `<${name}>`), ...thinking.map(({ open }) => open)].map(
        (mark) => [mark, isThinking] as const,
      ),
      ...[...answer, ...results].map(({ open }) => [open, isAny] as const),
      ...ends.map((mark) => [mark, isAny] as const),
    ];
    for (const [mark, fits] of marks)
      t.ok(
        rows.some(({ reply, want }) => reply.includes(mark) && want.some(fits)) || served.includes(mark),
        `${family}: ${mark}`,
      );
  }
});

function read(reply: string): readonly StreamEvent[] {
  const parser = new StreamParser({ tools: formatTools });
  return [...parser.push(reply), ...parser.finish()];
}

t.test('what stands around a call in a line decides whether it is meant', async (t) => {
  const call = '<tool_call>{"name": "get_time", "arguments": {}}</tool_call>';
  for (const [begin, end, isMeant] of [
    ['I look. ', '', true],
    ['I look', '', true],
    ['Look – ', '.. and wait', true],
    ['For example: ', '', true],
    ['例如：', '', true],
    ['Done.) ', '', true],
    ['It wrote "', '"', false],
    ['It wrote “', '”', false],
    ['It wrote (', ')', false],
    ['It wrote 「', '」', false],
    ['It wrote **', '**', false],
    ['He "said that ', '" there', false],
    ['I use ', '.', false],
    ['| a | ', ' |', false],
    ['<code>', '</code>', false],
  ] as const) {
    const said = parts(read(`${begin}${call}${end}`));
    t.equal(
      said.some((part) => typeof part === 'object'),
      isMeant,
      `${begin}…${end}`,
    );
  }
});

t.test('what the servers test is read, however it is cut', async (t) => {
  for (const [family, replies] of Object.entries(serverReplies))
    for (const { reply, text = '', thinking = '', calls = [], opened = false } of replies)
      for (const size of [reply.length, 1, 2, 3, 7]) {
        const profile = profileForModel('some-model', opened);
        const parser = new StreamParser({ tools: serverTools, startsInThinking: opened, profile });
        const events: StreamEvent[] = [];
        for (let at = 0; at < reply.length; at += size)
          events.push(...parser.push(reply.slice(at, at + size)));
        events.push(...parser.finish());
        const all = (type: string) =>
          events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('');
        const found = events.flatMap((event) =>
          event.type === 'toolCall' ? [[event.call.name, event.call.arguments]] : [],
        );
        const said = [all('text').trim(), all('thinking').trim(), found];
        t.strictSame(said, [text.trim(), thinking, calls], `${family}, by ${size}: ${reply}`);
      }
});

t.test('marks of a template that no family has', (t) => {
  const template = (name: string) =>
    JSON.stringify(JSON.parse(readFileSync(`test/fixtures/recordings-openai/${name}`, 'utf8')));
  const rows: readonly (readonly [template: string, want: readonly string[]])[] = [
    [families.map((row) => JSON.stringify(row)).join('\n'), []],
    [template('096-props-thinking.json'), []],
    [
      "<tool_calls:6124c78e> <available_tools> <tool_response> <function-name-1> <|think|> '<|tool_call>'",
      [],
    ],
    ['<tool_call_id> <|tool_calls_result|> <|tool_declare|> <TOOLCALL>[ <SPECIAL_12> </TOOLCALL>', []],
    [
      '{{ "<|new_tool_call_start|>" }}{"name"}<|new_tool_call_end|>',
      ['<|new_tool_call_start|>', '<|new_tool_call_end|>'],
    ],
    [
      '<new:function_calls><a/></new:function_calls> <new:function_calls>',
      ['<new:function_calls>', '</new:function_calls>'],
    ],
  ];
  for (const [text, want] of rows) t.strictSame(unknownMarks(text), want, text.slice(0, 60));
  t.end();
});
