import * as vscode from 'vscode';
import { libraryRequest } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import type { ModelRow } from './modelRow.ts';

/** Opens the page of a model in the browser: a catalog's row has it, and a local one may be in the catalog. */
export async function openPage(daemon: DaemonConnection, row: ModelRow): Promise<void> {
  const url = row.url ?? huggingFacePage(row.model) ?? (await catalogPage(daemon, row.model));
  if (url !== undefined) await vscode.env.openExternal(vscode.Uri.parse(url, true));
  else void vscode.window.showInformationMessage(`${row.model} has no page: the catalog does not list it.`);
}

/** Of a model that was pulled from there. */
function huggingFacePage(model: string): string | undefined {
  const [, owner, name] = /^(?:hf\.co|huggingface\.co)\/([\w.-]+)\/([\w.-]+)/i.exec(model) ?? [];
  return owner === undefined ? undefined : `https://huggingface.co/${owner}/${name}`;
}

async function catalogPage(daemon: DaemonConnection, model: string): Promise<string | undefined> {
  const { entries } = await daemon.request(libraryRequest, {});
  const base = withoutTag(model);
  return entries.find(({ name }) => withoutTag(name) === base)?.url;
}

function withoutTag(name: string): string {
  return name.toLowerCase().replace(/:[^:/]*$/, '');
}
