import { count, showLine } from '../../../protocol/base/text.ts';
import type { FilledPrompt } from '../../../protocol/messages/prompts.ts';
import type { ReadSessionResult } from '../../../protocol/messages/sessions.ts';
import { builtinServer } from '../../../protocol/messages/tools.ts';
import { promptCallIn } from '../../shared/words.ts';
import type { CommandContext } from '../cli/command.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { reportOf } from '../cli/failure.ts';
import { isYes } from '../cli/question.ts';
import { runInShell } from '../cli/systemPrograms.ts';
import { createInterrupts, ForceQuitError, type Interrupts, type Terminal } from '../cli/terminal.ts';
import type { TerminalConnection } from '../daemon/connection.ts';
import type { Output } from '../screen/output.ts';
import { type Along, askConsent, attachNamedFiles, describeAttached } from './attachments.ts';
import { type ChatSettings, docsServer, type ToolChoice } from './chatSettings.ts';
import { chooseModel, takesTools } from './chooseModel.ts';
import { appendHistory, formerHistoryPath, historyPath, readHistory } from './history.ts';
import { chooseModelOf, pickSession } from './keptConversation.ts';
import type { LineEditor } from './lineEditor.ts';
import { OpenConversation, type TypedPrompt } from './openConversation.ts';
import { openLineEditor } from './openLineEditor.ts';
import { commandNames, isCommand, isSlashCommand, runSlashCommand } from './slashCommands.ts';
import { completeLine } from './slashCompletion.ts';
import type { SlashAction, SlashResult } from './slashSettings.ts';
import { AnswerScreen } from './turn.ts';
import { usePrompt } from './usePrompt.ts';

export interface ConversationOptions {
  readonly connection: TerminalConnection;
  /** The conversation to continue. */
  readonly session: ReadSessionResult | undefined;
  readonly tools: ToolChoice;
  readonly settings: ChatSettings;
}

/** Talks until the person leaves. Returns the exit code. */
export async function converse(
  { terminal, commandLine, program: { copyText, editText } }: CommandContext,
  { connection, session, tools, settings }: ConversationOptions,
): Promise<number> {
  const { daemon } = connection;
  const named = commandLine.model;
  const model =
    named === undefined ? await chooseModelOf(terminal, daemon, session) : await chooseModel(daemon, named);
  const path = historyPath(terminal.env);
  const conversation = new OpenConversation(terminal, connection, {
    model,
    tools,
    settings,
    copyText,
    commands: commandNames,
  });
  const editor = openLineEditor(terminal, {
    history: readHistory(path, formerHistoryPath(terminal.env)),
    complete: (line) => completeLine(line, conversation),
    onDidEnter: (entry) => appendHistory(path, entry),
    ...(editText ? { editText } : {}),
  });
  try {
    if (session) await conversation.continue(session, commandLine.given);
    await new InputLoop(terminal, connection, { editor, conversation }).run();
  } catch (error) {
    if (!(error instanceof ForceQuitError)) throw error;
    await terminal.stdout.writeLine('');
  } finally {
    editor.close();
  }
  await sayHowToGoOn(terminal.stdout, { conversation, runner: runnerFlags(commandLine) });
  return 0;
}

/** A conversation without a prompt is not kept. */
async function sayHowToGoOn(
  stdout: Output,
  { conversation, runner }: { readonly conversation: OpenConversation; readonly runner: string },
): Promise<void> {
  const { session } = conversation;
  if (!session?.turns || session.kept === false) return;
  const command = `runner chat${runner}`;
  await stdout.writeAside(
    `"${command} --continue" continues this conversation; "${command} --session ${session.id}" at any time.`,
  );
}

/** The flags that named the runner. */
function runnerFlags({ practice, server }: CommandLine): string {
  if (practice) return ' --practice';
  return server === undefined ? '' : ` --server ${showLine(server)}`;
}

/** Reads what is typed until the end, and makes slash commands or turns of it. */
class InputLoop {
  readonly #terminal: Terminal;
  readonly #connection: TerminalConnection;
  readonly #editor: LineEditor;
  readonly #conversation: OpenConversation;
  readonly #answers: AnswerScreen;

  constructor(
    terminal: Terminal,
    connection: TerminalConnection,
    parts: { readonly editor: LineEditor; readonly conversation: OpenConversation },
  ) {
    this.#terminal = terminal;
    this.#connection = connection;
    this.#editor = parts.editor;
    this.#conversation = parts.conversation;
    this.#answers = new AnswerScreen(terminal, connection, parts);
  }

