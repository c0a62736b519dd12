import { StringDecoder } from 'node:string_decoder';
import { cutText } from '../../../protocol/base/text.ts';
import { plainText } from '../../base/programOutput.ts';

/** What is kept of an output for the user, in characters. */
const maxHead = 64 * 1024;
const maxTail = 192 * 1024;
/** Of a line. */
const maxLine = 2_000;
/** So often a line stands as it is; then its repeats are counted. */
const maxSame = 2;

/** What a program has written, as a person reads it. */
export interface CheckOutput {
  /** With a note where something is left out. */
  readonly text: string;
  readonly lines: number;
  /** How many characters are left out. */
  readonly left: number;
}

/**
 * Takes the output of a program in pieces, and keeps its beginning and its end: without escape sequences, without what
 * a later part of a line has overwritten, and with each repeated line counted.
 */
export function createCheckOutput() {
  const decoder = new StringDecoder('utf8');
  let [head, tail, pending, previous, last] = ['', '', '', '\n', ''];
  let [lines, left, times] = [0, 0, 0];
  const cutTail = () => {
    const from = tail.length - maxTail;
    const at = from <= 0 ? 0 : tail.indexOf('\n', from - 1) + 1;
    left += at;
    tail = tail.slice(at);
  };
  const keep = (line: string) => {
    lines += 1;
    if (tail === '' && left === 0 && head.length + line.length < maxHead) head += `${line}\n`;
    else tail += `${line}\n`;
    if (tail.length > 2 * maxTail) cutTail();
  };
  const countRepeats = () => {
    if (times > maxSame && previous !== '') keep(`[${times - maxSame} more lines like the one before]`);
    times = 0;
  };
  const takeLine = (raw: string) => {
    const line = readableLine(raw);
    if (line !== previous) countRepeats();
    previous = line;
    times += 1;
    last = line || last;
    // Several blank lines are one.
    if (times <= (line === '' ? 1 : maxSame)) keep(line);
  };
  return {
    push(chunk: Buffer): void {
      const parts = (pending + decoder.write(chunk)).split('\n');
      pending = parts.pop() ?? '';
      for (const part of parts) takeLine(part);
      // A program may write a bar for minutes, and no end of the line.
      if (pending.length > 2 * maxLine) pending = overwritten(pending).slice(0, 2 * maxLine);
    },
    /** How many lines there are so far, and the last of them that is not blank. */
    soFar: () => ({ lines, last }),
    end(): CheckOutput {
      pending += decoder.end();
      if (pending !== '') takeLine(pending);
      countRepeats();
      cutTail();
      const note = left === 0 ? '' : `[${left.toLocaleString('en-US')} characters are left out here.]\n`;
      return { text: (head + note + tail).trimEnd(), lines, left };
    },
  };
}

const hasControls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

function readableLine(raw: string): string {
  const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
  if (line.length <= maxLine && !hasControls.test(line)) return line.trimEnd();
  const plain = overwritten(line).split('\t').map(plainText).join('\t').trimEnd();
  return plain.length > maxLine ? `${cutText(plain, maxLine)}…` : plain;
}

/** What is left of a line on a screen: the last part that was written from its beginning. */
function overwritten(line: string): string {
  const parts = line.replace(/\x1b\[(?:[12]K|[01]?G)/g, '\r').split(/(?<=\r)/);
  return parts.findLast((part) => part.replace(/[\s\x00-\x1f]/g, '') !== '') ?? '';
}
