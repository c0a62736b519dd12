import { setTimeout as waitFor } from 'node:timers/promises';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import type { ReadSessionResult } from '../../../protocol/messages/sessions.ts';
import type { CommandContext } from '../cli/command.ts';
import { TerminalError } from '../cli/failure.ts';
import { createInterrupts } from '../cli/signals.ts';
import { readAll, type Terminal } from '../cli/terminal.ts';
import { AnswerClock } from '../conversation/answerStats.ts';
import { type Approve, approveThrough } from '../conversation/approval.ts';
import {
  type ChatSettings,
  promptMessage,
  readChatSettings,
  settingsOfTurn,
} from '../conversation/chatSettings.ts';
import { withNearModels } from '../conversation/chooseModel.ts';
import { converse } from '../conversation/conversation.ts';
import { chooseModelOf, findSession } from '../conversation/keptConversation.ts';
import { createLineEditor } from '../conversation/lineEditor.ts';
import { chooseTools, type ToolChoice } from '../conversation/toolChoice.ts';
import { createTurns } from '../conversation/turn.ts';
import { noteWaiting } from '../conversation/waitingNote.ts';
import { type Connection, connectForChat } from '../daemon/connection.ts';
import { createAnswerOutput } from './answerOutput.ts';

/** A prompt from standard input may have this many bytes. */
const maxPrompt = 10 * 1024 * 1024;

/** A person at a terminal who gives no prompt gets a conversation; everybody else gets one answer. */
export async function chat(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const isInteractive = terminal.stdin.isTTY === true && terminal.stdout.isScreen && !commandLine.json;
  const isConversation = isInteractive && commandLine.words.length === 0;
  const settings = await readChatSettings(terminal.cwd, commandLine);
  const prompt = isConversation ? '' : await readPrompt(context);
  const connection = await connectForChat(context, {
    optionsFor: (toolServers) => chooseTools(context, toolServers).options,
    // Only a person at a terminal can be asked before a call.
    client: { approvesTools: isInteractive },
  });
  try {
    const tools = chooseTools(context, connection.daemon.toolServers);
    const session = await findSession(terminal, commandLine, connection.daemon);
    const parts = { connection, session, tools, settings };
    return await (isConversation ? converse(context, parts) : giveOneAnswer(context, { ...parts, prompt }));
  } finally {
    await connection.daemon.close();
  }
}

/**
 * The prompt: the words of the command line, then standard input if that is not a terminal.
 * @throws {TerminalError} if there is neither, or too much.
 */
async function readPrompt({ terminal, commandLine }: CommandContext): Promise<string> {
  const typed = commandLine.words.join(' ').trim();
  const piped = await readPiped(terminal);
  const prompt = [typed, piped].filter((part) => part !== '').join('\n\n');
  if (prompt !== '') return prompt;
  throw new TerminalError(
    'usage',
    'There is no prompt. Say it as an argument, or pipe it in: echo "why?" | runner chat',
  );
}

/**
 * Standard input if that is not a terminal.
 * @throws {TerminalError} if it is too long.
 */
export async function readPiped(terminal: Terminal): Promise<string> {
  // Only the end is trimmed, because the blanks before the first line may belong to code.
  return terminal.stdin.isTTY ? '' : (await readAll(terminal, maxPrompt)).trimEnd();
}

interface OneAnswer {
  readonly connection: Connection;
  readonly prompt: string;
  /** The conversation to continue. */
  readonly session: ReadSessionResult | undefined;
  readonly tools: ToolChoice;
  readonly settings: ChatSettings;
}

/** One answer, for scripts and for a question on the command line. Returns the exit code. */
async function giveOneAnswer(
  { terminal, commandLine }: CommandContext,
  { connection, prompt, session, tools, settings }: OneAnswer,
): Promise<number> {
  const { daemon } = connection;
  const interrupts = createInterrupts();
  const stopListening = terminal.onInterrupt(interrupts.press);
  const output = createAnswerOutput(terminal, commandLine);
  // A name is not looked up in the list: the runner itself knows whether it exists.
  const model = commandLine.model ?? (await chooseModelOf(terminal, daemon, session));
  const clock = new AnswerClock(terminal.now);
  const waiting = noteWaiting(terminal, terminal.stderr, { daemon, model });
  const take = async (delta: ChatDelta) => {
    clock.note(delta);
    await waiting.before(delta);
    await output.take(delta);
  };
  const ask = createTurns(() => daemon, approveOnce(terminal, interrupts.press));
  try {
    const turn = ask(
      withoutUndefined({
        model,
        ...settingsOfTurn(settings, [...(session?.messages ?? []), promptMessage(prompt, settings)]),
        session: session?.session.id,
        hostedTools: tools.wanted,
      }),
      { take, waiting },
      interrupts.signal,
    );
    const result = await interrupts.orForceQuit(turn);
    await waiting.end();
    await output.done(result, model, clock.stats(result));
    return result.finishReason === 'cancelled' ? 130 : 0;
  } catch (error) {
    await waiting.end();
    await output.failed();
    throw await withNearModels(daemon, model, error);
  } finally {
    stopListening();
  }
}

/** Once the terminal is read, everything that was typed before arrives within this time, in ms. */
const typedAheadWindow = 50;

/** Reads the terminal only during the question. What was typed before it, for the shell, does not answer it. */
function approveOnce(terminal: Terminal, onInterrupt: () => void): Approve {
  return async (question, signal) => {
    const editor = createLineEditor(terminal);
    editor.onInterrupt(onInterrupt);
    try {
      await waitFor(typedAheadWindow);
      // The call is on standard error, which may lead elsewhere.
      return await approveThrough(editor, terminal.stdout, terminal.stderr.isScreen)(question, signal);
    } finally {
      editor.close();
    }
  };
}
