import type { Readable, Writable } from 'node:stream';
import type { Message } from 'vscode-jsonrpc/node';
import { createConnection } from 'vscode-languageserver/node';
import { chatDelta, chatRequest } from '../protocol/chat.ts';
import { logNotification } from '../protocol/log.ts';
import { listModelsRequest, runningModelsRequest, showModelRequest } from '../protocol/models.ts';
import { statusDidChange, statusRequest } from '../protocol/status.ts';
import { type Chat, createChat } from './chat/chat.ts';
import { chatParamsSchema } from './chat/params.ts';
import { createTokenEstimate } from './chat/tokenEstimate.ts';
import { createToolCallId } from './chat/toolUtilities.ts';
import { createConfiguration } from './config/configuration.ts';
import { createSecretStore, type SecretStore } from './config/secrets.ts';
import { InvalidParamsError } from './errors.ts';
import { createLog, type Log } from './log.ts';
import { createModelKnowledge } from './models/knowledge.ts';
import { createModels, type Models } from './models/models.ts';
import { listParamsSchema, modelParamsSchema, serverParamsSchema } from './models/params.ts';
import { createToolSupport } from './models/toolSupport.ts';
import { createEndpoint, type Endpoint } from './rpc/endpoint.ts';
import { type FrameProblem, FrameReader } from './rpc/frameReader.ts';
import { createLifecycle, serveConfiguration, serveLifecycle } from './rpc/lifecycle.ts';
import { createTrace, TracedWriter } from './rpc/trace.ts';
import { parseAddress } from './runner/address.ts';
import { createServers, type Servers } from './runner/servers.ts';
import { createStatus, type StatusMonitor } from './status/status.ts';

export interface DaemonOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly version: string;
  /** The address of the runner where the editor names none; `OLLAMA_HOST`, or the practice runner's. */
  readonly host?: string;
  /** Reads the secrets from wherever they come, once the address is known; requests wait until it settles. */
  readonly readSecrets: (store: SecretStore, url: string, log: Log) => Promise<void>;
  /** A file for all traffic, without secrets. */
  readonly traceFile?: string;
  readonly now: () => number;
  readonly random: () => number;
}

/** The daemon over one connection: what there is, and who answers what. It lives until its input ends. */
export function startDaemon(options: DaemonOptions): { close(): Promise<void> } {
  const closed = new AbortController();
  const secrets = createSecretStore();
  const { host, problem } = readHost(options.host);
  const configuration = createConfiguration(host);
  const trace =
    options.traceFile === undefined
      ? () => undefined
      : createTrace(options.traceFile, secrets.redact, options.now);
  const writer = new TracedWriter(options.output, trace);
  // JSON-RPC answers what it cannot read with an error that has no id.
  const refuse = (error: FrameProblem) =>
    void writer.write({ jsonrpc: '2.0', id: null, error } as Message).catch(() => closed.abort());
  const reader = new FrameReader(options.input, refuse, trace);
  const connection = createConnection(reader, writer);
  const lifecycle = createLifecycle();
  const log = createLog({
    level: () => configuration.current.logLevel,
    redact: secrets.redact,
    write: (level, message) => {
      if (lifecycle.isReady())
        endpoint.notify(logNotification, { level, source: 'daemon', message }).catch(() => closed.abort());
    },
  });
  const endpoint = createEndpoint({
    connection,
    log,
    redact: secrets.redact,
    closed: closed.signal,
    refusal: lifecycle.refusal,
  });
  let secretsRead = Promise.resolve();
  const servers = createServers({
    settings: () => configuration.current,
    headersFor: async (url) => {
      await secretsRead;
      return secrets.headersFor(url);
    },
  });
  const status = createStatus({
    client: () => servers.client(),
    onDidChange: (changed) => {
      endpoint.notify(statusDidChange, changed).catch(() => closed.abort());
    },
    closed: closed.signal,
  });
  const toolSupport = createToolSupport((server, model, works) => {
    knowledge.observe(server, model, { capability: 'tools', value: works });
  });
  const knowledge = createModelKnowledge((id) => toolSupport.forget(id));
  const models = createModels(knowledge, options.now);
  const chat = createChat({
    knowledge,
    toolSupport,
    estimate: createTokenEstimate(),
    learn: models.learn,
    defaults: () => configuration.current,
    createId: () => createToolCallId(options.random),
  });

  const onInitialize = () => {
    lifecycle.start();
    secretsRead = options.readSecrets(secrets, servers.client().server.url, log);
  };
  const pullSettings = serveConfiguration(connection, endpoint, {
    configuration,
    status,
    servers,
    log,
    closed: closed.signal,
  });
  serveLifecycle(connection, {
    pullSettings,
    version: options.version,
    ...(problem === undefined ? {} : { problem }),
    onInitialize,
    lifecycle,
    configuration,
    status,
    servers,
    log,
    closed: closed.signal,
  });
  serveModels(endpoint, models, servers);
  serveChat(endpoint, { chat, servers, status });
  endpoint.onRequest(statusRequest, serverParamsSchema, ({ server }, signal) =>
    status.check(servers.client(server), signal),
  );

  reader.onClose(() => closed.abort());
  connection.listen();
  return {
    async close() {
      closed.abort();
      await servers.close();
    },
  };
}

/** A wrong address in the environment is told and left out; it must not keep the daemon from starting. */
function readHost(host: string | undefined): { readonly host?: string; readonly problem?: string } {
  try {
    return host === undefined ? {} : { host: parseAddress(host) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `OLLAMA_HOST is left out: ${reason}. The default address is used.` };
  }
}

function serveModels(endpoint: Endpoint, models: Models, servers: Servers): void {
  endpoint.onRequest(listModelsRequest, listParamsSchema, ({ server, refresh = false }, signal) =>
    models.list(servers.client(server), { refresh }, signal),
  );
  endpoint.onRequest(runningModelsRequest, serverParamsSchema, async ({ server }, signal) => ({
    models: await models.running(servers.client(server), signal),
  }));
  endpoint.onRequest(showModelRequest, modelParamsSchema, ({ server, model }, signal) =>
    models.show(servers.client(server), model, signal),
  );
}

function serveChat(
  endpoint: Endpoint,
  { chat, servers, status }: { chat: Chat; servers: Servers; status: StatusMonitor },
): void {
  const streams = new Set<string>();
  endpoint.onRequest(chatRequest, chatParamsSchema, async (params, signal) => {
    const client = servers.client(params.server);
    if (streams.has(params.streamId))
      throw new InvalidParamsError('streamId', 'another chat that is under way has it');
    streams.add(params.streamId);
    const done = client.server.name === servers.client().server.name ? status.work() : () => undefined;
    try {
      return await chat(client, params, (delta) => endpoint.notify(chatDelta, delta), signal);
    } catch (error) {
      status.failed(error);
      throw error;
    } finally {
      done();
      streams.delete(params.streamId);
    }
  });
}
