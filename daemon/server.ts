import { setMaxListeners } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Message } from 'vscode-jsonrpc/node';
import { createConnection, TextDocumentSyncKind } from 'vscode-languageserver/node';
import { type LogParams, logNotification } from '../protocol/log.ts';
import { modelsDidChange } from '../protocol/models.ts';
import { statusDidChange, statusRequest } from '../protocol/status.ts';
import { toolsDidRefuse } from '../protocol/tools.ts';
import { serveCatalog } from './catalog/serveCatalog.ts';
import type { Chat } from './chat/chat.ts';
import { serveChat } from './chat/serveChat.ts';
import { createCompletionEngine } from './completion/engine.ts';
import type { Wait } from './completion/pause.ts';
import { createRegistration } from './completion/registration.ts';
import { completionCommands, serveCompletion } from './completion/serveCompletion.ts';
import { type CoreOptions, createCore } from './core.ts';
import { lazily } from './lazily.ts';
import { serveLogs } from './logs/serveLogs.ts';
import type { ServerLogsOptions } from './logs/serverLogs.ts';
import { modelfileCapabilities, serveModelfileLanguage } from './modelfile/language.ts';
import { serveModelfile } from './modelfile/serveModelfile.ts';
import { createLifecycle } from './models/lifecycle.ts';
import { serverParamsSchema } from './models/params.ts';
import { createPulls } from './models/pulls.ts';
import { modelCommands, serveModels } from './models/serveModels.ts';
import { serveCommands } from './rpc/commands.ts';
import { createEndpoint } from './rpc/endpoint.ts';
import { FrameReader } from './rpc/frameReader.ts';
import { createGate } from './rpc/gate.ts';
import type { FrameProblem } from './rpc/incoming.ts';
import { toOutgoing } from './rpc/outgoing.ts';
import { createSession, serveConfiguration, serveSession } from './rpc/session.ts';
import { createTrace, TracedWriter } from './rpc/trace.ts';
import { createWorks } from './rpc/work.ts';

export interface DaemonOptions extends CoreOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly version: string;
  /** A file for all traffic, without secrets. */
  readonly traceFile?: string;
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly wait: Wait;
}

export interface Daemon {
  /** Takes secrets out of a text that goes another way than the connection. */
  readonly redact: (text: string) => string;
  close(): Promise<void>;
}

/** The daemon over one connection: what there is, and who answers what. It lives until its input ends. */
export function startDaemon(options: DaemonOptions): Daemon {
  const closed = new AbortController();
  // Every request that is under way listens to it.
  setMaxListeners(0, closed.signal);
  const core = createCore(
    options,
    {
      onLog: (level, message) => {
        if (session.isReady())
          endpoint.notify(logNotification, { level, source: 'daemon', message }).catch(() => closed.abort());
      },
      onDidChangeStatus: (changed) => {
        endpoint.notify(statusDidChange, changed).catch(() => closed.abort());
      },
      onDidChangeModels: () => {
        endpoint.notify(modelsDidChange, {}).catch(() => closed.abort());
      },
      onDidRefuseTools: (refusals) => {
        endpoint.notify(toolsDidRefuse, { refusals }).catch(() => closed.abort());
      },
    },
    closed.signal,
  );
  const { configuration, secrets, log, servers, status, models, chat, problem } = core;
  const trace =
    options.traceFile === undefined
      ? () => undefined
      : createTrace(options.traceFile, secrets.redact, options.now);
  const writer = new TracedWriter(options.output, (message) => toOutgoing(message, secrets.redaction), trace);
  // JSON-RPC answers what it cannot read with an error, under no id where none can be read.
  const answer = (message: Message) => void writer.write(message).catch(() => closed.abort());
  const refuse = ({ id, ...error }: FrameProblem) =>
    answer({ jsonrpc: '2.0', id: id ?? null, error } as Message);
  const reader = new FrameReader(options.input, refuse, trace);
  const session = createSession();
  const connection = createConnection(reader, writer, { messageStrategy: createGate(session, answer) });
  const endpoint = createEndpoint({
    connection,
    log,
    closed: closed.signal,
    onFailure: (error) => status.failed(error),
  });
  const lifecycle = createLifecycle({ models, onDidChange: core.noteModels, now: options.now });
  const pulls = createPulls(core.noteModels);
  const works = createWorks(connection);

  const catalog = lazily(async () => {
    const { createCatalog } = await import('./catalog/catalog.ts');
    const { headersFor } = core;
    return createCatalog({ settings: () => configuration.current, headersFor, now: options.now, log });
  });
  const onLogLine: ServerLogsOptions['onLine'] = (level, message) => {
    const line: LogParams = { level, source: 'server', message };
    endpoint.notify(logNotification, line).catch(() => closed.abort());
  };
  const logs = lazily(async () => {
    const { createServerLogs } = await import('./logs/serverLogs.ts');
    const { platform, env, now } = options;
    return createServerLogs({ onLine: onLogLine, platform, env, now });
  });

  const completion = createCompletionEngine({
    ...{ core, now: options.now, wait: options.wait, closed: closed.signal },
  });
  const { documents } = completion;
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
    completion.stop();
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
    onInitialize({ window }, { refusedTools = [] }) {
      core.restore(refusedTools);
      works.start(window?.workDoneProgress === true);
      core.start();
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
    ...serveCompletion(endpoint, {
      ...{ ...completion, status, log },
      settings: () => configuration.current,
    }),
  ]);
  serveCatalog(endpoint, { catalog, servers, installed: models.names });
  serveModelfile(endpoint, { servers, works, onDidChange: core.noteModels });
  serveModelfileLanguage(connection, {
    documents,
    installed: (signal) => models.names(servers.client(), signal),
    log,
    closed: closed.signal,
  });
  const chatFirst: Chat = (...turn) => {
    completion.giveWay();
    return chat(...turn);
  };
  serveChat(endpoint, { chat: chatFirst, servers, status });
  endpoint.onRequest(statusRequest, serverParamsSchema, ({ server }, signal) =>
    status.check(servers.client(server), signal),
  );

  documents.listen(connection);
  reader.onClose(() => closed.abort());
  connection.listen();
  return {
    redact: secrets.redact,
    async close() {
      closed.abort();
      await Promise.all([servers.close(), catalog.close(), logs.close()]);
    },
  };
}
