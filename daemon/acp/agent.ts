import type * as acp from '@agentclientprotocol/sdk';
import { type AgentMode, agentModes, type Message } from '../../protocol/messages/chat.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import type { AgentModes } from '../chat/permissions.ts';
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
import { ModelOptions } from './modelOptions.ts';
import { choiceOfThink, modePicker, modesOf } from './pickers.ts';
import { promptToMessage } from './promptMessage.ts';
import { runSessionCommand, sessionCommands } from './sessionCommands.ts';
import {
  askAboutCheck,
  createAskAboutFolder,
  createSessionPrompts,
  type UserQuestion,
} from './sessionPrompts.ts';
import {
  type AcpSession,
  createSessions,
  inTurn,
  refuseAnswering,
  refuseRelative,
  requireFolder,
} from './sessions.ts';
import {
  type ClientTools,
  createSessionTools,
  type RunningTools,
  readClientMcpServers,
  type SessionTools,
} from './sessionTools.ts';
import { takeTurn } from './turn.ts';
import { createUpdateSender, type UpdateSender } from './updateSender.ts';

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

/**
 * An agent that chats, and calls the tools of the session's servers; it uses no terminal of the editor. It answers the
 * methods of the protocol, with errors of the daemon.
 */
export class Agent {
  readonly #parts: AgentParts;
  readonly #closed = new AbortController();
  readonly #kept: ReturnType<typeof createKeptConversations>;
  readonly #tools: SessionTools;
  readonly #prompts: ReturnType<typeof createSessionPrompts>;
  readonly #sessions = createSessions(({ id }) => this.#release(id));
  readonly #options: ModelOptions;
  readonly #resuming = new Set<acp.ResumeSessionRequest>();
  /** The editor's files of the sessions that are answering. */
  readonly #files = new Map<string, EditorFiles>();
  #client: acp.ClientCapabilities | undefined;

