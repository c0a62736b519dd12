import * as vscode from 'vscode';
import { isRecord } from '../../../protocol/base/json.ts';
import type { ModelfileDiagnostic } from '../../../protocol/messages/modelfile.ts';
import { createModelRequest } from '../../../protocol/messages/models.ts';
import { errorDataOf } from '../convert/failure.ts';
import { chooseServer } from '../models/modelPicker.ts';
import { runWork } from '../models/work.ts';
import type { Parts } from '../parts.ts';
import { newModelfile } from './modelfileWizard.ts';

type ModelfileParts = Pick<Parts, 'daemon' | 'facts' | 'reporter' | 'sidebar'>;

/** Commands that create models from Modelfiles, and Modelfiles from models. */
export function registerModelfileCommands(parts: ModelfileParts): vscode.Disposable {
  const { reporter } = parts;
  return vscode.Disposable.from(
    reporter.registerCommand('runner.createModel', (argument) => createModel(parts, argument)),
    reporter.registerCommand('runner.newModelfile', (argument) =>
      newModelfile(parts.daemon, modelOf(argument)),
    ),
  );
}

/** From the row, the active editor, or a chosen file. Unsaved changes are saved first. */
async function createModel({ daemon, sidebar, facts }: ModelfileParts, argument: unknown): Promise<void> {
  const uri = uriOf(argument) ?? (await chooseModelfile());
  const place = uri && (await chooseServer(facts, 'create'));
  if (!uri || !place) return;
  const document = await vscode.workspace.openTextDocument(uri);
  if (document.isDirty && !(await document.save())) return;
  const model = await vscode.window.showInputBox({
    title: 'Create a Model',
    prompt: 'A name for the model, such as my-model or my-model:v2',
    ignoreFocusOut: true,
  });
  if (!model?.trim()) return;
  try {
    const created = await runWork(daemon, `Creating ${model.trim()}`, [
      createModelRequest,
      { model: model.trim(), ...place, ...sourceOf(document) },
    ]);
    if (created) sidebar.revealInstalled({ ...created, ...place });
  } catch (error) {
    await showMistake(document, error);
    throw error;
  }
}

/** The argument is a URI, or a row of the view. */
function uriOf(argument: unknown): vscode.Uri | undefined {
  const uri = isRecord(argument) && !(argument instanceof vscode.Uri) ? argument['uri'] : argument;
  return uri instanceof vscode.Uri ? uri : undefined;
}

/** A file that was never saved has no folder for its relative paths. */
function sourceOf({ uri, getText }: vscode.TextDocument) {
  return uri.scheme === 'file' ? { path: uri.fsPath } : { text: getText() };
}

async function chooseModelfile(): Promise<vscode.Uri | undefined> {
  const { document } = vscode.window.activeTextEditor ?? {};
  if (document?.languageId === 'modelfile') return document.uri;
  const [uri] = (await vscode.window.showOpenDialog({ title: 'Create a Model from a Modelfile' })) ?? [];
  return uri;
}

/** Shows the first mistake in its place. */
async function showMistake(document: vscode.TextDocument, error: unknown): Promise<void> {
  const [first] = (errorDataOf(error)?.diagnostics ?? []) as readonly ModelfileDiagnostic[];
  if (!first) return;
  const { start, end } = first.range;
  const selection = new vscode.Range(start.line, start.character, end.line, end.character);
  await vscode.window.showTextDocument(document, { selection });
}

/** The name in a row. From the palette and the view's title there is none. */
function modelOf(argument: unknown): string | undefined {
  return isRecord(argument) && 'model' in argument ? String(argument['model']) : undefined;
}
