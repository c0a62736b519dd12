import { setMaxListeners } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { redactMessage } from '../config/outgoing.ts';
import { type CoreOptions, createCore } from '../core.ts';
import { toResponseError } from '../rpc/endpoint.ts';
import { createTrace } from '../rpc/trace.ts';
import type { WireError } from './acpConnection.ts';
import { createAgent } from './agent.ts';

export interface AcpOptions extends CoreOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly version: string;
  /** A file for all traffic, without secrets. */
  readonly traceFile?: string;
  /** Where the log goes, line by line: the protocol has no message for it. */
  readonly writeLog: (line: string) => void;
  readonly createId: () => string;
}

export interface AcpDaemon {
  readonly signal: AbortSignal;
  /** Takes secrets out of a text that goes another way than the connection. */
  readonly redact: (text: string) => string;
  close(): Promise<void>;
}

/** The daemon as an agent of the Agent Client Protocol. It lives until its input ends, which `signal` tells. */
export async function startAcp(options: AcpOptions): Promise<AcpDaemon> {
  const { connectAgent } = await import('./acpConnection.ts');
  const closed = new AbortController();
  // Every request that is under way listens to it.
  setMaxListeners(0, closed.signal);
  const core = createCore(
    options,
    {
      onLog: (level, message) => options.writeLog(`runnerd: ${level}: ${message}\n`),
      onDidChangeStatus: () => undefined,
      onDidChangeModels: () => {
        agent
          .modelsChanged(closed.signal)
          .catch((error) => log.debug(`The models were not told: ${String(error)}`));
      },
      // It offers no tools.
      onDidRefuseTools: () => undefined,
    },
    closed.signal,
  );
  const { configuration, secrets, servers, log } = core;
  configuration.start({ logLevel: 'warn' });
  if (core.problem !== undefined) log.warn(core.problem);
  const agent = createAgent({
    core,
    version: options.version,
    createId: options.createId,
    update: (sessionId, update) => connection.update(sessionId, update),
  });
  const toWire = (method: string, error: unknown): WireError => {
    const { code, message, data } = toResponseError(error, { cancelled: false, method, log });
    return { code, message, data: withoutPartial(data) };
  };
  core.start();
  const { traceFile } = options;
  const connection = connectAgent({
    ...{ input: options.input, output: options.output, agent, toWire },
    edge: (message) => redactMessage(message, secrets.redaction),
    ...(traceFile === undefined ? {} : { trace: createTrace(traceFile, secrets.redact, options.now) }),
  });
  const leave = () => {
    closed.abort();
    agent.close();
  };
  connection.signal.addEventListener('abort', leave, { once: true });
  return {
    signal: connection.signal,
    redact: secrets.redact,
    async close() {
      connection.close();
      leave();
      await servers.close();
    },
  };
}

/** Clients show the data of an error; what had come of the answer they have shown already. */
function withoutPartial(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('partial' in data)) return data;
  const { partial: _, ...rest } = data;
  return rest;
}
