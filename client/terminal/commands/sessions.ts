import { showControls, showLine } from '../../../protocol/base/text.ts';
import {
  deleteSessionRequest,
  type Session,
  type SessionMessage,
} from '../../../protocol/messages/sessions.ts';
import type { CommandContext } from '../cli/command.ts';
import { usageError } from '../cli/failure.ts';
import { confirmDeletion, requireQuestion } from '../cli/question.ts';
import {
  allSessions,
  readSession,
  sessionsTable,
  showMessage,
  titleOf,
} from '../conversation/keptConversation.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { timeWords } from '../screen/modelDescription.ts';

/** The words that are not a query. */
export const sessionWords: readonly string[] = ['show', 'rm'];

/** Lists the conversations that are kept, prints one, or deletes. */
export async function runSessions(context: CommandContext): Promise<number> {
  const [word, id = '', ...rest] = context.commandLine.words;
  if (rest.length > 0 && (word === 'show' || word === 'rm'))
    throw usageError(`"runner sessions ${word}" takes one id; there is "${rest.join(' ')}" too.`);
  return withDaemon(context, {}, (daemon) => {
    if (word === 'show') return show(context, daemon, id);
    if (word === 'rm') return remove(context, daemon, id);
    return list(context, daemon);
  });
}

async function list({ terminal, commandLine }: CommandContext, daemon: DaemonClient): Promise<number> {
  const { stdout, stderr } = terminal;
  const query = commandLine.words.join(' ');
  const sessions = await allSessions(daemon, query);
  if (commandLine.json) for (const session of sessions) await stdout.writeJson(session);
  else if (sessions.length > 0) await stdout.write(sessionsTable(sessions, terminal));
  else
    await stderr.writeLine(
      query === '' ? 'No conversation is kept yet.' : `No conversation has "${showLine(query)}".`,
    );
  return 0;
}

async function show(
  { terminal: { stdout }, commandLine: { markdown, raw, json } }: CommandContext,
  daemon: DaemonClient,
  id: string,
): Promise<number> {
  if (id === '') throw usageError('Say which conversation: runner sessions show ID');
  const { session, messages } = await readSession(daemon, id);
  if (json) for (const row of [session, ...messages]) await stdout.writeJson(row);
  else if (markdown) {
    const text = sessionToMarkdown(session, messages);
    await stdout.write(raw ? text : showControls(text));
  } else for (const message of messages) await stdout.write(showMessage(stdout, message));
  return 0;
}

async function remove(context: CommandContext, daemon: DaemonClient, id: string): Promise<number> {
  const { terminal, commandLine } = context;
  const { all, yes, json } = commandLine;
  const { stdout } = terminal;
  if (all === (id !== ''))
    throw usageError('Say which conversation: runner sessions rm ID, or --all of them');
  const sessions = all ? await allSessions(daemon) : [(await readSession(daemon, id)).session];
  if (all && !yes) {
    requireQuestion(context, '"runner sessions rm --all" asks before it deletes');
    const refusal = await confirmDeletion(terminal, `Delete all ${sessions.length} conversations? [y/N] `);
    if (refusal !== undefined) return refusal;
  }
  for (const session of sessions) {
    await daemon.request(deleteSessionRequest, { id: session.id });
    await (json
      ? stdout.writeJson({ event: 'done', id: session.id })
      : stdout.writeLine(`${titleOf(session)} is deleted.`));
  }
  return 0;
}

/** A conversation as a document: the speakers are headings, and the messages stay as they are. */
function sessionToMarkdown(session: Session, messages: readonly SessionMessage[]): string {
  const parts = messages.filter(({ role }) => role !== 'system').map(partOf);
  return `${[`# ${titleOf(session)}`, `*${timeWords(session.updatedAt)}*`, ...parts].join('\n\n')}\n`;
}

function partOf({
  role,
  content,
  model,
  thinking,
  toolCalls = [],
  toolName,
  partial,
}: SessionMessage): string {
  const heading = { user: 'You', assistant: model ?? 'Answer', tool: toolName ?? 'Tool', system: 'System' }[
    role
  ];
  return [
    `## ${heading}`,
    ...(thinking ? [`> ${thinking.trim().replaceAll('\n', '\n> ')}`] : []),
    ...(role === 'tool' ? [fence(content, 'text')] : content === '' ? [] : [content.trim()]),
    ...toolCalls.map((call) => fence(`${call.name} ${JSON.stringify(call.arguments, undefined, 2)}`, 'text')),
    ...(partial ? [`*${partial === 'cancelled' ? 'Cancelled.' : 'Failed.'}*`] : []),
  ].join('\n\n');
}

/** The fence is longer than every run of backticks inside. */
function fence(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = '`'.repeat(longest + 1);
  return `${marks}${language}\n${text}\n${marks}`;
}
