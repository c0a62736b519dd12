import type {
  SessionUpdate,
  ToolCallContent,
  ToolCallStatus,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk';
import type { ToolCall, ToolResult } from '../../protocol/messages/chat.ts';
import { plainText } from '../base/programOutput.ts';
import type { HostedTool } from '../chat/hostedTools.ts';

/** What is shown of a call in one line, in characters. */
const maxTitle = 160;
/** Of the tool, or of an argument, in characters. */
const maxCalled = 64;
/** What is shown of the arguments in a question, in characters; `rawInput` has all of them. */
const maxShown = 8_000;

/** A call as it came from the model; nothing is run yet. */
export function toolCallOf(
  call: ToolCall,
  tool: HostedTool | undefined,
  status: ToolCallStatus = 'pending',
): SessionUpdate {
  return {
    ...{
      sessionUpdate: 'tool_call',
      toolCallId: call.id,
      title: titleOf(call, tool),
      name: call.name,
      status,
    },
    ...{ kind: kindOf(tool), rawInput: call.arguments },
  };
}

/** The call is allowed and runs. */
export function startedCall({ id }: ToolCall): SessionUpdate {
  return { sessionUpdate: 'tool_call_update', toolCallId: id, status: 'in_progress' };
}

export function endedCall({
  id,
  content,
  isError,
}: Pick<ToolResult, 'id' | 'content' | 'isError'>): SessionUpdate {
  return {
    ...{ sessionUpdate: 'tool_call_update', toolCallId: id, status: isError ? 'failed' : 'completed' },
    ...{ content: [textContent(content)], rawOutput: { content, isError } },
  };
}

/** What a question is about: who answers it may see nothing but this. */
export function askedCall(
  call: ToolCall,
  tool: Pick<HostedTool, 'server' | 'title' | 'description' | 'annotations'>,
): ToolCallUpdate {
  const given = JSON.stringify(call.arguments, undefined, 2);
  const shown = given.length > maxShown ? `${given.slice(0, maxShown)}…` : given;
  return {
    ...{ toolCallId: call.id, title: titleOf(call, tool), name: call.name, status: 'pending' },
    ...{ kind: kindOf(tool), rawInput: call.arguments },
    content: [textContent(shown)],
  };
}

/**
 * Such as `read_file (files) path=README.md`: without a colon, since some editors show what is before it alone. All of it
 * is from others, and it is one line without escape sequences. Some editors ask about nothing but this line, so no name
 * is long enough to push the server out of it, and a long argument comes after the short ones.
 */
function titleOf(
  { name, arguments: given }: ToolCall,
  tool: Pick<HostedTool, 'server' | 'title'> | undefined,
): string {
  const words = Object.entries(given)
    .slice(0, 20)
    .map(([key, value]) => `${shortOf(key, maxCalled)}=${shortOf(value)}`)
    .toSorted((a, b) => a.length - b.length);
  const called = shortOf(tool?.title ?? name, maxCalled);
  const shown = tool ? `${called} (${tool.server})` : called;
  const line = plainText(`${shown} ${words.join(', ')}`.trim().replace(/\s+/g, ' ')).replace(turns, '');
  return cut(line, maxTitle);
}

/** What turns the direction of a text, so that it reads as another. */
const turns = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function shortOf(value: unknown, most = maxTitle): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)) ?? '';
  return cut(text, most);
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

/** What the server says of the tool is good for an icon, and for nothing else. */
function kindOf(tool: Pick<HostedTool, 'annotations'> | undefined): ToolKind {
  const { readOnlyHint, openWorldHint } = tool?.annotations ?? {};
  if (readOnlyHint === undefined) return 'other';
  if (!readOnlyHint) return 'edit';
  return openWorldHint ? 'fetch' : 'read';
}

/** In a fence that nothing in it ends: a result is shown as it is, and no picture in it is fetched by an editor. */
function textContent(text: string): ToolCallContent {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return { type: 'content', content: { type: 'text', text: `${fence}\n${text}\n${fence}` } };
}
