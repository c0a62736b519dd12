import type { Metrics } from './meter.ts';
import type { InstalledModel } from './modelStore.ts';
import type { Prompt } from './speech.ts';

/** One line of an answer, before chat or generate gives it its form. */
export interface Step {
  readonly text: string;
  readonly thinking?: string;
  readonly calls?: readonly object[];
  readonly logprobs?: readonly object[];
  readonly done?: { readonly reason: 'stop' | 'length'; readonly metrics: Metrics };
}

/** What a request asks of a model, worked out. */
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
