import { type LineLimits, readTextLines, tooLong } from '../http/textLines.ts';

/** One event of a server-sent stream. */
export interface ServerSentEvent {
  /** `message`, if the server names no other. */
  readonly name: string;
  readonly data: string;
}

/** The most characters of the data of one event. */
const maxData = 8 * 1024 * 1024;
/** What a line of it takes beyond its characters: a flood of empty lines must not take more memory than a long one. */
const lineCost = 64;

/**
 * Reads server-sent events, as the HTML standard defines them, in linear time; each read of the socket is one batch.
 * Comments, which keep a connection open, and fields other than `event` and `data` are skipped, and so is text of no
 * form, such as the last words of a proxy. A line end is a line feed, with or without a carriage return. An event that
 * no blank line ends is lost. A body that is one JSON object, although a stream was asked for, is one event, and so is
 * a line `error: {…}`, which old versions of llama.cpp send. An empty batch says that the runner is still sending.
 * @throws {RunnerError} `bad-response` at an event that is too long, and at the limits of `readTextLines`.
 */
export async function* readEvents(
  body: AsyncIterable<Buffer>,
  limits?: LineLimits,
): AsyncGenerator<readonly ServerSentEvent[]> {
  let name = '';
  let data: string | undefined;
  let size = 0;
  let isFirst = true;
  let isBare = false;
  for await (const lines of readTextLines(body, limits)) {
    const events: ServerSentEvent[] = [];
    for (const line of lines) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      isBare ||= isFirst && text.trimStart().startsWith('{');
      isFirst &&= text === '';
      if (text === '' && !isBare) {
        if (data !== undefined) events.push({ name: name || 'message', data });
        name = '';
        data = undefined;
        size = 0;
        continue;
      }
      const value = isBare ? text : fieldOf(text, 'data');
      if (value !== undefined) {
        size += value.length + lineCost;
        if (size > maxData) throw tooLong(maxData, 'an event');
        data = data === undefined ? value : `${data}\n${value}`;
      } else if (text.startsWith('error: {'))
        events.push({ name: 'error', data: text.slice('error: '.length) });
      else name = fieldOf(text, 'event') ?? name;
    }
    yield events;
  }
  if (isBare && data !== undefined) yield [{ name: 'message', data }];
}

/** The value of a field, without the one blank that may begin it. */
function fieldOf(line: string, field: string): string | undefined {
  if (!line.startsWith(field)) return undefined;
  if (line.length === field.length) return '';
  if (line[field.length] !== ':') return undefined;
  return line.slice(field.length + (line[field.length + 1] === ' ' ? 2 : 1));
}
