import {
  deleteSessionRequest,
  listSessionsRequest,
  readSessionRequest,
  type Session,
  type SessionMessage,
} from '../../../protocol/messages/sessions.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { TerminalError } from '../cli/failure.ts';
import { type Surroundings, write, writeLine } from '../cli/streams.ts';
import { askYesNo } from '../conversation/askYesNo.ts';
import { orUnknown, timeOf, titleOf } from '../conversation/keptConversation.ts';
import { describeCall } from '../conversation/toolLines.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { createAnswerPrinter } from '../screen/answerPrinter.ts';
import { createControlFilter, showLine } from '../screen/controlCharacters.ts';
import { styleFor } from '../screen/style.ts';
import { formatTable, lookOf } from '../screen/table.ts';
import { sessionToMarkdown } from './sessionMarkdown.ts';

/** What stands behind `runner sessions` where it is no query. */
export const sessionWords: readonly string[] = ['show', 'rm'];

/** Lists the conversations that are kept, prints one, or deletes. */
export async function runSessions(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const [word, id = '', ...rest] = commandLine.words;
  if (rest.length > 0 && (word === 'show' || word === 'rm'))
    throw new TerminalError(
      'usage',
      `"runner sessions ${word}" takes one id; there is "${rest.join(' ')}" too.`,
    );
  // An old runner, or none, has nothing to do with what is on the disk.
  return withDaemon(surroundings, { commandLine }, (daemon) => {
    if (word === 'show') return show(surroundings, commandLine, { daemon, id });
    if (word === 'rm') return remove(surroundings, commandLine, { daemon, id });
    return list(surroundings, commandLine, daemon);
  });
}

interface Named {
  readonly daemon: Daemon;
  readonly id: string;
}

async function list(
  { stdout, stderr, env }: Surroundings,
  { words, json }: CommandLine,
  daemon: Daemon,
): Promise<number> {
  const query = words.join(' ').trim();
  const sessions = await allSessions(daemon, query);
  if (json) for (const session of sessions) await writeLine(stdout, JSON.stringify(session));
  else if (sessions.length > 0) {
    const columns = ['ID', 'LAST', 'TURNS', 'TITLE', 'FOLDER'].map((title) => ({
      title,
      isFlexible: title === 'TITLE' || title === 'FOLDER',
    }));
    const rows = sessions.map((session) => rowOf(session, env['HOME']));
    await write(stdout, formatTable(columns, rows, lookOf(stdout, env)));
  } else
    await writeLine(
      stderr,
      query === '' ? 'No conversation is kept yet.' : `No conversation has "${showLine(query)}".`,
    );
  return 0;
}

async function allSessions(daemon: Daemon, query: string): Promise<readonly Session[]> {
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

function rowOf(session: Session, home = ''): readonly string[] {
  const { id, turns, cwd = '' } = session;
  const isAtHome = home !== '' && (cwd === home || cwd.startsWith(`${home}/`));
  const folder = isAtHome ? `~${cwd.slice(home.length)}` : cwd;
  return [id, timeOf(session), String(turns), titleOf(session), showLine(folder)];
}

async function show(
  surroundings: Surroundings,
  { markdown, raw, json }: CommandLine,
  { daemon, id }: Named,
): Promise<number> {
  const { stdout } = surroundings;
  if (id === '') throw new TerminalError('usage', 'Say which conversation: runner sessions show ID');
  const { session, messages } = await orUnknown(id, daemon.request(readSessionRequest, { id }));
  if (json) for (const row of [session, ...messages]) await writeLine(stdout, JSON.stringify(row));
  else if (markdown) await write(stdout, shownDocument(sessionToMarkdown(session, messages), raw));
  else for (const message of messages) await write(stdout, shownMessage(surroundings, message));
  return 0;
}

function shownDocument(text: string, raw: boolean): string {
  if (raw) return text;
  const filter = createControlFilter();
  return filter.write(text) + filter.end();
}

/** A message as a conversation shows it. */
export function shownMessage({ stdout, env, coloursFor }: Surroundings, message: SessionMessage): string {
  const style = styleFor(stdout, env);
  const { role, content, thinking, toolCalls = [], partial } = message;
  if (role === 'user')
    return `${style.cyan('›')} ${style.bold(content.split('\n').map(showLine).join('\n  '))}\n\n`;
  if (role !== 'assistant') return `${style.dim(showLine(`${role}: ${content}`).slice(0, 200))}\n`;
  const printer = createAnswerPrinter(style, stdout.columns ?? 80, coloursFor);
  const piece = (kind: 'text' | 'thinking', text: string) =>
    text === '' ? '' : printer.delta({ streamId: '', seq: 0, kind, text });
  const said = piece('thinking', thinking ?? '') + piece('text', content) + printer.end();
  const calls = toolCalls.map((call) => `${style.cyan(describeCall(call))}\n`).join('');
  return `${said}${calls}${partial ? style.dim(`${partial}\n`) : ''}\n`;
}

async function remove(
  surroundings: Surroundings,
  { all, yes, json }: CommandLine,
  { daemon, id }: Named,
): Promise<number> {
  const { stdin, stdout, stderr } = surroundings;
  if (all === (id !== ''))
    throw new TerminalError('usage', 'Say which conversation: runner sessions rm ID, or --all of them');
  const sessions = all
    ? await allSessions(daemon, '')
    : [(await orUnknown(id, daemon.request(readSessionRequest, { id }))).session];
  if (all && !yes) {
    if (!(stdin.isTTY && stderr.isTTY) || json)
      throw new TerminalError(
        'usage',
        '"runner sessions rm --all" asks before it deletes, and there is no terminal to ask on. With --yes it does not ask.',
      );
    const answer = await askYesNo(surroundings, `Delete all ${sessions.length} conversations? [y/N] `);
    if (answer !== 'yes') {
      await writeLine(stderr, 'Nothing was deleted.');
      return answer === 'no' ? 1 : 130;
    }
  }
  for (const session of sessions) {
    await orUnknown(session.id, daemon.request(deleteSessionRequest, { id: session.id }));
    await writeLine(
      stdout,
      json ? JSON.stringify({ event: 'done', id: session.id }) : `${titleOf(session)} is deleted.`,
    );
  }
  return 0;
}
