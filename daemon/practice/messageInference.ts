import { promptTokens } from './chatMessages.ts';
import type { Exchange } from './exchange.ts';
import { infer } from './inference.ts';
import { checkFormat, type InferenceRequest, type LoadedOptions } from './inferenceRequest.ts';
import type { Step } from './job.ts';
import type { InstalledModel } from './modelStore.ts';
import type { Prompt, PromptMessage } from './speech.ts';
import { fitMessages } from './window.ts';

export interface MessageInference extends Pick<Prompt, 'tools' | 'think' | 'hole'> {
  readonly request: InferenceRequest;
  readonly model: InstalledModel;
  readonly options: LoadedOptions;
  readonly messages: readonly PromptMessage[];
}

/** Lets the model speak on messages, which are cut to its window. */
export async function* inferMessages(
  exchange: Exchange,
  { request, model, options, messages: all, tools, ...prompt }: MessageInference,
): AsyncGenerator<Step> {
  const { window, limit, stop } = options;
  const { name, format, shift, topLogprobs } = request;
  checkFormat(format);
  const count = (kept: readonly PromptMessage[]) => promptTokens(kept, tools);
  const { messages, tokens } = fitMessages(all, count, { ...request, window });
  yield* infer(exchange, {
    prompt: { model: name, messages, tools, format, signal: exchange.signal, ...prompt },
    model,
    promptTokens: tokens,
    window,
    shift,
    limit,
    stop,
    ...(topLogprobs === undefined ? {} : { topLogprobs }),
  });
}
