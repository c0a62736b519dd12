import type { ElementForm, Family } from './family.ts';

/**
 * One row for each family. The name of a model does not reliably show its family. So all rows apply to every model,
 * except rows with `models`.
 */
export const families: readonly Family[] = [
  {
    family: 'hermes, qwen, granite4, glm, exaone',
    source: 'ollama qwen3.go, glm46.go; vllm hermes_tool_parser.py',
    calls: [
      { open: '<tool_call>', close: '</tool_call>' },
      { open: '<tool_call id=', close: '</tool_call>', hasAttribute: true },
    ],
    elements: [pairForm('<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>')],
    separators: ['<tool_sep>'],
    thinkingTags: ['think', 'thinking', 'thought', 'reasoning'],
    ends: [
      ...['<|im_end|>', '<|endoftext|>', '<|user|>', '<|observation|>', '[|endofturn|]', '<|role_end|>'],
      ...['<eos>', '[EOS]'],
    ],
  },
  {
    family: 'qwen3-coder, nemotron3, mimo, step3.5, llama3.1',
    source: 'ollama qwen3coder.go; llama.cpp qwen3-coder.cpp',
    elements: [
      {
        call: '<function=',
        callClose: '</function>',
        parameters: [
          { open: '<parameter=', close: '</parameter>' },
          { open: '<parameter name=', close: '</parameter>' },
        ],
        tagEnd: '>',
      },
    ],
  },
  {
    family: 'minicpm5',
    source: 'vllm minicpm5xml_tool_parser.py',
    elements: [
      {
        call: '<function name=',
        callClose: '</function>',
        parameters: [
          { open: '<param name=', close: '</param>' },
          { open: '<parameter name=', close: '</parameter>' },
        ],
        tagEnd: '>',
        hasSections: true,
        isRaw: true,
      },
    ],
  },
  {
    family: 'minicpm3, minicpm4, lfm2',
    source: 'vllm minicpm_tool_parser.py; ollama lfm2.go',
    calls: [{ open: '<|tool_call_start|>', close: '<|tool_call_end|>' }],
    thinking: [{ open: '<|thought_start|>', close: '<|thought_end|>' }],
  },
  {
    family: 'claude style, olmo3, minimax-m1, hunyuan, qwen2.5-coder',
    source: 'ollama olmo3.go; vllm hunyuan_a13b_tool_parser.py, qwen2_5_coder_tool_parser.py',
    calls: elements('function_calls', 'function_call', 'tool_calls', 'tools'),
    elements: [invokeForm('')],
    ends: ['<|eos|>'],
  },
  {
    family: 'any model that invents its tags',
    source: 'replies of small models that were asked for a call',
    calls: [{ open: '<tool_use>', close: '</tool_use>' }],
    elements: [namedForm('tool_call'), namedForm('function_call'), namedForm('tool_use')],
  },
  {
    family: 'hunyuan-a13b',
    source: 'vllm hunyuan_a13b_reasoning_parser.py',
    models: /hunyuan/i,
    answer: [{ open: '<answer>', close: '</answer>' }],
  },
  {
    family: 'granite3, phi4-mini',
    source: 'vllm granite_tool_parser.py, phi4mini_tool_parser.py',
    calls: [
      { open: '<|tool_call|>', close: '<|/tool_call|>' },
      { open: 'functools', close: '', onlyBefore: 'value' },
    ],
    ends: ['<|end_of_text|>'],
  },
  {
    family: 'granite3.2, granite3.3',
    source: 'vllm granite_reasoning_parser.py; template of granite3.3',
    models: /granite/i,
    thinking: [
      { open: 'Here is my thought process:', close: 'Here is my response:' },
      { open: "Here's my thought process:", close: "Here's my response:" },
    ],
    answer: [{ open: '<response>', close: '</response>' }],
  },
  {
    family: 'llama3, llama4',
    source: 'templates of llama3.1 and llama4; vllm llama4_pythonic_tool_parser.py',
    calls: [
      { open: '<|python_tag|>', close: '' },
      { open: '<|python_start|>', close: '<|python_end|>' },
    ],
    ends: ['<|eot_id|>', '<|eom_id|>', '<|eot|>', '<|eom|>'],
  },
  {
    family: 'mistral, devstral, magistral',
    source: 'ollama ministral.go; vllm mistral_tool_parser.py',
    calls: [{ open: '[TOOL_CALLS]', close: '[/TOOL_CALLS]' }],
    thinking: [{ open: '[THINK]', close: '[/THINK]' }],
    results: [{ open: '[TOOL_RESULTS]', close: '[/TOOL_RESULTS]' }],
    ends: ['</s>'],
  },
  {
    family: 'gemma4, medgemma, functiongemma',
    source: 'ollama gemma4.go, functiongemma.go',
    calls: [
      { open: '<|tool_call>', close: '<tool_call|>' },
      { open: '<start_function_call>', close: '<end_function_call>' },
    ],
    thinking: [
      { open: '<|channel>', close: '<channel|>', label: 'thought' },
      { open: '<unused94>', close: '<unused95>', label: 'thought' },
    ],
    ends: ['<|tool_response>', '<turn|>', '<end_of_turn>', '<start_function_response>'],
  },
  {
    family: 'gemma4 without its tags',
    source: 'vllm gemma4_utils.py',
    models: /gemma-?4/i,
    calls: [{ open: 'call:', close: '', onlyBefore: 'toolName' }],
  },
  {
    family: 'deepseek, cogito',
    source: 'ollama deepseek3.go, cogito.go; vllm deepseekv32_tool_parser.py',
    calls: [
      { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' },
      { open: '<｜tool▁call▁begin｜>', close: '<｜tool▁call▁end｜>' },
    ],
    separators: ['<｜tool▁sep｜>'],
    results: [
      { open: '<｜tool▁outputs▁begin｜>', close: '<｜tool▁outputs▁end｜>' },
      { open: '<｜tool▁output▁begin｜>', close: '<｜tool▁output▁end｜>' },
    ],
    ends: ['<｜end▁of▁sentence｜>'],
  },
  {
    family: 'deepseek-v3.2, deepseek-v4, deepseek-v4.1, gigachat3.5',
    source: 'vllm deepseekv32_tool_parser.py, sglang deepseekv41_detector.py, gigachat35_detector.py',
    // A model that writes the mark in other tokens writes its bars in other ways too.
    ...namespaces(
      ...['｜DSML｜', '｜DSML｜ ', '|DSML|', '|DSML| ', ' | DSML | ', ' ｜ DSML ｜ ', '||DSML||', 'DSML'],
      '｜GCML｜',
    ),
    ends: ['<|message_sep|>'],
  },
  {
    family: 'step3',
    source: 'vllm step3_tool_parser.py',
    calls: [
      { open: '<｜tool_calls_begin｜>', close: '<｜tool_calls_end｜>' },
      { open: '<｜tool_call_begin｜>', close: '<｜tool_call_end｜>' },
    ],
    elements: [invokeForm('steptml:')],
    separators: ['<｜tool_sep｜>'],
    ends: ['<|EOT|>'],
  },
  {
    family: 'kimi-k2',
    source: 'vllm kimi_k2_tool_parser.py; llama.cpp kimi-k2.cpp',
    calls: [
      { open: '<|tool_calls_section_begin|>', close: '<|tool_calls_section_end|>' },
      { open: '<|tool_call_section_begin|>', close: '<|tool_call_section_end|>' },
      { open: '<|tool_call_begin|>', close: '<|tool_call_end|>' },
    ],
    separators: ['<|tool_call_argument_begin|>'],
  },
  {
    family: 'kimi-k3',
    source: 'llama.cpp kimi-k3.cpp',
    calls: [{ open: '<|open|>tools<|sep|>', close: '<|close|>tools<|sep|>' }],
    elements: [
      {
        call: '<|open|>call tool=',
        callClose: '<|close|>call<|sep|>',
        parameters: [{ open: '<|open|>argument key=', close: '<|close|>argument<|sep|>' }],
        tagEnd: '<|sep|>',
      },
    ],
    thinking: [{ open: '<|open|>think<|sep|>', close: '<|close|>think<|sep|>' }],
    answer: [{ open: '<|open|>response<|sep|>', close: '<|close|>response<|sep|>' }],
    ends: ['<|close|>message<|sep|>', '<|end_of_msg|>'],
  },
  {
    family: 'command-r, command-a',
    source: 'ollama cohere.go; template of command-r',
    calls: [
      { open: '<|START_ACTION|>', close: '<|END_ACTION|>' },
      { open: 'Action:', close: '', onlyBefore: 'value' },
    ],
    thinking: [{ open: '<|START_THINKING|>', close: '<|END_THINKING|>' }],
    answer: [
      { open: '<|START_RESPONSE|>', close: '<|END_RESPONSE|>' },
      { open: '<|START_TEXT|>', close: '<|END_TEXT|>' },
    ],
    ends: ['<|END_OF_TURN_TOKEN|>'],
  },
  {
    family: 'apertus, openthinker, solar-open2',
    source: 'sglang apertus2509_detector.py; prompt of openthinker; vllm solar_open2_tool_parser.py',
    calls: [
      { open: '<|tools_prefix|>', close: '<|tools_suffix|>' },
      { open: '<|tool_call:start|>', close: '<|tool_call:end|>' },
    ],
    elements: [pairForm('<|tool_arg:start|>', '<|tool_arg:value|>', '', '<|tool_arg:end|>')],
    thinking: [
      { open: '<|inner_prefix|>', close: '<|inner_suffix|>' },
      { open: '<|begin_of_thought|>', close: '<|end_of_thought|>' },
      { open: '<|think:start|>', close: '<|think:end|>' },
    ],
    answer: [
      { open: '<|answer_prefix|>', close: '<|answer_suffix|>' },
      { open: '<|begin_of_solution|>', close: '<|end_of_solution|>' },
    ],
    ends: ['<|assistant_end|>'],
  },
  {
    family: 'minimax-m2, minimax-m3, seed-oss',
    source: 'vllm minimax_m2_tool_parser.py, seed_oss_tool_parser.py; llama.cpp minimax-m3.cpp',
    calls: [
      ...elements('minimax:tool_call', 'seed:tool_call'),
      { open: ']<]minimax[>[<tool_call>', close: '</tool_call>' },
    ],
    thinkingTags: ['mm:think', 'seed:think'],
    ends: ['[e~[', '<seed:eos>'],
  },
  {
    family: 'nemotron, internlm2, longcat, glimmer',
    source:
      'vllm nemotron_json_tool_parser.py, internlm2_tool_parser.py, longcat_tool_parser.py; ollama glimmer.go',
    calls: [
      { open: '<|action_start|><|plugin|>', close: '<|action_end|>' },
      { open: '<|action_start|> <|plugin|>', close: '<|action_end|>' },
      ...elements('TOOLCALL', 'toolcall', 'longcat_tool_call', 'atem:function_calls'),
    ],
    thinkingTags: ['longcat_think'],
    elements: [invokeForm('atem:'), invokeForm('antml:')],
    ends: ['<SPECIAL_12>', '</longcat_s>'],
  },
  {
    family: 'dots, gigachat3',
    source: 'vllm dots_tool_parser.py, gigachat3_tool_parser.py',
    calls: [
      { open: '<dots_function_call>', close: '</dots_function_call>' },
      { open: '<|function_call|>', close: '' },
      { open: '<|message_sep|>\n\nfunction call<|role_sep|>\n', close: '' },
    ],
    ends: ['<|endofresponse|>'],
  },
  {
    family: 'k2-horizon',
    source: 'sglang k2_v3_detector.py',
    calls: elements('ifm|tool_calls', 'ifm|tool_call'),
    elements: [pairForm('<ifm|arg_key>', '</ifm|arg_key>', '<ifm|arg_value>', '</ifm|arg_value>')],
    thinking: elements('ifm|think', 'ifm|think_fast', 'ifm|think_faster'),
  },
  {
    family: 'inkling',
    source: 'sglang inkling_detector.py',
    calls: [
      { open: '<|content_invoke_tool_json|>', close: '<|end_message|>' },
      { open: '<|message_model|>', close: '<|end_message|>' },
    ],
    separators: ['<|content_invoke_tool_json|>'],
    thinking: around('<|content_thinking|>', '<|end_message|>', '<|message_model|>'),
    answer: around('<|content_text|>', '<|end_message|>', '<|message_model|>'),
    ends: ['<|content_model_end_sampling|>', '<|end_message|>'],
  },
  {
    family: 'plamo3, iquest-coder2, laguna',
    source: 'vllm plamo3_tool_parser.py, iquest_coder_v2_tool_parser.py; ollama laguna_test.go',
    calls: [
      ...['tool_requests', 'tool_request'].map((name) => ({
        ...{ open: `<|plamo:begin_${name}:plamo|>`, close: `<|plamo:end_${name}:plamo|>` },
      })),
      { open: '<|plamo:begin_tool_name:plamo|>', close: '<|plamo:end_tool_arguments:plamo|>' },
      ...elements('iquestcoder_tool_call'),
      { open: '<user>', close: '</user>', needsArguments: true },
    ],
    separators: ['<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>'],
    ends: ['<|plamo:tag|>'],
  },
  {
    family: 'kimi-vl, gpt-oss',
    source: 'template of kimi-vl-thinking; ollama harmonyparser.go',
    thinking: [{ open: '◁think▷', close: '◁/think▷' }],
    ends: ['<|call|>', '<|return|>', '<|end|>'],
  },
];

/** minimax-m3 writes this before each real tag. */
export const tagPrefix = ']<]minimax[>[';

function elements(...names: readonly string[]) {
  return names.map((name) => ({ open: `<${name}>`, close: `</${name}>` }));
}

/** Calls and the tags around them, in each of these namespaces. */
function namespaces(...names: readonly string[]): Pick<Family, 'calls' | 'elements'> {
  const blocks = ['function_calls', 'tool_calls', 'calls'];
  return {
    calls: names.flatMap((name) => elements(...blocks.map((block) => name + block))),
    elements: names.map(invokeForm),
  };
}

/** Arguments as pairs after the name of a tool. */
function pairForm(open: string, tagEnd: string, valueOpen: string, close: string): ElementForm {
  const form = { call: '', callClose: '', parameters: [{ open, close }], tagEnd };
  return valueOpen === '' ? form : { ...form, valueOpen };
}

/** Marks that may come with or without the mark of a new message. */
function around(open: string, close: string, message: string) {
  return [
    { open: message + open, close },
    { open, close },
  ];
}

/** A tag with the name of the tool as its attribute, and one for each argument. */
function namedForm(tag: string, parameter = 'parameter'): ElementForm {
  return {
    call: `<${tag} name=`,
    callClose: `</${tag}>`,
    parameters: [{ open: `<${parameter} name=`, close: `</${parameter}>` }],
    tagEnd: '>',
    isRaw: true,
  };
}

function invokeForm(namespace: string): ElementForm {
  return namedForm(`${namespace}invoke`, `${namespace}parameter`);
}
