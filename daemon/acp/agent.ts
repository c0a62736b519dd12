import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type {
  DeleteSessionRequest,
  FileSystemCapabilities,
  InitializeRequest,
  InitializeResponse,
  ListSessionsRequest,
  ListSessionsResponse,
  LoadSessionRequest,
  LoadSessionResponse,
  NewSessionRequest,
  NewSessionResponse,
  PromptRequest,
  PromptResponse,
  ResumeSessionRequest,
  ResumeSessionResponse,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
  SetSessionModeRequest,
} from '@agentclientprotocol/sdk';
import type { AgentMode } from '../../protocol/messages/chat.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import type { AgentModes } from '../chat/agentMode.ts';
import type { ElicitMode } from '../chat/daemonTools.ts';
import type { Core } from '../compose/core.ts';
import type { EditorFiles } from '../tools/builtin/fileStore.ts';
import {
  type Client,
  createAskApproval,
  createAskElicitation,
  editorFilesOf,
  elicitModesOf,
  type PromptClient,
  type Update,
} from './client.ts';
import { createKeptConversations, replay } from './keptConversations.ts';
import { createModelOptions } from './modelOptions.ts';
import { choiceOfThink } from './pickers.ts';
import { promptToMessage } from './promptMessage.ts';
import { runSessionCommand, sessionCommands } from './sessionCommands.ts';
import { createChangeMode, modePicker, modesOf } from './sessionModes.ts';
import {
  askAsCall,
  createAskAboutFolder,
  createSessionPrompts,
  type UserQuestion,
} from './sessionPrompts.ts';
import { type AcpSession, createSessions, inTurn, refuseAnswering } from './sessions.ts';
import {
  type ClientTools,
  createSessionTools,
  type RunningTools,
  readClientMcpServers,
} from './sessionTools.ts';
import { takeTurn } from './turn.ts';
import { createUpdateSender } from './updateSender.ts';

interface AgentParts {
  readonly core: Pick<
    Core,
    'chatModels' | 'configuration' | 'log' | 'places' | 'prompts' | 'servers' | 'sessions' | 'turns'
  >;
  readonly version: string;
  readonly startTools: (given: ClientTools) => RunningTools;
  /** The mode of new sessions; undefined if the built-in tools are off. */
  readonly mode: AgentMode | undefined;
  readonly modes: AgentModes;
  /** A new id for a call of a tool. */
  readonly createId: () => string;
}

/** Answers the methods of the protocol. They throw errors of the daemon. */
export type Agent = ReturnType<typeof createAgent>;

