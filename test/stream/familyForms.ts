/** A call as a test wants it. */
export interface Wanted {
  readonly name: string;
  readonly with: Readonly<Record<string, unknown>>;
}

/** How a family writes its calls; `bare` ones have nothing around them, so that nothing may follow. */
export interface FamilyForm {
  readonly family: string;
  readonly write: (calls: readonly Wanted[]) => string;
  readonly bare?: true;
  /** The close tag around all calls, or around the last one: a reply that lacks it still has whole calls. */
  readonly close?: string;
  /** What is shown of a call of a tool that was not offered, if not all of it. */
  readonly unknownText?: string;
}

type Pairs = readonly (readonly [string, unknown])[];

const json = (value: unknown): string => JSON.stringify(value);
const pairs = (call: Wanted): Pairs => Object.entries(call.with);
/** A word as the families write it whose values are bare text. */
const word = (value: unknown): string => (typeof value === 'string' ? value : json(value));
const object = (call: Wanted): string => json({ name: call.name, arguments: call.with });
const each = (calls: readonly Wanted[], write: (call: Wanted) => string, joint = '\n'): string =>
  calls.map(write).join(joint);
const python = (value: unknown): string => {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, one]) => `'${key}': ${python(one)}`)
      .join(', ')}}`;
  return json(value);
};
const pythonCall = (call: Wanted): string =>
  `${call.name}(${pairs(call)
    .map(([key, value]) => `${key}=${python(value)}`)
    .join(', ')})`;
const colonValue = (mark: string, value: unknown): string => {
  if (typeof value === 'string') return `${mark}${value}${mark}`;
  if (Array.isArray(value)) return `[${value.map((one) => colonValue(mark, one)).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, one]) => `${key}:${colonValue(mark, one)}`)
      .join(',')}}`;
  return json(value);
};
const colonCall = (mark: string, call: Wanted): string => `call:${call.name}${colonValue(mark, call.with)}`;
const xml = (call: Wanted): string =>
  `<function=${call.name}>\n${pairs(call)
    .map(([key, value]) => `<parameter=${key}>\n${word(value)}\n</parameter>\n`)
    .join('')}</function>`;
const invoke = (call: Wanted, ns = '', attributes = ''): string =>
  `<${ns}invoke name="${call.name}">\n${pairs(call)
    .map(([key, value]) => `<${ns}parameter name="${key}"${attributes}>${word(value)}</${ns}parameter>\n`)
    .join('')}</${ns}invoke>`;
const argPairs = (call: Wanted, end = '\n'): string =>
  pairs(call)
    .map(([key, value]) => `<arg_key>${key}</arg_key>${end}<arg_value>${word(value)}</arg_value>${end}`)
    .join('');
const minimax = ']<]minimax[>[';
const element = (key: string, value: unknown): string => {
  const inner = Array.isArray(value)
    ? value.map((one) => element('item', one)).join('')
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([name, one]) => element(name, one))
          .join('')
      : word(value);
  return `${minimax}<${key}>${inner}${minimax}</${key}>`;
};

/** How families write their calls, as their templates and the runners' own parsers have it. */
export const familyForms: readonly FamilyForm[] = [
  {
    family: 'qwen3, hermes, qwq',
    write: (calls) => each(calls, (call) => `<tool_call>\n${object(call)}\n</tool_call>`),
    close: '\n</tool_call>',
  },
  {
    family: 'qwen2.5-coder',
    write: (calls) => `<tools>\n${each(calls, object)}\n</tools>`,
    close: '\n</tools>',
  },
  {
    family: 'qwen2.5-coder, fenced tag',
    write: (calls) =>
      `\`\`\`xml\n${each(calls, (call) => `<tool_call>\n${object(call)}\n</tool_call>`)}\n\`\`\``,
    bare: true,
  },
  {
    family: 'qwen2.5-coder, fenced object',
    write: (calls) => `\`\`\`json\n${each(calls, object)}\n\`\`\``,
    bare: true,
  },
  {
    family: 'qwen3-coder, nemotron3, mimo, step3.5',
    write: (calls) => each(calls, (call) => `<tool_call>\n${xml(call)}\n</tool_call>`),
    close: '\n</tool_call>',
  },
  {
    family: 'seed-oss',
    write: (calls) => each(calls, (call) => `<seed:tool_call>\n${xml(call)}\n</seed:tool_call>`),
    close: '\n</seed:tool_call>',
  },
  {
    family: 'llama3.1, functions by name',
    write: (calls) => each(calls, (call) => `<function=${call.name}>${json(call.with)}</function>`, ''),
  },
  {
    family: 'llama3.2, bare objects',
    write: (calls) => each(calls, (call) => json({ name: call.name, parameters: call.with }), '; '),
    bare: true,
  },
  {
    family: 'llama3.1, python tag',
    write: (calls) =>
      `<|python_tag|>${each(calls, (call) => json({ name: call.name, parameters: call.with }), '; ')}`,
  },
  {
    family: 'llama4',
    write: (calls) => `<|python_start|>[${each(calls, pythonCall, ', ')}]<|python_end|>`,
    close: '<|python_end|>',
  },
  { family: 'llama4, bare list', write: (calls) => `[${each(calls, pythonCall, ', ')}]`, bare: true },
  { family: 'mistral, list', write: (calls) => `[TOOL_CALLS][${each(calls, object, ', ')}]` },
  {
    family: 'devstral, ministral',
    write: (calls) => each(calls, (call) => `[TOOL_CALLS]${call.name}[ARGS]${json(call.with)}`, ''),
  },
  {
    family: 'magistral, with an id',
    write: (calls) =>
      each(calls, (call) => `[TOOL_CALLS]${call.name}[CALL_ID]a1b2c3d4e[ARGS]${json(call.with)}`, ''),
  },
  {
    family: 'mistral, name and object',
    write: (calls) => each(calls, (call) => `[TOOL_CALLS]${call.name}${json(call.with)}`, ''),
  },
  {
    family: 'gemma4',
    write: (calls) => each(calls, (call) => `<|tool_call>${colonCall('<|"|>', call)}<tool_call|>`, ''),
    close: '<tool_call|>',
  },
  {
    family: 'functiongemma',
    write: (calls) =>
      each(calls, (call) => `<start_function_call>${colonCall('<escape>', call)}<end_function_call>`, ''),
    close: '<end_function_call>',
  },
  {
    family: 'deepseek-r1, v3',
    write: (calls) =>
      `<｜tool▁calls▁begin｜>${each(
        calls,
        (call) =>
          `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${json(call.with)}\n\`\`\`<｜tool▁call▁end｜>`,
      )}<｜tool▁calls▁end｜>`,
    close: '<｜tool▁calls▁end｜>',
  },
  {
    family: 'deepseek-v3.1',
    write: (calls) =>
      `<｜tool▁calls▁begin｜>${each(
        calls,
        (call) => `<｜tool▁call▁begin｜>${call.name}<｜tool▁sep｜>${json(call.with)}<｜tool▁call▁end｜>`,
        '',
      )}<｜tool▁calls▁end｜>`,
    close: '<｜tool▁calls▁end｜>',
  },
  {
    family: 'deepseek-v3.2, DSML',
    write: (calls) =>
      `<｜DSML｜function_calls>\n${each(calls, (call) => invoke(call, '｜DSML｜', ' string="false"'))}\n</｜DSML｜function_calls>`,
    close: '\n</｜DSML｜function_calls>',
  },
  {
    family: 'glm4.5',
    write: (calls) => each(calls, (call) => `<tool_call>${call.name}\n${argPairs(call)}</tool_call>`),
    close: '\n</tool_call>',
  },
  {
    family: 'glm4.7',
    write: (calls) => each(calls, (call) => `<tool_call>${call.name}${argPairs(call, '')}</tool_call>`, ''),
    close: '</tool_call>',
  },
  {
    family: 'hunyuan',
    write: (calls) => `<tool_calls>[${each(calls, object, ', ')}]</tool_calls>`,
    close: '</tool_calls>',
  },
  {
    family: 'hunyuan v3',
    write: (calls) =>
      `<tool_calls>\n${each(calls, (call) => `<tool_call>${call.name}<tool_sep>\n${argPairs(call)}</tool_call>`)}\n</tool_calls>`,
    close: '\n</tool_calls>',
  },
  {
    family: 'kimi-k2',
    write: (calls) =>
      `<|tool_calls_section_begin|>${calls
        .map(
          (call, index) =>
            `<|tool_call_begin|>functions.${call.name}:${index}<|tool_call_argument_begin|>${json(call.with)}<|tool_call_end|>`,
        )
        .join('')}<|tool_calls_section_end|>`,
    close: '<|tool_calls_section_end|>',
  },
  {
    family: 'kimi-k3',
    write: (calls) =>
      `<|open|>tools<|sep|>${calls
        .map(
          (call, index) =>
            `<|open|>call tool="${call.name}" index="${index}"<|sep|>${pairs(call)
              .map(
                ([key, value]) =>
                  `<|open|>argument key="${key}" type="${typeof value}"<|sep|>${word(value)}<|close|>argument<|sep|>`,
              )
              .join('')}<|close|>call<|sep|>`,
        )
        .join('')}<|close|>tools<|sep|>`,
    close: '<|close|>tools<|sep|>',
  },
  {
    family: 'olmo3',
    write: (calls) => `<function_calls>\n${each(calls, pythonCall)}\n</function_calls>`,
    close: '\n</function_calls>',
  },
  {
    family: 'lfm2',
    write: (calls) => `<|tool_call_start|>[${each(calls, pythonCall, ', ')}]<|tool_call_end|>`,
    close: '<|tool_call_end|>',
  },
  {
    family: 'minicpm3, minicpm4',
    write: (calls) =>
      `<|tool_call_start|>\n\`\`\`python\n${each(calls, pythonCall)}\n\`\`\`\n<|tool_call_end|>`,
    close: '\n<|tool_call_end|>',
  },
  {
    family: 'minicpm5',
    write: (calls) =>
      each(
        calls,
        (call) =>
          `<function name="${call.name}">${pairs(call)
            .map(([key, value]) => `<param name="${key}">${word(value)}</param>`)
            .join('')}</function>`,
      ),
  },
  { family: 'phi4-mini', write: (calls) => `functools[${each(calls, object, ', ')}]`, bare: true },
  {
    family: 'phi4-mini, tagged',
    write: (calls) => `<|tool_call|>[${each(calls, object, ', ')}]<|/tool_call|>`,
    close: '<|/tool_call|>',
  },
  { family: 'granite3', write: (calls) => `<|tool_call|>[${each(calls, object, ', ')}]` },
  { family: 'granite-20b-fc', write: (calls) => each(calls, (call) => `<function_call> ${object(call)}`) },
  {
    family: 'command-r7b, command-a',
    write: (calls) =>
      `<|START_ACTION|>[\n${calls
        .map((call, index) =>
          json({ tool_call_id: String(index), tool_name: call.name, parameters: call.with }),
        )
        .join(',\n')}\n]<|END_ACTION|>`,
    close: '<|END_ACTION|>',
  },
  {
    family: 'command-r',
    write: (calls) =>
      `Action: \`\`\`json\n[\n${each(
        calls,
        (call) => json({ tool_name: call.name, parameters: call.with }),
        ',\n',
      )}\n]\n\`\`\``,
    bare: true,
  },
  {
    family: 'apertus',
    write: (calls) =>
      `<|tools_prefix|>[${each(calls, (call) => json({ [call.name]: call.with }), ', ')}]<|tools_suffix|>`,
    close: '<|tools_suffix|>',
  },
  {
    family: 'step3',
    write: (calls) =>
      `<｜tool_calls_begin｜>${each(
        calls,
        (call) => `<｜tool_call_begin｜>function<｜tool_sep｜>${invoke(call, 'steptml:')}<｜tool_call_end｜>`,
      )}<｜tool_calls_end｜>`,
    close: '<｜tool_calls_end｜>',
  },
  {
    family: 'minimax-m1',
    write: (calls) => `<tool_calls>\n${each(calls, object)}\n</tool_calls>`,
    close: '\n</tool_calls>',
  },
  {
    family: 'minimax-m2',
    write: (calls) => `<minimax:tool_call>\n${each(calls, (call) => invoke(call))}\n</minimax:tool_call>`,
    close: '\n</minimax:tool_call>',
  },
  {
    family: 'minimax-m3',
    write: (calls) =>
      `${minimax}<tool_call>\n${each(
        calls,
        (call) =>
          `${minimax}<invoke name="${call.name}">${pairs(call)
            .map(([key, value]) => element(key, value))
            .join('')}${minimax}</invoke>`,
      )}\n${minimax}</tool_call>`,
    close: `\n${minimax}</tool_call>`,
  },
  {
    family: 'claude style, cogito distills',
    write: (calls) => `<function_calls>\n${each(calls, (call) => invoke(call))}\n</function_calls>`,
    close: '\n</function_calls>',
  },
  {
    family: 'nemotron',
    write: (calls) => `<TOOLCALL>[${each(calls, object, ', ')}]</TOOLCALL>`,
    close: '</TOOLCALL>',
  },
  {
    family: 'internlm2',
    write: (calls) =>
      each(
        calls,
        (call) =>
          `<|action_start|><|plugin|>\n${json({ name: call.name, parameters: call.with })}<|action_end|>`,
      ),
    close: '<|action_end|>',
  },
  {
    family: 'gpt-oss',
    write: (calls) =>
      each(
        calls,
        (call) =>
          `<|start|>assistant<|channel|>commentary to=functions.${call.name} <|constrain|>json<|message|>${json(call.with)}<|call|>`,
        '',
      ),
    bare: true,
    unknownText: '{"path":"/"}',
  },
  {
    family: 'longcat',
    write: (calls) => each(calls, (call) => `<longcat_tool_call>${object(call)}</longcat_tool_call>`),
    close: '</longcat_tool_call>',
  },
  {
    family: 'glimmer',
    write: (calls) =>
      `<atem:function_calls>\n${each(calls, (call) => invoke(call, 'atem:'))}\n</atem:function_calls>`,
    close: '\n</atem:function_calls>',
  },
  { family: 'antml', write: (calls) => each(calls, (call) => invoke(call, 'antml:')) },
  {
    family: 'gemma3, tool code',
    write: (calls) => `\`\`\`tool_code\n${each(calls, pythonCall)}\n\`\`\``,
    bare: true,
  },
  {
    family: 'dots',
    write: (calls) => `<dots_function_call>${each(calls, (call) => invoke(call))}</dots_function_call>`,
    close: '</dots_function_call>',
  },
  { family: 'gigachat3', write: (calls) => each(calls, (call) => `<|function_call|>${object(call)}`) },
  {
    family: 'a tag in capitals',
    write: (calls) => each(calls, (call) => `<TOOL_CALL>\n${object(call)}\n</TOOL_CALL>`),
    close: '\n</TOOL_CALL>',
  },
  {
    family: 'a name as an attribute',
    write: (calls) =>
      each(calls, (call) => `<tool_call name="${call.name}">\n${json(call.with)}\n</tool_call>`),
    close: '\n</tool_call>',
  },
  {
    family: 'parts of a call as elements',
    write: (calls) =>
      each(
        calls,
        (call) =>
          `<tool_call>\n<name>${call.name}</name>\n<parameters>${json(call.with)}</parameters>\n</tool_call>`,
      ),
    close: '\n</tool_call>',
  },
  {
    family: 'tool_use',
    write: (calls) =>
      each(
        calls,
        (call) => `<tool_use><name>${call.name}</name><input>${json(call.with)}</input></tool_use>`,
      ),
    close: '</tool_use>',
  },
  {
    family: "a tool's own name",
    write: (calls) =>
      each(
        calls,
        (call) =>
          `<${call.name}>\n${pairs(call)
            .map(([key, value]) => `<${key}>${word(value)}</${key}>\n`)
            .join('')}</${call.name}>`,
      ),
  },
];
