import * as vscode from 'vscode';
import { createModelRequest, listModelsRequest } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { copyNameOf, problemOfName } from './modelNames.ts';
import { type ModelRow, paramsOf, type ShownModels, serverOf } from './modelRow.ts';
import { runWork } from './work.ts';

/** Creates a copy of a model under another name. Both share their weights on the disk. */
export async function duplicate(
  daemon: DaemonConnection,
  sidebar: Pick<ShownModels, 'revealInstalled'>,
  row: ModelRow,
): Promise<void> {
  const { models } = await daemon.request(listModelsRequest, serverOf(row));
  const taken = models.map(({ name }) => name);
  const typed = await vscode.window.showInputBox({
    title: `Duplicate ${row.model}`,
    prompt: 'The name of the copy. Both share their weights, so it takes no space.',
    value: copyNameOf(row.model),
    ignoreFocusOut: true,
    validateInput: (text) => problemOfName(text.trim(), { from: row.model, taken }),
  });
  const to = typed?.trim() || undefined;
  if (to === undefined) return;
  const params = { ...paramsOf({ ...row, model: to }), text: `FROM ${row.model}\n` };
  if (!(await runWork(daemon, `Duplicating ${row.model}`, [createModelRequest, params]))) return;
  sidebar.revealInstalled({ ...row, model: to });
  // A filter may hide its row.
  vscode.window.setStatusBarMessage(`${to} is a copy of ${row.model}.`, 5_000);
}
