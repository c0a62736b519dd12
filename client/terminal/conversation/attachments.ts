import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expandPath, findPath } from '../../../protocol/base/platform/folders.ts';
import { count, formatBytes, messageOf, showLine } from '../../../protocol/base/text.ts';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import {
  type FoundFile,
  type FoundMention,
  fetchFileRequest,
  findFilesRequest,
} from '../../../protocol/messages/files.ts';
import { TerminalError, usageError } from '../cli/failure.ts';
import { isYes } from '../cli/question.ts';
import type { DaemonClient } from '../daemon/daemon.ts';

/** What goes along with a prompt. */
export interface Along {
  readonly attachments: readonly Attachment[];
  readonly images: readonly string[];
}

/** Something that the prompt names and that goes nowhere without a yes. */
export type AttachmentConsent =
  | { readonly kind: 'private'; readonly file: FoundFile }
  | { readonly kind: 'page'; readonly url: string };

export interface NamedFilesOptions {
  readonly daemon: DaemonClient;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** @throws {TerminalError} if nobody can be asked. */
  readonly agrees: (consent: AttachmentConsent) => Promise<boolean>;
  /** Shows what is attached, before it is sent. */
  readonly attached: (word: string, files: readonly FoundFile[]) => Promise<void>;
  /** Shows a sentence about what is not. */
  readonly note: (sentence: string) => Promise<void>;
}

/** What the words of a typed prompt name. The prompt stays as it is, and what is attached is not searched for more. */
export async function attachNamedFiles(prompt: string, options: NamedFilesOptions): Promise<Along> {
  if (!/(?:^|\s)@[^\s@]/.test(prompt)) return { attachments: [], images: [] };
  const { daemon, cwd, signal } = options;
  const { mentions } = await daemon.request(findFilesRequest, { text: prompt, cwd }, signal);
  const files: FoundFile[] = [];
  for (const mention of mentions) {
    const agreed = await agreedOf(mention, options);
    for (const note of mention.notes) await options.note(note);
    if (agreed.length > 0) await options.attached(mention.word, agreed);
    files.push(...agreed);
  }
  return {
    attachments: files.flatMap(({ attachment }) => attachment ?? []),
    images: files.flatMap(({ image }) => image ?? []),
  };
}

async function agreedOf(
  { files, url }: FoundMention,
  { daemon, signal, agrees }: NamedFilesOptions,
): Promise<readonly FoundFile[]> {
  if (url !== undefined) {
    if (!(await agrees({ kind: 'page', url }))) return [];
    return [(await daemon.request(fetchFileRequest, { url }, signal)).file];
  }
  const agreed: FoundFile[] = [];
  for (const file of files)
    if (file.privacy === undefined || (await agrees({ kind: 'private', file }))) agreed.push(file);
  return agreed;
}

/** Asks in words, as often as it takes. Undefined means that the person left the question. */
export async function askConsent(
  consent: AttachmentConsent,
  model: string,
  ask: (question: string) => Promise<string | undefined>,
): Promise<boolean> {
  const question =
    consent.kind === 'page'
      ? `Fetch ${showLine(consent.url)} from ${showLine(new URL(consent.url).host)}? [y]es, [n]o `
      : `${describePrivacy(consent.file)}. Send it to ${showLine(model)}? [y]es, [n]o `;
  for (;;) {
    const answer = await ask(question);
    if (answer === undefined || /^\s*no?\s*$/i.test(answer)) return false;
    if (isYes(answer)) return true;
  }
}

/** The error where nobody can be asked. */
export function consentNeeded(consent: AttachmentConsent): TerminalError {
  return usageError(
    consent.kind === 'page'
      ? `Nothing is fetched from ${showLine(new URL(consent.url).host)} without a yes. To agree, add --yes.`
      : `${describePrivacy(consent.file)}. To send it all the same, add --yes.`,
  );
}

function describePrivacy({ path, privacy }: FoundFile): string {
  const why = privacy === 'secret' ? 'looks like a file with secrets' : 'is excluded';
  return `${showLine(path)} ${why}`;
}

/** How many names of the files of a folder are shown. */
const maxNames = 5;

