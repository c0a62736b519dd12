import * as vscode from 'vscode';
import { listModelsRequest } from '../../protocol/models.ts';
import { statusRequest } from '../../protocol/status.ts';
import { canChat } from './convert/modelInformation.ts';
import type { DaemonConnection } from './daemon/connection.ts';
import { messageOf } from './errorReporter.ts';
import { createReadOnlyPage } from './readOnlyPage.ts';
import { readSettings } from './settings.ts';

/** Says in a page what is reachable, what there is, and what to mend. */
export function registerDoctor(daemon: DaemonConnection, version: string): vscode.Disposable {
  const read = async () => `${(await examine(daemon, version)).join('\n')}\n`;
  const page = createReadOnlyPage({ scheme: 'runner-doctor', title: 'Runner Doctor' }, read);
  return vscode.Disposable.from(
    page,
    vscode.commands.registerCommand('runner.doctor', () => page.show()),
  );
}

async function examine(daemon: DaemonConnection, version: string): Promise<readonly string[]> {
  const head = [
    '# Runner: Doctor',
    '',
    `- Runner ${version}, editor ${vscode.version}, workspace ${vscode.workspace.isTrusted ? 'trusted' : 'not trusted'}`,
    `- Settings: ${JSON.stringify(readSettings())}`,
  ];
  try {
    const { message, version: runner } = await daemon.request(statusRequest, {});
    const { models, stale } = await daemon.request(listModelsRequest, { refresh: true });
    const able = models.filter(canChat);
    const tools = able.filter(({ capabilities }) => capabilities.tools.value !== false);
    return [
      ...head,
      `- Runner server: ${message}${runner === undefined ? '' : ` Version ${runner}.`}`,
      `- Models: ${models.length} installed, ${able.length} can chat, ${tools.length} may take tools${stale ? ' (the last known list)' : ''}`,
      ...(able.length === 0
        ? ['- **To mend:** pull a model that can chat, with the command "Runner: Pull a Model".']
        : []),
      ...(tools.length === 0 && able.length > 0
        ? [
            '- **To mend:** the agent lists only models with tools; ask `@runner`, or pull a model with tools.',
          ]
        : []),
    ];
  } catch (error) {
    return [...head, `- **To mend:** ${messageOf(error)}`];
  }
}
