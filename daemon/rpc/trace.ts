import { createWriteStream, fchmodSync, fstatSync } from 'node:fs';

/** Called for every message in either direction. */
export type Trace = (direction: 'in' | 'out', message: unknown) => void;

/**
 * Writes all traffic to a file that only its owner can read: one JSON object on each line, without secrets. The file
 * holds prompts and answers, so the trace is off by default.
 */
export function createTrace(path: string, redact: (text: string) => string, now: () => number): Trace {
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  file.on('open', closeToOthers);
  // The daemon goes on answering even if the trace cannot be written. Then the stream destroys itself.
  file.on('error', () => undefined);
  return (direction, message) => {
    if (file.destroyed) return;
    const line = JSON.stringify({ at: new Date(now()).toISOString(), direction, message }, withoutEnv);
    file.write(`${redact(line)}\n`);
  };
}

/**
 * The file may have been there before, with another mode. A device keeps its own, and so does a file of somebody else.
 */
function closeToOthers(descriptor: number): void {
  try {
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, 0o600);
  } catch {
    // The trace is written all the same.
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
