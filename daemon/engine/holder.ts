import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { LineSplitter } from '../../protocol/base/byteStreams.ts';
import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { startProgram } from '../../protocol/base/platform/program.ts';
import type { Launch } from './supervisor/launch.ts';
import type { SupervisorState } from './supervisor/supervise.ts';

/** Our end of the connection to a supervisor. As long as it is open, what the supervisor started runs. */
export interface Holder {
  /**
   * Settles once it is ready. @throws {Error} with a sentence, if it cannot be started.
   * @param onLoading gets percents, as far as they are known.
   */
  whenReady(onLoading?: (percent?: number) => void): Promise<ReadyState>;
  /** From now on it runs without a holder, until it is stopped. */
  keep(): Promise<void>;
  /** The same for as long as a setting says so; false takes it back. */
  keepRunning(isWanted: boolean): Promise<void>;
  /** Ends it, for all holders. Settles when it is gone. */
  stop(): Promise<void>;
  /** Settles when the connection has ended, at either end. */
  readonly closed: Promise<void>;
  close(): void;
}

export type ReadyState = Extract<SupervisorState, { readonly state: 'ready' }>;

/** In bytes: supervisors send short lines. */
const maxLine = 16 * 1024;
/** A supervisor that has been asked to end kills what it started after a second; in ms. */
const stopWithin = 5_000;

/** @throws {Error} if nobody listens there. */
export async function hold(path: string): Promise<Holder> {
  const socket = connect(path);
  await once(socket, 'connect');
  // A daemon does not live longer because of it, unless it waits for something.
  socket.unref();
  socket.on('error', () => undefined);
  return createHolder(socket);
}

function createHolder(socket: Socket): Holder {
  let newest: SupervisorState | undefined;
  const watchers = new Set<(state: SupervisorState | undefined) => void>();
  const publish = (state: SupervisorState | undefined) => {
    newest = state ?? newest;
    for (const watch of watchers) watch(state);
  };
  const lines = new LineSplitter(maxLine);
  socket.on('data', (chunk) => {
    for (const { text } of lines.push(chunk)) {
      const state = tryJson(text);
      if (isRecord(state)) publish(state as SupervisorState);
    }
  });
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      publish(undefined);
      resolve();
    });
  });
  const send = (message: object) =>
    new Promise<void>((resolve) => {
      socket.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  return {
    closed,
    whenReady: (onLoading = () => undefined) =>
      new Promise((resolve, reject) => {
        const watch = (state: SupervisorState | undefined) => {
          if (state?.state === 'starting') return onLoading(state.percent);
          watchers.delete(watch);
          socket.unref();
          if (state?.state === 'ready') resolve(state);
          else reject(new Error(state?.message ?? 'It was stopped.'));
        };
        watchers.add(watch);
        socket.ref();
        if (newest) watch(newest);
      }),
    keep: () => send({ keep: true }),
    keepRunning: (isWanted) => send({ keepRunning: isWanted }),
    async stop() {
      socket.ref();
      await send({ stop: true });
      const late = setTimeout(() => socket.destroy(), stopWithin);
      await closed;
      clearTimeout(late);
    },
    // What was sent before is still read at the other end.
    close: () => socket.end(),
  };
}

/** Starts a supervisor, which outlives this process if others hold it or it is to be kept. */
export async function startSupervisor(program: string, launch: Launch): Promise<Holder> {
  const child = startProgram(process.execPath, [program], { stdio: 'pipe', detached: true });
  child.stderr.resume();
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  // Its standard input holds it until we do.
  child.stdin.write(`${JSON.stringify(launch)}\n`);
  const listening = once(child.stdout, 'data');
  const gone = once(child, 'exit').then(() => {
    throw new Error('Its supervisor ended at once.');
  });
  gone.catch(() => undefined);
  try {
    await Promise.race([listening, gone]);
    return await hold(launch.socket);
  } finally {
    child.stdin.end();
    child.stdout.destroy();
    child.unref();
  }
}
