import type { Metrics } from './meter.ts';
import type { InstalledModel } from './modelStore.ts';
import type { Prompt } from './speech.ts';

/** One line of an answer, before it gets the form of chat or generate. */
export interface Step {
  readonly text: string;
  readonly thinking?: string;
  readonly calls?: readonly object[];
  readonly logprobs?: readonly object[];
  readonly done?: { readonly reason: 'stop' | 'length'; readonly metrics: Metrics };
}

/** What a request asks of a model, with all defaults applied. */
export interface Job {
  readonly prompt: Prompt;
  readonly model: InstalledModel;
  readonly promptTokens: number;
  readonly window: number;
  readonly shift: boolean;
  readonly limit: number;
  readonly stop: readonly string[];
  readonly topLogprobs?: number;
}
