import type { Readable, Writable } from 'node:stream';
import type { Message } from 'vscode-jsonrpc/node';
import { createConnection, TextDocumentSyncKind, TextDocuments } from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { type LogParams, logNotification } from '../protocol/log.ts';
import { modelsDidChange } from '../protocol/models.ts';
import { statusDidChange, statusRequest } from '../protocol/status.ts';
import { serveCatalog } from './catalog/serveCatalog.ts';
import { createChat } from './chat/chat.ts';
import { serveChat } from './chat/serveChat.ts';
import { createTokenEstimate } from './chat/tokenEstimate.ts';
import { createToolCallId } from './chat/toolUtilities.ts';
import { createAcceptances } from './completion/acceptances.ts';
import { followActivity } from './completion/activity.ts';
import { createAsking } from './completion/asking.ts';
import { createCompletion } from './completion/completion.ts';
import { createNeighbours } from './completion/neighbours.ts';
import { createRegistration } from './completion/registration.ts';
import { createSendable } from './completion/sendable.ts';
import { completionCommands, serveCompletion } from './completion/serveCompletion.ts';
import { createConfiguration } from './config/configuration.ts';
import { createSecretStore, type SecretStore } from './config/secrets.ts';
import { lazily } from './lazily.ts';
import { createLog, type Log } from './log.ts';
import { serveLogs } from './logs/serveLogs.ts';
import type { ServerLogsOptions } from './logs/serverLogs.ts';
import { modelfileCapabilities, serveModelfileLanguage } from './modelfile/language.ts';
import { serveModelfile } from './modelfile/serveModelfile.ts';
import { createModelKnowledge } from './models/knowledge.ts';
import { createLifecycle } from './models/lifecycle.ts';
import { createModelChanges } from './models/modelChanges.ts';
import { createModels } from './models/models.ts';
import { serverParamsSchema } from './models/params.ts';
import { createPulls } from './models/pulls.ts';
import { modelCommands, serveModels } from './models/serveModels.ts';
import { createToolSupport } from './models/toolSupport.ts';
import { serveCommands } from './rpc/commands.ts';
import { createEndpoint } from './rpc/endpoint.ts';
import { type FrameProblem, FrameReader } from './rpc/frameReader.ts';
import { createSession, serveConfiguration, serveSession } from './rpc/session.ts';
import { createTrace, TracedWriter } from './rpc/trace.ts';
import { createWorks } from './rpc/work.ts';
import { parseAddress } from './runner/address.ts';
import type { RunnerClient } from './runner/client.ts';
import { createServers } from './runner/servers.ts';
import { createStatus } from './status/status.ts';

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
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  readonly random: () => number;
}

