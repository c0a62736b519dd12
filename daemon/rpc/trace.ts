import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { type Message, StreamMessageWriter } from 'vscode-jsonrpc/node';

/** Called for every message in either direction. */
export type Trace = (direction: 'in' | 'out', message: unknown) => void;

/**
 * Writes all traffic to a file that only its owner can read: one JSON object on each line, without secrets. The file
 * holds prompts and answers, so the trace is off by default.
 */
export function createTrace(path: string, redact: (text: string) => string, now: () => number): Trace {
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  // The daemon goes on answering even if the trace cannot be written.
  file.on('error', () => file.destroy());
  return (direction, message) => {
    if (file.destroyed) return;
    const line = JSON.stringify({ at: new Date(now()).toISOString(), direction, message }, withoutEnv);
    file.write(`${redact(line)}\n`);
  };
}

/** Changes a message before it is written and traced. */
export type Edge = (message: Message) => Message;

/** A writer that passes everything through the edge, and traces what it writes. */
export class TracedWriter extends StreamMessageWriter {
  readonly #edge: Edge;
  readonly #trace: Trace;

  constructor(output: Writable, edge: Edge, trace: Trace) {
    super(output);
    this.#edge = edge;
    this.#trace = trace;
  }

  override async write(message: Message): Promise<void> {
    const outgoing = this.#edge(message);
    this.#trace('out', outgoing);
    await super.write(outgoing);
  }
}

/** Everything that tool servers are given is hidden, because nobody can tell which part of it is secret. */
function withoutEnv(key: string, value: unknown): unknown {
  return (key === 'env' || key === 'headers') && typeof value === 'object' ? '***' : value;
}
