import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';

/** One exchange with a real runner: what was asked, and what each read of the socket gave. */
export interface Recording {
  readonly file: string;
  readonly name: string;
  readonly note: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
    readonly raw?: string;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly chunks: readonly { readonly ms: number; readonly text: string }[];
    readonly end: 'complete' | 'reset' | 'aborted-by-client';
  };
}

/** Those of Ollama's own API, or of OpenAI's. */
export function readRecordings(
  name: 'recordings' | 'recordings-openai' = 'recordings',
): readonly Recording[] {
  const folder = join('test', 'fixtures', name);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({ file, ...JSON.parse(readFileSync(join(folder, file), 'utf8')) }));
}

/** A server that answers every request with one recording, byte for byte, as fast as it can. */
export async function startReplay(
  recording: Recording,
): Promise<{ url: string; close: () => Promise<void> }> {
  const { status, headers, chunks, end } = recording.response;
  const {
    'content-length': _length,
    connection: _connection,
    'transfer-encoding': _encoding,
    ...kept
  } = headers;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, kept);
    for (const { text } of chunks) response.write(text);
    if (end === 'complete') response.end();
    else setTimeout(() => response.destroy(), 20);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${portOf(server)}`, close: () => closeServer(server) };
}

export function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server does not listen.');
  return address.port;
}

export function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