/** The daemon over one connection: what there is, and who answers what. It lives until its input ends. */
export function startDaemon(options: DaemonOptions): { close(): Promise<void> } {
  const closed = new AbortController();
  // Who was refused may be let in now, and may see other models.
  const secrets = createSecretStore(() => {
    if (!isBegun) return;
    tellChanges();
    status.check(servers.client(), closed.signal).catch((error) => log.debug(`The check ended: ${error}`));
  });
  /** The secrets that were there at the start have been read. */
  let isBegun = false;
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
  const session = createSession();
  const log = createLog({
    level: () => configuration.current.logLevel,
    redact: secrets.redact,
    write: (level, message) => {
      if (session.isReady())
        endpoint.notify(logNotification, { level, source: 'daemon', message }).catch(() => closed.abort());
    },
  });
  const endpoint = createEndpoint({
    connection,
    log,
    redact: secrets.redact,
    closed: closed.signal,
    refusal: session.refusal,
    onFailure: (error) => status.failed(error),
  });
  let secretsRead = Promise.resolve();
  const headersFor = async (url: string) => {
    await secretsRead;
    isBegun = true;
    return secrets.headersFor(url);
  };
  const servers = createServers({
    settings: () => configuration.current,
    headersFor,
    onAnswer: (server) => status.answered(server),
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
  const tellChanges = createModelChanges(() => {
    endpoint.notify(modelsDidChange, {}).catch(() => closed.abort());
  }, closed.signal);
  const knowledge = createModelKnowledge({ onReplaced: toolSupport.forget, onDidLoad: tellChanges });
  const models = createModels(knowledge, options.now);
  const onDidChange = (client: RunnerClient) => {
    models.forgetList(client);
    tellChanges();
  };
  const lifecycle = createLifecycle({ models, onDidChange, now: options.now });
  const pulls = createPulls(onDidChange);
  const works = createWorks(connection, secrets.redact);
  const documents = new TextDocuments(TextDocument);
  const chat = createChat({
    knowledge,
    toolSupport,
    estimate: createTokenEstimate(),
    learn: models.learn,
    defaults: () => configuration.current,
    createId: () => createToolCallId(options.random),
  });

  const catalog = lazily(async () => {
    const { createCatalog } = await import('./catalog/catalog.ts');
    return createCatalog({ settings: () => configuration.current, headersFor, now: options.now, log });
  });
  const onLogLine: ServerLogsOptions['onLine'] = (level, message) => {
    const line: LogParams = { level, source: 'server', message: secrets.redact(message) };
    endpoint.notify(logNotification, line).catch(() => closed.abort());
  };
  const logs = lazily(async () => {
    const { createServerLogs } = await import('./logs/serverLogs.ts');
    const { platform, env, now } = options;
    return createServerLogs({ onLine: onLogLine, platform, env, now });
  });

  const acceptances = createAcceptances();
  const activity = followActivity(documents, options.now);
  const exclude = () => configuration.current.exclude;
  const whyNotSendable = createSendable(exclude);
  const complete = createCompletion({
    document: (uri) => documents.get(uri),
    restedFor: activity.restedFor,
    model: () => configuration.current.completionModel,
    whyNotSendable,
    ask: createAsking({
      client: () => servers.client(),
      settings: () => configuration.current,
      knowledge,
      learn: models.learn,
      neighbours: createNeighbours({
        document: (uri) => documents.get(uri),
        activity,
        whyNotSendable,
        exclude,
      }),
    }),
    isIdle: () => !status.isWorking,
    createId: acceptances.offer,
  });
  const registration = createRegistration(connection, {
    isWanted: () => configuration.current.completionModel !== undefined,
    log,
    closed: closed.signal,
  });

  const followLogs = serveLogs(endpoint, {
    logs,
    servers,
    log,
    isWanted: () => configuration.current.streamLogs,
  });
  const followSettings = () => {
    followLogs();
    registration.update();
    // What was advised may be done by now; else the next request says it again.
    status.advise(undefined);
  };
  const pullSettings = serveConfiguration(connection, endpoint, {
    onDidChange: followSettings,
    configuration,
    status,
    servers,
    log,
    closed: closed.signal,
  });
  serveSession(connection, {
    onReady: followSettings,
    onShutdown: () => logs.close(),
    pullSettings,
    version: options.version,
    ...(problem === undefined ? {} : { problem }),
    capabilities: (editor) => ({
      textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
      executeCommandProvider: { commands: [...modelCommands, ...completionCommands], workDoneProgress: true },
      ...modelfileCapabilities,
      ...registration.capabilitiesFor(editor),
    }),
    onInitialize({ window }) {
      works.start(window?.workDoneProgress === true);
      secretsRead = options.readSecrets(secrets, servers.client().server.url, log);
    },
    session,
    configuration,
    status,
    servers,
    log,
    closed: closed.signal,
  });
  const loadOptions = () => configuration.current;
  serveCommands(endpoint, [
    ...serveModels(endpoint, { models, lifecycle, pulls, servers, works, loadOptions }),
    ...serveCompletion(endpoint, { complete, acceptances, status, redact: secrets.redact, log }),
  ]);
  serveCatalog(endpoint, { catalog, servers, installed: models.names });
  serveModelfile(endpoint, { servers, works, onDidChange });
  serveModelfileLanguage(connection, {
    documents,
    installed: (signal) => models.names(servers.client(), signal),
    log,
    closed: closed.signal,
  });
  serveChat(endpoint, { chat, servers, status });
  endpoint.onRequest(statusRequest, serverParamsSchema, ({ server }, signal) =>
    status.check(servers.client(server), signal),
  );

  documents.listen(connection);
  reader.onClose(() => closed.abort());
  connection.listen();
  return {
    async close() {
      closed.abort();
      await Promise.all([servers.close(), catalog.close(), logs.close()]);
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
