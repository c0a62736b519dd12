import type { ChatPart } from '../runner.ts';

/**
 * Most events of an answer differ from the one before in nothing but their text. Such an event is read without parsing
 * its JSON again, which would be half of the work on an answer.
 */
export class RepeatedEvent {
  #before = '';
  #after = '';
  #part: ChatPart | undefined;

  /** The part of an event that differs from the learnt one in its text alone; undefined if it must be parsed. */
  read(data: string): ChatPart | undefined {
    if (!this.#part || !data.startsWith(this.#before) || !data.endsWith(this.#after)) return undefined;
    const text = data.slice(this.#before.length, data.length - this.#after.length);
    if (!isPlain.test(text)) return undefined;
    const [content, thinking] = this.#part.content === '' ? ['', text] : [text, ''];
    return { content, thinking, toolCalls: noCalls, done: false, promptTokens: 0, completionTokens: 0 };
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

const noCalls: ChatPart['toolCalls'] = [];

/** Text that stands in JSON as it is. */
const isPlain = /^[^"\\\0-\x1f]+$/;
