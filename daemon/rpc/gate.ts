import type { Message, MessageStrategy } from 'vscode-jsonrpc/node';
import type { Session } from './session.ts';

export interface GateParts {
  readonly session: Session;
  readonly refuse: (answer: Message) => void;
  /** Settles within bounded time when what is under way is on the disk. */
  readonly beforeExit: () => Promise<void>;
}

/**
 * Lets a message through if the state of the session allows it at that moment. Before `initialize` and after `shutdown`
 * every request is refused, whatever its method, and notifications are dropped. `exit` ends the process at once, so it
 * is let through last.
 */
export function createGate({ session, refuse, beforeExit }: GateParts): MessageStrategy {
  return {
    handleMessage(message, next) {
      const method = 'method' in message ? message.method : undefined;
      if (typeof method !== 'string' || method.startsWith('$/')) return next(message);
      if (method === 'exit') {
        session.stop();
        void beforeExit().finally(() => next(message));
        return;
      }
      const refusal = session.refusal(method);
      if (!refusal) return next(message);
      if ('id' in message) refuse({ jsonrpc: '2.0', id: message.id, error: refusal.toJson() } as Message);
    },
  };
}
