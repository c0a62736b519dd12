import type { ListSessionsParams, ListSessionsResult, Session } from '../../protocol/messages/sessions.ts';
import { parseCursor, placeToCursor } from './cursor.ts';
import { type FolderEntry, newestFirst } from './folderEntries.ts';
import { hasWords, wordsOf } from './search.ts';
import { readSummary, summaryToSession, withSessionFile } from './sessionFile.ts';

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
  const wanted = { words: wordsOf(query), ...(cwd === undefined ? {} : { cwd }) };
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

interface Wanted {
  readonly words: readonly string[];
  readonly cwd?: string;
}

/** Undefined if the file does not match, has no turn, is not a conversation, or is gone. */
async function tryMatch(
  entry: FolderEntry,
  { words, cwd }: Wanted,
  signal: AbortSignal,
): Promise<Session | undefined> {
  return withSessionFile(entry.path, 'read', async (file) => {
    const summary = await readSummary(file, entry.id);
    if (!summary || summary.state.turns === 0) return undefined;
    const session = summaryToSession(summary);
    if (cwd !== undefined && session.cwd !== cwd) return undefined;
    return words.length === 0 || (await hasWords(file, { title: session.title, words }, signal))
      ? session
      : undefined;
  });
}
