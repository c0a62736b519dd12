import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidParamsError, RunnerError } from '../../base/errors.ts';

export type LoopbackRedirect = Awaited<ReturnType<typeof openLoopbackRedirect>>;

const path = '/callback';

/**
 * Where the browser is sent with the answer of an authorization server (RFC 8252, 7.3). Only we and that server know
 * `state`. A request without it is refused.
 */
export async function openLoopbackRedirect(state: string) {
  let resolve: (parameters: URLSearchParams) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const answer = new Promise<URLSearchParams>((...settle) => {
    [resolve, reject] = settle;
  });
  // It may be closed before anybody waits for it.
  answer.catch(() => undefined);
  const take = (parameters: URLSearchParams) => {
    const isOurs = isSame(parameters.get('state') ?? '', state);
    if (isOurs) resolve(parameters);
    return isOurs;
  };
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 16_384 }, (request, response) => {
    const parameters = parametersOf(request, address);
    if (parameters && take(parameters))
      respond(response, 200, 'Runner has received the answer. You can close this page.');
    else respond(response, 400, 'This page does not belong to a login that Runner started.');
  });
  server.maxConnections = 16;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return {
    address,
    /** The parameters of the first request that has the state. */
    answer,
    /**
     * Takes the address that a browser on another machine was sent to. @throws {InvalidParamsError} if it is not this
     * login's.
     */
    takeAddress(text: string): void {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (!url?.href.startsWith(`${address}?`) || !take(url.searchParams))
        throw new InvalidParamsError(
          'redirectedTo',
          `it is not the address at which this login ends, which begins with ${address}?`,
        );
    },
    close(): void {
      reject(new RunnerError('timeout', 'The login ended before the browser returned. Start it again.'));
      server.close();
      // The page may still be on its way to the browser.
      setTimeout(() => server.closeAllConnections(), 500).unref();
    },
  };
}

/** Only of a request whose host is exactly this address, because another name may also lead here (DNS rebinding). */
function parametersOf(
  { method, url = '', headers: { host } }: IncomingMessage,
  address: string,
): URLSearchParams | undefined {
  if (method !== 'GET' || host !== new URL(address).host || !url.startsWith(`${path}?`)) return undefined;
  return new URLSearchParams(url.slice(path.length + 1));
}

function respond(response: ServerResponse, status: number, sentence: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
    })
    .end(`<!doctype html><html lang="en"><title>Runner</title><p>${sentence}</p></html>`);
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}
