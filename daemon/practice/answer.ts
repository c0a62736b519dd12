import { answerJson, type Exchange } from './exchange.ts';
import { type InferenceRequest, loadModel } from './inferenceRequest.ts';
import type { Step } from './job.ts';
import { goTime } from './json.ts';
import { metricsOnWire } from './meter.ts';
import type { InstalledModel } from './modelStore.ts';
import { answerLines, answerMerged } from './stream.ts';

interface Framing {
  readonly request: InferenceRequest;
  readonly model: InstalledModel;
  /** The part of a line that differs between chat and generate. */
  readonly toFields: (step: Step) => object;
  /** The field after `done_reason`. */
  readonly context?: (said: string) => readonly number[] | undefined;
}

/** Answers loading and unloading with one object, even if a stream was requested. */
export function answerLoaded(
  exchange: Exchange,
  {
    request,
    model,
    said,
  }: { readonly request: InferenceRequest; readonly model: InstalledModel; readonly said: object },
): void {
  const unload = request.keepAlive === 0;
  if (!unload) loadModel(exchange, model, request);
  const done = { done: true, done_reason: unload ? 'unload' : 'load' };
  answerJson(exchange.response, { ...headOf(exchange, { request, model }), ...said, ...done });
}

/** Streams steps as lines of the route, or merges them into one object if no stream was requested. */
export async function answerSteps(
  exchange: Exchange,
  steps: AsyncIterable<Step>,
  framing: Framing,
): Promise<void> {
  const { request, model } = framing;
  if (request.stream) await answerLines(exchange, linesOf(exchange, steps, framing));
  else
    await answerMerged(exchange, mergeSteps(exchange, steps, framing), {
      merge: (lines) => lines.at(-1) ?? {},
    });
  // In a request that does something else, it means that the model is unloaded afterwards.
  if (request.keepAlive === 0) exchange.runner.loaded.unload(model);
}

async function* linesOf(
  exchange: Exchange,
  steps: AsyncIterable<Step>,
  framing: Framing,
): AsyncGenerator<object> {
  let said = '';
  for await (const step of steps) {
    said += step.text;
    yield lineOf(exchange, { step, said, framing });
  }
}

async function* mergeSteps(
  exchange: Exchange,
  steps: AsyncIterable<Step>,
  framing: Framing,
): AsyncGenerator<object> {
  const all: Step[] = [];
  for await (const step of steps) all.push(step);
  const said = all.map(({ text }) => text).join('');
  const thinking = all.map((step) => step.thinking ?? '').join('');
  const calls = all.flatMap((step) => step.calls ?? []);
  const logprobs = all.flatMap((step) => step.logprobs ?? []);
  const step: Step = {
    ...all.at(-1),
    text: said,
    ...(thinking === '' ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { calls }),
    ...(logprobs.length === 0 ? {} : { logprobs }),
  };
  yield lineOf(exchange, { step, said, framing });
}

/** One line, with its fields in the order of a real runner. */
function lineOf(
  exchange: Exchange,
  { step, said, framing }: { readonly step: Step; readonly said: string; readonly framing: Framing },
): object {
  const { done } = step;
  return {
    ...headOf(exchange, framing),
    ...framing.toFields(step),
    done: done !== undefined,
    done_reason: done?.reason,
    context: done && framing.context?.(said),
    ...(framing.context ? {} : { logprobs: step.logprobs }),
    ...(done ? metricsOnWire(done.metrics) : {}),
    ...(framing.context ? { logprobs: step.logprobs } : {}),
  };
}

function headOf({ runner }: Exchange, { request, model }: Pick<Framing, 'request' | 'model'>): object {
  const { remote } = model;
  return {
    model: request.name,
    remote_model: remote?.model,
    remote_host: remote?.host,
    created_at: goTime(runner.clock.now()),
  };
}
