import { once } from 'node:events';
import { answerJson, type Exchange } from './exchange.ts';
import { ApiFailure } from './failure.ts';
import { encodeJson, goTime } from './goFormats.ts';
import { type InferenceRequest, loadModel } from './inferenceRequest.ts';
import { metricsOnWire, type Step } from './lineMaker.ts';
import type { InstalledModel } from './modelStore.ts';

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
  else await answerLast(exchange, mergeSteps(exchange, steps, framing));
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

/**
 * Sends one JSON object on each line, and waits for a slow reader. An error before the first line has its own status. A
 * later error is the last line of a stream with status 200.
 */
export async function answerLines(exchange: Exchange, lines: AsyncIterable<object>): Promise<void> {
  const { response, signal } = exchange;
  try {
    for await (const line of lines) await sendLine(exchange, line);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    if (!response.headersSent) return answerFailure(exchange, error);
    await sendLine(exchange, error.body);
  }
  signal.throwIfAborted();
  startLines(exchange);
  response.end();
}

/** The answer to `stream: false`: the last line, or the error, whenever it came. */
export async function answerLast(
  exchange: Exchange,
  lines: AsyncIterable<object>,
  contentType?: string,
): Promise<void> {
  let last = {};
  try {
    for await (const line of lines) last = line;
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    return answerFailure(exchange, error);
  }
  exchange.signal.throwIfAborted();
  answerJson(exchange.response, last, contentType === undefined ? {} : { contentType });
}

/** Errors from a stream have no charset, as recorded from a real runner. */
function answerFailure({ response }: Exchange, { status, body }: ApiFailure): void {
  answerJson(response, body, { status, contentType: 'application/json' });
}

async function sendLine(exchange: Exchange, line: object): Promise<void> {
  const { response, signal } = exchange;
  signal.throwIfAborted();
  startLines(exchange);
  if (!response.write(`${encodeJson(line)}\n`)) await once(response, 'drain', { signal });
}

function startLines({ response }: Exchange): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
}
