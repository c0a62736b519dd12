/** What a reply of a server says: text, thinking, and calls in their order. Text and thinking are compared trimmed. */
export interface ServerReply {
  readonly reply: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly (readonly [name: string, given: Readonly<Record<string, unknown>>])[];
  /** The template has opened thinking. */
  readonly opened?: true;
}

const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const string = { type: 'string' };

/** The tools that the replies were offered. */
export const serverTools = [
  {
    name: 'next_train',
    inputSchema: object(
      {
        station: string,
        platform: { type: 'integer' },
        express: { type: 'boolean' },
        stops: { type: 'array' },
      },
      ['station'],
    ),
  },
  { name: 'ping', inputSchema: object({}) },
  { name: 'muse.shell', inputSchema: object({ command: string }, ['command']) },
].map((tool) => ({ ...tool, description: 'd' }));

const bern = ['next_train', { station: 'Bern' }] as const;
const typed = ['next_train', { station: 'Bern', platform: 7, express: true }] as const;
const ping = ['ping', {}] as const;
const json = '{"name": "next_train", "arguments": {"station": "Bern"}}';
const squared = { thinking: 'Three squared.', text: 'It is 9.' } as const;

const invoke = (open: string, close: string, [name, given]: typeof bern | typeof typed | typeof ping) =>
  `${open}invoke name="${name}">\n${Object.entries(given)
    .map(
      ([key, value]) =>
        `${open}parameter name="${key}" string="${typeof value === 'string'}">${value}${close}parameter>\n`,
    )
    .join('')}${close}invoke>`;
const block = (bars: string, name: string, ...calls: readonly (typeof bern | typeof typed | typeof ping)[]) =>
  `<${bars}${name}>\n${calls.map((call) => invoke(`<${bars}`, `</${bars}`, call)).join('\n')}\n</${bars}${name}>`;
const atem = (name: string, parameters = '<atem:parameter name="station">Bern</atem:parameter>\n') =>
  `<atem:function_calls>\n<atem:invoke name="${name}">\n${parameters}</atem:invoke>\n</atem:function_calls>`;
const shell = ['muse.shell', { command: 'date && df -h' }] as const;
const atemShell = atem('muse.shell', '<atem:parameter name="command">date && df -h</atem:parameter>\n');
const glm = (pairs: readonly (readonly [string, unknown])[], end = '', line = '\n') =>
  pairs
    .map(
      ([key, value]) =>
        `<arg_key${end}>${key}</arg_key${end}>${line}<arg_value${end}>${value}</arg_value${end}>${line}`,
    )
    .join('');
const station = [['station', 'Bern']] as const;
const allOf = [...station, ['platform', 7], ['express', true]] as const;
const solar = (name: string, pairs: readonly (readonly [string, unknown])[]) =>
  `<|tool_call:start|>${name}\n${pairs
    .map(([key, value]) => `<|tool_arg:start|>${key}<|tool_arg:value|>${value}<|tool_arg:end|>\n`)
    .join('')}<|tool_call:end|>`;
const plamo = (name: string, given: string) =>
  `<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>${name}<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>${given}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>`;
const ifm = (name: string, pairs: readonly (readonly [string, unknown])[], type = '') =>
  `<ifm|tool_call>${name}\n${pairs
    .map(
      ([key, value]) =>
        `<ifm|arg_key>${key}</ifm|arg_key>\n${type && `<ifm|arg_type>${type}</ifm|arg_type>\n`}<ifm|arg_value>${value}</ifm|arg_value>\n`,
    )
    .join('')}</ifm|tool_call>`;
const inkling = (name: string, args: string) =>
  `${name}<|content_invoke_tool_json|>{"name": "${name}", "args": ${args}}<|end_message|>`;