  async run(): Promise<void> {
    const about = await this.#aboutTools();
    const greeting = `Talking to ${showLine(this.#conversation.model)}.${about} /help lists the commands, Ctrl-D leaves.`;
    await this.#terminal.stdout.writeAside(greeting);
    for (;;) {
      const entry = await this.#editor.ask(this.#prompt());
      if (entry.kind === 'leave') return this.#say('');
      const text = entry.text.trim();
      if (text === '') continue;
      const leave = await this.#underInterrupts((interrupts) => this.#take(text, interrupts));
      if (leave) return;
    }
  }

  /** A command, a prompt that is kept under a name, or what the model is asked. Returns whether to leave. */
  async #take(text: string, interrupts: Interrupts): Promise<boolean> {
    if (text.startsWith('!!')) return this.#turn(asTyped(text.slice(1), text), interrupts);
    if (text.startsWith('!')) return this.#runCommand(text.slice(1).trim());
    if (text.startsWith('//')) return this.#turn(asTyped(text.slice(1), text), interrupts);
    if (isCommand(text)) return this.#slash(text, interrupts);
    const found = await this.#findPrompt(text, interrupts.signal);
    if (found === undefined) return false;
    const typed = promptCallIn(text)?.text ?? '';
    if (found !== 'none') return this.#turn({ ...found, typed, entry: text }, interrupts);
    return isSlashCommand(text) ? this.#slash(text, interrupts) : this.#turn(asTyped(text), interrupts);
  }

  /** The user runs it, and no model has a say in it. */
  async #runCommand(command: string): Promise<false> {
    const { stdout } = this.#terminal;
    if (command === '') {
      await this.#say('Say which command to run in your shell, such as !git status.');
      return false;
    }
    let last = '\n';
    const show = (piece: string) => {
      last = piece;
      stdout.stream.write(piece);
    };
    try {
      const result = await this.#editor.standAside(() => runInShell(command, this.#terminal, show));
      // The terminal shows a Ctrl-C.
      if (!last.endsWith('\n') || result.ended.startsWith('ended by')) await stdout.write('\n');
      await stdout.writeAside(this.#conversation.attachOutput(command, result));
    } catch (error) {
      await this.#say(stdout.style.red(reportOf(error, this.#terminal).message));
    }
    return false;
  }

  /** Undefined if nothing is to be sent. */
  async #findPrompt(text: string, signal: AbortSignal): Promise<FilledPrompt | 'none' | undefined> {
    const call = promptCallIn(text);
    if (!call) return 'none';
    const { stdout, cwd } = this.#terminal;
    const { daemon } = this.#connection;
    try {
      return await usePrompt(call, { daemon, cwd, editor: this.#editor, stdout, signal });
    } catch (error) {
      if (!signal.aborted) await this.#say(stdout.style.red(reportOf(error, this.#terminal).message));
      return undefined;
    }
  }

  /** Which tools can be called, and that Runner's own pages could be read. */
  async #aboutTools(): Promise<string> {
    const { knownTools, tools } = this.#conversation;
    if (knownTools.length > 0 && !(await takesTools(this.#connection.daemon, this.#conversation.model)))
      return tools.size === 0 ? '' : ' It takes no tools.';
    const on = this.#conversation.toolServers();
    const docs =
      knownTools.includes(docsServer) && !tools.has(docsServer)
        ? ' "/tools docs on" lets it read the pages of Runner.'
        : '';
    return on.length === 0 ? docs : ` It can use the tools of ${on.map(showLine).join(', ')}.${docs}`;
  }

  /** The practice runner is named at every turn. */
  #prompt(): string {
    const { style } = this.#terminal.stdout;
    const practice = this.#connection.isPractice ? style.yellow('practice ') : '';
    const { mode = 'ask' } = this.#conversation.settings;
    const isWide = mode !== 'ask' && this.#conversation.tools.has(builtinServer);
    return `${practice}${isWide ? style.yellow(`${mode} `) : ''}${style.cyan(`${showLine(this.#conversation.model)} ›`)} `;
  }

  /** Ctrl-C comes from the editor, or as a signal if the editor is closed. */
  async #underInterrupts<T>(work: (interrupts: Interrupts) => Promise<T>): Promise<T> {
    const interrupts = createInterrupts();
    this.#editor.onInterrupt(interrupts.press);
    const stopListening = this.#terminal.onInterrupt(interrupts.press);
    try {
      return await interrupts.orForceQuit(work(interrupts));
    } finally {
      stopListening();
    }
  }

  /** Returns whether to leave. */
  async #slash(text: string, interrupts: Interrupts): Promise<boolean> {
    try {
      return await this.#follow(await runSlashCommand(text, this.#conversation), interrupts);
    } catch (error) {
      await this.#say(this.#terminal.stdout.style.red(reportOf(error, this.#terminal).message));
      return false;
    }
  }

  /** Shows what came of a command, and does what it asks for. */
  async #follow(result: SlashResult, interrupts: Interrupts): Promise<boolean> {
    const action: SlashAction = typeof result === 'string' ? { text: result } : result;
    const { text: shown = '', leave = false, again, edit, choose, confirm } = action;
    if (shown !== '') await this.#say(shown);
    if (edit) this.#editor.prefill(edit);
    if (choose !== undefined) await this.#choose(choose);
    if (confirm) return this.#follow(await this.#answerOf(confirm, interrupts.signal), interrupts);
    if (again) await this.#askAgain(interrupts);
    return leave;
  }

  async #choose(query: string): Promise<void> {
    const { daemon } = this.#connection;
    if (!this.#terminal.stderr.isRedrawable)
      return this.#say(
        'This terminal cannot show a list to choose from. "/sessions" lists them with numbers.',
      );
    const chosen = await this.#editor.standAside(() => pickSession(this.#terminal, daemon, query));
    if (chosen) await this.#conversation.change(chosen.id);
  }

  async #answerOf(
    { question, yes, others = new Map(), no }: NonNullable<SlashAction['confirm']>,
    signal: AbortSignal,
  ): Promise<SlashResult> {
    const word = (await this.#editor.question(question, signal))?.trim().toLowerCase() ?? '';
    if (isYes(word)) return yes();
    const other = [...others].find(([name]) => word === name || word === name.charAt(0));
    return other ? other[1]() : no;
  }

  async #askAgain(interrupts: Interrupts): Promise<void> {
    const end = await this.#answers.show(await this.#conversation.beginAgain(), interrupts);
    if (!end.isWhole && !interrupts.isForced)
      await this.#terminal.stdout.writeAside('The conversation goes on with the earlier answer.\n');
  }

  async #turn(prompt: TypedPrompt, interrupts: Interrupts): Promise<boolean> {
    const along = await this.#attachNamed(prompt, interrupts.signal);
    if (!along) return false;
    const turn = await this.#conversation.begin(prompt, along);
    const end = await this.#answers.show(turn.params, interrupts);
    turn.end(end);
    const isMore = end.roundsUsed !== undefined && (await this.#goesOn(end.roundsUsed, interrupts.signal));
    return isMore ? this.#turn(asTyped('Go on.'), interrupts) : false;
  }

  /** The rounds of tools are used up. */
  async #goesOn(rounds: number, signal: AbortSignal): Promise<boolean> {
    const question = `${count(rounds, 'round')} of tools ${rounds === 1 ? 'is' : 'are'} used. Go on for ${rounds} more? [y/N] `;
    return isYes((await this.#editor.question(question, signal)) ?? '');
  }

  /** What the prompt names; undefined if it is not to be sent. */
  async #attachNamed({ typed, ...prompt }: TypedPrompt, signal: AbortSignal): Promise<Along | undefined> {
    const { stdout } = this.#terminal;
    const { cwd, model: usual } = this.#conversation;
    const { model = usual } = prompt;
    try {
      const along = await attachNamedFiles(typed, {
        daemon: this.#connection.daemon,
        cwd,
        signal,
        agrees: (consent) =>
          askConsent(consent, model, (question) => this.#editor.question(question, signal)),
        attached: (...found) => stdout.writeAside(describeAttached(...found)),
        note: (sentence) => stdout.writeAside(showLine(sentence)),
      });
      return signal.aborted ? undefined : along;
    } catch (error) {
      if (!signal.aborted) await this.#say(`${stdout.style.red(reportOf(error, this.#terminal).message)}\n`);
      return undefined;
    }
  }

  #say(text: string): Promise<void> {
    return this.#terminal.stdout.writeText(text);
  }
}

function asTyped(text: string, entry = text): TypedPrompt {
  return { text, typed: text, entry };
}
