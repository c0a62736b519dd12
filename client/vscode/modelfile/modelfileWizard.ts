import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import { listModelsRequest } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { createContextPresets, type Preset, styles, toModelfile } from './modelfileContent.ts';

/**
 * Creates the text of a Modelfile from a few questions: the base, unless it is given, the system prompt, and
 * parameters. It opens the text unsaved. If the user leaves a question unanswered, nothing is created.
 */
export async function newModelfile(daemon: DaemonConnection, given: string | undefined): Promise<void> {
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
