import { tryModelName } from '../models/name.ts';

/** How a family of models was taught to fill in the middle. */
export interface FillInTheMiddle {
  /** The whole prompt, for a request without the model's own template. */
  readonly prompt: (prefix: string, suffix: string) => string;
  /** What the model says when it is done, or goes on with something else. */
  readonly stops: readonly string[];
}

/** The tokens in the three places of prefix, suffix, middle. */
function tokens(prefix: string, suffix: string, middle: string, ...others: string[]): FillInTheMiddle {
  return {
    prompt: (before, after) => `${prefix}${before}${suffix}${after}${middle}`,
    stops: [prefix, suffix, middle, ...others].map((token) => token.trim()),
  };
}

/**
 * As Continue writes them (`AutocompleteTemplate.ts`); CodeQwen and Granite Code speak StarCoder's tokens. The first
 * family that fits the model part of a name is taken.
 */
const families: readonly { readonly name: RegExp; readonly fill: FillInTheMiddle }[] = [
  {
    name: /deepseek-?coder/,
    fill: tokens('<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>', '<｜end▁of▁sentence｜>', '<|EOT|>'),
  },
  {
    name: /codestral/,
    fill: {
      prompt: (prefix, suffix) => `[SUFFIX]${suffix}[PREFIX]${prefix}`,
      stops: ['[PREFIX]', '[SUFFIX]', '[MIDDLE]', '</s>'],
    },
  },
  {
    name: /codegeex/,
    fill: {
      prompt: (prefix, suffix) => `<|code_suffix|>${suffix}<|code_prefix|>${prefix}<|code_middle|>`,
      stops: [
        '<|code_suffix|>',
        '<|code_prefix|>',
        '<|code_middle|>',
        '<|endoftext|>',
        '<|user|>',
        '<|assistant|>',
      ],
    },
  },
  { name: /code-?llama/, fill: tokens('<PRE> ', ' <SUF>', ' <MID>', '<EOT>') },
  {
    name: /starcoder|stable-?code|granite.*code|codeqwen/,
    fill: tokens(
      '<fim_prefix>',
      '<fim_suffix>',
      '<fim_middle>',
      '<|endoftext|>',
      '<file_sep>',
      '<repo_name>',
    ),
  },
  {
    name: /codegemma/,
    fill: tokens(
      '<|fim_prefix|>',
      '<|fim_suffix|>',
      '<|fim_middle|>',
      '<|file_separator|>',
      '<end_of_turn>',
      '<eos>',
    ),
  },
  {
    name: /qwen.*coder/,
    fill: tokens(
      '<|fim_prefix|>',
      '<|fim_suffix|>',
      '<|fim_middle|>',
      '<|endoftext|>',
      '<|fim_pad|>',
      '<|repo_name|>',
      '<|file_sep|>',
      '<|im_start|>',
      '<|im_end|>',
    ),
  },
];

/** Of a model whose family is in the table, whoever published it. */
export function fillInTheMiddleOf(model: string): FillInTheMiddle | undefined {
  const name = (tryModelName(model)?.model ?? model).toLowerCase();
  return families.find((family) => family.name.test(name))?.fill;
}
