import { isRecord } from '../../protocol/base/json.ts';
import {
  badRequest,
  type Call,
  countTokens,
  type Fields,
  fieldsOf,
  type Hole,
  type HttpAnswer,
  listOf,
  type Practice,
  type PracticePrompt,
  type PromptMessage,
  type PromptTool,
  type Request,
  recordOf,
  type SpeechPiece,
  textOf,
} from './exchange.ts';
import { answerLoaded, type Inference, readInference, requireCapabilities, thinks } from './inference.ts';

export function generate(practice: Practice, request: Request): HttpAnswer | Promise<HttpAnswer> {
  const fields = fieldsOf(request);
  const inference = readInference(practice, fields);
  const [prompt, suffix] = [textOf(fields['prompt']), textOf(fields['suffix'])];
  const isEmpty = prompt === '' && suffix === '';
  if (!isEmpty || inference.keepAlive !== 0)
    requireCapabilities(inference, { use: 'generate', needed: suffix === '' ? [] : ['insert'] });
  if (isEmpty) return answerLoaded(practice, inference, { response: '' });
  const hole = holeIn(fields);
  const system = textOf(fields['system']) || (inference.model.system ?? '');
  const messages = [
    ...(system === '' || hole ? [] : [{ role: 'system', content: system, toolName: '', images: 0 }]),
    { role: 'user', content: prompt + suffix, toolName: '', images: 0 },
  ];
  const think = fields['raw'] !== true && thinks(inference);
  return answerSteps(practice, {
    inference,
    prompt: { messages, tools: [], think, signal: request.signal, ...(hole ? { hole } : {}) },
    fieldsOf: ({ text, thinking }) => ({ response: text, thinking }),
  });
}

const prefixFirst =
  /^(?:<\|?fim_prefix\|?>|<PRE> |<｜fim▁begin｜>)([\s\S]*?)(?:<\|?fim_suffix\|?>| <SUF>|<｜fim▁hole｜>)([\s\S]*?)(?:<\|?fim_middle\|?>| <MID>|<｜fim▁end｜>)$/;
const suffixFirst =
  /^(?:\[SUFFIX\]|<\|code_suffix\|>)([\s\S]*?)(?:\[PREFIX\]|<\|code_prefix\|>)([\s\S]*?)(?:<\|code_middle\|>)?$/;

/**
 * The texts around the hole, if there is one to fill. A raw prompt is written with the tokens of a family; in any other
 * raw prompt all text is before the hole.
 */
function holeIn({ raw, prompt: given, suffix: after }: Fields): Hole | undefined {
  const prompt = textOf(given);
  if (raw !== true) return after ? { prefix: prompt, suffix: textOf(after) } : undefined;
  const [, prefix, suffix] = prefixFirst.exec(prompt) ?? [];
  if (prefix !== undefined && suffix !== undefined) return { prefix, suffix };
  const [, behind = '', before = prompt] = suffixFirst.exec(prompt) ?? [];
  return { prefix: before, suffix: behind };
}

export function chat(practice: Practice, request: Request): HttpAnswer | Promise<HttpAnswer> {
  const fields = fieldsOf(request);
  const inference = readInference(practice, fields);
  const messages = listOf(fields['messages']).filter(isRecord).map(messageOf);
  const tools = listOf(fields['tools']).map(toolOf);
  const isEmpty = messages.length === 0;
  if (!isEmpty || inference.keepAlive !== 0)
    requireCapabilities(inference, { use: 'chat', needed: tools.length > 0 ? ['tools'] : [] });
  if (isEmpty) return answerLoaded(practice, inference, { message: { role: 'assistant', content: '' } });
  return answerSteps(practice, {
    inference,
    prompt: { messages, tools, think: thinks(inference), signal: request.signal },
    fieldsOf: ({ text, thinking, calls }) => ({
      message: { role: 'assistant', content: text, thinking, tool_calls: calls },
    }),
  });
}

function messageOf({
  role,
  content,
  images,
  tool_name: toolName,
}: Readonly<Record<string, unknown>>): PromptMessage {
  return {
    role: textOf(role).toLowerCase(),
    content: textOf(content),
    toolName: textOf(toolName),
    images: listOf(images).length,
  };
}

function toolOf(tool: unknown): PromptTool {
  const { name, description, parameters } = recordOf(recordOf(tool)['function']);
  return { name: textOf(name), description: textOf(description), parameters: recordOf(parameters) };
}

/** One line of an answer, before it gets the form of chat or generate. */
interface Step {
  readonly text: string;
  readonly thinking?: string | undefined;
  readonly calls?: readonly object[] | undefined;
  /** The reason and the metrics, in the last one. */
  readonly done?: object | undefined;
}

