import { showLine, withoutMiddle } from '../../../protocol/base/text.ts';
import type { ChatParams, Message } from '../../../protocol/messages/chat.ts';
import type { FilledPrompt } from '../../../protocol/messages/prompts.ts';
import {
  createSessionRequest,
  forkSessionRequest,
  type ReadSessionResult,
  type Session,
  undoTurnRequest,
  updateSessionRequest,
} from '../../../protocol/messages/sessions.ts';
import { builtinServer } from '../../../protocol/messages/tools.ts';
import type { Program } from '../cli/command.ts';
import { failureOf } from '../cli/failure.ts';
import type { FlagName } from '../cli/flags.ts';
import type { ShellResult } from '../cli/systemPrograms.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { TerminalConnection } from '../daemon/connection.ts';
import { type AnswerStats, describeStats } from './answerStats.ts';
import type { Along } from './attachments.ts';
import {
  type ChatSettings,
  describeLasting,
  promptMessage,
  restoredSettings,
  restoredTools,
  settingsOfTurn,
  type ToolChoice,
  withAlong,
} from './chatSettings.ts';
import { ConversationOffers } from './conversationOffers.ts';
import { chooseModelOf, describeSession, fitToScreen, openSession, showMessage } from './keptConversation.ts';

export interface ConversationStart {
  readonly model: string;
  readonly tools: ToolChoice;
  readonly settings: ChatSettings;
  readonly copyText: Program['copyText'];
  /** The words behind a slash that lead to no prompt. */
  readonly commands: readonly string[];
}

/** What the user asks, and what applies to this turn only. */
export interface TypedPrompt extends Pick<FilledPrompt, 'text' | 'model' | 'tools'> {
  /** What the user has typed, in which files may be named. It is not the text of a prompt that is kept as a file. */
  readonly typed: string;
  /** The whole entry, with the name of such a prompt. */
  readonly entry: string;
}

/** How a message of the user was asked. */
interface PromptRequest extends Pick<TypedPrompt, 'entry' | 'model' | 'tools'> {
  /** What was attached to it besides what it names. */
  readonly attached: Along;
}

/** What came of a turn. */
export interface TurnEnd {
  /** The messages that it added, even if it failed. */
  readonly added: readonly Message[];
  /** Whether there is an answer that neither failed nor was cancelled. */
  readonly isWhole: boolean;
  /** How many rounds there were, if the model wanted to call tools again and had no more. */
  readonly roundsUsed?: number;
}

export interface BegunTurn {
  /** The parameters of the request. */
  readonly params: Omit<ChatParams, 'streamId'>;
  readonly end: (end: TurnEnd) => void;
}

/** A conversation between its turns: its settings, and its session, in which the daemon has its messages. */
export class OpenConversation extends ConversationOffers {
  readonly copyText: Program['copyText'];
  /** How the prompts that were sent by this program were asked, by their number. */
  readonly #asked = new Map<number, PromptRequest>();
  /** Created with the first prompt. */
  #session: Session | undefined;
  #lastStats: string | undefined;
  /** As far as it is known. */
  #windowTokens = 16_384;
  /** As the command line and the user's configuration say. */
  readonly #begun: Pick<ConversationStart, 'settings' | 'tools'>;
  readonly settings: ChatSettings;
  /** Names of the tool servers that are switched on. */
  readonly tools: Set<string>;

  constructor(
    terminal: Terminal,
    connection: TerminalConnection,
    { model, tools, settings, copyText, commands }: ConversationStart,
  ) {
    super(terminal, connection, { model, commands, knownTools: tools.known });
    this.copyText = copyText;
    this.#begun = { settings: { ...settings }, tools };
    this.tools = new Set(tools.wanted ?? tools.own);
    this.settings = settings;
  }

