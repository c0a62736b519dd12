import { type Dispatcher, Pool } from 'undici';
import { readBoundedBody } from './boundedBody.ts';
import { readIntrospectionToken } from './introspectionToken.ts';

export interface IntrospectionClientOptions {
  readonly address: URL;
  /** The path of the file with the token for the endpoint. */
  readonly tokenFile: string;
  readonly warn: (message: string) => void;
}

/** Asks a server what a token allows. */
export interface IntrospectionClient {
  /** The body of the answer. Rejects if the server does not answer correctly. */
  ask(token: string): Promise<string>;
  close(): Promise<void>;
}

/** Milliseconds for a question and its answer. */
const deadline = 3_000;
/** In bytes. */
const largest = 64 * 1024;
/** Requests that are open at once; those above the number of connections wait. */
const [connections, mostOpen] = [16, 512];

/** Reads the file at once, so that an error appears at the start, and again when its token is refused. */
export async function createIntrospectionClient({
  address,
  tokenFile,
  warn,
}: IntrospectionClientOptions): Promise<IntrospectionClient> {
  const first = await readIntrospectionToken(tokenFile);
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
        authorization: `Bearer ${own}`,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'runner-docs',
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      signal: AbortSignal.timeout(deadline),
    });
    return { status: answer.statusCode, text: await readAnswer(answer) };
  };
  const ask = async (token: string) => {
    const answer = await post(token);
    if (answer.status !== 401 && answer.status !== 403) return textOf(answer);
    const { text } = await readIntrospectionToken(tokenFile);
    if (text === own) throw new Error(`it refuses the token in ${tokenFile}`);
    own = text;
    return textOf(await post(token));
  };
  return {
    async ask(token) {
      if (open >= mostOpen) throw new Error('too many tokens are being checked');
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
  const bytes = await readBoundedBody(body, largest);
  if (bytes === undefined) throw new Error(`its answer has more than ${largest / 1024} KiB`);
  if (!/^(identity)?$/i.test(String(headers['content-encoding'] ?? '')))
    throw new Error('its answer is compressed');
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function textOf({ status, text }: { readonly status: number; readonly text: string }): string {
  if (status === 200) return text;
  throw new Error(`it answers with the status ${status}`);
}
