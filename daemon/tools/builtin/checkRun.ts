import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { openJoinedOutput } from '../../../protocol/base/platform/joinedOutput.ts';
import type { ProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import { startProgram } from '../../../protocol/base/platform/program.ts';
import { cutText } from '../../../protocol/base/text.ts';
import { plainText } from '../../base/programOutput.ts';
import type { CallListener } from '../../chat/daemonTools.ts';

interface CheckRunOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly groups: ProcessGroups;
  /** In ms. */
  readonly limit: number;
  readonly now: () => number;
  /** Reports the last line of the output, twice a second if there is a new one. */
  readonly onProgress?: CallListener['onProgress'];
}

/** How a check has ended. */
interface CheckEnd {
  /** In words. */
  readonly ended: string;
  /** Null if it has not ended by itself. */
  readonly exitCode: number | null;
  /** The user has to do something about it. */
  readonly isFailed?: boolean;
}

export type CheckRun = Awaited<ReturnType<typeof runCheck>>;

/** How long a group that was asked to end has for it, in ms. */
const killAfter = 2_000;
/** How long a process that has left the group may hold the output open, in ms. */
const drainLimit = 1_000;
/** How often progress is reported, in ms, and how many characters a report has at most. */
const reportEvery = 500;
const maxMessage = 1_000;

const late = new Error('The check took too long, and was ended');

/**
 * Runs a program to its end, without a shell and without input, and ends every process of its group. Rejects with the
 * reason of an aborted signal once they have ended.
 */
export async function runCheck(options: CheckRunOptions, signal: AbortSignal) {
  const { command, groups, now, limit, onProgress, ...place } = options;
  const [program = '', ...args] = command;
  const pipe = await openJoinedOutput(place.platform);
  try {
    signal.throwIfAborted();
    const begun = now();
    const output = createCheckOutput();
    const child = startProgram(program, args, { ...place, leadsGroup: true, stdio: pipe.stdio });
    groups.add(child, killAfter);
    const closed = pipe.read(child, output.push);
    let reported = 0;
    const reporting = setInterval(() => {
      const { lines, last } = output.soFar();
      if (lines > reported) onProgress?.({ progress: lines, message: cutText(last, maxMessage) });
      reported = lines;
    }, reportEvery).unref();
    const exit = () => once(child, 'exit');
    const end = await withTimeLimit({ limit, reason: late, signal }, exit).then(exitOf, failureOf);
    clearInterval(reporting);
    const ms = now() - begun;
    await groups.end(child);
    await withTimeLimit({ limit: drainLimit, reason: late, signal }, () => closed).catch(() => undefined);
    signal.throwIfAborted();
    return { ...end, output: output.end(), ms };
  } finally {
    pipe.destroy();
  }
}

function exitOf([code, by]: readonly unknown[]): CheckEnd {
  if (typeof code === 'number') return { ended: `exit code ${code}`, exitCode: code };
  return { ended: `ended by ${by ?? 'a signal'}`, exitCode: null };
}

function failureOf(error: NodeJS.ErrnoException): CheckEnd {
  if (error === late) return { ended: late.message, exitCode: null, isFailed: true };
  const whys = { ENOENT: 'its program does not exist', EACCES: 'its program is not executable' };
  const why = whys[error.code as keyof typeof whys] ?? error.code ?? 'unknown error';
  return { ended: `The check cannot be started: ${why}. Tell the user.`, exitCode: null, isFailed: true };
}

/** What is kept of an output for the user, in characters. */
const maxHead = 64 * 1024;
const maxTail = 192 * 1024;
/** Of a line. */
const maxLine = 2_000;
/** So often a line stands as it is; then its repeats are counted. */
const maxSame = 2;

/** What a program has written, as a person reads it. */
interface CheckOutput {
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
