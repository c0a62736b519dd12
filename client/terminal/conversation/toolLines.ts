import type { ToolCall, ToolResult } from '../../../protocol/messages/chat.ts';
import { cutTo } from '../screen/columns.ts';
import { showLine } from '../screen/controlCharacters.ts';

/** Lines that are shown of a result, and what is looked at of it, in characters. */
const maxLines = 4;
const maxLooked = 4_000;
/** Characters of a call in its line, and of its arguments where somebody is to judge them. */
const maxCall = 500;
const maxJudged = 4_000;

export function describeCall({ name, arguments: given }: ToolCall): string {
  return cutAndCounted(showLine(`tool call: ${name} ${JSON.stringify(given)}`), maxCall);
}

/** Whether {@link describeCall} leaves something out. */
export function isCallCut({ name, arguments: given }: ToolCall): boolean {
  return showLine(`tool call: ${name} ${JSON.stringify(given)}`).length > maxCall;
}

/** The arguments of a call, each in a line of its own. */
export function describeArguments({ arguments: given }: ToolCall): string {
  const lines = Object.entries(given).map(([name, value]) =>
    showLine(`  ${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  );
  return cutAndCounted(lines.join('\n'), maxJudged);
}

/** No surrogate is parted from its other half. */
function cutAndCounted(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = text.slice(0, limit).replace(/[\ud800-\udbff]$/, '');
  const left = text.length - kept.length;
  return `${kept}… ${left} more ${left === 1 ? 'character' : 'characters'}`;
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
