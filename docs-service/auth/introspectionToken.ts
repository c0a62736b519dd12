import { constants, type FileHandle, open } from 'node:fs/promises';

/** In bytes. */
const largest = 8_192;

/** The token with which this service authenticates at the introspection server, from its file. */
export interface IntrospectionToken {
  readonly text: string;
  /** Other users of this machine may read the file. */
  readonly isOpenToOthers: boolean;
}

/** Throws with a sentence that names the file, and contains nothing from it. */
export async function readIntrospectionToken(path: string): Promise<IntrospectionToken> {
  // A pipe must not make the service wait until somebody writes into it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw new Error(`--introspection-token-file ${path} cannot be read.`, { cause });
  });
  try {
    return await read(file, path);
  } finally {
    await file.close();
  }
}

async function read(file: FileHandle, path: string): Promise<IntrospectionToken> {
  const found = await file.stat();
  if (!found.isFile()) throw new Error(`--introspection-token-file ${path} is not a regular file.`);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(largest + 1), 0, largest + 1, 0);
  const text = buffer.subarray(0, bytesRead).toString('latin1').trim();
  if (bytesRead > largest || !/^[!-~]+$/.test(text))
    throw new Error(`--introspection-token-file ${path} must contain one token and nothing else.`);
  return { text, isOpenToOthers: process.platform !== 'win32' && (found.mode & 0o004) !== 0 };
}
