import * as vscode from 'vscode';
import { isRecord, withoutUndefined } from '../../../protocol/base/json.ts';
import { messageOf } from '../../../protocol/base/text.ts';
import type { ModelfileDiagnostic } from '../../../protocol/messages/modelfile.ts';
import { createModelRequest, listModelsRequest } from '../../../protocol/messages/models.ts';
import { errorDataOf } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { chooseServer } from '../models/modelPicker.ts';
import { runWork } from '../models/work.ts';
import type { Parts } from '../parts.ts';
import { createContextPresets, type Preset, styles, toModelfile } from './modelfileContent.ts';

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

/**
 * Creates the text of a Modelfile from a few questions: the base, unless it is given, the system prompt, and
 * parameters. It opens the text unsaved. If the user leaves a question unanswered, nothing is created.
 */
async function newModelfile(daemon: DaemonConnection, given: string | undefined): Promise<void> {
  const title = stepTitles(given === undefined ? 4 : 3);
  const base = given ?? (await chooseBase(daemon, title()));
  if (base === undefined) return;
  const system = await askForSystem(base, title());
  if (system === undefined) return;
  const style = await choosePreset(styles, title(), 'How freely the model chooses its words');
  if (style === undefined) return;
  const window = await choosePreset(
    createContextPresets(),
    title(),
    'How much text the model sees at once; more needs more memory',
  );
  if (window === undefined) return;
  const content = toModelfile({ base, system, parameters: { ...style.parameters, ...window.parameters } });
  const document = await vscode.workspace.openTextDocument({ language: 'modelfile', content });
  await vscode.window.showTextDocument(document);
}

function stepTitles(count: number): () => string {
  let step = 0;
  return () => `New Modelfile (${++step} of ${count})`;
}

async function chooseBase(daemon: DaemonConnection, title: string): Promise<string | undefined> {
  const { names, placeHolder } = await listNames(daemon);
  const file = { label: '$(file) A file…', description: 'weights in a GGUF file' };
  const items: readonly vscode.QuickPickItem[] = [...names.map((label) => ({ label })), file];
  const chosen = await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true });
  return chosen === file ? chooseFile() : chosen?.label;
}

/** Without a runner, the user can still choose a file, and the question says what is wrong. */
async function listNames(daemon: DaemonConnection) {
  try {
    const { models } = await daemon.request(listModelsRequest, {});
    return { names: models.map(({ name }) => name), placeHolder: 'The model to start from' };
  } catch (error) {
    return { names: [], placeHolder: messageOf(error) };
  }
}

/** Uses the absolute path: a document that was never saved has no folder for a relative one. */
async function chooseFile(): Promise<string | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const [file] =
    (await vscode.window.showOpenDialog(
      withoutUndefined({
        title: 'The Weights to Start From',
        filters: { 'GGUF files': ['gguf'] },
        defaultUri: folder,
      }),
    )) ?? [];
  return file?.fsPath;
}

async function askForSystem(base: string, title: string): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title,
    prompt: `The instructions that ${base} always gets first. Empty: its own.`,
    placeHolder: 'You answer in one short paragraph.',
    ignoreFocusOut: true,
  });
}

async function choosePreset(
  presets: readonly Preset[],
  title: string,
  placeHolder: string,
): Promise<Preset | undefined> {
  const items = presets.map((preset) => ({ label: preset.label, description: preset.description, preset }));
  return (await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true }))?.preset;
}
