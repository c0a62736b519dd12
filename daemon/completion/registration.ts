import type { ClientCapabilities, Connection } from 'vscode-languageserver/node';
import { inlineCompletionRequest } from '../../protocol/messages/completion.ts';
import type { Log } from '../base/log.ts';
import { takesRegistration } from '../rpc/greeting.ts';
import { documentSelector } from './sendable.ts';

export interface RegistrationOptions {
  /** Whether a completion model is currently set. */
  readonly isWanted: () => boolean;
  readonly log: Log;
  readonly closed: AbortSignal;
}

/** If an editor supports dynamic registration, inline completion is registered only while there is a model for it. */
export interface Registration {
  /** Registers or unregisters, as the current settings say. */
  update(): void;
  /** The editor's capabilities are known now. */
  start(editor: ClientCapabilities): void;
}

const id = 'runnerd-inline-completion';

export function createRegistration(connection: Connection, options: RegistrationOptions): Registration {
  const { isWanted, log, closed } = options;
  let isDynamic = false;
  let isRegistered = false;
  let isSettling = false;

  const send = async (): Promise<void> => {
    const { method } = inlineCompletionRequest;
    if (isWanted()) {
      const registrations = [{ id, method, registerOptions: { documentSelector } }];
      await connection.sendRequest('client/registerCapability', { registrations });
      isRegistered = true;
    } else {
      // LSP has this spelling.
      await connection.sendRequest('client/unregisterCapability', { unregisterations: [{ id, method }] });
      isRegistered = false;
    }
  };

  /** Sends one request after another until the registration is what the settings want. */
  const settle = async () => {
    isSettling = true;
    try {
      while (!closed.aborted && isWanted() !== isRegistered) await send();
    } catch (error) {
      if (!closed.aborted) log.warn(`The editor refused to register inline completion: ${String(error)}`);
    } finally {
      isSettling = false;
    }
  };

  return {
    update() {
      if (isDynamic && !isSettling) void settle();
    },
    start(editor) {
      isDynamic = takesRegistration(editor);
    },
  };
}
