import type { ChatParams, Message } from '../../../protocol/messages/chat.ts';
import { canChat } from '../../../protocol/messages/choice.ts';
import { chooseChatModelRequest, listModelsRequest } from '../../../protocol/messages/models.ts';
import {
  createSessionRequest,
  listSessionsRequest,
  type ReadSessionResult,
  type Session,
  updateSessionRequest,
} from '../../../protocol/messages/sessions.ts';
import { listToolsRequest } from '../../../protocol/messages/tools.ts';
import { failureOf } from '../cli/failure.ts';
import { type Surroundings, write, writeText } from '../cli/streams.ts';
import { toolsTable } from '../commands/listTools.ts';
import { shownMessage } from '../commands/sessions.ts';
import type { Connection } from '../daemon/connection.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { type Style, styleFor } from '../screen/style.ts';
import { lookOf } from '../screen/table.ts';
import { type AnswerStats, describeStats } from './answerStats.ts';
import { type ChatSettings, promptMessage, settingsOfTurn } from './chatSettings.ts';
import { chooseModelOf, describeSession, openKept } from './keptConversation.ts';
import type { ConversationState } from './slashCommands.ts';
import type { ToolChoice } from './toolChoice.ts';

export interface Beginning {
  readonly model: string;
  readonly tools: ToolChoice;
  readonly settings: ChatSettings;
}

export interface BegunTurn {
  /** What is sent. */
  readonly params: Omit<ChatParams, 'streamId'>;
  /** Takes the messages that the turn added. */
  readonly end: (added: readonly Message[]) => void;
}

/** A conversation between its turns: what was said, what was chosen for it, and where it is kept. */
export class OpenConversation implements ConversationState {
  readonly #surroundings: Surroundings;
  readonly #connection: Connection;
  readonly #style: Style;
  #messages: readonly Message[] = [];
  /** As it is kept; it is created with the first prompt. */
  #session: Session | undefined;
  #isKept = true;
  #last: string | undefined;
  model: string;
  readonly settings: ChatSettings;
  readonly knownTools: readonly string[];
  /** Names of the tool servers that are on. */
  readonly tools: Set<string>;

  constructor(surroundings: Surroundings, connection: Connection, { model, tools, settings }: Beginning) {
    this.#surroundings = surroundings;
    this.#connection = connection;
    this.#style = styleFor(surroundings.stdout, surroundings.env);
    this.knownTools = tools.known;
    this.tools = new Set(tools.wanted ?? tools.own);
    this.model = model;
    this.settings = settings;
  }

  /** A turn with this prompt. What is kept of the conversation is created with the first one. */
  async begin(prompt: string): Promise<BegunTurn> {
    const messages: readonly Message[] = [...this.#messages, promptMessage(prompt, this.settings)];
    const kept = this.#session ?? (await this.#create());
    const session = kept ? { session: kept.id } : {};
    const on = this.hostedTools();
    const hostedTools = on.length === 0 ? {} : { hostedTools: on };
    return {
      params: { model: this.model, ...settingsOfTurn(this.settings, messages), ...session, ...hostedTools },
      end: (added) => {
        // A question without an answer is forgotten: two in a row confuse models.
        if (added.length === 0) return;
        this.#messages = [...messages, ...added];
        Object.assign(this.settings, { attachments: [], images: [] });
      },
    };
  }

  hostedTools(): readonly string[] {
    return this.knownTools.filter((name) => this.tools.has(name));
  }

  noteStats(model: string, stats: AnswerStats): void {
    this.#last = describeStats(showLine(model), stats);
  }

  /** What is kept of it was deleted meanwhile: the next prompt begins another. */
  loseSession(): void {
    this.#session = undefined;
  }

  clear(): void {
    this.#messages = [];
    this.#session = undefined;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  async sessions(): Promise<readonly Session[]> {
    const { sessions } = await this.#connection.daemon.request(listSessionsRequest, { limit: 20 });
    return sessions;
  }

  async change(id: string): Promise<void> {
    const kept = await openKept(this.#connection.daemon, id);
    await this.goOn(kept);
    this.model = await chooseModelOf(this.#surroundings, this.#connection.daemon, kept);
  }

  async retitle(title: string): Promise<void> {
    const session = this.#session ?? (await this.#create({ title }));
    if (!session) return;
    const { id } = session;
    this.#session = (await this.#connection.daemon.request(updateSessionRequest, { id, title })).session;
  }

  /** Shows how it ended. */
  async goOn({ session, messages }: ReadSessionResult): Promise<void> {
    this.#session = session;
    this.#messages = messages;
    await this.#say(`${this.#style.dim(`Going on with ${describeSession(session)}.`)}\n`);
    const last = messages.findLastIndex(({ role }) => role === 'user');
    for (const message of last === -1 ? [] : messages.slice(last))
      await write(this.#surroundings.stdout, shownMessage(this.#surroundings, message));
  }

  /** A conversation that cannot be kept goes on all the same; that is said once. */
  async #create(params: { readonly title?: string } = {}): Promise<Session | undefined> {
    if (!this.#isKept) return undefined;
    try {
      const { cwd } = this.#surroundings;
      const request = this.#connection.daemon.request(createSessionRequest, { cwd, ...params });
      this.#session = (await request).session;
    } catch (error) {
      this.#isKept = false;
      if (failureOf(error).kind === 'not-supported')
        await this.#say(this.#style.dim(`This conversation is not kept. ${failureOf(error).message}`));
    }
    return this.#session;
  }

  /** What is known of the last answer. */
  get stats(): string | undefined {
    return this.#last;
  }

  get cwd(): string {
    return this.#surroundings.cwd;
  }

  /** It answers now, and every client begins with it from now on. */
  async chooseModel(name: string): Promise<void> {
    this.model = name;
    await this.#connection.daemon.request(chooseChatModelRequest, { model: name });
  }

  async models() {
    const { models } = await this.#connection.daemon.request(listModelsRequest, {});
    return models.filter(canChat);
  }

  async listTools() {
    const { servers } = await this.#connection.daemon.request(listToolsRequest, {});
    const { stdout, env } = this.#surroundings;
    return toolsTable(servers, lookOf(stdout, env), (name) => this.tools.has(name));
  }

  #say(text: string): Promise<void> {
    return writeText(this.#surroundings.stdout, text);
  }
}
