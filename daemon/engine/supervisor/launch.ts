import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LineSplitter } from '../../../protocol/base/byteStreams.ts';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { writePrivateFile } from '../../../protocol/base/platform/privateFile.ts';
import type { ProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import { startProgram } from '../../../protocol/base/platform/program.ts';
import { plainText } from '../../base/programOutput.ts';
import type { LastEngine } from '../engineFile.ts';

/** What a supervisor is given on its standard input, as one line of JSON. */
export interface Launch {
  readonly asked: LastEngine;
  /** The user's folder for the state of programs. */
  readonly folder: string;
  /** Where it takes holders. */
  readonly socket: string;
  /** The program of the engine, or the one that the user has installed. */
  readonly program: string;
  /** For the engine: the folder with its library, and the runtime that runs it. */
  readonly library?: string;
  readonly runtime?: string;
  /** For the engine: what a conversation gets that leaves it open. */
  readonly defaults?: {
    readonly system?: string;
    readonly temperature?: number;
    readonly top_p?: number;
    readonly repeat_penalty?: number;
    readonly max_tokens?: number;
  };
  /** For the engine: after so long without a request the model leaves the memory; otherwise it stays. */
  readonly keepAliveSeconds?: number;
}

/** One process to start, and how it becomes known that it is ready. */
export interface LaunchCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Written to its standard input, which stays open. */
  readonly input: string;
  readonly key?: string;
  /** Its base address, and what answers with 200 there once it is ready. Absent: it reports events. */
  readonly probe?: { readonly url: string; readonly path: string };
  /** Removes what only its start needs. */
  readonly cleanUp?: () => Promise<void>;
}

/** Where Ollama's own clients look for it. */
const ollamaPort = 11434;
/** Enough for a conversation, and small enough for most machines. */
const usualContext = 8192;

/** Each process gets an address and a key of its own. */
export async function commandOf(launch: Launch, env: NodeJS.ProcessEnv): Promise<LaunchCommand> {
  switch (launch.asked.product) {
    case 'runner-engine':
      return engineCommand(launch, env);
    case 'llama.cpp':
      return llamaCommand(launch, env);
    case 'ollama':
      return ollamaCommand(launch, env);
  }
}

function engineCommand(launch: Launch, env: NodeJS.ProcessEnv): LaunchCommand {
  const { program, runtime = process.execPath, library, defaults, keepAliveSeconds, asked } = launch;
  const { model, alias, context, threads } = asked;
  const key = createKey();
  const options = { library, model, alias, context, threads, defaults, keepAliveSeconds };
  const input = `${JSON.stringify({ ...options, key })}\n`;
  return { file: runtime, args: [program], env, input, key };
}

async function llamaCommand(launch: Launch, env: NodeJS.ProcessEnv): Promise<LaunchCommand> {
  const { program, folder, asked } = launch;
  const { model = '', alias, context = usualContext, threads } = asked;
  const port = await freePort(0);
  const key = createKey();
  // Other users can read arguments, but not this file.
  const keyFile = join(folder, `engineKey-${process.pid}`);
  await writePrivateFile(keyFile, `${key}\n`);
  const args = ['-m', model, '-c', String(context), '-t', String(threads ?? usualThreads())];
  const where = ['--host', '127.0.0.1', '--port', String(port), '--api-key-file', keyFile, '--offline'];
  const named = alias === undefined ? [] : ['--alias', alias];
  return {
    file: program,
    args: [...args, ...where, ...named],
    env,
    input: '',
    key,
    probe: { url: `http://127.0.0.1:${port}`, path: '/health' },
    cleanUp: () => rm(keyFile, { force: true }),
  };
}

async function ollamaCommand({ program }: Launch, env: NodeJS.ProcessEnv): Promise<LaunchCommand> {
  const address = `127.0.0.1:${await freePort(ollamaPort)}`;
  return {
    file: program,
    args: ['serve'],
    env: { ...env, OLLAMA_HOST: address },
    input: '',
    probe: { url: `http://${address}`, path: '/' },
  };
}

function createKey(): string {
  return randomBytes(24).toString('base64url');
}

/** One is left for everything else. */
function usualThreads(): number {
  return Math.max(1, availableParallelism() - 1);
}

/** This port if it is free, or else any that is. */
async function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error) => (wanted === 0 ? reject(error) : resolve(freePort(0))));
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

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
