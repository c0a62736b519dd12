import type { Connection } from 'vscode-languageserver/node';
import * as z from 'zod/mini';
import { trustDidChange } from '../../protocol/messages/initialize.ts';
import { createEmitter, type Event } from '../base/event.ts';
import type { Log } from '../base/log.ts';
import { exact } from '../base/validate.ts';
import type { ConfigurationStore } from '../config/configuration.ts';
import { isChangeable } from '../config/settings.ts';
import type { SettingsReader } from '../config/settingsReader.ts';
import type { Servers } from '../runner/servers.ts';
import type { StatusMonitor } from '../status/status.ts';
import type { Endpoint } from './endpoint.ts';

export interface ConfigurationDependencies {
  readonly settings: SettingsReader;
  readonly configuration: ConfigurationStore;
  readonly status: StatusMonitor;
  readonly servers: Servers;
  readonly log: Log;
  readonly closed: AbortSignal;
}

export interface ServedConfiguration {
  /** Asks the editor for its settings, where it answers that. */
  pull(): Promise<void>;
  /** The settings or the trust changed. */
  readonly onDidChange: Event<void>;
}

/**
 * Changes come with the notification. If they do not, the daemon asks for them, if the editor answers
 * `workspace/configuration`.
 */
export function serveConfiguration(
  connection: Connection,
  endpoint: Endpoint,
  dependencies: ConfigurationDependencies,
): ServedConfiguration {
  const changes = createEmitter<void>();
  const { settings, configuration, status, servers, log, closed } = dependencies;
  let hasWarned = false;
  const change = (value: unknown) => {
    const unheard = configuration.change(settings.change(value));
    if (unheard.length === 0 || hasWarned) return;
    hasWarned = true;
    log.warn(
      `These settings are left out, because they may come from a workspace: ${unheard.join(', ')}. The client sends them as initializationOptions, or sends "trusted" or "sendsUserSettings" there; docs/PROTOCOL.md says when.`,
    );
  };
  const changed = () => {
    changes.fire();
    status.check(servers.server(), closed).catch((error) => log.debug(`The check ended: ${String(error)}`));
  };
  const pull = async () => {
    change(await connection.workspace.getConfiguration('runner').catch(() => undefined));
  };
  connection.onDidChangeConfiguration(async (params) => {
    const pushed: unknown = params.settings?.runner;
    const flat = Object.keys(params.settings ?? {}).filter(isChangeable);
    if (flat.length > 0)
      log.warn(`Settings count under "runner": ${flat.join(', ')} stand beside it, and are left out.`);
    if (pushed === undefined || pushed === null) await pull();
    else change(pushed);
    changed();
  });
  endpoint.onNotification(trustDidChange, exact(z.object({ trusted: z.boolean() })), ({ trusted }) => {
    configuration.trust(trusted);
    changed();
  });
  return { pull, onDidChange: changes.event };
}
