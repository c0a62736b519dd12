import { isAbsolute } from 'node:path';
import type {
  DeleteSessionRequest,
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
  SessionUpdate,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
} from '@agentclientprotocol/sdk';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import type { Core } from '../compose/core.ts';
import { inTurn, refuseAnswering } from './answering.ts';
import type { Client, PromptClient } from './client.ts';
import { readHandedServers } from './handedServers.ts';
import { introduction } from './introduction.ts';
import { createKeptConversations, historyOf, replay } from './keptConversations.ts';
import { createOffer } from './offer.ts';
import { chooseOption } from './optionChoice.ts';
import { createAskUser } from './permission.ts';
import { promptToMessage } from './promptMessage.ts';
import { createSessions } from './sessions.ts';
import { createSessionTools, type HandedTools, type RunningTools } from './sessionTools.ts';
import { createTeller } from './teller.ts';
import { takeTurn } from './turn.ts';

/** What is answered, method by method. Each throws errors of the daemon. */
export interface Agent {
  initialize(params: InitializeRequest): InitializeResponse;
  newSession(params: NewSessionRequest, signal: AbortSignal): Promise<NewSessionResponse>;
  /** All that was said is said again, before the answer. */
  loadSession(params: LoadSessionRequest, client: Client): Promise<LoadSessionResponse>;
  resumeSession(params: ResumeSessionRequest, signal: AbortSignal): Promise<ResumeSessionResponse>;
  listSessions(params: ListSessionsRequest, signal: AbortSignal): Promise<ListSessionsResponse>;
  deleteSession(params: DeleteSessionRequest): Promise<void>;
  setOption(
    params: SetSessionConfigOptionRequest,
    signal: AbortSignal,
  ): Promise<SetSessionConfigOptionResponse>;
  /** A cancelled prompt is a normal answer. */
  prompt(params: PromptRequest, client: PromptClient): Promise<PromptResponse>;
  cancel(sessionId: string): void;
  closeSession(sessionId: string): void;
  /** The models may be others now: who has a picker is told. */
  modelsChanged(client: Client): Promise<void>;
  /** Nobody listens any more. Settles once all tool servers have ended. */
  close(): Promise<void>;
}

export interface AgentParts {
  readonly core: Pick<
    Core,
    | 'chat'
    | 'chatModels'
    | 'recordTurns'
    | 'knowledge'
    | 'configuration'
    | 'models'
    | 'servers'
    | 'sessions'
    | 'log'
  >;
  readonly version: string;
  readonly startTools: (handed: HandedTools) => RunningTools;
  /** A new id for a call of a tool. */
  readonly createId: () => string;
}

/** An agent that chats, and calls the tools of the session's servers; no files and no terminal of the editor. */
export function createAgent({ core, version, startTools, createId }: AgentParts): Agent {
  const kept = createKeptConversations(core);
  const tools = createSessionTools(startTools);
  const resuming = new Set<ResumeSessionRequest>();
  /** A session that is there again, or comes back right now, keeps what it has: its closed turn may end late. */
  const release = (id: string) => {
    const comesBack = [...resuming].some(({ sessionId }) => sessionId === id);
    if (comesBack || sessions.all().some((session) => session.id === id)) return;
    kept.release(id);
    tools.leave(id);
  };
  const sessions = createSessions(({ id }) => release(id));
  const offer = createOffer({ core, sessions });
  let takesNotices = false;

  /** The first prompt says to the user that the runner does not list, if it still holds by then. */
  const list = (method: string, signal: AbortSignal) =>
    offer.list(signal).catch((error) => {
      if (signal.aborted || !(error instanceof RunnerError)) throw error;
      core.log.warn(`${method}: ${error.kind}: ${error.message}`);
    });
  /** Has a conversation that is kept in the place of a session that may be open already. */
  const resume = async (params: ResumeSessionRequest, signal: AbortSignal) => {
    const { sessionId, cwd, mcpServers = [] } = params;
    refuseRelative(cwd);
    const servers = readHandedServers(mcpServers);
    refuseAnswering(sessions, sessionId);
    resuming.add(params);
    try {
      const [found] = await Promise.all([kept.resume(sessionId), list('session/resume', signal)]);
      // A prompt may have come meanwhile.
      refuseAnswering(sessions, sessionId);
      const { id, title, model, messages } = found;
      const session = sessions.open({ id, title, model, history: historyOf(messages) });
      tools.enter(id, { servers, cwd });
      return { found, configOptions: offer.pickers(session) };
    } finally {
      resuming.delete(params);
      release(sessionId);
    }
  };

  return {
    initialize({ clientCapabilities }) {
      takesNotices = Boolean(clientCapabilities?.session?.notices);
      return introduction(version, core.configuration.current.keepSessions);
    },

    async newSession({ cwd, mcpServers }, signal) {
      refuseRelative(cwd);
      const servers = readHandedServers(mcpServers);
      const [id] = await Promise.all([kept.begin(cwd), list('session/new', signal)]);
      const session = sessions.open({ id });
      tools.enter(id, { servers, cwd });
      return { sessionId: session.id, configOptions: offer.pickers(session) };
    },

    async loadSession(params, client) {
      const { found, configOptions } = await resume(params, client.signal);
      await replay(found, client);
      return { configOptions };
    },

    async resumeSession(params, signal) {
      const { configOptions } = await resume(params, signal);
      return { configOptions };
    },

    async listSessions(params, signal) {
      if (params.cwd) refuseRelative(params.cwd);
      return kept.list(params, signal);
    },

    async deleteSession({ sessionId }) {
      await kept.delete(sessionId);
      if (sessions.all().some(({ id }) => id === sessionId)) sessions.close(sessionId);
    },

    async setOption(params, signal) {
      const session = sessions.get(params.sessionId);
      await chooseOption(session, params, { core, offer, signal });
      return { configOptions: offer.pickers(session) };
    },

    async prompt({ sessionId, prompt }, { update, askPermission, signal: asked }) {
      const session = sessions.get(sessionId);
      const message = promptToMessage(prompt);
      return inTurn({ session, asked, onDidEnd: release }, async (signal) => {
        const tell = (said: SessionUpdate) => update(sessionId, said);
        const teller = createTeller({ update: tell, takesNotices, said: session.said, signal });
        const ask = createAskUser(sessionId, askPermission);
        const settle = () => offer.settle(update);
        const onDidKeep = async () => {
          const info = await kept.infoOf(sessionId);
          if (!info || signal.aborted || info.title === session.title) return;
          session.title = info.title ?? '';
          await update(sessionId, info);
        };
        const parts = {
          ...{ core, offer, session, tools, ask, createId },
          ...{ teller, settle, onDidKeep, signal },
        };
        return { stopReason: await takeTurn(parts, message) };
      });
    },

    cancel: (sessionId) => sessions.get(sessionId).turn?.abort(),
    closeSession: (sessionId) => sessions.close(sessionId),

    async modelsChanged({ update, signal }) {
      if (sessions.all().length === 0) return;
      await offer.list(signal, { refresh: false });
      await offer.settle(update);
    },

    async close() {
      for (const { id } of sessions.all()) sessions.close(id);
      await tools.close();
    },
  };
}

function refuseRelative(cwd: string): void {
  if (!isAbsolute(cwd)) throw new InvalidParamsError('cwd', 'it is not an absolute path');
}
