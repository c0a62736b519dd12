import type { Readable, Writable } from 'node:stream';
import type { Message, MessageStrategy, ResponseMessage } from 'vscode-jsonrpc/node';
import type { Connection } from 'vscode-languageserver/node';
import type { Redaction } from '../../protocol/base/redaction.ts';
import { RunnerError } from '../base/errors.ts';
import { redactMessage } from '../config/messageRedaction.ts';
import type { FrameProblem } from './frame.ts';
import { FrameReader, FrameWriter, type RequestId } from './frameStreams.ts';
import { createConnection, ErrorCodes, ResponseError } from './languageServer.ts';
import type { Trace } from './trace.ts';

interface FrameConnectionOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly session: RpcSession;
  /** Removes secrets from everything that goes out. */
  readonly redaction: Redaction;
  readonly trace: Trace;
  /** The id of the `initialize` request that already has its answer. */
  readonly answered: RequestId | undefined;
  /** The editor is gone. */
  readonly onLost: () => void;
  /** Settles within bounded time when what is under way is on the disk. */
  readonly beforeExit: () => Promise<void>;
}

/** JSON-RPC in LSP frames, behind the gate of the session. It does not listen yet. */
export function createFrameConnection(options: FrameConnectionOptions): Connection {
  const { input, output, session, redaction, trace, answered, onLost, beforeExit } = options;
  const edge = (message: Message) => toOutgoing(message, redaction);
  const writer = new FrameWriter(output, { edge, trace, answered });
  // JSON-RPC answers what it cannot read with an error. If the id cannot be read either, it is null.
  const answer = (message: Message) => void writer.write(message).catch(onLost);
  const refuse = ({ id, ...error }: FrameProblem) =>
    answer({ jsonrpc: '2.0', id: id ?? null, error } as Message);
  const reader = new FrameReader(input, refuse, trace);
  reader.onClose(onLost);
  const messageStrategy = createGate({ session, beforeExit }, answer);
  return createConnection(reader, writer, { messageStrategy });
}

/**
 * Lets a message through if the state of the session allows it at that moment. Before `initialize` and after `shutdown`
 * every request is refused, whatever its method, and notifications are dropped. `exit` ends the process at once, so it
 * is let through last.
 */
function createGate(
  { session, beforeExit }: Pick<FrameConnectionOptions, 'session' | 'beforeExit'>,
  refuse: (answer: Message) => void,
): MessageStrategy {
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

export type RpcSession = ReturnType<typeof createSession>;

/** The state of the connection: before `initialize`, ready, or after `shutdown`. */
export function createSession() {
  let state: 'new' | 'ready' | 'stopped' = 'new';
  const refuse = (code: number, message: string) => new ResponseError<never>(code, message);
  const refusals = {
    new: (method: string) =>
      method === 'initialize'
        ? undefined
        : refuse(ErrorCodes.ServerNotInitialized, 'Send "initialize" first.'),
    ready: (method: string) =>
      method === 'initialize'
        ? refuse(
            ErrorCodes.InvalidRequest,
            'The daemon is already initialized. Start another daemon for another editor.',
          )
        : undefined,
    stopped: () => refuse(ErrorCodes.InvalidRequest, 'The daemon is shutting down.'),
  };
  return {
    isReady: () => state === 'ready',
    /** The error with which a request of this method is refused now, by LSP's rules; undefined if it is allowed. */
    refusal: (method: string) => refusals[state](method),
    start: () => {
      state = 'ready';
    },
    stop: () => {
      state = 'stopped';
    },
  };
}
