import type { CancellationToken } from 'vscode';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import { searchFilesRequest } from '../../../protocol/messages/files.ts';
import type { DaemonConnection } from '../daemon/connection.ts';

/** The part of a window that excerpts may fill: the question, the earlier turns and the answer need room too. */
const partOfWindow = 1 / 3;
const maxTokens = 12_000;

export interface Search {
  readonly text: string;
  /** The context window of the model that answers, in tokens. */
  readonly window: number;
  readonly token: CancellationToken;
}

export interface FoundExcerpts {
  readonly found: readonly Attachment[];
  /** Sentences for the user. */
  readonly notes: readonly string[];
}

/** The excerpts of these folders that fit a question. The folders share the room for them. */
export async function searchFolders(
  daemon: Pick<DaemonConnection, 'request'>,
  folders: readonly string[],
  { text, window, token }: Search,
): Promise<FoundExcerpts> {
  const tokens = Math.max(1, Math.min(maxTokens, Math.floor((window * partOfWindow) / folders.length)));
  const results = await Promise.all(
    folders.map((cwd) => daemon.request(searchFilesRequest, { text, cwd, tokens }, token)),
  );
  const found = results.flatMap(({ files }) => files.flatMap(({ attachment }) => attachment ?? []));
  const none = found.length === 0 ? ['No file of the workspace has the words of this question.'] : [];
  return { found, notes: [...none, ...results.flatMap(({ notes }) => notes)] };
}

/** Where an excerpt is: its first and its last line, counted from 0. Undefined if it does not say it. */
export function placeOf({ uris, lines }: Attachment) {
  const [uri] = uris ?? [];
  const [first, last] = (lines ?? '').split('-').map(Number);
  return uri === undefined || !first || !last ? undefined : { uri, first: first - 1, last: last - 1 };
}
