import * as vscode from 'vscode';
import {
  createModelRequest,
  deleteModelRequest,
  listModelsRequest,
} from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { chatModel, completionModel, updateSetting } from '../settings.ts';
import { isRunning } from './modelLists.ts';
import { type CopyNameOptions, copyNameOf, problemOfName } from './modelNames.ts';
import { idOf, isSameModel, type ModelRow, paramsOf, type ShownModels, serverOf } from './modelRow.ts';
import { runWork } from './work.ts';

type Sidebar = Pick<ShownModels, 'revealInstalled'>;

/** The settings of the editor's own that name models. */
export interface ChatSettings {
  /** Those that name this model. */
  naming(row: ModelRow): readonly string[];
  /** Writes the new name into them. */
  rename(row: ModelRow, to: string): Promise<void>;
}

export interface RenameDependencies {
  readonly daemon: DaemonConnection;
  readonly sidebar: Sidebar;
  readonly chatSettings: ChatSettings;
  /** Called when both names are there. */
  readonly follow: (to: ModelRow) => void;
}

/** Creates a copy of a model under another name. Both share their weights on the disk. */
export async function duplicate(daemon: DaemonConnection, sidebar: Sidebar, row: ModelRow): Promise<void> {
  const prompt = 'The name of the copy. Both share their weights, so it takes no space.';
  const title = `Duplicate ${row.model}`;
  const to = await askForName(daemon, row, { title, prompt, value: copyNameOf(row.model) });
  if (to === undefined || !(await copy(daemon, { row, to, title: `Duplicating ${row.model}` }))) return;
  sidebar.revealInstalled({ ...row, model: to });
  // A filter may hide its row.
  vscode.window.setStatusBarMessage(`${to} is a copy of ${row.model}.`, 5_000);
}

/** Runners cannot rename, so a copy is made before the model is deleted: whatever fails, one of them is left. */
export async function rename(
  { daemon, sidebar, chatSettings, follow }: RenameDependencies,
  row: ModelRow,
): Promise<void> {
  const prompt = 'The new name.';
  const to = await askForName(daemon, row, { title: `Rename ${row.model}`, prompt, value: row.model });
  if (to === undefined) return;
  const isLoaded = await isRunning(daemon, row);
  const own = settingsNaming(row);
  const settings = [...own.map((key) => `runner.${key}`), ...chatSettings.naming(row)];
  if (!(await mayRename(row, to, { isLoaded, settings }))) return;
  if (!(await copy(daemon, { row, to, title: `Renaming ${row.model}` }))) return;
  for (const key of own) await updateSetting(key, idOf({ ...row, model: to }));
  await chatSettings.rename(row, to);
  follow({ ...row, model: to });
  await daemon.request(deleteModelRequest, { ...paramsOf(row), stop: isLoaded });
  sidebar.revealInstalled({ ...row, model: to });
  vscode.window.setStatusBarMessage(`${row.model} is now ${to}.`, 5_000);
}

interface NameQuestion {
  readonly title: string;
  readonly prompt: string;
  readonly value: string;
}

async function askForName(
  daemon: DaemonConnection,
  row: ModelRow,
  question: NameQuestion,
): Promise<string | undefined> {
  const { models } = await daemon.request(listModelsRequest, serverOf(row));
  const options: CopyNameOptions = { from: row.model, taken: models.map(({ name }) => name) };
  const name = await vscode.window.showInputBox({
    ...question,
    ignoreFocusOut: true,
    validateInput: (text) => problemOfName(text.trim(), options),
  });
  return name?.trim() || undefined;
}

interface Copying {
  readonly row: ModelRow;
  readonly to: string;
  readonly title: string;
}

/** False if the user cancelled it. */
async function copy(daemon: DaemonConnection, { row, to, title }: Copying): Promise<boolean> {
  const params = { ...paramsOf({ ...row, model: to }), text: `FROM ${row.model}\n` };
  return (await runWork(daemon, title, [createModelRequest, params])) !== undefined;
}

/** The settings that would name a model that is gone. */
function settingsNaming(row: ModelRow): readonly string[] {
  const values = { chatModel: chatModel(), completionModel: completionModel() };
  return Object.entries(values).flatMap(([key, model]) =>
    model !== '' && isSameModel({ model }, { model: idOf(row) }) ? [key] : [],
  );
}

interface Consequences {
  readonly isLoaded: boolean;
  readonly settings: readonly string[];
}

async function mayRename(
  { model }: ModelRow,
  to: string,
  { isLoaded, settings }: Consequences,
): Promise<boolean> {
  const detail = [
    `${model} is copied, which takes no space, and then deleted.`,
    isLoaded ? 'It is loaded, and will be unloaded first.' : '',
    ...settings.map((key) => `The setting ${key} gets the new name.`),
    'Modelfiles and other programs that name it are not changed.',
  ];
  const action = isLoaded ? 'Unload and Rename' : 'Rename';
  const options = { modal: true, detail: detail.filter(Boolean).join(' ') };
  return (await vscode.window.showWarningMessage(`Rename ${model} to ${to}?`, options, action)) === action;
}
