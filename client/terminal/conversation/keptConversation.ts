import { count, showLine } from '../../../protocol/base/text.ts';
import {
  forkSessionRequest,
  listSessionsRequest,
  type ReadSessionResult,
  readSessionRequest,
  type Session,
  type SessionMessage,
} from '../../../protocol/messages/sessions.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { failureOf, refusedParameter, usageError } from '../cli/failure.ts';
import { pick } from '../cli/picker.ts';
import { canAsk, shortPath, type Terminal } from '../cli/terminal.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { createAnswerPrinter } from '../screen/answerPrinter.ts';
import { formatTable } from '../screen/columns.ts';
import { timeWords } from '../screen/modelDescription.ts';
import { createStyle, type Output } from '../screen/output.ts';
import { describeCall } from '../screen/tools.ts';
import { chooseModel } from './chooseModel.ts';

/**
 * The conversation that the command line wants to continue; undefined if it names none, and `none` if the user could
 * choose and did not.
 * @throws {TerminalError} of the kind `usage`, if there is no such conversation.
 */
export async function findSession(
  terminal: Terminal,
  commandLine: CommandLine,
  daemon: DaemonClient,
): Promise<ReadSessionResult | 'none' | undefined> {
  const { cwd } = terminal;
  if (commandLine.session !== undefined) return openSession(daemon, commandLine.session);
  if (commandLine.fork !== undefined) return forkSession(daemon, commandLine.fork);
  if (commandLine.resume) return resumeSession(terminal, commandLine, daemon);
  if (!commandLine.continue) return undefined;
  const { sessions } = await daemon.request(listSessionsRequest, { cwd, limit: 1 });
  if (sessions[0]) return openSession(daemon, sessions[0].id);
  throw usageError('No conversation of this folder is kept. "runner sessions" lists those of all folders.');
}

/** A new conversation with what was said in this one. */
async function forkSession(daemon: DaemonClient, id: string): Promise<ReadSessionResult> {
  const { session } = await readSession(daemon, id);
  return daemon.request(forkSessionRequest, { id: session.id });
}

/** Whether a list can be shown in which the user chooses. */
export function canChoose(terminal: Terminal, json: boolean): boolean {
  return !json && canAsk(terminal) && terminal.stderr.isRedrawable;
}

/** The conversation that the user chooses; `none` if they leave. */
async function resumeSession(
  terminal: Terminal,
  { json }: CommandLine,
  daemon: DaemonClient,
): Promise<ReadSessionResult | 'none'> {
  const { stdout } = terminal;
  if (canChoose(terminal, json)) {
    const chosen = await pickSession(terminal, daemon);
    return chosen ? openSession(daemon, chosen.id) : 'none';
  }
  const sessions = await allSessions(daemon);
  if (json) for (const session of sessions) await stdout.writeJson(session);
  else if (sessions.length > 0) await stdout.write(sessionsTable(sessions, terminal));
  throw usageError(
    sessions.length === 0
      ? 'No conversation is kept yet.'
      : '"--resume" lets you choose at a terminal. Elsewhere, name one: runner chat --session ID "…"',
  );
}

/** @throws {TerminalError} of the kind `usage`, as `readSession`. */
export function openSession(daemon: DaemonClient, id: string): Promise<ReadSessionResult> {
  return readSession(daemon, id, { open: true });
}

/**
 * The conversation with this id, or the only one whose id begins so, with or without the day.
 * @throws {TerminalError} of the kind `usage`, if there is none, or if there are several.
 */
export async function readSession(
  daemon: DaemonClient,
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

async function idOfBeginning(daemon: DaemonClient, text: string): Promise<string> {
  if (text.length < shortestBeginning)
    throw usageError(
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
  throw usageError(`${problem} "runner sessions" lists them.`);
}

/** All conversations in which the words occur, newest first; without words, all. */
export async function allSessions(daemon: DaemonClient, query = ''): Promise<readonly Session[]> {
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
  daemon: DaemonClient,
  kept: ReadSessionResult | undefined,
): Promise<string> {
  const say = (sentence: string) => stderr.writeText(sentence);
  try {
    return await chooseModel(daemon, kept?.session.model, say);
  } catch (error) {
    if (kept?.session.model === undefined || failureOf(error).kind !== 'model-not-found') throw error;
    return chooseModel(daemon, undefined, say);
  }
}

/** Such as `"Rivers", 3 turns, 2026-11-22 05:12`. */
export function describeSession(session: Session): string {
  return `"${titleOf(session)}", ${count(session.turns, 'turn')}, ${timeWords(session.updatedAt)}`;
}

export function titleOf({ title }: Session): string {
  return title === '' ? '(no title yet)' : showLine(title);
}

/** On fewer columns, ids leave out their day, so that titles and folders can be read. */
const columnsForDays = 70;

/** A row for each, under titles. */
export function sessionsTable(sessions: readonly Session[], terminal: Terminal): string {
  const look = terminal.stdout;
  const columns = ['ID', 'LAST', 'TURNS', 'TITLE', 'FOLDER'].map((title) => ({
    title,
    isFlexible: title === 'TITLE' || title === 'FOLDER',
  }));
  const hasDays = look.width >= columnsForDays;
  const rows = sessions.map((session) => [
    hasDays ? session.id : session.id.replace(/^\d+-/, ''),
    timeWords(session.updatedAt),
    String(session.turns),
    titleOf(session),
    shortPath(terminal, session.cwd ?? ''),
  ]);
  return formatTable(columns, rows, look);
}

/** Lets the user choose one of all kept conversations by their words. Undefined if they leave. */
export function pickSession(
  terminal: Terminal,
  daemon: DaemonClient,
  query = '',
): Promise<Session | undefined> {
  const columns = [true, false, false, true].map((isFlexible) => ({ title: '', isFlexible }));
  return pick(terminal, {
    title: 'Which conversation?',
    query,
    search: async (words, signal) => {
      const params = { query: words.slice(0, maxQuery), limit: maxPicked };
      return (await daemon.request(listSessionsRequest, params, signal)).sessions;
    },
    rows(sessions, width) {
      const cells = sessions.map((session) => [
        titleOf(session),
        count(session.turns, 'turn'),
        timeWords(session.updatedAt),
        shortPath(terminal, session.cwd ?? ''),
      ]);
      const look = { style: createStyle(false), width };
      return formatTable(columns, cells, look).split('\n').slice(1, -1);
    },
  });
}

/** The longest query that the daemon takes, in characters. */
const maxQuery = 200;
/** How many conversations can be chosen from. A search finds those that are older. */
const maxPicked = 200;

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