  constructor(parts: AgentParts) {
    const { core, mode } = parts;
    this.#parts = parts;
    this.#kept = createKeptConversations(core);
    this.#tools = createSessionTools(parts.startTools);
    this.#options = new ModelOptions(core, this.#sessions);
    this.#prompts = createSessionPrompts({
      ...{ ...core, closed: this.#closed.signal, own: mode === undefined ? [] : sessionCommands },
      usedServers: (id) => this.#tools.used(id),
    });
  }

  initialize({ clientCapabilities }: acp.InitializeRequest): acp.InitializeResponse {
    this.#client = clientCapabilities;
    const { version, core } = this.#parts;
    return initializeResponse(version, core.configuration.current.keepSessions);
  }

  async newSession({ cwd, mcpServers }: acp.NewSessionRequest, signal: AbortSignal) {
    await requireFolder(cwd);
    const servers = readClientMcpServers(mcpServers);
    const [id] = await Promise.all([this.#kept.begin(cwd), this.#listModels('session/new', signal)]);
    const session = this.#sessions.open({ id, cwd, mode: this.#parts.mode });
    this.#equip(session, servers);
    return { sessionId: id, ...this.#stateOf(session) };
  }

  /** Sends the whole conversation again before the answer. */
  async loadSession(params: acp.LoadSessionRequest, client: Client) {
    const { found, ...state } = await this.#resume(params, client.signal);
    await replay(found, client);
    return state;
  }

  async resumeSession(params: acp.ResumeSessionRequest, signal: AbortSignal) {
    const { found: _, ...state } = await this.#resume(params, signal);
    return state;
  }

  async listSessions(params: acp.ListSessionsRequest, signal: AbortSignal) {
    if (params.cwd) refuseRelative(params.cwd);
    return this.#kept.list(params, signal);
  }

  async deleteSession({ sessionId }: acp.DeleteSessionRequest): Promise<void> {
    await this.#kept.delete(sessionId);
    if (this.#sessions.has(sessionId)) this.#sessions.close(sessionId);
  }

  async setMode({ sessionId, modeId }: acp.SetSessionModeRequest, client: Client): Promise<void> {
    await this.#changeMode(this.#sessions.get(sessionId), modeId, { ...client, by: 'mode' });
  }

  async setOption(params: acp.SetSessionConfigOptionRequest, client: Client) {
    const session = this.#sessions.get(params.sessionId);
    if (params.configId === modePicker)
      await this.#changeMode(session, params.value, { ...client, by: 'option' });
    else await this.#options.choose(session, params, client.signal);
    return { configOptions: this.#options.pickers(session) };
  }

  /** The session was opened, and its client knows it: sends the commands that it has. */
  announce(sessionId: string, update: Update): Promise<void> {
    return this.#prompts.announce(sessionId, (next) => update(sessionId, next));
  }

  /** A cancelled prompt is a normal answer. */
  async prompt({ sessionId, prompt }: acp.PromptRequest, client: PromptClient) {
    const session = this.#sessions.get(sessionId);
    const message = promptToMessage(prompt);
    const answering = inTurn(session, client.signal, async (signal) => {
      this.#files.set(sessionId, editorFilesOf(sessionId, client, this.#client?.fs));
      const updates = createUpdateSender({
        cwd: session.cwd,
        update: (next) => client.update(sessionId, next),
        takesNotices: Boolean(this.#client?.session?.notices),
        signal,
      });
      return { stopReason: await this.#answer(message, { session, client, updates, signal }) };
    });
    // It may have been closed meanwhile.
    return answering.finally(() => session.isClosed && this.#release(sessionId));
  }

  cancel(sessionId: string): void {
    this.#sessions.get(sessionId).turn?.abort();
  }

  closeSession(sessionId: string): void {
    this.#sessions.close(sessionId);
  }

  /** The list of models may have changed: updates every session whose pickers have. */
  async modelsChanged({ update, signal }: Client): Promise<void> {
    if (this.#sessions.all().length === 0) return;
    await this.#options.list(signal, { refresh: false });
    await this.#options.updateSessions(update);
  }

  /** The client is gone. Settles once all tool servers have ended. */
  async close(): Promise<void> {
    this.#closed.abort();
    for (const { id } of this.#sessions.all()) this.#sessions.close(id);
    await this.#tools.close();
  }

  /** Opens a conversation that is kept, in place of its session if that is open. */
  async #resume(params: acp.ResumeSessionRequest, signal: AbortSignal) {
    const { sessionId, cwd, mcpServers = [] } = params;
    await requireFolder(cwd);
    const servers = readClientMcpServers(mcpServers);
    refuseAnswering(this.#sessions, sessionId);
    this.#resuming.add(params);
    try {
      const listing = this.#listModels('session/resume', signal);
      const [found] = await Promise.all([this.#kept.resume(sessionId), listing]);
      // A prompt may have arrived meanwhile.
      refuseAnswering(this.#sessions, sessionId);
      const { id, title, model } = found.session;
      const { think, options: runnerOptions, maxRounds: rounds } = found.settings ?? {};
      const session = this.#sessions.open({
        ...{ id, cwd, title, model },
        // What a conversation was allowed once, nobody has allowed today.
        mode: this.#parts.mode && 'ask',
        ...(runnerOptions === undefined ? {} : { runnerOptions }),
        ...(rounds === undefined ? {} : { rounds }),
        ...(think === undefined ? {} : { thinking: choiceOfThink(think) }),
      });
      this.#equip(session, servers);
      return { found, ...this.#stateOf(session) };
    } finally {
      this.#resuming.delete(params);
      this.#release(sessionId);
    }
  }

  #equip({ id, cwd }: AcpSession, servers: ClientTools['servers']): void {
    const files = () => this.#files.get(id);
    this.#tools.set(id, { servers, cwd, files, elicitModes: () => elicitModesOf(this.#client) });
    this.#prompts.set(id, cwd);
  }

  /** The last turn of a closed session may end late: a session that was opened again since then keeps what it has. */
  #release(id: string): void {
    const isResuming = [...this.#resuming].some(({ sessionId }) => sessionId === id);
    if (isResuming || this.#sessions.has(id)) return;
    this.#kept.release(id);
    this.#tools.remove(id);
    this.#files.delete(id);
    this.#prompts.remove(id);
  }

  /** A failure is only logged here: the first prompt reports it, if it has not passed by then. */
  async #listModels(method: string, signal: AbortSignal): Promise<void> {
    await this.#options.list(signal).catch((error) => {
      if (signal.aborted || !(error instanceof RunnerError)) throw error;
      this.#parts.core.log.warn(`${method}: ${error.kind}: ${error.message}`);
    });
  }

  #stateOf(session: AcpSession) {
    const found = modesOf(session);
    return { configOptions: this.#options.pickers(session), ...(found && { modes: found }) };
  }

  /**
   * Changes the mode of a session, also during its turn; `by` says how its user has chosen it.
   * @throws {Error} if it is none, or is not possible here.
   */
  async #changeMode(
    session: AcpSession,
    value: unknown,
    { update, signal, by }: Client & { readonly by: 'mode' | 'option' | 'command' },
  ): Promise<void> {
    const mode = agentModes.find((one) => one === value);
    if (mode === undefined || session.mode === undefined)
      throw new InvalidParamsError('modeId', `there is no mode "${String(value)}"`);
    await this.#tools.run(session.id, (running) => running.requireMode(mode, signal));
    session.mode = mode;
    this.#parts.modes.change(session.id, mode);
    const send = (next: acp.SessionUpdate) => update(session.id, next);
    // The client knows the change that it has made.
    if (by !== 'mode') await send({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    if (by !== 'option')
      await send({ sessionUpdate: 'config_option_update', configOptions: this.#options.pickers(session) });
  }

  /** What comes of a message: a command of ours, or a turn, which may begin with a prompt that it calls. */
  async #answer(message: Message, { session, client, updates, signal }: Prompting): Promise<acp.StopReason> {
    const { createId, core, modes } = this.#parts;
    const sessionId = session.id;
    const question = { sessionId, createId, client };
    const ended = () => (signal.aborted ? 'cancelled' : 'end_turn');
    const said = await this.#answerCommand(session, message.content, { question, signal });
    if (said !== undefined) {
      await updates.delta({ streamId: sessionId, seq: 0, kind: 'text', text: said });
      return ended();
    }
    const found = await this.#prompts.find(message, {
      sessionId,
      requireTools: (names) => this.#tools.run(sessionId, (running) => running.require(names)),
      servers: () => this.#tools.run(sessionId, (running) => running.askable('all')),
      signal,
      askAboutFolder: createAskAboutFolder(question),
    });
    await this.announce(sessionId, client.update);
    if (found.kind === 'said') {
      await updates.notice({ message: found.message });
      return ended();
    }
    const elicits = elicitModesOf(this.#client).length > 0;
    const parts = {
      ...{ core, modes, session, updates, signal, options: this.#options, tools: this.#tools },
      ask: createAskApproval(sessionId, client, updates.shown),
      askElicitation: elicits ? createAskElicitation(sessionId, client, createId) : undefined,
      updateSessions: () => this.#options.updateSessions(client.update),
      onDidKeep: () => this.#sendTitle(session, client.update, signal),
      prompt: found.prompt,
    };
    const stopReason = await takeTurn(parts, found.message);
    // Tool servers that the turn has started may have prompts.
    await this.announce(sessionId, client.update);
    return stopReason;
  }

  async #sendTitle(session: AcpSession, update: Update, signal: AbortSignal): Promise<void> {
    const info = await this.#kept.infoOf(session.id);
    if (!info || signal.aborted || info.title === session.title) return;
    session.title = info.title ?? '';
    await update(session.id, info);
  }

  /** What to say to a message that is a command of ours; undefined if it is none. */
  async #answerCommand(
    session: AcpSession,
    text: string,
    { question, signal }: { readonly question: UserQuestion; readonly signal: AbortSignal },
  ): Promise<string | undefined> {
    if (session.mode === undefined) return undefined;
    return this.#tools.run(session.id, (running) =>
      runSessionCommand(text, {
        ...{ session, tools: running, signal },
        changeMode: (word) => this.#changeMode(session, word, { ...question.client, signal, by: 'command' }),
        agreesTo: (check) => askAboutCheck(question, check),
        turns: () => this.#kept.turns(session.id),
        undoTurn: () => this.#kept.undo(session.id),
      }),
    );
  }
}

/** A prompt that is being answered, with the signal of its turn. */
interface Prompting {
  readonly session: AcpSession;
  readonly client: PromptClient;
  readonly updates: UpdateSender;
  readonly signal: AbortSignal;
}

/** The only supported version of the protocol. A client of a newer one falls back to it, or disconnects. */
const acpVersion = 1;

function initializeResponse(version: string, keepsSessions: boolean): acp.InitializeResponse {
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
