import * as vscode from 'vscode';
import { createModelRequest } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { type ModelRow, paramsOf, type ShownModels } from './modelRow.ts';
import { runWork } from './work.ts';

/** A model under a second name; both share their weights on the disk. */
export async function duplicate(
  daemon: DaemonConnection,
  sidebar: Pick<ShownModels, 'revealInstalled'>,
  row: ModelRow,
): Promise<void> {
  const name = await vscode.window.showInputBox({
    title: `Duplicate ${row.model}`,
    prompt: 'The name of the copy. Both share their weights, so it takes no space.',
    value: copyNameOf(row.model),
    ignoreFocusOut: true,
    validateInput: (text) => (/\s/.test(text.trim()) ? 'A name has no spaces.' : undefined),
  });
  if (!name?.trim()) return;
  const params = paramsOf({ ...row, model: name.trim() });
  const from = `FROM ${row.model}\n`;
  const done = await runWork(daemon, `Duplicating ${row.model}`, [
    createModelRequest,
    { ...params, text: from },
  ]);
  if (done) sidebar.revealInstalled(params);
}

/** `qwen3:8b` is copied to `qwen3-copy:8b`. */
function copyNameOf(model: string): string {
  const [, base = model, tag = ''] = /^(.*?)(:[^:/]*)?$/.exec(model) ?? [];
  return `${base}-copy${tag}`;
}
