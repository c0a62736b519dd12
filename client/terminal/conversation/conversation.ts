import type { ReadSessionResult } from '../../../protocol/messages/sessions.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { failureOf } from '../cli/failure.ts';
import { type Surroundings, writeLine, writeText } from '../cli/streams.ts';
import type { Connection } from '../daemon/connection.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { type Style, styleFor } from '../screen/style.ts';
import { approveThrough } from './approval.ts';
import type { ChatSettings } from './chatSettings.ts';
import { chooseModel } from './chooseModel.ts';
import { type ConversationTurn, createConversationTurns } from './conversationTurn.ts';
import { appendHistory, formerHistoryPath, historyPath, readHistory } from './history.ts';
import { createInterrupts, Insisted, type Interrupts } from './interrupts.ts';
import { chooseModelOf } from './keptConversation.ts';
import { createLineEditor, type LineEditor } from './lineEditor.ts';
import { OpenConversation } from './openConversation.ts';
import { runSlashCommand } from './slashCommands.ts';
import { docsServer, type ToolChoice } from './toolChoice.ts';

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
  const path = historyPath(surroundings.env);
  const editor = createLineEditor(surroundings, {
    history: readHistory(path, formerHistoryPath(surroundings.env)),
    onDidEnter: (entry) => appendHistory(path, entry),
  });
  try {
    const conversation = new OpenConversation(surroundings, connection, { model, tools, settings });
    if (kept) await conversation.goOn(kept);
    await new Talk(surroundings, connection, { editor, conversation }).run();
  } catch (error) {
    if (!(error instanceof Insisted)) throw error;
    await writeLine(surroundings.stdout, '');
  } finally {
    editor.close();
  }
  return 0;
}

/** The talk at the prompt: entries become slash commands or turns. */
class Talk {
  readonly #surroundings: Surroundings;
  readonly #connection: Connection;
  readonly #editor: LineEditor;
  readonly #style: Style;
  readonly #conversation: OpenConversation;
  readonly #takeTurn: ConversationTurn;

  constructor(
    surroundings: Surroundings,
    connection: Connection,
    { editor, conversation }: { readonly editor: LineEditor; readonly conversation: OpenConversation },
  ) {
    this.#surroundings = surroundings;
    this.#connection = connection;
    this.#editor = editor;
    this.#style = styleFor(surroundings.stdout, surroundings.env);
    this.#conversation = conversation;
    this.#takeTurn = createConversationTurns(surroundings, connection, {
      approve: approveThrough(editor, surroundings.stdout),
      onDidAnswer: (model, stats) => conversation.noteStats(model, stats),
      onDidLoseSession: () => conversation.loseSession(),
    });
  }

  async run(): Promise<void> {
    const greeting = `Talking to ${showLine(this.#conversation.model)}.${this.#aboutTools()} /help lists the commands, Ctrl-D leaves.`;
    await this.#say(this.#style.dim(greeting));
    for (;;) {
      const entry = await this.#editor.ask(this.#prompt());
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
    const { knownTools, tools } = this.#conversation;
    const on = this.#conversation.hostedTools();
    const docs =
      knownTools.includes(docsServer) && !tools.has(docsServer)
        ? ' "/tools docs on" lets it read the pages of Runner.'
        : '';
    return on.length === 0 ? docs : ` Its tools are of ${on.map(showLine).join(', ')}.${docs}`;
  }

  /** The practice runner is named at every turn. */
  #prompt(): string {
    const practice = this.#connection.isPractice ? this.#style.yellow('practice ') : '';
    return `${practice}${this.#style.cyan(`${showLine(this.#conversation.model)} ›`)} `;
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
      const { text: shown, leave = false } = await runSlashCommand(text, this.#conversation);
      if (shown !== '') await this.#say(shown);
      return leave;
    } catch (error) {
      await this.#say(this.#style.red(failureOf(error).message));
      return false;
    }
  }

  async #turn(prompt: string, { signal }: Interrupts): Promise<boolean> {
    const turn = await this.#conversation.begin(prompt);
    turn.end(await this.#takeTurn(turn.params, signal));
    return false;
  }

  #say(text: string): Promise<void> {
    return writeText(this.#surroundings.stdout, text);
  }
}
