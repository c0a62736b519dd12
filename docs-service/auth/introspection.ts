import { type Dispatcher, Pool } from 'undici';
import { readBounded, TooLargeError } from '../../protocol/base/byteStreams.ts';
import { isRecord } from '../../protocol/base/json.ts';
import type { BaseUrl } from '../base/baseUrl.ts';
import { readTokenFile } from '../base/options.ts';
import { isScope } from './accessTokens.ts';
import { tryProfileUrl } from './identifiers.ts';
import { isOwnResource } from './oauthRequest.ts';

/** Asks a server what a token allows. */
export type IntrospectionClient = Awaited<ReturnType<typeof createIntrospectionClient>>;

const tokenFlag = '--introspection-token-file';
/** Milliseconds for a question and its answer. */
const deadline = 3_000;
/** In bytes. */
const maxAnswerBytes = 64 * 1024;
/** Requests that are open at once; those above the number of connections wait. */
const [connections, maxOpen] = [16, 512];

/**
 * Reads the file at once, so that an error appears at the start, and again when its token is refused.
 * @param tokenFile the path of the file with the token for the endpoint
 * @param startTimer aborts after so many milliseconds
 */
export async function createIntrospectionClient(
  address: URL,
  tokenFile: string,
  warn: (message: string) => void,
  startTimer: (milliseconds: number) => AbortSignal = (milliseconds) => AbortSignal.timeout(milliseconds),
) {
  const first = await readTokenFile(tokenFlag, tokenFile);
  if (first.isOpenToOthers)
    warn(`All users of this machine can read ${tokenFile}. Run: chmod 600 ${tokenFile}`);
  let own = first.text;
  let open = 0;
  const pool = new Pool(address.origin, { connections, allowH2: false, maxHeaderSize: 16 * 1024 });
  const post = async (token: string) => {
    const answer = await pool.request({
      method: 'POST',
      path: address.pathname + address.search,
      headers: {
        ...{ authorization: `Bearer ${own}`, 'content-type': 'application/x-www-form-urlencoded' },
        ...{ accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'runner-docs' },
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      signal: startTimer(deadline),
    });
    return { status: answer.statusCode, text: await readAnswer(answer) };
  };
  const ask = async (token: string) => {
    const answer = await post(token);
    if (answer.status !== 401 && answer.status !== 403) return textOf(answer);
    const { text } = await readTokenFile(tokenFlag, tokenFile);
    if (text === own) throw new Error(`it refuses the token in ${tokenFile}`);
    own = text;
    return textOf(await post(token));
  };
  return {
    /** The body of the answer. Rejects if the server does not answer correctly. */
    async ask(token: string): Promise<string> {
      if (open >= maxOpen) throw new Error('too many tokens are being checked');
      open++;
      try {
        return await ask(token);
      } finally {
        open--;
      }
    },
    close: () => pool.destroy(),
  };
}

async function readAnswer({ headers, body }: Dispatcher.ResponseData): Promise<string> {
  const bytes = await readBounded(body, maxAnswerBytes).catch((error: unknown) => {
    throw error instanceof TooLargeError
      ? new Error(`its answer has more than ${maxAnswerBytes / 1024} KiB`)
      : error;
  });
  if (!/^(identity)?$/i.test(String(headers['content-encoding'] ?? '')))
    throw new Error('its answer is compressed');
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function textOf({ status, text }: { readonly status: number; readonly text: string }): string {
  if (status === 200) return text;
  throw new Error(`it answers with the status ${status}`);
}

export type ActiveToken = Extract<ReturnType<typeof parseIntrospection>, { readonly isActive: true }>;

/**
 * What the server that issued a token says about it (RFC 7662, 2.2, and IndieAuth, 6.1). Throws if the answer makes no
 * sense; then the token is not accepted.
 */
export function parseIntrospection(text: string, baseUrl: BaseUrl) {
  const answer: unknown = JSON.parse(text);
  if (!isRecord(answer)) throw new Error('it is not a JSON object');
  // The examples of IndieAuth have strings where RFC 7662 has other types, and servers follow those examples.
  const { active, exp, iat, scope = '', me, client_id: client } = answer;
  if (active === false || active === 'false') return { isActive: false } as const;
  if (active !== true && active !== 'true') throw new Error('it does not say whether the token is active');
  if (typeof scope !== 'string' && scope !== null) throw new Error('its scope is not a string');
  return {
    isActive: true as const,
    /** In the form in which profile URLs are compared; undefined if there is no valid one. */
    me: typeof me === 'string' ? tryProfileUrl(me) : undefined,
    /** Only those that this service knows. */
    scopes: [...new Set((scope ?? '').split(' ').filter(isScope))],
    client: typeof client === 'string' ? client.slice(0, 1_024) : null,
    issued: parseTime('iat', iat),
    expires: parseTime('exp', exp),
    /** The token was issued for this service, or for none in particular. */
    isForHere: isForHere(answer['aud'], baseUrl) && isForHere(answer['resource'], baseUrl),
  };
}

/** Milliseconds from seconds. */
function parseTime(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isTime =
    typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,15}(\.\d{1,9})?$/.test(value));
  const time = isTime ? Number(value) * 1_000 : Number.NaN;
  if (Number.isFinite(time)) return time;
  throw new Error(`its ${name} is not a time`);
}

function isForHere(audience: unknown, baseUrl: BaseUrl): boolean {
  if (audience === undefined || audience === null) return true;
  const list: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  return list.some((entry) => typeof entry === 'string' && isOwnResource(entry, baseUrl));
}
