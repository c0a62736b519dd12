import type { ToolCall, ToolResult } from '../../protocol/chat.ts';
import { cutTo } from './columns.ts';
import { showLine } from './controlCharacters.ts';

/** Lines that are shown of a result, and what is looked at of it, in characters. */
const maxLines = 4;
const maxLooked = 4_000;
/** Characters of a call in its line. */
const maxCall = 500;

export function describeCall({ name, arguments: given }: ToolCall): string {
  const line = showLine(`tool call: ${name} ${JSON.stringify(given)}`);
  return line.length > maxCall ? `${line.slice(0, maxCall)}…` : line;
}

/** A result, folded to its first lines. */
export function describeResult({ content, isError }: ToolResult, width: number): readonly string[] {
  const lines = content.trim().slice(0, maxLooked).split('\n');
  const shown = lines.slice(0, maxLines).map((line) => cutTo(`  ${showLine(line)}`, Math.max(10, width - 1)));
  const left = content.trim().split('\n').length - shown.length;
  return [
    ...(isError ? ['  it failed:'] : []),
    ...shown,
    ...(left > 0 ? [`  … ${left} more ${left === 1 ? 'line' : 'lines'}`] : []),
  ];
}
