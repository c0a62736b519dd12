import type { Disposable } from 'vscode';
import * as vscode from 'vscode';
import { modelsDidChange } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { type Status, serversRequest, statusDidChange } from '../../../protocol/messages/status.ts';
import { readSettings } from '../settings.ts';
import type { DaemonConnection } from './connection.ts';
import { createKnownServers, keyedAbilities, keyOf, serverNames } from './servers.ts';

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

/** The runner's state, its models or the settings changed: a page about them may be out of date. */
export type RunnerChanges = ReturnType<typeof createRunnerChanges>;

export function createRunnerChanges(daemon: DaemonConnection) {
  const changed = new vscode.EventEmitter<void>();
  const fire = () => changed.fire();
  const listening = vscode.Disposable.from(
    changed,
    daemon.onDidConnect(fire),
    daemon.onNotification(modelsDidChange, fire),
    followStatus(daemon, { onDidTurn: fire, onDidAnswer: fire }),
    vscode.workspace.onDidChangeConfiguration(({ affectsConfiguration }) => {
      if (affectsConfiguration('runner')) fire();
    }),
  );
  return { onDidChange: changed.event, dispose: () => listening.dispose() };
}

interface StatusEvents {
  /** The runner came up, went down, or is another one. */
  readonly onDidTurn: () => void;
  /** The runner has finished a piece of work. */
  readonly onDidAnswer: () => void;
}

/** Reports turns of the status, not each notification; the first one is what everything began with. */
export function followStatus(
  daemon: Pick<DaemonConnection, 'onNotification'>,
  { onDidTurn, onDidAnswer }: StatusEvents,
): Disposable {
  let last: Status | undefined;
  return daemon.onNotification(statusDidChange, (status) => {
    if (status.state === 'checking') return;
    const before = last;
    last = status;
    if (!before) return;
    const wasOffline = before.state === 'offline';
    if (wasOffline !== (status.state === 'offline') || before.message !== status.message) onDidTurn();
    else if (before.state === 'busy') onDidAnswer();
  });
}
