import type { Wanted } from './familyForms.ts';
import type { FormatCase } from './formatCases.ts';

const call = (name: string, given: Readonly<Record<string, unknown>>): Wanted => ({ name, with: given });
const cologne = call('get_weather', { city: 'Köln' });
const cologneForTwo = call('get_weather', { city: 'Köln', days: 2 });
const now = call('get_time', {});
const written = (content: string) => call('write_file', { path: 'a.md', content });
const json = '{"name": "get_weather", "arguments": {"city": "Köln"}}';

const text = (about: string, reply: string): FormatCase => ['invented', about, reply, [reply]];

/** Tags that models invent, what they forget, and what looks like either. */
export const inventedCases: readonly FormatCase[] = [
  ['invented', 'a tag in capitals that a lower one closes', `<TOOL_CALL>${json}</tool_call>`, [cologne]],
  ['invented', 'an attribute and no arguments', '<tool_call name="get_time"></tool_call>', [now]],
  ['invented', 'an attribute in a tag that closes itself', '<tool_call name="get_time"/>', [now]],
  ['invented', 'an invoke that closes itself', '<invoke name="get_time" />', ['<invoke name="get_time" />']],
  [
    'invented',
    'an attribute, and elements in it',
    '<tool_call name="get_weather"><city>Köln</city><days>2</days></tool_call>',
    [cologneForTwo],
  ],
  text('an attribute with a tool that was not offered', '<tool_call name="rm">{"path": "/"}</tool_call>'),
  text('an attribute that is no name', '<tool_call id="7">{"city": "Köln"}</tool_call>'),
  [
    'invented',
    'elements in the element of the arguments',
    '<tool_call>\n<name>get_weather</name>\n<arguments>\n<city>Köln</city>\n<days>2</days>\n</arguments>\n</tool_call>',
    [cologneForTwo],
  ],
  ['invented', 'a name alone', '<tool_call><name>get_time</name></tool_call>', [now]],
  ['invented', 'no arguments', '<tool_use><name>get_time</name><input></input></tool_use>', [now]],
  text(
    'an element that calls do not have',
    '<tool_call><name>get_weather</name><where>{"city": "Köln"}</where></tool_call>',
  ),
  text(
    'words after the element of the name',
    '<tool_call><name>get_weather</name> is it: <parameters>{"city": "Köln"}</parameters></tool_call>',
  ),
  text('a mention of the tag', 'The tag <tool_use> opens a call.'),
  text('the tag around other elements', '<tool_use><b>no</b></tool_use>'),
  [
    'invented',
    "a tool's own name in the tag of a call",
    '<tool_call><get_weather><city>Köln</city></get_weather></tool_call>',
    [cologne],
  ],
  [
    'invented',
    "a tool's own name around an object",
    '<get_weather>{"city": "Köln"}</get_weather>',
    [cologne],
  ],
  ['invented', "a tool's own name around nothing", '<get_time></get_time>', [now]],
  text(
    "a tool's own name around an argument it does not have",
    '<get_weather><town>Köln</town></get_weather>',
  ),
  text('a required argument is missing', '<get_weather><days>2</days></get_weather>'),
  text('a required argument is missing from nothing', '<get_weather></get_weather>'),
  text('words between the arguments', '<get_weather><city>Köln</city> for <days>2</days></get_weather>'),
  text("a tool's own name as a mention", 'Use <get_weather> for that, and </get_weather> after it.'),
  text("a tool's own name that does not end", '<get_weather>\n<city>Köln</city>\n'),
  text("a tool's own name in prose with elements", 'So: <get_weather>city</get_weather> is it.'),
  [
    'invented',
    'three quotes in Python',
    '<tool_call>write_file(path="a.md", content="""One\n"Two"\n""")</tool_call>',
    [written('One\n"Two"\n')],
  ],
  [
    'invented',
    'three quotes in a list, with an escape and a quote at the end',
    "[write_file(path='a.md', content='''It\\'s\n'One' ''')]",
    [written("It's\n'One' ")],
  ],
  ['invented', 'an empty string in Python', '[write_file(path="a.md", content="")]', [written('')]],
  [
    'invented',
    'the last line end of a value that is written as it is',
    '<invoke name="write_file"><parameter name="path">a.md</parameter><parameter name="content">One\nTwo\n</parameter></invoke>',
    [written('One\nTwo\n')],
  ],
  [
    'invented',
    'a value that is written as it is, with line breaks around it',
    '<invoke name="write_file"><parameter name="path">\na.md\n</parameter><parameter name="content">\nOne\n\n</parameter></invoke>',
    [written('One\n')],
  ],
  text(
    'words between pairs',
    '<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Köln</arg_value>\nand then\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>',
  ),
  text(
    'an element without a name between pairs',
    '<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Köln</arg_value>\n<>\n</tool_call>',
  ),
  text(
    'words between parameters',
    '<function=get_weather>\n<parameter=city>\nKöln\n</parameter>\nfor\n<parameter=days>\n2\n</parameter>\n</function>',
  ),
  [
    'invented',
    'a call within thinking that never ends',
    `<think>I look.\n<tool_call>${json}</tool_call>\nThen I answer.`,
    [{ think: `I look.\n<tool_call>${json}</tool_call>\nThen I answer.` }, cologne],
  ],
  [
    'invented',
    'a call within thinking that ends',
    `<think>I look.\n<tool_call>${json}</tool_call>\nThen I answer.</think>`,
    [{ think: `I look.\n<tool_call>${json}</tool_call>\nThen I answer.` }],
  ],
  [
    'invented',
    'a brace too few',
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Köln"}\n</tool_call>\nDone.',
    [cologne, '\nDone.'],
  ],
  text(
    'a brace too few, and another tag',
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Köln"}<b>',
  ),
  text('two braces too few', '<tool_call>{"name": "get_weather", "arguments": {"city": "Köln"</tool_call>'),
  ['invented', 'a call without arguments', '<tool_call>{"name": "get_time"}</tool_call>', [now]],
  ['invented', 'a close tag that is cut off', `<tool_call>${json}</tool_c`, [cologne]],
  ['invented', 'a close tag of which little is there', `<tool_call>${json}\n</`, [cologne]],
  [
    'invented',
    'a close tag of an element that is cut off',
    '<function=get_weather>\n<parameter=city>\nKöln\n</parameter>\n</functi',
    [cologne],
  ],
  [
    'invented',
    'a close tag around an element that is cut off',
    '<tool_call>\n<function=get_weather>\n<parameter=city>\nKöln\n</parameter>\n</function>\n</tool_',
    [cologne],
  ],
];