/** An agent that chats, and calls the tools of the session's servers; it uses no terminal of the editor. */
export function createAgent({ core, version, startTools, mode: firstMode, modes, createId }: AgentParts) {
  const kept = createKeptConversations(core);
  const tools = createSessionTools(startTools);
  const closed = new AbortController();
  const prompts = createSessionPrompts({
    ...{ ...core, usedServers: tools.used, closed: closed.signal },
    ...(firstMode === undefined ? {} : { own: sessionCommands }),
  });
  const resuming = new Set<ResumeSessionRequest>();
  /** The last turn of a closed session may end late: a session that was opened again since then keeps what it has. */
  const release = (id: string) => {
    const isResuming = [...resuming].some(({ sessionId }) => sessionId === id);
    if (isResuming || sessions.all().some((session) => session.id === id)) return;
    kept.release(id);
    tools.remove(id);
    files.delete(id);
    prompts.remove(id);
  };
  const sessions = createSessions(({ id }) => release(id));
  const options = createModelOptions(core, sessions);
  const changeMode = createChangeMode({ tools, modes, pickers: options.pickers });
  let takesNotices = false;
  let fileSystem: FileSystemCapabilities | undefined;
  let elicitModes: readonly ElicitMode[] = [];
  /** The editor's files of the sessions that are answering. */
  const files = new Map<string, EditorFiles>();
  const setTools = (id: string, given: Omit<ClientTools, 'files' | 'elicitModes'>) =>
    tools.set(id, { ...given, files: () => files.get(id), elicitModes: () => elicitModes });

  /** A failure is only logged here: the first prompt reports it, if it has not passed by then. */
  const list = (method: string, signal: AbortSignal) =>
    options.list(signal).catch((error) => {
      if (signal.aborted || !(error instanceof RunnerError)) throw error;
      core.log.warn(`${method}: ${error.kind}: ${error.message}`);
    });
  const stateOf = (session: AcpSession) => {
    const found = modesOf(session);
    return { configOptions: options.pickers(session), ...(found && { modes: found }) };
  };
  /** Opens a conversation that is kept, in place of its session if that is open. */
  const resume = async (params: ResumeSessionRequest, signal: AbortSignal) => {
    const { sessionId, cwd, mcpServers = [] } = params;
    await requireFolder(cwd);
    const servers = readClientMcpServers(mcpServers);
    refuseAnswering(sessions, sessionId);
    resuming.add(params);
    try {
      const [found] = await Promise.all([kept.resume(sessionId), list('session/resume', signal)]);
      // A prompt may have arrived meanwhile.
      refuseAnswering(sessions, sessionId);
      const { id, title, model } = found.session;
      const { think, options: runnerOptions, maxRounds: rounds } = found.settings ?? {};
      const session = sessions.open({
        ...{ id, cwd, title, model },
        // What a conversation was allowed once, nobody has allowed today.
        mode: firstMode && 'ask',
        ...(runnerOptions === undefined ? {} : { runnerOptions }),
        ...(rounds === undefined ? {} : { rounds }),
        ...(think === undefined ? {} : { thinking: choiceOfThink(think) }),
      });
      setTools(id, { servers, cwd });
      prompts.set(id, cwd);
      return { found, ...stateOf(session) };
    } finally {
      resuming.delete(params);
      release(sessionId);
    }
  };

  /** What to say to a message that is a command of ours; undefined if it is none. */
  const answerCommand = async (
    session: AcpSession,
    text: string,
    { question, signal }: { readonly question: UserQuestion; readonly signal: AbortSignal },
  ): Promise<string | undefined> => {
    if (session.mode === undefined) return undefined;
    return tools.run(session.id, (running) =>
      runSessionCommand(text, {
        ...{ session, tools: running, signal },
        changeMode: (word) =>
          changeMode(session, word, { update: question.client.update, signal, by: 'command' }),
        agreesTo: async ({ command, file }) => {
          const title = `Let models run ${command.join(' ')} here, until ${file} changes`;
          return (await askAsCall(question, { title, kind: 'execute' }, checkOptions)) === true;
        },
        turns: () => kept.turns(session.id),
        undoTurn: () => kept.undo(session.id),
      }),
    );
  };

  return {
    initialize({ clientCapabilities }: InitializeRequest): InitializeResponse {
      takesNotices = Boolean(clientCapabilities?.session?.notices);
      fileSystem = clientCapabilities?.fs;
      elicitModes = elicitModesOf(clientCapabilities);
      return initializeResponse(version, core.configuration.current.keepSessions);
    },

    async newSession(
      { cwd, mcpServers }: NewSessionRequest,
      signal: AbortSignal,
    ): Promise<NewSessionResponse> {
      await requireFolder(cwd);
      const servers = readClientMcpServers(mcpServers);
      const [id] = await Promise.all([kept.begin(cwd), list('session/new', signal)]);
      const session = sessions.open({ id, cwd, mode: firstMode });
      setTools(id, { servers, cwd });
      prompts.set(id, cwd);
      return { sessionId: session.id, ...stateOf(session) };
    },

    /** Sends the whole conversation again before the answer. */
    async loadSession(params: LoadSessionRequest, client: Client): Promise<LoadSessionResponse> {
      const { found, ...state } = await resume(params, client.signal);
      await replay(found, client);
      return state;
    },

    async resumeSession(params: ResumeSessionRequest, signal: AbortSignal): Promise<ResumeSessionResponse> {
      const { found: _, ...state } = await resume(params, signal);
      return state;
    },

    async listSessions(params: ListSessionsRequest, signal: AbortSignal): Promise<ListSessionsResponse> {
      if (params.cwd) refuseRelative(params.cwd);
      return kept.list(params, signal);
    },

    async deleteSession({ sessionId }: DeleteSessionRequest): Promise<void> {
      await kept.delete(sessionId);
      if (sessions.all().some(({ id }) => id === sessionId)) sessions.close(sessionId);
    },

    async setMode({ sessionId, modeId }: SetSessionModeRequest, client: Client): Promise<void> {
      await changeMode(sessions.get(sessionId), modeId, { ...client, by: 'mode' });
    },

    async setOption(
      params: SetSessionConfigOptionRequest,
      client: Client,
    ): Promise<SetSessionConfigOptionResponse> {
      const session = sessions.get(params.sessionId);
      if (params.configId === modePicker)
        await changeMode(session, params.value, { ...client, by: 'option' });
      else await options.choose(session, params, client.signal);
      return { configOptions: options.pickers(session) };
    },

    /** The session was opened, and its client knows it: sends the commands that it has. */
    announce: (sessionId: string, update: Update) =>
      prompts.announce(sessionId, (next) => update(sessionId, next)),

    /** A cancelled prompt is a normal answer. */
    async prompt({ sessionId, prompt }: PromptRequest, client: PromptClient): Promise<PromptResponse> {
      const { update, askPermission, elicit, signal: requestSignal } = client;
      const session = sessions.get(sessionId);
      const message = promptToMessage(prompt);
      return inTurn({ session, requestSignal, onDidEnd: release }, async (signal) => {
        files.set(sessionId, editorFilesOf(sessionId, client, fileSystem));
        const updates = createUpdateSender({
          cwd: session.cwd,
          update: (next) => update(sessionId, next),
          ...{ takesNotices, signal },
        });
        const onDidKeep = async () => {
          const info = await kept.infoOf(sessionId);
          if (!info || signal.aborted || info.title === session.title) return;
          session.title = info.title ?? '';
          await update(sessionId, info);
        };
        const question = { sessionId, createId, client };
        const said = await answerCommand(session, message.content, { question, signal });
        if (said !== undefined) {
          await updates.delta({ streamId: sessionId, seq: 0, kind: 'text', text: said });
          return { stopReason: signal.aborted ? 'cancelled' : 'end_turn' };
        }
        const found = await prompts.find(message, {
          sessionId,
          requireTools: (names) => tools.run(sessionId, (running) => running.require(names)),
          servers: () => tools.run(sessionId, (running) => running.askable('all')),
          signal,
          askAboutFolder: createAskAboutFolder(question),
        });
        await prompts.announce(sessionId, (next) => update(sessionId, next));
        if (found.kind === 'said') {
          await updates.notice({ message: found.message });
          return { stopReason: signal.aborted ? 'cancelled' : 'end_turn' };
        }
        const stopReason = await takeTurn(
          {
            core,
            options,
            session,
            tools,
            modes,
            ask: createAskApproval(sessionId, { askPermission, onDidShow: updates.shown }),
            askElicitation:
              elicitModes.length === 0 ? undefined : createAskElicitation(sessionId, { elicit, createId }),
            updates,
            updateSessions: () => options.updateSessions(update),
            onDidKeep,
            prompt: found.prompt,
            signal,
          },
          found.message,
        );
        // Tool servers that the turn has started may have prompts.
        await prompts.announce(sessionId, (next) => update(sessionId, next));
        return { stopReason };
      });
    },

    cancel: (sessionId: string) => sessions.get(sessionId).turn?.abort(),
    closeSession: (sessionId: string) => sessions.close(sessionId),

    /** The list of models may have changed: updates every session whose pickers have. */
    async modelsChanged({ update, signal }: Client): Promise<void> {
      if (sessions.all().length === 0) return;
      await options.list(signal, { refresh: false });
      await options.updateSessions(update);
    },

    /** The client is gone. Settles once all tool servers have ended. */
    async close(): Promise<void> {
      closed.abort();
      for (const { id } of sessions.all()) sessions.close(id);
      await tools.close();
    },
  };
}

