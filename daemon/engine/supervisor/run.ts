import type { ChildProcess } from 'node:child_process';
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { LineSplitter } from '../../../protocol/base/lineSplitter.ts';
import type { ProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import { startProgram } from '../../../protocol/base/platform/program.ts';
import { plainText } from '../../base/programOutput.ts';
import type { LaunchCommand } from './launch.ts';

/** A process that answers. */
export interface Ready {
  readonly url: string;
  /** Tokens of its window. */
  readonly context?: number;
}

/** One process, from its start to its end. */
export interface EngineRun {
  /** Rejects with a sentence if it ends first, or says that it cannot start. */
  readonly ready: Promise<Ready>;
  /** Fulfilled when it has ended, with its last words. */
  readonly ended: Promise<string>;
}

/** It said itself that it cannot start, so another try would end in the same way. */
export class CannotStartError extends Error {
  override readonly name = 'CannotStartError';
}

/** In bytes. */
const maxLine = 64 * 1024;
/** How often a process is asked whether it is ready, in ms, and how long it may take to answer. */
const askEvery = 150;
const answerWithin = 2_000;
/** What a process wrote last may be read after its end, in ms. A process that it has started may hold its pipes. */
const lastWordsWithin = 500;

/** Starts a process. Its group ends with this program. `onLoading` gets percents. */
export function startRun(
  command: LaunchCommand,
  groups: Pick<ProcessGroups, 'add'>,
  onLoading: (percent: number) => void,
): EngineRun {
  const child = startProgram(command.file, command.args, {
    env: command.env,
    stdio: 'pipe',
    leadsGroup: true,
  });
  groups.add(child);
  for (const pipe of child.stdio) pipe?.on('error', () => undefined);
  child.stdin.write(command.input);
  let lastWords = '';
  readLines(child.stderr, (line) => {
    lastWords = plainText(line).trim() || lastWords;
  });
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => {
      const settle = () => {
        clearTimeout(late);
        resolve(signal ?? `exit code ${code}${lastWords && `: ${lastWords}`}`);
      };
      const late = setTimeout(settle, lastWordsWithin);
      child.on('close', settle);
    });
  });
  const ready = command.probe ? whenAnswering(child, command.probe) : whenReported(child, onLoading);
  const early = ended.then((how) => {
    throw new Error(`It ended before it was ready, with ${how.slice(0, 300)}`);
  });
  early.catch(() => undefined);
  return { ready: Promise.race([ready, early]), ended };
}

function readLines(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  const lines = new LineSplitter(maxLine);
  stream.on('data', (chunk: Buffer) => {
    for (const { text } of lines.push(chunk)) take(text);
  });
}

/** The engine reports what happens, one JSON object a line. */
function whenReported(child: ChildProcess, onLoading: (percent: number) => void): Promise<Ready> {
  return new Promise((resolve, reject) => {
    readLines(child.stdout ?? process.stdin, (line) => {
      const event = tryJson(line);
      if (!isRecord(event)) return;
      const { port, percent, context, message } = event;
      if (event['event'] === 'loading' && typeof percent === 'number') onLoading(percent);
      if (event['event'] === 'failed') reject(new CannotStartError(plainText(String(message))));
      if (event['event'] === 'ready' && typeof port === 'number')
        resolve({ url: `http://127.0.0.1:${port}`, ...(typeof context === 'number' && { context }) });
    });
  });
}

async function whenAnswering(
  child: ChildProcess,
  { url, path }: { readonly url: string; readonly path: string },
): Promise<Ready> {
  // Nobody reads it, and a full pipe would stop the process.
  child.stdout?.resume();
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  while (!(await answers(new URL(path, url)))) {
    if (hasEnded()) return new Promise(() => undefined);
    await pause(askEvery);
  }
  return { url };
}

/** Whether something answers with 200, which a server that still loads its model does not. */
function answers(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: answerWithin }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
