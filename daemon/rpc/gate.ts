import type { Message, MessageStrategy } from 'vscode-jsonrpc/node';
import type { Session } from './session.ts';

/**
 * Lets a message through if the state of the session allows it at that moment. Before `initialize` and after `shutdown`
 * every request is refused, whatever its method, and notifications are dropped.
 */
export function createGate(session: Session, refuse: (answer: Message) => void): MessageStrategy {
  return {
    handleMessage(message, next) {
      const method = 'method' in message ? message.method : undefined;
      if (typeof method !== 'string' || method.startsWith('$/') || method === 'exit') return next(message);
      const refusal = session.refusal(method);
      if (!refusal) return next(message);
      if ('id' in message) refuse({ jsonrpc: '2.0', id: message.id, error: refusal.toJson() } as Message);
    },
  };
}
