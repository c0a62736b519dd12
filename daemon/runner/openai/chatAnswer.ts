import { isRecord } from '../../../protocol/base/json.ts';
import { RunnerError } from '../../base/errors.ts';
import type { Subject } from '../http/answerFailure.ts';
import { parseStreamed } from '../http/boundedJson.ts';
import type { ChatPart } from '../runner.ts';
import { CallDeltas } from './callDeltas.ts';
import { refuseFailure } from './errorTexts.ts';
import type { StreamEvent } from './eventStream.ts';
import { countOf } from './modelList.ts';

/** Reads the events of `/v1/chat/completions`. The answer is over after a reason to finish, and `[DONE]` after it. */
export class ChatAnswer {
  readonly #subject: Subject;
  readonly #calls = new CallDeltas();
  #finish: string | undefined;
  #promptTokens = 0;
  #completionTokens = 0;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /**
   * The part of the answer that an event brings; undefined if it brings none.
   * @throws {RunnerError} at an event that is a failure, and at an end that is none.
   */
  read({ name, data }: StreamEvent): ChatPart | undefined {
    if (data.trim() === '[DONE]') return this.#end();
    const value = parseStreamed(data);
    if (!isRecord(value)) return undefined;
    refuseFailure(name, value, this.#subject);
    this.#count(value['usage']);
    const choice = Array.isArray(value['choices']) ? value['choices'][0] : undefined;
    return isRecord(choice) ? this.#choose(choice) : undefined;
  }

  #choose({
    delta,
    message,
    finish_reason: finish,
  }: Readonly<Record<string, unknown>>): ChatPart | undefined {
    if (typeof finish === 'string') this.#finish ??= finish;
    // KoboldCpp ends with a message in place of a delta.
    const given = isRecord(delta) ? delta : message;
    if (!isRecord(given)) return undefined;
    this.#calls.add(given['tool_calls'] ?? legacyCall(given['function_call']));
    const content = textOf(given['content']) || textOf(given['refusal']);
    const thinking = thinkingOf(given);
    return content === '' && thinking === '' ? undefined : { ...nothing, content, thinking };
  }

  #count(usage: unknown): void {
    if (!isRecord(usage)) return;
    this.#promptTokens = countOf(usage['prompt_tokens']) ?? 0;
    this.#completionTokens = countOf(usage['completion_tokens']) ?? 0;
  }

  #end(): ChatPart {
    if (this.#finish === undefined) throw endedEarly(this.#subject);
    const { calls, malformed } = this.#calls.read();
    const isCut = this.#finish === 'length';
    if (isCut && malformed.length > 0) throw cutCall(malformed, this.#subject);
    return {
      ...nothing,
      toolCalls: calls,
      ...(malformed.length === 0 ? {} : { malformed }),
      done: true,
      doneReason: isCut ? 'length' : 'stop',
      promptTokens: this.#promptTokens,
      completionTokens: this.#completionTokens,
    };
  }
}

/** A part that brings nothing. */
export const nothing: ChatPart = {
  content: '',
  thinking: '',
  toolCalls: [],
  done: false,
  promptTokens: 0,
  completionTokens: 0,
};

/** Before there were tools, a model called one function. */
function legacyCall(called: unknown): unknown {
  return isRecord(called) ? { index: 0, function: called } : undefined;
}

/** The thinking under the names that servers and gateways have for it. One that uses several says the same in each. */
function thinkingOf(delta: Readonly<Record<string, unknown>>): string {
  const { provider_specific_fields: more, reasoning_details: details, thinking_blocks: blocks } = delta;
  for (const fields of [delta, more])
    for (const name of ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text']) {
      const text = isRecord(fields) ? textOf(fields[name]) : '';
      if (text !== '') return text;
    }
  const parts = [details, blocks].find(Array.isArray) ?? [];
  return parts
    .filter(isRecord)
    .map(({ text, summary, thinking }) => textOf(text) || textOf(summary) || textOf(thinking))
    .join('');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A stream may end with status 200 although the model was unloaded, or its process was killed. */
export function endedEarly({ server, model }: Subject): RunnerError {
  return new RunnerError(
    'bad-response',
    'The runner ended its answer too early. Ask again; if it happens again, look at the log of the runner.',
    { details: { server, ...(model === undefined ? {} : { model }) } },
  );
}

function cutCall(names: readonly string[], { server, model }: Subject): RunnerError {
  return new RunnerError(
    'bad-response',
    `The answer was cut in the middle of a call of ${names[0] || 'a tool'}. Raise num_predict, or make the context window larger, and ask again.`,
    { details: { server, ...(model === undefined ? {} : { model }) } },
  );
}
