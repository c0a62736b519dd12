import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { LineSplitter } from '../../protocol/base/byteStreams.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type {
  ConversationSettings,
  ReadSessionResult,
  Session,
  SessionMessage,
} from '../../protocol/messages/sessions.ts';
import { type SessionHeader, type SessionState, stateAfter, tryRecord } from './records.ts';

/** The size of the largest file of a conversation, in bytes. */
export const maxFile = 64 * 1024 * 1024;

/** The first and the last line of a file each fit into this number of bytes. */
const maxEdge = 16 * 1024;

export interface FileSummary {
  readonly header: SessionHeader;
  readonly state: SessionState;
  /** The file is whole up to this offset, in bytes. */
  readonly end: number;
  /** In ms. */
  readonly updatedAt: number;
}

/**
 * Opens a regular file that is not too large, and closes it after use. It follows no link and never waits for a pipe.
 * Undefined if there is no such file.
 */
export async function withSessionFile<T>(
  path: string,
  access: 'read' | 'write',
  use: (file: FileHandle) => Promise<T | undefined>,
): Promise<T | undefined> {
  const file = await open(path, flags[access]).catch(orNothingThere);
  try {
    const stats = await file?.stat();
    if (!file || !stats?.isFile() || stats.size > maxFile) return undefined;
    return await use(file);
  } finally {
    await file?.close();
  }
}

// Windows has neither, and there they count as 0.
const careful = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const flags = {
  read: constants.O_RDONLY | careful,
  write: constants.O_RDWR | careful,
};

/** ELOOP and EMLINK mean a link, ENXIO a pipe, EISDIR a folder. */
function orNothingThere(error: NodeJS.ErrnoException): undefined {
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO', 'EISDIR'].includes(error.code ?? ''))
    return undefined;
  throw error;
}

/**
 * The header and the state of a conversation, from the first and the last line of its file. A file that was cut is read
 * as far as it is whole.
 */
export async function readSummary(file: FileHandle, id: string): Promise<FileSummary | undefined> {
  const { size, mtimeMs } = await file.stat();
  const head = await readAt(file, 0, Math.min(maxEdge, size));
  const header = tryHeader(head.slice(0, Math.max(0, head.indexOf('\n'))), id);
  if (!header) return undefined;
  const updatedAt = Math.round(mtimeMs);
  const tail = await readAt(file, Math.max(0, size - maxEdge), Math.min(maxEdge, size));
  const last = tail.endsWith('\n')
    ? tryRecord(tail.slice(tail.lastIndexOf('\n', tail.length - 2) + 1))
    : undefined;
  if (last?.type === 'state') return { header, state: last, end: size, updatedAt };
  const { state, end } = await readSession(file, () => undefined);
  return { header, state, end, updatedAt };
}

/** Reads a file message by message, as far as it is whole. A damaged line within it is skipped. */
export async function readSession(
  file: FileHandle,
  take: (message: SessionMessage) => void,
): Promise<Pick<FileSummary, 'state' | 'end'> & Pick<ReadSessionResult, 'settings' | 'cleared'>> {
  let state: SessionState = { type: 'state', title: '', turns: 0 };
  let settings: ConversationSettings | undefined;
  let cleared: ReadSessionResult['cleared'];
  let end = 0;
  for await (const line of readLines(file)) {
    if (!line.isEnded) break;
    end = line.end;
    const record = tryRecord(line.text);
    if (record?.type === 'state') state = record;
    if (record?.type === 'settings') {
      const { type: _, ...kept } = record;
      settings = kept;
    }
    if (record?.type === 'cleared') {
      const { type: _, ...parts } = record;
      cleared = parts;
    }
    if (record?.type !== 'message') continue;
    const { type: _, ...message } = record;
    state = stateAfter(state, [message]);
    take(message);
  }
  return withoutUndefined({ state, end, settings, cleared });
}

/** The place before the last turn: before the first of the prompts that no answer precedes. Undefined without any. */
export async function findLastTurn(
  file: FileHandle,
): Promise<Pick<FileSummary, 'state' | 'end'> | undefined> {
  let before: Pick<FileSummary, 'state' | 'end'> | undefined;
  let state: SessionState = { type: 'state', title: '', turns: 0 };
  let end = 0;
  let role = '';
  for await (const line of readLines(file)) {
    if (!line.isEnded) break;
    const record = tryRecord(line.text);
    if (record?.type === 'state') state = record;
    if (record?.type === 'message') {
      if (record.role === 'user' && role !== 'user') before = { state, end };
      role = record.role;
      state = stateAfter(state, [record]);
    }
    end = line.end;
  }
  return before;
}

function tryHeader(line: string, id: string): SessionHeader | undefined {
  const record = tryRecord(line);
  return record?.type === 'session' && record.id === id ? record : undefined;
}

/**
 * Replaces everything in a file after this offset. It is written over, so that a process that is killed in between
 * leaves what was there.
 */
export async function replaceAfter(file: FileHandle, offset: number, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, offset + done);
      done += bytesWritten;
    }
    await file.truncate(offset + bytes.length);
  } catch (error) {
    await file.truncate(offset).catch(() => undefined);
    throw error;
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.toString('utf8', 0, bytesRead);
}

export function summaryToSession({ header, state, updatedAt }: FileSummary): Session {
  const { id, cwd, createdAt } = header;
  const { title, turns, model } = state;
  return withoutUndefined<Session>({
    id,
    title,
    cwd,
    model,
    createdAt,
    updatedAt: new Date(updatedAt).toISOString(),
    turns,
  });
}

/** The length of the longest line of a conversation, in bytes. */
export const maxLine = 16 * 1024 * 1024;

const chunkSize = 256 * 1024;

interface FileLine {
  readonly text: string;
  /** The offset in the file at which the line ends, after its line feed. */
  readonly end: number;
  /** Whether the line has its line feed. */
  readonly isEnded: boolean;
}

/**
 * Reads the lines of a file piece by piece, so that the process can do other things in between. It stops at the first
 * line that is too long.
 */
export async function* readLines(file: FileHandle, signal?: AbortSignal): AsyncGenerator<FileLine> {
  const buffer = Buffer.allocUnsafe(chunkSize);
  const splitter = new LineSplitter(maxLine);
  let position = 0;
  let end = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, chunkSize, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    for (const { text, bytes, isCut } of splitter.push(buffer.subarray(0, bytesRead))) {
      if (isCut) return;
      end += bytes + 1;
      yield { text, end, isEnded: true };
    }
    if (splitter.pending > maxLine) return;
  }
  const rest = splitter.end();
  if (rest) yield { text: rest.text, end: position, isEnded: false };
}
