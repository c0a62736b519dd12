import { createWriteStream, fchmodSync, fstatSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Message } from 'vscode-jsonrpc/node';
import { StreamMessageWriter } from './languageServer.ts';

/** Called for every message in either direction. */
export type Trace = (direction: 'in' | 'out', message: unknown) => void;

/**
 * Writes all traffic to a file that only its owner can read: one JSON object on each line, without secrets. The file
 * holds prompts and answers, so the trace is off by default.
 */
export function createTrace(path: string, redact: (text: string) => string, now: () => number): Trace {
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  file.on('open', closeToOthers);
  // The daemon goes on answering even if the trace cannot be written.
  file.on('error', () => file.destroy());
  return (direction, message) => {
    if (file.destroyed) return;
    const line = JSON.stringify({ at: new Date(now()).toISOString(), direction, message }, withoutEnv);
    file.write(`${redact(line)}\n`);
  };
}

/** The file may have been there before, with another mode. A device keeps its own, and so does a file of somebody else. */
function closeToOthers(descriptor: number): void {
  try {
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, 0o600);
  } catch {
    // The trace is written all the same.
  }
}

/** Changes a message before it is written and traced. */
export type Edge = (message: Message) => Message;

export interface TracedWriterOptions {
  readonly edge: Edge;
  readonly trace: Trace;
  /** The id of a request whose answer is already in the output. */
  readonly answered?: RequestId | undefined;
}

export type RequestId = string | number;

/** A writer that passes everything through the edge, and traces what it writes. */
export class TracedWriter extends StreamMessageWriter {
  readonly #edge: Edge;
  readonly #trace: Trace;
  #answered: RequestId | undefined;

  constructor(output: Writable, { edge, trace, answered }: TracedWriterOptions) {
    super(output);
    this.#edge = edge;
    this.#trace = trace;
    this.#answered = answered;
  }

  override async write(message: Message): Promise<void> {
    const outgoing = this.#edge(message);
    this.#trace('out', outgoing);
    if (this.#isWritten(outgoing)) this.#answered = undefined;
    else await super.write(outgoing);
  }

  #isWritten(message: Message): boolean {
    return (
      this.#answered !== undefined &&
      'id' in message &&
      message.id === this.#answered &&
      !('method' in message)
    );
  }
}

/**
 * Everything that tool servers are given is hidden, because nobody can tell which part of it is secret. The address at
 * the end of a login is hidden too.
 */
function withoutEnv(key: string, value: unknown): unknown {
  if (key === 'redirectedTo') return '***';
  return (key === 'env' || key === 'headers') && typeof value === 'object' ? '***' : value;
}
