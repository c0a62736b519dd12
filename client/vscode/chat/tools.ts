import * as vscode from 'vscode';
import type { Message, Tool, ToolCall } from '../../../protocol/messages/chat.ts';
import { toResult, toTools } from '../convert/messages.ts';

/** More tools than this fill a small model's window with descriptions. */
const maxTools = 16;

/** The tools that the user named in this question and those in the setting; never every tool of the editor. */
export function toolsFor({ toolReferences }: vscode.ChatRequest): readonly Tool[] {
  const wanted = vscode.workspace.getConfiguration('runner').get<readonly string[]>('tools') ?? [];
  const names = new Set([...toolReferences.map(({ name }) => name), ...wanted]);
  return toTools(vscode.lm.tools.filter(({ name }) => names.has(name)).slice(0, maxTools));
}

/**
 * Calls the tools one after another, because one may build on the result of another; the editor asks for consent. A
 * model may name any tool: only those that it was offered are called.
 */
export async function callTools(
  calls: readonly ToolCall[],
  { request: { toolInvocationToken }, offered, token }: ToolCalling,
): Promise<readonly Message[]> {
  const results: Message[] = [];
  for (const { id: callId, name, arguments: input } of calls) {
    const isOffered = offered.some((tool) => tool.name === name);
    const content = isOffered
      ? await contentOf(() => vscode.lm.invokeTool(name, { input, toolInvocationToken }, token), token)
      : [new vscode.LanguageModelTextPart(`There is no tool ${name} among those that were offered.`)];
    results.push(toResult({ callId, content }, name));
  }
  return results;
}

export interface ToolCalling {
  readonly request: vscode.ChatRequest;
  readonly offered: readonly Tool[];
  readonly token: vscode.CancellationToken;
}

/** The result of the tool. A failure, or the user's refusal, is a result for the model too. */
async function contentOf(
  call: () => Thenable<vscode.LanguageModelToolResult>,
  token: vscode.CancellationToken,
): Promise<unknown[]> {
  try {
    return (await call()).content;
  } catch (error) {
    if (token.isCancellationRequested) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return [new vscode.LanguageModelTextPart(`The tool failed: ${reason}`)];
  }
}
