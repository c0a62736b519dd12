import { type FileHandle, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod/mini';
import { tryJson } from '../../protocol/base/json.ts';
import { folderKey } from '../../protocol/base/platform/folders.ts';
import type {
  ListSessionsParams,
  ListSessionsResult,
  Session,
  SessionMessage,
} from '../../protocol/messages/sessions.ts';
import { InvalidParamsError } from '../base/errors.ts';
import { tryRecord } from './records.ts';
import { maxFile, readLines, readSummary, summaryToSession, withSessionFile } from './sessionFile.ts';
import { isSessionId } from './sessionId.ts';

/** A file whose name and kind are those of a conversation. */
export interface FolderEntry {
  readonly id: string;
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** In whole ms. */
  readonly updatedAt: number;
}

/** How many files are examined at the same time. */
const atOnce = 64;

export const fileEnding = '.jsonl';

/**
 * The conversations in the folder, newest first. Other names, links, pipes and files that are too large are skipped.
 */
export async function readFolder(folder: string): Promise<readonly FolderEntry[]> {
  const ids = await idsIn(folder);
  const entries: FolderEntry[] = [];
  for (let at = 0; at < ids.length; at += atOnce) {
    const found = await Promise.all(ids.slice(at, at + atOnce).map((id) => tryEntry(folder, id)));
    entries.push(...found.flatMap((entry) => entry ?? []));
  }
  return entries.sort(newestFirst);
}

export function newestFirst(
  one: Pick<FolderEntry, 'id' | 'updatedAt'>,
  other: Pick<FolderEntry, 'id' | 'updatedAt'>,
): number {
  return other.updatedAt - one.updatedAt || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);
}

async function idsIn(folder: string): Promise<readonly string[]> {
  const ids: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      const id = name.endsWith(fileEnding) ? name.slice(0, -fileEnding.length) : '';
      if (isSessionId(id)) ids.push(id);
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')))
      throw error;
  }
  return ids;
}

async function tryEntry(folder: string, id: string): Promise<FolderEntry | undefined> {
  const path = join(folder, `${id}${fileEnding}`);
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isFile() || stats.size > maxFile) return undefined;
  return { id, path, size: stats.size, updatedAt: Math.round(stats.mtimeMs) };
}

/** The most bytes of all conversations together. */
const maxFolder = 200 * 1024 * 1024;
/** The most conversations that are kept, whatever their size. */
const maxCount = 10_000;
const day = 24 * 60 * 60 * 1000;

interface RetentionLimits {
  readonly days: number;
  /** In ms. */
  readonly now: number;
}

/**
 * Divides conversations into those that stay and those that are too old or have no room. `entries` are newest first.
 */
export function divideByAge(
  entries: readonly FolderEntry[],
  { days, now }: RetentionLimits,
): { readonly kept: readonly FolderEntry[]; readonly expired: readonly FolderEntry[] } {
  let bytes = 0;
  const first = entries.findIndex(({ size, updatedAt }, index) => {
    bytes += size;
    return index >= maxCount || bytes > maxFolder || now - updatedAt > days * day;
  });
  const at = first === -1 ? entries.length : first;
  return { kept: entries.slice(0, at), expired: entries.slice(at) };
}

const defaultLimit = 50;
/** The most bytes of messages that one list reads. Older conversations are on the next page. */
const maxRead = 256 * 1024 * 1024;

/**
 * A page of the kept conversations. `entries` are newest first. Files are read one by one, and no further than the page
 * needs.
 */
