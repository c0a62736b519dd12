import type { ChatParams, Message } from '../../protocol/chat.ts';
import { listModelsRequest } from '../../protocol/models.ts';
import { createAnswerPrinter, describeUsage } from './answerPrinter.ts';
import { canChat, chooseModel } from './chooseModel.ts';
import type { CommandLine } from './commandLine.ts';
import type { Connection } from './connection.ts';
import { showControls } from './controlCharacters.ts';
import { failureOf } from './failure.ts';
import { historyPath, readHistory, writeHistory } from './history.ts';
import { createLineEditor, type LineEditor } from './lineEditor.ts';
import { type ConversationState, runSlashCommand } from './slashCommands.ts';
import { type Surroundings, write, writeLine } from './streams.ts';
import { createStyle, type Style } from './style.ts';
import { type AskForTurn, createTurns } from './turn.ts';

/** Talks until the person leaves. Returns the exit code. */
export async function converse(
  surroundings: Surroundings,
  commandLine: CommandLine,
  connection: Connection,
): Promise<number> {
  const model = await chooseModel(connection.daemon, commandLine.model);
  const history = await readHistory(historyPath(surroundings.env));
  const editor = createLineEditor(surroundings, history);
  try {
    await new Conversation(surroundings, connection, { editor, model }).run();
    return 0;
  } finally {
    editor.close();
    await writeHistory(historyPath(surroundings.env), editor.history);
  }
}

/** The state of a conversation between its turns. */
class Conversation implements ConversationState {
  readonly #surroundings: Surroundings;
  readonly #connection: Connection;
  readonly #editor: LineEditor;
  readonly #style: Style;
  readonly #ask: AskForTurn;
  #messages: Message[] = [];
  model: string;
  think: ChatParams['think'];

  constructor(
    surroundings: Surroundings,
    connection: Connection,
    { editor, model }: { editor: LineEditor; model: string },
  ) {
    this.#surroundings = surroundings;
    this.#connection = connection;
    this.#editor = editor;
    this.#style = createStyle(!surroundings.env['NO_COLOR']);
    this.#ask = createTurns(connection.daemon);
    this.model = model;
  }

  async run(): Promise<void> {
    await this.#say(
      this.#style.dim(`Talking to ${showControls(this.model)}. /help lists the commands, Ctrl-D leaves.`),
    );
    for (;;) {
      const entry = await this.#editor.ask(this.#prompt());
      if (entry.kind === 'leave') return this.#say('');
      const text = entry.text.trim();
      if (text === '') continue;
      if (!text.startsWith('/') || text.startsWith('//')) {
        await this.#turn(text.startsWith('//') ? text.slice(1) : text);
        continue;
      }
      const { text: shown, leave } = await this.#slash(text);
      if (shown !== '') await this.#say(shown);
      if (leave) return;
    }
  }

  clear(): void {
    this.#messages = [];
  }

  async models() {
    const { models } = await this.#connection.daemon.request(listModelsRequest, {});
    return models.filter(canChat);
  }

  /** The practice runner is named at every turn. */
  #prompt(): string {
    const practice = this.#connection.isPractice ? this.#style.yellow('practice ') : '';
    return `${practice}${this.#style.cyan(`${showControls(this.model)} ›`)} `;
  }

  async #slash(text: string) {
    try {
      return await runSlashCommand(text, this);
    } catch (error) {
      return { text: this.#style.red(failureOf(error).message) };
    }
  }

  async #turn(prompt: string): Promise<void> {
    const { stdout } = this.#surroundings;
    const abort = new AbortController();
    const cancel = () => abort.abort();
    this.#editor.onInterrupt(cancel);
    const stopListening = this.#surroundings.onInterrupt(cancel);
    const printer = createAnswerPrinter(this.#style, stdout.columns ?? 80);
    const messages: readonly Message[] = [...this.#messages, { role: 'user', content: prompt }];
    const start = performance.now();
    await write(stdout, '\n');
    try {
      const params = {
        model: this.model,
        messages,
        ...(this.think === undefined ? {} : { think: this.think }),
      };
      const result = await this.#ask(params, (delta) => write(stdout, printer.delta(delta)), abort.signal);
      await write(stdout, printer.end());
      await this.#say(this.#style.dim(`${describeUsage(result, performance.now() - start)}\n`));
      this.#messages = [...messages, result.message];
    } catch (error) {
      const { message, partial } = failureOf(error);
      await write(stdout, printer.end());
      await this.#say(`${this.#style.red(message)}\n`);
      if (partial) this.#messages = [...messages, partial];
    } finally {
      stopListening();
    }
  }

  #say(text: string): Promise<void> {
    return writeLine(this.#surroundings.stdout, text);
  }
}