/** Such as `Attached src/a.ts, 3.1 kB, about 800 tokens.` */
export function describeAttached(word: string, files: readonly FoundFile[]): string {
  const sum = (of: (file: FoundFile) => number) => files.reduce((total, file) => total + of(file), 0);
  // Two digits: it is an estimate.
  const tokens = Number(sum((file) => file.tokens).toPrecision(2));
  const size = `${formatBytes(sum(({ bytes }) => bytes))}, about ${count(tokens, 'token')}`;
  const names = files.map(({ path }) => showLine(path));
  if (names.length === 1) return `Attached ${names[0]}, ${size}.`;
  const rest = names.length - maxNames;
  const shown = rest > 1 ? [...names.slice(0, maxNames), `${rest} more`] : names;
  const list = new Intl.ListFormat('en-GB').format(shown);
  return `Attached ${count(names.length, 'file')} of ${showLine(word)}, ${size}: ${list}.`;
}

/** The largest files that can be attached, in bytes. A longer text fits into no context window. */
const maxText = 4 * 1024 * 1024;
const maxImage = 32 * 1024 * 1024;

/** The first bytes of the formats that models take, as Latin-1. */
const imageMarks = [/^\x89PNG\r\n/, /^\xff\xd8\xff/, /^GIF8/, /^RIFF.{4}WEBP/s];

/**
 * Reads a text or a picture. Its path is relative to the folder in which the program was started.
 * @throws {TerminalError} of the kind `usage`, as the functions below, if it cannot be read or is neither.
 */
export async function readFileAlong(cwd: string, path: string): Promise<Along> {
  const bytes = await readWhole(cwd, path, maxImage);
  if (isPicture(bytes)) return { attachments: [], images: [bytes.toString('base64')] };
  return { attachments: [await toAttachment(cwd, path, textOf(path, bytes))], images: [] };
}

async function toAttachment(cwd: string, path: string, text: string): Promise<Attachment> {
  const language = extname(path).slice(1);
  const uris = [pathToFileURL(await placeOf(cwd, path)).href];
  return { path, text, uris, ...(/^\w{1,20}$/.test(language) ? { language } : {}) };
}

/** Reads a picture, as base64. */
export async function readImage(cwd: string, path: string): Promise<string> {
  const bytes = await readWhole(cwd, path, maxImage);
  if (isPicture(bytes)) return bytes.toString('base64');
  throw usageError(`${showLine(path)} is no picture: it is a PNG, JPEG, GIF or WebP file.`);
}

function isPicture(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 16).toString('latin1');
  return imageMarks.some((mark) => mark.test(head));
}

/** Reads a text. */
export async function readText(cwd: string, path: string): Promise<string> {
  return textOf(path, await readWhole(cwd, path, maxText));
}

function textOf(path: string, bytes: Buffer): string {
  if (bytes.length > maxText) throw tooLarge(path, bytes.length, maxText);
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  if (text.includes('\0')) throw usageError(`${showLine(path)} is no text.`);
  return text;
}

async function placeOf(cwd: string, path: string): Promise<string> {
  const place = expandPath(cwd, path);
  return (await findPath(place)) ?? place;
}

async function readWhole(cwd: string, path: string, limit: number): Promise<Buffer> {
  const whole = await placeOf(cwd, path);
  try {
    const file = await stat(whole);
    if (file.isDirectory()) throw usageError(`${showLine(path)} is no file.`);
    if (file.size > limit) throw tooLarge(path, file.size, limit);
    return file.isFile() ? await readFile(whole) : await readPipe(whole, limit);
  } catch (cause) {
    if (cause instanceof TerminalError) throw cause;
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    if (path === '-') throw usageError('Pipe it in without --file: standard input is sent with the prompt.');
    const why = isMissing ? 'is not there' : `cannot be read: ${messageOf(cause)}`;
    throw usageError(`${showLine(path)} ${why}.`, { cause });
  }
}

/** Such as `<(git diff)` or `/dev/stdin`. More than the limit is not waited for. */
async function readPipe(path: string, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of createReadStream(path)) {
    parts.push(part);
    size += part.length;
    if (size > limit) throw tooLarge(path, size, limit);
  }
  return Buffer.concat(parts);
}

function tooLarge(path: string, bytes: number, limit: number): TerminalError {
  return usageError(
    `${showLine(path)} has ${formatBytes(bytes)}; at most ${formatBytes(limit)} can go along.`,
  );
}
