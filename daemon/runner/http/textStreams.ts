import { StringDecoder } from 'node:string_decoder';
import { advise, RunnerError } from '../../base/errors.ts';
import { createYielder } from '../../base/yielder.ts';
import { parseStreamed } from './answerBody.ts';

/** No line of a chat is longer than this. The limit is that of the runner's own client. */
const maxLineBytes = 8 * 1024 * 1024;
/** The limit of a whole stream. The longest accepted answer has fewer bytes, even if each line holds one character. */
const maxStreamBytes = 2 * 1024 * 1024 * 1024;
/** After this many more characters of an unfinished line, an empty batch reports that the runner is still sending. */
const lineStep = 1024 * 1024;

/** The most characters of a line, and the most bytes of a stream. */
export interface LineLimits {
  readonly maxLine?: number;
  readonly maxStream?: number;
}

/**
 * Reads the lines of a stream in linear time; each read of the socket that ends a line is one batch. Characters that
 * are split between reads are joined, and invalid UTF-8 becomes U+FFFD. An empty batch stands for each megabyte of a
 * line that has not ended. Each read is decoded as a whole, because a chat has a line for each token, and the splitter
 * of `protocol/base` would make a buffer and a string of each line.
 * @throws {RunnerError} `bad-response` at a line that exceeds a limit, and when the stream exceeds its limit.
 */
async function* readTextLines(
  body: AsyncIterable<Buffer>,
  { maxLine = maxLineBytes, maxStream = maxStreamBytes }: LineLimits = {},
): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  const yieldNow = createYielder();
  let carry = '';
  let reported = 0;
  let read = 0;
  for await (const chunk of body) {
    read += chunk.length;
    if (read > maxStream) throw endless(maxStream);
    const text = decoder.write(chunk);
    const end = text.lastIndexOf('\n');
    if (end === -1) {
      carry += text;
    } else {
      const lines = linesOf(carry + text.slice(0, end), maxLine);
      carry = text.slice(end + 1);
      reported = 0;
      yield lines;
    }
    if (carry.length > maxLine) throw tooLong(maxLine);
    if (carry.length >= reported + lineStep) {
      reported = carry.length;
      yield [];
    }
    // A runner that floods us must not keep others from their turn.
    const pause = yieldNow();
    if (pause) await pause;
  }
  const rest = carry + decoder.end();
  if (rest !== '') yield linesOf(rest, maxLine);
}

/** The lines of a text; the last one has no line end. */
function linesOf(text: string, maxLine: number): readonly string[] {
  const lines = text.split('\n');
  for (const line of lines) if (line.length > maxLine) throw tooLong(maxLine);
  return lines;
}

/** The error for a part of a stream that is longer than any answer needs. */
function tooLong(limit: number, what = 'a line'): RunnerError {
  const megabytes = Math.round(limit / (1024 * 1024));
  return new RunnerError(
    'bad-response',
    advise(`The runner sent ${what} of more than ${megabytes} MB, which no answer needs.`, 'check-address'),
  );
}

function endless(limit: number): RunnerError {
  const gigabytes = Math.round(limit / 1024 ** 3);
  return new RunnerError(
    'bad-response',
    advise(
      `The runner sent more than ${gigabytes} GB in one answer, which was then stopped.`,
      'check-address',
    ),
  );
}

/**
 * Reads newline-delimited JSON. Blank lines are skipped. An empty batch says that the runner is still sending.
 * @throws {RunnerError} `bad-response` at a line that is not JSON, and at the limits of `readTextLines`.
 */
export async function* readJsonLines(
  body: AsyncIterable<Buffer>,
  limits?: LineLimits,
): AsyncGenerator<readonly unknown[]> {
  for await (const lines of readTextLines(body, limits)) {
    const values: unknown[] = [];
    for (const line of lines) if (line.trim() !== '') values.push(parseStreamed(line));
    if (values.length > 0 || lines.length === 0) yield values;
  }
}

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
