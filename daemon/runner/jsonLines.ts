import { StringDecoder } from 'node:string_decoder';
import { advise, RunnerError } from '../base/errors.ts';
import { excessOf, maxNesting, maxNodes } from '../base/nesting.ts';
import { createYielder } from '../base/yielder.ts';

/** No line of a chat is longer than this. The limit is that of the runner's own client. */
const maxLineBytes = 8 * 1024 * 1024;
/** The limit of a whole stream. The longest accepted answer has fewer bytes, even if each line holds one character. */
const maxStreamBytes = 2 * 1024 * 1024 * 1024;
/** After this many more characters of an unfinished line, an empty batch reports that the runner is still sending. */
const lineStep = 1024 * 1024;

/**
 * Reads newline-delimited JSON in linear time; each read of the socket that ends a line is one batch. Characters that
 * are split between reads are joined, invalid UTF-8 becomes U+FFFD, and blank lines are skipped. An empty batch
 * stands for each megabyte of a line that has not ended. Each read is decoded as a whole, because a chat has a line for
 * each token, and the splitter of `protocol/base` would make a buffer and a string of each line.
 * @throws {RunnerError} `bad-response` at a line that is not JSON or exceeds a limit, and when the stream exceeds its
 * limit.
 */
export async function* readJsonLines(
  body: AsyncIterable<Buffer>,
  { maxLine = maxLineBytes, maxStream = maxStreamBytes } = {},
): AsyncGenerator<readonly unknown[]> {
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
      const lines = parseLines(carry + text.slice(0, end));
      carry = text.slice(end + 1);
      reported = 0;
      if (lines.length > 0) yield lines;
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
  if (rest.trim() !== '') yield parseLines(rest);
}

function parseLines(text: string): readonly unknown[] {
  const values: unknown[] = [];
  let start = 0;
  while (start <= text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end);
    if (line.length > maxLineBytes) throw tooLong(maxLineBytes);
    if (line.trim() !== '') values.push(parseLine(line));
    start = end + 1;
  }
  return values;
}

function parseLine(line: string): unknown {
  refuseExcess(line);
  try {
    return JSON.parse(line);
  } catch (cause) {
    const html = /^\s*<(!doctype|html)/i.test(line);
    throw new RunnerError(
      'bad-response',
      html
        ? advise('The runner address returned a web page instead of an answer.', 'check-proxy')
        : 'The runner sent a line that is not JSON. Ask again; if it happens again, update the runner.',
      { cause },
    );
  }
}

/**
 * Refuses JSON that is too large or too deep to pass on, before it takes any memory.
 * @throws {RunnerError} `bad-response`.
 */
export function refuseExcess(text: string): void {
  const excess = excessOf(text);
  if (excess === undefined) return;
  const what =
    excess === 'deep'
      ? `is nested more than ${maxNesting} levels deep`
      : `has more than ${maxNodes.toLocaleString('en')} objects, lists and keys`;
  throw new RunnerError(
    'bad-response',
    advise(`The runner sent JSON that ${what}, which no answer needs.`, 'check-address'),
  );
}

function tooLong(limit: number): RunnerError {
  const megabytes = Math.round(limit / (1024 * 1024));
  return new RunnerError(
    'bad-response',
    advise(`The runner sent a line of more than ${megabytes} MB, which no answer needs.`, 'check-address'),
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
