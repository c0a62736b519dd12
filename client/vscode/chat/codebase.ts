import * as vscode from 'vscode';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import { searchFilesRequest } from '../../../protocol/messages/files.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { isCodebaseSearched } from '../settings.ts';
import { openSetting } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';
import { toAside } from './answerWriter.ts';
import type { Turn } from './editorToolLoop.ts';
import { namesCodebase, withoutRetryMark } from './prompt.ts';

/**
 * The excerpts of the workspace for a question with `#codebase`; none without it. `window` is the context window of the
 * model that answers, in tokens. It is undefined if nothing is to be sent, which the user then knows.
 */
export type SearchCodebase = (turn: Turn, window: number) => Promise<readonly Attachment[] | undefined>;

/** The part of a window that excerpts may fill: the question, the earlier turns and the answer need room too. */
const partOfWindow = 1 / 3;
const maxTokens = 12_000;

export function createCodebaseSearch(daemon: Pick<DaemonConnection, 'request'>): SearchCodebase {
  return async ({ request, stream, token, sent }, window) => {
    if (!namesCodebase(request.prompt)) return [];
    if (!isCodebaseSearched()) return offerSetting(request, stream);
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
    stream.progress('Searching the workspace');
    const room = Math.min(maxTokens, Math.floor((window * partOfWindow) / Math.max(1, folders.length)));
    const text = sent ?? withoutRetryMark(request.prompt);
    const results = await Promise.all(
      folders.map(({ uri }) =>
        daemon.request(searchFilesRequest, { text, cwd: uri.fsPath, tokens: Math.max(1, room) }, token),
      ),
    );
    const found = results.flatMap(({ files }) => files.flatMap(({ attachment }) => attachment ?? []));
    for (const attachment of found) showReference(stream, attachment);
    const none = found.length === 0 ? ['No file of the workspace has the words of this question.'] : [];
    for (const note of [...none, ...results.flatMap(({ notes }) => notes)])
      stream.markdown(toAside(plain(note)));
    return found;
  };
}

/** Where another extension has a tool with this name, the model is offered that tool. */
function offerSetting(
  { toolReferences }: vscode.ChatRequest,
  stream: vscode.ChatResponseStream,
): readonly Attachment[] | undefined {
  if (toolReferences.some(({ name }) => /codebase/i.test(name))) return [];
  stream.markdown(
    toAside(
      'Nothing was sent. With the setting runner.codebase, #codebase searches the files of the workspace, and sends the excerpts that fit the question.',
    ),
  );
  const { command, title, arguments: given = [] } = openSetting('runner.codebase');
  stream.button({ command, title, arguments: [...given] });
  return undefined;
}

/** The editor lists what an answer was made from above it. */
function showReference(stream: vscode.ChatResponseStream, { uris, lines }: Attachment): void {
  const [uri] = uris ?? [];
  const [first, last] = (lines ?? '').split('-').map(Number);
  if (uri === undefined || !first || !last) return;
  const range = new vscode.Range(first - 1, 0, last - 1, Number.MAX_SAFE_INTEGER);
  stream.reference(new vscode.Location(vscode.Uri.parse(uri), range));
}
