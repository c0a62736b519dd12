import { createServer, type Socket } from 'node:net';
import { LineSplitter } from '../../../protocol/base/byteStreams.ts';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { makePrivate } from '../../../protocol/base/platform/privateFile.ts';
import type { ProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import { removeRunning, writeLast, writeRunning } from '../engineFile.ts';
import { CannotStartError, commandOf, type Launch, type Ready, startRun } from './launch.ts';

/** What a supervisor sends to its holders, one JSON object a line. */
export type SupervisorState =
  | { readonly state: 'starting'; readonly percent?: number }
  | { readonly state: 'ready'; readonly pid: number; readonly url: string; readonly context?: number }
  | { readonly state: 'failed'; readonly message: string };

export interface SupervisionOptions {
  readonly launch: Launch;
  readonly env: NodeJS.ProcessEnv;
  readonly groups: ProcessGroups;
  readonly publish: (state: SupervisorState) => void;
  readonly now: () => number;
}

/** After so many ends in a row it is not started again. */
const maxEnds = 3;
/** A process that was ready for so long, in ms, was well: its end is the first of a new row. */
const well = 10 * 60_000;

/** Keeps one process running until `released` is aborted, or it has ended too often. */
export async function supervise(options: SupervisionOptions, released: AbortSignal): Promise<void> {
  const { launch, publish, now } = options;
  try {
    for (let ends = 0; !released.aborted; ) {
      const begun = now();
      const end = await runOnce(options, released, ends > 0);
      ends = now() - begun > well ? 1 : ends + 1;
      if (ends === maxEnds && !released.aborted)
        throw new Error(`It ended ${maxEnds} times in a row, the last time with ${end}.`);
    }
  } catch (error) {
    if (released.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    await writeLast(launch.folder, { ...launch.asked, failure: message }).catch(() => undefined);
    publish({ state: 'failed', message });
  }
}

/**
 * Starts the process, makes it known while it is ready, and waits for its end. Returns how it ended.
 * @throws {Error} if it said that it cannot start, or ended before it was ready for the first time.
 */
async function runOnce(
  { launch, env, groups, publish }: SupervisionOptions,
  released: AbortSignal,
  isAgain: boolean,
): Promise<string> {
  publish({ state: 'starting' });
  const command = await commandOf(launch, env);
  const run = startRun(command, groups, (percent) => publish({ state: 'starting', percent }));
  const release = whenAborted(released);
  try {
    const ready = await Promise.race([run.ready, release]);
    await command.cleanUp?.();
    if (ready === undefined) return 'its release';
    await makeKnown(launch, ready, command.key);
    publish({ state: 'ready', pid: process.pid, ...ready });
    return (await Promise.race([run.ended, release])) ?? 'its release';
  } catch (error) {
    if (error instanceof CannotStartError || !isAgain) throw error;
    return run.ended;
  } finally {
    await command.cleanUp?.();
    await removeRunning(launch.folder, process.pid);
    await groups.close();
  }
}

async function makeKnown(launch: Launch, ready: Ready, key: string | undefined): Promise<void> {
  const { folder, socket, asked } = launch;
  const { product, alias: model } = asked;
  await writeRunning(folder, {
    pid: process.pid,
    product,
    socket,
    ...ready,
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
  });
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** Who wants the process to run. */
export interface Holders {
  publish(state: SupervisorState): void;
  close(): void;
}

/** In bytes: holders send short lines. */
const maxLine = 1024;

/**
 * Takes holders at a socket in a folder of the user, or a pipe of Windows. Each gets the newest state at once and every
 * later one. A holder counts while its connection is open; with `{"keep":true}` the process is wanted without one,
 * with `{"keepRunning":true}` until that is taken back, and `{"stop":true}` ends it. `onReleased` is called when nobody
 * wants it any more. The caller counts as the first holder until `first` settles.
 */
export async function takeHolders(
  path: string,
  first: Promise<void>,
  onReleased: () => void,
): Promise<Holders> {
  const sockets = new Set<Socket>();
  let newest: SupervisorState = { state: 'starting' };
  let isKept = false;
  let isKeptRunning = false;
  let isStarting = true;
  const look = () => {
    if (sockets.size === 0 && !isKept && !isKeptRunning && !isStarting) onReleased();
  };
  const take = (line: string) => {
    const message = tryJson(line);
    if (!isRecord(message)) return;
    const { keep, keepRunning, stop } = message;
    if (keep === true) isKept = true;
    if (typeof keepRunning === 'boolean') isKeptRunning = keepRunning;
    if (stop === true) onReleased();
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.write(`${JSON.stringify(newest)}\n`);
    const lines = new LineSplitter(maxLine);
    socket.on('data', (chunk) => {
      for (const { text } of lines.push(chunk)) take(text);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      look();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(path, resolve);
  });
  await makePrivate(path);
  void first.then(() => {
    isStarting = false;
    look();
  });
  return {
    publish(state) {
      newest = state;
      for (const socket of sockets) socket.write(`${JSON.stringify(state)}\n`);
    },
    close() {
      server.close();
      // What was published last is still sent.
      for (const socket of sockets) socket.end();
    },
  };
}
