import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { LineSplitter, TooLargeError } from '../../protocol/base/byteStreams.ts';
import { tryJson } from '../../protocol/base/json.ts';
import { maxMessage, tryServerMessage } from './mcpClient.ts';
import type { AccessTokens } from './oauth/accessTokens.ts';
import type { HttpServerEntry } from './serverEntry.ts';

export interface HttpTransportOptions {
  readonly entry: HttpServerEntry;
  /** The token and headers for this address, by its origin. */
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  /** Tokens of the user's login, for what has no token otherwise. */
  readonly tokens: AccessTokens;
  readonly now: () => number;
}

/** The user has to log in. The message is a clause. */
export class LoginNeededError extends Error {
  override readonly name = 'LoginNeededError';
}

/** How many streams of a server are opened in a minute, however often it closes them. */
const maxStreams = 30;

/** Streamable HTTP to one origin and no other. Its answers are bounded. */
export function createHttpTransport(options: HttpTransportOptions): StreamableHTTPClientTransport {
  const { url } = options.entry;
  return new StreamableHTTPClientTransport(new URL(url), { fetch: createOriginFetch(options) });
}

function createOriginFetch({ entry, headersFor, tokens, now }: HttpTransportOptions) {
  const { origin } = new URL(entry.url);
  let streams: number[] = [];
  const countStream = () => {
    const at = now();
    streams = [...streams.filter((time) => at - time < 60_000), at];
    if (streams.length > maxStreams) throw new Error('The server closed its stream too often.');
  };
  return async (address: string | URL, init: RequestInit = {}): Promise<Response> => {
    if (new URL(address).origin !== origin)
      throw new Error(`The server redirects to an origin other than ${origin}. Runner does not follow it.`);
    if ((init.method ?? 'GET') === 'GET') countStream();
    const headers = new Headers(init.headers);
    for (const given of [await headersFor(entry.url), entry.headers])
      for (const [name, value] of Object.entries(given)) headers.set(name, value);
    const send = () => fetch(address, { ...init, headers, redirect: 'manual' });
    return bounded(
      await (headers.has('authorization') ? send() : sendLoggedIn(send, headers, { entry, tokens, init })),
    );
  };
}

/** Sends a request with the token of the login. A token that is refused is renewed once. */
async function sendLoggedIn(
  send: () => Promise<Response>,
  headers: Headers,
  { entry, tokens, init }: Pick<HttpTransportOptions, 'entry' | 'tokens'> & { readonly init: RequestInit },
): Promise<Response> {
  const signal = init.signal ?? new AbortController().signal;
  const token = await tokens.tokenFor(entry, signal);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const response = await send();
  if (response.status !== 401) return response;
  await response.body?.cancel();
  const renewed = token === undefined ? undefined : await tokens.renew(entry, token, signal);
  if (renewed === undefined)
    throw new LoginNeededError(`wants a ${token === undefined ? '' : 'new '}login (401)`);
  headers.set('authorization', `Bearer ${renewed}`);
  const again = await send();
  if (again.status !== 401) return again;
  await again.body?.cancel();
  throw new LoginNeededError('wants a new login (401)');
}

/** The same answer, whose body fails once it, or an event of its stream, is too large. */
function bounded(response: Response): Response {
  if (!response.body) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const { status, statusText, headers } = response;
  const body = response.body.pipeThrough(readMessages(isStream));
  return new Response(body, { status, statusText, headers });
}

/** Counts bytes, of a stream of events from the last blank line on, and passes messages on as servers mean them. */
function readMessages(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  const lines = new LineSplitter(maxMessage);
  const whole: string[] = [];
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      for (const { text, bytes } of lines.push(Buffer.from(chunk))) {
        size = isStream && text.trim() === '' ? 0 : size + bytes + 1;
        if (size > maxMessage) break;
        if (isStream) controller.enqueue(Buffer.from(`${eventLine(text)}\n`));
        else whole.push(text);
      }
      if (size + lines.pending > maxMessage) throw new TooLargeError('It sent a message of more than 16 MB.');
    },
    flush(controller) {
      const rest = lines.end()?.text ?? '';
      controller.enqueue(Buffer.from(isStream ? eventLine(rest) : asMeant([...whole, rest].join('\n'))));
    },
  });
}

function eventLine(line: string): string {
  const [, data] = /^data: ?(\{.*)$/s.exec(line) ?? [];
  return data === undefined ? line : `data: ${asMeant(data)}`;
}

/** What is no message is passed on as it is. */
function asMeant(text: string): string {
  const value = tryJson(text);
  const message = Array.isArray(value) ? value.map(tryServerMessage) : tryServerMessage(value);
  if (message === undefined || (Array.isArray(message) && message.includes(undefined))) return text;
  return JSON.stringify(message);
}