  /** Begins a turn. The first one creates the session. */
  async begin(prompt: TypedPrompt, along: Along): Promise<BegunTurn> {
    const { attachments, images } = this.settings;
    const message = promptMessage(prompt.text, withAlong(this.settings, along));
    return {
      params: await this.#paramsOf([message], prompt),
      end: ({ added }) => {
        // A prompt without an answer is dropped, because two prompts in a row confuse models.
        if (added.length === 0 || !this.#session) return;
        const turns = this.#session.turns + 1;
        this.#session = { ...this.#session, turns };
        this.#asked.set(turns, { ...prompt, attached: { attachments, images } });
        this.#detach();
      },
    };
  }

  /** Begins the last turn again, as it was asked. It stays as it is until it has a whole answer. */
  async beginAgain(): Promise<BegunTurn['params']> {
    const params = await this.#paramsOf([], this.#asked.get(this.#session?.turns ?? 0));
    return { ...params, replacesLastTurn: true };
  }

  async #paramsOf(
    messages: readonly Message[],
    { model = this.model, tools }: Pick<TypedPrompt, 'model' | 'tools'> = {},
  ): Promise<BegunTurn['params']> {
    const session = this.#session ?? (await this.#create());
    const kept = session ? ({ session: session.id, history: 'kept' } as const) : {};
    const servers = tools ?? this.toolServers();
    const hostedTools = servers.length === 0 ? {} : { hostedTools: servers };
    // An empty one takes the place of the one that the daemon has.
    const settings = { ...this.settings, system: this.settings.system ?? '' };
    return { model, ...settingsOfTurn(settings, messages), ...kept, ...hostedTools };
  }

  toolServers(): readonly string[] {
    return this.knownTools.filter((name) => this.tools.has(name));
  }

