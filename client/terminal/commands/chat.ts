import { setTimeout as waitFor } from 'node:timers/promises';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { showLine } from '../../../protocol/base/text.ts';
import type { ChatDelta, ChatResult, NoticeCode } from '../../../protocol/messages/chat.ts';
import { type FilledPrompt, getPromptRequest } from '../../../protocol/messages/prompts.ts';
import { builtinServer } from '../../../protocol/messages/tools.ts';
import { promptCallIn } from '../../shared/words.ts';
import type { CommandContext } from '../cli/command.ts';
import { refusedParameter, usageError } from '../cli/failure.ts';
import { askLine } from '../cli/question.ts';
import { canAsk, createInterrupts, type Interrupts, readAll, type Terminal } from '../cli/terminal.ts';
import { AnswerClock } from '../conversation/answerStats.ts';
import {
  type Along,
  askConsent,
  attachNamedFiles,
  consentNeeded,
  describeAttached,
} from '../conversation/attachments.ts';
import {
  chooseTools,
  promptMessage,
  readChatSettings,
  restoredSettings,
  restoredTools,
  settingsOfTurn,
  withAlong,
} from '../conversation/chatSettings.ts';
import { withNearModels } from '../conversation/chooseModel.ts';
import { type ConversationOptions, converse } from '../conversation/conversation.ts';
import { canChoose, chooseModelOf, findSession } from '../conversation/keptConversation.ts';
import type { LineEditor } from '../conversation/lineEditor.ts';
import { openLineEditor } from '../conversation/openLineEditor.ts';
import { type Approve, approveThrough, type Elicit, elicitThrough } from '../conversation/questions.ts';
import { createTurns } from '../conversation/turn.ts';
import { noteWaiting } from '../conversation/waitingNote.ts';
import { connectForChat } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { createAnswerOutput, stoppedBy } from './answerOutput.ts';

/** A prompt from standard input may have this many bytes. */
const maxPrompt = 10 * 1024 * 1024;

/** A person at a terminal who gives no prompt gets a conversation; everybody else gets one answer. */
export async function chat(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const isInteractive = terminal.stdin.isTTY === true && terminal.stdout.isScreen && !commandLine.json;
  const isConversation = isInteractive && commandLine.words.length === 0;
  const settings = await readChatSettings(terminal.cwd, commandLine);
  const onlyLists = commandLine.resume && !canChoose(terminal, commandLine.json);
  const prompt = isConversation || onlyLists ? nothingAsked : await readPrompt(context);
  const connection = await connectForChat(context, {
    optionsFor: (toolServers) => chooseTools(context, toolServers).options,
    // Only a person at a terminal can be asked.
    client: { approvesTools: isInteractive, elicits: isInteractive, decisions: ['answer', 'stop'] },
  });
  try {
    const tools = chooseTools(context, connection.daemon.toolServers);
    const session = await findSession(terminal, commandLine, connection.daemon);
    if (session === 'none') return 0;
    const parts = { connection, session, tools, settings };
    return await (isConversation ? converse(context, parts) : giveOneAnswer(context, { ...parts, prompt }));
  } finally {
    await connection.daemon.close();
  }
}

/** A chat with the built-in tools, beside those of the servers that the flag names. */
export function chatAsAgent(context: CommandContext): Promise<number> {
  const { commandLine } = context;
  const tools = [builtinServer, commandLine.tools].filter((named) => named !== undefined).join(',');
  return chat({ ...context, commandLine: { ...commandLine, tools } });
}

interface ReadPrompt {
  /** The words of the command line. They may name files. */
  readonly typed: string;
  /** With what came on standard input. */
  readonly whole: string;
}

const nothingAsked: ReadPrompt = { typed: '', whole: '' };

/**
 * The prompt: the words of the command line, then standard input if that is not a terminal.
 * @throws {TerminalError} if there is neither, or too much.
 */
async function readPrompt({ terminal, commandLine }: CommandContext): Promise<ReadPrompt> {
  const typed = commandLine.words.join(' ').trim();
  const piped = await readPiped(terminal);
  const whole = [typed, piped].filter((part) => part !== '').join('\n\n');
  if (whole !== '') return { typed, whole };
  throw usageError(
    `There is no prompt. Say it as an argument, or pipe it in: echo "why?" | runner ${commandLine.command}`,
  );
}

/**
 * Standard input if that is not a terminal.
 * @throws {TerminalError} if it is too long, or no text.
 */
export async function readPiped(terminal: Terminal): Promise<string> {
  // Only the end is trimmed, because the blanks before the first line may belong to code.
  const text = terminal.stdin.isTTY ? '' : (await readAll(terminal, maxPrompt)).trimEnd();
  if (text.includes('\0')) throw usageError('Standard input is no text.');
  return text;
}

