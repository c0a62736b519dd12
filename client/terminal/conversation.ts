import type { Message } from '../../protocol/chat.ts';
import { canChat } from '../../protocol/choice.ts';
import { chooseChatModelRequest, listModelsRequest } from '../../protocol/models.ts';
import {
  createSessionRequest,
  listSessionsRequest,
  type ReadSessionResult,
  type Session,
  updateSessionRequest,
} from '../../protocol/sessions.ts';
import { listToolsRequest } from '../../protocol/tools.ts';
import { describeStats } from './answerStats.ts';
import { approveThrough } from './approval.ts';
import { type ChatSettings, promptMessage, settingsOfTurn } from './chatSettings.ts';
import { chooseModel } from './chooseModel.ts';
import type { CommandLine } from './commandLine.ts';
import type { Connection } from './connection.ts';
import { showLine } from './controlCharacters.ts';
import { type ConversationTurn, createConversationTurns } from './conversationTurn.ts';
import { failureOf } from './failure.ts';
import { historyPath, readHistory, writeHistory } from './history.ts';
import { createInterrupts, Insisted, type Interrupts } from './interrupts.ts';
import { chooseModelOf, describeSession, openKept } from './keptConversation.ts';
import { createLineEditor, type LineEditor } from './lineEditor.ts';
import { toolsTable } from './listTools.ts';
import { shownMessage } from './sessions.ts';
import { type ConversationState, runSlashCommand } from './slashCommands.ts';
import { type Surroundings, write, writeLine } from './streams.ts';
import { type Style, styleFor } from './style.ts';
import { docsServer, type ToolChoice } from './toolChoice.ts';
import { wrapText } from './wordWrap.ts';

export interface ConversationOptions {
  readonly commandLine: CommandLine;
  readonly connection: Connection;
  /** The conversation that goes on. */
  readonly kept: ReadSessionResult | undefined;
  readonly tools: ToolChoice;
  readonly settings: ChatSettings;
}

/** Talks until the person leaves. Returns the exit code. */
export async function converse(
  surroundings: Surroundings,
  { commandLine, connection, kept, tools, settings }: ConversationOptions,
): Promise<number> {
  const { daemon } = connection;
  const named = commandLine.model;
  const model =
    named === undefined ? await chooseModelOf(surroundings, daemon, kept) : await chooseModel(daemon, named);
  const editor = createLineEditor(surroundings, await readHistory(historyPath(surroundings.env)));
  try {
    const conversation = new Conversation(surroundings, connection, { editor, model, tools, settings });
    if (kept) await conversation.goOn(kept);
    await conversation.run();
  } catch (error) {
    if (!(error instanceof Insisted)) throw error;
    await writeLine(surroundings.stdout, '');
  } finally {
    editor.close();
  }
  return 0;
}

interface Beginning {
  readonly editor: LineEditor;
  readonly model: string;
  readonly tools: ToolChoice;
  readonly settings: ChatSettings;
}

/** The state of a conversation between its turns. */
class Conversation implements ConversationState {
  readonly #surroundings: Surroundings;
  readonly #connection: Connection;
  readonly #editor: LineEditor;
  readonly #style: Style;
  readonly #takeTurn: ConversationTurn;
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

  constructor(
    surroundings: Surroundings,
    connection: Connection,
    { editor, model, tools, settings }: Beginning,
  ) {
    this.#surroundings = surroundings;
    this.#connection = connection;
    this.#editor = editor;
    this.#style = styleFor(surroundings.stdout, surroundings.env);
    this.#takeTurn = createConversationTurns(surroundings, connection, {
      approve: approveThrough(editor, surroundings.stdout),
      onDidAnswer: (model, stats) => {
        this.#last = describeStats(showLine(model), stats);
      },
      onDidLoseSession: () => {
        this.#session = undefined;
      },
    });
    this.knownTools = tools.known;
    this.tools = new Set(tools.wanted ?? tools.own);
    this.model = model;
    this.settings = settings;
  }

  async run(): Promise<void> {
    const greeting = `Talking to ${showLine(this.model)}.${this.#aboutTools()} /help lists the commands, Ctrl-D leaves.`;
    await this.#say(this.#style.dim(wrapText(greeting, this.#surroundings.stdout.columns || 80)));
    for (;;) {
      const entry = await this.#editor.ask(this.#prompt());
      // At each entry: a window that is closed ends the program without a word.
      await writeHistory(historyPath(this.#surroundings.env), this.#editor.history);
      if (entry.kind === 'leave') return this.#say('');
      const text = entry.text.trim();
      if (text === '') continue;
      const leave = await this.#underInterrupts((interrupts) =>
        text.startsWith('/') && !text.startsWith('//')
          ? this.#slash(text)
          : this.#turn(text.startsWith('//') ? text.slice(1) : text, interrupts),
      );
      if (leave) return;
    }
  }

  /** What can be called, and that the project's own pages could be. */
  #aboutTools(): string {
    const on = this.#hostedTools();
    const docs =
      this.knownTools.includes(docsServer) && !this.tools.has(docsServer)
        ? ' "/tools docs on" lets it read the pages of Runner.'
        : '';
    return on.length === 0 ? docs : ` Its tools are of ${on.map(showLine).join(', ')}.${docs}`;
  }

  #hostedTools(): readonly string[] {
    return this.knownTools.filter((name) => this.tools.has(name));
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
    return toolsTable(servers, this.#style, (name) => this.tools.has(name));
  }

  /** The practice runner is named at every turn. */
  #prompt(): string {
    const practice = this.#connection.isPractice ? this.#style.yellow('practice ') : '';
    return `${practice}${this.#style.cyan(`${showLine(this.model)} ›`)} `;
  }

  /** Ctrl-C comes from the editor, and as a signal where the editor is closed. */
  async #underInterrupts<T>(work: (interrupts: Interrupts) => Promise<T>): Promise<T> {
    const interrupts = createInterrupts();
    this.#editor.onInterrupt(interrupts.press);
    const stopListening = this.#surroundings.onInterrupt(interrupts.press);
    try {
      return await interrupts.orInsisted(work(interrupts));
    } finally {
      stopListening();
    }
  }

  /** Returns whether to leave. */
  async #slash(text: string): Promise<boolean> {
    try {
      const { text: shown, leave = false } = await runSlashCommand(text, this);
      if (shown !== '') await this.#say(shown);
      return leave;
    } catch (error) {
      await this.#say(this.#style.red(failureOf(error).message));
      return false;
    }
  }

  async #turn(prompt: string, { signal }: Interrupts): Promise<boolean> {
    const messages: readonly Message[] = [...this.#messages, promptMessage(prompt, this.settings)];
    const kept = this.#session ?? (await this.#create());
    const session = kept ? { session: kept.id } : {};
    const on = this.#hostedTools();
    const hostedTools = on.length === 0 ? {} : { hostedTools: on };
    const params = {
      model: this.model,
      ...settingsOfTurn(this.settings, messages),
      ...session,
      ...hostedTools,
    };
    const added = await this.#takeTurn(params, signal);
    // A question without an answer is forgotten: two in a row confuse models.
    if (added.length > 0) {
      this.#messages = [...messages, ...added];
      Object.assign(this.settings, { attachments: [], images: [] });
    }
    return false;
  }

  #say(text: string): Promise<void> {
    return writeLine(this.#surroundings.stdout, text);
  }
}
