import { isRecord } from '../../../protocol/base/json.ts';
import type { Subject } from '../http/answerFailure.ts';
import { parseStreamed } from '../http/boundedJson.ts';
import type { FillPart } from '../runner.ts';
import { endedEarly } from './chatAnswer.ts';
import { refuseFailure } from './errorTexts.ts';
import type { StreamEvent } from './eventStream.ts';

/**
 * Reads the events of `/v1/completions`, which end with a reason to finish and `[DONE]`, and of llama.cpp's `/infill`,
 * whose last event says `stop`.
 */
export function createFillReader(subject: Subject): (event: StreamEvent) => FillPart | undefined {
  let finish: string | undefined;
  return ({ name, data }) => {
    if (data.trim() === '[DONE]') {
      if (finish === undefined) throw endedEarly(subject);
      return { text: '', done: true, doneReason: finish };
    }
    const value = parseStreamed(data);
    if (!isRecord(value)) return undefined;
    refuseFailure(name, value, subject);
    const { content, stop, stop_type: type, choices } = value;
    if (typeof content === 'string')
      return stop === true
        ? { text: content, done: true, doneReason: type === 'limit' ? 'length' : 'stop' }
        : { text: content, done: false };
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!isRecord(choice)) return undefined;
    if (typeof choice['finish_reason'] === 'string')
      finish ??= choice['finish_reason'] === 'length' ? 'length' : 'stop';
    return typeof choice['text'] === 'string' ? { text: choice['text'], done: false } : undefined;
  };
}
