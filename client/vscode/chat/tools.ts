import * as vscode from 'vscode';
import type { Message, Tool, ToolCall } from '../../../protocol/chat.ts';
import { toResult, toTools } from '../convert/messages.ts';

/** More tools than this fill a small model's window with descriptions. */
const maxTools = 16;

/** The tools that the user named in this question, and those of the setting; never all that the editor has. */
export function toolsFor({ toolReferences }: vscode.ChatRequest): readonly Tool[] {
  const wanted = vscode.workspace.getConfiguration('runner').get<readonly string[]>('tools') ?? [];
  const names = new Set([...toolReferences.map(({ name }) => name), ...wanted]);
  return toTools(vscode.lm.tools.filter(({ name }) => names.has(name)).slice(0, maxTools));
}

/**
 * Calls them one after another, because one may build on what the one before did; the editor asks for consent. A model
 * names what it likes: only what it was offered is called.
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

/** What the tool said. That it failed, or that the user did not allow it, is an answer for the model too. */
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
