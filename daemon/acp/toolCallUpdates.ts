import { resolve } from 'node:path';
import type {
  ContentBlock,
  SessionUpdate,
  ToolCallContent,
  ToolCallStatus,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk';
import { cutText } from '../../protocol/base/text.ts';
import type { FileDiff, ToolCall, ToolResult } from '../../protocol/messages/chat.ts';
import type { ApproveToolParams, ToolProgress } from '../../protocol/messages/tools.ts';
import { plainText } from '../base/programOutput.ts';
import type { DaemonTool } from '../chat/daemonTools.ts';

/** The title of a call is one line of at most this many characters. */
const maxTitle = 160;
/** Of the name of the tool or of an argument, in characters. */
const maxCalled = 64;
/** How much of the arguments a question shows, in characters. `rawInput` has all of them. */
const maxShown = 8_000;

/** A call as the model wrote it; it has not run yet. */
export function toolCallOf(
  call: ToolCall,
  tool: DaemonTool | undefined,
  status: ToolCallStatus = 'pending',
): SessionUpdate {
  return {
    sessionUpdate: 'tool_call',
    toolCallId: call.id,
    title: titleOf(call, tool),
    name: call.name,
    status,
    kind: kindOf(tool),
    rawInput: call.arguments,
  };
}

/** The file that a call of ours is about, so that an editor can follow it. */
export function locationsOf({ arguments: given }: ToolCall, tool: DaemonTool | undefined, cwd: string) {
  const { path, start_line: line } = given;
  const isOurs = tool?.act !== undefined && typeof path === 'string';
  const at = typeof line === 'number' && line > 0 ? { line } : {};
  return isOurs ? { locations: [{ path: resolve(cwd, path), ...at }] } : {};
}

/** The call is allowed and runs. */
export function startedCall({ id }: ToolCall): SessionUpdate {
  return { sessionUpdate: 'tool_call_update', toolCallId: id, status: 'in_progress' };
}

/** The result takes the place of what is shown here. */
export function progressedCall({ id, progress, total, message }: ToolProgress): SessionUpdate {
  const figures = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: id,
    status: 'in_progress',
    content: [toContent(fencedText(message === undefined ? figures : `${figures}: ${message}`))],
  };
}

/**
 * The images follow the text, in which a line stands for each of them. What the call has changed stays as it was shown,
 * unless the call failed.
 */
export function endedCall(result: Omit<ToolResult, 'name' | 'server'>): SessionUpdate {
  const { id, content, output = content, isError, images = [], diff } = result;
  const isOnlyImages = images.length > 0 && content.split('\n').every((line) => imageLine.test(line));
  const blocks = [...(isOnlyImages ? [] : [fencedText(output)]), ...images.map(imageBlock)];
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: id,
    status: isError ? 'failed' : 'completed',
    content: diff && !isError ? [toDiff(diff)] : blocks.map(toContent),
    rawOutput: { content, isError },
  };
}

/** What the model reads in place of an image. */
const imageLine = /^\[image, [^\]]*\]$/;

/** The call that the user is asked about. Some editors show nothing else. */
export function askedCall(
  { toolCall: call, diff, command }: ApproveToolParams,
  tool: DaemonTool,
): ToolCallUpdate {
  const given = command ? command.map(shownWord).join(' ') : JSON.stringify(call.arguments, undefined, 2);
  const shown = given.length > maxShown ? `${given.slice(0, maxShown)}…` : given;
  return {
    toolCallId: call.id,
    title: titleOf(call, tool),
    name: call.name,
    status: 'pending',
    kind: kindOf(tool),
    rawInput: call.arguments,
    content: [diff ? toDiff(diff) : toContent(fencedText(shown))],
    ...(diff ? { locations: [{ path: diff.path }] } : {}),
  };
}

/** In quotes where its end would not be seen. */
function shownWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word);
}

/**
 * Such as `read_file (files) path=README.md`, or `Edit src/a.ts` for a tool of ours, on one line and without escape
 * sequences, because none of it is ours. It has no colon, since some editors show only what precedes one. Some editors
 * ask about this line alone, so names are cut before they could push the server out of it, and long arguments come
 * last.
 */
function titleOf({ name, arguments: given }: ToolCall, tool: DaemonTool | undefined): string {
  const ours = tool?.act ? titleOfOurs(tool, given) : undefined;
  const words = Object.entries(ours === undefined ? given : {})
    .slice(0, 20)
    .map(([key, value]) => `${shortOf(key, maxCalled)}=${shortOf(value)}`)
    .toSorted((a, b) => a.length - b.length);
  const called = shortOf(tool?.title ?? name, maxCalled);
  const shown = ours ?? (tool ? `${called} (${tool.server})` : called);
  const line = plainText(`${shown} ${words.join(', ')}`.trim().replace(/\s+/g, ' ')).replace(
    directionMarks,
    '',
  );
  return cut(line, maxTitle);
}

/** The act itself: `Read src/a.ts (lines 1-120)`, `Search "total" in src`. */
function titleOfOurs({ act, title = '' }: DaemonTool, given: ToolCall['arguments']): string {
  const { path, query, pattern, name, start_line: first, end_line: last } = given;
  const verb = title.split(' ')[0];
  if (act === 'check')
    return `${title} ${shortOf(name, maxCalled)}${typeof path === 'string' ? ` for ${path}` : ''}`;
  const sought = [query, pattern].find((value) => typeof value === 'string');
  const place = typeof path === 'string' ? path : undefined;
  if (sought !== undefined)
    return `${verb} ${JSON.stringify(shortOf(sought, maxCalled))}${place === undefined ? '' : ` in ${place}`}`;
  const lines = [first, last].some((line) => typeof line === 'number')
    ? ` (lines ${first ?? 1}-${last ?? ''})`
    : '';
  return `${verb} ${place ?? 'the project folder'}${lines}`;
}

/** Characters that change the direction of a text, so that it reads differently. */
const directionMarks = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function shortOf(value: unknown, max = maxTitle): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)) ?? '';
  return cut(text, max);
}

function cut(text: string, max: number): string {
  return text.length > max ? `${cutText(text, max - 1)}…` : text;
}

/** What the server says about its tool chooses an icon, and decides nothing else. */
function kindOf(tool: DaemonTool | undefined): ToolKind {
  if (tool?.act === 'check') return 'execute';
  if (tool?.act && tool.ownName === 'search_files') return 'search';
  const { readOnlyHint, openWorldHint } = tool?.annotations ?? {};
  if (readOnlyHint === undefined) return 'other';
  if (!readOnlyHint) return 'edit';
  return openWorldHint ? 'fetch' : 'read';
}

function toDiff({ path, before, after }: FileDiff): ToolCallContent {
  return { type: 'diff', path, oldText: before ?? null, newText: after };
}

function toContent(content: ContentBlock): ToolCallContent {
  return { type: 'content', content };
}

/** The text in a fence that is longer than any in it, so that the editor shows it as it is and fetches no picture. */
function fencedText(text: string): ContentBlock {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return { type: 'text', text: `${fence}\n${text}\n${fence}` };
}

/** Of an image in base64, which carries its format in its first bytes. */
export function imageBlock(data: string): ContentBlock {
  return { type: 'image', data, mimeType: mimeTypeOf(data) };
}

/** The first bytes of files of these formats, in base64. */
const imageSignatures = { '/9j/': 'image/jpeg', R0lG: 'image/gif', UklG: 'image/webp' } as const;

function mimeTypeOf(image: string): string {
  return (
    Object.entries(imageSignatures).find(([signature]) => image.startsWith(signature))?.[1] ?? 'image/png'
  );
}
