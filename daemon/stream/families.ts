import type { ElementForm, Family, FamilyMarks } from './family.ts';

/**
 * One row for each family. The name of a model does not reliably show its family. So all rows apply to every model,
 * except rows with `models`.
 */
export const families: readonly Family[] = [
  {
    family: 'hermes, qwen, granite4, glm, exaone',
    source: 'ollama qwen3.go, glm46.go; vllm hermes_tool_parser.py',
    calls: [
      pair('<tool_call>', '</tool_call>'),
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
    elements: [form('<function=', '</function>', 'parameter=', 'parameter name=')],
  },
  {
    family: 'minicpm5',
    source: 'vllm minicpm5xml_tool_parser.py',
    elements: [
      {
        ...form('<function name=', '</function>', 'param name=', 'parameter name='),
        ...{ hasSections: true, isRaw: true },
      },
    ],
  },
  {
    family: 'minicpm3, minicpm4, lfm2',
    source: 'vllm minicpm_tool_parser.py; ollama lfm2.go',
    calls: [pair('<|tool_call_start|>', '<|tool_call_end|>')],
    thinking: [pair('<|thought_start|>', '<|thought_end|>')],
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
    calls: [pair('<tool_use>', '</tool_use>')],
    elements: [namedForm('tool_call'), namedForm('function_call'), namedForm('tool_use')],
  },
  {
    family: 'hunyuan-a13b',
    source: 'vllm hunyuan_a13b_reasoning_parser.py',
    models: /hunyuan/i,
    answer: [pair('<answer>', '</answer>')],
  },
  {
    family: 'granite3, phi4-mini',
    source: 'vllm granite_tool_parser.py, phi4mini_tool_parser.py',
    calls: [pair('<|tool_call|>', '<|/tool_call|>'), { open: 'functools', close: '', onlyBefore: 'value' }],
    ends: ['<|end_of_text|>'],
  },
  {
    family: 'granite3.2, granite3.3',
    source: 'vllm granite_reasoning_parser.py; template of granite3.3',
    models: /granite/i,
    thinking: [
      pair('Here is my thought process:', 'Here is my response:'),
      pair("Here's my thought process:", "Here's my response:"),
    ],
    answer: [pair('<response>', '</response>')],
  },
  {
    family: 'llama3, llama4',
    source: 'templates of llama3.1 and llama4; vllm llama4_pythonic_tool_parser.py',
    calls: [pair('<|python_tag|>', ''), pair('<|python_start|>', '<|python_end|>')],
    ends: ['<|eot_id|>', '<|eom_id|>', '<|eot|>', '<|eom|>'],
  },
  {
    family: 'mistral, devstral, magistral',
    source: 'ollama ministral.go; vllm mistral_tool_parser.py',
    calls: [pair('[TOOL_CALLS]', '[/TOOL_CALLS]')],
    thinking: [pair('[THINK]', '[/THINK]')],
    results: [pair('[TOOL_RESULTS]', '[/TOOL_RESULTS]')],
    ends: ['</s>'],
  },
  {
    family: 'gemma4, medgemma, functiongemma',
    source: 'ollama gemma4.go, functiongemma.go',
    calls: [pair('<|tool_call>', '<tool_call|>'), pair('<start_function_call>', '<end_function_call>')],
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
      pair('<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>'),
      pair('<｜tool▁call▁begin｜>', '<｜tool▁call▁end｜>'),
    ],
    separators: ['<｜tool▁sep｜>'],
    results: [
      pair('<｜tool▁outputs▁begin｜>', '<｜tool▁outputs▁end｜>'),
      pair('<｜tool▁output▁begin｜>', '<｜tool▁output▁end｜>'),
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
      pair('<｜tool_calls_begin｜>', '<｜tool_calls_end｜>'),
      pair('<｜tool_call_begin｜>', '<｜tool_call_end｜>'),
    ],
    elements: [invokeForm('steptml:')],
    separators: ['<｜tool_sep｜>'],
    ends: ['<|EOT|>'],
  },
  {
    family: 'kimi-k2',
    source: 'vllm kimi_k2_tool_parser.py; llama.cpp kimi-k2.cpp',
    calls: [
      pair('<|tool_calls_section_begin|>', '<|tool_calls_section_end|>'),
      pair('<|tool_call_section_begin|>', '<|tool_call_section_end|>'),
      pair('<|tool_call_begin|>', '<|tool_call_end|>'),
    ],
    separators: ['<|tool_call_argument_begin|>'],
  },
  {
    family: 'kimi-k3',
    source: 'llama.cpp kimi-k3.cpp',
    calls: [pair('<|open|>tools<|sep|>', '<|close|>tools<|sep|>')],
    elements: [
      {
        call: '<|open|>call tool=',
        callClose: '<|close|>call<|sep|>',
        parameters: [pair('<|open|>argument key=', '<|close|>argument<|sep|>')],
        tagEnd: '<|sep|>',
      },
    ],
    thinking: [pair('<|open|>think<|sep|>', '<|close|>think<|sep|>')],
    answer: [pair('<|open|>response<|sep|>', '<|close|>response<|sep|>')],
    ends: ['<|close|>message<|sep|>', '<|end_of_msg|>'],
  },
  {
    family: 'command-r, command-a',
    source: 'ollama cohere.go; template of command-r',
    calls: [pair('<|START_ACTION|>', '<|END_ACTION|>'), { open: 'Action:', close: '', onlyBefore: 'value' }],
    thinking: [pair('<|START_THINKING|>', '<|END_THINKING|>')],
    answer: [pair('<|START_RESPONSE|>', '<|END_RESPONSE|>'), pair('<|START_TEXT|>', '<|END_TEXT|>')],
    ends: ['<|END_OF_TURN_TOKEN|>'],
  },
  {
    family: 'apertus, openthinker, solar-open2',
    source: 'sglang apertus2509_detector.py; prompt of openthinker; vllm solar_open2_tool_parser.py',
    calls: [pair('<|tools_prefix|>', '<|tools_suffix|>'), pair('<|tool_call:start|>', '<|tool_call:end|>')],
    elements: [pairForm('<|tool_arg:start|>', '<|tool_arg:value|>', '', '<|tool_arg:end|>')],
    thinking: [
      pair('<|inner_prefix|>', '<|inner_suffix|>'),
      pair('<|begin_of_thought|>', '<|end_of_thought|>'),
      pair('<|think:start|>', '<|think:end|>'),
    ],
    answer: [
      pair('<|answer_prefix|>', '<|answer_suffix|>'),
      pair('<|begin_of_solution|>', '<|end_of_solution|>'),
    ],
    ends: ['<|assistant_end|>'],
  },
  {
    family: 'minimax-m2, minimax-m3, seed-oss',
    source: 'vllm minimax_m2_tool_parser.py, seed_oss_tool_parser.py; llama.cpp minimax-m3.cpp',
    calls: [
      ...elements('minimax:tool_call', 'seed:tool_call'),
      pair(']<]minimax[>[<tool_call>', '</tool_call>'),
    ],
    thinkingTags: ['mm:think', 'seed:think'],
    ends: ['[e~[', '<seed:eos>'],
  },
  {
    family: 'nemotron, internlm2, longcat, glimmer',
    source:
      'vllm nemotron_json_tool_parser.py, internlm2_tool_parser.py, longcat_tool_parser.py; ollama glimmer.go',
    calls: [
      pair('<|action_start|><|plugin|>', '<|action_end|>'),
      pair('<|action_start|> <|plugin|>', '<|action_end|>'),
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
      pair('<dots_function_call>', '</dots_function_call>'),
      pair('<|function_call|>', ''),
      pair('<|message_sep|>\n\nfunction call<|role_sep|>\n', ''),
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
      pair('<|content_invoke_tool_json|>', '<|end_message|>'),
      pair('<|message_model|>', '<|end_message|>'),
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
      ...['tool_requests', 'tool_request'].map((name) =>
        pair(`<|plamo:begin_${name}:plamo|>`, `<|plamo:end_${name}:plamo|>`),
      ),
      pair('<|plamo:begin_tool_name:plamo|>', '<|plamo:end_tool_arguments:plamo|>'),
      ...elements('iquestcoder_tool_call'),
      { open: '<user>', close: '</user>', needsArguments: true },
    ],
    separators: ['<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>'],
    ends: ['<|plamo:tag|>'],
  },
  {
    family: 'kimi-vl, gpt-oss',
    source: 'template of kimi-vl-thinking; ollama harmonyparser.go',
    thinking: [pair('◁think▷', '◁/think▷')],
    ends: ['<|call|>', '<|return|>', '<|end|>'],
  },
  {
    family: 'gpt-oss without its marks',
    source: 'replies of servers that drop special tokens (Rapid-MLX)',
    models: /gpt-?oss/i,
    calls: [pair('commentary to=', '')],
    thinking: [
      { ...pair('analysis', 'assistantfinal'), beforeCall: 'assistantcommentary to=', isGlued: true },
    ],
  },
];

/** minimax-m3 writes this before each real tag. */
export const tagPrefix = ']<]minimax[>[';

function pair(open: string, close: string): FamilyMarks {
  return { open, close };
}

function elements(...names: readonly string[]) {
  return names.map((name) => pair(`<${name}>`, `</${name}>`));
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
  return [pair(message + open, close), pair(open, close)];
}

/** A tag with the name of the tool as its attribute, and one for each argument. */
function namedForm(tag: string, parameter = 'parameter'): ElementForm {
  return { ...form(`<${tag} name=`, `</${tag}>`, `${parameter} name=`), isRaw: true };
}

/** Each parameter is what follows the `<` of its tag. */
function form(call: string, callClose: string, ...parameters: readonly string[]): ElementForm {
  const marks = parameters.map((name) => pair(`<${name}`, `</${name.replace(/(?: name)?=$/, '')}>`));
  return { call, callClose, parameters: marks, tagEnd: '>' };
}

function invokeForm(namespace: string): ElementForm {
  return namedForm(`${namespace}invoke`, `${namespace}parameter`);
}
