import { isRecord } from '../../../protocol/base/json.ts';
import { RunnerError } from '../../base/errors.ts';
import { parseStreamed } from '../http/answerBody.ts';
import { detailsOf, errorJson, type Subject } from '../http/answerFailure.ts';
import type { ServerSentEvent } from '../http/textStreams.ts';
import { type CallPart, type ChatPart, endOf, type FillPart } from '../runner.ts';
import { CallDeltas } from './callDeltas.ts';
import { refuseFailure } from './errorTexts.ts';
import { countOf } from './modelList.ts';

/** Reads the events of `/v1/chat/completions`. The answer is over after a reason to finish, and `[DONE]` after it. */
export class ChatAnswer {
  readonly #calls = new CallDeltas();
  readonly #repeated = new RepeatedEvent();
  #finish: string | undefined;
  #promptTokens = 0;
  #completionTokens = 0;

  constructor(private readonly subject: Subject) {}

  /**
   * The part of the answer that an event brings; undefined if it brings none.
   * @throws {RunnerError} at an event that is a failure, and at an end that is none.
   */
  read(event: ServerSentEvent): ChatPart | undefined {
    const repeated = event.name === 'error' ? undefined : this.#repeated.read(event.data);
    if (repeated) return repeated;
    if (isDone(event)) return { ...nothing, ...this.#end() };
    const value = parseEvent(event, this.subject);
    if (!value) return undefined;
    this.#count(value['usage']);
    const choice = Array.isArray(value['choices']) ? value['choices'][0] : undefined;
    if (!isRecord(choice)) return undefined;
    const { delta, message, finish_reason: finish } = choice;
    // Some send an empty reason with each part.
    if (typeof finish === 'string') this.#finish ||= finish;
    if (isRecord(delta)) {
      const part = this.#add(delta);
      if (part && !isRecord(value['usage'])) this.#repeated.learn(event.data, delta, part);
      return part;
    }
    // A whole answer in one object, although a stream was asked for.
    return isRecord(message) ? { ...(this.#add(message) ?? nothing), ...this.#end() } : undefined;
  }

  #add(delta: Readonly<Record<string, unknown>>): ChatPart | undefined {
    this.#calls.add(delta['tool_calls'] ?? legacyCall(delta['function_call']));
    const content = textOf(delta['content']) || textOf(delta['refusal']);
    const thinking = thinkingOf(delta);
    if (content === '' && thinking === '') return undefined;
    return textPart(content, thinking);
  }

  #count(usage: unknown): void {
    if (!isRecord(usage)) return;
    this.#promptTokens = countOf(usage['prompt_tokens']) ?? 0;
    this.#completionTokens = countOf(usage['completion_tokens']) ?? 0;
  }

  #end(): Omit<ChatPart, 'content' | 'thinking'> {
    if (this.#finish === undefined) throw endedEarly(this.subject);
    const { calls, malformed } = this.#calls.read();
    const doneReason = endOf(this.#finish);
    if (doneReason === 'length' && malformed.length > 0) throw cutCall(malformed[0]?.name, this.subject);
    return {
      toolCalls: calls,
      ...(malformed.length === 0 ? {} : { malformed }),
      done: true,
      doneReason,
      promptTokens: this.#promptTokens,
      completionTokens: this.#completionTokens,
    };
  }
}

const noCalls: readonly CallPart[] = [];

function textPart(content: string, thinking: string): ChatPart {
  return { content, thinking, toolCalls: noCalls, done: false, promptTokens: 0, completionTokens: 0 };
}

/** A part that brings nothing. */
export const nothing: ChatPart = textPart('', '');

/**
 * Most events of an answer differ from the one before in nothing but their text. Such an event is read without parsing
 * its JSON again, which would be half of the work on an answer.
 */
class RepeatedEvent {
  #before = '';
  #after = '';
  #part: ChatPart | undefined;

  /** The part of an event that differs from the learnt one in its text alone; undefined if it must be parsed. */
  read(data: string): ChatPart | undefined {
    if (!this.#part || !data.startsWith(this.#before) || !data.endsWith(this.#after)) return undefined;
    const text = data.slice(this.#before.length, data.length - this.#after.length);
    if (!isPlain.test(text)) return undefined;
    const [content, thinking] = this.#part.content === '' ? ['', text] : [text, ''];
    return textPart(content, thinking);
  }

  /** Learns an event that has only this part, if one field alone brings it. */
  learn(data: string, delta: Readonly<Record<string, unknown>>, part: ChatPart): void {
    const [name, ...others] = Object.keys(delta).filter((key) => key !== 'role' && delta[key]);
    const text = part.content || part.thinking;
    if (name === undefined || others.length > 0 || delta[name] !== text) return;
    const key = data.indexOf(`"${name}"`);
    const start = data.indexOf('"', key + name.length + 2) + 1;
    const isOnly = key !== -1 && data.lastIndexOf(`"${name}"`) === key;
    if (!isOnly || !data.startsWith(`${text}"`, start)) return;
    this.#before = data.slice(0, start);
    this.#after = data.slice(start + text.length);
    this.#part = part;
  }
}

/** Text that stands in JSON as it is. */
const isPlain = /^[^"\\\0-\x1f]+$/;

/** Before there were tools, a model called one function. */
function legacyCall(called: unknown): unknown {
  return isRecord(called) ? [{ index: 0, function: called }] : undefined;
}

/** The names that servers and gateways have for the thinking. One that uses several says the same in each. */
const thinkingNames = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text'];

function thinkingOf(delta: Readonly<Record<string, unknown>>): string {
  // Most deltas have nothing but their text.
  for (const name in delta) if (name !== 'content' && name !== 'role') return thinkingIn(delta);
  return typeof delta['content'] === 'string' ? '' : textOf(delta['content'], 'thinking');
}

function thinkingIn(delta: Readonly<Record<string, unknown>>): string {
  const {
    content,
    provider_specific_fields: more,
    reasoning_details: details,
    thinking_blocks: blocks,
  } = delta;
  for (const fields of [delta, more])
    for (const name of thinkingNames) {
      const text = isRecord(fields) ? textOf(fields[name]) : '';
      if (text !== '') return text;
    }
  const parts = [details, blocks].find(Array.isArray)?.filter(isRecord);
  if (!parts) return textOf(content, 'thinking');
  return parts.map(({ text, summary, thinking }) => partText(text ?? summary ?? thinking)).join('');
}

/** A text, or the texts of one kind in a list of parts. Mistral's thinking is a list in such a list. */
function textOf(value: unknown, kind: 'text' | 'thinking' = 'text'): string {
  if (typeof value === 'string') return kind === 'text' ? value : '';
  if (!Array.isArray(value)) return '';
  const parts = value.filter(isRecord).filter(({ type = 'text' }) => type === kind);
  return parts.map((part) => partText(part[kind])).join('');
}

function partText(value: unknown): string {
  return typeof value === 'string' ? value : textOf(value);
}

function isDone({ data }: ServerSentEvent): boolean {
  return data.length < 16 && data.trim() === '[DONE]';
}

/**
 * The value of an event; undefined if it is no object.
 * @throws {RunnerError} if the event is a failure, whose reason some servers send as bare text.
 */
function parseEvent(
  { name, data }: ServerSentEvent,
  subject: Subject,
): Readonly<Record<string, unknown>> | undefined {
  const value = name === 'error' ? (errorJson(data) ?? data) : parseStreamed(data);
  if (name === 'error' || isRecord(value)) refuseFailure(name, value, subject);
  return isRecord(value) ? value : undefined;
}

/** A stream may end with status 200 although the model was unloaded, or its process was killed. */
export function endedEarly(subject: Subject): RunnerError {
  return new RunnerError(
    'bad-response',
    'The runner ended its answer too early. Ask again; if it happens again, look at the log of the runner.',
    { details: detailsOf(subject) },
  );
}

function cutCall(name: string | undefined, subject: Subject): RunnerError {
  return new RunnerError(
    'bad-response',
    `The answer was cut in the middle of a call of ${name || 'a tool'}. Raise num_predict, or make the context window larger, and ask again.`,
    { details: detailsOf(subject) },
  );
}

/**
 * Reads the events of `/v1/completions`, which end with a reason to finish and `[DONE]`, and of llama.cpp's `/infill`,
 * whose last event says `stop`.
 */
export function createFillReader(subject: Subject): (event: ServerSentEvent) => FillPart | undefined {
  let finish: string | undefined;
  return (event) => {
    if (isDone(event)) {
      if (finish === undefined) throw endedEarly(subject);
      return { text: '', done: true, doneReason: finish };
    }
    const value = parseEvent(event, subject);
    if (!value) return undefined;
    const { content, stop, stop_type: type, choices } = value;
    if (typeof content === 'string')
      return stop === true
        ? { text: content, done: true, doneReason: endOf(typeof type === 'string' ? type : '') }
        : { text: content, done: false };
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!isRecord(choice)) return undefined;
    if (typeof choice['finish_reason'] === 'string') finish ??= endOf(choice['finish_reason']);
    return typeof choice['text'] === 'string' ? { text: choice['text'], done: false } : undefined;
  };
}
