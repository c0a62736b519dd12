import { isAbsolute } from 'node:path';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { readRegularBytes } from '../base/regularFile.ts';

/** A Modelfile is text that somebody wrote. A larger file is something else. */
export const maxModelfileBytes = 16 * 1024 * 1024;

/**
 * Reads the text of the Modelfile at an absolute path: UTF-8, or UTF-16 with a byte-order mark. The mark is left out.
 * @throws {InvalidParamsError} for a path that is not absolute.
 * @throws {RunnerError} `invalid-request`, if it cannot be read or is not text.
 */
export async function readModelfileText(path: string): Promise<string> {
  if (!isAbsolute(path)) throw new InvalidParamsError('path', 'it is not an absolute path');
  const bytes = await readBytes(path);
  try {
    return decodeModelfile(bytes);
  } catch (cause) {
    throw new RunnerError(
      'invalid-request',
      `${path} is not a text file, so it is not a Modelfile. To use a GGUF file, name it after FROM in a Modelfile.`,
      {
        cause,
      },
    );
  }
}

/**
 * Decodes by the byte-order mark, otherwise as UTF-8.
 * @throws {TypeError} if the bytes are not text.
 */
export function decodeModelfile(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le', { fatal: true }).decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be', { fatal: true }).decode(bytes);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (text.includes('\0')) throw new TypeError('it has NUL bytes');
  return text;
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readRegularBytes(path, maxModelfileBytes);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = error instanceof Error ? error.message : String(error);
    const problem = isMissing ? 'is not there' : `cannot be read: ${reason}`;
    throw new RunnerError('invalid-request', `The Modelfile ${path} ${problem}.`, { cause: error });
  }
}
