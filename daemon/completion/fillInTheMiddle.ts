import type { Capability } from '../../protocol/messages/models.ts';
import { tryModelName } from '../models/name.ts';
import type { FillRequest } from '../runner/runner.ts';
import type { CursorContext } from './cursorContext.ts';

/** How a family of models was taught to fill in the middle. */
interface FillInTheMiddle {
  /** The whole prompt, for a request without the model's own template. */
  readonly prompt: (prefix: string, suffix: string) => string;
  /**
   * The same with the suffix before the prefix, for families that learnt it. Each keystroke then changes only the end
   * of the prompt, and a runner evaluates little more than that end.
   */
  readonly suffixFirst?: (prefix: string, suffix: string) => string;
  /** What the model writes when it is done or goes on with something else. */
  readonly stops: readonly string[];
}

/** The tokens before the prefix, the suffix and the middle. */
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
 * The forms that Continue uses (`AutocompleteTemplate.ts`). CodeQwen and Granite Code use StarCoder's tokens. The
 * papers of Code Llama, StarCoder and CodeGemma and the template of Codestral describe the order with the suffix first.
 * The first family whose pattern matches the model part of a name applies.
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

/** How to fill in the middle with a model of a family in the table, whoever published the model. */
function fillInTheMiddleOf(model: string): FillInTheMiddle | undefined {
  const name = (tryModelName(model)?.model ?? model).toLowerCase();
  return families.find((family) => family.name.test(name))?.fill;
}

/** Tokens of many families, which do not occur in code. */
const specialToken =
  /<\|[\w▁-]{1,40}\|>|<｜[^｜\n]{1,40}｜>|<fim_(?:prefix|suffix|middle|pad)>|<(?:EOT|end_of_turn|start_of_turn)>/;

/** No token is longer, in UTF-16 units. */
export const maxTokenLength = 64;

/** The index of the first special token, of the model's family or of another one; -1 if there is none. */
export function findSpecialToken(text: string, stops: readonly string[]): number {
  const places = [text.search(specialToken), ...stops.map((stop) => text.indexOf(stop))];
  return places.reduce((first, at) => (at !== -1 && (first === -1 || at < first) ? at : first), -1);
}

/** What chat models write before their words, as they were trained to. */
const turnHeader =
  /^(?:<\|im_start\|>assistant|<start_of_turn>model|<\|start_header_id\|>assistant<\|end_header_id\|>|(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>)/;
const headerStart =
  /^<\|(?:start\|>assistant(?:<\|channel\|>final)?|channel\|>final|start_header_id\|>assistant)$/;
/** A channel with thoughts, or with calls. */
const otherChannel = /^(?:<\|start\|>assistant)?<\|channel\|>(?!final)/;

/** Whether a line is a header of a turn, or ends in the middle of one. */
export function isTurnHeader(line: string): boolean {
  return turnHeader.exec(line)?.[0] === line.trimEnd() || headerStart.test(line);
}

/** Removes the header of a turn and the special tokens at the beginning. Nothing of another channel is left. */
export function withoutLeadingTokens(text: string): string {
  if (otherChannel.test(text)) return '';
  let at = turnHeader.exec(text)?.[0].length ?? 0;
  for (;;) {
    const match = specialToken.exec(text.slice(at, at + maxTokenLength));
    if (match?.index !== 0) return text.slice(at);
    at += match[0].length;
  }
}

/** How to ask a model for the text between two texts. */
export interface PromptStrategy {
  readonly name: 'suffix' | 'raw';
  /** Whether the prompt begins with the text after the cursor. */
  readonly isSuffixFirst: boolean;
  readonly textOf: (prefix: string, suffix: string) => FillRequest['text'];
  /** The stops of the model's family. If a request has none, those of the model's own Modelfile apply. */
  readonly stops: readonly string[];
}

/**
 * The strategies for a model, the best first; none if it cannot fill in the middle. The family's tokens with the suffix
 * first cost least at each keystroke. The model's own template is the most exact. The tokens with the prefix first are
 * the last resort.
 */
export function promptStrategies(model: string, insert: Capability['value']): readonly PromptStrategy[] {
  const fill = fillInTheMiddleOf(model);
  const suffix: PromptStrategy = {
    name: 'suffix',
    isSuffixFirst: false,
    textOf: (prefix, suffix) => ({ prefix, suffix }),
    stops: fill?.stops ?? [],
  };
  // A server that does not list capabilities refuses the request, and that is remembered.
  if (!fill) return insert === false ? [] : [suffix];
  const raw = (build: FillInTheMiddle['prompt']): PromptStrategy => ({
    name: 'raw',
    isSuffixFirst: build === fill.suffixFirst,
    textOf: (before, after) => ({ prompt: build(before, after) }),
    stops: fill.stops,
  });
  return [
    ...(fill.suffixFirst ? [raw(fill.suffixFirst)] : []),
    ...(insert === true ? [suffix] : []),
    raw(fill.prompt),
  ];
}

interface FillOptions {
  readonly model: string;
  /** With `nothing` the runner only evaluates the prompt. */
  readonly wanted: keyof typeof limits;
  /** The text of other files as a comment; `""` means none. */
  readonly before: string;
  /** From the configuration: seconds or a duration. */
  readonly keepAlive?: string | number;
  /**
   * From the configuration, in tokens. A window of another size than the chat's would make the runner load the model
   * again.
   */
  readonly contextLength?: number;
}

/** In tokens. For a runner 0 means no limit. */
const limits = { nothing: 1, line: 32, block: 128 } as const;
/** Low, because the most likely continuation is wanted. */
const temperature = 0.1;

/** The request for the text at the cursor. */
export function fillRequest(
  strategy: PromptStrategy,
  around: CursorContext,
  { wanted, before, ...asked }: FillOptions,
): FillRequest {
  return {
    ...asked,
    text: strategy.textOf(before + around.prefix, around.suffix),
    stops: strategy.stops,
    maxTokens: limits[wanted],
    temperature,
  };
}
