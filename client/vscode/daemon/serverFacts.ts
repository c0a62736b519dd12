import * as vscode from 'vscode';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { serversRequest, statusDidChange } from '../../../protocol/messages/status.ts';
import { readSettings } from '../settings.ts';
import type { DaemonConnection } from './connection.ts';
import { createKnownServers, keyedAbilities, keyOf } from './knownServers.ts';
import type { RunnerChanges } from './runnerChanges.ts';
import { serverNames } from './servers.ts';

/** What the servers are and can do. Menus and the palette follow. */
export type ServerFactsStore = ReturnType<typeof createServerFacts>;

/**
 * Follows the status of the default server, which the daemon publishes. Further servers are asked whenever they may
 * have changed.
 */
export function createServerFacts(daemon: DaemonConnection, changes: RunnerChanges) {
  const changed = new vscode.EventEmitter<void>();
  const names = () => serverNames(readSettings());
  const known = createKnownServers(names);
  let published = '';
  const publish = () => {
    const facts = JSON.stringify(
      names().map((name) => [known.product(name), keyedAbilities.map((ability) => known.can(ability, name))]),
    );
    if (facts === published) return;
    published = facts;
    for (const ability of keyedAbilities)
      void vscode.commands.executeCommand('setContext', keyOf(ability), known.those(ability).length === 0);
    changed.fire();
  };
  const askFurther = async () => {
    if (names().length === 1) return;
    const { servers } = await daemon.request(serversRequest, {});
    for (const { name, status } of servers) known.take(name, status);
    publish();
  };
  const listening = vscode.Disposable.from(
    changed,
    daemon.onNotification(statusDidChange, (status) => {
      known.take(defaultServerName, status);
      publish();
    }),
    vscode.workspace.onDidChangeConfiguration(({ affectsConfiguration }) => {
      if (affectsConfiguration('runner.host') || affectsConfiguration('runner.api')) known.forget('default');
      if (affectsConfiguration('runner.servers')) known.forget('further');
      publish();
    }),
    // A daemon that does not answer is reported elsewhere.
    changes.onDidChange(() => void askFurther().catch(() => undefined)),
  );
  return {
    can: known.can,
    those: known.those,
    product: known.product,
    onDidChange: changed.event,
    dispose: () => listening.dispose(),
  };
}
