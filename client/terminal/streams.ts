import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** What a program has of its surroundings, handed in so that tests run it in process. */
export interface Surroundings {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The path of `runnerd.cjs`. */
  readonly runnerd: string;
  readonly version: string;
  /** Calls back at each SIGINT until the returned function is called. */
  readonly onInterrupt: (take: () => void) => () => void;
}

/** Writes and waits until there is room for more. A reader that went away (EPIPE) is no error. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (text === '' || stream.destroyed || stream.write(text)) return;
  await Promise.race([once(stream, 'drain'), once(stream, 'close')]).catch(() => undefined);
}

export async function writeLine(stream: Writable, text: string): Promise<void> {
  await write(stream, `${text}\n`);
}

/** All of a stream as text, up to a limit of bytes. */
export async function readAll(stream: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > limit)
      throw new UsageError(`The prompt on standard input is larger than ${limit / 1024 / 1024} MB.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The words of the command line, or what was piped in, are not as they must be: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