/** One answer, for scripts and for a question on the command line. Returns the exit code. */
async function giveOneAnswer(
  context: CommandContext,
  {
    connection,
    prompt: typed,
    session,
    tools,
    settings: own,
  }: ConversationOptions & { readonly prompt: ReadPrompt },
): Promise<number> {
  const { terminal, commandLine } = context;
  const { daemon } = connection;
  const prompt = await filledPrompt(context, daemon, typed);
  const interrupts = createInterrupts();
  const stopListening = terminal.onInterrupt(interrupts.press);
  const output = createAnswerOutput(terminal, commandLine);
  // A name is not looked up in the list: the runner itself knows whether it exists.
  const model = commandLine.model ?? prompt.model ?? (await chooseModelOf(terminal, daemon, session));
  const clock = new AnswerClock(terminal.now);
  const waiting = noteWaiting(terminal, terminal.stderr, { daemon, model });
  const settings = session ? { ...own, ...restoredSettings(own, session, commandLine.given) } : own;
  const going = session && ({ session: session.session.id, history: 'kept' } as const);
  const kept = restoredTools(session?.settings?.hostedTools, tools);
  const hostedTools = tools.wanted ?? prompt.tools ?? (kept.names.length > 0 ? kept.names : undefined);
  if (kept.gone !== '' && !tools.wanted) await terminal.stderr.writeText(kept.gone);
  const take = async (delta: ChatDelta) => {
    clock.note(delta);
    await waiting.before(delta);
    await output.take(delta);
  };
  const ask = createTurns(() => daemon, askOnce(terminal, interrupts.press));
  try {
    const named = attachOnce(context, prompt.typed, { daemon, model, interrupts });
    const along = await interrupts.orForceQuit(named);
    if (!along) return 130;
    const message = promptMessage(prompt.whole, withAlong(settings, along));
    const turn = ask(
      withoutUndefined({
        model,
        ...settingsOfTurn(going ? { ...settings, system: settings.system ?? '' } : settings, [message]),
        ...going,
        hostedTools,
      }),
      { take, waiting },
      interrupts.signal,
    );
    const result = await interrupts.orForceQuit(turn);
    await waiting.end();
    await output.done(result, model, clock.stats(result));
    if (result.finishReason === 'cancelled') return 130;
    return isWhole(result) ? 0 : 1;
  } catch (error) {
    await waiting.end();
    await output.failed();
    throw await withNearModels(daemon, model, schemaRefused(error, commandLine.format));
  } finally {
    stopListening();
  }
}

/**
 * A prompt that is kept under a name, if the command line begins with one: `/name` and its arguments. It may choose the
 * model and the tools.
 * @throws {TerminalError} of the kind `usage`, if it cannot be used as it was called.
 */
async function filledPrompt(
  { terminal: { cwd } }: CommandContext,
  daemon: DaemonClient,
  prompt: ReadPrompt,
): Promise<ReadPrompt & Partial<Pick<FilledPrompt, 'model' | 'tools'>>> {
  const { typed, whole } = prompt;
  const call = promptCallIn(typed);
  if (!call) return prompt;
  const found = await daemon.request(getPromptRequest, { cwd, ...call });
  if (found.kind === 'none') return prompt;
  if (found.kind !== 'prompt') throw usageError(showLine(found.message));
  const { model, tools } = found;
  return withoutUndefined({ typed: call.text, whole: found.text + whole.slice(typed.length), model, tools });
}

/** Notices about an answer that a script cannot use. */
const useless: ReadonlySet<NoticeCode> = new Set([
  'answer-empty',
  'answer-lost',
  'answer-loops',
  'format-not-held',
]);

function isWhole({ finishReason, notices }: ChatResult): boolean {
  return !stoppedBy({ finishReason }) && !notices.some(({ code }) => useless.has(code));
}

/** The daemon found that the file is no schema. */
function schemaRefused(error: unknown, file = ''): unknown {
  const refused = refusedParameter(error);
  if (refused?.path !== 'format') return error;
  return usageError(`${showLine(file)} is no JSON Schema: ${showLine(refused.problem)}.`);
}

/**
 * What the words of the command line name; undefined after an interrupt. Standard input is not searched: others may
 * have written it.
 */
async function attachOnce(
  { terminal, commandLine: { json, yes } }: CommandContext,
  text: string,
  { daemon, model, interrupts }: { daemon: DaemonClient; model: string; interrupts: Interrupts },
): Promise<Along | undefined> {
  const { stdout, stderr, cwd } = terminal;
  const { signal, press } = interrupts;
  const ask = async (question: string) => {
    const answer = await askLine(terminal, question);
    if (answer === undefined) press();
    return answer;
  };
  try {
    const along = await attachNamedFiles(text, {
      daemon,
      cwd,
      signal,
      async agrees(consent) {
        if (yes) return true;
        if (json || !canAsk(terminal)) throw consentNeeded(consent);
        return askConsent(consent, model, ask);
      },
      async attached(word, files) {
        if (!json) return stderr.writeAside(describeAttached(word, files));
        for (const { path, bytes, tokens } of files)
          await stdout.writeJson({ event: 'attached', path, bytes, tokens });
      },
      note: (sentence) => stderr.writeAside(showLine(sentence)),
    });
    return signal.aborted ? undefined : along;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Once the terminal is read, everything that was typed before arrives within this time, in ms. */
const typedAheadWindow = 50;

/** Reads the terminal only during the question. What was typed before it, for the shell, does not answer it. */
function askOnce(
  terminal: Terminal,
  onInterrupt: () => void,
): { readonly approve: Approve; readonly elicit: Elicit } {
  const { stdout, stderr } = terminal;
  const during = async <T>(ask: (editor: LineEditor) => Promise<T>): Promise<T> => {
    const editor = openLineEditor(terminal);
    editor.onInterrupt(onInterrupt);
    try {
      await waitFor(typedAheadWindow);
      return await ask(editor);
    } finally {
      editor.close();
    }
  };
  return {
    // The call is on standard error, which may lead elsewhere.
    approve: (...asked) =>
      during((editor) => approveThrough(editor, stdout, { isCallShown: stderr.isScreen })(...asked)),
    elicit: (...asked) => during((editor) => elicitThrough(editor, stdout)(...asked)),
  };
}
