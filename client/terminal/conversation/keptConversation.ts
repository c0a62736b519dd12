import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { count } from '../../../protocol/base/text.ts';
import {
  listSessionsRequest,
  type ReadSessionResult,
  readSessionRequest,
  type Session,
  type SessionMessage,
} from '../../../protocol/messages/sessions.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { failureOf, refusedParameter, TerminalError } from '../cli/failure.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { createAnswerPrinter } from '../screen/answerPrinter.ts';
import { localTime } from '../screen/modelDescription.ts';
import type { Output } from '../screen/output.ts';
import { describeCall } from '../screen/tools.ts';
import { chooseModel } from './chooseModel.ts';

/**
 * The conversation that the command line wants to continue; undefined if it names none.
 * @throws {TerminalError} of the kind `usage`, if there is no such conversation.
 */
export async function findSession(
  { cwd }: Terminal,
  commandLine: CommandLine,
  daemon: Daemon,
): Promise<ReadSessionResult | undefined> {
  if (commandLine.session !== undefined) return openSession(daemon, commandLine.session);
  if (!commandLine.continue) return undefined;
  const { sessions } = await daemon.request(listSessionsRequest, { cwd, limit: 1 });
  if (sessions[0]) return openSession(daemon, sessions[0].id);
  throw new TerminalError(
    'usage',
    'No conversation of this folder is kept. "runner sessions" lists those of all folders.',
  );
}

/** @throws {TerminalError} of the kind `usage`, as `readSession`. */
export function openSession(daemon: Daemon, id: string): Promise<ReadSessionResult> {
  return readSession(daemon, id, { open: true });
}

/**
 * The conversation with this id, or the only one whose id begins so, with or without the day.
 * @throws {TerminalError} of the kind `usage`, if there is none, or if there are several.
 */
export async function readSession(
  daemon: Daemon,
  text: string,
  options: { readonly open?: true } = {},
): Promise<ReadSessionResult> {
  const read = (id: string) => daemon.request(readSessionRequest, { id, ...options });
  try {
    return await read(text);
  } catch (error) {
    if (refusedParameter(error)?.path !== 'id') throw error;
    return read(await idOfBeginning(daemon, text));
  }
}

/** In characters. Less may be meant as the number of a row, and is not enough to delete by. */
const shortestBeginning = 3;

async function idOfBeginning(daemon: Daemon, text: string): Promise<string> {
  if (text.length < shortestBeginning)
    throw new TerminalError(
      'usage',
      `"${showLine(text)}" is too short for an id. Type at least ${shortestBeginning} characters of one; "runner sessions" lists them.`,
    );
  const sessions = await allSessions(daemon);
  const found = sessions.filter(({ id }) => id.startsWith(text) || id.split('-')[1]?.startsWith(text));
  if (found.length === 1 && found[0]) return found[0].id;
  const named = found.slice(0, 3).map(({ id }) => id);
  const problem =
    found.length === 0
      ? `There is no conversation "${showLine(text)}".`
      : `${found.length} conversations begin with "${showLine(text)}", such as ${named.join(', ')}. Type more of the id.`;
  throw new TerminalError('usage', `${problem} "runner sessions" lists them.`);
}

/** All conversations in which the words occur, newest first; without words, all. */
export async function allSessions(daemon: Daemon, query = ''): Promise<readonly Session[]> {
  const found: Session[] = [];
  let cursor: string | undefined;
  do {
    const params = { limit: 500, ...(query === '' ? {} : { query }), ...(cursor ? { cursor } : {}) };
    const { sessions, nextCursor } = await daemon.request(listSessionsRequest, params);
    found.push(...sessions);
    cursor = nextCursor;
  } while (cursor !== undefined);
  return found;
}

/** The model that answered last, if it is still installed; otherwise the one for a new conversation. */
export async function chooseModelOf(
  { stderr }: Terminal,
  daemon: Daemon,
  kept: ReadSessionResult | undefined,
): Promise<string> {
  const say = (sentence: string) => void stderr.writeText(sentence);
  try {
    return await chooseModel(daemon, kept?.session.model, say);
  } catch (error) {
    if (kept?.session.model === undefined || failureOf(error).kind !== 'model-not-found') throw error;
    return chooseModel(daemon, undefined, say);
  }
}

/** Such as `"Rivers", 3 turns, 2026-11-22 05:12`. */
export function describeSession(session: Session): string {
  return `"${titleOf(session)}", ${count(session.turns, 'turn')}, ${timeOf(session)}`;
}

export function titleOf({ title }: Session): string {
  return title === '' ? '(no title yet)' : showLine(title);
}

/** In the user's time zone. */
export function timeOf({ updatedAt }: Session): string {
  const time = new Date(updatedAt);
  return Number.isNaN(time.getTime()) ? showLine(updatedAt) : localTime(time).join(' ');
}

/** A message as a conversation shows it. */
export function showMessage({ style, columns }: Output, message: SessionMessage): string {
  const { role, content, thinking, toolCalls = [], partial } = message;
  if (role === 'user')
    return `${style.cyan('›')} ${style.bold(content.split('\n').map(showLine).join('\n  '))}\n\n`;
  if (role !== 'assistant') return `${style.dim(showLine(`${role}: ${content}`).slice(0, 200))}\n`;
  const printer = createAnswerPrinter(style, columns);
  const piece = (kind: 'text' | 'thinking', text: string) =>
    text === '' ? '' : printer.delta({ streamId: '', seq: 0, kind, text });
  const answer = piece('thinking', thinking ?? '') + piece('text', content) + printer.end();
  const calls = toolCalls.map((call) => `${style.cyan(describeCall(call))}\n`).join('');
  return `${answer}${calls}${partial ? style.dim(`${partial}\n`) : ''}\n`;
}

/** How many lines of a long turn's beginning are shown. */
const linesAtStart = 3;

/** The beginning and the end of a turn that is longer than the screen. `id` is that of its conversation. */
export function fitToScreen(
  text: string,
  { output, id }: { readonly output: Output; readonly id: string },
): string {
  const lines = text.split('\n');
  const room = Math.max(2 * linesAtStart, output.rows - linesAtStart);
  const left = lines.length - room;
  if (left <= 0) return text;
  const { style } = output;
  const note = `… ${count(left, 'line')}, which "runner sessions show ${id}" prints`;
  const reset = style.on ? '\u001b[0m' : '';
  const end = lines.slice(linesAtStart + left);
  return [...lines.slice(0, linesAtStart), reset + style.dim(note), ...end].join('\n');
}