const checkOptions = [
  { optionId: 'allow', kind: 'allow_always', name: 'Let them' },
  { optionId: 'refuse', kind: 'reject_once', name: 'Do not' },
] as const;

function refuseRelative(cwd: string): void {
  if (!isAbsolute(cwd)) throw new InvalidParamsError('cwd', 'it is not an absolute path');
}

/** An editor may name a folder that was moved or deleted since. */
async function requireFolder(cwd: string): Promise<void> {
  refuseRelative(cwd);
  const found = await stat(cwd).catch(() => undefined);
  if (!found?.isDirectory()) throw new InvalidParamsError('cwd', 'there is no such folder');
}

/** The only supported version of the protocol. A client of a newer one falls back to it, or disconnects. */
const acpVersion = 1;

function initializeResponse(version: string, keepsSessions: boolean): InitializeResponse {
  return {
    protocolVersion: acpVersion,
    agentInfo: { name: 'runnerd', title: 'Runner', version },
    agentCapabilities: {
      loadSession: keepsSessions,
      mcpCapabilities: { http: true },
      promptCapabilities: { image: true, embeddedContext: true, audio: false },
      sessionCapabilities: { close: {}, ...(keepsSessions ? { delete: {}, list: {}, resume: {} } : {}) },
    },
    authMethods: [],
  };
}
