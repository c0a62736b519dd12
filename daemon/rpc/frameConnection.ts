import type { Readable, Writable } from 'node:stream';
import type { Message } from 'vscode-jsonrpc/node';
import type { Connection } from 'vscode-languageserver/node';
import type { Redaction } from '../config/redaction.ts';
import { FrameReader } from './frameReader.ts';
import { createGate } from './gate.ts';
import type { FrameProblem } from './incoming.ts';
import { createConnection } from './languageServer.ts';
import { toOutgoing } from './outgoing.ts';
import type { Session } from './session.ts';
import { type RequestId, type Trace, TracedWriter } from './trace.ts';

export interface FrameConnectionOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly session: Session;
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
  const writer = new TracedWriter(output, { edge, trace, answered });
  // JSON-RPC answers what it cannot read with an error. If the id cannot be read either, it is null.
  const answer = (message: Message) => void writer.write(message).catch(onLost);
  const refuse = ({ id, ...error }: FrameProblem) =>
    answer({ jsonrpc: '2.0', id: id ?? null, error } as Message);
  const reader = new FrameReader(input, refuse, trace);
  reader.onClose(onLost);
  const messageStrategy = createGate({ session, refuse: answer, beforeExit });
  return createConnection(reader, writer, { messageStrategy });
}
