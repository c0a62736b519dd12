import { setMaxListeners } from 'node:events';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Connection } from 'vscode-languageserver/node';
import { SerialQueue } from '../../protocol/base/keyedWork.ts';
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
import { serveAnswerStreams } from '../chat/answerStreams.ts';
import { createAgentModes } from '../chat/permissions.ts';
import { serveChat } from '../chat/serveChat.ts';
import type { Delay } from '../completion/pacing.ts';
import { createRegistration, serveCompletion } from '../completion/serveCompletion.ts';
import { readHost } from '../config/configuration.ts';
import { serveSettingsList } from '../config/settingsList.ts';
import { createSettingsReader } from '../config/settingsReader.ts';
import { enabledServers } from '../config/userFile.ts';
import { serveEdit } from '../edit/serveEdit.ts';
import { serveEngine } from '../engine/serveEngine.ts';
import { serveFiles } from '../files/serveFiles.ts';
import { serveLogs } from '../logs/serveLogs.ts';
import { ModelfileLanguage, serveModelfile } from '../modelfile/serveModelfile.ts';
import { Lifecycle } from '../models/lifecycle.ts';
import { serveModels } from '../models/serveModels.ts';
import { servePrompts } from '../prompts/servePrompts.ts';
import { Endpoint } from '../rpc/endpoint.ts';
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
import { type Core, type CoreOptions, createCore } from './core.ts';

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
  const endpoint = new Endpoint({ connection, log, closed, onFailure: (error) => status.failed(error) });
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
    lifecycle: new Lifecycle(models, noteModels, now),
    works: createWorks(connection),
    completion,
    registration: createRegistration(connection, {
      isWanted: () => settings().completionModel !== undefined,
      log,
      closed,
    }),
    catalog: lazily(async () => {
      const { Catalog } = await import('../catalog/catalog.ts');
      return new Catalog({ settings, headersFor, now, log });
    }),
    client,
    tools: new HostedServers({
      ...{ ...core, ...options, settings, userFolder: dirname(options.user.path) },
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
      const { ServerLogs } = await import('../logs/serverLogs.ts');
      return new ServerLogs({ onLine, platform, env, now });
    }),
  };
}

type RequestServers = ReturnType<typeof serve>;

/** Who answers what. */
function serve(context: ServerContext, features: Features) {
  const { options, core, connection, endpoint, closed } = context;
  const { servers, status, models, places, chatModels, noteModels, sessions, log } = core;
  const { completion, lifecycle, works, catalog, logs, tools, settings } = features;
  const modelfileLanguage = new ModelfileLanguage(connection, completion.documents, log, closed);
  modelfileLanguage.serve(endpoint, async (signal) =>
    models.names(await servers.runner(undefined, signal), signal),
  );
  const sessionEvents = serveLife(context, features);
  serveStatus(endpoint, { status, servers, userFile: options.user });
  serveCommands(endpoint, [
    ...serveModels(endpoint, {
      ...{ models, places, chatModels, lifecycle, servers, works },
      loadOptions: settings,
    }),
    ...serveCompletion(endpoint, { ...completion, status, log, settings }),
  ]);
  serveCatalog(endpoint, { catalog, servers, installed: (...asked) => models.names(...asked) });
  serveModelfile(endpoint, { places, works, onDidChange: noteModels });
  if (core.engine)
    serveEngine(endpoint, { engine: core.engine, works, onDidChange: () => lookAgain(core, closed) });
  const approvalRequests = serveTurns(context, features);
  serveSessions(endpoint, sessions);
  serveTools(endpoint, tools);
  const toolServers = () => tools.askable('all');
  const { findPrivacy } = core;
  serveFiles(endpoint, () => settings().trusted, { findPrivacy, servers: toolServers, now: options.now });
  let root: string | undefined;
  sessionEvents.onDidInitialize((introduction) => {
    root = introduction.root;
  });
  const requireTools = (names: readonly string[]) => tools.require(names);
  servePrompts(endpoint, core.prompts, (signal) => ({ root, requireTools, servers: toolServers, signal }));
  completion.documents.listen(connection);
  const followLogs = serveLogs(endpoint, { logs, servers, log, isWanted: () => settings().streamLogs });
  return { ...sessionEvents, modelfileLanguage, followLogs, approvalRequests };
}

/** The session from its beginning to its end, and its settings. */
function serveLife(
  { options, core, session, connection, endpoint, closed }: ServerContext,
  features: Features,
) {
  const { configuration, servers, status, sessions, log } = core;
  const { logs, tools } = features;
  const common = { settings: createSettingsReader(log), configuration, status, servers, log, closed };
  const { pull, onDidChange: onDidChangeSettings } = serveConfiguration(connection, endpoint, common);
  const sessionEvents = serveSession(connection, {
    ...common,
    session,
    warnOfStart: core.warnOfStart,
    version: options.version,
    toolServers: enabledServers(options.user.atStart.tools),
    pullSettings: pull,
    onShutdown: async () => {
      await Promise.all([logs.close(), tools.close(), sessions.close()]);
    },
  });
  const environmentHost = readHost(options.host).host;
  serveSettingsList(endpoint, options.user.path, async () => {
    const user = await core.readUserConfig();
    return { client: configuration.said, environmentHost, user };
  });
  return { ...sessionEvents, onDidChangeSettings };
}

/** Turns and edits, and what is asked during turns. */
function serveTurns({ core, endpoint }: ServerContext, { client, tools }: Features) {
  const { servers, places, status, log, turns, findPrivacy } = core;
  const questions = new SerialQueue();
  const approvalRequests = createApprovalRequests(endpoint, { questions, log });
  const elicitation = elicitThrough(endpoint, questions);
  const modes = createAgentModes();
  const chat = turns.with({
    ...{ tools, modes, askApproval: approvalRequests.ask },
    askElicitation: () => (client.elicits ? elicitation : undefined),
    onProgress: (progress) => endpoint.notify(toolProgress, progress),
  });
  const stream = serveAnswerStreams(endpoint, { servers, places, status });
  serveChat(endpoint, {
    ...{ chat, stream, modes },
    async requireTools({ hostedTools, agent }, signal) {
      if (hostedTools !== undefined) await tools.require(hostedTools);
      await tools.requireMode(agent?.mode, signal);
    },
  });
  serveEdit(endpoint, { round: turns.round, stream, findPrivacy });
  return approvalRequests;
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
function subscribe(
  { core, session, publish, sendLog }: ServerContext,
  parts: Features & RequestServers,
): void {
  const { status } = core;
  core.turns.onDidBegin(parts.completion.giveWay);
  core.log.onDidWrite((line) => {
    if (session.isReady()) sendLog({ ...line, source: 'daemon' });
  });
  status.onDidChange((changed) => publish(statusDidChange, changed));
  core.modelChanges.onDidChange(() => publish(modelsDidChange, {}));
  core.toolSupport.onDidChange((refusals) => publish(toolsDidRefuse, { refusals }));
  core.sessions.onDidChange(() => publish(sessionsDidChange, {}));

  parts.tools.onDidChange(() => publish(toolsDidChange, {}));

  parts.onDidInitialize(({ editor, root, folders, options: { refusedTools = [] } }) => {
    const client: ToolCapabilities | undefined = editor.experimental?.runner;
    core.toolSupport.restore(refusedTools);
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
