import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Asked {
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

export type IntrospectionAnswer = (asked: Asked, response: ServerResponse) => unknown;

export interface IntrospectionServer {
  readonly address: URL;
  readonly asked: readonly Asked[];
  /** What it says from now on; a plain value goes out as JSON. */
  says(answer: IntrospectionAnswer | Readonly<Record<string, unknown>> | string): void;
  /** Nobody listens any more, until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** A server that is asked what tokens are good for, and says what the test wants. */
export async function serveIntrospection(t: {
  teardown(work: () => unknown): void;
}): Promise<IntrospectionServer> {
  const asked: Asked[] = [];
  let answer: IntrospectionAnswer = (_asked, response) => response.writeHead(500).end();
  const server = createServer(async (request, response) => {
    const { method, headers } = request;
    const question = { method, headers, form: new URLSearchParams(await text(request)) };
    asked.push(question);
    answer(question, response);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.teardown(stop);
  return {
    address: new URL(`http://127.0.0.1:${port}/introspect?v=1`),
    asked,
    says(next) {
      answer =
        typeof next === 'function'
          ? next
          : (_asked, response) =>
              response
                .writeHead(200, { 'content-type': 'application/json' })
                .end(typeof next === 'string' ? next : JSON.stringify(next));
    },
    stop,
    start: () => listen(port),
  };
}
