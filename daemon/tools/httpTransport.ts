import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { MessageTooLargeError, maxMessage } from './messageLines.ts';

export interface HttpTransportOptions {
  readonly url: string;
  /** Of the entry. */
  readonly headers: Readonly<Record<string, string>>;
  /** The token and headers for this address, by its origin. */
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  readonly now: () => number;
}

/** Streams of a server may be opened so often in a minute, whatever it asks. */
const maxStreams = 30;

/** Streamable HTTP to one origin and no other. What it answers is bounded. */
export function createHttpTransport(options: HttpTransportOptions): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(options.url), { fetch: createOriginFetch(options) });
}

function createOriginFetch({ url, headers: own, headersFor, now }: HttpTransportOptions) {
  const { origin } = new URL(url);
  let streams: number[] = [];
  const countStream = () => {
    const at = now();
    streams = [...streams.filter((time) => at - time < 60_000), at];
    if (streams.length > maxStreams) throw new Error('The server ends its stream again and again.');
  };
  return async (address: string | URL, init: RequestInit = {}): Promise<Response> => {
    if (new URL(address).origin !== origin)
      throw new Error(`The server leads to another origin than ${origin}, which is not followed.`);
    if ((init.method ?? 'GET') === 'GET') countStream();
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries({ ...(await headersFor(url)), ...lowerCased(own) }))
      headers.set(name, value);
    const response = await fetch(address, { ...init, headers, redirect: 'manual' });
    return bounded(response);
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The same answer, whose body, or each event of it, ends with an error when it is too large. */
function bounded(response: Response): Response {
  if (!response.body) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const { status, statusText, headers } = response;
  const body = response.body.pipeThrough(limitBytes(isStream));
  return new Response(body, { status, statusText, headers });
}

/** Counts bytes, of events anew after each blank line. */
function limitBytes(perEvent: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  let blankLine = 0;
  return new TransformStream({
    transform(chunk, controller) {
      if (perEvent)
        for (const byte of chunk) {
          if (byte === 0x0a) blankLine += 1;
          else if (byte !== 0x0d) blankLine = 0;
          size = blankLine > 1 ? 0 : size + 1;
        }
      else size += chunk.length;
      if (size > maxMessage) throw new MessageTooLargeError('It sent a message of more than 16 MB.');
      controller.enqueue(chunk);
    },
  });
}
