import * as vscode from 'vscode';
import type { ChatDelta, Usage } from '../../../protocol/messages/chat.ts';
import type { ChatNotices } from './notices.ts';

/** The class of newer editors for thinking; it is in no stable typing. */
export type ThinkingPart = new (value: string) => vscode.LanguageModelResponsePart;

export function thinkingPartOfEditor(): ThinkingPart | undefined {
  const part: unknown = Reflect.get(vscode, 'LanguageModelThinkingPart');
  return typeof part === 'function' ? (part as ThinkingPart) : undefined;
}

export interface PartOptions {
  readonly thinkingPart: ThinkingPart | undefined;
  readonly notices: ChatNotices;
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
    case 'notice': {
      const quote = notices.show(delta.notice, initiator);
      return quote === undefined ? undefined : new vscode.LanguageModelTextPart(quote);
    }
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
