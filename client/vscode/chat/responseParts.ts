import * as vscode from 'vscode';
import type { ChatDelta, Message, Notice, Usage } from '../../../protocol/messages/chat.ts';
import { plain } from '../ui/safeText.ts';

/** The class of newer editors for thinking; it is in no stable typing. */
export type ThinkingPart = new (value: string) => vscode.LanguageModelResponsePart;

export function thinkingPartOfEditor(): ThinkingPart | undefined {
  const part: unknown = Reflect.get(vscode, 'LanguageModelThinkingPart');
  return typeof part === 'function' ? (part as ThinkingPart) : undefined;
}

export interface PartOptions {
  readonly thinkingPart: ThinkingPart | undefined;
  readonly notices: Notices;
  /** The id of the extension that asks, if the editor names it. */
  readonly initiator: string | undefined;
}

/** The editor's part for a delta, if it has one. */
export function toPart(
  delta: ChatDelta,
  { thinkingPart, notices, initiator }: PartOptions,
): vscode.LanguageModelResponsePart | undefined {
  switch (delta.kind) {
    case 'text':
      return new vscode.LanguageModelTextPart(delta.text);
    case 'thinking':
      return thinkingPart ? new thinkingPart(delta.text) : undefined;
    case 'toolCall': {
      const { id, name, arguments: input } = delta.toolCall;
      return new vscode.LanguageModelToolCallPart(id, name, input);
    }
    // The editor runs its tools itself.
    case 'toolResult':
      return undefined;
    case 'notice':
      return notices.show(delta.notice, initiator);
  }
}

/** The usage of a turn in the form that the editor's own chat reads; others ignore a type that they do not know. */
export function toUsagePart({ promptTokens, completionTokens }: Usage): vscode.LanguageModelDataPart {
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  return new vscode.LanguageModelDataPart(new TextEncoder().encode(JSON.stringify(usage)), 'usage');
}

/** The notices that the provider shows beside its answers. They are not part of what the model said. */
export interface Notices {
  /**
   * Returns a quote for the answer if a chat shows the answer. Any other extension gets only the answer, and the user
   * sees each notice once, as a notification.
   */
  show(notice: Notice, initiator: string | undefined): vscode.LanguageModelTextPart | undefined;
  /** A conversation without the quotes in earlier answers. */
  remove(messages: readonly Message[]): readonly Message[];
}

/** Callers that show an answer to the user as it is: the editor, and its own chat. */
const chats: readonly string[] = ['core', 'github.copilot-chat'];

export function isChat(initiator: string | undefined): boolean {
  return initiator !== undefined && chats.includes(initiator.toLowerCase());
}

export function createNotices(): Notices {
  const quoted = new Set<string>();
  const shown = new Set<string>();
  return {
    show({ message }, initiator) {
      if (initiator === undefined || isChat(initiator)) {
        quoted.add(message);
        return new vscode.LanguageModelTextPart(quote(message));
      }
      if (!shown.has(message)) void vscode.window.showInformationMessage(plain(message));
      shown.add(message);
      return undefined;
    },
    remove: (messages) =>
      messages.map((message) =>
        message.role === 'assistant' ? { ...message, content: without(message.content, quoted) } : message,
      ),
  };
}

function quote(message: string): string {
  return `\n\n> ${message}\n\n`;
}

/** Also removes a quote at either end of the text, where the blank lines around it are gone. */
function without(text: string, messages: Iterable<string>): string {
  let rest = text;
  for (const message of messages) {
    const line = quote(message);
    rest = rest.replaceAll(line, '');
    if (rest.startsWith(line.trimStart())) rest = rest.slice(line.trimStart().length);
    if (rest.endsWith(line.trimEnd())) rest = rest.slice(0, -line.trimEnd().length);
    if (rest.trim() === line.trim()) rest = '';
  }
  return rest;
}
