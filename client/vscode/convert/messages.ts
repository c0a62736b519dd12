import * as vscode from 'vscode';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import type { Message, Tool, ToolCall } from '../../../protocol/messages/chat.ts';

/**
 * Converts the editor's messages into the protocol's. One message of the editor may hold texts, images, calls and
 * results: results become messages of their own, before the user's words.
 */
export function toMessages(messages: readonly vscode.LanguageModelChatRequestMessage[]): readonly Message[] {
  /** The names of tools by the ids of their calls; results do not repeat the names. */
  const toolNames = new Map<string, string>();
  return messages.flatMap((message) => toOwnMessages(message, toolNames));
}

function toOwnMessages(
  { role, content }: vscode.LanguageModelChatRequestMessage,
  toolNames: Map<string, string>,
): readonly Message[] {
  const texts: string[] = [];
  const images: string[] = [];
  const toolCalls: ToolCall[] = [];
  const results: Message[] = [];
  for (const part of content) {
    if (part instanceof vscode.LanguageModelTextPart) texts.push(part.value);
    else if (part instanceof vscode.LanguageModelDataPart) addData(part, texts, images);
    else if (part instanceof vscode.LanguageModelToolCallPart) {
      toolNames.set(part.callId, part.name);
      toolCalls.push({ id: part.callId, name: part.name, arguments: part.input as Record<string, unknown> });
    } else if (part instanceof vscode.LanguageModelToolResultPart)
      results.push(toResult(part, toolNames.get(part.callId)));
  }
  const text = texts.join('');
  const isEmpty = text === '' && images.length === 0 && toolCalls.length === 0;
  if (isEmpty && results.length > 0) return results;
  const own: Message = {
    role: roleOf(role),
    content: text,
    ...(images.length === 0 ? {} : { images }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
  return [...results, own];
}

/** The editor's agent also sends the system's role, which its stable API does not name. */
function roleOf(role: vscode.LanguageModelChatMessageRole): 'user' | 'assistant' | 'system' {
  if (role === vscode.LanguageModelChatMessageRole.User) return 'user';
  return role === vscode.LanguageModelChatMessageRole.Assistant ? 'assistant' : 'system';
}

/** Sends images as images and text of any type as text; other data means nothing to a model. */
function addData({ mimeType, data }: vscode.LanguageModelDataPart, texts: string[], images: string[]): void {
  if (isPicture(mimeType)) images.push(Buffer.from(data).toString('base64'));
  else if (isText(mimeType)) texts.push(new TextDecoder().decode(data));
}

/** Types that a model with vision can see; SVG is text. */
export function isPicture(mimeType: string): boolean {
  return /^image\/(png|jpe?g|gif|webp|bmp)\b/i.test(mimeType);
}

function isText(mimeType: string): boolean {
  return /^text\/|^application\/(json|xml|yaml|x-yaml|javascript)\b|\+(json|xml|yaml)\b/i.test(mimeType);
}

/** The result of a tool, as the model gets it. */
export function toResult(
  { callId, content }: Pick<vscode.LanguageModelToolResultPart, 'callId' | 'content'>,
  toolName: string | undefined,
): Message {
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of content) {
    if (part instanceof vscode.LanguageModelTextPart) texts.push(part.value);
    else if (part instanceof vscode.LanguageModelDataPart) addData(part, texts, images);
    else if (part instanceof vscode.LanguageModelPromptTsxPart) texts.push(JSON.stringify(part.value));
  }
  return withoutUndefined({
    role: 'tool',
    content: texts.join(''),
    toolCallId: callId,
    toolName,
    ...(images.length === 0 ? {} : { images }),
  });
}

export function toTools(
  tools: readonly Pick<vscode.LanguageModelChatTool, 'name' | 'description' | 'inputSchema'>[],
): readonly Tool[] {
  return tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema: (inputSchema as Record<string, unknown> | undefined) ?? { type: 'object', properties: {} },
  }));
}
