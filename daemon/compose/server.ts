import { setMaxListeners } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Connection } from 'vscode-languageserver/node';
import { SerialQueue } from '../../protocol/base/serialQueue.ts';
import { type LogParams, logNotification } from '../../protocol/messages/log.ts';
import type { NotificationMessage } from '../../protocol/messages/messageTypes.ts';
import { modelsDidChange } from '../../protocol/messages/models.ts';
import { sessionsDidChange } from '../../protocol/messages/sessions.ts';
import type { LogLevel } from '../../protocol/messages/settings.ts';
import { statusDidChange } from '../../protocol/messages/status.ts';
import {
  type ToolCapabilities,
  toolProgress,
  toolsDidChange,
  toolsDidRefuse,
} from '../../protocol/messages/tools.ts';
import { lazily } from '../base/lazily.ts';
import { serveCatalog } from '../catalog/serveCatalog.ts';
import { createAgentModes } from '../chat/agentMode.ts';
import { serveAnswerStreams, serveChat } from '../chat/answerStreams.ts';
import type { Delay } from '../completion/pacing.ts';
import { createRegistration, serveCompletion } from '../completion/serveCompletion.ts';
import { readHost } from '../config/configuration.ts';
import { serveSettingsList } from '../config/effectiveSettings.ts';
import { createSettingsReader } from '../config/settingsReader.ts';
import { enabledServers } from '../config/userFile.ts';
import { serveEdit } from '../edit/serveEdit.ts';
import { serveEngine } from '../engine/serveEngine.ts';
import { serveFiles } from '../files/serveFiles.ts';
import { serveLogs } from '../logs/serveLogs.ts';
import { serveModelfile, serveModelfileLanguage } from '../modelfile/serveModelfile.ts';
import { createLifecycle } from '../models/lifecycle.ts';
import { createPulls } from '../models/pulls.ts';
import { serveModels } from '../models/serveModels.ts';
import { servePrompts } from '../prompts/servePrompts.ts';
import { createEndpoint, type Endpoint } from '../rpc/endpoint.ts';
import { serveCommands } from '../rpc/executeCommand.ts';
import { createFrameConnection, createSession, type RpcSession } from '../rpc/frameConnection.ts';
import type { RequestId } from '../rpc/frameStreams.ts';
import { createLogOutbox } from '../rpc/logOutbox.ts';
import { serveConfiguration, serveSession } from '../rpc/serveSession.ts';
import { createTrace } from '../rpc/trace.ts';
import { createWorks } from '../rpc/workDoneProgress.ts';
import { serveSessions } from '../sessions/serveSessions.ts';
import { serveStatus } from '../status/serveStatus.ts';
import { HostedServers } from '../tools/hostedServers.ts';
import { builtinFolders, createApprovalRequests, elicitThrough, serveTools } from '../tools/serveTools.ts';
import { createCompletionEngine } from './completionEngine.ts';
import { type Core, type CoreOptions, createCore, toolServerOptions } from './core.ts';

export interface StdioServerOptions extends CoreOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly version: string;
  /** A file for all traffic, without secrets. */
  readonly traceFile?: string;
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly wait: Delay;
  /** The id of the editor's `initialize`, where that has its answer already. */
  readonly answered?: RequestId;
}

export interface Daemon {
  /** Takes secrets out of a text that goes another way than the connection. */
  readonly redact: (text: string) => string;
  close(): Promise<void>;
}

/** The daemon over one connection: what there is, and who answers what. It lives until its input ends. */
export function startServer(options: StdioServerOptions): Daemon {
  const closed = new AbortController();
  // Every request that is under way listens to it.
  setMaxListeners(0, closed.signal);
  const core = createCore(options, closed.signal);
  const context = connect(options, core, closed);
  const features = createFeatures(context);
  const served = serve(context, features);
  subscribe(context, { ...features, ...served });
  context.connection.listen();
  return {
    redact: core.secrets.redact,
    async close() {
      closed.abort();
      const { servers, sessions, engine } = core;
      const { catalog, logs, tools } = features;
      const closing = [catalog.close(), logs.close(), tools.close()];
      await Promise.all([sessions.close(), servers.close(), engine?.close(), ...closing]);
    },
  };
}