export async function listPage(
  entries: readonly FolderEntry[],
  { query = '', cwd, limit = defaultLimit, cursor }: ListSessionsParams,
  signal: AbortSignal,
): Promise<ListSessionsResult> {
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  const rest = after ? entries.filter((entry) => newestFirst(after, entry) < 0) : entries;
  const places = new Map<string, Promise<string>>();
  const placeOf = (folder: string) => {
    const place = places.get(folder) ?? folderKey(folder);
    places.set(folder, place);
    return place;
  };
  const isWanted = async (folder: string | undefined) =>
    cwd === undefined || (folder !== undefined && (await placeOf(folder)) === (await placeOf(cwd)));
  const wanted = { words: wordsOf(query), isWanted };
  const sessions: Session[] = [];
  let last: FolderEntry | undefined;
  let read = 0;
  for (const entry of rest) {
    signal.throwIfAborted();
    const session = await tryMatch(entry, wanted, signal);
    // There is a next page only if something would be on it.
    if (last && (session ? sessions.length === limit : read > maxRead))
      return { sessions, nextCursor: placeToCursor(last) };
    if (wanted.words.length > 0) read += entry.size;
    if (session) sessions.push(session);
    if (session || sessions.length < limit) last = entry;
  }
  return { sessions };
}

interface SessionQuery {
  readonly words: readonly string[];
  /** Whether the folder of a conversation is the one asked for, by whatever name. */
  readonly isWanted: (cwd: string | undefined) => Promise<boolean>;
}

/** Undefined if the file does not match, has no turn, is not a conversation, or is gone. */
async function tryMatch(
  entry: FolderEntry,
  { words, isWanted }: SessionQuery,
  signal: AbortSignal,
): Promise<Session | undefined> {
  return withSessionFile(entry.path, 'read', async (file) => {
    const summary = await readSummary(file, entry.id);
    if (!summary || summary.state.turns === 0) return undefined;
    const session = summaryToSession(summary);
    if (!(await isWanted(session.cwd))) return undefined;
    return words.length === 0 || (await hasWords(file, { title: session.title, words }, signal))
      ? session
      : undefined;
  });
}

/** Identifies the last conversation of a page. */
type PageCursor = Pick<FolderEntry, 'id' | 'updatedAt'>;

const schema = z.tuple([z.int(), z.string().check(z.maxLength(32))]);

function placeToCursor({ updatedAt, id }: PageCursor): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString('base64url');
}

/** @throws {InvalidParamsError} for a text that is not a cursor of ours. */
function parseCursor(cursor: string): PageCursor {
  const parsed = schema.safeParse(tryJson(Buffer.from(cursor, 'base64url').toString('utf8')));
  if (!parsed.success) throw new InvalidParamsError('cursor', 'it is not a cursor that a list returned');
  const [updatedAt, id] = parsed.data;
  return { updatedAt, id };
}

/** How much of a long line is searched before the process does other things, in characters. */
const slice = 512 * 1024;

/** The words of a query, in lower case, each once. */
function wordsOf(query: string): readonly string[] {
  return [...new Set(query.toLowerCase().split(/\s+/))].filter((word) => word !== '');
}

/** Whether the title and the messages together contain all of these words. The file is read no further than needed. */
async function hasWords(
  file: FileHandle,
  { title, words }: { readonly title: string; readonly words: readonly string[] },
  signal: AbortSignal,
): Promise<boolean> {
  const missing = new Set(words);
  strike(missing, title);
  if (missing.size === 0) return true;
  for await (const { text } of readLines(file, signal)) {
    if (!(await mayHave(text, missing))) continue;
    const record = tryRecord(text);
    if (record?.type !== 'message') continue;
    for (const said of textsOf(record)) strike(missing, said);
    if (missing.size === 0) return true;
  }
  return false;
}

/** Whether a line contains one of the words in its JSON form, which is cheaper than parsing the line. */
async function mayHave(line: string, words: ReadonlySet<string>): Promise<boolean> {
  const written = [...words].map((word) => JSON.stringify(word).slice(1, -1));
  const overlap = Math.max(...written.map(({ length }) => length));
  for (let at = 0; at < line.length; at += slice) {
    if (at > 0) await nextTurn();
    const part = line.slice(at, at + slice + overlap).toLowerCase();
    if (written.some((word) => part.includes(word))) return true;
  }
  return false;
}

function strike(missing: Set<string>, text: string): void {
  const lower = text.toLowerCase();
  for (const word of missing) if (lower.includes(word)) missing.delete(word);
}

function textsOf({ content, attachments = [] }: SessionMessage): readonly string[] {
  return [content, ...attachments.flatMap(({ path, text }) => [path, text])];
}
