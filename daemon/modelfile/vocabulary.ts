import { formerOptions, type RunnerOption, runnerOptions } from '../../protocol/messages/modelfile.ts';

/** A command of a Modelfile, and what it takes. */
export interface CommandWord {
  readonly takes: 'value' | 'parameter' | 'message';
  /** Whether only the last of several counts, or all do. */
  readonly repeated: 'last' | 'all';
  /** Markdown, for hover and completion. */
  readonly about: string;
}

/** What each command does, in Markdown, by its name in lower case. */
const aboutCommands = {
  from: 'The model to start from: the name of a model that is installed or can be pulled, or the path of a GGUF file or of a folder of safetensors. Every Modelfile needs it.',
  parameter: 'One option and its value, such as `temperature 0.7`, `num_ctx 8192` or `stop "<END>"`.',
  template:
    "The prompt template, in Go's template language with `.System`, `.Prompt`, `.Response`, `.Suffix`, `.Messages`, `.Tools` and `.Think`.",
  system: 'The system prompt.',
  adapter: 'The path of a LoRA adapter (a GGUF file or a folder of safetensors) to apply to the model.',
  draft: 'The path of a small model that drafts tokens for this one.',
  renderer: 'The name of a prompt renderer that is built into the runner, such as `qwen3-coder`.',
  parser: 'The name of an output parser that is built into the runner, such as `harmony`.',
  license: 'The text of a licence; it may be repeated.',
  message: 'An example turn: a role (`system`, `user` or `assistant`) and its text. Turns keep their order.',
  requires: 'The oldest version of the runner that can run the model, such as `0.14.0`.',
};

/** The commands of which all count, not only the last one. */
const repeatable = ['from', 'parameter', 'license', 'message'];

/** By name in lower case. */
export const commandWords: ReadonlyMap<string, CommandWord> = new Map(
  Object.entries(aboutCommands).map(([name, about]) => [
    name,
    {
      takes: name === 'parameter' || name === 'message' ? name : 'value',
      repeated: repeatable.includes(name) ? 'all' : 'last',
      about,
    },
  ]),
);

export const messageRoles: readonly string[] = ['system', 'user', 'assistant'];

export type ParameterType = (typeof runnerOptions)[RunnerOption];

export interface ParameterWord {
  readonly type: ParameterType;
  /** True if the parameter may be repeated and all values count. */
  readonly isList?: true;
  /** Markdown, with the runner's own default. */
  readonly about: string;
}

/** What each parameter does, in Markdown, with the runner's own default. */
const about: Readonly<Record<RunnerOption, string>> = {
  num_ctx: 'Tokens of the context window. Without it the runner chooses by its memory, often only 4,096.',
  temperature: 'How freely the model chooses: 0 takes the most likely token each time. Default 0.8.',
  top_k: 'How many of the most likely tokens are considered. Default 40.',
  top_p: 'Only the most likely tokens up to this sum of probabilities are considered. Default 0.9.',
  min_p: 'Tokens less likely than this share of the most likely one are left out. Default 0.',
  typical_p: 'Locally typical sampling; 1 is off. Default 1.',
  stop: 'A text at which the answer ends. Repeat the line for several.',
  num_predict: 'The most tokens that an answer may have; -1 means no limit. Default -1.',
  seed: 'A number that makes answers repeatable; -1 is random. Default -1.',
  repeat_penalty: 'How much repetition is discouraged; 1 is off. Default 1.',
  repeat_last_n: 'How far back the runner looks for repetition, in tokens. Default 64.',
  presence_penalty: 'Discourages tokens that have occurred at all. Default 0.',
  frequency_penalty: 'Discourages tokens by how often they have occurred. Default 0.',
  num_keep: 'How many tokens of the beginning stay when the window slides. Default 4.',
  num_batch: 'How many tokens of the prompt are read at once. Default 512.',
  num_gpu: 'How many layers go to the GPU; -1 lets the runner choose. Default -1.',
  main_gpu: 'The GPU that takes everything that is not split.',
  num_thread: 'How many processor threads to use; 0 lets the runner choose. Default 0.',
  draft_num_predict: 'How many tokens a draft model predicts at once.',
  use_mmap: 'Whether the weights are mapped into memory.',
};

/** By name; names are case-sensitive. `stop` may be repeated, and all values count. */
export const parameterWords: ReadonlyMap<string, ParameterWord> = new Map(
  Object.entries(runnerOptions).map(([name, type]) => [
    name,
    { type, about: about[name as RunnerOption], ...(name === 'stop' ? { isList: true } : {}) },
  ]),
);

/** Parameters that runners once knew and now ignore. */
export const deprecatedParameters: ReadonlySet<string> = new Set(formerOptions);
