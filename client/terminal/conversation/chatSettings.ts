import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatBytes } from '../../../protocol/base/bytes.ts';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { expandPath, findPath } from '../../../protocol/base/platform/folder.ts';
import { count } from '../../../protocol/base/text.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { AgentMode, Attachment, ChatParams, Message } from '../../../protocol/messages/chat.ts';
import type { ConversationSettings, ReadSessionResult } from '../../../protocol/messages/sessions.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { TerminalError } from '../cli/failure.ts';
import { type FlagName, thinkWordOf } from '../cli/flags.ts';
import type { Along } from './namedFiles.ts';
import type { ToolChoice } from './toolChoice.ts';

/** The settings of every turn, and what is attached to the next one. */
export interface ChatSettings {
  system: string | undefined;
  think: ChatParams['think'];
  /** The format of each answer. */
  readonly format: ChatParams['format'];
  /** The runner's own options. */
  options: Readonly<Record<string, unknown>>;
  /** Tokens of the context window; undefined leaves it to the runner. */
  context: number | undefined;
  readonly keepAlive: string | undefined;
  /** What a model may do with the built-in tools; undefined is the mode `ask`. */
  mode: AgentMode | undefined;
  /** Rounds of tools in one turn; undefined leaves them to the setting. */
  rounds: number | undefined;
  attachments: readonly Attachment[];
  images: readonly string[];
}

/** @throws {TerminalError} of the kind `usage`, if a file of the command line cannot be attached. */
export async function readChatSettings(
  cwd: string,
  { system, think, format, options, context, keepAlive, mode, rounds, files, images }: CommandLine,
): Promise<ChatSettings> {
  const along = await Promise.all(files.map((path) => readFileAlong(cwd, path)));
  return {
    system: system === undefined ? undefined : await readSystem(cwd, system),
    think,
    format: format === undefined ? undefined : await readFormat(cwd, format),
    options,
    context,
    keepAlive,
    mode,
    rounds,
    attachments: along.flatMap(({ attachments }) => attachments),
    images: [
      ...along.flatMap((one) => one.images),
      ...(await Promise.all(images.map((path) => readImage(cwd, path)))),
    ],
  };
}

/** What stays from turn to turn. */
type Lasting = Pick<ChatSettings, 'system' | 'think' | 'options' | 'context' | 'mode' | 'rounds'>;

/** The settings that a conversation was kept with, except those that the command line gives. */
export function restoredSettings(
  own: ChatSettings,
  { settings, messages }: Pick<ReadSessionResult, 'settings' | 'messages'>,
  given: ReadonlySet<FlagName>,
): Lasting {
  const { num_ctx: window, ...options } = settings?.options ?? {};
  const kept = messages.find(({ role }) => role === 'system')?.content;
  const system = settings || kept !== undefined ? kept : own.system;
  return {
    system: given.has('system') ? own.system : system,
    // What a conversation was allowed once, nobody has allowed today.
    mode: given.has('mode') ? own.mode : undefined,
    rounds: given.has('rounds') || !settings ? own.rounds : settings.maxRounds,
    think: given.has('think') || !settings ? own.think : settings.think,
    options: settings ? { ...options, ...(given.has('option') ? own.options : {}) } : own.options,
    context:
      given.has('context') || !settings ? own.context : typeof window === 'number' ? window : undefined,
  };
}

/** Such as `a system prompt, think low, temperature 0.2`; empty if nothing is set. */
export function describeLasting({ system, think, options, context, rounds }: Lasting): string {
  return [
    ...(system === undefined ? [] : ['a system prompt']),
    ...(think === undefined ? [] : [`think ${thinkWordOf(think)}`]),
    ...Object.entries(options).map(([name, value]) => showLine(`${name} ${JSON.stringify(value)}`)),
    ...(context === undefined ? [] : [`a window of ${context} tokens`]),
    ...(rounds === undefined ? [] : [count(rounds, 'round')]),
  ].join(', ');
}

