import { setTimeout as waitFor } from 'node:timers/promises';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { ReadSessionResult } from '../../../protocol/messages/sessions.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { TerminalError } from '../cli/failure.ts';
import { readAll, type Surroundings } from '../cli/streams.ts';
import { AnswerClock } from '../conversation/answerStats.ts';
import { type Approve, approveThrough } from '../conversation/approval.ts';
import { type ChatSettings, promptMessage, settingsOfTurn } from '../conversation/chatSettings.ts';
import { withNearModels } from '../conversation/chooseModel.ts';
import { createInterrupts } from '../conversation/interrupts.ts';
import { chooseModelOf } from '../conversation/keptConversation.ts';
import { createLineEditor } from '../conversation/lineEditor.ts';
import type { ToolChoice } from '../conversation/toolChoice.ts';
import { createTurns, type TakeDelta } from '../conversation/turn.ts';
import type { Connection } from '../daemon/connection.ts';
import { createAnswerOutput } from '../screen/answerOutput.ts';
import { noteWaiting } from '../screen/waitingNote.ts';

/** A prompt from standard input may have this many bytes. */
const maxPrompt = 10 * 1024 * 1024;

/**
 * The prompt from the command line and from standard input where that is no terminal: first the one, then the other.
 * @throws {TerminalError} when there is neither, or too much.
 */
export async function readPrompt(surroundings: Surroundings, { words }: CommandLine): Promise<string> {
  const typed = words.join(' ').trim();
  const piped = await readPiped(surroundings);
  const prompt = [typed, piped].filter((part) => part !== '').join('\n\n');
  if (prompt !== '') return prompt;
  throw new TerminalError(
    'usage',
    'There is no prompt. Say it as an argument, or pipe it in: echo "why?" | runner chat',
  );
}

/**
 * Standard input where that is no terminal.
 * @throws {TerminalError} when it is too much.
 */
export async function readPiped({ stdin }: Surroundings): Promise<string> {
  // Only its end is trimmed: the blanks before the first line may be the code's own.
  return stdin.isTTY ? '' : (await readAll(stdin, maxPrompt)).trimEnd();
}

export interface OneAnswer {
  readonly commandLine: CommandLine;
  readonly connection: Connection;
  readonly prompt: string;
  /** The conversation that goes on with it. */
  readonly kept: ReadSessionResult | undefined;
  readonly tools: ToolChoice;
  readonly settings: ChatSettings;
}

/** One answer, for scripts and for a question on the command line. Returns the exit code. */
export async function giveOneAnswer(
  surroundings: Surroundings,
  { commandLine, connection, prompt, kept, tools, settings }: OneAnswer,
): Promise<number> {
  const { daemon } = connection;
  const interrupts = createInterrupts();
  const stopListening = surroundings.onInterrupt(interrupts.press);
  const output = createAnswerOutput(surroundings, commandLine);
  // A name needs no list: the runner itself knows whether it is one.
  const model = commandLine.model ?? (await chooseModelOf(surroundings, daemon, kept));
  const clock = new AnswerClock(surroundings.now);
  const waiting = noteWaiting(surroundings, surroundings.stderr, { daemon, model });
  const take: TakeDelta = async (delta) => {
    clock.note(delta);
    await waiting.before(delta);
    await output.take(delta);
  };
  const ask = createTurns(() => daemon, approveNow(surroundings, interrupts.press));
  try {
    const turn = ask(
      withoutUndefined({
        model,
        ...settingsOfTurn(settings, [...(kept?.messages ?? []), promptMessage(prompt, settings)]),
        session: kept?.session.id,
        hostedTools: tools.wanted,
      }),
      take,
      interrupts.signal,
    );
    const result = await interrupts.orInsisted(turn);
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

/** What was typed for the shell meanwhile comes within this time, in ms, once the terminal is read. */
const typedAheadWindow = 50;

/** The terminal is read for the question alone; what was typed before it is no answer. */
function approveNow(surroundings: Surroundings, onInterrupt: () => void): Approve {
  return async (question, signal) => {
    const { stdout, stderr } = surroundings;
    const editor = createLineEditor(surroundings);
    editor.onInterrupt(onInterrupt);
    try {
      await waitFor(typedAheadWindow);
      // The call is told on standard error, which may go elsewhere.
      return await approveThrough(editor, stdout, stderr.isTTY === true)(question, signal);
    } finally {
      editor.close();
    }
  };
}