  /** What a command of the user has written goes along with the next prompt. Returns what to say about it. */
  attachOutput(command: string, { ended, text: output }: ShellResult): string {
    // A fifth of the window, at about three characters a token.
    const room = Math.min(32_000, Math.floor((this.#windowTokens / 5) * 3));
    const text = withoutMiddle(`${ended}\n${output}`.trimEnd(), room);
    const { attachments } = this.settings;
    this.settings.attachments = [...attachments, { path: `$ ${command}`, text }];
    const failed =
      ended === 'exit code 0'
        ? ''
        : `It ${ended.startsWith('exit') ? `ended with ${ended}` : `was ${ended}`}. `;
    const cut = text.length < output.length ? ', without its middle' : '';
    return `${failed}What it wrote goes along with the next prompt${cut}.`;
  }

  noteStats(model: string, stats: AnswerStats): void {
    this.#lastStats = describeStats(showLine(model), stats);
    this.#windowTokens = stats.contextLength ?? this.#windowTokens;
  }

  /** The session is gone: the next prompt creates another one. */
  loseSession(): void {
    this.#session = undefined;
    this.#asked.clear();
  }

  /** Takes back the last turn, also where the conversation is kept. Returns its prompt; undefined if there is none. */
  async undo(): Promise<Message | undefined> {
    if (!this.#session) return undefined;
    const { id } = this.#session;
    const { session, prompt } = await this.daemon.request(undoTurnRequest, { id });
    this.#session = session;
    this.#lastStats = undefined;
    return prompt;
  }

  /** Does the same, and attaches to the next prompt what was attached to that one. */
  async undoToEdit(): Promise<PromptRequest | undefined> {
    const asked = this.#asked.get(this.#session?.turns ?? 0);
    const message = await this.undo();
    if (!message) return undefined;
    const request = asked ?? askedEarlier(message);
    Object.assign(this.settings, withAlong(this.settings, request.attached));
    return request;
  }

  /** Begins a new conversation. What is attached goes too: it may be what did not fit. */
  clear(): void {
    this.loseSession();
    this.#lastStats = undefined;
    this.#detach();
  }

  #detach(): void {
    Object.assign(this.settings, { attachments: [], images: [] });
  }

  /** Undefined before the first prompt. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** Continues another conversation. */
  async change(id: string): Promise<void> {
    const kept = await openSession(this.daemon, id);
    await this.continue(kept);
    this.model = await chooseModelOf(this.terminal, this.daemon, kept);
  }

  /**
   * Goes on in a new conversation with what was said, or with its first turns; the other one stays. Returns how many
   * turns it has; undefined if this one has fewer.
   */
  async fork(turns?: number): Promise<number | undefined> {
    const { id, turns: all } = this.#session ?? { id: '', turns: 0 };
    if (all < (turns ?? 1)) return undefined;
    const params = { id, ...(turns === undefined ? {} : { turns }) };
    this.#session = (await this.daemon.request(forkSessionRequest, params)).session;
    return this.#session.turns;
  }

  async retitle(title: string): Promise<void> {
    const session = this.#session ?? (await this.#create({ title }));
    if (!session) return;
    const { id } = session;
    this.#session = (await this.daemon.request(updateSessionRequest, { id, title })).session;
  }

  /** Continues a conversation with its settings, except those that are `given`, and shows its last turn. */
  async continue(kept: ReadSessionResult, given: ReadonlySet<FlagName> = new Set()): Promise<void> {
    const { session } = kept;
    const messages = kept.messages.filter(({ role }) => role !== 'system');
    this.loseSession();
    this.#session = session;
    this.#lastStats = undefined;
    const restored = this.#restore(kept, given);
    const { stdout } = this.terminal;
    await stdout.writeText(`${stdout.style.dim(`Going on with ${describeSession(session)}.${restored}`)}\n`);
    const last = messages.findLastIndex(({ role }) => role === 'user');
    const turn = last === -1 ? [] : messages.slice(last);
    const shown = turn.map((message) => showMessage(stdout, message)).join('');
    await stdout.write(fitToScreen(shown, { output: stdout, id: session.id }));
  }

  /** After the end of a daemon. What was only in its memory is lost. */
  async reload(): Promise<void> {
    const id = this.#session?.id;
    this.#session = undefined;
    if (id !== undefined) this.#session = (await openSession(this.daemon, id)).session;
  }

  /** Returns what to say about it. */
  #restore(kept: ReadSessionResult, given: ReadonlySet<FlagName>): string {
    const { settings, tools } = this.#begun;
    Object.assign(this.settings, restoredSettings(settings, kept, given));
    const wanted = tools.wanted ?? tools.own;
    const isOwn = given.has('tools') || !kept.settings;
    const { names, gone } = isOwn
      ? { names: wanted, gone: '' }
      : restoredTools(kept.settings?.hostedTools, tools);
    this.tools.clear();
    for (const name of names) this.tools.add(name);
    const using = names.length === 0 ? [] : [`the tools of ${names.map(showLine).join(', ')}`];
    const all = [describeLasting(this.settings), ...using].filter((part) => part !== '').join(', ');
    const { mode = 'ask' } = this.settings;
    const begins = names.includes(builtinServer) ? `It begins in the mode ${mode}.` : '';
    return [...(all === '' ? [] : [`With ${all}.`]), begins, gone].map((part) => part && ` ${part}`).join('');
  }

  /**
   * If the conversation cannot be kept, it still goes on, with one note to the user. Undefined without a daemon, which
   * the turn reports.
   */
  async #create(params: { readonly title?: string } = {}): Promise<Session | undefined> {
    const { cwd } = this.terminal;
    const create = (kept: { readonly kept?: false }) =>
      this.daemon.request(createSessionRequest, { cwd, ...params, ...kept });
    const created = await create({}).catch(async (error) => {
      if (failureOf(error).kind === 'not-supported')
        await this.terminal.stdout.writeAside(`This conversation is not kept. ${failureOf(error).message}`);
      return create({ kept: false }).catch(() => undefined);
    });
    this.#session = created?.session;
    return this.#session;
  }

  /** About the last answer. */
  get stats(): string | undefined {
    return this.#lastStats;
  }
}

/** A prompt of an earlier run of the program. What it names in words is attached again when it is sent. */
function askedEarlier({ content, attachments = [], images = [] }: Message): PromptRequest {
  return {
    entry: content.startsWith('/') ? `/${content}` : content,
    attached: { attachments: attachments.filter(({ path }) => !content.includes(path)), images },
  };
}