/** What every feature is given. */
interface ServerContext {
  readonly options: StdioServerOptions;
  readonly core: Core;
  readonly session: RpcSession;
  readonly connection: Connection;
  readonly endpoint: Endpoint;
  /** Sends a notification that nobody waits for. */
  readonly publish: <P>(message: NotificationMessage<P>, params: P) => void;
  /** Sends a line of a log, as long as the client reads them. */
  readonly sendLog: (line: LogParams) => void;
  readonly closed: AbortSignal;
}

function connect(options: StdioServerOptions, core: Core, closing: AbortController): ServerContext {
  const { secrets, log, status } = core;
  const { input, output, traceFile, now, answered } = options;
  const { signal: closed } = closing;
  const onLost = () => closing.abort();
  const session = createSession();
  const trace = traceFile === undefined ? () => undefined : createTrace(traceFile, secrets.redact, now);
  const { redaction } = secrets;
  const connection = createFrameConnection({
    input,
    output,
    session,
    redaction,
    trace,
    answered,
    onLost,
    beforeExit: core.sessions.close,
  });
  const endpoint = createEndpoint({ connection, log, closed, onFailure: status.failed });
  const publish: ServerContext['publish'] = (message, params) => {
    endpoint.notify(message, params).catch(onLost);
  };
  const sendLog = createLogOutbox((line) => endpoint.notify(logNotification, line), onLost);
  return { options, core, session, connection, endpoint, publish, sendLog, closed };
}

type Features = ReturnType<typeof createFeatures>;

/** The features that only this server has; ACP does without them. */
function createFeatures({ options, core, connection, sendLog, closed }: ServerContext) {
  const { configuration, log, headersFor, models, noteModels } = core;
  const { platform, env, now, wait } = options;
  const settings = () => configuration.current;
  const onLine = (level: LogLevel, message: string) => sendLog({ level, source: 'server', message });
  const completion = createCompletionEngine({ core, now, wait, closed });
  /** What the client says about itself, once it is known. */
  const client: Pick<ToolCapabilities, 'decisions' | 'elicits' | 'showsDiffs'> = {};
  return {
    settings,
    lifecycle: createLifecycle({ models, onDidChange: noteModels, now }),
    pulls: createPulls(noteModels),
    works: createWorks(connection),
    completion,
    registration: createRegistration(connection, {
      isWanted: () => settings().completionModel !== undefined,
      log,
      closed,
    }),
    catalog: lazily(async () => {
      const { createCatalog } = await import('../catalog/catalog.ts');
      return createCatalog({ settings, headersFor, now, log });
    }),
    client,
    tools: new HostedServers({
      settings,
      ...toolServerOptions(core, options, { userFile: options.user, sessionsFolder: options.sessionsFolder }),
      elicitModes: () => (client.elicits ? ['form', 'url'] : []),
      builtin: {
        findPrivacy: core.findPrivacy,
        openDocuments: () => completion.documents.all(),
        showsDiffs: () => client.showsDiffs === true,
        decisions: () => client.decisions,
        settings,
      },
    }),
    logs: lazily(async () => {
      const { createServerLogs } = await import('../logs/serverLogs.ts');
      return createServerLogs({ onLine, platform, env, now });
    }),
  };
}

type Served = ReturnType<typeof serve>;

