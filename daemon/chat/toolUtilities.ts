import { tryJson } from '../../protocol/base/json.ts';
import type { Tool } from '../../protocol/messages/chat.ts';
import { profileForModel, StreamParser, type ToolShape } from '../stream/stream.ts';

/**
 * Finding tool calls in streamed text, and the tool that a model means. The module is prescribed by the specification
 * (stream 2), and re-exports the stream library, with a few helpers of ours.
 */
export { RequestTools, type ToolShape, unknownMarks } from '../stream/stream.ts';

/** What the stream library needs to know about the tools that a request offers. */
export function toolShapes(tools: readonly Tool[]) {
  return tools.map(({ name, inputSchema }) => ({ name, inputSchema }));
}

/**
 * An id in the runner's own form: `call_` and eight of `a-z0-9`. `random` returns numbers from 0 up to, but not
 * including, 1.
 */
export function createToolCallId(random: () => number): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const pick = () => letters[Math.floor(random() * letters.length)] ?? 'a';
  return `call_${Array.from({ length: 8 }, pick).join('')}`;
}

/**
 * The arguments of a call that are no JSON, read as those of calls in the text: with a comma or a fence too many, with
 * the quotes of Python, with marks behind them, as elements, or as the text of the whole object. Undefined if they
 * cannot be read.
 */
export function mendedArguments(
  text: string,
  tool: ToolShape | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (!tool) return undefined;
  const value = tryJson(text);
  const bare = (typeof value === 'string' ? value : text)
    .trim()
    .replace(/^```\w*\s*|\s*(?:```|<\/\w+>)$/g, '');
  const call = bare.startsWith('<')
    ? `<function=${tool.name}>${bare}</function>`
    : `{"name": ${JSON.stringify(tool.name)}, "arguments": ${bare}}`;
  const parser = new StreamParser({ profile: profileForModel('', false), tools: [tool] });
  const events = [...parser.push(`<tool_call>${call}</tool_call>`), ...parser.finish('stop')];
  return events.find((event) => event.type === 'toolCall')?.call.arguments;
}
