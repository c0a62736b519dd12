import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { families } from '../../daemon/stream/families.ts';
import { profileForModel } from '../../daemon/stream/profile.ts';
import { coerceArguments, missingArguments, RequestTools } from '../../daemon/stream/requestTools.ts';
import { createStreamParser, type StreamEvent, unknownMarks } from '../../daemon/stream/stream.ts';
import { golden } from '../support/golden.ts';
import { type FamilyForm, familyForms, type Wanted } from './familyForms.ts';
import { formatCases, type Part } from './formatCases.ts';
import { formatTools } from './formatTools.ts';
import { type OddReply, oddReplies } from './oddReplies.ts';
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
  ...formatCases.map(([family, name, reply, want, model]) => ({
    ...{ family, name, reply, want },
    ...(model === undefined ? {} : { model }),
  })),
];

function parse({ reply, model }: Row, size: number): StreamEvent[] {
  const parser = createStreamParser({
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
    const parser = createStreamParser({ tools: formatTools });
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

/** How a reply is damaged, at each of its places. */
const damages: Readonly<Record<string, (reply: string, at: number) => string>> = {
  'it ends before': (reply, at) => reply.slice(0, at),
  'it lacks': (reply, at) => reply.slice(0, at) + reply.slice(at + 1),
  'it has a quote before': (reply, at) => `${reply.slice(0, at)}"${reply.slice(at)}`,
};

function read(reply: string, model?: string): readonly StreamEvent[] {
  const parser = createStreamParser({
    tools: formatTools,
    ...(model === undefined ? {} : { profile: profileForModel(model, false) }),
  });
  return [...parser.push(reply), ...parser.finish()];
}

/** What is read, in few words: text that stands in the reply is named by its place. */
function readingOf(row: Row): string {
  const events = read(row.reply, row.model);
  const warnings = events.flatMap((event) => (event.type === 'warning' ? [`(${event.code})`] : []));
  const said = parts(events).map((part) => {
    if (typeof part !== 'string')
      return 'think' in part
        ? `thinking ${JSON.stringify(part.think)}`
        : `${part.name} ${JSON.stringify(part.with)}`;
    if (part === row.reply) return 'all as text';
    if (row.reply.endsWith(part)) return `the end: ${JSON.stringify(part.slice(0, 20))}`;
    return row.reply.startsWith(part) ? `the first ${part.length}` : JSON.stringify(part);
  });
  return [...said, ...warnings].join(' + ') || 'nothing';
}

/** Each reading, with the places in the reply where the damage leads to it. */
function readingsOf(row: Row, damage: (reply: string, at: number) => string): readonly string[] {
  const runs: { from: number; to: number; reading: string }[] = [];
  for (const at of placesIn(row.reply)) {
    const reading = readingOf({ ...row, reply: damage(row.reply, at) });
    const last = runs.at(-1);
    if (last?.reading === reading) last.to = at;
    else runs.push({ from: at, to: at, reading });
  }
  return runs.map(({ from, to, reading }) => `${from === to ? from : `${from}-${to}`}: ${reading}`);
}

/** Where a word begins or ends, and each mark between words: what is within a word is like its beginning. */
function placesIn(reply: string): readonly number[] {
  const isInWord = (at: number) => /^\p{L}{2}$/u.test(reply.slice(at - 1, at + 1));
  return Array.from({ length: reply.length }, (_, at) => at).filter((at) => !isInWord(at));
}

t.test('what is read of a reply that is damaged, or ends, at any place', async (t) => {
  const { 'it ends before': cut = (reply: string) => reply } = damages;
  // These are read as the rows that stay, only with more around the call.
  const others =
    /^(?:in |quoted|indented|cut |a tool that |odd |two calls$|a renamed tool$|a call and an end token$)/;
  const short = rows.filter(({ name, reply }) => reply.length <= 120 && !others.test(name));
  const all: Record<string, unknown> = {};
  for (const row of short) {
    const about = `${row.family}: ${row.name}`;
    if (row.name === 'a call after text')
      for (const [what, damage] of Object.entries(damages))
        all[`${about}, ${what}`] = readingsOf(row, damage);
    else all[about] = readingsOf(row, cut);
  }
  const { actual, accepted } = golden('damagedReplies.json', all);
  t.equal(actual, accepted);
});

/** All that is reported of a reply, part by part, and how many characters were visited for it. */
function reportOf({ reply, thinking = '', ended, ...about }: OddReply, size: number) {
  const { model = 'any', thinks = false, startsInThinking = false, dropContextTags = false } = about;
  const parser = createStreamParser({
    ...{ startsInThinking, dropContextTags, profile: profileForModel(model, thinks) },
    ...{
      tools: about.withoutTools ? [] : formatTools,
      contextTags: ['context'],
      sent: { blocks: ['<context>It was 11 °C.</context>'], results: ['It was 11 °C.', '11 °C'] },
    },
  });
  const events: StreamEvent[] = [];
  for (let at = 0; at < thinking.length; at += size)
    events.push(...parser.pushThinking(thinking.slice(at, at + size)));
  for (let at = 0; at < reply.length; at += size) events.push(...parser.push(reply.slice(at, at + size)));
  events.push(...parser.finish(ended));
  const parts: string[] = [];
  let last: string | undefined;
  for (const event of events) {
    if (event.type === 'warning') parts.push(`warning: ${event.code}`);
    else if (event.type === 'toolCall') {
      const { call, text, fromThinking } = event;
      const from = fromThinking ? ' from the thinking' : `: ${text}`;
      parts.push(`${call.name} ${JSON.stringify(call.arguments)}${from}`);
    } else if (event.type === last && event.type !== 'context') parts[parts.length - 1] += event.text;
    else parts.push(`${event.type}: ${event.text}`);
    last = event.type;
  }
  return { parts: parts.map(withShortRuns), visited: parser.steps };
}

/** A text in which many of the same character are a number. */
function withShortRuns(text: string): string {
  return text.replace(/(.)\1{19,}/gsu, (run, character: string) => `${character}{${run.length}}`);
}

t.test('odd replies: all that is reported of them, and how much is visited for it', async (t) => {
  const reports = oddReplies.map((odd) => {
    const whole = reportOf(odd, Number.POSITIVE_INFINITY);
    const { parts, visited } = reportOf(odd, 1);
    t.strictSame(parts, whole.parts, withShortRuns(odd.reply));
    return { ...odd, reply: withShortRuns(odd.reply), parts, visited: [whole.visited, visited] };
  });
  const { actual, accepted } = golden('oddReplies.json', reports);
  t.equal(actual, accepted);
});

t.test('what stands around a call in a line decides whether it is meant', async (t) => {
  const call = '<tool_call>{"name": "get_time", "arguments": {}}</tool_call>';
  const openers = '( [ { “ ‘ „ ‚ « ‹ » › 「 『 （ 【 ［ ｛ 《 〈 " \' ” ’ * ** _ ~ `'.split(' ');
  const before = [
    ...openers.map((opener) => `It wrote ${opener}`),
    ...openers.map((opener) => `He ${opener}said that `),
    ...[
      'I look. ',
      'I look:',
      'I look',
      'Look – ',
      'For example: ',
      'e.g. ',
      '例如：',
      '今',
      '| a | ',
      'a | ',
      '<code>',
    ],
    ...[
      'So :( ',
      '5" x ',
      "It's ",
      'Done.) ',
      'Yes! ',
      'Now… ',
      '👍 ',
      '「A」 ',
      `${call} or `,
      `"${call}" or `,
    ],
  ];
  const closers = ') ] } ” “ ’ ‘ » › « ‹ 」 』 ） 】 ］ ｝ 》 〉 " \' * _ ~'.split(' ');
  const after = [
    ...[...closers, '.', '..', ',', ';', '。', '|', '</code>', '\n', ''],
    ...[' is', ' 1', ' Is', ' –', '. Is', ' |', '今', ' "'],
  ];
  const isMeant = (begin: string, end: string) => {
    const said = parts(read(`${begin}${call}${end}`)).at(-1);
    return typeof said === 'object' || !said?.includes(call);
  };
  const meant = before.map(
    (begin) => [begin, after.filter((end) => isMeant(begin, end)).join('   ')] as const,
  );
  const { actual, accepted } = golden('callsInSentences.json', Object.fromEntries(meant));
  t.equal(actual, accepted);
});

t.test('the values of arguments, as models write them', async (t) => {
  const values = [
    ...['True', 'true', 'False', 'false', 'None', 'null', 'yes', 'NaN', 'Infinity', '-', ''],
    ...['1', '-1', '+1', '.5', '1.', '1e3', '0x10', '1_000', '01', '1 2'],
    ...[
      '"a"',
      "'a'",
      '"a\'b"',
      "'it's'",
      '"a "b" c"',
      '"""a"""',
      "'''a'''",
      '"a\nb"',
      '“a”',
      '`a`',
      'a',
      'a b',
    ],
    ...[
      '"\\n\\t\\r\\b\\f\\/\\"\\\\"',
      '"\\u0041\\x41\\q"',
      "'\\x41\\'\\\"'",
      '"C:\\dir\\"',
      '"C:\\dir\\", "b": 1',
      '"\\u00"',
    ],
    ...[
      '[]',
      '[1]',
      '[1,]',
      '[1, 2',
      '[1 2]',
      '[,]',
      '(1, 2)',
      '(1)',
      '()',
      "['a', True]",
      '[[1], {"b": [2]}]',
    ],
    ...[
      '{}',
      '{"b": 1}',
      '{"b": 1,}',
      "{'b': None}",
      '{b: 1}',
      '{"b" 1}',
      '{"b": 1, "b": 2}',
      '{{"b": 1}}',
      '{"b"}',
    ],
    ...['<|"|>a<|"|>', '<escape>a<escape>', '<escape>a<b<escape>', '<|"|>a', 'a<|"|>', '// no', '/* no */ 1'],
    ...['"</tool_call>"', '"<tool_call>"', '1, "c": {"d": "}"}', '1} ', '1}}', '1, 2'],
    ...[`"${'a'.repeat(300)}"`, '1'.repeat(256), '1'.repeat(257)],
    ...[63, 64, 65].map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  ];
  const inJson = (more: string) =>
    `<tool_call>{"name": "get_time", "arguments": {"zone": ${more}}}</tool_call>`;
  const forms: Readonly<Record<string, (value: string) => string>> = {
    json: inJson,
    python: (value) => `<|tool_call_start|>[get_time(zone=${value})]<|tool_call_end|>`,
    colon: (value) => `<|tool_call>call:get_time{zone:${value}}<tool_call|>`,
    escape: (value) => `<start_function_call>call:get_time{zone:${value}}<end_function_call>`,
    parameter: (value) =>
      `<tool_call><function=get_time>\n<parameter=zone>\n${value}\n</parameter>\n</function></tool_call>`,
    invoke: (value) =>
      `<function_calls><invoke name="get_time"><parameter name="zone">${value}</parameter></invoke></function_calls>`,
    pair: (value) => `<tool_call>get_time<arg_key>zone</arg_key><arg_value>${value}</arg_value></tool_call>`,
    name: (value) => `<function=get_time>{"zone": ${value}}</function>`,
    schema: (value) => inJson(`"a", "type": "object", "properties": ${value}`),
  };
  const shown = (text: string) => (text.length > 90 ? `${text.slice(0, 40)}… (${text.length})` : text);
  const all = Object.entries(forms).map(([form, write]) => {
    const readings = values.map((value) => {
      const reading = readingOf({ family: '', name: '', reply: write(value), want: [] });
      return [shown(value), shown(reading)];
    });
    return [form, Object.fromEntries(readings)];
  });
  const { actual, accepted } = golden('argumentValues.json', Object.fromEntries(all));
  t.equal(actual, accepted);
});

t.test('words of arguments get the types of their schema', async (t) => {
  const words = [
    ...[
      '5',
      '-5',
      '+5',
      '5.5',
      '1e3',
      '',
      ' ',
      'true',
      'TRUE',
      'False',
      'none',
      'NULL',
      'nil',
      'a',
      ' a ',
      ' 5 ',
    ],
    ...['[]', '[1, "a"]', '[1', '{"b": 1}', '{', '{"b": [1]}'],
  ];
  const types = ['null', 'boolean', 'integer', 'number', 'array', 'object', 'string'];
  const schemas: readonly unknown[] = [
    ...types.map((type) => ({ type })),
    ...[{ type: ['integer', 'null'] }, { anyOf: [{ type: 'boolean' }, { type: 'number' }] }],
    ...[{ oneOf: [{ anyOf: [{ type: 'array' }] }] }, { type: 5 }, {}, true, { anyOf: { type: 'integer' } }],
  ];
  const typed = schemas.map((schema) => {
    const of = words.flatMap((word) => {
      const { value } = coerceArguments({ value: word }, new Set(['value']), {
        properties: { value: schema },
      });
      return value === word ? [] : [[word, JSON.stringify(value)]];
    });
    return [JSON.stringify(schema), Object.fromEntries(of)];
  });
  const { actual, accepted } = golden('typedWords.json', Object.fromEntries(typed));
  t.equal(actual, accepted);

  const integer = { type: 'integer' };
  const lists = { items: integer, properties: { b: integer }, additionalProperties: { type: 'boolean' } };
  const given = { a: '1', b: ['1', 'x', { b: '2', c: 'true' }], c: { b: '1', c: 'true', d: ['1'] }, d: 5 };
  const properties = { a: integer, b: lists, c: lists, d: { type: 'string' } };
  const coerced = (schema: unknown, ...names: readonly string[]) =>
    coerceArguments(given, new Set(names), schema);
  t.strictSame(coerced({ properties }, 'a', 'b', 'c', 'd'), {
    ...{ a: 1, b: [1, 'x', { b: '2', c: 'true' }], c: { b: 1, c: true, d: ['1'] }, d: 5 },
  });
  t.strictSame(coerced({ properties: { ...properties, b: { items: lists } } }, 'b'), {
    ...given,
    b: ['1', 'x', { b: 2, c: true }],
  });
  t.strictSame(coerced({ properties }, 'a'), { ...given, a: 1 }, 'values that are no words stay');
  for (const schema of [{ properties: [] }, {}, true, { properties: {} }])
    t.strictSame(coerced(schema, 'a'), given);
  const deep = (depth: number): object => (depth === 0 ? integer : { anyOf: [deep(depth - 1)] });
  const atDepth = (depth: number) =>
    coerceArguments({ value: '5' }, new Set(['value']), { properties: { value: deep(depth) } })['value'];
  t.strictSame([atDepth(8), atDepth(9)], [5, '5']);
  t.strictSame(missingArguments({ a: 1 }, { required: ['a', 'b', 5] }), ['b']);
  for (const schema of [{ required: 'a' }, {}, true, undefined])
    t.strictSame(missingArguments({}, schema), []);
});

t.test('a tool is found by what models make of its name', async (t) => {
  const named = ['get_weather', 'read-file', 'Read File', 'look', 'LOOK', 'a.b', 'Über'];
  const tools = new RequestTools(named.map((name) => ({ name })));
  const names: Readonly<Record<string, readonly string[]>> = {
    get_weather: [
      ...[
        'get_weather',
        'get weather',
        'get-weather',
        'get__weather',
        'GET_WEATHER',
        'functions.get_weather',
      ],
      ...['function:get_weather', 'functions/get.weather', ' get_weather ', '"get_weather"', "'get_weather'"],
      ...['`get_weather`', 'function.Get Weather'],
    ],
    'read-file': ['read-file', 'read_file', 'read file'],
    'Read File': ['Read File', 'Read_File'],
    ...{ look: ['look'], LOOK: ['LOOK'], 'a.b': ['a_b', 'a b', 'A.B'], Über: ['über'] },
    undefined: ['READ_FILE', 'Look', 'ab', '', '""', 'getweather', 'get_weather2', '"get_weather\''],
  };
  for (const [want, written] of Object.entries(names))
    for (const name of written) t.equal(`${tools.find(name)?.name}`, want, name);
  const may = [
    'g',
    'get-w',
    'GET',
    'get_weather',
    'f',
    'functions.',
    'function:',
    'functions/',
    'functions.g',
  ];
  t.strictSame(
    may.filter((word) => !tools.mayBecome(word)),
    [],
  );
  t.strictSame(
    ['get_weather_', 'x', `g${'_'.repeat(256)}`].filter((word) => tools.mayBecome(word)),
    [],
  );
  const long = new RequestTools([{ name: 'a'.repeat(300) }]);
  t.strictSame(
    [256, 257].map((length) => long.mayBecome('a'.repeat(length))),
    [true, false],
  );
  t.strictSame([tools.isEmpty, new RequestTools([]).isEmpty, tools.names], [false, true, named]);
});

t.test('what the servers test is read, however it is cut', async (t) => {
  for (const [family, replies] of Object.entries(serverReplies))
    for (const { reply, text = '', thinking = '', calls = [], opened = false } of replies)
      for (const size of [reply.length, 1, 2, 3, 7]) {
        const profile = profileForModel('some-model', opened);
        const parser = createStreamParser({ tools: serverTools, startsInThinking: opened, profile });
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
