import { once } from 'node:events';
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';

/** The socket of the service. It exists before the routes, because they contain its address. */
export interface Listener {
  readonly port: number;
  /** From now on, requests are answered; before that, they get "try again". */
  serve(handler: RequestListener): void;
  /**
   * Accepts no more requests, and resolves when those in progress are answered, or after `patience` milliseconds. It
   * may be called again without harm.
   */
  close(patience: number): Promise<void>;
}

export async function listen(host: string, port: number): Promise<Listener> {
  let handler: RequestListener = (_request, response) => {
    const body = problemBody(503, 'The service is starting. Try again in a moment.');
    response.writeHead(503, { 'retry-after': '1', 'content-type': 'application/problem+json' }).end(body);
  };
  const server = createServer((request, response) => handler(request, response));
  // Longer than the minute for which load balancers keep a connection, so that they end it first.
  server.keepAliveTimeout = 72_000;
  server.requestTimeout = 30_000;
  server.on('clientError', refuseBroken);
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new Error(sentenceOf(error, host, port), { cause: error });
  });
  return {
    port: (server.address() as AddressInfo).port,
    serve(next) {
      handler = next;
    },
    close: (patience) => closeServer(server, patience),
  };
}

/** `http://` with the host as it is written in an address. */
export function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/** Input that is not HTTP reaches no route. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return;
  const isLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const status = isLarge ? 431 : 400;
  const body = problemBody(
    status,
    isLarge ? 'The address and the headers are too long.' : 'This is not an HTTP request.',
  );
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function problemBody(status: number, detail: string): string {
  return JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail, instance: '' });
}

async function closeServer(server: Server, patience: number): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  // An idle connection would otherwise stay open for the next request.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const end = setTimeout(() => server.closeAllConnections(), patience);
  await closed;
  clearInterval(sweep);
  clearTimeout(end);
}

function sentenceOf(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE')
    return `port ${port} of ${host} is in use. Choose another one with --port.`;
  if (error.code === 'EACCES')
    return `this user may not listen on port ${port}. Choose one above 1023 with --port.`;
  if (error.code === 'EADDRNOTAVAIL')
    return `${host} is not an address of this machine. Choose another one with --host.`;
  return `cannot listen on ${host}:${port}: ${error.message}.`;
}
