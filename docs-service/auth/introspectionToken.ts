import { constants, type FileHandle, open } from 'node:fs/promises';

/** In bytes. */
const largest = 8_192;

/** The token by which this service introduces itself to the introspection server, from the file that has it. */
export interface IntrospectionToken {
  readonly text: string;
  /** Any user of this machine may read the file. */
  readonly isOpenToOthers: boolean;
}

/** Throws with a sentence that has the name of the file in it, and nothing of what the file has. */
export async function readIntrospectionToken(path: string): Promise<IntrospectionToken> {
  // A pipe must not keep the service waiting for somebody to write into it.
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
  if (!found.isFile()) throw new Error(`--introspection-token-file ${path} is no file.`);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(largest + 1), 0, largest + 1, 0);
  const text = buffer.subarray(0, bytesRead).toString('latin1').trim();
  if (bytesRead > largest || !/^[!-~]+$/.test(text))
    throw new Error(`--introspection-token-file ${path} must have one token in it, and nothing else.`);
  return { text, isOpenToOthers: process.platform !== 'win32' && (found.mode & 0o004) !== 0 };
}
