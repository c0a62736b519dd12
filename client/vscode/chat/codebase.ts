import * as vscode from 'vscode';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { isCodebaseSearched } from '../settings.ts';
import { openSetting } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';
import { toAside } from './asides.ts';
import type { Turn } from './editorToolLoop.ts';
import { placeOf, searchFolders } from './excerpts.ts';
import { namesCodebase, withoutRetryMark } from './prompt.ts';

/**
 * The excerpts of the workspace for a question with `#codebase`; none without it. `window` is the context window of the
 * model that answers, in tokens. It is undefined if nothing is to be sent, which the user then knows.
 */
export type SearchCodebase = (turn: Turn, window: number) => Promise<readonly Attachment[] | undefined>;

export function createCodebaseSearch(daemon: Pick<DaemonConnection, 'request'>): SearchCodebase {
  return async ({ request, stream, token, sent }, window) => {
    if (!namesCodebase(request.prompt)) return [];
    if (!isCodebaseSearched()) return offerSetting(request, stream);
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
    stream.progress('Searching the workspace');
    const text = sent ?? withoutRetryMark(request.prompt);
    const paths = folders.map(({ uri }) => uri.fsPath);
    const { found, notes } = await searchFolders(daemon, paths, { text, window, token });
    for (const attachment of found) showReference(stream, attachment);
    for (const note of notes) stream.markdown(toAside(plain(note)));
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
function showReference(stream: vscode.ChatResponseStream, attachment: Attachment): void {
  const place = placeOf(attachment);
  if (place === undefined) return;
  const range = new vscode.Range(place.first, 0, place.last, Number.MAX_SAFE_INTEGER);
  stream.reference(new vscode.Location(vscode.Uri.parse(place.uri), range));
}
