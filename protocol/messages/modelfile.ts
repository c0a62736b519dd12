import type { RequestMessage, TextRange } from './messageTypes.ts';

export interface ModelfileCommand {
  /** In lower case, such as `parameter`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly range: TextRange;
}

export interface ModelfileDiagnostic {
  readonly range: TextRange;
  readonly message: string;
  /** As in LSP: 1 error, 2 warning, 3 information, 4 hint. */
  readonly severity: 1 | 2 | 3 | 4;
}

export interface ParseModelfileResult {
  readonly commands: readonly ModelfileCommand[];
  readonly diagnostics: readonly ModelfileDiagnostic[];
}

/** Client to daemon: read a Modelfile. */
export const parseModelfileRequest: RequestMessage<{ readonly text: string }, ParseModelfileResult> = {
  method: 'runner/modelfile/parse',
};

/**
 * The options that Ollama knows, in `options` of a chat and as `PARAMETER` of a Modelfile, with their types. Other
 * servers may have others.
 */
export const runnerOptions = {
  num_ctx: 'int',
  temperature: 'float',
  top_k: 'int',
  top_p: 'float',
  min_p: 'float',
  typical_p: 'float',
  stop: 'string',
  num_predict: 'int',
  seed: 'int',
  repeat_penalty: 'float',
  repeat_last_n: 'int',
  presence_penalty: 'float',
  frequency_penalty: 'float',
  num_keep: 'int',
  num_batch: 'int',
  num_gpu: 'int',
  main_gpu: 'int',
  num_thread: 'int',
  draft_num_predict: 'int',
  use_mmap: 'bool',
} as const;

export type RunnerOption = keyof typeof runnerOptions;

/** Options that runners once knew and now ignore. */
export const formerOptions: readonly string[] = [
  'penalize_newline',
  'low_vram',
  'f16_kv',
  'logits_all',
  'vocab_only',
  'use_mlock',
  'mirostat',
  'mirostat_tau',
  'mirostat_eta',
];
