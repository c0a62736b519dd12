import { createServer, type Socket } from 'node:net';

/** The end of a socket on which the driver in an editor answers: a line of JSON each way. */
export interface DriverSocket {
  /** Settles when a driver connects for the first time. */
  readonly connected: Promise<void>;
  /** Settles when the next driver connects, such as that of a window that was loaded anew. */
  next(): Promise<void>;
  /** What the driver says to this source with this argument. */
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
  const connected = next();
  const server = createServer((connection) => {
    socket = connection;
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