/** The forms of the servers' own tests, by the family, with values of our own. */
export const serverReplies: Readonly<Record<string, readonly ServerReply[]>> = {
  'glimmer (ollama glimmer_test.go)': [
    { reply: ' to=user<|message|>It is 9.', text: 'It is 9.' },
    { reply: ' to=self<|message|>Three squared.', thinking: 'Three squared.' },
    {
      reply: ' to=self<|message|>Three squared.<|eom|><|start|>assistant to=user<|message|>It is 9.<|eot|>',
      ...squared,
    },
    { reply: ` to=next_train<|message|>${atem('next_train')}<|eot|>`, calls: [bern] },
    {
      reply: ` to=next_train<|message|>${atem('next_train', '<atem:parameter name="station">Bern</atem:parameter>\n<atem:parameter name="platform">7</atem:parameter>\n<atem:parameter name="express">true</atem:parameter>\n<atem:parameter name="stops">["Thun", "Visp"]</atem:parameter>\n')}`,
      calls: [['next_train', { station: 'Bern', platform: 7, express: true, stops: ['Thun', 'Visp'] }]],
    },
    {
      reply: ` to=next_train<|message|>${atem('next_train', '<atem:parameter name="station">literal <|eot|> and <|start|>assistant to=user<|message|> text</atem:parameter>\n')}<|eot|>`,
      calls: [['next_train', { station: 'literal <|eot|> and <|start|>assistant to=user<|message|> text' }]],
    },
    {
      reply: ` to=self<|message|>I ask.<|eom|><|start|>assistant to=next_train<|message|>${atem('next_train')}<|eom|><|start|>assistant to=ping<|message|>${atem('ping', '')}<|eot|>`,
      thinking: 'I ask.',
      calls: [bern, ping],
    },
    { reply: ` to=next_train<|message|>${atem('next_train<|message|>')}<|eot|>`, calls: [bern] },
    { reply: ` to=next_train<|message|>${atem('next_train.next_train')}<|eot|>`, calls: [bern] },
    { reply: ` to=next_train.next_train<|message|>${atem('next_train')}<|eot|>`, calls: [bern] },
    { reply: ` to=muse<|message|>${atemShell}<|eom|>`, calls: [shell] },
    { reply: `<|message|>${atemShell}<|eom|>`, calls: [shell] },
    { reply: ` to=user<|message|>${atemShell}<|eot|>`, calls: [shell] },
    { reply: ` to=atem:function_calls<|message|>${atemShell}<|eom|>`, calls: [shell] },
    {
      reply: ` to=self<|message|>I look.<|eom|><|start|>assistant<|message|>${atemShell}<|eom|>`,
      thinking: 'I look.',
      calls: [shell],
    },
    {
      reply: `<|message|>${atemShell}<|start|>assistant to=user<|message|>Done.<|eot|>`,
      text: 'Done.',
      calls: [shell],
    },
    { reply: ` to=user<|message|>${atem('other.run', '')}<|eot|>`, text: atem('other.run', '') },
    { reply: `<|start|>assistant to=next_train<|message|>${atem('next_train')}<|eot|>`, calls: [bern] },
    { reply: 'to=5 is what I meant.', text: 'to=5 is what I meant.' },
    {
      reply: ' to=functions.next_train<|channel|>commentary json<|message|>{"station": "Bern"}<|call|>',
      calls: [bern],
    },
  ],
  'deepseek-v4, v4.1 (sglang deepseekv41_detector.py, vllm deepseek_v41.py)': [
    ...[
      ...['｜DSML｜', '｜DSML｜ ', '|DSML|', '|DSML| ', ' | DSML | ', ' ｜ DSML ｜ ', '||DSML||', 'DSML'],
      '｜GCML｜',
    ].flatMap((bars) => [
      ...['tool_calls', 'function_calls', 'calls'].map((name) => ({
        ...{ reply: block(bars, name, bern), calls: [bern] },
      })),
      {
        reply: `I ask.\n\n${block(bars, 'tool_calls', typed, ping)}`,
        ...{ text: 'I ask.', calls: [typed, ping] },
      },
    ]),
    { reply: block('｜DSML｜ ', 'calls', bern), calls: [bern] },
    { reply: `I ask.\n\n${block('｜DSML｜ ', 'calls', bern, ping)}`, text: 'I ask.', calls: [bern, ping] },
    {
      reply: `<think>I ask.</think>\n\n${block('｜DSML｜ ', 'calls', typed)}`,
      thinking: 'I ask.',
      calls: [typed],
    },
    {
      reply:
        '<｜DSML｜ calls>\n<｜DSML｜ invoke name="next_train">{"station": "Bern"}</｜DSML｜ invoke>\n</｜DSML｜ calls>',
      calls: [bern],
    },
  ],
  'gigachat3.5 (sglang gigachat35_detector.py)': [
    { reply: 'It is 9.<|message_sep|>', text: 'It is 9.' },
    { reply: 'It is 9.<|message_sep|></s>', text: 'It is 9.' },
    { reply: block('｜GCML｜', 'tool_calls', bern), calls: [bern] },
    {
      reply: `I ask.\n${block('｜GCML｜', 'tool_calls', typed, ping)}<|message_sep|>`,
      text: 'I ask.',
      calls: [typed, ping],
    },
  ],
  'hunyuan 3, 4 (vllm hy_v4_tool_parser.py, mlx-lm hy_v3.py)': [':6124c78e', ''].flatMap((end) => [
    {
      reply: `<tool_calls${end}><tool_call${end}>next_train${glm(station, end, '')}</tool_call${end}></tool_calls${end}>`,
      calls: [bern],
    },
    {
      reply: `<think${end}>I ask.</think${end}>\n<tool_calls${end}>\n<tool_call${end}>next_train<tool_sep${end}>\n${glm(allOf, end)}</tool_call${end}>\n<tool_call${end}>ping<tool_sep${end}>\n</tool_call${end}>\n</tool_calls${end}>`,
      thinking: 'I ask.',
      calls: [typed, ping],
    },
    {
      reply: `I ask.\n<tool_call${end}>next_train${glm(station, end, '')}</tool_call${end}>`,
      text: 'I ask.',
      calls: [bern],
    },
    { reply: `<think${end}>Three squared.</think${end}>It is 9.`, ...squared },
    { reply: `Three squared.</think${end}>It is 9.`, ...squared, opened: true },
  ]),
  'k2 horizon (sglang k2_v3_detector.py)': [
    ...['think', 'think_fast', 'think_faster'].map((name) => ({
      ...{ reply: `<ifm|${name}>Three squared.</ifm|${name}>\nIt is 9.`, ...squared },
    })),
    { reply: `<ifm|tool_calls>\n${ifm('next_train', station)}\n</ifm|tool_calls>`, calls: [bern] },
    {
      reply: `I ask.\n<ifm|tool_calls>\n${ifm('next_train', allOf)}\n${ifm('ping', [])}\n</ifm|tool_calls>`,
      text: 'I ask.',
      calls: [typed, ping],
    },
    { reply: `<ifm|tool_calls>\n${ifm('next_train', station, 'string')}\n</ifm|tool_calls>`, calls: [bern] },
    { reply: `<ifm|tool_call>${json}</ifm|tool_call>`, calls: [bern] },
    { reply: `<ifm|tool_call>[${json}]</ifm|tool_call>`, calls: [bern] },
    { reply: 'Three squared.</ifm|think>\nIt is 9.', ...squared, opened: true },
  ],
  'inkling (sglang inkling_detector.py, llama.cpp inkling.cpp)': [
    {
      reply:
        '<|content_thinking|>Three squared.<|end_message|><|message_model|><|content_text|>It is 9.<|end_message|><|content_model_end_sampling|>',
      ...squared,
    },
    { reply: '<|content_text|>It is 9.<|end_message|>', text: 'It is 9.' },
    {
      reply:
        '<|message_model|><|content_thinking|>Three squared.<|end_message|><|message_model|><|content_text|>It is 9.<|end_message|>',
      ...squared,
    },
    {
      reply: '<|message_model|><|content_text|>It is 9.<|end_message|><|content_model_end_sampling|>',
      text: 'It is 9.',
    },
    {
      reply: `<|message_model|>${inkling('next_train', '{"station": "Bern"}')}<|content_model_end_sampling|>`,
      calls: [bern],
    },
    { reply: inkling('next_train', '{"station": "Bern"}'), calls: [bern] },
    {
      reply: `<|content_thinking|>I ask.<|end_message|><|message_model|>${inkling('next_train', '{"station": "Bern"}')}<|message_model|>${inkling('ping', '{}')}<|content_model_end_sampling|>`,
      thinking: 'I ask.',
      calls: [bern, ping],
    },
    {
      reply: `<|content_text|>I ask.<|end_message|><|message_model|>${inkling('ping', '{}')}<|content_model_end_sampling|>`,
      text: 'I ask.',
      calls: [ping],
    },
    {
      reply: 'Three squared.<|end_message|><|message_model|><|content_text|>It is 9.<|end_message|>',
      ...squared,
      opened: true,
    },
  ],
  'solar open 2 (vllm solar_open2_tool_parser.py)': [
    { reply: '<|think:start|>Three squared.<|think:end|>It is 9.', ...squared },
    { reply: 'Three squared.<|think:end|>It is 9.', ...squared, opened: true },
    { reply: solar('next_train', station), calls: [bern] },
    {
      reply: `I ask.\n${solar('next_train', allOf)}\n${solar('ping', [])}`,
      text: 'I ask.',
      calls: [typed, ping],
    },
    {
      reply: `<|think:start|>I ask.<|think:end|>${solar('next_train', station)}`,
      thinking: 'I ask.',
      calls: [bern],
    },
  ],
  'plamo 3 (vllm plamo3_tool_parser.py)': [
    {
      reply: `<|plamo:begin_tool_requests:plamo|>${plamo('next_train', '{"station": "Bern"}')}<|plamo:end_tool_requests:plamo|><|plamo:tag|>`,
      calls: [bern],
    },
    {
      reply: `I ask.<|plamo:begin_tool_requests:plamo|>${plamo('next_train', '{"station": "Bern"}')}${plamo('ping', '{}')}<|plamo:end_tool_requests:plamo|><|plamo:tag|>`,
      text: 'I ask.',
      calls: [bern, ping],
    },
    { reply: 'It is 9.<|plamo:tag|>', text: 'It is 9.' },
  ],
  'iquest coder 2 (vllm iquest_coder_v2_tool_parser.py)': [
    { reply: `<iquestcoder_tool_call>next_train\n${glm(allOf)}</iquestcoder_tool_call>`, calls: [typed] },
    {
      reply: `I ask.\n<iquestcoder_tool_call>next_train\n${glm(station)}</iquestcoder_tool_call>\n<iquestcoder_tool_call>ping</iquestcoder_tool_call>`,
      text: 'I ask.',
      calls: [bern, ping],
    },
  ],
  'laguna (ollama laguna_test.go)': [
    { reply: `<tool_call>next_train\n${glm(allOf)}</tool_call>`, calls: [typed] },
    { reply: json, calls: [bern] },
    { reply: '<tool_call>next_train\n{"station":"Bern"}</tool_call>', calls: [bern] },
    {
      reply:
        '<tool_call>next_train\n{"station":"Bern"}\n<tool_call>next_train\n{"station":"Bern"}</tool_call>',
      calls: [bern],
    },
    { reply: `<user>next_train\n${glm(station)}</user>`, calls: [bern] },
    { reply: `I ask.\n<user>next_train\n${glm(station)}</user>`, text: 'I ask.', calls: [bern] },
    { reply: `I ask.<user>\n${json}\n</user>`, text: 'I ask.', calls: [bern] },
    { reply: '<user>hello</user>', text: '<user>hello</user>' },
    { reply: '<user>ping</user>', text: '<user>ping</user>' },
    {
      reply: 'git clone git@host:<user>/<repo>.git\nThen build.',
      text: 'git clone git@host:<user>/<repo>.git\nThen build.',
    },
  ],
  'thinking that the template has opened': [
    { reply: 'Three squared.<|END_THINKING|><|START_TEXT|>It is 9.<|END_TEXT|>', ...squared, opened: true },
    {
      reply:
        'Three squared.<|close|>think<|sep|><|open|>response<|sep|>It is 9.<|close|>response<|sep|><|close|>message<|sep|>',
      ...squared,
      opened: true,
    },
    { reply: 'Ask.[/THINK][TOOL_CALLS]ping[ARGS]{}', thinking: 'Ask.', calls: [ping], opened: true },
    { reply: 'Three squared.</mm:think>It is 9.', ...squared, opened: true },
    { reply: 'Three squared.<|inner_suffix|>It is 9.', ...squared, opened: true },
    { reply: 'Three squared.◁/think▷It is 9.', ...squared, opened: true },
    {
      reply: 'Three squared.<|END_THINKING|><|START_TEXT|>It is 9.<|END_TEXT|>',
      text: 'Three squared.It is 9.',
    },
    { reply: 'Three squared.[/THINK]It is 9.', text: 'Three squared.It is 9.' },
    { reply: 'Write [/THINK] at the end.', text: 'Write [/THINK] at the end.' },
  ],
  'documents that hold the name of a tool': [
    '<api>\n  <function name="ping"></function>\n</api>',
    '<?xml version="1.0"?>\n<function name="ping"/>',
    '<?xml version="1.0"?>\n<function name="ping">\n</function>',
    '<project>\n  <target>\n    <invoke name="ping"></invoke>\n  </target>\n</project>',
    '<target name="a">\n  <invoke name="ping">\n  </invoke>\n</target>',
    '<config>\n  <tool_call>ping</tool_call>\n</config>',
    `<config>\n  <tool_call>${json}</tool_call>\n</config>`,
    `-<tool_call>${json}</tool_call>\n`,
    `Change it to\n+ <tool_call>${json}</tool_call>\n+ end`,
    `- <tool_call>${json}</tool_call>\n- done`,
    `1. <function=ping></function>\n2. done`,
    '<function name="ping"/>',
    `example: |\n  <tool_call>${json}</tool_call>\nnext: 1`,
    `prompt = """\n<tool_call>${json}</tool_call>\n"""`,
    `Example:\n\nUser: ping it\nAssistant:\n<tool_call>${json}</tool_call>\n\nUser: thanks`,
  ].map((reply) => ({ reply, text: reply })),
  'ends of a turn': [
    ...['<|im_end|>', '<|role_end|>', '<eos>', '<|message_sep|>', '[EOS]', '<|plamo:tag|>', '</s>'],
    ...['<|im_end|><|endoftext|>', '<|eot|>', '<|eom|>', '<|content_model_end_sampling|>', '<|im_end|>\n'],
  ]
    .map((end): ServerReply => ({ reply: `It is 9.${end}`, text: 'It is 9.' }))
    .concat([
      { reply: '<tool_call id="call_1">{"name": "ping", "arguments": {}}</tool_call>', calls: [ping] },
      { reply: `<tool_call>next_train\\n${glm(station)}</tool_call>`, calls: [bern] },
      { reply: 'The token <|im_end|> ends a turn.', text: 'The token <|im_end|> ends a turn.' },
    ]),
};
