import * as vscode from 'vscode';
import { type EditResult, editDelta, editRequest } from '../../../protocol/messages/edit.ts';
import type { ProposedEdit } from '../chat/editorToolLoop.ts';
import type { NamedModel } from '../chat/picker.ts';
import { thinkFor } from '../chat/thinking.ts';
import type { Parts } from '../parts.ts';
import { plain } from '../ui/safeText.ts';
import { type Hunk, hunksOf } from './hunks.ts';

type EditParts = Pick<Parts, 'daemon' | 'models' | 'offered' | 'reporter'>;

/** "Edit with Runner": new lines in place of the selected ones, which the user accepts part by part. */
export function registerEditCommand(parts: EditParts): vscode.Disposable {
  let count = 0;
  const run = async (given: unknown) => {
    const proposed = given as ProposedEdit | undefined;
    const lines = typeof proposed?.instruction === 'string' ? await linesOf(proposed) : selectedLines();
    if (lines === undefined) return void vscode.window.showInformationMessage('Select the lines to change.');
    const instruction = proposed?.instruction ?? (await askForInstruction(lines));
    if (instruction === undefined || instruction.trim() === '') return;
    const { model } = await parts.models.answering();
    if (!model) throw new Error('There is no model that can chat. Start your runner, or pull a model.');
    if (!(await parts.models.mayAnswer(model))) return;
    const result = await newLines(parts, model, lines, { instruction, streamId: `edit-${++count}` });
    if (result?.finishReason === 'stop') await propose(lines, result.text);
    else if (result && result.finishReason !== 'cancelled')
      throw new Error('The new lines are not whole, so nothing was changed.');
  };
  return parts.reporter.registerCommand('runner.edit', run, 'Editing the selection');
}

/** Whole lines of a document as they were, counted from 0. */
interface Lines {
  readonly document: vscode.TextDocument;
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

function selectedLines(): Lines | undefined {
  const { document, selection } = vscode.window.activeTextEditor ?? {};
  if (!document || !selection) return undefined;
  const { start, end } = selection;
  // The line in which nothing is selected does not belong to the selection.
  return toLines(
    document,
    start.line,
    end.character === 0 && end.line > start.line ? end.line - 1 : end.line,
  );
}

async function linesOf({ uri, first, last }: ProposedEdit): Promise<Lines> {
  return toLines(await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true)), first, last);
}

function toLines(document: vscode.TextDocument, first: number, last: number): Lines {
  return { document, first, last, text: document.getText(wholeLines(first, last)) };
}

/** Without the line end of the last one. */
function wholeLines(first: number, last: number): vscode.Range {
  return new vscode.Range(first, 0, last, Number.MAX_SAFE_INTEGER);
}

function askForInstruction({ document, first, last }: Lines): Thenable<string | undefined> {
  const where = first === last ? `Line ${first + 1}` : `Lines ${first + 1} to ${last + 1}`;
  const title = `What to Change in ${where} of ${vscode.workspace.asRelativePath(document.uri)}?`;
  return vscode.window.showInputBox({ title, placeHolder: 'such as: make it asynchronous' });
}

/** Undefined if the user cancelled. */
async function newLines(
  { daemon, offered }: EditParts,
  { name, server }: NamedModel,
  { document, first, last, text }: Lines,
  { instruction, streamId }: { readonly instruction: string; readonly streamId: string },
): Promise<EditResult | undefined> {
  const think = thinkFor(name, offered.find(name, server), 'chat');
  const path = vscode.workspace.asRelativePath(document.uri);
  const { languageId: language, lineCount } = document;
  const around = {
    before: first === 0 ? '' : `${document.getText(wholeLines(0, first - 1))}\n`,
    after: last + 1 >= lineCount ? '' : document.getText(wholeLines(last + 1, lineCount)),
  };
  const place = { path, language, uris: [document.uri.toString()], ...around };
  const params = { streamId, model: name, server, instruction, text, ...place };
  const title = plain(`${name} edits ${path}`);
  const location = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location, title, cancellable: true }, async (progress, token) => {
    const notices = daemon.onNotification(editDelta, (delta) => {
      if (delta.streamId === streamId && delta.kind === 'notice')
        progress.report({ message: plain(delta.notice.message) });
    });
    try {
      return await daemon.request(editRequest, { ...params, ...(think !== undefined && { think }) }, token);
    } catch (error) {
      if (token.isCancellationRequested) return undefined;
      throw error;
    } finally {
      notices.dispose();
    }
  });
}

/** The editor shows each part with its difference, and applies those that the user leaves ticked, as one change. */
async function propose({ document, first, last, text }: Lines, now: string): Promise<void> {
  if (document.getText(wholeLines(first, last)) !== text)
    throw new Error('The lines were changed meanwhile, so nothing was done.');
  const hunks = hunksOf(text.split(/\r?\n/), now === '' ? [] : now.split(/\r?\n/));
  if (hunks.length === 0)
    return void vscode.window.showInformationMessage('The model would change nothing in these lines.');
  const edit = new vscode.WorkspaceEdit();
  for (const hunk of hunks) {
    const { start, end, lines } = hunk;
    const label = `Lines ${first + start + 1} to ${first + Math.max(end, start + 1)}`;
    const [range, written] = toReplacement(document, first, hunk);
    const description = `${end - start} out, ${lines.length} in`;
    edit.replace(document.uri, range, written, { needsConfirmation: true, label, description });
  }
  await vscode.workspace.applyEdit(edit, { isRefactoring: true });
}

/** The last line of a document has no line end. */
function toReplacement(
  { lineCount }: vscode.TextDocument,
  first: number,
  { start, end, lines }: Hunk,
): readonly [range: vscode.Range, text: string] {
  const [from, to] = [first + start, first + end];
  const text = lines.join('\n');
  const [beforeEnd, max] = [to < lineCount, Number.MAX_SAFE_INTEGER];
  if (lines.length > 0 && end > start) return [wholeLines(from, to - 1), text];
  if (beforeEnd) return [new vscode.Range(from, 0, to, 0), lines.length > 0 ? `${text}\n` : ''];
  const above = from === 0 ? new vscode.Range(0, 0, to, max) : new vscode.Range(from - 1, max, to, max);
  return [above, lines.length > 0 ? `\n${text}` : ''];
}
