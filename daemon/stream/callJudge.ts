import { coerceArguments, missingArguments } from './coerce.ts';
import type { ToolCall } from './events.ts';
import type { WrittenCall } from './forms/call.ts';
import type { OfferedTools } from './offeredTools.ts';

/** The calls to report, and the required arguments that they left out. */
export interface JudgedCalls {
  readonly calls: readonly ToolCall[];
  readonly missing: readonly string[];
}

/** Replaces each name by the tool's own name, and gives bare words the types in the tool's schema. */
export function judgeCalls(written: readonly WrittenCall[], tools: OfferedTools): JudgedCalls {
  const calls: ToolCall[] = [];
  const missing: string[] = [];
  for (const { name, arguments: given, words } of written) {
    const tool = tools.find(name);
    if (tool === undefined) continue;
    const values = words === undefined ? { ...given } : coerceArguments(given, words, tool.inputSchema);
    missing.push(...missingArguments(values, tool.inputSchema).map((key) => `${tool.name}.${key}`));
    calls.push({ name: tool.name, arguments: values });
  }
  return { calls, missing };
}
