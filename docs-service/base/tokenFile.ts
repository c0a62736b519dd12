import { constants, type FileHandle, open } from 'node:fs/promises';
import { isOpenToOthers } from '../../protocol/base/platform/privateFile.ts';

/** In bytes. */
const maxFileBytes = 8_192;

/**
 * The token with which this service authenticates at another server, from its file, and whether other users of this
 * machine may read the file. Throws with a sentence that names the file, and contains nothing from it.
 * @param flag that names the file, such as `--introspection-token-file`
 */
export async function readTokenFile(flag: string, path: string) {
  // A pipe must not make the service wait until somebody writes into it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw new Error(`${flag} ${path} cannot be read.`, { cause });
  });
  try {
    return await read(file, `${flag} ${path}`);
  } finally {
    await file.close();
  }
}

async function read(file: FileHandle, name: string) {
  const found = await file.stat();
  if (!found.isFile()) throw new Error(`${name} is not a regular file.`);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxFileBytes + 1), 0, maxFileBytes + 1, 0);
  const text = buffer.subarray(0, bytesRead).toString('latin1').trim();
  if (bytesRead > maxFileBytes || !/^[!-~]+$/.test(text))
    throw new Error(`${name} must contain one token and nothing else.`);
  return { text, isOpenToOthers: isOpenToOthers(found, 0o004) };
}
