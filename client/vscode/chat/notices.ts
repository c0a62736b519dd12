import * as vscode from 'vscode';
import type { Message, Notice } from '../../../protocol/chat.ts';
import { plain } from '../notificationText.ts';

/** What is said beside the answers of the provider, and is no part of what the model said. */
export interface Notices {
  /**
   * As a quote in the answer where a chat shows that. An extension that asked reads the answer alone: the user is told
   * in a notification, once of each. `initiator` is who asked, where the editor says it.
   */
  tell(notice: Notice, initiator: string | undefined): vscode.LanguageModelTextPart | undefined;
  /** A conversation without the quotes that earlier answers hold. */
  remove(messages: readonly Message[]): readonly Message[];
}

/** Who shows an answer to the user as it is: the editor, and its own chat. */
const chats: readonly string[] = ['core', 'github.copilot-chat'];

export function createNotices(): Notices {
  const quoted = new Set<string>();
  const told = new Set<string>();
  return {
    tell({ message }, initiator) {
      if (initiator === undefined || chats.includes(initiator.toLowerCase())) {
        quoted.add(message);
        return new vscode.LanguageModelTextPart(quote(message));
      }
      if (!told.has(message)) void vscode.window.showInformationMessage(plain(message));
      told.add(message);
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

/** Also where the blank lines around one are gone, at the ends of a text. */
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
