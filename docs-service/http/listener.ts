import { once } from 'node:events';
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import { boundConnections, type ConnectionBounds } from './connections.ts';

export interface ListenerBounds extends ConnectionBounds {
  /** Milliseconds in which the headers of a request arrive, and a whole request. */
  readonly headersTime: number;
  readonly requestTime: number;
}

/** Opens the socket of the service. It exists before the routes, because they contain its address. */
export async function listen(host: string, port: number, bounds: ListenerBounds) {
  let handler: RequestListener = (_request, response) => {
    const body = problemBody(503, 'The service is starting. Try again in a moment.');
    response.writeHead(503, { 'retry-after': '1', 'content-type': 'application/problem+json' }).end(body);
  };
  const times = {
    headersTimeout: bounds.headersTime,
    requestTimeout: bounds.requestTime,
    connectionsCheckingInterval: bounds.headersTime / 10,
    // Longer than the minute for which load balancers keep a connection, so that they end it first.
    keepAliveTimeout: 72_000,
  };
  const server = createServer(times, (request, response) => handler(request, response));
  const hasBegunAnswer = boundConnections(server, bounds);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    refuseBroken(error, socket, hasBegunAnswer(socket)),
  );
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new Error(sentenceOf(error, host, port), { cause: error });
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** From now on, requests are answered; before that, they get "try again". */
    serve(next: RequestListener): void {
      handler = next;
    },
    /**
     * Accepts no more requests, and resolves when those in progress are answered, or after `within` milliseconds. It
     * may be called again without harm.
     */
    close: (within: number) => closeServer(server, within),
  };
}

/** `http://` with the host as it is written in an address. */
export function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/** Milliseconds in which a client reads why its connection ends. */
const farewell = 1_000;

/** Input that is not HTTP, or not complete in time, reaches no route. Node has stopped watching its connection. */
function refuseBroken({ code = '' }: NodeJS.ErrnoException, socket: Socket, hasBegunAnswer: boolean): void {
  // More of the same input, whose connection is ending already.
  if (!socket.writable) return;
  // A client that has sent nothing would take the refusal for the answer to its first request.
  if (socket.bytesRead === 0 || hasBegunAnswer) return void socket.destroy();
  const { status, detail } = refusals[code] ?? notHttp;
  const body = problemBody(status, detail);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // The client may keep its side open for ever.
  const timer = setTimeout(() => socket.destroy(), farewell);
  socket.once('close', () => clearTimeout(timer));
}

const notHttp = { status: 400, detail: 'This is not an HTTP request.' };
const refusals: Readonly<Record<string, { readonly status: number; readonly detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The address and the headers are too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request did not arrive in time.' },
};

function problemBody(status: number, detail: string): string {
  return JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail, instance: '' });
}

async function closeServer(server: Server, within: number): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  // An idle connection would otherwise stay open for the next request.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const end = setTimeout(() => server.closeAllConnections(), within);
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