/** Of the tool servers that a conversation was kept with: those that there are, and those that are gone. */
export function restoredTools(
  hosted: ConversationSettings['hostedTools'] = [],
  { known, own }: Pick<ToolChoice, 'known' | 'own'>,
): { readonly names: readonly string[]; readonly gone: string } {
  if (hosted === 'all') return { names: own, gone: '' };
  const gone = hosted.filter((name) => !known.includes(name)).map(showLine);
  return {
    names: hosted.filter((name) => known.includes(name)),
    gone: gone.length === 0 ? '' : `Its tools of ${gone.join(', ')} are not there any more.`,
  };
}

/** With what a prompt itself names. What is attached already goes once. */
export function withAlong({ attachments, images }: ChatSettings, along: Along): Along {
  const known = new Set(attachments.flatMap(({ uris = [] }) => uris));
  const further = along.attachments.filter(({ uris = [] }) => !uris.some((uri) => known.has(uri)));
  return {
    attachments: [...attachments, ...further],
    images: [...new Set([...images, ...along.images])],
  };
}

/** The user's next message. */
export function promptMessage(content: string, { attachments, images }: Along): Message {
  return {
    role: 'user',
    content,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(images.length === 0 ? {} : { images }),
  };
}

/** What the settings add to a turn with these messages. */
export function settingsOfTurn(
  { system, think, format, options, context, keepAlive, mode, rounds }: ChatSettings,
  messages: readonly Message[],
): Pick<ChatParams, 'messages' | 'think' | 'format' | 'options' | 'keepAlive' | 'agent' | 'maxRounds'> {
  const all = { ...options, ...(context === undefined ? {} : { num_ctx: context }) };
  return withoutUndefined({
    messages: system === undefined ? messages : [{ role: 'system' as const, content: system }, ...messages],
    think,
    format,
    agent: mode && { mode },
    maxRounds: rounds,
    options: Object.keys(all).length === 0 ? undefined : all,
    keepAlive,
  });
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
  throw new TerminalError('usage', `${showLine(path)} is no picture: it is a PNG, JPEG, GIF or WebP file.`);
}

/** `@FILE` means the text of the file. `@@` begins a text with one `@`. */
export async function readSystem(cwd: string, text: string): Promise<string> {
  if (text.startsWith('@@')) return text.slice(1);
  return text.startsWith('@') ? (await readText(cwd, text.slice(1))).trim() : text;
}

/** `json`, or the JSON Schema in a file. The daemon checks what it says. */
async function readFormat(cwd: string, word: string): Promise<ChatParams['format']> {
  if (word === 'json') return word;
  const schema = tryJson(await readText(cwd, word));
  if (isRecord(schema)) return schema;
  const why = schema === undefined ? 'is not JSON' : 'is no JSON Schema: that is an object';
  throw new TerminalError('usage', `${showLine(word)} ${why}.`);
}

function isPicture(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 16).toString('latin1');
  return imageMarks.some((mark) => mark.test(head));
}

async function readText(cwd: string, path: string): Promise<string> {
  return textOf(path, await readWhole(cwd, path, maxText));
}

function textOf(path: string, bytes: Buffer): string {
  if (bytes.length > maxText) throw tooLarge(path, bytes.length, maxText);
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  if (text.includes('\0')) throw new TerminalError('usage', `${showLine(path)} is no text.`);
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
    if (file.isDirectory()) throw new TerminalError('usage', `${showLine(path)} is no file.`);
    if (file.size > limit) throw tooLarge(path, file.size, limit);
    return file.isFile() ? await readFile(whole) : await readPipe(whole, limit);
  } catch (cause) {
    if (cause instanceof TerminalError) throw cause;
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    if (path === '-')
      throw new TerminalError('usage', 'Pipe it in without --file: standard input is sent with the prompt.');
    const why = isMissing ? 'is not there' : `cannot be read: ${messageOf(cause)}`;
    throw new TerminalError('usage', `${showLine(path)} ${why}.`, { cause });
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
  return new TerminalError(
    'usage',
    `${showLine(path)} has ${formatBytes(bytes)}; at most ${formatBytes(limit)} can go along.`,
  );
}
