import { tryModelName } from '../models/name.ts';

/** How a family of models was taught to fill in the middle. */
export interface FillInTheMiddle {
  /** The whole prompt, for a request without the model's own template. */
  readonly prompt: (prefix: string, suffix: string) => string;
  /**
   * The same with the suffix before the prefix, for families that learnt it: what changes at each key is then the end
   * of the prompt, and a runner evaluates little more than that.
   */
  readonly suffixFirst?: (prefix: string, suffix: string) => string;
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

const starcoder = tokens(
  '<fim_prefix>',
  '<fim_suffix>',
  '<fim_middle>',
  '<|endoftext|>',
  '<file_sep>',
  '<repo_name>',
);

/**
 * As Continue writes them (`AutocompleteTemplate.ts`); CodeQwen and Granite Code speak StarCoder's tokens. Suffix
 * first is what the papers of Code Llama, StarCoder and CodeGemma and the template of Codestral have. The first family
 * that fits the model part of a name is taken.
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
      suffixFirst: (prefix, suffix) => `[SUFFIX]${suffix}[PREFIX]${prefix}`,
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
  {
    name: /code-?llama/,
    fill: {
      ...tokens('<PRE> ', ' <SUF>', ' <MID>', '<EOT>'),
      suffixFirst: (prefix, suffix) => `<PRE> <SUF>${suffix} <MID> ${prefix}`,
    },
  },
  {
    name: /starcoder/,
    fill: {
      ...starcoder,
      suffixFirst: (prefix, suffix) => `<fim_prefix><fim_suffix>${suffix}<fim_middle>${prefix}`,
    },
  },
  {
    name: /stable-?code|granite.*code|codeqwen/,
    fill: starcoder,
  },
  {
    name: /codegemma/,
    fill: {
      ...tokens(
        '<|fim_prefix|>',
        '<|fim_suffix|>',
        '<|fim_middle|>',
        '<|file_separator|>',
        '<end_of_turn>',
        '<eos>',
      ),
      suffixFirst: (prefix, suffix) => `<|fim_suffix|>${suffix}<|fim_prefix|>${prefix}<|fim_middle|>`,
    },
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
