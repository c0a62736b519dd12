import * as vscode from 'vscode';
import { cutText } from '../../../protocol/base/text.ts';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import { searchFilesRequest } from '../../../protocol/messages/files.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { areRulesSent, isCodebaseSearched } from '../settings.ts';
import { openSetting } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';
import { toAside } from './answerWriter.ts';
import type { Turn } from './editorToolLoop.ts';
import { isBinary, namesCodebase, withoutRetryMark } from './prompt.ts';

/** The part of a window that excerpts may fill: the question, the earlier turns and the answer need room too. */
const partForExcerpts = 1 / 3;
/** In tokens. */
const maxExcerpts = 12_000;

/**
 * The excerpts of the workspace for a question with `#codebase`; none without it. `window` is the context window of the
 * model that answers, in tokens. It is undefined if nothing is to be sent, which the user then knows. The folders share
 * the room.
 */
export async function searchCodebase(
  daemon: DaemonConnection,
  { request, stream, token, sent }: Turn,
  window: number,
): Promise<readonly Attachment[] | undefined> {
  if (!namesCodebase(request.prompt)) return [];
  if (!isCodebaseSearched()) return offerSetting(request, stream);
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  stream.progress('Searching the workspace');
  const text = sent ?? withoutRetryMark(request.prompt);
  const room = Math.floor((window * partForExcerpts) / folders.length);
  const tokens = Math.max(1, Math.min(maxExcerpts, room));
  const results = await Promise.all(
    folders.map(({ uri }) => daemon.request(searchFilesRequest, { text, cwd: uri.fsPath, tokens }, token)),
  );
  const found = results.flatMap(({ files }) => files.flatMap(({ attachment }) => attachment ?? []));
  const none = found.length === 0 ? ['No file of the workspace has the words of this question.'] : [];
  for (const attachment of found) showReference(stream, attachment);
  for (const note of [...none, ...results.flatMap(({ notes }) => notes)])
    stream.markdown(toAside(plain(note)));
  return found;
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

/** The editor lists what an answer was made from above it. The lines of an excerpt are counted from 1. */
function showReference(
  stream: vscode.ChatResponseStream,
  { uris: [uri] = [], lines = '' }: Attachment,
): void {
  const [first, last] = lines.split('-').map(Number);
  if (uri === undefined || !first || !last) return;
  const range = new vscode.Range(first - 1, 0, last - 1, Number.MAX_SAFE_INTEGER);
  stream.reference(new vscode.Location(vscode.Uri.parse(uri), range));
}

/** In this order. Each counts where it is there. */
const names = ['AGENTS.md', '.github/copilot-instructions.md'];
/** What all of them may fill of a window, and at most, in tokens; and about how many characters a token has. */
const partForRules = 1 / 16;
const maxRules = 2_048;
const charactersOfToken = 3.5;

/** The files in which the first folder of a trusted workspace says how models should work, if the user wants that. */
export async function rulesOfWorkspace(window: number): Promise<readonly Attachment[]> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!folder || !areRulesSent() || !vscode.workspace.isTrusted) return [];
  const room = Math.floor(Math.min(maxRules, window * partForRules) * charactersOfToken);
  const read = await Promise.all(
    names.map(async (path) => {
      const uri = vscode.Uri.joinPath(folder.uri, ...path.split('/'));
      return { path, uri: uri.toString(), text: await textOf(uri) };
    }),
  );
  const files = read.filter(({ text }) => text !== '');
  return files.map(({ path, uri, text }) => {
    // Each has an equal share, and what the other leaves of its own.
    const others = files.reduce((sum, other) => sum + (other.path === path ? 0 : other.text.length), 0);
    const own = Math.max(Math.floor(room / files.length), room - others);
    const kept = text.length > own ? `${cutText(text, own)}\n[The rest is left out.]` : text;
    // Nobody has named it: what the user excludes is not sent.
    return { path, text: kept, uris: [uri], automatic: true };
  });
}

/** Empty if there is none, or it is no text. */
async function textOf(uri: vscode.Uri): Promise<string> {
  try {
    const text = Buffer.from(await vscode.workspace.fs.readFile(uri)).toString('utf8');
    return isBinary(text) ? '' : text.trim();
  } catch {
    return '';
  }
}
