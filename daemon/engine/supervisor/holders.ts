import { createServer, type Socket } from 'node:net';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { LineSplitter } from '../../../protocol/base/lineSplitter.ts';
import { makePrivate } from '../../../protocol/base/platform/privateFile.ts';
import type { SupervisorState } from './supervise.ts';

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
