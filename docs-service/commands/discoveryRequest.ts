/** The result of one request, as far as discovery needs it. */
export type DiscoveryAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly text: string }
  /** Nobody answers. */
  | { readonly kind: 'silence' }
  /** Somebody answers, but not correctly; a sentence without a full stop. */
  | { readonly kind: 'trouble'; readonly reason: string };

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Milliseconds for the whole answer. */
const limit = 5_000;
const maxBytes = 65_536;

/** Posts the message, if there is one. Follows no redirect, and reads at most 64 KB. */
export async function ask(url: string, fetch: Fetch, message?: object): Promise<DiscoveryAnswer> {
  const accept = 'application/json, text/event-stream';
  const json = { accept, 'content-type': 'application/json' };
  try {
    const response = await fetch(url, {
      ...(message === undefined
        ? { headers: { accept } }
        : { method: 'POST', headers: json, body: JSON.stringify(message) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(limit),
    });
    return { kind: 'answer', status: response.status, headers: response.headers, text: await read(response) };
  } catch (error) {
    return toFailure(error);
  }
}

async function read(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBytes);
}

const nobody = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

function toFailure(error: unknown): DiscoveryAnswer {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (nobody.has(code)) return { kind: 'silence' };
  if (error instanceof Error && error.name === 'TimeoutError')
    return { kind: 'trouble', reason: `it did not answer within ${limit / 1_000} seconds` };
  return {
    kind: 'trouble',
    reason: cause instanceof Error ? cause.message.slice(0, 200) : 'the request failed',
  };
}

/** The longest header that is read. */
const maxHeaderLength = 8_192;

/** A name, followed by a value if it is a parameter; anything else is passed over. */
const words = /([!#$%&'*+.^_`|~\w-]+)(?:\s?=\s?(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?|[^!#$%&'*+.^_`|~\w-]/gy;

/**
 * The parameters of the first `Bearer` challenge of a WWW-Authenticate header (RFC 9110), by their names in lower case;
 * undefined if there is none.
 */
export function tryBearerChallenge(header: string | null): ReadonlyMap<string, string> | undefined {
  if (header === null || header.length > maxHeaderLength) return undefined;
  let found: Map<string, string> | undefined;
  for (const [, word, quoted, bare] of header.matchAll(words)) {
    if (word === undefined) continue;
    const name = word.toLowerCase();
    const value = quoted?.replace(/\\(.)/g, '$1') ?? bare;
    // A name without a value is a scheme.
    if (value !== undefined) found?.set(name, found.get(name) ?? value);
    else if (found) break;
    else if (name === 'bearer') found = new Map();
  }
  return found;
}
