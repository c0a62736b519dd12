import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatBytes } from '../../../protocol/base/bytes.ts';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import { TerminalError } from '../cli/failure.ts';
import { showLine } from '../screen/controlCharacters.ts';

/** What a file that goes along may have, in bytes: a text of more fits into no window. */
const maxText = 4 * 1024 * 1024;
const maxImage = 32 * 1024 * 1024;

/** The first bytes of the formats that models take, as Latin-1. */
const imageMarks = [/^\x89PNG\r\n/, /^\xff\xd8\xff/, /^GIF8/, /^RIFF.{4}WEBP/s];

/**
 * A text as the user names it, from the folder in which the program was started.
 * @throws {TerminalError} of the kind `usage`, as the others here, where it cannot be read or is no text.
 */
export async function readAttachment(cwd: string, path: string): Promise<Attachment> {
  const text = await readText(cwd, path);
  const language = extname(path).slice(1);
  const uris = [pathToFileURL(expandPath(cwd, path)).href];
  return { path, text, uris, ...(/^\w{1,20}$/.test(language) ? { language } : {}) };
}

/** In base64. */
export async function readImage(cwd: string, path: string): Promise<string> {
  const bytes = await readWhole(cwd, path, maxImage);
  const head = bytes.subarray(0, 16).toString('latin1');
  if (imageMarks.some((mark) => mark.test(head))) return bytes.toString('base64');
  throw new TerminalError('usage', `${showLine(path)} is no picture: it is a PNG, JPEG, GIF or WebP file.`);
}

/** `@FILE` is what stands in the file; `@@` begins a text with one such sign. */
export async function readSystem(cwd: string, text: string): Promise<string> {
  if (text.startsWith('@@')) return text.slice(1);
  return text.startsWith('@') ? (await readText(cwd, text.slice(1))).trim() : text;
}

async function readText(cwd: string, path: string): Promise<string> {
  const bytes = await readWhole(cwd, path, maxText);
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  if (text.includes('\0')) throw new TerminalError('usage', `${showLine(path)} is no text.`);
  return text;
}

function expandPath(cwd: string, path: string): string {
  return resolve(cwd, path.replace(/^~(?=\/)/, homedir));
}

async function readWhole(cwd: string, path: string, limit: number): Promise<Buffer> {
  const whole = expandPath(cwd, path);
  try {
    const file = await stat(whole);
    if (!file.isFile()) throw new TerminalError('usage', `${showLine(path)} is no file.`);
    if (file.size > limit)
      throw new TerminalError(
        'usage',
        `${showLine(path)} has ${formatBytes(file.size)}; at most ${formatBytes(limit)} can go along.`,
      );
    return await readFile(whole);
  } catch (cause) {
    if (cause instanceof TerminalError) throw cause;
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const why = isMissing
      ? 'is not there'
      : `cannot be read: ${cause instanceof Error ? cause.message : cause}`;
    throw new TerminalError('usage', `${showLine(path)} ${why}.`, { cause });
  }
}