interface AnswerRequest {
  readonly inference: Inference;
  readonly prompt: Omit<PracticePrompt, 'model' | 'format'>;
  /** The part of a line that differs between chat and generate. */
  readonly fieldsOf: (step: Step) => object;
}

/** Loads the model, and streams what it says as lines, or as one object if no stream was requested. */
async function answerSteps(practice: Practice, answering: AnswerRequest): Promise<HttpAnswer> {
  const { inference, fieldsOf } = answering;
  const { name, model, window, keepAlive, stream } = inference;
  practice.loaded.load(model, window, keepAlive);
  const toLine = (step: Step) => ({
    model: name,
    created_at: new Date(practice.clock.now()).toISOString(),
    ...fieldsOf(step),
    done: step.done !== undefined,
    ...step.done,
  });
  const steps = stepsOf(practice, answering);
  if (!stream) return { json: toLine(await mergeSteps(steps)) };
  return {
    lines: (async function* () {
      for await (const step of steps) yield toLine(step);
    })(),
  };
}

async function mergeSteps(steps: AsyncIterable<Step>): Promise<Step> {
  const all: Step[] = [];
  for await (const step of steps) all.push(step);
  const calls = all.flatMap((step) => step.calls ?? []);
  return {
    text: all.map(({ text }) => text).join(''),
    thinking: all.map(({ thinking = '' }) => thinking).join('') || undefined,
    calls: calls.length > 0 ? calls : undefined,
    done: all.at(-1)?.done,
  };
}

/** Lets the model speak within the limits of the request. */
async function* stepsOf(practice: Practice, { inference, prompt }: AnswerRequest): AsyncGenerator<Step> {
  const { model, format, window, truncate, shift, limit, stop, keepAlive } = inference;
  const promptTokens = countPrompt(prompt);
  if (promptTokens > window && !truncate) throw badRequest('the input length exceeds the context length');
  const room = shift ? limit : Math.min(limit, Math.max(0, window - promptTokens) + 1);
  const start = performance.now();
  let [tokens, calls, first] = [0, 0, start];
  try {
    for await (const piece of untilStop(practice.speak({ ...prompt, model, format }), stop)) {
      prompt.signal.throwIfAborted();
      if (tokens === 0) first = performance.now();
      tokens += piece.kind === 'calls' ? countTokens(JSON.stringify(piece.calls)) : 1;
      if (piece.kind === 'calls')
        yield { text: '', calls: piece.calls.map((call) => callOnWire(call, calls++)) };
      else yield piece.kind === 'text' ? { text: piece.text } : { text: '', thinking: piece.text };
      if (tokens >= room) break;
    }
  } finally {
    if (keepAlive === 0) practice.loaded.unload(model);
  }
  const nanoseconds = (from: number, to: number) => Math.max(1, Math.round((to - from) * 1e6));
  const now = performance.now();
  const done = {
    done_reason: tokens >= room ? 'length' : 'stop',
    total_duration: nanoseconds(start, now),
    load_duration: 1_000,
    prompt_eval_count: Math.min(promptTokens, window),
    prompt_eval_duration: nanoseconds(start, first),
    eval_count: tokens || undefined,
    // It starts with the first token, so a single one takes no time.
    eval_duration: tokens > 1 ? nanoseconds(first, now) : undefined,
  };
  yield { text: '', done };
}

/** An estimate: four more tokens for the frame of each message, and ten for each image. */
function countPrompt({ messages, tools }: AnswerRequest['prompt']): number {
  const texts = messages.map(({ content, images }) => countTokens(content) + 4 + images * 10);
  const offered = tools.map((tool) => countTokens(JSON.stringify(tool)));
  return [...texts, ...offered].reduce((sum, count) => sum + count, 0);
}

/** What is said before a stop sequence. Text is held back as long as its end may be the start of one. */
async function* untilStop(
  pieces: Iterable<SpeechPiece> | AsyncIterable<SpeechPiece>,
  stop: readonly string[],
): AsyncGenerator<SpeechPiece> {
  let held = '';
  for await (const piece of pieces) {
    if (piece.kind !== 'text') {
      yield piece;
      continue;
    }
    held += piece.text;
    const cuts = stop.map((sequence) => held.indexOf(sequence)).filter((index) => index !== -1);
    if (cuts.length > 0) return yield { kind: 'text', text: held.slice(0, Math.min(...cuts)) };
    if (stop.some((sequence) => endsWithStartOf(held, sequence))) continue;
    yield { kind: 'text', text: held };
    held = '';
  }
  if (held !== '') yield { kind: 'text', text: held };
}

function endsWithStartOf(text: string, sequence: string): boolean {
  return Array.from(sequence, (_, index) => sequence.slice(0, index + 1)).some((start) =>
    text.endsWith(start),
  );
}

function callOnWire({ id, name, arguments: args }: Call, index: number): Fields {
  return { id, function: { index, name, arguments: args } };
}
