import { createServer, type Socket } from 'node:net';

/** The end of a socket on which the driver in an editor answers: a line of JSON each way. */
export interface DriverSocket {
  /** Settles when a driver connects for the first time. */
  readonly connected: Promise<void>;
  /** Settles when the next driver connects, such as that of a window that was loaded anew. */
  next(): Promise<void>;
  /** Settles when no driver is connected. */
  gone(): Promise<void>;
  /** Answers what is still open with nothing, because the window is about to leave. */
  giveUp(): void;
  /** What the driver says to this source with this argument; undefined if the window leaves before. */
  ask(source: string, argument: unknown): Promise<unknown>;
  close(): void;
}

export async function listenForDriver(path: string): Promise<DriverSocket> {
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let count = 0;
  let socket: Socket | undefined;
  let announce: () => void = () => undefined;
  const next = () =>
    new Promise<void>((resolve) => {
      announce = resolve;
    });
  const take = (line: string) => {
    const { id, value, error } = JSON.parse(line);
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new Error(error));
  };
  const open = new Set<Socket>();
  let announceEnd: () => void = () => undefined;
  const connected = next();
  const server = createServer((connection) => {
    socket = connection;
    open.add(connection);
    connection.on('close', () => {
      open.delete(connection);
      if (open.size === 0) announceEnd();
    });
    announce();
    let rest = '';
    connection.on('error', () => undefined);
    connection.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    connected,
    next,
    gone: () =>
      new Promise((resolve) => {
        announceEnd = resolve;
        if (open.size === 0) resolve();
      }),
    giveUp() {
      for (const { resolve } of waiting.values()) resolve(undefined);
      waiting.clear();
    },
    ask(source, argument) {
      const id = ++count;
      const answer = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
      socket?.write(`${JSON.stringify({ id, source, argument })}\n`);
      return answer;
    },
    close() {
      socket?.destroy();
      server.close();
    },
  };
}
