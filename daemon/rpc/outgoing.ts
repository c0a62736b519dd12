import type { Message, ResponseMessage } from 'vscode-jsonrpc/node';
import { RunnerError } from '../base/errors.ts';
import { redactMessage } from '../config/outgoing.ts';
import type { Redaction } from '../config/redaction.ts';

/**
 * Removes secrets from a message before it goes out. An answer that is nested too deep to be sent becomes a typed
 * error.
 */
export function toOutgoing(message: Message, redaction: Redaction): Message {
  try {
    return redactMessage(message, redaction);
  } catch (error) {
    if (!(error instanceof RangeError) || !isAnswer(message)) throw error;
    const { code, message: text, data } = tooDeep();
    return { jsonrpc: '2.0', id: message.id, error: { code, message: text, data } } as Message;
  }
}

function isAnswer(message: Message): message is ResponseMessage {
  return 'id' in message && !('method' in message);
}

function tooDeep(): RunnerError {
  return new RunnerError(
    'bad-response',
    'The answer is nested deeper than an editor can read. Ask again; if it happens again, try another model.',
  );
}
