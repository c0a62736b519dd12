import type { Session, SessionMessage } from '../../../protocol/messages/sessions.ts';
import { timeOf, titleOf } from '../conversation/keptConversation.ts';

/** A conversation as a document: who spoke is a heading, and what was said stands as it is. */
export function sessionToMarkdown(session: Session, messages: readonly SessionMessage[]): string {
  const parts = messages.filter(({ role }) => role !== 'system').map(partOf);
  return `${[`# ${titleOf(session)}`, `*${timeOf(session)}*`, ...parts].join('\n\n')}\n`;
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
    ...(thinking ? [quote(thinking)] : []),
    ...(role === 'tool' ? [fence(content, 'text')] : content === '' ? [] : [content.trim()]),
    ...toolCalls.map((call) => fence(`${call.name} ${JSON.stringify(call.arguments, undefined, 2)}`, 'text')),
    ...(partial ? [`*${partial === 'cancelled' ? 'Cancelled.' : 'Failed.'}*`] : []),
  ].join('\n\n');
}

function quote(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

/** Longer than every run of backticks inside. */
function fence(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = '`'.repeat(longest + 1);
  return `${marks}${language}\n${text}\n${marks}`;
}
