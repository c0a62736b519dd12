import type { ClientCapabilities, Connection, ServerCapabilities } from 'vscode-languageserver/node';
import { inlineCompletionRequest } from '../../protocol/completion.ts';
import type { Log } from '../log.ts';
import { documentSelector } from './sendable.ts';

export interface RegistrationOptions {
  /** Whether a completion model is set, as it is now. */
  readonly isWanted: () => boolean;
  readonly log: Log;
  readonly closed: AbortSignal;
}

/** Editors that take it are asked for inline completion only while there is a model for it. */
export interface Registration {
  /** Registers or unregisters, as the settings are now. */
  update(): void;
  /** The editor is known; returned is what `initialize` announces to it. */
  capabilitiesFor(editor: ClientCapabilities): ServerCapabilities;
}

const id = 'runnerd-inline-completion';

export function createRegistration(connection: Connection, options: RegistrationOptions): Registration {
  const { isWanted, log, closed } = options;
  let isDynamic = false;
  let isRegistered = false;
  let isTelling = false;

  const tell = async (): Promise<void> => {
    const { method } = inlineCompletionRequest;
    if (isWanted()) {
      const registrations = [{ id, method, registerOptions: { documentSelector } }];
      await connection.sendRequest('client/registerCapability', { registrations });
      isRegistered = true;
    } else {
      // LSP itself spells it so.
      await connection.sendRequest('client/unregisterCapability', { unregisterations: [{ id, method }] });
      isRegistered = false;
    }
  };

  /** One after the other, until what is registered is what is wanted. */
  const settle = async () => {
    isTelling = true;
    try {
      while (!closed.aborted && isWanted() !== isRegistered) await tell();
    } catch (error) {
      if (!closed.aborted) log.warn(`The editor did not take the inline completion: ${String(error)}`);
    } finally {
      isTelling = false;
    }
  };

  return {
    update() {
      if (isDynamic && !isTelling) void settle();
    },
    capabilitiesFor({ textDocument }) {
      isDynamic = textDocument?.inlineCompletion?.dynamicRegistration === true;
      return isDynamic ? {} : { inlineCompletionProvider: true };
    },
  };
}
