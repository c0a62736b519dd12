import { isRecord } from '../../../protocol/base/json.ts';
import { endOf } from '../doneReason.ts';
import type { Subject } from '../http/answerFailure.ts';
import type { FillPart } from '../runner.ts';
import { endedEarly, isDone, parseEvent } from './chatAnswer.ts';
import type { ServerSentEvent } from './eventStream.ts';

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