/** Who answers what. */
function serve({ options, core, session, connection, endpoint, closed }: ServerContext, features: Features) {
  const { configuration, servers, status, models, places, chatModels, noteModels, sessions, log } = core;
  const { completion, lifecycle, pulls, works, catalog, logs, tools, settings } = features;
  const reader = createSettingsReader(log);
  const common = { settings: reader, configuration, status, servers, log, closed };

  const modelfileLanguage = serveModelfileLanguage(connection, endpoint, {
    documents: completion.documents,
    installed: async (signal) => models.names(await servers.runner(undefined, signal), signal),
    log,
    closed,
  });
  const configurationEvents = serveConfiguration(connection, endpoint, common);
  const sessionEvents = serveSession(connection, {
    ...common,
    session,
    warnOfStart: core.warnOfStart,
    version: options.version,
    toolServers: enabledServers(options.user.atStart.tools),
    pullSettings: configurationEvents.pull,
    onShutdown: async () => {
      await Promise.all([logs.close(), tools.close(), sessions.close()]);
    },
  });
  serveSettingsList(endpoint, {
    client: () => configuration.said,
    environmentHost: readHost(options.host).host,
    userFile: options.user,
    readUser: core.readUserConfig,
  });
  serveStatus(endpoint, { status, servers, userFile: options.user });
  serveCommands(endpoint, [
    ...serveModels(endpoint, {
      ...{ models, places, chatModels, lifecycle, pulls, servers, works },
      loadOptions: settings,
    }),
    ...serveCompletion(endpoint, { ...completion, status, log, settings }),
  ]);
  serveCatalog(endpoint, { catalog, servers, installed: (...asked) => models.names(...asked) });
  serveModelfile(endpoint, { places, works, onDidChange: noteModels });
  if (core.engine)
    serveEngine(endpoint, { engine: core.engine, works, onDidChange: () => lookAgain(core, closed) });
  const questions = new SerialQueue();
  const approvalRequests = createApprovalRequests(endpoint, { questions, log });
  const elicitation = elicitThrough(endpoint, questions);
  const modes = createAgentModes();
  const chat = core.turns.with({
    tools: {
      tools,
      modes,
      askApproval: approvalRequests.ask,
      askElicitation: () => (features.client.elicits ? elicitation : undefined),
      onProgress: (progress) => endpoint.notify(toolProgress, progress),
    },
  });
  const stream = serveAnswerStreams(endpoint, { servers, places, status });
  serveChat(endpoint, {
    ...{ chat, stream, modes },
    async requireTools({ hostedTools, agent }, signal) {
      if (hostedTools !== undefined) await tools.require(hostedTools);
      await tools.requireMode(agent?.mode, signal);
    },
  });
  serveEdit(endpoint, { round: core.turns.round, stream, findPrivacy: core.findPrivacy });
  serveSessions(endpoint, sessions);
  serveTools(endpoint, tools);
  serveFiles(endpoint, {
    findPrivacy: core.findPrivacy,
    isTrusted: () => settings().trusted,
    servers: () => tools.askable('all'),
    now: options.now,
  });
  let root: string | undefined;
  sessionEvents.onDidInitialize((introduction) => {
    root = introduction.root;
  });
  servePrompts(endpoint, {
    prompts: core.prompts,
    place: (signal) => ({
      root,
      requireTools: (names) => tools.require(names),
      servers: () => tools.askable('all'),
      signal,
    }),
  });
  completion.documents.listen(connection);
  const isWanted = () => settings().streamLogs;
  const followLogs = serveLogs(endpoint, { logs, servers, log, isWanted });
  return {
    ...sessionEvents,
    modelfileLanguage,
    onDidChangeSettings: configurationEvents.onDidChange,
    followLogs,
    approvalRequests,
  };
}

/** What Runner started or stopped may be the usual runner, or no longer. */
async function lookAgain(
  { forgetStarted, servers, status, noteModels }: Core,
  signal: AbortSignal,
): Promise<void> {
  forgetStarted();
  await status.check(servers.server(), signal);
  noteModels(await servers.runner(undefined, signal));
}

/** Connects events with their effects. */
function subscribe({ core, session, publish, sendLog }: ServerContext, parts: Features & Served): void {
  const { status } = core;
  core.turns.onDidBegin(parts.completion.giveWay);
  core.log.onDidWrite((line) => {
    if (session.isReady()) sendLog({ ...line, source: 'daemon' });
  });
  status.onDidChange((changed) => publish(statusDidChange, changed));
  core.modelChanges.onDidChange(() => publish(modelsDidChange, {}));
  core.toolRefusals.onDidChange((refusals) => publish(toolsDidRefuse, { refusals }));
  core.sessions.onDidChange(() => publish(sessionsDidChange, {}));

  parts.tools.onDidChange(() => publish(toolsDidChange, {}));

  parts.onDidInitialize(({ editor, root, folders, options: { refusedTools = [] } }) => {
    const client: ToolCapabilities | undefined = editor.experimental?.runner;
    core.toolRefusals.restore(refusedTools);
    parts.registration.start(editor);
    parts.modelfileLanguage.start(editor);
    parts.works.start(editor.window?.workDoneProgress === true);
    const { showsDiffs, elicits, decisions } = client ?? {};
    const given = Array.isArray(decisions) ? decisions : [];
    Object.assign(parts.client, { showsDiffs, elicits, decisions: given });
    parts.tools.start(root, builtinFolders(folders, client));
    parts.approvalRequests.start(client);
    core.start();
  });
  const followSettings = () => {
    parts.followLogs();
    void core.followSettings();
    parts.registration.update();
    parts.tools.update();
    parts.completion.stop();
    // What was advised may be done by now; else the next request says it again.
    status.warn(undefined);
  };
  parts.onDidBecomeReady(followSettings);
  parts.onDidChangeSettings(followSettings);
}
