import * as vscode from 'vscode';
import { canChat } from '../../protocol/choice.ts';
import { defaultServerName } from '../../protocol/initialize.ts';
import { listModelsRequest, type Model } from '../../protocol/models.ts';
import { statusRequest } from '../../protocol/status.ts';
import type { DaemonConnection } from './daemon/connection.ts';
import { serverNames } from './daemon/servers.ts';
import { messageOf } from './errorText.ts';
import { createReadOnlyPage } from './readOnlyPage.ts';
import { completionModel, readSettings } from './settings.ts';

/** Shows a page with what is reachable, what is installed, and what to fix. */
export function registerDoctor(daemon: DaemonConnection, version: string): vscode.Disposable {
  const read = async () => `${(await examine(daemon, version)).join('\n')}\n`;
  const page = createReadOnlyPage({ scheme: 'runner-doctor', title: 'Runner Doctor' }, read);
  return vscode.Disposable.from(
    page,
    vscode.commands.registerCommand('runner.doctor', () => page.show()),
  );
}

async function examine(daemon: DaemonConnection, version: string): Promise<readonly string[]> {
  const trust = vscode.workspace.isTrusted ? 'trusted' : 'not trusted';
  const servers = await Promise.all(
    serverNames(readSettings()).map((server) => examineServer(daemon, server)),
  );
  return [
    '# Runner: Doctor',
    '',
    `- Runner ${version}, editor ${vscode.version}, workspace ${trust}`,
    ...servers.flat(),
  ];
}

/** The server at `runner.host` is the one that completes. */
async function examineServer(daemon: DaemonConnection, server: string): Promise<readonly string[]> {
  const isDefault = server === defaultServerName;
  const title = ['', isDefault ? '## The runner' : `## The server ${server}`, ''];
  try {
    const status = await daemon.request(statusRequest, { server });
    const { models, stale } = await daemon.request(listModelsRequest, { server, refresh: true });
    return [
      ...title,
      `- ${status.message}${status.version === undefined ? '' : ` Version ${status.version}.`}`,
      ...adviceOnModels(models, stale === true),
      ...(isDefault ? adviceOnCompletion(models, completionModel()) : []),
    ];
  } catch (error) {
    return [...title, mend(messageOf(error))];
  }
}

function adviceOnModels(models: readonly Model[], isStale: boolean): readonly string[] {
  const able = models.filter(canChat);
  const tools = able.filter(({ capabilities }) => capabilities.tools.value !== false);
  const counts = `${models.length} installed, ${able.length} can chat, ${tools.length} may support tools`;
  const found = `- Models: ${counts}${isStale ? ' (the last known list)' : ''}`;
  if (able.length === 0)
    return [found, mend('pull a model that can chat, with the command "Runner: Pull a Model".')];
  if (tools.length > 0) return [found];
  return [found, mend('the agent lists only models with tools; ask `@runner`, or pull a model with tools.')];
}

function adviceOnCompletion(models: readonly Model[], wanted: string): readonly string[] {
  if (wanted === '')
    return ['- Completion as you type: off ("Runner: Choose the Completion Model" switches it on)'];
  const model = models.find(({ name }) => name === wanted || name === `${wanted}:latest`);
  const found = `- Completion as you type: ${wanted}`;
  if (!model) return [found, mend(`${wanted} is not installed: pull it, or choose another model.`)];
  if (model.capabilities.insert.value === true) return [`${found}, which fills in the middle`];
  return [`${found}, which the runner does not list as filling in the middle`];
}

function mend(what: string): string {
  return `- **To mend:** ${what}`;
}
